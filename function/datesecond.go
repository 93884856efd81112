package function

import (
	"github.com/tidemarkdb/tidemark/extension"
	"github.com/tidemarkdb/tidemark/vec"
)

// secondFunctions are what casts to types with a number of digits of seconds call.
func secondFunctions() []*extension.ScalarFunc {
	return []*extension.ScalarFunc{
		immutable(def("round_seconds", "A moment, time or interval with n digits of seconds: what casts to TIMESTAMP(n) and the like do",
			ex("round_seconds(TIMESTAMP '2026-01-02 03:04:05.678', 1)", "2026-01-02 03:04:05.7"), ex("round_seconds(TIME '10:11:12.5', 0)", "10:11:13")),
			roundedMicros(stampT, millenniumMicros), roundedMicros(stampTZ, millenniumMicros), roundedMicros(timeT, 0),
			on(signature(timeTZ, int4), timeTZ, try2(timeTZ, func(v int64, digits int32) (int64, error) {
				ofDay, offset := vec.SplitTimeTZ(v)
				return vec.MakeTimeTZ(toSecondDigits(ofDay, 0, digits), offset), nil
			})),
			on(signature(vec.IntervalType, int4), vec.IntervalType, try2(vec.IntervalType, func(v span, digits int32) (span, error) {
				v.Micros = toSecondDigits(v.Micros, 0, digits)
				return v, nil
			}))),
	}
}

// millenniumMicros is 2000-01-01, from which PostgreSQL counts: halves are rounded away from it.
const millenniumMicros = 946_684_800 * second

func roundedMicros(t vec.Type, from int64) extension.ScalarOverload {
	return on(signature(t, int4), t, try2(t, func(v int64, digits int32) (int64, error) {
		if (t.ID == vec.Timestamp || t.ID == vec.TimestampTZ) && !vec.FiniteMicros(v) {
			return v, nil
		}
		return toSecondDigits(v, from, digits), nil
	}))
}

// toSecondDigits rounds the distance of v to from to digits of seconds, halves away from zero.
func toSecondDigits(v, from int64, digits int32) int64 {
	unit := vec.Pow10Int64(int(6 - min(max(digits, 0), 6)))
	x, half := v-from, unit/2
	if x < 0 {
		half = -half
	}
	if y := x + half; (y < x) == (half < 0) {
		x = y
	}
	return from + x/unit*unit
}
