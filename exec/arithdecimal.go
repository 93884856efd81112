package exec

import "github.com/tidemarkdb/tidemark/vec"

// decimals returns the loop for NUMERIC arguments, nil where there is none. The types bound the values: where the
// result has room for every digit that its arguments can make, nothing overflows and nothing is tested.
func (x *arithNode) decimals(a, b, to vec.Type) func(a, b *vec.Vector, n int) ([]byte, bool) {
	narrow := func(t vec.Type) bool { return t.Phys() == vec.PhysInt64 }
	if x.op == mulOp {
		switch {
		case to.Scale != a.Scale+b.Scale:
			return nil
		case narrow(a) && narrow(b) && narrow(to) && to.Precision >= a.Precision+b.Precision:
			return x.mulNarrow
		case narrow(a) && narrow(b) && !narrow(to) && int(to.Precision) >= min(int(a.Precision+b.Precision), vec.MaxPrecision):
			return x.mulWide
		case !narrow(a) && narrow(b) && to.Precision == vec.MaxPrecision:
			return func(p, q *vec.Vector, n int) ([]byte, bool) { return x.mulMixed(p, q, n) }
		case narrow(a) && !narrow(b) && to.Precision == vec.MaxPrecision:
			return func(p, q *vec.Vector, n int) ([]byte, bool) { return x.mulMixed(q, p, n) }
		}
		return nil
	}
	whole := max(a.Precision-a.Scale, b.Precision-b.Scale) + 1
	if !narrow(a) || !narrow(b) || !narrow(to) || to.Scale != max(a.Scale, b.Scale) || to.Precision < whole+to.Scale {
		return nil
	}
	l, r := vec.Pow10Int64(int(to.Scale-a.Scale)), vec.Pow10Int64(int(to.Scale-b.Scale))
	if x.op == subOp {
		r = -r
	}
	return func(a, b *vec.Vector, n int) ([]byte, bool) { return x.addScaled(a, b, n, l, r) }
}

// addScaled computes a*l + b*r.
func (x *arithNode) addScaled(a, b *vec.Vector, n int, l, r int64) ([]byte, bool) {
	p, pm := operand[int64](x.arena, a, n)
	q, qm := operand[int64](x.arena, b, n)
	out := lend[int64](x.arena, n)
	switch {
	case pm == 0:
		c := p[0] * l
		for i, y := range q {
			out[i] = c + y*r
		}
	case qm == 0:
		c := q[0] * r
		for i, y := range p {
			out[i] = y*l + c
		}
	default:
		q = q[:len(p)]
		for i, y := range p {
			out[i] = y*l + q[i]*r
		}
	}
	return vec.AsBytes(out), true
}

func (x *arithNode) mulNarrow(a, b *vec.Vector, n int) ([]byte, bool) {
	p, pm := operand[int64](x.arena, a, n)
	q, qm := operand[int64](x.arena, b, n)
	out := lend[int64](x.arena, n)
	for i := range out {
		out[i] = p[i&pm] * q[i&qm]
	}
	return vec.AsBytes(out), true
}

// mulWide multiplies two values of at most 18 digits.
func (x *arithNode) mulWide(a, b *vec.Vector, n int) ([]byte, bool) {
	p, pm := operand[int64](x.arena, a, n)
	q, qm := operand[int64](x.arena, b, n)
	out := lend[vec.Int128](x.arena, n)
	for i := range out {
		out[i] = vec.MulInt64(p[i&pm], q[i&qm])
	}
	return vec.AsBytes(out), true
}

// mulMixed multiplies a wide with a narrow value. While the wide one fits 64 bits the product stays below 2^126, that
// is below 10^38; others are left to the kernel.
func (x *arithNode) mulMixed(a, b *vec.Vector, n int) ([]byte, bool) {
	p, pm := operand[vec.Int128](x.arena, a, n)
	q, qm := operand[int64](x.arena, b, n)
	out := lend[vec.Int128](x.arena, n)
	over := int64(0)
	for i := range out {
		l := p[i&pm]
		over |= l.Hi ^ int64(l.Lo)>>63
		out[i] = vec.MulInt64(int64(l.Lo), q[i&qm])
	}
	return vec.AsBytes(out), over == 0
}
