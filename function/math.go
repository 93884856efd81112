package function

import (
	"math"
	"math/big"
	"math/rand/v2"

	"github.com/tidemarkdb/tidemark/extension"
	"github.com/tidemarkdb/tidemark/sqlerr"
	"github.com/tidemarkdb/tidemark/vec"
)

func mathFamily() family {
	f := family{category: "math"}
	for _, part := range [][]*extension.ScalarFunc{roundingFunctions(), exponentFunctions(), trigonometry(), integerFunctions(), randomFunctions()} {
		f.scalars = append(f.scalars, part...)
	}
	return f
}

// floatFn is a function of one DOUBLE PRECISION.
func floatFn(d extension.Def, f func(x float64) (float64, error)) *extension.ScalarFunc {
	return immutable(d, on(signature(float8), float8, try1(float8, f)))
}

// unbounded is plain for what grows to infinity without an error.
func unbounded(f func(float64) float64) func(float64) (float64, error) {
	return func(x float64) (float64, error) { return f(x), nil }
}

func plain(f func(float64) float64) func(float64) (float64, error) {
	return func(x float64) (float64, error) {
		y := f(x)
		if math.IsInf(y, 0) && !math.IsInf(x, 0) {
			return 0, outOfRange(float8)
		}
		return y, nil
	}
}

func exponentFunctions() []*extension.ScalarFunc {
	sqrt := func(x float64) (float64, error) {
		if x < 0 {
			return 0, sqlerr.New(sqlerr.InvalidPowerArgument, "cannot take square root of a negative number")
		}
		return math.Sqrt(x), nil
	}
	return []*extension.ScalarFunc{
		floatFn(def("sqrt", "Square root", ex("sqrt(2.25)", "1.5")), sqrt),
		floatFn(def("|/", "Square root", ex("|/ 25", "5")), sqrt),
		floatFn(def("cbrt", "Cube root", ex("cbrt(27)", "3")), plain(math.Cbrt)),
		floatFn(def("||/", "Cube root", ex("||/ 8", "2")), plain(math.Cbrt)),
		floatFn(def("exp", "e raised to a power", ex("exp(0)", "1")), plain(math.Exp)),
		floatFn(def("ln", "Natural logarithm", ex("ln(1)", "0")), logarithm(math.Log)),
		floatFn(def("log2", "Logarithm to base 2", ex("log2(8)", "3")), logarithm(math.Log2)),
		floatFn(def("log10", "Logarithm to base 10", ex("log10(1000)", "3")), logarithm(math.Log10)),
		immutable(def("log", "Logarithm to base 10, or of the second argument to the base of the first", ex("log(100)", "2"), ex("log(2, 8)", "3")),
			on(signature(float8), float8, try1(float8, logarithm(math.Log10))),
			on(signature(float8, float8), float8, try2(float8, func(b, x float64) (float64, error) {
				n, err := logarithm(math.Log)(b)
				if err != nil {
					return 0, err
				}
				m, err := logarithm(math.Log)(x)
				if err == nil && n == 0 {
					err = divisionByZero()
				}
				return cleanRatio(m / n), err
			}))),
		immutable(also(def("power", "Raise to a power", ex("power(2, 10)", "1024")), "pow"), powers2()...),
		immutable(def("^", "Raise to a power", ex("2 ^ 3", "8")), powers2()...),
		immutable(def("**", "Raise to a power", ex("2 ** 3", "8")), powers2()...),
		immutable(def("xor", "Bitwise exclusive OR", ex("xor(12, 10)", "6")), bitwiseAll('#')...),
	}
}

// cleanRatio returns x, or the whole number that it misses by a rounding error alone.
func cleanRatio(x float64) float64 {
	if r := math.Round(x); math.Abs(x-r) <= math.Abs(r)*2e-16 {
		return r
	}
	return x
}

func logarithm(f func(float64) float64) func(float64) (float64, error) {
	return func(x float64) (float64, error) {
		switch {
		case x == 0:
			return 0, sqlerr.New(sqlerr.InvalidLogArgument, "cannot take logarithm of zero")
		case x < 0:
			return 0, sqlerr.New(sqlerr.InvalidLogArgument, "cannot take logarithm of a negative number")
		}
		return f(x), nil
	}
}

func powers2() []extension.ScalarOverload {
	return []extension.ScalarOverload{
		on(signature(float8, float8), float8, try2(float8, floatPower)),
		decimalOp(func(a, b vec.Type) vec.Type { return vec.DecimalType(vec.MaxPrecision, minDivScale) }, powDecimals),
	}
}

func floatPower(x, y float64) (float64, error) {
	switch {
	case x == 0 && y < 0:
		return 0, sqlerr.New(sqlerr.InvalidPowerArgument, "zero raised to a negative power is undefined")
	case math.IsNaN(x) || math.IsNaN(y):
		return math.Pow(x, y), nil
	case x < 0 && y != math.Floor(y) && !math.IsInf(y, 0):
		return 0, sqlerr.New(sqlerr.InvalidPowerArgument, "a negative number raised to a non-integer power yields a complex result")
	}
	r := math.Pow(x, y)
	if math.IsInf(r, 0) && !math.IsInf(x, 0) && !math.IsInf(y, 0) {
		return 0, outOfRange(float8)
	}
	return r, nil
}

// powDecimals is exact for whole exponents, otherwise as precise as DOUBLE PRECISION.
func powDecimals(a, b, r vec.Type) body {
	return func(c *call) (*vec.Vector, error) {
		x, y, out := wide(c.args[0]), wide(c.args[1]), newDecimalOut(r, c.n)
		for i := range c.n {
			if !c.ok(i) {
				continue
			}
			v, ok := vec.Int128{}, false
			exponent, rem := vec.DivInt128(y(i), vec.Pow10(int(b.Scale)))
			if e, small := exponent.Int64(); small && rem == (vec.Int128{}) && e >= -200 && e <= 200 && x(i) != (vec.Int128{}) {
				v, ok = wholePower(x(i), int(a.Scale), e, int(r.Scale))
			} else {
				f, err := floatPower(vec.DecimalFloat64(x(i), int(a.Scale)), vec.DecimalFloat64(y(i), int(b.Scale)))
				if err != nil {
					return nil, err
				}
				v, ok = vec.DecimalFromFloat(f, 17, r)
			}
			if !ok || !vec.FitsPrecision(v, int(r.Precision)) {
				return nil, outOfRange(r)
			}
			out.set(i, v)
		}
		return out.vector(), nil
	}
}

// wholePower returns (x / 10^scale)^e as an unscaled value of the scale to.
func wholePower(x vec.Int128, scale int, e int64, to int) (vec.Int128, bool) {
	magnitude := max(e, -e)
	p := new(big.Int).Exp(toBig(x), big.NewInt(magnitude), nil)
	unit := pow10Big(scale * int(magnitude))
	if e < 0 {
		p, unit = unit, p
	}
	return fromBig(divRoundBig(p.Mul(p, pow10Big(to)), unit))
}

func trigonometry() []*extension.ScalarFunc {
	bounded := func(f func(float64) float64) func(float64) (float64, error) {
		return func(x float64) (float64, error) {
			if x < -1 || x > 1 {
				return 0, sqlerr.New(sqlerr.NumericOutOfRange, "input is out of range")
			}
			return f(x), nil
		}
	}
	finite := func(f func(float64) float64) func(float64) (float64, error) {
		return func(x float64) (float64, error) {
			if math.IsInf(x, 0) {
				return 0, sqlerr.New(sqlerr.NumericOutOfRange, "input is out of range")
			}
			return f(x), nil
		}
	}
	radians := func(f func(float64) float64) func(float64) float64 {
		return func(x float64) float64 { return cleanDegrees(f(math.Mod(x, 360) * math.Pi / 180)) }
	}
	return []*extension.ScalarFunc{
		floatFn(def("sin", "Sine of radians", ex("sin(0)", "0")), finite(math.Sin)),
		floatFn(def("cos", "Cosine of radians", ex("cos(0)", "1")), finite(math.Cos)),
		floatFn(def("tan", "Tangent of radians", ex("tan(0)", "0")), finite(math.Tan)),
		floatFn(def("cot", "Cotangent of radians", ex("round(cot(1)::numeric, 4)", "0.6421")), finite(func(x float64) float64 { return 1 / math.Tan(x) })),
		floatFn(def("asin", "Inverse sine in radians", ex("asin(0)", "0")), bounded(math.Asin)),
		floatFn(def("acos", "Inverse cosine in radians", ex("acos(1)", "0")), bounded(math.Acos)),
		floatFn(def("atan", "Inverse tangent in radians", ex("atan(0)", "0")), plain(math.Atan)),
		immutable(def("atan2", "Inverse tangent of a quotient in radians", ex("atan2(0, 1)", "0")),
			on(signature(float8, float8), float8, try2(float8, func(y, x float64) (float64, error) { return math.Atan2(y, x), nil }))),
		floatFn(def("sinh", "Hyperbolic sine", ex("sinh(0)", "0")), unbounded(math.Sinh)),
		floatFn(def("cosh", "Hyperbolic cosine", ex("cosh(0)", "1")), unbounded(math.Cosh)),
		floatFn(def("tanh", "Hyperbolic tangent", ex("tanh(0)", "0")), plain(math.Tanh)),
		floatFn(def("asinh", "Inverse hyperbolic sine", ex("asinh(0)", "0")), plain(math.Asinh)),
		floatFn(def("acosh", "Inverse hyperbolic cosine", ex("acosh(1)", "0")), func(x float64) (float64, error) {
			if x < 1 {
				return 0, sqlerr.New(sqlerr.NumericOutOfRange, "input is out of range")
			}
			return math.Acosh(x), nil
		}),
		floatFn(def("atanh", "Inverse hyperbolic tangent", ex("atanh(0)", "0")), bounded(math.Atanh)),
		floatFn(def("sind", "Sine of degrees", ex("sind(30)", "0.5")), finite(radians(math.Sin))),
		floatFn(def("cosd", "Cosine of degrees", ex("cosd(60)", "0.5")), finite(radians(math.Cos))),
		floatFn(def("tand", "Tangent of degrees", ex("tand(45)", "1")), finite(radians(math.Tan))),
		floatFn(def("degrees", "Radians in degrees", ex("degrees(0)", "0")), plain(func(x float64) float64 { return x * (180 / math.Pi) })),
		floatFn(def("radians", "Degrees in radians", ex("radians(0)", "0")), plain(func(x float64) float64 { return x * (math.Pi / 180) })),
		immutable(def("pi", "The number pi", ex("pi()", "3.141592653589793")), on(signature(), float8, func(*call) (*vec.Vector, error) {
			return vec.FlatOf(float8, []float64{math.Pi}, nil), nil
		})),
	}
}

// cleanDegrees rounds away the error of converting degrees to radians at the well-known angles.
func cleanDegrees(x float64) float64 {
	for _, known := range [...]float64{0, 0.5, -0.5, 1, -1} {
		if math.Abs(x-known) < 1e-15 {
			return known
		}
	}
	return x
}

func widthBucket(_ *call, args []vec.Value) (vec.Value, error) {
	x, low, high, count := args[0].F, args[1].F, args[2].F, args[3].I
	switch {
	case count <= 0:
		return vec.Value{}, sqlerr.New("2201G", "count must be greater than zero")
	case math.IsNaN(x) || math.IsNaN(low) || math.IsNaN(high):
		return vec.Value{}, sqlerr.New("2201G", "operand, lower bound, and upper bound cannot be NaN")
	case math.IsInf(low, 0) || math.IsInf(high, 0):
		return vec.Value{}, sqlerr.New("2201G", "lower and upper bounds must be finite")
	case low == high:
		return vec.Value{}, sqlerr.New("2201G", "lower bound cannot equal upper bound")
	}
	if low > high {
		x, low, high = -x, -low, -high
	}
	switch {
	case x < low:
		return vec.IntValue(int4, 0), nil
	case x >= high:
		if count == math.MaxInt32 {
			return vec.Value{}, outOfRange(int4)
		}
		return vec.IntValue(int4, count+1), nil
	}
	bucket := int64(float64(count)*((x-low)/(high-low))) + 1
	return vec.IntValue(int4, min(bucket, count)), nil
}

func randomFunctions() []*extension.ScalarFunc {
	random := extension.ScalarOverload{Strict: true, Bind: func([]extension.Argument) (vec.Type, extension.Kernel, error) {
		return float8, func(ev *extension.Eval, _ []*vec.Vector, n int) (*vec.Vector, error) {
			out := make([]float64, n)
			for i := range out {
				out[i] = float64(nextRandom(ev)>>11) / (1 << 53)
			}
			return vec.FlatOf(float8, out, nil), nil
		}, nil
	}}
	return []*extension.ScalarFunc{
		volatile(def("random", "Random number in [0, 1)", ex("random() < 1", "t")), random),
	}
}

func nextRandom(ev *extension.Eval) uint64 {
	if ev != nil && ev.Random != nil {
		return ev.Random()
	}
	return rand.Uint64()
}

// negativeRows is the error of a negative LIMIT or OFFSET.
func negativeRows(clause string) error {
	code := sqlerr.InvalidLimit
	if clause == "OFFSET" {
		code = sqlerr.InvalidOffset
	}
	return sqlerr.New(code, "%s must not be negative", clause).Hintf("give a number of rows from 0 up, or leave %s out", clause)
}
