package exec

import (
	"bytes"
	"cmp"

	"github.com/tidemarkdb/tidemark/plan"
	"github.com/tidemarkdb/tidemark/vec"
)

// compareNode compares two operands of equal type.
type compareNode struct {
	op          plan.CompareOp
	left, right node
	t           vec.Type
}

func (c *compareNode) eval(in *input) (*vec.Vector, error) {
	a, err := c.left.eval(in)
	if err != nil {
		return nil, err
	}
	b, err := c.right.eval(in)
	if err != nil {
		return nil, err
	}
	n := in.n
	if a.Form == vec.Constant && b.Form == vec.Constant && n > 0 {
		out := compareRows(c.op, c.t, constantRows(a, 1), constantRows(b, 1), 1)
		return toConstant(out, n), nil
	}
	return compareRows(c.op, c.t, a, b, n), nil
}

// compareRows compares row by row.
func compareRows(op plan.CompareOp, t vec.Type, a, b *vec.Vector, n int) *vec.Vector {
	if op == plan.Distinct || op == plan.NotDistinct {
		return compareDistinct(op, t, a, b, n)
	}
	if a.Form == vec.Constant && a.IsNull(0) || b.Form == vec.Constant && b.IsNull(0) || t.ID == vec.Null {
		return vec.NullOf(vec.BoolType, n)
	}
	out := make([]byte, n)
	compareValues(op, t, a, b, out)
	var valid vec.Bitmap
	for _, v := range []*vec.Vector{a, b} {
		if v.MayHaveNulls() {
			valid = vec.And(valid, v.RowValid(), n)
		}
	}
	return &vec.Vector{Type: vec.BoolType, N: n, Data: out, Valid: valid}
}

// compareDistinct is IS [NOT] DISTINCT FROM, where NULL is a value like others.
func compareDistinct(op plan.CompareOp, t vec.Type, a, b *vec.Vector, n int) *vec.Vector {
	out := make([]byte, n)
	if t.ID != vec.Null && !constantNull(a) && !constantNull(b) {
		compareValues(plan.Eq, t, a, b, out)
	}
	nulls := a.MayHaveNulls() || b.MayHaveNulls()
	for i, eq := range out {
		if nulls {
			if an, bn := a.IsNull(i), b.IsNull(i); an || bn {
				eq = b2u(an && bn)
			}
		}
		out[i] = eq ^ b2u(op == plan.Distinct)
	}
	return boolVector(out, false)
}

func constantNull(v *vec.Vector) bool { return v.Form == vec.Constant && v.IsNull(0) }

// compareValues compares without regard to NULL; out has a byte a row.
func compareValues(op plan.CompareOp, t vec.Type, a, b *vec.Vector, out []byte) {
	switch t.Phys() {
	case vec.PhysBool:
		compareOrdered[byte](op, a, b, out)
	case vec.PhysInt16:
		compareOrdered[int16](op, a, b, out)
	case vec.PhysInt32:
		compareOrdered[int32](op, a, b, out)
	case vec.PhysInt64:
		compareOrdered[int64](op, a, b, out)
	case vec.PhysFloat32:
		compareWith(op, a, b, out, func(p, q *vec.Vector, i, j int) int {
			return vec.CompareFloat(float64(vec.Cast[float32](p.Data)[i]), float64(vec.Cast[float32](q.Data)[j]))
		})
	case vec.PhysFloat64:
		compareWith(op, a, b, out, func(p, q *vec.Vector, i, j int) int {
			return vec.CompareFloat(vec.Cast[float64](p.Data)[i], vec.Cast[float64](q.Data)[j])
		})
	case vec.PhysInt128:
		compare := compareInt128
		if t.ID == vec.UUID {
			compare = compareUUID
		}
		compareWith(op, a, b, out, compare)
	case vec.PhysBytes:
		compareWith(op, a, b, out, func(p, q *vec.Vector, i, j int) int {
			return bytes.Compare(p.Data[p.Offsets[i]:p.Offsets[i+1]], q.Data[q.Offsets[j]:q.Offsets[j+1]])
		})
	default:
		compareWith(op, a, b, out, func(p, q *vec.Vector, i, j int) int { return vec.Compare(p.Value(i), q.Value(j)) })
	}
}

func compareInt128(p, q *vec.Vector, i, j int) int {
	return vec.CompareInt128(vec.Cast[vec.Int128](p.Data)[i], vec.Cast[vec.Int128](q.Data)[j])
}

func compareUUID(p, q *vec.Vector, i, j int) int {
	x, y := vec.Cast[vec.Int128](p.Data)[i], vec.Cast[vec.Int128](q.Data)[j]
	return cmp.Or(cmp.Compare(uint64(x.Hi), uint64(y.Hi)), cmp.Compare(x.Lo, y.Lo))
}

// compareWith compares by a function of two physical places. Rows whose dictionary is empty are left alone.
func compareWith(op plan.CompareOp, a, b *vec.Vector, out []byte, compare func(p, q *vec.Vector, i, j int) int) {
	want := outcomes(op)
	for i := range out {
		p, x := a.Physical(i)
		q, y := b.Physical(i)
		if x < p.N && y < q.N || p.Form == vec.Constant || q.Form == vec.Constant {
			if p.N == 0 || q.N == 0 {
				continue
			}
			out[i] = want[compare(p, q, x, y)+1]
		}
	}
}

// outcomes gives the result for each sign of a comparison, -1 first.
func outcomes(op plan.CompareOp) [3]byte {
	switch op {
	case plan.Eq, plan.NotDistinct:
		return [3]byte{0, 1, 0}
	case plan.Ne, plan.Distinct:
		return [3]byte{1, 0, 1}
	case plan.Lt:
		return [3]byte{1, 0, 0}
	case plan.Le:
		return [3]byte{1, 1, 0}
	case plan.Gt:
		return [3]byte{0, 0, 1}
	}
	return [3]byte{0, 1, 1}
}

// ordered is what < compares and fixed-width vectors hold.
type ordered interface{ byte | int16 | int32 | int64 }

func compareOrdered[T interface {
	ordered
	vec.Fixed
}](op plan.CompareOp, a, b *vec.Vector, out []byte) {
	if a.Form == vec.Constant {
		a, b, op = b, a, mirrored(op)
	}
	x := flatValues[T](a, len(out))
	if b.Form == vec.Constant {
		compareConst(op, x, vec.Cast[T](b.Data)[0], out)
		return
	}
	y := flatValues[T](b, len(out))
	switch op {
	case plan.Eq:
		for i, v := range x {
			out[i] = b2u(v == y[i])
		}
	case plan.Ne:
		for i, v := range x {
			out[i] = b2u(v != y[i])
		}
	case plan.Lt:
		for i, v := range x {
			out[i] = b2u(v < y[i])
		}
	case plan.Le:
		for i, v := range x {
			out[i] = b2u(v <= y[i])
		}
	case plan.Gt:
		for i, v := range x {
			out[i] = b2u(v > y[i])
		}
	default:
		for i, v := range x {
			out[i] = b2u(v >= y[i])
		}
	}
}

func compareConst[T ordered](op plan.CompareOp, x []T, c T, out []byte) {
	out = out[:len(x)]
	switch op {
	case plan.Eq:
		for i, v := range x {
			out[i] = b2u(v == c)
		}
	case plan.Ne:
		for i, v := range x {
			out[i] = b2u(v != c)
		}
	case plan.Lt:
		for i, v := range x {
			out[i] = b2u(v < c)
		}
	case plan.Le:
		for i, v := range x {
			out[i] = b2u(v <= c)
		}
	case plan.Gt:
		for i, v := range x {
			out[i] = b2u(v > c)
		}
	default:
		for i, v := range x {
			out[i] = b2u(v >= c)
		}
	}
}

// mirrored returns the operator with its operands exchanged.
func mirrored(op plan.CompareOp) plan.CompareOp {
	switch op {
	case plan.Lt:
		return plan.Gt
	case plan.Le:
		return plan.Ge
	case plan.Gt:
		return plan.Lt
	case plan.Ge:
		return plan.Le
	}
	return op
}

// flatValues returns the n values of a fixed-width vector, copied unless it is flat.
func flatValues[T vec.Fixed](v *vec.Vector, n int) []T {
	if v.Form == vec.Flat {
		return vec.Cast[T](v.Data)[:n]
	}
	out := make([]T, n)
	copyFixed(out, v, nil, n)
	return out
}
