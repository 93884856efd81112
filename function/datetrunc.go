package function

import (
	"strings"

	"github.com/tidemarkdb/tidemark/extension"
	"github.com/tidemarkdb/tidemark/sqlerr"
	"github.com/tidemarkdb/tidemark/vec"
)

// truncLocal returns the start of the unit that a finite wall-clock time lies in.
func truncLocal(unit string, local int64) (int64, bool) {
	switch unit {
	case "microseconds":
		return local, true
	case "milliseconds":
		return local - floorMod(local, 1000), true
	case "second":
		return local - floorMod(local, second), true
	case "minute":
		return local - floorMod(local, minute), true
	case "hour":
		return local - floorMod(local, hour), true
	case "day":
		return local - floorMod(local, day), true
	case "week":
		days := floorDiv(local, day)
		return (days - floorMod(days+3, 7)) * day, true
	}
	days, _ := vec.SplitMicros(local)
	y, m, _ := vec.CivilFromDays(days)
	switch unit {
	case "month":
	case "quarter":
		m -= (m - 1) % 3
	case "year":
		m = 1
	case "decade":
		y, m = int(floorDiv(int64(y), 10))*10, 1
	case "century":
		y, m = int(floorDiv(int64(y)-1, 100))*100+1, 1
	case "millennium":
		y, m = int(floorDiv(int64(y)-1, 1000))*1000+1, 1
	default:
		return 0, false
	}
	return vec.DaysFromCivil(y, m, 1) * day, true
}

func truncSpan(unit string, s span) (span, bool) {
	months := map[string]int32{"month": 1, "quarter": 3, "year": 12, "decade": 120, "century": 1200, "millennium": 12000}
	if n := months[unit]; n > 0 {
		return span{Months: s.Months / n * n}, true
	}
	micros := map[string]int64{"microseconds": 1, "milliseconds": 1000, "second": second, "minute": minute, "hour": hour}
	switch n := micros[unit]; {
	case n > 0:
		s.Micros = s.Micros / n * n
	case unit == "day":
		s.Micros = 0
	default:
		return s, false
	}
	return s, true
}

func truncFunctions() []*extension.ScalarFunc {
	dateTrunc := stable(also(def("date_trunc", "Start of the unit that a moment lies in", ex("date_trunc('month', timestamp '2024-03-17 10:20:30')", "2024-03-01 00:00:00")), "datetrunc"),
		on(signature(textT, stampT), stampT, func(c *call) (*vec.Vector, error) {
			return truncRows(c, stampT, func(_ int, unit string, t int64) (int64, bool, error) {
				r, ok := truncLocal(unit, t)
				return r, ok, nil
			})
		}),
		on(signature(textT, stampTZ), stampTZ, func(c *call) (*vec.Vector, error) {
			return truncRows(c, stampTZ, func(_ int, unit string, t int64) (int64, bool, error) {
				r, ok := truncLocal(unit, vec.ToLocal(c.ev.Zone, t))
				return vec.FromLocal(c.ev.Zone, r), ok, nil
			})
		}),
		on(signature(textT, stampTZ, textT), stampTZ, func(c *call) (*vec.Vector, error) {
			zones := textsOf(c.args[2])
			return truncRows(c, stampTZ, func(i int, unit string, t int64) (int64, bool, error) {
				zone, err := zoneOf(zones.str(i))
				if err != nil {
					return 0, true, err
				}
				r, ok := truncLocal(unit, vec.ToLocal(zone, t))
				return vec.FromLocal(zone, r), ok, nil
			})
		}),
		on(signature(textT, intervalT), intervalT, func(c *call) (*vec.Vector, error) {
			names, out := textsOf(c.args[0]), make([]span, c.n)
			a, mask := fixed[span](c.args[1])
			for i := range out {
				var ok bool
				if out[i], ok = truncSpan(unitName(names.str(i)), a[i&mask]); !ok && c.ok(i) {
					return nil, unknownUnit(names.str(i), intervalT)
				}
			}
			return vec.FlatOf(intervalT, out, nil), nil
		}))
	return []*extension.ScalarFunc{
		dateTrunc,
		immutable(also(def("date_bin", "Start of the interval of a given length, counted from an origin, that a moment lies in", ex("date_bin('15 minutes', timestamp '2024-01-01 10:37:00', timestamp '2024-01-01')", "2024-01-01 10:30:00")), "time_bucket"),
			on(signature(intervalT, stampT, stampT), stampT, boxed(stampT, dateBin)), on(signature(intervalT, stampTZ, stampTZ), stampTZ, boxed(stampTZ, dateBin))),
		immutable(def("last_day", "Last day of the month", ex("last_day(date '2024-02-10')", "2024-02-29")), on(signature(dateT), dateT, map1(dateT, func(d int32) int32 {
			if d == vec.DateInfinity || d == vec.DateMinusInfinity {
				return d
			}
			y, m, _ := vec.CivilFromDays(int64(d))
			return int32(vec.DaysFromCivil(y, m, vec.DaysInMonth(y, m)))
		}))),
		immutable(also(def("date_diff", "Number of unit boundaries between two moments", ex("date_diff('month', date '2024-01-31', date '2024-03-01')", "2")), "datediff"),
			differences(dateT, boundaries), differences(stampT, boundaries), differences(stampTZ, boundaries)),
		immutable(also(def("date_sub", "Number of whole units between two moments", ex("date_sub('month', date '2024-01-31', date '2024-03-01')", "1")), "datesub"),
			differences(dateT, wholeUnits), differences(stampT, wholeUnits), differences(stampTZ, wholeUnits)),
	}
}

// truncRows applies f to the unit and moment of each row; infinities stay.
func truncRows(c *call, t vec.Type, f func(i int, unit string, x int64) (int64, bool, error)) (*vec.Vector, error) {
	names, out := textsOf(c.args[0]), make([]int64, c.n)
	a, mask := fixed[int64](c.args[1])
	constant := ""
	if names.mask == 0 && c.n > 0 {
		constant = unitName(names.str(0))
	}
	for i := range out {
		if !c.ok(i) {
			continue
		}
		unit := constant
		if unit == "" {
			unit = unitName(names.str(i))
		}
		x := a[i&mask]
		if !vec.FiniteMicros(x) {
			out[i] = x
			continue
		}
		r, ok, err := f(i, unit, x)
		if err != nil {
			return nil, err
		}
		if !ok {
			return nil, unknownUnit(strings.ToLower(names.str(i)), t)
		}
		out[i] = r
	}
	return vec.FlatOf(t, out, nil), nil
}

func dateBin(_ *call, args []vec.Value) (vec.Value, error) {
	stride, t, origin := args[0].Span, args[1].I, args[2].I
	if stride.Months != 0 {
		return vec.Value{}, sqlerr.New(sqlerr.FeatureNotSupported, "timestamps cannot be binned into intervals containing months or years")
	}
	size := int64(stride.Days)*day + stride.Micros
	if size <= 0 {
		return vec.Value{}, sqlerr.New(sqlerr.InvalidParameterValue, "stride must be greater than zero")
	}
	if !vec.FiniteMicros(t) || !vec.FiniteMicros(origin) {
		if !vec.FiniteMicros(t) {
			return args[1], nil
		}
		return vec.Value{}, sqlerr.New(sqlerr.DatetimeOverflow, "origin out of range")
	}
	return vec.IntValue(args[1].Type, origin+floorDiv(t-origin, size)*size), nil
}

// differences is an overload (unit, from, to); moments with a zone are compared by the session's wall clock.
func differences(t vec.Type, f func(unit string, a, b int64) (int64, bool)) extension.ScalarOverload {
	return on(signature(textT, t, t), int8, boxed(int8, func(c *call, args []vec.Value) (vec.Value, error) {
		a, b := args[1].I, args[2].I
		switch t.ID {
		case vec.Date:
			a, b = a*day, b*day
		case vec.TimestampTZ:
			a, b = vec.ToLocal(c.ev.Zone, a), vec.ToLocal(c.ev.Zone, b)
		}
		n, ok := f(unitName(args[0].S), a, b)
		if !ok {
			return vec.Value{}, unknownUnit(args[0].S, t)
		}
		return vec.IntValue(int8, n), nil
	}))
}

// boundaries counts how often the unit changes from a to b.
func boundaries(unit string, a, b int64) (int64, bool) {
	x, ok := truncLocal(unit, a)
	y, _ := truncLocal(unit, b)
	if !ok {
		return 0, false
	}
	if months := monthsOf(unit); months > 0 {
		return (monthNumber(y) - monthNumber(x)) / months, true
	}
	return (y - x) / microsOf(unit), true
}

// wholeUnits counts how many whole units fit between a and b.
func wholeUnits(unit string, a, b int64) (int64, bool) {
	months := monthsOf(unit)
	if months == 0 {
		if n := microsOf(unit); n > 0 {
			return (b - a) / n, true
		}
		return 0, false
	}
	if a > b {
		n, ok := wholeUnits(unit, b, a)
		return -n, ok
	}
	n := monthNumber(b) - monthNumber(a)
	if back, err := addToLocal(a, span{Months: int32(n)}); err == nil && back > b {
		n--
	}
	return n / months, true
}

func monthNumber(local int64) int64 {
	days, _ := vec.SplitMicros(local)
	y, m, _ := vec.CivilFromDays(days)
	return int64(y)*12 + int64(m) - 1
}

func monthsOf(unit string) int64 {
	return map[string]int64{"month": 1, "quarter": 3, "year": 12, "decade": 120, "century": 1200, "millennium": 12000}[unit]
}

func microsOf(unit string) int64 {
	return map[string]int64{"microseconds": 1, "milliseconds": 1000, "second": second, "minute": minute, "hour": hour, "day": day, "week": 7 * day}[unit]
}
