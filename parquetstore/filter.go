package parquetstore

import (
	"slices"

	"github.com/tidemarkdb/tidemark/vec"
)

// filter evaluates one predicate. It belongs to one goroutine: it remembers the answer for a dictionary's entries.
type filter struct {
	predicate Predicate
	typ       vec.Type
	test      func(v *vec.Vector, sel, out vec.Selection) vec.Selection // of a flat vector; ignores NULLs
	dict      *vec.Vector
	pass      []byte // of dict's entries, 1 or 0
}

// newFilter prepares a predicate for which [Exact] holds.
func newFilter(p Predicate, t vec.Type) *filter {
	f := &filter{predicate: p, typ: t}
	switch t.Phys() {
	case vec.PhysBool:
		f.test = intTest[byte](p)
	case vec.PhysInt16:
		f.test = intTest[int16](p)
	case vec.PhysInt32:
		f.test = intTest[int32](p)
	case vec.PhysInt64:
		f.test = intTest[int64](p)
	case vec.PhysFloat32:
		f.test = floatTest[float32](p)
	case vec.PhysFloat64:
		f.test = floatTest[float64](p)
	case vec.PhysBytes:
		f.test = bytesTest(p)
	default:
		f.test = wideTest(p, t)
	}
	return f
}

// mergeRanges joins the comparisons of one column of integers into one range, which takes one pass over the rows.
func mergeRanges(predicates []Predicate, columns []Column) []Predicate {
	var out []Predicate
	at := map[int]int{} // place in out of a column's range
	for _, p := range predicates {
		t := columns[p.Column].Type
		i, seen := at[p.Column]
		if !p.isRange(t) {
			out = append(out, p)
			continue
		}
		if !seen {
			at[p.Column] = len(out)
			out = append(out, p)
			continue
		}
		a, b, okA := out[i].closedRange(limits[int64]())
		c, d, okB := p.closedRange(limits[int64]())
		low, high := max(a, c), min(b, d)
		if !okA || !okB {
			low, high = 1, 0
		}
		out[i] = Predicate{Column: p.Column, Op: Between, Values: []vec.Value{vec.IntValue(t, low), vec.IntValue(t, high)}}
	}
	return out
}

// isRange reports a comparison with integers that closedRange understands.
func (p *Predicate) isRange(t vec.Type) bool {
	switch t.Phys() {
	case vec.PhysInt16, vec.PhysInt32, vec.PhysInt64:
		return p.Op <= Between && p.Op != Ne && !p.hasNullValue()
	}
	return false
}

// apply appends to out the rows of sel (nil: all) of v that pass. out must not overlap sel unless it starts where
// sel does: the kernels write behind where they read.
func (f *filter) apply(v *vec.Vector, sel, out vec.Selection) vec.Selection {
	switch f.predicate.Op {
	case IsNull:
		return selectNulls(v, sel, out, true)
	case IsNotNull:
		return selectNulls(v, sel, out, false)
	}
	switch v.Form {
	case vec.Dictionary:
		return f.applyDictionary(v, sel, out)
	case vec.Constant:
		v = v.Flatten()
	}
	if v.Valid != nil {
		sel = selectNulls(v, sel, make(vec.Selection, 0, v.N), false)
	}
	return f.test(v, sel, out)
}

func (f *filter) applyDictionary(v *vec.Vector, sel, out vec.Selection) vec.Selection {
	if f.dict != v.Dict {
		f.dict, f.pass = v.Dict, make([]byte, v.Dict.N)
		for _, i := range f.apply(v.Dict, nil, nil) {
			f.pass[i] = 1
		}
	}
	if v.Valid != nil {
		sel = selectNulls(v, sel, make(vec.Selection, 0, v.N), false)
	}
	return chooseCodes(v.Index, f.pass, sel, out)
}

// chooseCodes appends the rows whose code's entry passes.
func chooseCodes(codes []int32, pass []byte, sel, out vec.Selection) vec.Selection {
	n := len(codes)
	if sel != nil {
		n = len(sel)
	}
	at := len(out)
	out = slices.Grow(out, n)[:at+n]
	if sel == nil {
		for i, code := range codes {
			out[at] = int32(i)
			at += int(pass[code])
		}
		return out[:at]
	}
	for _, i := range sel {
		out[at] = i
		at += int(pass[codes[i]])
	}
	return out[:at]
}

// selectNulls appends the rows that are NULL, or those that are not.
func selectNulls(v *vec.Vector, sel, out vec.Selection, null bool) vec.Selection {
	valid := v.RowValid()
	switch {
	case valid == nil && null:
		return out
	case valid == nil && sel == nil:
		return append(out, vec.Sequence(v.N)...)
	case valid == nil:
		return append(out, sel...)
	case sel == nil && !null:
		return valid.AppendSelection(out, v.N)
	case sel == nil:
		sel = vec.Sequence(v.N)
	}
	for _, i := range sel {
		if valid.Get(int(i)) != null {
			out = append(out, i)
		}
	}
	return out
}

// choose appends the rows whose value passes, without branches on the outcome.
func choose[T any](values []T, sel, out vec.Selection, pass func(T) bool) vec.Selection {
	n := len(values)
	if sel != nil {
		n = len(sel)
	}
	at := len(out)
	out = slices.Grow(out, n)[:at+n]
	if sel == nil {
		for i, x := range values {
			out[at] = int32(i)
			at += toInt(pass(x))
		}
		return out[:at]
	}
	for _, i := range sel {
		out[at] = i
		at += toInt(pass(values[i]))
	}
	return out[:at]
}

func toInt(b bool) int {
	if b {
		return 1
	}
	return 0
}

// chooseRange appends the rows whose value lies in [low, high].
func chooseRange[T byte | int16 | int32 | int64](values []T, sel, out vec.Selection, low, high T) vec.Selection {
	n := len(values)
	if sel != nil {
		n = len(sel)
	}
	at := len(out)
	out = slices.Grow(out, n)[:at+n]
	width := uint64(high) - uint64(low)
	if sel == nil {
		for i, x := range values {
			out[at] = int32(i)
			at += toInt(uint64(x)-uint64(low) <= width)
		}
		return out[:at]
	}
	for _, i := range sel {
		out[at] = i
		at += toInt(uint64(values[i])-uint64(low) <= width)
	}
	return out[:at]
}
