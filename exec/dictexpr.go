package exec

import "github.com/tidemarkdb/tidemark/vec"

// dictNode computes an expression of one column once for each entry where the column comes as a dictionary.
type dictNode struct {
	inner  node
	col    int
	sub    *input
	cols   []*vec.Vector
	dict   *vec.Vector // the dictionary of the latest rows
	seen   int         // how many rows with it were computed one by one
	failed bool        // an entry fails: only rows tell whether it occurs
	values *vec.Vector // the expression of every entry of dict, flat or constant; nil until it pays
}

func newDictNode(inner node, col int, ids *uint64) *dictNode {
	return &dictNode{inner: inner, col: col, sub: newInput(ids), cols: make([]*vec.Vector, col+1)}
}

func (d *dictNode) eval(in *input) (*vec.Vector, error) {
	v := in.col(d.col)
	if v.Form != vec.Dictionary || v.Dict.N == 0 {
		return d.inner.eval(in)
	}
	if d.dict != v.Dict {
		d.dict, d.seen, d.failed, d.values = v.Dict, 0, false, nil
	}
	if d.values == nil && !d.failed && v.Dict.N <= d.seen+in.n {
		d.entries()
	}
	if d.values == nil {
		d.seen += in.n
		return d.inner.eval(in)
	}
	if d.values.Form == vec.Constant {
		if v.Valid == nil {
			return constantRows(d.values, in.n), nil
		}
		return withValid(constantRows(d.values, in.n), v.Valid, in.n), nil
	}
	return &vec.Vector{Type: d.values.Type, Form: vec.Dictionary, N: in.n, Valid: v.Valid, Index: v.Index, Dict: d.values}, nil
}

// entries computes the expression of every entry. Where one fails, which no row may have, rows are computed instead.
func (d *dictNode) entries() {
	d.cols[d.col] = d.dict
	d.sub.reset(d.cols, nil, d.dict.N)
	v, err := d.inner.eval(d.sub)
	if err != nil {
		d.failed = true
		return
	}
	if v.Form == vec.Dictionary {
		v = v.Flatten()
	}
	header := *v
	if v.Form == vec.Flat && ownedBy(d.inner) { // the node's memory is used again
		buf := newColBuf(v.Type, v.N)
		buf.append(v, nil, v.N)
		header = *buf.finish()
	}
	d.values = &header
}

// ownedBy reports whether the node's results lie in memory that its next eval overwrites.
func ownedBy(n node) bool {
	switch n.(type) {
	case *callNode, *castNode:
		return false
	}
	return true
}
