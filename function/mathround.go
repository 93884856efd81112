package function

import (
	"math"

	"github.com/tidemarkdb/tidemark/extension"
	"github.com/tidemarkdb/tidemark/vec"
)

func roundingFunctions() []*extension.ScalarFunc {
	return []*extension.ScalarFunc{
		immutable(def("abs", "Absolute value", ex("abs(-5)", "5")), absoluteAll()...),
		immutable(def("@", "Absolute value", ex("@ -5.0", "5.0")), absoluteAll()...),
		immutable(also(def("ceil", "Least whole number not below", ex("ceil(1.2)", "2")), "ceiling"), wholeNumbers(math.Ceil, upward)...),
		immutable(def("floor", "Greatest whole number not above", ex("floor(-1.2)", "-2")), wholeNumbers(math.Floor, downward)...),
		immutable(def("round", "Round to a number of decimals; NUMERIC half away from zero, floats half to even", ex("round(2.5)", "3"), ex("round(1.2345, 2)", "1.23")), roundings(math.RoundToEven, nearest)...),
		immutable(def("trunc", "Cut off to a number of decimals", ex("trunc(-1.9)", "-1"), ex("trunc(1.2345, 2)", "1.23")), roundings(math.Trunc, toZero)...),
		immutable(def("sign", "-1, 0 or 1", ex("sign(-8.4)", "-1")),
			on(signature(float8), float8, map1(float8, func(x float64) float64 {
				switch {
				case x > 0:
					return 1
				case x < 0:
					return -1
				}
				return 0 // NaN too
			})),
			bound(params(decimalParam), func([]extension.Argument) (vec.Type, body, error) {
				one := vec.DecimalType(1, 0)
				return one, func(c *call) (*vec.Vector, error) {
					at, out := wide(c.args[0]), make([]int64, c.n)
					for i := range out {
						out[i] = int64(vec.CompareInt128(at(i), vec.Int128{}))
					}
					return vec.FlatOf(one, out, nil), nil
				}, nil
			})),
		immutable(def("isnan", "Whether a float is NaN", ex("isnan('NaN'::float8)", "t")),
			on(signature(float8), boolT, map1(boolT, func(x float64) byte { return bit(math.IsNaN(x)) }))),
		immutable(def("isinf", "Whether a float is infinite", ex("isinf('infinity'::float8)", "t")),
			on(signature(float8), boolT, map1(boolT, func(x float64) byte { return bit(math.IsInf(x, 0)) }))),
		immutable(also(def("scale", "Number of decimals of a NUMERIC", ex("scale(1.50)", "2"))),
			bound(params(decimalParam), func(args []extension.Argument) (vec.Type, body, error) {
				scale := int32(args[0].Type.Scale)
				return int4, func(c *call) (*vec.Vector, error) {
					out := make([]int32, c.n)
					for i := range out {
						out[i] = scale
					}
					return vec.FlatOf(int4, out, nil), nil
				}, nil
			})),
	}
}

func absoluteAll() []extension.ScalarOverload {
	return []extension.ScalarOverload{
		unary(int2, absInts[int16](int2)), unary(int4, absInts[int32](int4)), unary(int8, absInts[int64](int8)),
		unary(float4, map1(float4, func(x float32) float32 { return float32(math.Abs(float64(x))) })),
		unary(float8, map1(float8, math.Abs)),
		unaryDecimal(func(c *call) (*vec.Vector, error) {
			at, out := wide(c.args[0]), newDecimalOut(c.args[0].Type, c.n)
			for i := range c.n {
				x := at(i)
				if x.Hi < 0 {
					x = vec.NegInt128(x)
				}
				out.set(i, x)
			}
			return out.vector(), nil
		}),
	}
}

// toWhole divides an unscaled value by a power of ten, in one of the ways of rounding.
type toWhole func(x, unit vec.Int128) vec.Int128

func nearest(x, unit vec.Int128) vec.Int128 { return vec.DivRoundInt128(x, unit) }

func toZero(x, unit vec.Int128) vec.Int128 {
	q, _ := vec.DivInt128(x, unit)
	return q
}

func upward(x, unit vec.Int128) vec.Int128 {
	q, r := vec.DivInt128(x, unit)
	if vec.CompareInt128(r, vec.Int128{}) > 0 {
		q = vec.AddInt128(q, vec.Int128From(1))
	}
	return q
}

func downward(x, unit vec.Int128) vec.Int128 {
	q, r := vec.DivInt128(x, unit)
	if r.Hi < 0 {
		q = vec.SubInt128(q, vec.Int128From(1))
	}
	return q
}

func wholeNumbers(f func(float64) float64, w toWhole) []extension.ScalarOverload {
	return []extension.ScalarOverload{
		on(signature(float8), float8, map1(float8, f)),
		bound(params(decimalParam), func(args []extension.Argument) (vec.Type, body, error) {
			t, b := roundedTo(args[0].Type, 0, w)
			return t, b, nil
		}),
	}
}

// roundedTo rounds NUMERIC to digits decimals, which may be negative. One digit more can be needed: 9.9 is 10.
func roundedTo(t vec.Type, digits int, w toWhole) (vec.Type, body) {
	whole := int(t.Precision) - int(t.Scale)
	scale := max(digits, 0)
	if scale > int(t.Scale) { // zeros behind the digits there are, as many as the precision leaves room for
		scale = max(int(t.Scale), min(scale, vec.MaxPrecision-whole-1))
	}
	r := vec.DecimalType(min(max(whole+scale+1, 1), vec.MaxPrecision), scale)
	return r, wideUnary(r, func(x vec.Int128) (vec.Int128, bool) { return roundUnscaled(x, int(t.Scale), digits, scale, w) })
}

func wideUnary(r vec.Type, f func(x vec.Int128) (vec.Int128, bool)) body {
	return func(c *call) (*vec.Vector, error) {
		at, out := wide(c.args[0]), newDecimalOut(r, c.n)
		for i := range c.n {
			v, ok := f(at(i))
			if !ok || !vec.FitsPrecision(v, int(r.Precision)) {
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

// roundUnscaled rounds x of scale from to digits decimals and returns it at scale to.
func roundUnscaled(x vec.Int128, from, digits, to int, w toWhole) (vec.Int128, bool) {
	drop := from - digits
	switch {
	case drop <= 0:
		return vec.RescaleInt128(x, from, to)
	case drop > vec.MaxPrecision:
		return vec.Int128{}, true
	}
	return vec.RescaleInt128(w(x, vec.Pow10(drop)), digits, to)
}

// roundings is round or trunc: of a float, of a NUMERIC, and of a NUMERIC to n decimals. A constant n is the result's
// scale; otherwise the argument's scale is kept, as the type is fixed before n is known.
func roundings(f func(float64) float64, w toWhole) []extension.ScalarOverload {
	toDecimals := bound(params(decimalParam, exact(int4)), func(args []extension.Argument) (vec.Type, body, error) {
		t := args[0].Type
		if n := args[1].Const; n != nil && !n.Null {
			r, b := roundedTo(t, int(n.I), w)
			return r, b, nil
		}
		r := vec.DecimalType(min(int(t.Precision)+1, vec.MaxPrecision), int(t.Scale))
		return r, func(c *call) (*vec.Vector, error) {
			at, out := wide(c.args[0]), newDecimalOut(r, c.n)
			digits, mask := fixed[int32](c.args[1])
			for i := range c.n {
				if !c.ok(i) {
					continue
				}
				v, ok := roundUnscaled(at(i), int(t.Scale), int(digits[i&mask]), int(r.Scale), w)
				if !ok || !vec.FitsPrecision(v, int(r.Precision)) {
					return nil, outOfRange(r)
				}
				out.set(i, v)
			}
			return out.vector(), nil
		}, nil
	})
	floatDecimals := on(signature(float8, int4), float8, try2(float8, func(x float64, n int32) (float64, error) {
		unit := math.Pow10(int(n))
		if unit == 0 && x-x == 0 {
			return 0, nil
		}
		if y := x * unit; y-y == 0 {
			return f(y) / unit, nil
		}
		return x, nil
	}))
	return append(wholeNumbers(f, w), toDecimals, floatDecimals,
		integerDecimals[int16](int2, w), integerDecimals[int32](int4, w), integerDecimals[int64](int8, w))
}

// integerDecimals is round or trunc of an integer to n decimals, a NUMERIC with no decimals unless n is a constant.
// Every integer type has its own: of two that fit by a cast the one for floats would win, which rounds half to even.
func integerDecimals[T int16 | int32 | int64](t vec.Type, w toWhole) extension.ScalarOverload {
	return bound(signature(t, int4), func(args []extension.Argument) (vec.Type, body, error) {
		digits := 0
		if n := args[1].Const; n != nil && !n.Null {
			digits = min(max(int(n.I), 0), 16)
		}
		r := vec.DecimalType(20+digits, digits)
		return r, func(c *call) (*vec.Vector, error) {
			x, mask := fixed[T](c.args[0])
			n, digitsMask := fixed[int32](c.args[1])
			out := newDecimalOut(r, c.n)
			for i := range c.n {
				if v, ok := roundUnscaled(vec.Int128From(int64(x[i&mask])), 0, int(n[i&digitsMask]), digits, w); ok {
					out.set(i, v)
				} else if c.ok(i) {
					return nil, outOfRange(r)
				}
			}
			return out.vector(), nil
		}, nil
	})
}
