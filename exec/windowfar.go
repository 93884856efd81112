package exec

import (
	"slices"

	"github.com/tidemarkdb/tidemark/extension"
	"github.com/tidemarkdb/tidemark/function"
	"github.com/tidemarkdb/tidemark/vec"
)

// farCall computes a call whose rows lie anywhere in a partition too large for memory. An aggregate has a tree of
// states over the pages, and a frame is rows of the pages at its ends and nodes of that tree between.
type farCall struct {
	pages      *windowPages
	c          *windowCall
	start, end farEdge
	res        *reservation
	states     []*colBuf // of every page
	tree       *treeFold // over pages: its levels begin above them
	near       []*farPage
	acc        extension.Accumulator // of the rows being computed
	at         rowPlace
}

// farPage is a page that is held, with what frames fold from it.
type farPage struct {
	number int64
	share  *windowShare
	fold   *treeFold     // of an aggregate
	keys   []*vec.Vector // the ORDER BY key in other types
}

// nearPages is how many pages a call holds: a frame's two ends, and with EXCLUDE the row's peers', lie in so many.
const nearPages = 6

func newFarCall(p *windowPages, c *windowCall) *farCall {
	f := &farCall{pages: p, c: c, res: p.x.q.budget.open("Window", p.x.m)}
	f.start, f.end = newFarEdge(p.x, &c.start, true), newFarEdge(p.x, &c.end, false)
	if f.folds() {
		for _, t := range c.Agg.State {
			f.states = append(f.states, newColBuf(t, 0))
		}
	}
	return f
}

// folds reports whether the call is an aggregate.
func (f *farCall) folds() bool { return f.c.Bound == nil }

func (f *farCall) memory() (size int64) {
	for _, s := range f.states {
		size += 2 * s.memory() // the levels above, and what it takes to grow
	}
	return size
}

// addPage folds the next page.
func (f *farCall) addPage(share *windowShare) error {
	acc := f.c.Agg.New(f.pages.w.ev)
	acc.Grow(1)
	if err := share.foldAll(f.c, share.kept(f.c), acc, 0, int32(share.n)); err != nil {
		return err
	}
	state, err := acc.SaveState(0, 1)
	if err != nil {
		return err
	}
	for i, v := range state {
		f.states[i].append(v, nil, 1)
	}
	return nil
}

// plant makes the tree over all pages.
func (f *farCall) plant() error {
	share := f.pages.share(nil, 0)
	var level []*vec.Vector
	for _, s := range f.states {
		level = append(level, s.finish())
	}
	levels, err := share.growTree(f.c, nil, [][]*vec.Vector{level}, len(f.pages.pages))
	f.states, f.tree = nil, newTreeFold(share, f.c, nil, levels)
	return err
}

// page returns a page, held or read.
func (f *farCall) page(number int64) (*farPage, error) {
	for i, p := range f.near {
		if p.number == number {
			copy(f.near[1:i+1], f.near[:i])
			f.near[0] = p
			return p, nil
		}
	}
	if len(f.near) == nearPages {
		if err := f.near[nearPages-1].flush(); err != nil {
			return nil, err
		}
		f.near = f.near[:nearPages-1]
	}
	share, err := f.pages.read(number)
	if err != nil {
		return nil, err
	}
	p := &farPage{number: number, share: share}
	if f.folds() {
		kept := share.kept(f.c)
		levels, err := share.treeLevels(f.c, kept)
		if err != nil {
			return nil, err
		}
		p.fold = newTreeFold(share, f.c, kept, levels)
		p.fold.acc = f.acc
	}
	f.near = slices.Insert(f.near, 0, p)
	size := int64(0)
	for _, held := range f.near {
		size += held.memory()
	}
	f.res.force(size)
	return p, nil
}

func (p *farPage) flush() error {
	if p.fold == nil {
		return nil
	}
	return p.fold.flush()
}

func (p *farPage) memory() (size int64) {
	for _, v := range p.share.cols {
		if v != nil {
			size += v.MemoryBytes()
		}
	}
	if p.fold != nil {
		for _, level := range p.fold.levels {
			for _, v := range level {
				size += v.MemoryBytes()
			}
		}
	}
	return size
}

// key returns the ORDER BY key in the type that a bound's moved key has.
func (p *farPage) key(b *frameBound) (*vec.Vector, error) {
	x := p.share.x
	key, moved := p.share.cols[x.order.specs[x.keys].place], x.types[b.at]
	if key.Type.Equal(moved) {
		return key, nil
	}
	for _, v := range p.keys {
		if v.Type.Equal(moved) {
			return v, nil
		}
	}
	kernel, err := function.Cast(key.Type, moved)
	if err != nil {
		return nil, err
	}
	v, err := kernel(p.share.w.ev, []*vec.Vector{key}, p.share.n)
	if err == nil {
		p.keys = append(p.keys, v)
	}
	return v, err
}

// rows computes the call for rows [from, to) of a share, whose first row has number base.
func (f *farCall) rows(share *windowShare, base int64, from, to int) (*vec.Vector, error) {
	var v *vec.Vector
	var err error
	switch {
	case f.folds():
		v, err = f.aggregate(share, base, from, to)
	case f.c.Bound.Func.Name == "ntile":
		v, err = f.ntile(share, base, from, to)
	case f.c.ranks():
		v, err = f.rank(base, from, to)
	default:
		v, err = f.values(share, base, from, to)
	}
	if err != nil {
		return nil, err
	}
	index := make([]int32, share.n) // rows outside are not passed on: any value will do
	for i := from; i < to; i++ {
		index[i] = int32(i - from)
	}
	return vec.DictionaryOf(v, index, nil), nil
}

// each calls do with the place of every row. Rows go on from call to call.
func (f *farCall) each(base int64, from, to int, do func(i int, p *rowPlace) error) error {
	for i := from; i < to; i++ {
		f.pages.move(&f.at, base+int64(i))
		if err := do(i, &f.at); err != nil {
			return err
		}
	}
	return f.pages.w.check()
}

// ranges returns the rows of a row's frame, EXCLUDE applied.
func (f *farCall) ranges(share *windowShare, i int, p *rowPlace) ([][2]int64, error) {
	lo, err := f.start.of(f, p, share, i)
	if err != nil {
		return nil, err
	}
	hi, err := f.end.of(f, p, share, i)
	return frameRanges(f.c.Frame.Exclude, lo, max(lo, hi), p.row, p.peers, p.peerEnd), err
}

func (f *farCall) aggregate(share *windowShare, base int64, from, to int) (*vec.Vector, error) {
	out := newColBuf(f.c.Agg.Result, to-from)
	for at := from; at < to; at += vec.BatchRows {
		n := min(vec.BatchRows, to-at)
		f.acc = f.c.Agg.New(f.pages.w.ev)
		f.acc.Grow(n)
		f.tree.acc = f.acc
		for _, p := range f.near {
			p.fold.acc = f.acc
		}
		err := f.each(base, at, at+n, func(i int, p *rowPlace) error {
			ranges, err := f.ranges(share, i, p)
			if err != nil {
				return err
			}
			for _, r := range ranges {
				if err := f.cover(uint32(i-at), r[0], r[1]); err != nil {
					return err
				}
			}
			return nil
		})
		if err != nil {
			return nil, err
		}
		for _, p := range f.near {
			if err := p.flush(); err != nil {
				return nil, err
			}
		}
		if err := f.tree.flush(); err != nil {
			return nil, err
		}
		v, err := f.acc.Result(0, n)
		if err != nil {
			return nil, err
		}
		out.append(v, nil, n)
	}
	return out.finish(), nil
}

// cover folds rows [lo, hi) for a row of the batch.
func (f *farCall) cover(group uint32, lo, hi int64) error {
	for lo < hi {
		page, end := lo/pageRows, min(hi, (lo/pageRows+1)*pageRows)
		if whole := hi / pageRows; lo%pageRows == 0 && whole > page {
			if err := f.tree.cover(group, 1, int32(page), int32(whole)); err != nil {
				return err
			}
			lo = whole * pageRows
			continue
		}
		p, err := f.page(page)
		if err != nil {
			return err
		}
		if err := p.fold.cover(group, 0, int32(lo-page*pageRows), int32(end-page*pageRows)); err != nil {
			return err
		}
		lo = end
	}
	return nil
}

// values computes a function that picks a row.
func (f *farCall) values(share *windowShare, base int64, from, to int) (*vec.Vector, error) {
	out := vec.NewBuilder(f.c.Bound.Result, to-from)
	err := f.each(base, from, to, func(i int, p *rowPlace) error {
		row, found, err := f.pick(share, i, p)
		if err != nil {
			return err
		}
		if !found {
			if len(f.c.args) > 2 { // the default of lag and lead
				if n := share.cols[f.c.args[1]]; !n.IsNull(i) {
					out.AppendFrom(share.cols[f.c.args[2]], i)
					return nil
				}
			}
			out.AppendNull()
			return nil
		}
		page, err := f.page(row / pageRows)
		if err == nil {
			out.AppendFrom(page.share.cols[f.c.args[0]], int(row%pageRows))
		}
		return err
	})
	return out.Finish(), err
}

// pick returns the row whose value is the result.
func (f *farCall) pick(share *windowShare, i int, p *rowPlace) (row int64, found bool, err error) {
	n := int64(1)
	if len(f.c.args) > 1 {
		v := share.cols[f.c.args[1]]
		if v.IsNull(i) {
			return 0, false, nil
		}
		n = v.Value(i).I
	}
	switch name := f.c.Bound.Func.Name; name {
	case "lag", "lead":
		if name == "lag" {
			n = -n
		}
		row = p.row + n
		return row, row >= p.start && row < p.end, nil
	case "nth_value":
		if n < 1 {
			return 0, false, function.NthNotPositive()
		}
	}
	ranges, err := f.ranges(share, i, p)
	if f.c.Bound.Func.Name == "last_value" {
		for _, r := range slices.Backward(ranges) {
			if r[0] < r[1] {
				return r[1] - 1, true, err
			}
		}
		return 0, false, err
	}
	for _, r := range ranges {
		if rows := max(r[1]-r[0], 0); n > rows {
			n -= rows
		} else {
			return r[0] + n - 1, true, err
		}
	}
	return 0, false, err
}

// rank computes a function of where the row's peers lie.
func (f *farCall) rank(base int64, from, to int) (*vec.Vector, error) {
	counts, shares := make([]int64, 0, to-from), make([]float64, 0, to-from)
	err := f.each(base, from, to, func(_ int, p *rowPlace) error {
		before, rows := p.peers-p.start, p.end-p.start
		switch f.c.Bound.Func.Name {
		case "rank":
			counts = append(counts, before+1)
		case "dense_rank":
			counts = append(counts, p.group+1)
		case "percent_rank":
			shares = append(shares, float64(before)/float64(max(rows-1, 1)))
		case "cume_dist":
			shares = append(shares, float64(p.peerEnd-p.start)/float64(rows))
		}
		return nil
	})
	if len(counts) > 0 {
		return vec.FlatOf(vec.Int64Type, counts, nil), err
	}
	return vec.FlatOf(vec.Float64Type, shares, nil), err
}

// ntile lets the function work with the number of buckets that the partition's first row says.
func (f *farCall) ntile(share *windowShare, base int64, from, to int) (*vec.Vector, error) {
	out := newColBuf(f.c.Bound.Result, to-from)
	for at := from; at < to; {
		p := &f.at
		f.pages.move(p, base+int64(at))
		page, err := f.page(p.start / pageRows)
		if err != nil {
			return nil, err
		}
		n := int(min(int64(to-at), p.end-p.row))
		buckets := page.share.cols[f.c.args[0]]
		arg := vec.ConstantOf(buckets.Type, buckets.Value(int(p.start%pageRows)), n)
		part := &extension.Partition{N: n, Before: p.row - p.start, After: p.end - p.row - int64(n)}
		v, err := f.c.Bound.Eval(share.w.ev, part, []*vec.Vector{arg})
		if err != nil {
			return nil, err
		}
		out.append(v, nil, n)
		at += n
	}
	return out.finish(), nil
}
