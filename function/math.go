package function

import (
	"math"
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
		floatFn(def("cbrt", "Cube root", ex("cbrt(27)", "3")), plain(cbrt)),
		floatFn(def("||/", "Cube root", ex("||/ 8", "2")), plain(cbrt)),
		floatFn(def("exp", "e raised to a power", ex("exp(0)", "1")), plain(exp)),
		floatFn(def("ln", "Natural logarithm", ex("ln(1)", "0")), logarithm(ln)),
		floatFn(def("log2", "Logarithm to base 2", ex("log2(8)", "3")), logarithm(log2)),
		floatFn(def("log10", "Logarithm to base 10", ex("log10(1000)", "3")), logarithm(log10)),
		immutable(def("log", "Logarithm to base 10, or of the second argument to the base of the first", ex("log(100)", "2"), ex("log(2, 8)", "3")),
			on(signature(float8), float8, try1(float8, logarithm(log10))),
			on(signature(float8, float8), float8, try2(float8, func(b, x float64) (float64, error) {
				n, err := logarithm(ln)(b)
				if err != nil {
					return 0, err
				}
				m, err := logarithm(ln)(x)
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
	r := pow(x, y)
	if math.IsInf(r, 0) && !math.IsInf(x, 0) && !math.IsInf(y, 0) {
		return 0, outOfRange(float8)
	}
	return r, nil
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
