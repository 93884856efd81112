package exec

import "github.com/tidemarkdb/tidemark/vec"

// detacher copies borrowed batches so that they outlive the call that lent them.
type detacher struct {
	types []vec.Type
	dicts []copiedDict // by column
}

// copiedDict is the latest dictionary of a column and its copy.
type copiedDict struct{ from, to *vec.Vector }

func newDetacher(types []vec.Type) *detacher {
	return &detacher{types: types, dicts: make([]copiedDict, len(types))}
}

// batch returns the rows of b that count as a batch without a selection that borrows nothing.
func (d *detacher) batch(b *vec.Batch) *vec.Batch {
	out := &vec.Batch{N: b.Rows(), Cols: make([]*vec.Vector, len(b.Cols))}
	for i, c := range b.Cols {
		out.Cols[i] = d.column(i, c, b.Sel, out.N)
	}
	return out
}

func (d *detacher) column(i int, v *vec.Vector, sel vec.Selection, n int) *vec.Vector {
	switch v.Form {
	case vec.Constant:
		buf := newColBuf(v.Type, 1)
		one := *v
		one.N = 1
		buf.append(&one, nil, 1)
		c := buf.finish()
		c.Form, c.N = vec.Constant, n
		return c
	case vec.Dictionary:
		if v.Dict.N <= n/2 || d.dicts[i].from == v.Dict {
			return d.dictionary(i, v, sel, n)
		}
	}
	buf := newColBuf(v.Type, n)
	buf.append(v, sel, n)
	return buf.finish()
}

// dictionary copies a dictionary vector; the copy of the entries serves every batch that has the same ones.
func (d *detacher) dictionary(i int, v *vec.Vector, sel vec.Selection, n int) *vec.Vector {
	if d.dicts[i].from != v.Dict {
		buf := newColBuf(v.Type, v.Dict.N)
		buf.append(v.Dict, nil, v.Dict.N)
		d.dicts[i] = copiedDict{from: v.Dict, to: buf.finish()}
	}
	out := &vec.Vector{Type: v.Type, Form: vec.Dictionary, N: n, Dict: d.dicts[i].to, Index: make([]int32, n)}
	if sel == nil {
		copy(out.Index, v.Index[:n])
	} else {
		gatherTo(out.Index, v.Index, sel)
	}
	if v.Valid != nil {
		out.Valid = vec.NewBitmap(n)
		appendValid(out.Valid, 0, &vec.Vector{Type: v.Type, N: v.N, Valid: v.Valid}, sel, n)
	}
	return out
}
