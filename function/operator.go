package function

import (
	"slices"

	"github.com/tidemarkdb/tidemark/extension"
	"github.com/tidemarkdb/tidemark/vec"
)

var (
	boolT      = vec.BoolType
	int2       = vec.Int16Type
	int4       = vec.Int32Type
	int8       = vec.Int64Type
	float4     = vec.Float32Type
	float8     = vec.Float64Type
	textT      = vec.TextType
	byteaT     = vec.ByteaType
	dateT      = vec.DateType
	timeT      = vec.TimeType
	timeTZ     = vec.TimeTZType
	stampT     = vec.TimestampType
	stampTZ    = vec.TimestampTZType
	intervalT  = vec.IntervalType
	uuidT      = vec.UUIDType
	jsonT      = vec.JSONType
	textArrayT = vec.ArrayType(vec.TextType)
)

func operatorFamily() family {
	return family{category: "operators", scalars: []*extension.ScalarFunc{
		stable(def("+", "Add numbers, or an interval or a number of days to a date or time", ex("1 + 2", "3"), ex("date '2024-01-31' + interval '1 month'", "2024-02-29 00:00:00")),
			append(plusNumbers(), plusTemporal()...)...),
		stable(def("-", "Subtract, or negate; of JSON, leave out a key, an element or several keys", ex("5 - 7", "-2"), ex("date '2024-03-01' - date '2024-02-01'", "29"), ex(`'{"a": 1, "b": 2}'::jsonb - 'a'`, `{"b": 2}`)),
			slices.Concat(minusNumbers(), minusTemporal(), jsonbMinus())...),
		immutable(def("*", "Multiply", ex("6 * 7", "42"), ex("1.5 * 2.25", "3.375"), ex("interval '1 day' * 1.5", "1 day 12:00:00")), timesAll()...),
		immutable(def("/", "Divide; integers truncate toward zero", ex("7 / 2", "3"), ex("7.0 / 2", "3.5000000000000000")), overAll()...),
		immutable(def("//", "Divide integers, truncating toward zero", ex("7 // 2", "3")), overAll()[:3]...),
		immutable(def("%", "Remainder, with the sign of the dividend", ex("-7 % 3", "-1")), modAll()...),
		immutable(def("&", "Bitwise AND", ex("12 & 10", "8")), bitwiseAll('&')...),
		immutable(def("|", "Bitwise OR", ex("12 | 10", "14")), bitwiseAll('|')...),
		immutable(def("#", "Bitwise exclusive OR", ex("12 # 10", "6")), bitwiseAll('#')...),
		immutable(also(def("~", "Bitwise NOT; between texts, match a regular expression", ex("~ 5", "-6"), ex("'abc' ~ 'b.$'", "t"))),
			append(complementAll(), regexOperators(false, false)...)...),
		immutable(def("<<", "Shift bits left", ex("1 << 4", "16")), shiftAll(true)...),
		immutable(def(">>", "Shift bits right", ex("-16 >> 2", "-4")), shiftAll(false)...),
	}}
}

func plusNumbers() []extension.ScalarOverload {
	return []extension.ScalarOverload{
		on(signature(int2, int2), int2, addInts[int16](int2)),
		on(signature(int4, int4), int4, addInts[int32](int4)),
		on(signature(int8, int8), int8, addInts[int64](int8)),
		decimalOp(addType, addDecimals(1)),
		on(signature(float4, float4), float4, addFloats[float32](float4)),
		on(signature(float8, float8), float8, addFloats[float64](float8)),
		mixedFloats(float4, float8, addFloats[float64](float8)),
		mixedFloats(float8, float4, addFloats[float64](float8)),
		unary(int2, relabelBody), unary(int4, relabelBody), unary(int8, relabelBody), unary(float4, relabelBody), unary(float8, relabelBody), unaryDecimal(relabelBody),
	}
}

func relabelBody(c *call) (*vec.Vector, error) { return c.args[0], nil }

func unary(t vec.Type, b body) extension.ScalarOverload { return on(signature(t), t, b) }

func unaryDecimal(b body) extension.ScalarOverload {
	return bound(params(decimalParam), func(args []extension.Argument) (vec.Type, body, error) { return args[0].Type, b, nil })
}

// mixedFloats widens the REAL side and computes in double precision.
func mixedFloats(a, b vec.Type, f body) extension.ScalarOverload {
	return on(signature(a, b), float8, func(c *call) (*vec.Vector, error) {
		wider := *c
		wider.args = []*vec.Vector{widenFloat(c.args[0]), widenFloat(c.args[1])}
		return f(&wider)
	})
}

func widenFloat(v *vec.Vector) *vec.Vector {
	if v.Type.ID != vec.Float32 {
		return v
	}
	narrow := vec.Cast[float32](v.Data)
	out := make([]float64, len(narrow))
	for i, x := range narrow {
		out[i] = float64(x)
	}
	w := vec.FlatOf(float8, out, v.Valid)
	w.Form, w.N = v.Form, v.N
	return w
}

func minusNumbers() []extension.ScalarOverload {
	return []extension.ScalarOverload{
		on(signature(int2, int2), int2, subInts[int16](int2)),
		on(signature(int4, int4), int4, subInts[int32](int4)),
		on(signature(int8, int8), int8, subInts[int64](int8)),
		decimalOp(addType, addDecimals(-1)),
		on(signature(float4, float4), float4, subFloats[float32](float4)),
		on(signature(float8, float8), float8, subFloats[float64](float8)),
		mixedFloats(float4, float8, subFloats[float64](float8)),
		mixedFloats(float8, float4, subFloats[float64](float8)),
		unary(int2, negInts[int16](int2)), unary(int4, negInts[int32](int4)), unary(int8, negInts[int64](int8)),
		unary(float4, map1(float4, func(x float32) float32 { return -x })),
		unary(float8, map1(float8, func(x float64) float64 { return -x })),
		unaryDecimal(negDecimals),
		on(signature(intervalT), intervalT, try1(intervalT, negSpan)),
	}
}

func negDecimals(c *call) (*vec.Vector, error) {
	t := c.args[0].Type
	at, out := wide(c.args[0]), newDecimalOut(t, c.n)
	for i := range c.n {
		out.set(i, vec.NegInt128(at(i)))
	}
	return out.vector(), nil
}

func timesAll() []extension.ScalarOverload {
	return []extension.ScalarOverload{
		on(signature(int2, int2), int2, mulNarrow[int16](int2)),
		on(signature(int4, int4), int4, mulNarrow[int32](int4)),
		on(signature(int8, int8), int8, mulInt64),
		decimalOp(mulType, mulDecimals),
		on(signature(float4, float4), float4, mulFloats[float32](float4)),
		on(signature(float8, float8), float8, mulFloats[float64](float8)),
		mixedFloats(float4, float8, mulFloats[float64](float8)),
		mixedFloats(float8, float4, mulFloats[float64](float8)),
		on(signature(intervalT, float8), intervalT, try2(intervalT, mulSpan)),
		on(signature(float8, intervalT), intervalT, try2(intervalT, func(f float64, s span) (span, error) { return mulSpan(s, f) })),
	}
}

func overAll() []extension.ScalarOverload {
	return []extension.ScalarOverload{
		on(signature(int2, int2), int2, divInts[int16](int2)),
		on(signature(int4, int4), int4, divInts[int32](int4)),
		on(signature(int8, int8), int8, divInts[int64](int8)),
		decimalOp(divType, divDecimals),
		on(signature(float4, float4), float4, divFloats[float32](float4)),
		on(signature(float8, float8), float8, divFloats[float64](float8)),
		mixedFloats(float4, float8, divFloats[float64](float8)),
		mixedFloats(float8, float4, divFloats[float64](float8)),
		on(signature(intervalT, float8), intervalT, try2(intervalT, divSpan)),
	}
}

func modAll() []extension.ScalarOverload {
	return []extension.ScalarOverload{
		on(signature(int2, int2), int2, modInts[int16](int2)),
		on(signature(int4, int4), int4, modInts[int32](int4)),
		on(signature(int8, int8), int8, modInts[int64](int8)),
		decimalOp(modType, modDecimals),
	}
}

func bitwiseAll(op byte) []extension.ScalarOverload {
	return []extension.ScalarOverload{
		on(signature(int2, int2), int2, bitwise[int16](int2, op)),
		on(signature(int4, int4), int4, bitwise[int32](int4, op)),
		on(signature(int8, int8), int8, bitwise[int64](int8, op)),
	}
}

func complementAll() []extension.ScalarOverload {
	return []extension.ScalarOverload{
		unary(int2, map1(int2, func(x int16) int16 { return ^x })),
		unary(int4, map1(int4, func(x int32) int32 { return ^x })),
		unary(int8, map1(int8, func(x int64) int64 { return ^x })),
	}
}

func shiftAll(left bool) []extension.ScalarOverload {
	return []extension.ScalarOverload{
		on(signature(int2, int4), int2, shiftInts[int16](int2, left)),
		on(signature(int4, int4), int4, shiftInts[int32](int4, left)),
		on(signature(int8, int4), int8, shiftInts[int64](int8, left)),
	}
}

func plusTemporal() []extension.ScalarOverload {
	return append([]extension.ScalarOverload{
		on(signature(dateT, int4), dateT, try2(dateT, addDays)),
		on(signature(int4, dateT), dateT, try2(dateT, func(n, d int32) (int32, error) { return addDays(d, n) })),
		on(signature(dateT, timeT), stampT, try2(stampT, addTime)),
		on(signature(timeT, dateT), stampT, try2(stampT, func(t int64, d int32) (int64, error) { return addTime(d, t) })),
		on(signature(dateT, timeTZ), stampTZ, try2(stampTZ, addTimeTZ)),
		on(signature(timeTZ, dateT), stampTZ, try2(stampTZ, func(t int64, d int32) (int64, error) { return addTimeTZ(d, t) })),
		on(signature(intervalT, intervalT), intervalT, try2(intervalT, addSpans)),
	}, shiftTemporal(func(s span) (span, error) { return s, nil }, true)...)
}

func minusTemporal() []extension.ScalarOverload {
	return append([]extension.ScalarOverload{
		on(signature(dateT, int4), dateT, try2(dateT, func(d, n int32) (int32, error) {
			if n == -n && n != 0 {
				return 0, outOfRange(dateT)
			}
			return addDays(d, -n)
		})),
		on(signature(dateT, dateT), int4, try2(int4, daysBetween)),
		on(signature(stampT, stampT), intervalT, try2(intervalT, spanBetween)),
		on(signature(stampTZ, stampTZ), intervalT, try2(intervalT, spanBetween)),
		on(signature(timeT, timeT), intervalT, try2(intervalT, func(a, b int64) (span, error) { return span{Micros: a - b}, nil })),
		on(signature(intervalT, intervalT), intervalT, try2(intervalT, subSpans)),
	}, shiftTemporal(negSpan, false)...)
}

// shiftTemporal is the moments plus or minus an interval, with both true also the interval first.
func shiftTemporal(sign func(span) (span, error), both bool) []extension.ScalarOverload {
	date := func(_ *call, d int32, s span) (int64, error) {
		t, ok := microsOfDate(d)
		if !ok {
			return 0, outOfRange(stampT)
		}
		return addToLocal(t, s)
	}
	local := func(_ *call, t int64, s span) (int64, error) { return addToLocal(t, s) }
	clock := func(_ *call, t int64, s span) (int64, error) {
		_, ofDay := vec.SplitMicros(t + s.Micros%vec.MicrosPerDay)
		return ofDay, nil
	}
	zoned := func(_ *call, t int64, s span) (int64, error) { return vec.ShiftTimeTZ(t, s.Micros), nil }
	out := []extension.ScalarOverload{
		on(signature(dateT, intervalT), stampT, shiftBody(stampT, sign, 0, date)),
		on(signature(stampT, intervalT), stampT, shiftBody(stampT, sign, 0, local)),
		on(signature(stampTZ, intervalT), stampTZ, shiftBody(stampTZ, sign, 0, addToMoment)),
		on(signature(timeT, intervalT), timeT, shiftBody(timeT, sign, 0, clock)),
		on(signature(timeTZ, intervalT), timeTZ, shiftBody(timeTZ, sign, 0, zoned)),
	}
	if both {
		out = append(out,
			on(signature(intervalT, dateT), stampT, shiftBody(stampT, sign, 1, date)),
			on(signature(intervalT, stampT), stampT, shiftBody(stampT, sign, 1, local)),
			on(signature(intervalT, stampTZ), stampTZ, shiftBody(stampTZ, sign, 1, addToMoment)),
			on(signature(intervalT, timeT), timeT, shiftBody(timeT, sign, 1, clock)),
			on(signature(intervalT, timeTZ), timeTZ, shiftBody(timeTZ, sign, 1, zoned)))
	}
	return out
}

func shiftBody[A int32 | int64](t vec.Type, sign func(span) (span, error), at int, f func(c *call, a A, s span) (int64, error)) body {
	return func(c *call) (*vec.Vector, error) {
		a, am := fixed[A](c.args[at])
		b, bm := fixed[span](c.args[1-at])
		out := make([]int64, c.n)
		for i := range out {
			if !c.ok(i) {
				continue
			}
			s, err := sign(b[i&bm])
			if err != nil {
				return nil, err
			}
			if out[i], err = f(c, a[i&am], s); err != nil {
				return nil, err
			}
		}
		return vec.FlatOf(t, out, nil), nil
	}
}

func addDays(d, n int32) (int32, error) {
	if d == vec.DateInfinity || d == vec.DateMinusInfinity {
		return d, nil
	}
	sum := int64(d) + int64(n)
	if !vec.ValidDate(sum) {
		return 0, outOfRange(dateT)
	}
	return int32(sum), nil
}

func daysBetween(a, b int32) (int32, error) {
	if a == vec.DateInfinity || a == vec.DateMinusInfinity || b == vec.DateInfinity || b == vec.DateMinusInfinity {
		return 0, invalidDateDifference()
	}
	return a - b, nil
}

func addTime(d int32, t int64) (int64, error) {
	micros, ok := microsOfDate(d)
	if !ok {
		return 0, outOfRange(stampT)
	}
	if !vec.FiniteMicros(micros) {
		return micros, nil
	}
	return micros + t, nil
}

func addTimeTZ(d int32, t int64) (int64, error) {
	ofDay, offset := vec.SplitTimeTZ(t)
	return addTime(d, ofDay-offset*vec.MicrosPerSecond)
}
