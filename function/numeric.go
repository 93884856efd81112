package function

import (
	"math/big"
	"math/bits"

	"github.com/tidemarkdb/tidemark/extension"
	"github.com/tidemarkdb/tidemark/vec"
)

// NUMERIC results have one scale for all rows, where PostgreSQL picks one for each value. The rules:
//
//	+ -   the larger scale; exact
//	*     the sum of the scales; exact while at most 12 or the larger of the two scales, beyond that rounded to the
//	      scale that leaves room for the integer digits
//	/     at least 16 and at least either scale (PostgreSQL: at least 16 significant digits)
//	%     the larger scale; exact
//
// Precision is what the operands can need, at most 38: a result that needs more is an error.

// minMulScale and minDivScale are the scales a product keeps and a quotient has at least.
const (
	minMulScale = 12
	minDivScale = 16
)

func addType(a, b vec.Type) vec.Type {
	whole := max(a.Precision-a.Scale, b.Precision-b.Scale)
	scale := max(a.Scale, b.Scale)
	return vec.DecimalType(min(int(whole)+int(scale)+1, vec.MaxPrecision), int(scale))
}

func mulType(a, b vec.Type) vec.Type {
	precision, scale := int(a.Precision)+int(b.Precision), int(a.Scale)+int(b.Scale)
	if precision > vec.MaxPrecision {
		keep := min(scale, max(int(a.Scale), int(b.Scale), minMulScale))
		scale = max(keep, min(scale, vec.MaxPrecision-(precision-scale)))
		precision = vec.MaxPrecision
	}
	return vec.DecimalType(precision, scale)
}

func divType(a, b vec.Type) vec.Type {
	return vec.DecimalType(vec.MaxPrecision, max(int(a.Scale), int(b.Scale), minDivScale))
}

func modType(a, b vec.Type) vec.Type {
	scale := max(a.Scale, b.Scale)
	whole := min(max(int(a.Precision-a.Scale), int(b.Precision-b.Scale)), vec.MaxPrecision-int(scale))
	return vec.DecimalType(max(whole+int(scale), 1), int(scale))
}

// decimalOp is a binary NUMERIC operator.
func decimalOp(result func(a, b vec.Type) vec.Type, b func(a, b, r vec.Type) body) extension.ScalarOverload {
	return bound(params(decimalParam, decimalParam), func(args []extension.Argument) (vec.Type, body, error) {
		x, y := args[0].Type, args[1].Type
		r := result(x, y)
		return r, b(x, y, r), nil
	})
}

func narrowAll(types ...vec.Type) bool {
	for _, t := range types {
		if t.Phys() != vec.PhysInt64 {
			return false
		}
	}
	return true
}

// addDecimals adds, or with sign -1 subtracts.
func addDecimals(sign int64) func(a, b, r vec.Type) body {
	return func(a, b, r vec.Type) body {
		if narrowAll(a, b, r) {
			fa, fb := vec.Pow10Int64(int(r.Scale-a.Scale)), sign*vec.Pow10Int64(int(r.Scale-b.Scale))
			return func(c *call) (*vec.Vector, error) { // digits were counted: it cannot overflow
				x, xm := fixed[int64](c.args[0])
				y, ym := fixed[int64](c.args[1])
				out := make([]int64, c.n)
				for i := range out {
					out[i] = x[i&xm]*fa + y[i&ym]*fb
				}
				return vec.FlatOf(r, out, nil), nil
			}
		}
		return wideOp(r, func(x, y vec.Int128) (vec.Int128, bool) {
			x, ok1 := vec.RescaleInt128(x, int(a.Scale), int(r.Scale))
			y, ok2 := vec.RescaleInt128(y, int(b.Scale), int(r.Scale))
			if sign < 0 {
				y = vec.NegInt128(y)
			}
			s, ok3 := vec.AddInt128Checked(x, y)
			return s, ok1 && ok2 && ok3
		})
	}
}

// wideOp makes a body of an operation on 128-bit unscaled values, which reports what does not fit.
func wideOp(r vec.Type, f func(x, y vec.Int128) (vec.Int128, bool)) body {
	precision := int(r.Precision)
	return func(c *call) (*vec.Vector, error) {
		x, y, out := wide(c.args[0]), wide(c.args[1]), newDecimalOut(r, c.n)
		for i := range c.n {
			v, ok := f(x(i), y(i))
			if !ok || !vec.FitsPrecision(v, precision) {
				if c.ok(i) {
					return nil, outOfRange(r)
				}
				continue
			}
			out.set(i, v)
		}
		return out.vector(), nil
	}
}

func mulDecimals(a, b, r vec.Type) body {
	drop := int(a.Scale) + int(b.Scale) - int(r.Scale)
	switch {
	case drop == 0 && narrowAll(a, b, r):
		return func(c *call) (*vec.Vector, error) { // digits were counted: it cannot overflow
			x, xm := fixed[int64](c.args[0])
			y, ym := fixed[int64](c.args[1])
			out := make([]int64, c.n)
			for i := range out {
				out[i] = x[i&xm] * y[i&ym]
			}
			return vec.FlatOf(r, out, nil), nil
		}
	case drop == 0 && narrowAll(a, b):
		return func(c *call) (*vec.Vector, error) { // 36 digits fit 128 bits
			x, xm := fixed[int64](c.args[0])
			y, ym := fixed[int64](c.args[1])
			out := make([]vec.Int128, c.n)
			if xm&ym == -1 {
				x, y = x[:len(out)], y[:len(out)]
				for i := range out {
					out[i] = mulFull(x[i], y[i])
				}
				return vec.FlatOf(r, out, nil), nil
			}
			for i := range out {
				out[i] = mulFull(x[i&xm], y[i&ym])
			}
			return vec.FlatOf(r, out, nil), nil
		}
	}
	return wideOp(r, func(x, y vec.Int128) (vec.Int128, bool) {
		if drop == 0 {
			xs, ok1 := x.Int64()
			ys, ok2 := y.Int64()
			if ok1 && ok2 {
				return vec.MulInt64(xs, ys), true
			}
		}
		p, ok := vec.MulInt128Checked(x, y)
		if ok {
			return vec.DivRoundInt128(p, vec.Pow10(drop)), true
		}
		if drop == 0 {
			return p, false
		}
		return fromBig(divRoundBig(new(big.Int).Mul(toBig(x), toBig(y)), toBig(vec.Pow10(drop))))
	})
}

// mulFull is the full signed product, without branches so that it is inlined.
func mulFull(a, b int64) vec.Int128 {
	hi, lo := bits.Mul64(uint64(a), uint64(b))
	return vec.Int128{Lo: lo, Hi: int64(hi) - a>>63&b - b>>63&a}
}

func divDecimals(a, b, r vec.Type) body {
	up := int(r.Scale) - int(a.Scale) + int(b.Scale)
	divide := func(x, y vec.Int128) (vec.Int128, bool) { return divideDecimal(x, y, up) }
	return checkedDivision(wideOp(r, divide))
}

// divideDecimal returns x * 10^up / y rounded half away from zero; y is not 0. up is at least 0.
func divideDecimal(x, y vec.Int128, up int) (vec.Int128, bool) {
	if y == (vec.Int128{}) {
		return y, true // of a NULL row
	}
	if up <= vec.MaxPrecision {
		if scaled, ok := vec.MulInt128Checked(x, vec.Pow10(up)); ok {
			return vec.DivRoundInt128(scaled, y), true
		}
	}
	scaled := new(big.Int).Exp(big.NewInt(10), big.NewInt(int64(up)), nil)
	return fromBig(divRoundBig(scaled.Mul(scaled, toBig(x)), toBig(y)))
}

// checkedDivision refuses zero as the second argument.
func checkedDivision(b body) body {
	return func(c *call) (*vec.Vector, error) {
		y := wide(c.args[1])
		for i := range c.n {
			if y(i) == (vec.Int128{}) && c.ok(i) {
				return nil, divisionByZero()
			}
		}
		return b(c)
	}
}

func modDecimals(a, b, r vec.Type) body {
	scale := int(r.Scale)
	return checkedDivision(wideOp(r, func(x, y vec.Int128) (vec.Int128, bool) {
		if y == (vec.Int128{}) {
			return y, true
		}
		xs, ok1 := vec.RescaleInt128(x, int(a.Scale), scale)
		ys, ok2 := vec.RescaleInt128(y, int(b.Scale), scale)
		if ok1 && ok2 {
			_, rem := vec.DivInt128(xs, ys)
			return rem, true
		}
		bx, by := rescaleBig(x, scale-int(a.Scale)), rescaleBig(y, scale-int(b.Scale))
		return fromBig(bx.Rem(bx, by))
	}))
}

func rescaleBig(x vec.Int128, up int) *big.Int {
	f := new(big.Int).Exp(big.NewInt(10), big.NewInt(int64(up)), nil)
	return f.Mul(f, toBig(x))
}

func toBig(x vec.Int128) *big.Int {
	out := new(big.Int).Lsh(big.NewInt(x.Hi), 64)
	return out.Add(out, new(big.Int).SetUint64(x.Lo))
}

// fromBig returns x in 128 bits and whether it fits.
func fromBig(x *big.Int) (vec.Int128, bool) {
	if x.BitLen() > 127 {
		return vec.Int128{}, false
	}
	magnitude := new(big.Int).Abs(x)
	lo := new(big.Int).And(magnitude, new(big.Int).SetUint64(^uint64(0))).Uint64()
	hi := new(big.Int).Rsh(magnitude, 64).Uint64()
	out := vec.Int128{Lo: lo, Hi: int64(hi)}
	if x.Sign() < 0 {
		out = vec.NegInt128(out)
	}
	return out, true
}

// divRoundBig returns a / b rounded half away from zero.
func divRoundBig(a, b *big.Int) *big.Int {
	q, r := new(big.Int).QuoRem(a, b, new(big.Int))
	if r.Lsh(r.Abs(r), 1).CmpAbs(b) >= 0 {
		if (a.Sign() < 0) != (b.Sign() < 0) {
			return q.Sub(q, big.NewInt(1))
		}
		return q.Add(q, big.NewInt(1))
	}
	return q
}
