package exec

import "github.com/tidemarkdb/tidemark/vec"

// input is the rows that expressions are computed over: n rows, those of cols that sel picks (nil: the first n).
// Columns are gathered when an expression asks for them, once for all expressions.
type input struct {
	id     uint64 // no two contents that one worker sees share it
	ids    *uint64
	n      int
	cols   []*vec.Vector
	sel    vec.Selection
	picked []*vec.Vector
	pick   []picker
	rows   []int32 // memory of sel, where narrow made it
}

// newInput returns an input of no rows; ids is the counter shared by all inputs of one program.
func newInput(ids *uint64) *input { return &input{ids: ids} }

// reset makes the input stand for the rows of cols that sel picks.
func (in *input) reset(cols []*vec.Vector, sel vec.Selection, n int) {
	*in.ids++
	in.id, in.n, in.cols, in.sel = *in.ids, n, cols, sel
	if len(in.picked) < len(cols) {
		in.picked = make([]*vec.Vector, len(cols))
		in.pick = append(in.pick, make([]picker, len(cols)-len(in.pick))...)
	}
	clear(in.picked)
}

// batch makes the input stand for the rows of b that count.
func (in *input) batch(b *vec.Batch) {
	sel := b.Sel
	if b.Except != nil {
		in.rows = appendOthers(in.rows[:0], b.Except, b.N)
		sel = in.rows
	}
	in.reset(b.Cols, sel, b.Rows())
}

// all makes the input stand for all N rows of b.
func (in *input) all(b *vec.Batch) { in.reset(b.Cols, nil, b.N) }

// narrow makes child stand for the rows of in at the places in rows.
func (in *input) narrow(child *input, rows []int32) {
	child.rows = append(child.rows[:0], rows...)
	if in.sel != nil {
		for i, r := range rows {
			child.rows[i] = in.sel[r]
		}
	}
	child.reset(in.cols, child.rows, len(rows))
}

// col returns column i of the input's rows.
func (in *input) col(i int) *vec.Vector {
	if in.sel == nil {
		if v := in.cols[i]; v.N == in.n {
			return v
		}
		return in.cols[i].Slice(0, in.n)
	}
	if in.picked[i] == nil {
		in.picked[i] = in.pick[i].gather(in.cols[i], in.sel)
	}
	return in.picked[i]
}

// picker gathers rows of a column into memory it uses again for the next vector.
type picker struct {
	data  []byte
	index []int32
	valid vec.Bitmap
}

// gather returns the rows of sel, which ascends strictly. Strings and nested values come back as a dictionary over v.
func (p *picker) gather(v *vec.Vector, sel vec.Selection) *vec.Vector { return p.pick(v, sel, true) }

// take returns the rows in any order and any number of times; it is gather otherwise.
func (p *picker) take(v *vec.Vector, rows []int32) *vec.Vector { return p.pick(v, rows, false) }

func (p *picker) pick(v *vec.Vector, sel []int32, ascends bool) *vec.Vector {
	n := len(sel)
	out := &vec.Vector{Type: v.Type, N: n}
	switch {
	case v.Form == vec.Constant:
		*out = *v
		out.N = n
		return out
	case v.Form == vec.Dictionary:
		p.index = resize(p.index, n)
		pickRows(p.index, v.Index, sel, ascends)
		out.Form, out.Index, out.Dict = vec.Dictionary, p.index, v.Dict
	case v.Type.ID == vec.Null:
		return vec.NullOf(v.Type, n)
	case v.Type.Phys().Width() == 0:
		header := *v // a header of its own: v's may lend its buffers to other content
		p.index = resize(p.index, n)
		copy(p.index, sel)
		out.Form, out.Index, out.Dict = vec.Dictionary, p.index, &header
		return out
	default:
		p.fixed(v, sel, ascends)
		out.Data = p.data
	}
	if v.Valid != nil {
		p.valid = resize(p.valid, (n+63)/64)
		gatherBits(p.valid, v.Valid, sel)
		out.Valid = p.valid
	}
	return out
}

func (p *picker) fixed(v *vec.Vector, sel []int32, ascends bool) {
	width := v.Type.Phys().Width()
	p.data = resize(p.data, len(sel)*width)
	switch width {
	case 1:
		pickRows(p.data, v.Data, sel, ascends)
	case 2:
		pickRows(vec.Cast[int16](p.data), vec.Cast[int16](v.Data), sel, ascends)
	case 4:
		pickRows(vec.Cast[int32](p.data), vec.Cast[int32](v.Data), sel, ascends)
	case 8:
		pickRows(vec.Cast[int64](p.data), vec.Cast[int64](v.Data), sel, ascends)
	default:
		pickRows(vec.Cast[vec.Int128](p.data), vec.Cast[vec.Int128](v.Data), sel, ascends)
	}
}

// gatherBits writes bit sel[i] of from to bit i of dst.
func gatherBits(dst, from vec.Bitmap, sel []int32) {
	clear(dst)
	for i, s := range sel {
		dst[uint(i)/64] |= from[uint(s)/64] >> (uint(s) % 64) & 1 << (uint(i) % 64)
	}
}

// resize returns a slice of n values, s's memory where it suffices. The values are unspecified.
func resize[T any](s []T, n int) []T {
	if cap(s) >= n {
		return s[:n]
	}
	return make([]T, n, n+n/4)
}
