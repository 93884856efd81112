package function

import (
	"math"

	"github.com/tidemarkdb/tidemark/sqlerr"
	"github.com/tidemarkdb/tidemark/vec"
)

// castNumeric returns the conversion between two numeric types.
func castNumeric(from, to vec.Type) conversionBody {
	switch {
	case from.ID == vec.Decimal && to.ID == vec.Decimal:
		return castDecimals
	case from.ID == vec.Decimal && to.IsFloat():
		return castDecimalToFloat
	case from.ID == vec.Decimal:
		return castDecimalToInt
	case to.ID == vec.Decimal && from.IsFloat():
		return castFloatToDecimal
	case to.ID == vec.Decimal:
		return castIntToDecimal
	}
	switch from.ID {
	case vec.Int16:
		return castNumberFrom[int16]
	case vec.Int32:
		return castNumberFrom[int32]
	case vec.Int64:
		return castNumberFrom[int64]
	case vec.Float32:
		return castNumberFrom[float32]
	}
	return castNumberFrom[float64]
}

type machineNumber interface {
	int16 | int32 | int64 | float32 | float64
}

func castNumberFrom[A machineNumber](x *conversion) (*vec.Vector, error) {
	switch x.to.ID {
	case vec.Int16:
		return castToInt[A, int16](x, math.MinInt16, math.MaxInt16+1)
	case vec.Int32:
		return castToInt[A, int32](x, math.MinInt32, math.MaxInt32+1)
	case vec.Int64:
		return castToInt[A, int64](x, math.MinInt64, -math.MinInt64)
	case vec.Float32:
		return castToFloat[A, float32](x)
	}
	return castToFloat[A, float64](x)
}

// castToInt converts to an integer type with the range [low, high). Floats round half to even.
func castToInt[A machineNumber, B int16 | int32 | int64](x *conversion, low, high float64) (*vec.Vector, error) {
	a, mask := fixed[A](x.args[0])
	out := make([]B, x.n)
	half := A(1) / 2
	if half == 0 { // integers
		for i := range out {
			v := a[i&mask]
			out[i] = B(v)
			if A(out[i]) != v {
				if err := x.fail(i, outOfRange(x.to)); err != nil {
					return nil, err
				}
			}
		}
		return vec.FlatOf(x.to, out, nil), nil
	}
	for i := range out {
		f := math.RoundToEven(float64(a[i&mask]))
		if f >= low && f < high {
			out[i] = B(f)
		} else if err := x.fail(i, outOfRange(x.to)); err != nil {
			return nil, err
		}
	}
	return vec.FlatOf(x.to, out, nil), nil
}

func castToFloat[A machineNumber, B float32 | float64](x *conversion) (*vec.Vector, error) {
	a, mask := fixed[A](x.args[0])
	out := make([]B, x.n)
	for i := range out {
		v := a[i&mask]
		out[i] = B(v)
		if out[i]-out[i] != 0 && v-v == 0 || out[i] == 0 && v != 0 {
			what := "overflow"
			if out[i] == 0 {
				what = "underflow"
			}
			if err := x.fail(i, sqlerr.New(sqlerr.NumericOutOfRange, "value out of range: %s", what)); err != nil {
				return nil, err
			}
		}
	}
	return vec.FlatOf(x.to, out, nil), nil
}

// wide returns unscaled values in 128 bits, whatever their width.
func wide(v *vec.Vector) func(i int) vec.Int128 {
	switch v.Type.Phys() {
	case vec.PhysInt16:
		a, m := fixed[int16](v)
		return func(i int) vec.Int128 { return vec.Int128From(int64(a[i&m])) }
	case vec.PhysInt32:
		a, m := fixed[int32](v)
		return func(i int) vec.Int128 { return vec.Int128From(int64(a[i&m])) }
	case vec.PhysInt64:
		a, m := fixed[int64](v)
		return func(i int) vec.Int128 { return vec.Int128From(a[i&m]) }
	}
	a, m := fixed[vec.Int128](v)
	return func(i int) vec.Int128 { return a[i&m] }
}

// decimalOut collects unscaled values of a NUMERIC type of either width.
type decimalOut struct {
	t      vec.Type
	narrow []int64
	wide   []vec.Int128
}

func newDecimalOut(t vec.Type, n int) *decimalOut {
	if t.Phys() == vec.PhysInt64 {
		return &decimalOut{t: t, narrow: make([]int64, n)}
	}
	return &decimalOut{t: t, wide: make([]vec.Int128, n)}
}

// set stores x, which fits the type.
func (d *decimalOut) set(i int, x vec.Int128) {
	if d.narrow != nil {
		d.narrow[i] = int64(x.Lo)
	} else if d.wide != nil {
		d.wide[i] = x
	}
}

func (d *decimalOut) vector() *vec.Vector {
	if d.t.Phys() == vec.PhysInt64 {
		return vec.FlatOf(d.t, d.narrow, nil)
	}
	return vec.FlatOf(d.t, d.wide, nil)
}

func castDecimals(x *conversion) (*vec.Vector, error) {
	from, to := x.from, x.to
	grows := int(to.Precision)-int(to.Scale) >= int(from.Precision)-int(from.Scale) && to.Scale >= from.Scale
	if grows && from.Phys() == vec.PhysInt64 && to.Phys() == vec.PhysInt64 {
		a, mask := fixed[int64](x.args[0])
		out, factor := make([]int64, x.n), vec.Pow10Int64(int(to.Scale-from.Scale))
		for i := range out {
			out[i] = a[i&mask] * factor
		}
		return vec.FlatOf(to, out, nil), nil
	}
	return x.fitDecimals(int(from.Scale))
}

func castIntToDecimal(x *conversion) (*vec.Vector, error) { return x.fitDecimals(0) }

// fitDecimals moves unscaled values to the result's scale.
func (x *conversion) fitDecimals(scale int) (*vec.Vector, error) {
	at, out := wide(x.args[0]), newDecimalOut(x.to, x.n)
	for i := range x.n {
		v, ok := vec.FitDecimal(at(i), scale, x.to)
		if ok {
			out.set(i, v)
		} else if err := x.fail(i, outOfRange(x.to)); err != nil {
			return nil, err
		}
	}
	return out.vector(), nil
}

func castDecimalToFloat(x *conversion) (*vec.Vector, error) {
	at, scale := wide(x.args[0]), int(x.from.Scale)
	if x.to.ID == vec.Float32 {
		out := make([]float32, x.n)
		for i := range out {
			out[i] = float32(vec.DecimalFloat64(at(i), scale))
		}
		return vec.FlatOf(x.to, out, nil), nil
	}
	out := make([]float64, x.n)
	for i := range out {
		out[i] = vec.DecimalFloat64(at(i), scale)
	}
	return vec.FlatOf(x.to, out, nil), nil
}

func castDecimalToInt(x *conversion) (*vec.Vector, error) {
	at, scale := wide(x.args[0]), int(x.from.Scale)
	low, high := int64(math.MinInt64), int64(math.MaxInt64)
	switch x.to.ID {
	case vec.Int16:
		low, high = math.MinInt16, math.MaxInt16
	case vec.Int32:
		low, high = math.MinInt32, math.MaxInt32
	}
	out := make([]int64, x.n)
	for i := range out {
		v, _ := vec.RescaleInt128(at(i), scale, 0)
		whole, ok := v.Int64()
		if !ok || whole < low || whole > high {
			if err := x.fail(i, outOfRange(x.to)); err != nil {
				return nil, err
			}
			continue
		}
		out[i] = whole
	}
	return narrowInts(x.to, out), nil
}

// narrowInts returns values, which fit, as a vector of an integer type.
func narrowInts(t vec.Type, values []int64) *vec.Vector {
	switch t.Phys() {
	case vec.PhysInt16:
		return vec.FlatOf(t, convertInts[int16](values), nil)
	case vec.PhysInt32:
		return vec.FlatOf(t, convertInts[int32](values), nil)
	}
	return vec.FlatOf(t, values, nil)
}

func convertInts[T int16 | int32](values []int64) []T {
	out := make([]T, len(values))
	for i, x := range values {
		out[i] = T(x)
	}
	return out
}

func castFloatToDecimal(x *conversion) (*vec.Vector, error) {
	out := newDecimalOut(x.to, x.n)
	digits := 15
	at := floatsOf(x.args[0])
	if x.from.ID == vec.Float32 {
		digits = 6
	}
	for i := range x.n {
		f := at(i)
		v, ok := vec.DecimalFromFloat(f, digits, x.to)
		if ok {
			out.set(i, v)
			continue
		}
		err := outOfRange(x.to)
		if f-f != 0 {
			err = sqlerr.New(sqlerr.NumericOutOfRange, "cannot convert %s to numeric", vec.AppendFloat(nil, f, 64))
		}
		if err = x.fail(i, err); err != nil {
			return nil, err
		}
	}
	return out.vector(), nil
}

// floatsOf returns the values of a REAL or DOUBLE PRECISION vector.
func floatsOf(v *vec.Vector) func(i int) float64 {
	if v.Type.ID == vec.Float32 {
		a, m := fixed[float32](v)
		return func(i int) float64 { return float64(a[i&m]) }
	}
	a, m := fixed[float64](v)
	return func(i int) float64 { return a[i&m] }
}
