package parquetstore

import (
	"context"
	"slices"

	"github.com/tidemarkdb/tidemark/vec"
)

// cursor reads one column of a row group, page by page and in row order. The pages it does not come across are never
// decoded.
type cursor struct {
	column *Column
	dir    *directory  // of a flat column
	page   int         // the page v is, -1 before the first
	v      *vec.Vector // its rows, or what the mask leaves of them
	first  int         // row of the group at which the page begins
	rows   int         // of the group that the page holds
	rank   int         // of row first, where pages are settled
	passed int         // pages read

	lent *lentPage // the page of a scan that borrows, in place of v

	joined     *vec.Vector // the last rows that were put together from several pages
	joinedFrom int
}

// shortestBatch is the fewest rows for which a batch ends early at the end of a page. Shorter pieces are put together
// with the next page's instead, which costs a copy.
const shortestBatch = vec.BatchRows / 8

// fit returns how many of the n rows from row from on one batch should take.
func (r *Reader) fit(ctx context.Context, from, n int) (int, error) {
	for _, c := range r.columns {
		if c == nil || !c.column.flat(r.f.schema) {
			continue
		}
		if err := c.open(ctx, r); err != nil {
			return 0, err
		}
		p := &c.dir.pages[c.dir.find(from)]
		if left := p.first + p.rows - from; left < n && left >= shortestBatch {
			n = left
		}
	}
	return n, nil
}

func (c *cursor) open(ctx context.Context, r *Reader) (err error) {
	if c.dir == nil {
		c.dir, err = r.f.directory(ctx, r.group, c.column.leaves[0])
	}
	return err
}

// slice returns the n rows from row from of the group on; where pages are settled, what the mask leaves of r.span rows,
// which is n. Pages without a row of sel (nil: all) are not decoded when the rows lie in several: NULLs stand for them.
func (c *cursor) slice(ctx context.Context, r *Reader, from, n int, sel vec.Selection) (*vec.Vector, error) {
	if !c.column.flat(r.f.schema) {
		return c.sliceNested(ctx, r, from, n)
	}
	if c.joined != nil && c.joinedFrom == from && c.joined.N == n {
		return c.joined, nil
	}
	if err := c.open(ctx, r); err != nil {
		return nil, err
	}
	if r.borrows {
		return c.lend(ctx, r, from, n, sel)
	}
	span := r.rowsOf(n)
	if p := &c.dir.pages[c.dir.find(from)]; p.first+p.rows >= from+span {
		if err := c.seek(ctx, r, from); err != nil {
			return nil, err
		}
		return c.cut(r, from, span), nil
	}
	v, err := c.join(ctx, r, from, span, sel)
	if err != nil {
		return nil, err
	}
	// The rows of a filter column are often asked for again; sel can only have shrunk by then.
	c.joined, c.joinedFrom = v, from
	return v, nil
}

// cut returns what there is of the span rows from row from of the group on, which lie in the page that v is.
func (c *cursor) cut(r *Reader, from, span int) *vec.Vector {
	if r.settled == nil {
		return c.v.Slice(from-c.first, span)
	}
	return c.v.Slice(r.rank(from)-c.rank, r.liveIn(from, span))
}

// join puts rows that lie in several pages together.
func (c *cursor) join(ctx context.Context, r *Reader, from, span int, sel vec.Selection) (*vec.Vector, error) {
	var pieces []*vec.Vector
	passed := 0
	for at := from; at < from+span; {
		p := &c.dir.pages[c.dir.find(at)]
		take := min(p.first+p.rows, from+span) - at
		n := r.liveIn(at, take)
		if n > 0 && wanted(sel, passed, n) {
			if err := c.seek(ctx, r, at); err != nil {
				return nil, err
			}
			pieces = append(pieces, c.cut(r, at, take))
		} else {
			pieces = append(pieces, vec.NullOf(c.column.Type, n))
		}
		at, passed = at+take, passed+n
	}
	return concat(c.column.Type, pieces), nil
}

// wanted reports whether sel has a row in [from, from+n).
func wanted(sel vec.Selection, from, n int) bool {
	if sel == nil {
		return true
	}
	i, _ := slices.BinarySearch(sel, int32(from))
	return i < len(sel) && int(sel[i]) < from+n
}

// seek makes v the page that holds the row.
func (c *cursor) seek(ctx context.Context, r *Reader, row int) error {
	if c.v != nil && row >= c.first && row < c.first+c.rows {
		return nil
	}
	at := c.dir.find(row)
	p := &c.dir.pages[at]
	var v *vec.Vector
	var err error
	if r.settled != nil {
		v, err = r.f.settledVector(ctx, r.settled, r.group, c.column.leaves[0], at, p, r.scan.Counters)
		c.rank = r.rank(p.first)
	} else {
		v, err = r.f.vector(ctx, r.group, c.column.leaves[0], at, r.scan.Counters)
	}
	if err != nil {
		c.v = nil
		return err
	}
	c.v, c.page, c.first, c.rows = v, at, p.first, p.rows
	c.passed++
	return nil
}

// skipped returns how many pages of the morsel were not read.
func (c *cursor) skipped(r *Reader) int {
	if !c.column.flat(r.f.schema) {
		return 0
	}
	if c.dir == nil {
		c.dir = r.f.groups[r.group].chunks[c.column.leaves[0]].peek()
		if c.dir == nil {
			return 0
		}
	}
	pages := 0
	for i := range c.dir.pages {
		if p := &c.dir.pages[i]; p.first < r.to && p.first+p.rows > r.from {
			pages++
		}
	}
	return max(pages-c.passed, 0)
}

// vector returns a decoded page, from the cache where the file has one.
func (f *File) vector(ctx context.Context, g, leaf, at int, counters *Counters) (*vec.Vector, error) {
	if f.cache == nil {
		return f.decodePage(ctx, g, leaf, at, counters)
	}
	key := pageKey{tablet: f.tablet, group: int32(g), leaf: int32(leaf), at: int32(at)}
	v, hit, err := f.cache.page(ctx, key, func() (*vec.Vector, int64, error) {
		v, err := f.decodePage(ctx, g, leaf, at, counters)
		if err != nil {
			return nil, 0, err
		}
		size := v.MemoryBytes()
		if v.Dict != nil { // one dictionary serves all pages of the chunk
			dict := v.Dict.MemoryBytes()
			size += dict/int64(len(f.groups[g].chunks[leaf].peek().pages)) - dict
		}
		return v, size, nil
	})
	if hit && counters != nil {
		counters.PagesCached.Add(1)
	}
	return v, err
}

// peek returns the directory when it is there already.
func (c *chunk) peek() *directory {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.dir
}

// concat returns the rows of several vectors in one. Pieces over one dictionary stay codes.
func concat(t vec.Type, pieces []*vec.Vector) *vec.Vector {
	if len(pieces) == 1 {
		return pieces[0]
	}
	n, shared := 0, pieces[0].Form == vec.Dictionary
	for _, p := range pieces {
		n += p.N
		shared = shared && p.Form == vec.Dictionary && p.Dict == pieces[0].Dict
	}
	if shared {
		out := &vec.Vector{Type: t, Form: vec.Dictionary, N: n, Index: make([]int32, 0, n), Dict: pieces[0].Dict}
		for _, p := range pieces {
			out.Index = append(out.Index, p.Index...)
		}
		out.Valid = concatValid(pieces, n)
		return out
	}
	out := vec.NewBuilder(t, n)
	for _, p := range pieces {
		out.AppendVector(p, nil)
	}
	return out.Finish()
}

func concatValid(pieces []*vec.Vector, n int) vec.Bitmap {
	var out vec.Bitmap
	for _, p := range pieces {
		if p.Valid != nil {
			out = vec.NewBitmap(n)
		}
	}
	if out == nil {
		return nil
	}
	at := 0
	for _, p := range pieces {
		for i := range p.N {
			if p.Valid == nil || p.Valid.Get(i) {
				out.Set(at + i)
			}
		}
		at += p.N
	}
	return out
}
