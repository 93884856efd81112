package exec

import (
	"math/bits"
	"slices"

	"github.com/tidemarkdb/tidemark/function"
	"github.com/tidemarkdb/tidemark/plan"
	"github.com/tidemarkdb/tidemark/sqlerr"
	"github.com/tidemarkdb/tidemark/vec"
)

// pageRows is how many rows a page has, all but the last.
const pageRows = vec.BatchRows

// windowPages holds what calls look at far from a row, of a partition too large for memory: the sorted rows' columns
// that they need, in a temporary file page by page, and bit by bit where partitions and peer groups begin. Rows are
// numbered from 0 over all partitions.
type windowPages struct {
	x            *window
	w            *worker
	res          *reservation
	places       []int // of the columns kept
	types        []vec.Type
	file         *spillFile
	pages        []spilled
	rows         int64
	parts, peers marks
	partKeys     *ordering
	peerKeys     *ordering
	last         []*vec.Vector // keys of the row before
	calls        []*farCall    // by call; nil where it does not look far
}

// newWindowPages prepares for the calls that are far.
func newWindowPages(x *window, w *worker, kinds []stretchKind) (*windowPages, error) {
	p := &windowPages{x: x, w: w, res: x.q.budget.open("Window", x.m), calls: make([]*farCall, len(kinds))}
	p.partKeys, p.peerKeys = newOrdering(x.order.specs[:x.keys]), newOrdering(x.order.specs[x.keys:])
	for i, kind := range kinds {
		if kind != far {
			continue
		}
		c := &x.calls[i]
		p.calls[i] = newFarCall(p, c)
		p.places = append(p.places, c.args...)
		if c.filter >= 0 {
			p.places = append(p.places, c.filter)
		}
		if c.start.seeks || c.end.seeks {
			p.places = append(p.places, x.order.specs[x.keys].place)
		}
	}
	slices.Sort(p.places)
	p.places = slices.Compact(p.places)
	for _, at := range p.places {
		p.types = append(p.types, x.types[at])
	}
	var err error
	p.file, err = x.q.spill.create(x.m)
	return p, err
}

// consume takes the next rows in order.
func (p *windowPages) consume(b *vec.Batch) error {
	if p.rows%pageRows != 0 || b.Sel != nil {
		return sqlerr.New(sqlerr.Internal, "internal error: sorted rows came in a batch after %d", p.rows)
	}
	p.mark(b)
	page, err := p.file.write(&vec.Batch{N: b.N, Cols: pickColumns(b.Cols, p.places)})
	if err != nil {
		return err
	}
	p.pages = append(p.pages, page)
	p.rows += int64(b.N)
	size := p.parts.memory() + p.peers.memory() + int64(cap(p.pages))*int64(spilledBytes)
	share := p.share(b.Cols, b.N)
	for _, f := range p.calls {
		if f != nil && f.folds() {
			if err := f.addPage(share); err != nil {
				return err
			}
			size += f.memory()
		}
	}
	return p.x.require(p.res, size)
}

// spilledBytes is the size of a spilled.
const spilledBytes = 32

func (p *windowPages) flush() error { return nil }

// mark notes where partitions and peer groups begin.
func (p *windowPages) mark(b *vec.Batch) {
	begins := make([]bool, b.N)
	first := func(keys *ordering) bool { return p.last == nil || keys.rows(p.last, 0, b.Cols, 0) != 0 }
	p.partKeys.changes(b.Cols, begins)
	begins[0] = first(p.partKeys)
	p.parts.add(begins)
	p.peerKeys.changes(b.Cols, begins)
	begins[0] = begins[0] || first(p.peerKeys)
	p.peers.add(begins)
	p.last = make([]*vec.Vector, len(b.Cols))
	for _, s := range p.x.order.specs {
		p.last[s.place] = vec.Gather(b.Cols[s.place], []int32{int32(b.N - 1)}, nil)
	}
}

// share is the rows of a page as one to fold from; cols are by place.
func (p *windowPages) share(cols []*vec.Vector, n int) *windowShare {
	return &windowShare{x: p.x, w: p.w, cols: cols, n: n}
}

// read returns a page.
func (p *windowPages) read(page int64) (*windowShare, error) {
	if err := p.w.check(); err != nil {
		return nil, err
	}
	b, err := p.pages[page].read(p.types)
	if err != nil {
		return nil, err
	}
	cols := make([]*vec.Vector, len(p.x.types))
	for i, at := range p.places {
		cols[at] = b.Cols[i]
	}
	return p.share(cols, b.N), nil
}

// finish is called after the last row.
func (p *windowPages) finish() error {
	for _, f := range p.calls {
		if f != nil && f.folds() {
			if err := f.plant(); err != nil {
				return err
			}
		}
	}
	return nil
}

// close gives memory and file back.
func (p *windowPages) close() error {
	p.res.release()
	for _, f := range p.calls {
		if f != nil {
			f.res.release()
		}
	}
	return p.file.remove()
}

// marks are the numbers of rows that begin something. Row 0 does.
type marks struct {
	bits vec.Bitmap
	n    int64
}

func (m *marks) memory() int64 { return int64(cap(m.bits)) * 8 }

// add appends rows.
func (m *marks) add(begins []bool) {
	for _, begin := range begins {
		if m.n%64 == 0 {
			m.bits = append(m.bits, 0)
		}
		if begin {
			m.bits.Set(int(m.n))
		}
		m.n++
	}
}

// next returns the first mark after row i, or the number of rows.
func (m *marks) next(i int64) int64 {
	i++
	for word := i / 64; word < int64(len(m.bits)); word++ {
		left := m.bits[word]
		if word == i/64 {
			left &= ^uint64(0) << (i % 64)
		}
		if left != 0 {
			return word*64 + int64(bits.TrailingZeros64(left))
		}
	}
	return m.n
}

// last returns the last mark up to row i.
func (m *marks) last(i int64) int64 {
	for word := i / 64; word >= 0; word-- {
		left := m.bits[word]
		if word == i/64 {
			left &= ^uint64(0) >> (63 - i%64)
		}
		if left != 0 {
			return word*64 + 63 - int64(bits.LeadingZeros64(left))
		}
	}
	return 0
}

// rowPlace is where a row lies: its partition and its peers in it.
type rowPlace struct {
	row            int64
	start, end     int64 // of the partition
	peers, peerEnd int64
	group          int64 // of peers, in the partition
}

// move goes on to a row, which must not lie before the one it is at.
func (p *windowPages) move(at *rowPlace, row int64) {
	if row >= at.end {
		at.start = p.parts.last(row)
		at.end = p.parts.next(row)
		at.peers, at.peerEnd, at.group = at.start, min(p.peers.next(at.start), at.end), 0
	}
	for row >= at.peerEnd {
		at.peers, at.peerEnd, at.group = at.peerEnd, p.peers.next(at.peerEnd), at.group+1
	}
	at.row = row
}

// farEdge finds where frames begin or end. As rows go on, so does what it is at.
type farEdge struct {
	b         *frameBound
	first     bool
	partition int64                                                // that at lies in, by its first row; -1 at first
	at, group int64                                                // a peer group's first row; for RANGE with an offset, any row
	compare   func(a *vec.Vector, i int, b *vec.Vector, j int) int // of RANGE with an offset
}

func newFarEdge(x *window, b *frameBound, first bool) farEdge {
	e := farEdge{b: b, first: first, partition: -1}
	if b.seeks {
		e.compare = function.CompareRows(x.types[b.at])
	}
	return e
}

// of returns the edge of a row's frame.
func (e *farEdge) of(f *farCall, p *rowPlace, share *windowShare, i int) (int64, error) {
	if e.partition != p.start {
		e.partition, e.at, e.group = p.start, p.start, 0
	}
	offset := e.b.rows
	if e.b.computed {
		v, err := share.offset(e.b, int32(i))
		if err != nil {
			return 0, err
		}
		offset = v.I
	}
	offset = min(offset, f.pages.rows)
	if e.b.before {
		offset = -offset
	}
	mode := f.c.Frame.Mode
	switch {
	case e.b.seeks:
		return e.seek(f, p, share, i)
	case e.b.kind == plan.UnboundedPreceding:
		return p.start, nil
	case e.b.kind == plan.UnboundedFollowing:
		return p.end, nil
	case mode == plan.Rows:
		return min(max(p.row+offset+int64(b2i(!e.first)), p.start), p.end), nil
	case e.b.kind == plan.CurrentRow:
		return e.peers(p), nil
	}
	for e.group < p.group+offset+int64(b2i(!e.first)) && e.at < p.end {
		e.at, e.group = f.pages.peers.next(e.at), e.group+1
	}
	return e.at, nil
}

func (e *farEdge) peers(p *rowPlace) int64 {
	if e.first {
		return p.peers
	}
	return p.peerEnd
}

// seek is windowShare.seek from page to page.
func (e *farEdge) seek(f *farCall, p *rowPlace, share *windowShare, i int) (int64, error) {
	x := f.pages.x
	place := x.order.specs[x.keys].place
	if share.cols[place].IsNull(i) {
		return e.peers(p), nil
	}
	sign := 1
	if x.n.Order[0].Desc {
		sign = -1
	}
	for e.at < p.end {
		page, err := f.page(e.at / pageRows)
		if err != nil {
			return 0, err
		}
		key, err := page.key(e.b)
		if err != nil {
			return 0, err
		}
		for from := page.number * pageRows; e.at < min(p.end, from+int64(page.share.n)); e.at++ {
			row := int(e.at - from)
			if key.IsNull(row) {
				if e.at == p.start { // NULLs come first
					e.at = f.pages.peers.next(e.at)
					break
				}
				return e.at, nil
			}
			if d := e.compare(key, row, share.cols[e.b.at], i) * sign; d > 0 || e.first && d == 0 {
				return e.at, nil
			}
		}
	}
	return e.at, nil
}
