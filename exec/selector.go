package exec

import (
	"github.com/tidemarkdb/tidemark/plan"
	"github.com/tidemarkdb/tidemark/vec"
)

// intRange keeps lo <= x <= hi.
type intRange struct{ lo, hi int64 }

func (r *intRange) choose(v *vec.Vector, n int, sel vec.Selection, out []int32) int {
	if r.lo > r.hi {
		return 0
	}
	var k int
	switch v.Type.Phys() {
	case vec.PhysInt16:
		k = chooseRange(vec.Cast[int16](v.Data)[:n], r.lo, r.hi, sel, out)
	case vec.PhysInt32:
		k = chooseRange(vec.Cast[int32](v.Data)[:n], r.lo, r.hi, sel, out)
	default:
		k = chooseRange(vec.Cast[int64](v.Data)[:n], r.lo, r.hi, sel, out)
	}
	return dropNulls(v.Valid, out, k)
}

// chooseRange tests lo <= x <= hi as one unsigned comparison and never branches on the outcome.
func chooseRange[T ordered](x []T, lo, hi int64, sel vec.Selection, out []int32) int {
	span, k := uint64(hi)-uint64(lo), 0
	if sel == nil {
		out = out[:len(x)]
		for i, v := range x {
			out[k] = int32(i)
			k += b2i(uint64(int64(v))-uint64(lo) <= span)
		}
		return k
	}
	for _, s := range sel {
		out[k] = s
		k += b2i(uint64(int64(x[s]))-uint64(lo) <= span)
	}
	return k
}

// dropNulls removes the rows that valid clears from the first k of out.
func dropNulls(valid vec.Bitmap, out []int32, k int) int {
	if valid == nil {
		return k
	}
	kept := 0
	for _, s := range out[:k] {
		out[kept] = s
		kept += int(valid[uint(s)/64] >> (uint(s) % 64) & 1)
	}
	return kept
}

// intNot keeps x <> c.
type intNot int64

func (c intNot) choose(v *vec.Vector, n int, sel vec.Selection, out []int32) int {
	var k int
	switch v.Type.Phys() {
	case vec.PhysInt16:
		k = chooseNot(vec.Cast[int16](v.Data)[:n], int64(c), sel, out)
	case vec.PhysInt32:
		k = chooseNot(vec.Cast[int32](v.Data)[:n], int64(c), sel, out)
	default:
		k = chooseNot(vec.Cast[int64](v.Data)[:n], int64(c), sel, out)
	}
	return dropNulls(v.Valid, out, k)
}

func chooseNot[T ordered](x []T, c int64, sel vec.Selection, out []int32) int {
	k := 0
	if sel == nil {
		for i, v := range x {
			out[k] = int32(i)
			k += b2i(int64(v) != c)
		}
		return k
	}
	for _, s := range sel {
		out[k] = s
		k += b2i(int64(x[s]) != c)
	}
	return k
}

// floatCompare compares with c, which is not NaN. NaN exceeds every number.
type floatCompare struct {
	op plan.CompareOp
	c  float64
}

func (f *floatCompare) choose(v *vec.Vector, n int, sel vec.Selection, out []int32) int {
	x, k := vec.Cast[float64](v.Data)[:n], 0
	if sel == nil {
		for i, y := range x {
			out[k] = int32(i)
			k += b2i(f.test(y))
		}
	} else {
		for _, s := range sel {
			out[k] = s
			k += b2i(f.test(x[s]))
		}
	}
	return dropNulls(v.Valid, out, k)
}

func (f *floatCompare) test(x float64) bool {
	switch f.op {
	case plan.Eq:
		return x == f.c
	case plan.Ne:
		return x != f.c
	case plan.Lt:
		return x < f.c
	case plan.Le:
		return x <= f.c
	case plan.Gt:
		return !(x <= f.c)
	}
	return !(x < f.c)
}

// stringEqual keeps strings equal to s, or with want unset those that differ.
type stringEqual struct {
	s    string
	want bool
}

func (e *stringEqual) choose(v *vec.Vector, n int, sel vec.Selection, out []int32) int {
	k, length := 0, int32(len(e.s))
	test := func(i int32) bool {
		from, to := v.Offsets[i], v.Offsets[i+1]
		return (to-from == length && string(v.Data[from:to]) == e.s) == e.want
	}
	if sel == nil {
		for i := range int32(n) {
			out[k] = i
			k += b2i(test(i))
		}
	} else {
		for _, s := range sel {
			out[k] = s
			k += b2i(test(s))
		}
	}
	return dropNulls(v.Valid, out, k)
}

// nullSelector keeps NULLs (false) or what is not NULL (true).
type nullSelector bool

func (keepValid nullSelector) choose(v *vec.Vector, n int, sel vec.Selection, out []int32) int {
	k := 0
	if sel == nil {
		for i := range n {
			out[k] = int32(i)
			k += b2i(v.IsNull(i) != bool(keepValid))
		}
		return k
	}
	for _, s := range sel {
		out[k] = s
		k += b2i(v.IsNull(int(s)) != bool(keepValid))
	}
	return k
}
