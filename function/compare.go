package function

import (
	"bytes"

	"github.com/tidemarkdb/tidemark/extension"
	"github.com/tidemarkdb/tidemark/vec"
)

// CompareOp is a comparison.
type CompareOp uint8

// The comparisons.
const (
	Eq CompareOp = iota
	Ne
	Lt
	Le
	Gt
	Ge
	Distinct    // IS DISTINCT FROM: as Ne, but NULL is a value like any other
	NotDistinct // IS NOT DISTINCT FROM
)

// String returns the operator's symbol.
func (op CompareOp) String() string {
	return [...]string{"=", "<>", "<", "<=", ">", ">=", "IS DISTINCT FROM", "IS NOT DISTINCT FROM"}[op]
}

// mirrored returns the operator for swapped operands.
func (op CompareOp) mirrored() CompareOp {
	switch op {
	case Lt:
		return Gt
	case Le:
		return Ge
	case Gt:
		return Lt
	case Ge:
		return Le
	}
	return op
}

// holds reports whether a three-way comparison satisfies op.
func (op CompareOp) holds(c int) bool {
	switch op {
	case Eq, NotDistinct:
		return c == 0
	case Ne, Distinct:
		return c != 0
	case Lt:
		return c < 0
	case Le:
		return c <= 0
	case Gt:
		return c > 0
	}
	return c >= 0
}

// Compare returns the kernel of op on two arguments of type t, in any form. The result is BOOLEAN; except for
// Distinct and NotDistinct it is NULL where an argument is. Strings compare by bytes, NaN equals NaN and exceeds
// every other float.
func Compare(op CompareOp, t vec.Type) extension.Kernel {
	if op == Distinct || op == NotDistinct {
		return compareDistinct(op, t)
	}
	return strict(vec.BoolType, func(c *call) (*vec.Vector, error) {
		out := make([]byte, c.n)
		compareInto(op, t, c.args[0], c.args[1], out)
		return vec.FlatOf(vec.BoolType, out, nil), nil
	})
}

func compareDistinct(op CompareOp, t vec.Type) extension.Kernel {
	return func(_ *extension.Eval, args []*vec.Vector, n int) (*vec.Vector, error) {
		out := make([]byte, n)
		a, b := flatOrConstant(args[0]), flatOrConstant(args[1])
		if t.ID != vec.Null {
			compareInto(op, t, a, b, out)
		}
		if a.MayHaveNulls() || b.MayHaveNulls() {
			same, differ := byte(1), byte(0)
			if op == Distinct {
				same, differ = 0, 1
			}
			for i := range out {
				switch an, bn := a.IsNull(i), b.IsNull(i); {
				case an && bn:
					out[i] = same
				case an != bn:
					out[i] = differ
				}
			}
		}
		return vec.FlatOf(vec.BoolType, out, nil), nil
	}
}

func flatOrConstant(v *vec.Vector) *vec.Vector {
	if v.Form == vec.Dictionary {
		return v.Flatten()
	}
	return v
}

// compareInto writes 1 where a op b holds and 0 elsewhere for len(out) rows of Flat or Constant vectors; what it
// writes for NULL rows is unspecified.
func compareInto(op CompareOp, t vec.Type, a, b *vec.Vector, out []byte) {
	if len(out) == 0 {
		return
	}
	if a.Form == vec.Constant && b.Form != vec.Constant {
		a, b, op = b, a, op.mirrored()
	}
	switch t.Phys() {
	case vec.PhysBool:
		compareOrdered(op, a.Data, b.Data, a.Form, b.Form, out)
	case vec.PhysInt16:
		compareOrdered(op, vec.Cast[int16](a.Data), vec.Cast[int16](b.Data), a.Form, b.Form, out)
	case vec.PhysInt32:
		compareOrdered(op, vec.Cast[int32](a.Data), vec.Cast[int32](b.Data), a.Form, b.Form, out)
	case vec.PhysInt64:
		compareOrdered(op, vec.Cast[int64](a.Data), vec.Cast[int64](b.Data), a.Form, b.Form, out)
	case vec.PhysFloat32:
		compareFloats[float32](op, a, b, out)
	case vec.PhysFloat64:
		compareFloats[float64](op, a, b, out)
	case vec.PhysBytes:
		compareTexts(op, textsOf(a), textsOf(b), out)
	case vec.PhysInt128:
		compareInt128(op, t, a, b, out)
	case vec.PhysInterval:
		x, xm := fixed[vec.IntervalValue](a)
		y, ym := fixed[vec.IntervalValue](b)
		for i := range out {
			out[i] = bit(op.holds(vec.CompareInt128(x[i&xm].Span(), y[i&ym].Span())))
		}
	default:
		order := CompareRows(t)
		for i := range out {
			if !a.IsNull(i) && !b.IsNull(i) {
				out[i] = bit(op.holds(order(a, i, b, i)))
			}
		}
	}
}

func bit(b bool) byte {
	var x byte
	if b {
		x = 1
	}
	return x
}

type ordered interface {
	byte | int16 | int32 | int64
}

// compareOrdered has a Flat and b Flat or Constant, or both Constant.
func compareOrdered[T ordered](op CompareOp, a, b []T, af, bf vec.Form, out []byte) {
	switch {
	case af == vec.Constant:
		compareConst(op, a[:1], b[0], out[:1])
		for i := range out {
			out[i] = out[0]
		}
	case bf == vec.Constant:
		compareConst(op, a, b[0], out)
	default:
		comparePairs(op, a, b, out)
	}
}

func compareConst[T ordered](op CompareOp, a []T, c T, out []byte) {
	a = a[:len(out)]
	switch op {
	case Eq, NotDistinct:
		for i, x := range a {
			out[i] = bit(x == c)
		}
	case Ne, Distinct:
		for i, x := range a {
			out[i] = bit(x != c)
		}
	case Lt:
		for i, x := range a {
			out[i] = bit(x < c)
		}
	case Le:
		for i, x := range a {
			out[i] = bit(x <= c)
		}
	case Gt:
		for i, x := range a {
			out[i] = bit(x > c)
		}
	case Ge:
		for i, x := range a {
			out[i] = bit(x >= c)
		}
	}
}

func comparePairs[T ordered](op CompareOp, a, b []T, out []byte) {
	if op == Gt || op == Ge {
		a, b, op = b, a, op.mirrored()
	}
	a, b = a[:len(out)], b[:len(out)]
	switch op {
	case Eq, NotDistinct:
		for i, x := range a {
			out[i] = bit(x == b[i])
		}
	case Ne, Distinct:
		for i, x := range a {
			out[i] = bit(x != b[i])
		}
	case Lt:
		for i, x := range a {
			out[i] = bit(x < b[i])
		}
	case Le:
		for i, x := range a {
			out[i] = bit(x <= b[i])
		}
	}
}

// compareFloats orders NaN above everything and equal to itself: !(x >= y) is then x < y or NaN on the right side
// alone, and so on.
func compareFloats[T float32 | float64](op CompareOp, av, bv *vec.Vector, out []byte) {
	a, am := fixed[T](av)
	b, bm := fixed[T](bv)
	if op == Gt || op == Ge {
		a, b, am, bm, op = b, a, bm, am, op.mirrored()
	}
	switch op {
	case Eq, NotDistinct:
		for i := range out {
			x, y := a[i&am], b[i&bm]
			out[i] = bit(x == y) | bit(x != x)&bit(y != y)
		}
	case Ne, Distinct:
		for i := range out {
			x, y := a[i&am], b[i&bm]
			out[i] = (bit(x == y) | bit(x != x)&bit(y != y)) ^ 1
		}
	case Lt:
		for i := range out {
			x, y := a[i&am], b[i&bm]
			out[i] = bit(x < y) | bit(y != y)&bit(x == x)
		}
	case Le:
		for i := range out {
			x, y := a[i&am], b[i&bm]
			out[i] = bit(x <= y) | bit(y != y)
		}
	}
}

func compareTexts(op CompareOp, a, b texts, out []byte) {
	switch {
	case op == Eq || op == Ne || op == Distinct || op == NotDistinct:
		flip := bit(op == Ne || op == Distinct)
		if b.mask == 0 {
			equalsConst(a, b.at(0), flip, out)
			return
		}
		for i := range out {
			out[i] = bit(string(a.at(i)) == string(b.at(i))) ^ flip
		}
	default:
		for i := range out {
			out[i] = bit(op.holds(bytes.Compare(a.at(i), b.at(i))))
		}
	}
}

func equalsConst(a texts, c []byte, flip byte, out []byte) {
	for i := range out {
		out[i] = bit(string(a.at(i)) == string(c)) ^ flip
	}
}

func compareInt128(op CompareOp, t vec.Type, av, bv *vec.Vector, out []byte) {
	a, am := fixed[vec.Int128](av)
	b, bm := fixed[vec.Int128](bv)
	var flip uint64 // UUIDs are unsigned
	if t.ID == vec.UUID {
		flip = 1 << 63
	}
	for i := range out {
		x, y := a[i&am], b[i&bm]
		switch op {
		case Eq, NotDistinct:
			out[i] = bit(x == y)
			continue
		case Ne, Distinct:
			out[i] = bit(x != y)
			continue
		}
		x.Hi, y.Hi = int64(uint64(x.Hi)^flip), int64(uint64(y.Hi)^flip)
		out[i] = bit(op.holds(vec.CompareInt128(x, y)))
	}
}
