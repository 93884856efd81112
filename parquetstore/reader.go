package parquetstore

import (
	"context"
	"slices"

	"golang.org/x/sync/errgroup"

	"github.com/tidemarkdb/tidemark/sqlerr"
	"github.com/tidemarkdb/tidemark/vec"
)

// Reader reads one morsel. It belongs to one goroutine.
type Reader struct {
	f       *File
	scan    *Scan
	group   int
	from    int         // first row of the morsel
	at, to  int         // rows within the group, yet to be read
	spans   [][2]int    // rows that page bounds leave, ascending
	columns []*cursor   // by place in File.Columns, nil when not read
	filters []*filter   // of the scan's predicates
	runtime []liveBound // what runtime filters had published when spans were made
	words   []uint64    // of the rows of the window, those that live
	late    bool        // some rows of words are dead, and no selection says so yet
	listed  bool        // those are in lent, not in words
	sel     vec.Selection
	except  vec.Selection
	lent    vec.Selection // the mask's own memory, perhaps
	started bool
	borrows bool     // pages are lent
	settled *settled // pages are read as the mask leaves them; mask is nil then
	mask    Mask
	span    int // rows of the group that the batch being read comes from
	looked  int // the most columns that one of the scan's filters looks at
	cols    []*vec.Vector
	batch   vec.Batch // the last, where the scan borrows
}

// liveBound is one runtime filter as the reader has seen it.
type liveBound struct {
	from    *RuntimeFilter
	seen    *RuntimeBounds
	filters []*filter
}

// NewReader returns a reader of one morsel. It does no work before Next; there is nothing to close, but the file must
// stay open.
func (f *File) NewReader(s *Scan, m Morsel) (*Reader, error) {
	r := &Reader{f: f, scan: s, group: m.Group, from: m.From, at: m.From, to: m.To, mask: s.Mask, columns: make([]*cursor, len(f.schema.columns))}
	if s.settled != nil {
		r.settled, r.mask = s.settled, nil
	}
	r.borrows = s.Borrow && r.settled == nil && (s.Once || !f.cache.keepsPages())
	use := func(c int) error {
		if c < 0 || c >= len(f.schema.columns) {
			return sqlerr.New(sqlerr.Internal, "Parquet file %s has no column %d", f.path, c)
		}
		if r.columns[c] == nil {
			r.columns[c] = &cursor{column: &f.schema.columns[c], page: -1}
		}
		return nil
	}
	for _, c := range s.Columns {
		if err := use(c); err != nil {
			return nil, err
		}
	}
	for _, p := range s.Predicates {
		if err := use(p.Column); err != nil {
			return nil, err
		}
		c := &f.schema.columns[p.Column]
		if !Exact(c.Type, p.Op) {
			return nil, sqlerr.New(sqlerr.Internal, "scans do not evaluate operator %d on %s", p.Op, c.Type)
		}
	}
	for _, p := range mergeRanges(s.Predicates, f.schema.columns) {
		r.filters = append(r.filters, newFilter(p, f.schema.columns[p.Column].Type))
	}
	for _, rf := range s.Runtime {
		if err := use(rf.Column); err != nil {
			return nil, err
		}
		r.runtime = append(r.runtime, liveBound{from: rf})
	}
	for _, rf := range s.Filters {
		for _, c := range rf.Columns {
			if err := use(c); err != nil {
				return nil, err
			}
		}
		r.looked = max(r.looked, len(rf.Columns))
	}
	r.orderFilters()
	return r, nil
}

// TakeOver gives the reader, before its first batch, the memory of one that has come to its end: what is left of that
// one's last batch is valid no longer.
func (r *Reader) TakeOver(ended *Reader) {
	r.sel, r.except, r.words, r.batch.Cols = ended.sel, ended.except, ended.words, ended.batch.Cols
}

// orderFilters puts the filters that are cheap to decode and to evaluate first.
func (r *Reader) orderFilters() {
	cost := func(f *filter) int {
		switch f.typ.Phys() {
		case vec.PhysBytes:
			return 3
		case vec.PhysInt128:
			return 2
		case vec.PhysFloat32, vec.PhysFloat64:
			return 1
		}
		return 0
	}
	slices.SortStableFunc(r.filters, func(a, b *filter) int { return cost(a) - cost(b) })
}

// Next returns the next batch with a row that passes, nil at the end of the morsel. The batch has a selection when
// rows in between are dead or filtered out. Its vectors are not changed afterwards, unless the scan borrows; the batch
// itself and its selection are valid until the next call.
func (r *Reader) Next(ctx context.Context) (*vec.Batch, error) {
	for {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		if err := r.prune(ctx); err != nil {
			return nil, err
		}
		from, limit, ok := r.window()
		if !ok {
			r.countSkipped()
			r.giveBack()
			return nil, nil
		}
		sel, live := r.live(from, limit-from)
		if live == 0 {
			r.at = limit
			continue
		}
		b, err := r.read(ctx, from, limit, sel)
		if err != nil {
			return nil, err
		}
		if b != nil {
			return b, nil
		}
	}
}

// giveBack ends what the reader lent; nothing is read after it.
func (r *Reader) giveBack() {
	for _, c := range r.columns {
		if c != nil {
			c.giveBack()
		}
	}
}

// window returns the next stretch of rows that page bounds leave.
func (r *Reader) window() (from, to int, ok bool) {
	for len(r.spans) > 0 && r.spans[0][1] <= r.at {
		r.spans = r.spans[1:]
	}
	if len(r.spans) == 0 || r.at >= r.to {
		return 0, 0, false
	}
	from = max(r.at, r.spans[0][0])
	to = min(from-from%vec.BatchRows+vec.BatchRows, r.spans[0][1])
	return from, to, true
}

// fewDead is how small a share of rows may be dead for predicates to look at all rows: one in this many. A selection
// of the others costs predicates more than the dead rows that it spares them.
const fewDead = 4

// fewFiltered is how small a share of rows filters may drop for them to be listed with the dead ones: one in this many.
// To find them takes a pass over the others.
const fewFiltered = 16

// live returns the live rows of the n from row from of the group on, as a selection (nil: all) and in number. Where few
// are dead the selection is left for later.
func (r *Reader) live(from, n int) (vec.Selection, int) {
	c := r.scan.Counters
	if c != nil {
		c.RowsScanned.Add(int64(n))
	}
	r.late = false
	if r.settled != nil {
		live := r.liveIn(from, n)
		if c != nil {
			c.RowsMasked.Add(int64(n - live))
		}
		return nil, live
	}
	if r.mask == nil {
		return nil, n
	}
	first := r.f.groups[r.group].first + int64(from)
	live, listed := r.listDead(uint32(first), n)
	if !listed {
		r.words = r.mask.LiveWords(r.words, uint32(first), uint32(n))
		live = vec.Bitmap(r.words).Count(n)
	}
	if c != nil {
		c.RowsMasked.Add(int64(n - live))
	}
	switch {
	case live == n:
		return nil, n
	case live == 0:
		return nil, 0
	case live > n-n/fewDead:
		r.late, r.listed = true, listed
		return nil, live
	case listed:
		r.words = r.mask.LiveWords(r.words, uint32(first), uint32(n))
	}
	r.sel = appendLive(r.sel[:0], r.words, n)
	return r.sel, live
}

// listDead makes lent the dead rows of the n from row first of the file on, and returns how many live; false where
// the scan needs them as bits.
func (r *Reader) listDead(first uint32, n int) (live int, ok bool) {
	if !r.scan.Except || len(r.filters)+len(r.runtime)+len(r.scan.Filters) > 0 {
		return 0, false
	}
	mask, ok := r.mask.(ListedMask)
	if !ok {
		return 0, false
	}
	dead, ok := mask.DeadRows(r.except, first, uint32(n))
	if ok {
		r.lent = dead
	}
	return n - len(dead), ok
}

// exceptOf returns the dead rows among the n that live has looked at and more behind them.
func (r *Reader) exceptOf(n int) vec.Selection {
	if r.listed {
		for len(r.lent) > 0 && int(r.lent[len(r.lent)-1]) >= n {
			r.lent = r.lent[:len(r.lent)-1]
		}
		return r.lent
	}
	r.except = appendDead(r.except[:0], r.words, n, n-vec.Bitmap(r.words).Count(n))
	return r.except
}

// read evaluates the filters on rows from to limit and, when some are left, reads the scan's columns. It moves on to
// the end of what it read, which may be before limit where pages end.
func (r *Reader) read(ctx context.Context, from, limit int, sel vec.Selection) (*vec.Batch, error) {
	n, err := r.fit(ctx, from, limit-from)
	if err != nil {
		return nil, err
	}
	if n < limit-from && sel != nil {
		cut, _ := slices.BinarySearch(sel, int32(n))
		if sel = sel[:cut]; cut == 0 {
			r.at = from + n
			return nil, nil
		}
	}
	r.at, r.span = from+n, n
	if r.settled != nil {
		if n = r.liveIn(from, n); n == 0 {
			return nil, nil
		}
	}
	if sel, err = r.filter(ctx, from, n, sel); err != nil || none(sel) {
		return nil, err
	}
	b := r.newBatch(n, sel)
	if r.late {
		switch dead := r.exceptOf(n); len(dead) {
		case n:
			return nil, nil
		case 0:
		default:
			b.Except = dead
		}
	}
	if !r.f.src.local {
		if err := r.fetch(ctx, from, n, sel); err != nil {
			return nil, err
		}
	}
	for _, c := range r.scan.Columns {
		v, err := r.columns[c].slice(ctx, r, from, n, sel)
		if err != nil {
			return nil, err
		}
		b.Cols = append(b.Cols, v)
	}
	if r.scan.Position {
		b.Cols = append(b.Cols, r.positions(from, n))
	}
	if c := r.scan.Counters; c != nil {
		c.RowsProduced.Add(int64(b.Rows()))
	}
	return b, nil
}

func (r *Reader) newBatch(n int, sel vec.Selection) *vec.Batch {
	if !r.scan.Borrow {
		return &vec.Batch{N: n, Sel: sel, Cols: make([]*vec.Vector, 0, len(r.scan.Columns)+1)}
	}
	r.batch = vec.Batch{N: n, Sel: sel, Cols: r.batch.Cols[:0]}
	return &r.batch
}

// fetchers is how many requests one reader has under way at once.
const fetchers = 8

// fetch brings in the pages of all columns at once when every one may take a request to a bucket.
func (r *Reader) fetch(ctx context.Context, from, n int, sel vec.Selection) error {
	var late []*cursor
	for _, c := range r.columns {
		if c != nil && c.column.flat(r.f.schema) && (c.v == nil || from >= c.first+c.rows) && !c.lent.has(from) && r.wants(c.column) {
			late = append(late, c)
		}
	}
	if len(late) < 2 {
		return nil
	}
	g, ctx := errgroup.WithContext(ctx)
	g.SetLimit(fetchers)
	for _, c := range late {
		g.Go(func() error {
			_, err := c.slice(ctx, r, from, n, sel)
			return err
		})
	}
	return g.Wait()
}

// wants reports whether the scan hands the column out.
func (r *Reader) wants(c *Column) bool {
	for _, i := range r.scan.Columns {
		if c == &r.f.schema.columns[i] {
			return true
		}
	}
	return false
}

// positions returns the ordinals in the file of the n rows of a batch that begins at row from of the group.
func (r *Reader) positions(from, n int) *vec.Vector {
	out, first := make([]int64, n), r.f.groups[r.group].first+int64(from)
	if r.settled != nil && n < r.span {
		for i, row := range liveList(r.settled.mask, uint32(first), r.span, n) {
			out[i] = first + int64(row)
		}
		return vec.FlatOf(vec.Int64Type, out, nil)
	}
	for i := range out {
		out[i] = first + int64(i)
	}
	return vec.FlatOf(vec.Int64Type, out, nil)
}

// rank returns the number of live rows of the file before a row of the group, where pages are settled.
func (r *Reader) rank(row int) int { return r.settled.rank(r.f.groups[r.group].first + int64(row)) }

// liveIn returns how many of the span rows from row from of the group on pages still have.
func (r *Reader) liveIn(from, span int) int {
	if r.settled == nil {
		return span
	}
	return r.rank(from+span) - r.rank(from)
}

// rowsOf returns how many rows of the group a batch of n rows comes from.
func (r *Reader) rowsOf(n int) int {
	if r.settled == nil {
		return n
	}
	return r.span
}
