package function

import (
	"bytes"

	"github.com/tidemarkdb/tidemark/vec"
)

// Selector appends to out the rows of sel (nil: all n) for which a comparison of a and b is TRUE, in order. out may
// share sel's memory from the same start, as rows are only dropped.
type Selector func(a, b *vec.Vector, n int, sel, out vec.Selection) (vec.Selection, error)

// SelectCompare returns the selector of op on two vectors of type t in any form.
func SelectCompare(op CompareOp, t vec.Type) Selector {
	kernel := Compare(op, t)
	return func(a, b *vec.Vector, n int, sel, out vec.Selection) (vec.Selection, error) {
		if a.Form == vec.Constant && b.Form != vec.Constant {
			return selectRows(op.mirrored(), t, b, a, n, sel, out, kernel, true)
		}
		return selectRows(op, t, a, b, n, sel, out, kernel, false)
	}
}

func selectRows(op CompareOp, t vec.Type, a, b *vec.Vector, n int, sel, out vec.Selection, kernel kernelFunc, swapped bool) (vec.Selection, error) {
	strictOp := op != Distinct && op != NotDistinct
	if strictOp && b.Form == vec.Constant {
		if b.IsNull(0) {
			return out, nil
		}
		if a.Form == vec.Flat {
			if sel == nil && a.Valid != nil {
				sel = a.Valid.AppendSelection(make(vec.Selection, 0, n), n)
			} else if a.Valid != nil {
				sel = keepValid(a.Valid, sel)
			}
			if got, ok := selectConst(op, t, a, b, n, sel, out); ok {
				return got, nil
			}
		}
	}
	if strictOp && a.Form == vec.Flat && b.Form == vec.Flat && a.Valid == nil && b.Valid == nil {
		if got, ok := selectPairs(op, t, a, b, n, sel, out); ok {
			return got, nil
		}
	}
	x, y := a, b
	if swapped {
		x, y = b, a
	}
	v, err := kernel(nil, []*vec.Vector{x, y}, n)
	if err != nil {
		return nil, err
	}
	return SelectTrue(v, n, sel, out), nil
}

func keepValid(valid vec.Bitmap, sel vec.Selection) vec.Selection {
	kept := make(vec.Selection, 0, len(sel))
	for _, i := range sel {
		if valid.Get(int(i)) {
			kept = append(kept, i)
		}
	}
	return kept
}

// room returns out with space for n more rows and where they begin.
func room(out vec.Selection, n int) (vec.Selection, int) {
	k := len(out)
	if cap(out)-k < n {
		grown := make(vec.Selection, k, k+n)
		copy(grown, out)
		out = grown
	}
	return out[:k+n], k
}

// SelectTrue appends to out the rows of sel (nil: all n) where the BOOLEAN vector v is TRUE.
func SelectTrue(v *vec.Vector, n int, sel, out vec.Selection) vec.Selection {
	rows := n
	if sel != nil {
		rows = len(sel)
	}
	if v.Form == vec.Constant {
		if v.IsNull(0) || v.Data[0] == 0 {
			return out
		}
		if sel != nil {
			return append(out, sel...)
		}
		out, k := room(out, n)
		for i := range out[k:] {
			out[k+i] = int32(i)
		}
		return out
	}
	truth, index, valid := v.Data, v.Index, v.Valid
	if v.Form == vec.Dictionary {
		truth = make([]byte, v.Dict.N)
		for i := range truth {
			truth[i] = bit(v.Dict.Data[i] != 0 && !v.Dict.IsNull(i))
		}
	}
	out, k := room(out, rows)
	for r := range rows {
		i := int32(r)
		if sel != nil {
			i = sel[r]
		}
		e := i
		if index != nil {
			e = index[i]
		}
		hit := truth[e]
		if valid != nil {
			hit &= byte(valid[uint32(i)/64] >> (uint32(i) % 64) & 1)
		}
		out[k] = i
		k += int(hit & 1)
	}
	return out[:k]
}

func selectConst(op CompareOp, t vec.Type, a, b *vec.Vector, n int, sel, out vec.Selection) (vec.Selection, bool) {
	switch t.Phys() {
	case vec.PhysInt16:
		return selectOrderedConst(op, vec.Cast[int16](a.Data), vec.Cast[int16](b.Data)[0], n, sel, out), true
	case vec.PhysInt32:
		return selectOrderedConst(op, vec.Cast[int32](a.Data), vec.Cast[int32](b.Data)[0], n, sel, out), true
	case vec.PhysInt64:
		return selectOrderedConst(op, vec.Cast[int64](a.Data), vec.Cast[int64](b.Data)[0], n, sel, out), true
	case vec.PhysFloat64:
		c := vec.Cast[float64](b.Data)[0]
		if c == c && op != Gt && op != Ge && op != Ne { // NaN rows then are never TRUE, as the machine has it
			return selectOrderedConst(op, vec.Cast[float64](a.Data), c, n, sel, out), true
		}
	case vec.PhysBytes:
		return selectTextConst(op, textsOf(a), b.Bytes(0), n, sel, out), true
	}
	return nil, false
}

func selectPairs(op CompareOp, t vec.Type, a, b *vec.Vector, n int, sel, out vec.Selection) (vec.Selection, bool) {
	switch t.Phys() {
	case vec.PhysInt16:
		return selectOrderedPairs(op, vec.Cast[int16](a.Data), vec.Cast[int16](b.Data), n, sel, out), true
	case vec.PhysInt32:
		return selectOrderedPairs(op, vec.Cast[int32](a.Data), vec.Cast[int32](b.Data), n, sel, out), true
	case vec.PhysInt64:
		return selectOrderedPairs(op, vec.Cast[int64](a.Data), vec.Cast[int64](b.Data), n, sel, out), true
	}
	return nil, false
}

type number interface {
	int16 | int32 | int64 | float64
}

// selectOrderedConst writes every candidate row and steps on only past those that hold: no branch depends on data.
func selectOrderedConst[T number](op CompareOp, a []T, c T, n int, sel, out vec.Selection) vec.Selection {
	if sel == nil {
		out, k := room(out, n)
		return out[:selectDenseConst(op, a[:n], c, out, k)]
	}
	out, k := room(out, len(sel))
	switch op {
	case Eq:
		for _, i := range sel {
			out[k] = i
			k += int(bit(a[i] == c))
		}
	case Ne:
		for _, i := range sel {
			out[k] = i
			k += int(bit(a[i] != c))
		}
	case Lt:
		for _, i := range sel {
			out[k] = i
			k += int(bit(a[i] < c))
		}
	case Le:
		for _, i := range sel {
			out[k] = i
			k += int(bit(a[i] <= c))
		}
	case Gt:
		for _, i := range sel {
			out[k] = i
			k += int(bit(a[i] > c))
		}
	case Ge:
		for _, i := range sel {
			out[k] = i
			k += int(bit(a[i] >= c))
		}
	}
	return out[:k]
}

func selectDenseConst[T number](op CompareOp, a []T, c T, out vec.Selection, k int) int {
	switch op {
	case Eq:
		for i, x := range a {
			out[k] = int32(i)
			k += int(bit(x == c))
		}
	case Ne:
		for i, x := range a {
			out[k] = int32(i)
			k += int(bit(x != c))
		}
	case Lt:
		for i, x := range a {
			out[k] = int32(i)
			k += int(bit(x < c))
		}
	case Le:
		for i, x := range a {
			out[k] = int32(i)
			k += int(bit(x <= c))
		}
	case Gt:
		for i, x := range a {
			out[k] = int32(i)
			k += int(bit(x > c))
		}
	case Ge:
		for i, x := range a {
			out[k] = int32(i)
			k += int(bit(x >= c))
		}
	}
	return k
}

func selectOrderedPairs[T number](op CompareOp, a, b []T, n int, sel, out vec.Selection) vec.Selection {
	if op == Gt || op == Ge {
		a, b, op = b, a, op.mirrored()
	}
	if sel == nil {
		out, k := room(out, n)
		return out[:selectDensePairs(op, a[:n], b[:n], out, k)]
	}
	out, k := room(out, len(sel))
	switch op {
	case Eq:
		for _, i := range sel {
			out[k] = i
			k += int(bit(a[i] == b[i]))
		}
	case Ne:
		for _, i := range sel {
			out[k] = i
			k += int(bit(a[i] != b[i]))
		}
	case Lt:
		for _, i := range sel {
			out[k] = i
			k += int(bit(a[i] < b[i]))
		}
	case Le:
		for _, i := range sel {
			out[k] = i
			k += int(bit(a[i] <= b[i]))
		}
	}
	return out[:k]
}

func selectDensePairs[T number](op CompareOp, a, b []T, out vec.Selection, k int) int {
	b = b[:len(a)]
	switch op {
	case Eq:
		for i, x := range a {
			out[k] = int32(i)
			k += int(bit(x == b[i]))
		}
	case Ne:
		for i, x := range a {
			out[k] = int32(i)
			k += int(bit(x != b[i]))
		}
	case Lt:
		for i, x := range a {
			out[k] = int32(i)
			k += int(bit(x < b[i]))
		}
	case Le:
		for i, x := range a {
			out[k] = int32(i)
			k += int(bit(x <= b[i]))
		}
	}
	return k
}

func selectTextConst(op CompareOp, a texts, c []byte, n int, sel, out vec.Selection) vec.Selection {
	rows := n
	if sel != nil {
		rows = len(sel)
	}
	out, k := room(out, rows)
	for r := range rows {
		i := int32(r)
		if sel != nil {
			i = sel[r]
		}
		x := a.data[a.offsets[i]:a.offsets[i+1]]
		var hit byte
		switch op {
		case Eq:
			hit = bit(string(x) == string(c))
		case Ne:
			hit = bit(string(x) != string(c))
		default:
			hit = bit(op.holds(bytes.Compare(x, c)))
		}
		out[k] = i
		k += int(hit)
	}
	return out[:k]
}
