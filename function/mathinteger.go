package function

import (
	"math"
	"math/big"
	"math/bits"

	"github.com/tidemarkdb/tidemark/extension"
	"github.com/tidemarkdb/tidemark/sqlerr"
	"github.com/tidemarkdb/tidemark/vec"
)

func integerFunctions() []*extension.ScalarFunc {
	return []*extension.ScalarFunc{
		immutable(def("mod", "Remainder, with the sign of the dividend", ex("mod(9, 4)", "1")), modAll()...),
		immutable(def("div", "Whole quotient, truncated toward zero", ex("div(9, 4)", "2")),
			on(signature(int2, int2), int2, divInts[int16](int2)),
			on(signature(int4, int4), int4, divInts[int32](int4)),
			on(signature(int8, int8), int8, divInts[int64](int8)),
			decimalOp(func(a, b vec.Type) vec.Type { return vec.DecimalType(vec.MaxPrecision, 0) }, quotients)),
		immutable(def("gcd", "Greatest common divisor", ex("gcd(12, 18)", "6")),
			on(signature(int4, int4), int4, try2(int4, func(a, b int32) (int32, error) {
				g, err := gcdInts(int64(a), int64(b))
				if g > math.MaxInt32 {
					return 0, outOfRange(int4)
				}
				return int32(g), err
			})),
			on(signature(int8, int8), int8, try2(int8, gcdInts)),
			decimalOp(modType, divisors)),
		immutable(def("lcm", "Least common multiple", ex("lcm(4, 6)", "12")),
			on(signature(int4, int4), int4, try2(int4, func(a, b int32) (int32, error) {
				m, err := lcmInts(int64(a), int64(b))
				if err != nil || m > math.MaxInt32 {
					return 0, outOfRange(int4)
				}
				return int32(m), nil
			})),
			on(signature(int8, int8), int8, try2(int8, lcmInts)),
			decimalOp(multipleType, multiples)),
		immutable(def("factorial", "Product of the whole numbers up to n", ex("factorial(5)", "120")),
			on(signature(int8), vec.DecimalType(vec.MaxPrecision, 0), try1(vec.DecimalType(vec.MaxPrecision, 0), factorial))),
		immutable(def("bit_count", "Number of bits set", ex("bit_count(7)", "3")),
			on(signature(int8), int8, map1(int8, func(x int64) int64 { return int64(bits.OnesCount64(uint64(x))) })),
			on(signature(byteaT), int8, textToFixed(int8, func(s []byte) (int64, error) {
				n := 0
				for _, b := range s {
					n += bits.OnesCount8(b)
				}
				return int64(n), nil
			}))),
		immutable(def("within_type", "A number that lies between two others, else an error that names the type: what casts to TINYINT and the like check with",
			ex("within_type(5, -128, 127, 'tinyint')", "5")),
			on(signature(int8, int8, int8, textT), int8, func(c *call) (*vec.Vector, error) {
				x, xm := fixed[int64](c.args[0])
				low, lm := fixed[int64](c.args[1])
				high, hm := fixed[int64](c.args[2])
				name, out := textsOf(c.args[3]), make([]int64, c.n)
				for i := range out {
					if out[i] = x[i&xm]; c.ok(i) && (out[i] < low[i&lm] || out[i] > high[i&hm]) {
						return nil, sqlerr.New(sqlerr.NumericOutOfRange, "%s out of range", name.str(i))
					}
				}
				return vec.FlatOf(int8, out, nil), nil
			})),
		immutable(def("within_limit", "A number of rows, else the error of a negative one: what LIMIT and OFFSET check the result of a query with",
			ex("within_limit(5, 'LIMIT')", "5")),
			on(signature(int8, textT), int8, func(c *call) (*vec.Vector, error) {
				x, xm := fixed[int64](c.args[0])
				clause, out := textsOf(c.args[1]), make([]int64, c.n)
				for i := range out {
					if out[i] = x[i&xm]; c.ok(i) && out[i] < 0 {
						return nil, negativeRows(clause.str(i))
					}
				}
				return vec.FlatOf(int8, out, nil), nil
			})),
		immutable(def("width_bucket", "Number of the histogram's bucket that a value falls into", ex("width_bucket(5, 0, 10, 5)", "3")),
			on(signature(float8, float8, float8, int4), int4, boxed(int4, widthBucket))),
		immutable(def("even", "Round away from zero to an even whole number", ex("even(2.1)", "4")), on(signature(float8), float8, map1(float8, func(x float64) float64 {
			return math.Copysign(math.Ceil(math.Abs(x)/2)*2, x)
		}))),
	}
}

func quotients(a, b, r vec.Type) body {
	return checkedDivision(wideOp(r, func(x, y vec.Int128) (vec.Int128, bool) {
		if y == (vec.Int128{}) {
			return y, true
		}
		up := int(b.Scale) - int(a.Scale)
		num, den := rescaleBig(x, max(up, 0)), rescaleBig(y, max(-up, 0))
		return fromBig(num.Quo(num, den))
	}))
}

func divisors(a, b, r vec.Type) body {
	return wideOp(r, func(x, y vec.Int128) (vec.Int128, bool) {
		return fromBig(new(big.Int).GCD(nil, nil, rescaleBig(x, int(r.Scale-a.Scale)), rescaleBig(y, int(r.Scale-b.Scale))))
	})
}

// multipleType is the type of a least common multiple, of which only the scale is known.
func multipleType(a, b vec.Type) vec.Type {
	return vec.DecimalType(vec.MaxPrecision, int(max(a.Scale, b.Scale)))
}

func multiples(a, b, r vec.Type) body {
	return wideOp(r, func(x, y vec.Int128) (vec.Int128, bool) {
		if x == (vec.Int128{}) || y == (vec.Int128{}) {
			return vec.Int128{}, true
		}
		p, q := rescaleBig(x, int(r.Scale-a.Scale)), rescaleBig(y, int(r.Scale-b.Scale))
		p.Quo(p, new(big.Int).GCD(nil, nil, p, q))
		return fromBig(p.Abs(p.Mul(p, q)))
	})
}

func magnitude(x int64) uint64 {
	if x < 0 {
		return -uint64(x)
	}
	return uint64(x)
}

func gcdInts(a, b int64) (int64, error) {
	g := gcd(magnitude(a), magnitude(b))
	if g > math.MaxInt64 {
		return 0, outOfRange(int8)
	}
	return int64(g), nil
}

func lcmInts(a, b int64) (int64, error) {
	if a == 0 || b == 0 {
		return 0, nil
	}
	x, y := magnitude(a), magnitude(b)
	hi, lo := bits.Mul64(x/gcd(x, y), y)
	if hi != 0 || lo > math.MaxInt64 {
		return 0, outOfRange(int8)
	}
	return int64(lo), nil
}

func factorial(n int64) (vec.Int128, error) {
	if n < 0 {
		return vec.Int128{}, sqlerr.New(sqlerr.NumericOutOfRange, "factorial of a negative number is undefined")
	}
	out, ok := vec.Int128From(1), true
	for k := int64(2); k <= n && ok; k++ {
		out, ok = vec.MulInt128Checked(out, vec.Int128From(k))
	}
	if !ok || !vec.FitsPrecision(out, vec.MaxPrecision) {
		return vec.Int128{}, outOfRange(vec.DecimalType(vec.MaxPrecision, 0))
	}
	return out, nil
}
