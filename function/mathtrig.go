package function

import (
	"math"

	"github.com/tidemarkdb/tidemark/extension"
	"github.com/tidemarkdb/tidemark/sqlerr"
	"github.com/tidemarkdb/tidemark/vec"
)

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
	degrees := func(f func(float64) float64) func(float64) float64 {
		return func(x float64) float64 { return wholeDegrees(f(x) * (180 / math.Pi)) }
	}
	return []*extension.ScalarFunc{
		floatFn(def("sin", "Sine of radians", ex("sin(0)", "0")), finite(sin)),
		floatFn(def("cos", "Cosine of radians", ex("cos(0)", "1")), finite(cos)),
		floatFn(def("tan", "Tangent of radians", ex("tan(0)", "0")), finite(tan)),
		floatFn(def("cot", "Cotangent of radians", ex("round(cot(1)::numeric, 4)", "0.6421")), finite(func(x float64) float64 { return 1 / tan(x) })),
		floatFn(def("asin", "Inverse sine in radians", ex("asin(0)", "0")), bounded(asin)),
		floatFn(def("acos", "Inverse cosine in radians", ex("acos(1)", "0")), bounded(acos)),
		floatFn(def("atan", "Inverse tangent in radians", ex("atan(0)", "0")), plain(atan)),
		immutable(def("atan2", "Inverse tangent of a quotient in radians", ex("atan2(0, 1)", "0")),
			on(signature(float8, float8), float8, try2(float8, func(y, x float64) (float64, error) { return atan2(y, x), nil }))),
		floatFn(def("sinh", "Hyperbolic sine", ex("sinh(0)", "0")), unbounded(sinh)),
		floatFn(def("cosh", "Hyperbolic cosine", ex("cosh(0)", "1")), unbounded(cosh)),
		floatFn(def("tanh", "Hyperbolic tangent", ex("tanh(0)", "0")), plain(tanh)),
		floatFn(def("asinh", "Inverse hyperbolic sine", ex("asinh(0)", "0")), plain(asinh)),
		floatFn(def("acosh", "Inverse hyperbolic cosine", ex("acosh(1)", "0")), func(x float64) (float64, error) {
			if x < 1 {
				return 0, sqlerr.New(sqlerr.NumericOutOfRange, "input is out of range")
			}
			return acosh(x), nil
		}),
		floatFn(def("atanh", "Inverse hyperbolic tangent", ex("atanh(0)", "0")), bounded(math.Atanh)),
		floatFn(def("sind", "Sine of degrees", ex("sind(30)", "0.5")), finite(radians(sin))),
		floatFn(def("cosd", "Cosine of degrees", ex("cosd(60)", "0.5")), finite(radians(cos))),
		floatFn(def("tand", "Tangent of degrees", ex("tand(45)", "1")), finite(radians(tan))),
		floatFn(def("cotd", "Cotangent of degrees", ex("cotd(45)", "1")), finite(func(x float64) float64 { return cleanDegrees(1 / radians(tan)(x)) })),
		floatFn(def("asind", "Inverse sine in degrees", ex("asind(0.5)", "30")), bounded(degrees(asin))),
		floatFn(def("acosd", "Inverse cosine in degrees", ex("acosd(0.5)", "60")), bounded(degrees(acos))),
		floatFn(def("atand", "Inverse tangent in degrees", ex("atand(1)", "45")), plain(degrees(atan))),
		immutable(def("atan2d", "Inverse tangent of a quotient in degrees", ex("atan2d(1, -1)", "135")),
			on(signature(float8, float8), float8, try2(float8, func(y, x float64) (float64, error) {
				return wholeDegrees(atan2(y, x) * (180 / math.Pi)), nil
			}))),
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

// wholeDegrees rounds away the error of converting radians to degrees at multiples of 15.
func wholeDegrees(x float64) float64 {
	if r := math.Round(x); math.Mod(r, 15) == 0 && math.Abs(x-r) < 1e-13 {
		return r
	}
	return x
}
