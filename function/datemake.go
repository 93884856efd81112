package function

import (
	"math"
	"time"

	"github.com/tidemarkdb/tidemark/extension"
	"github.com/tidemarkdb/tidemark/sqlerr"
	"github.com/tidemarkdb/tidemark/vec"
)

func makeFunctions() []*extension.ScalarFunc {
	return []*extension.ScalarFunc{
		immutable(def("make_date", "Date of year, month and day", ex("make_date(2024, 2, 29)", "2024-02-29")), on(signature(int4, int4, int4), dateT, boxed(dateT, func(_ *call, args []vec.Value) (vec.Value, error) {
			days, err := civilDays(args[0].I, args[1].I, args[2].I)
			return vec.IntValue(dateT, days), err
		}))),
		immutable(def("make_time", "Time of hour, minute and second", ex("make_time(8, 15, 23.5)", "08:15:23.5")), on(signature(int4, int4, float8), timeT, boxed(timeT, func(_ *call, args []vec.Value) (vec.Value, error) {
			t, err := clockMicros(args[0].I, args[1].I, args[2].F)
			return vec.IntValue(timeT, t), err
		}))),
		immutable(def("make_timestamp", "Timestamp of its parts", ex("make_timestamp(2024, 7, 15, 8, 15, 23.5)", "2024-07-15 08:15:23.5")), on(signature(int4, int4, int4, int4, int4, float8), stampT, boxed(stampT, func(_ *call, args []vec.Value) (vec.Value, error) {
			t, err := makeLocal(args)
			return vec.IntValue(stampT, t), err
		}))),
		stable(def("make_timestamptz", "Moment of its parts in a time zone, by default the session's", ex("make_timestamptz(2024, 7, 15, 8, 15, 23.5, 'UTC') = timestamptz '2024-07-15 08:15:23.5+00'", "t")),
			on(optional(signature(int4, int4, int4, int4, int4, float8, textT), 1), stampTZ, boxed(stampTZ, func(c *call, args []vec.Value) (vec.Value, error) {
				t, err := makeLocal(args)
				if err != nil {
					return vec.Value{}, err
				}
				zone := c.ev.Zone
				if len(args) == 7 {
					if zone, err = zoneOf(args[6].S); err != nil {
						return vec.Value{}, err
					}
				}
				return vec.IntValue(stampTZ, vec.FromLocal(zone, t)), nil
			}))),
		immutable(def("make_interval", "Interval of years, months, weeks, days, hours, minutes and seconds", ex("make_interval(0, 0, 0, 10)", "10 days")),
			on(optional(signature(int4, int4, int4, int4, int4, int4, float8), 7), intervalT, makeInterval)),
	}
}

func civilDays(y, m, d int64) (int64, error) {
	if y < 0 {
		y++ // -1 is 1 BC
	} else if y == 0 {
		return 0, dateFieldRange(y, m, d)
	}
	if m < 1 || m > 12 || d < 1 || d > int64(vec.DaysInMonth(int(y), int(m))) {
		return 0, dateFieldRange(y, m, d)
	}
	days := vec.DaysFromCivil(int(y), int(m), int(d))
	if !vec.ValidDate(days) {
		return 0, outOfRange(dateT)
	}
	return days, nil
}

func dateFieldRange(y, m, d int64) error {
	return sqlerr.New(sqlerr.DatetimeOverflow, "date field value out of range: %d-%02d-%02d", y, m, d)
}

func clockMicros(h, m int64, s float64) (int64, error) {
	if h < 0 || h > 24 || m < 0 || m > 59 || !(s >= 0 && s <= 60) || h == 24 && (m > 0 || s > 0) {
		return 0, sqlerr.New(sqlerr.DatetimeOverflow, "time field value out of range: %d:%02d:%02g", h, m, s)
	}
	return h*hour + m*minute + int64(math.RoundToEven(s*float64(second))), nil
}

func makeLocal(args []vec.Value) (int64, error) {
	days, err := civilDays(args[0].I, args[1].I, args[2].I)
	if err != nil {
		return 0, err
	}
	ofDay, err := clockMicros(args[3].I, args[4].I, args[5].F)
	if err == nil && !vec.ValidTimestampDate(days) {
		err = outOfRange(stampT)
	}
	return days*day + ofDay, err
}

func makeInterval(c *call) (*vec.Vector, error) {
	return boxed(intervalT, func(_ *call, args []vec.Value) (vec.Value, error) {
		var n [6]int64
		seconds := 0.0
		for i, a := range args {
			if i < 6 {
				n[i] = a.I
			} else {
				seconds = a.F
			}
		}
		months, days := n[0]*12+n[1], n[2]*7+n[3]
		micros := float64(n[4]*hour+n[5]*minute) + math.RoundToEven(seconds*float64(second))
		if months != int64(int32(months)) || days != int64(int32(days)) || !(math.Abs(micros) < math.MaxInt64) {
			return vec.Value{}, outOfRange(intervalT)
		}
		return vec.Value{Span: span{Months: int32(months), Days: int32(days), Micros: int64(micros)}}, nil
	})(c)
}

// zoneOf finds a time zone by name, abbreviation or offset.
func zoneOf(name string) (*time.Location, error) {
	zone, offset, ok := vec.LookupZone(name)
	if !ok {
		return nil, sqlerr.New(sqlerr.InvalidParameterValue, "time zone \"%s\" not recognized", name)
	}
	if zone == nil && name != "" && (name[0] == '+' || name[0] == '-') {
		offset = -offset // a bare offset is POSIX style: hours west of Greenwich
	}
	return vec.FixedZone(zone, offset), nil
}

func zoneFunctions() []*extension.ScalarFunc {
	shift := func(from, to vec.Type, f func(c *call, zone *time.Location, t int64) int64) extension.ScalarOverload {
		return on(signature(textT, from), to, func(c *call) (*vec.Vector, error) {
			names, out := textsOf(c.args[0]), make([]int64, c.n)
			a, mask := fixed[int64](c.args[1])
			var zone *time.Location
			known := ""
			for i := range out {
				if !c.ok(i) {
					continue
				}
				if name := names.str(i); zone == nil || name != known {
					var err error
					if zone, err = zoneOf(name); err != nil {
						return nil, err
					}
					known = name
				}
				out[i] = f(c, zone, a[i&mask])
			}
			return vec.FlatOf(to, out, nil), nil
		})
	}
	byInterval := func(from, to vec.Type, sign int64) extension.ScalarOverload {
		return on(signature(intervalT, from), to, try2(to, func(s span, t int64) (int64, error) {
			if s.Months != 0 || s.Days != 0 {
				return 0, invalidParameter("interval time zone must not include months or days")
			}
			if !vec.FiniteMicros(t) {
				return t, nil
			}
			return t + sign*s.Micros, nil
		}))
	}
	now := func(c *call) int64 { return c.ev.Now.UnixMicro() }
	return []*extension.ScalarFunc{
		stable(def("timezone", "Wall-clock time of a moment in a zone, or the moment of a wall-clock time in it: AT TIME ZONE", ex("timestamptz '2024-07-01 12:00+00' AT TIME ZONE 'Europe/Berlin'", "2024-07-01 14:00:00")),
			shift(stampTZ, stampT, unclocked(vec.ToLocal)), shift(stampT, stampTZ, unclocked(vec.FromLocal)),
			shift(timeTZ, timeTZ, func(c *call, zone *time.Location, t int64) int64 {
				return vec.TimeTZAt(t, vec.OffsetAt(zone, now(c)))
			}),
			byInterval(stampTZ, stampT, 1), byInterval(stampT, stampTZ, -1),
			on(signature(intervalT, timeTZ), timeTZ, try2(timeTZ, func(s span, t int64) (int64, error) {
				offset := s.Micros / second
				if s.Months != 0 || s.Days != 0 || offset > vec.MaxTimeTZOffset || offset < -vec.MaxTimeTZOffset {
					return 0, invalidParameter("interval time zone must be of less than 16 hours, without months or days")
				}
				return vec.TimeTZAt(t, offset), nil
			})),
			on(signature(timeTZ), timeTZ, func(c *call) (*vec.Vector, error) {
				return map1(timeTZ, func(t int64) int64 { return vec.TimeTZAt(t, vec.OffsetAt(c.ev.Zone, now(c))) })(c)
			}),
			on(signature(stampTZ), stampT, func(c *call) (*vec.Vector, error) {
				return map1(stampT, func(t int64) int64 { return vec.ToLocal(c.ev.Zone, t) })(c)
			}),
			on(signature(stampT), stampTZ, func(c *call) (*vec.Vector, error) {
				return map1(stampTZ, func(t int64) int64 { return vec.FromLocal(c.ev.Zone, t) })(c)
			})),
		immutable(def("isfinite", "Whether a moment is not infinite", ex("isfinite(date 'infinity')", "f")),
			on(signature(dateT), boolT, map1(boolT, func(d int32) byte { return bit(d != vec.DateInfinity && d != vec.DateMinusInfinity) })),
			on(signature(stampT), boolT, map1(boolT, func(t int64) byte { return bit(vec.FiniteMicros(t)) })),
			on(signature(stampTZ), boolT, map1(boolT, func(t int64) byte { return bit(vec.FiniteMicros(t)) })),
			on(signature(intervalT), boolT, map1(boolT, func(span) byte { return 1 }))),
	}
}

// unclocked is a change of zone that does not depend on the present.
func unclocked(f func(zone *time.Location, t int64) int64) func(*call, *time.Location, int64) int64 {
	return func(_ *call, zone *time.Location, t int64) int64 { return f(zone, t) }
}

func spanFunctions() []*extension.ScalarFunc {
	now := func(c *call) int64 {
		local := vec.ToLocal(c.ev.Zone, c.ev.Now.UnixMicro())
		return local - floorMod(local, day)
	}
	ages := func(t vec.Type) []extension.ScalarOverload {
		local := func(c *call, v vec.Value) int64 {
			if t.ID == vec.TimestampTZ {
				return vec.ToLocal(c.ev.Zone, v.I)
			}
			return v.I
		}
		return []extension.ScalarOverload{
			on(signature(t, t), intervalT, boxed(intervalT, func(c *call, args []vec.Value) (vec.Value, error) {
				return age(local(c, args[0]), local(c, args[1]))
			})),
			on(signature(t), intervalT, boxed(intervalT, func(c *call, args []vec.Value) (vec.Value, error) {
				return age(now(c), local(c, args[0]))
			})),
		}
	}
	spanFn := func(d extension.Def, f func(s span) (span, error)) *extension.ScalarFunc {
		return immutable(d, on(signature(intervalT), intervalT, try1(intervalT, f)))
	}
	return []*extension.ScalarFunc{
		stable(def("age", "Difference in years, months, days and time; of one argument to today", ex("age(timestamp '2024-03-10', timestamp '2023-01-15')", "1 year 1 mon 26 days")), append(ages(stampT), ages(stampTZ)...)...),
		spanFn(def("justify_days", "Turn 30 days into a month", ex("justify_days('35 days')", "1 mon 5 days")), justifyDays),
		spanFn(def("justify_hours", "Turn 24 hours into a day", ex("justify_hours('27 hours')", "1 day 03:00:00")), justifyHours),
		spanFn(def("justify_interval", "Turn hours into days and days into months, with one sign", ex("justify_interval('1 mon -1 hour')", "29 days 23:00:00")), justifyInterval),
	}
}

// age subtracts field by field and borrows from the larger ones, a month having the length of the earlier one's.
func age(a, b int64) (vec.Value, error) {
	if !vec.FiniteMicros(a) || !vec.FiniteMicros(b) {
		return vec.Value{}, cannotSubtractInfinity()
	}
	negative := a < b
	if negative {
		a, b = b, a
	}
	x, y := partsOf(a), partsOf(b)
	months := (x.year-y.year)*12 + x.month - y.month
	days, micros := x.day-y.day, x.ofDay-y.ofDay
	if micros < 0 {
		micros += day
		days--
	}
	if days < 0 {
		days += vec.DaysInMonth(y.year, y.month)
		months--
	}
	s := span{Months: int32(months), Days: int32(days), Micros: micros}
	if negative {
		s = span{Months: -s.Months, Days: -s.Days, Micros: -s.Micros}
	}
	return vec.Value{Span: s}, nil
}

func justifyHours(s span) (span, error) {
	days := int64(s.Days) + s.Micros/day
	s.Micros %= day
	switch {
	case days > 0 && s.Micros < 0:
		days, s.Micros = days-1, s.Micros+day
	case days < 0 && s.Micros > 0:
		days, s.Micros = days+1, s.Micros-day
	}
	if days != int64(int32(days)) {
		return s, outOfRange(intervalT)
	}
	s.Days = int32(days)
	return s, nil
}

func justifyDays(s span) (span, error) {
	months := int64(s.Months) + int64(s.Days/30)
	s.Days %= 30
	switch {
	case months > 0 && s.Days < 0:
		months, s.Days = months-1, s.Days+30
	case months < 0 && s.Days > 0:
		months, s.Days = months+1, s.Days-30
	}
	if months != int64(int32(months)) {
		return s, outOfRange(intervalT)
	}
	s.Months = int32(months)
	return s, nil
}

func justifyInterval(s span) (span, error) {
	days := int64(s.Days) + s.Micros/day
	micros := s.Micros % day
	months := int64(s.Months) + days/30
	days %= 30
	switch {
	case months > 0 && (days < 0 || days == 0 && micros < 0):
		months, days = months-1, days+30
	case months < 0 && (days > 0 || days == 0 && micros > 0):
		months, days = months+1, days-30
	}
	switch {
	case days > 0 && micros < 0:
		days, micros = days-1, micros+day
	case days < 0 && micros > 0:
		days, micros = days+1, micros-day
	}
	if months != int64(int32(months)) {
		return s, outOfRange(intervalT)
	}
	return span{Months: int32(months), Days: int32(days), Micros: micros}, nil
}
