package function

import (
	"math"
	"strings"

	"github.com/tidemarkdb/tidemark/extension"
	"github.com/tidemarkdb/tidemark/sqlerr"
	"github.com/tidemarkdb/tidemark/vec"
)

func datetimeFamily() family {
	f := family{category: "date and time"}
	for _, part := range [][]*extension.ScalarFunc{clockFunctions(), fieldFunctions(), truncFunctions(), makeFunctions(), zoneFunctions(), spanFunctions(), formatFunctions()} {
		f.scalars = append(f.scalars, part...)
	}
	return f
}

func clockFunctions() []*extension.ScalarFunc {
	moment := func(ev *extension.Eval) int64 { return ev.Now.UnixMicro() }
	local := func(ev *extension.Eval) int64 { return vec.ToLocal(ev.Zone, moment(ev)) }
	return []*extension.ScalarFunc{
		session(also(def("now", "Start of the transaction", ex("now() = current_timestamp", "t")), "current_timestamp", "transaction_timestamp", "statement_timestamp", "get_current_timestamp"), stampTZ, func(ev *extension.Eval) vec.Value { return vec.IntValue(stampTZ, moment(ev)) }),
		session(also(def("current_date", "Today in the session's time zone", ex("current_date = now()::date", "t")), "today"), dateT, func(ev *extension.Eval) vec.Value {
			return vec.IntValue(dateT, int64(dateOf(local(ev))))
		}),
		session(also(def("localtimestamp", "Start of the transaction by the wall clock", ex("localtimestamp = now()::timestamp", "t"))), stampT, func(ev *extension.Eval) vec.Value { return vec.IntValue(stampT, local(ev)) }),
		session(also(def("localtime", "Time of day at the start of the transaction", ex("localtime = now()::time", "t")), "current_time"), timeT, func(ev *extension.Eval) vec.Value {
			_, ofDay := vec.SplitMicros(local(ev))
			return vec.IntValue(timeT, ofDay)
		}),
	}
}

// parts is a wall-clock moment or interval taken apart.
type parts struct {
	year, month, day int
	days             int64 // since 1970-01-01
	ofDay            int64 // microseconds
	raw              int64 // the argument: local microseconds
	utc              int64 // for TIMESTAMPTZ the moment itself
	offset           int64 // of the zone, seconds
}

func partsOf(local int64) parts {
	days, ofDay := vec.SplitMicros(local)
	y, m, d := vec.CivilFromDays(days)
	return parts{year: y, month: m, day: d, days: days, ofDay: ofDay, raw: local, utc: local}
}

// unit is a field of extract: its value times 10^scale.
type unit struct {
	scale int
	of    func(p *parts) int64
}

const (
	second = int64(vec.MicrosPerSecond)
	minute = 60 * second
	hour   = 60 * minute
	day    = 24 * hour
)

// isoWeek returns the ISO week and its year.
func isoWeek(days int64) (year, week int) {
	thursday := days + 3 - (days+3)%7
	if (days+3)%7 < 0 {
		thursday -= 7
	}
	y, _, _ := vec.CivilFromDays(thursday)
	return y, int((thursday-vec.DaysFromCivil(y, 1, 1))/7) + 1
}

// weekday counts from Sunday, 0.
func weekday(days int64) int64 { return floorMod(days+4, 7) }

func floorMod(a, b int64) int64 { return a - floorDiv(a, b)*b }

// ceilYears is the century or millennium of a year: none is number 0.
func ceilYears(y, n int) int64 {
	if y > 0 {
		return int64((y + n - 1) / n)
	}
	return -int64((n - 1 - (y - 1)) / n)
}

var units = map[string]unit{
	"year":         {0, func(p *parts) int64 { return displayYear(p.year) }},
	"isoyear":      {0, func(p *parts) int64 { y, _ := isoWeek(p.days); return displayYear(y) }},
	"month":        {0, func(p *parts) int64 { return int64(p.month) }},
	"day":          {0, func(p *parts) int64 { return int64(p.day) }},
	"quarter":      {0, func(p *parts) int64 { return int64(p.month-1)/3 + 1 }},
	"week":         {0, func(p *parts) int64 { _, w := isoWeek(p.days); return int64(w) }},
	"dow":          {0, func(p *parts) int64 { return weekday(p.days) }},
	"isodow":       {0, func(p *parts) int64 { return floorMod(p.days+3, 7) + 1 }},
	"doy":          {0, func(p *parts) int64 { return p.days - vec.DaysFromCivil(p.year, 1, 1) + 1 }},
	"hour":         {0, func(p *parts) int64 { return p.ofDay / hour }},
	"minute":       {0, func(p *parts) int64 { return p.ofDay / minute % 60 }},
	"second":       {6, func(p *parts) int64 { return p.ofDay % minute }},
	"milliseconds": {3, func(p *parts) int64 { return p.ofDay % minute }},
	"microseconds": {0, func(p *parts) int64 { return p.ofDay % minute }},
	"decade":       {0, func(p *parts) int64 { return floorDiv(int64(p.year), 10) }},
	"century":      {0, func(p *parts) int64 { return ceilYears(p.year, 100) }},
	"millennium":   {0, func(p *parts) int64 { return ceilYears(p.year, 1000) }},
	"epoch":        {6, func(p *parts) int64 { return p.utc }},
	"julian":       {0, func(p *parts) int64 { return p.days + 2440588 }},
	"timezone":     {0, func(p *parts) int64 { return p.offset }},
	"timezone_hour": {0, func(p *parts) int64 {
		return p.offset / 3600
	}},
	"timezone_minute": {0, func(p *parts) int64 { return p.offset / 60 % 60 }},
}

// julianTime is the Julian day with the fraction of the day that has passed.
var julianTime = unit{10, func(p *parts) int64 {
	return (p.days+2440588)*1e10 + int64(math.Round(float64(p.ofDay)/float64(day)*1e10))
}}

// displayYear shows 1 BC as -1: there is no year 0.
func displayYear(y int) int64 {
	if y <= 0 {
		y--
	}
	return int64(y)
}

// unitName gives the canonical name of a unit's spelling.
func unitName(s string) string {
	s = strings.ToLower(strings.TrimSpace(s))
	switch s {
	case "years", "y", "yr", "yrs":
		return "year"
	case "months", "mon", "mons":
		return "month"
	case "days", "d", "dayofmonth":
		return "day"
	case "hours", "h", "hr", "hrs":
		return "hour"
	case "minutes", "min", "mins", "m":
		return "minute"
	case "seconds", "sec", "secs", "s":
		return "second"
	case "millisecond", "ms", "msec":
		return "milliseconds"
	case "microsecond", "us", "usec":
		return "microseconds"
	case "quarters", "qtr":
		return "quarter"
	case "weeks", "w", "weekofyear":
		return "week"
	case "dayofweek", "weekday":
		return "dow"
	case "dayofyear":
		return "doy"
	case "decades", "dec":
		return "decade"
	case "centuries", "c", "cent":
		return "century"
	case "millennia", "millenniums", "mil":
		return "millennium"
	}
	return s
}

func unknownUnit(name string, t vec.Type) error {
	return sqlerr.New(sqlerr.InvalidParameterValue, "unit \"%s\" not recognized for type %s", name, t)
}

func unsupportedUnit(name string, t vec.Type) error {
	return sqlerr.New(sqlerr.FeatureNotSupported, "unit \"%s\" not supported for type %s", name, t)
}

// fieldUnit finds the field of a type by name.
func fieldUnit(name string, t vec.Type) (unit, error) {
	canonical := unitName(name)
	u, ok := units[canonical]
	if t.ID == vec.Interval {
		u, ok = spanUnits[canonical]
	}
	if !ok {
		return unit{}, unknownUnit(strings.ToLower(name), t)
	}
	clock := false
	switch canonical {
	case "hour", "minute", "second", "milliseconds", "microseconds":
		clock = true
	}
	switch {
	case canonical == "julian" && (t.ID == vec.Timestamp || t.ID == vec.TimestampTZ):
		return julianTime, nil
	case strings.HasPrefix(canonical, "timezone") && t.ID != vec.TimestampTZ,
		t.ID == vec.Time && !clock && canonical != "epoch":
		return unit{}, unsupportedUnit(strings.ToLower(name), t)
	}
	return u, nil
}

// spanUnits are the fields of intervals; parts has their numbers in year, month, days and ofDay.
var spanUnits = map[string]unit{
	"year":         {0, func(p *parts) int64 { return int64(p.year) }},
	"month":        {0, func(p *parts) int64 { return int64(p.month) }},
	"day":          {0, func(p *parts) int64 { return p.days }},
	"quarter":      {0, func(p *parts) int64 { return int64(p.month/3) + 1 }},
	"hour":         {0, func(p *parts) int64 { return p.ofDay / hour }},
	"minute":       {0, func(p *parts) int64 { return p.ofDay / minute % 60 }},
	"second":       {6, func(p *parts) int64 { return p.ofDay % minute }},
	"milliseconds": {3, func(p *parts) int64 { return p.ofDay % minute }},
	"microseconds": {0, func(p *parts) int64 { return p.ofDay % minute }},
	"decade":       {0, func(p *parts) int64 { return int64(p.year / 10) }},
	"century":      {0, func(p *parts) int64 { return int64(p.year / 100) }},
	"millennium":   {0, func(p *parts) int64 { return int64(p.year / 1000) }},
	"epoch":        {6, func(p *parts) int64 { return p.utc }},
}

// eachPart calls f with each row's moment taken apart; ok is false for NULL and infinite rows.
func eachPart(c *call, v *vec.Vector, f func(i int, p *parts, ok bool)) {
	switch v.Type.ID {
	case vec.Date:
		a, mask := fixed[int32](v)
		for i := range c.n {
			d := a[i&mask]
			p := partsOf(int64(d) * day)
			f(i, &p, d != vec.DateInfinity && d != vec.DateMinusInfinity)
		}
	case vec.Interval:
		a, mask := fixed[span](v)
		for i := range c.n {
			s := a[i&mask]
			// The epoch of a year has 365.25 days, that of a month 30.
			total := (int64(s.Months/12)*1461*6 + (int64(s.Months%12)*30+int64(s.Days))*24) * hour
			p := parts{year: int(s.Months / 12), month: int(s.Months % 12), days: int64(s.Days), ofDay: s.Micros, utc: total + s.Micros}
			f(i, &p, true)
		}
	default:
		a, mask := fixed[int64](v)
		for i := range c.n {
			t := a[i&mask]
			if v.Type.ID == vec.TimestampTZ && vec.FiniteMicros(t) {
				offset := vec.OffsetAt(c.ev.Zone, t)
				p := partsOf(t + offset*second)
				p.utc, p.offset = t, offset
				f(i, &p, true)
				continue
			}
			p := partsOf(t)
			f(i, &p, vec.FiniteMicros(t))
		}
	}
}

// extractAs evaluates a field as NUMERIC: the value's integer is its unscaled value. Infinite moments give NULL.
func extractAs(t vec.Type, u unit) func(c *call, v *vec.Vector) (*vec.Vector, error) {
	return func(c *call, v *vec.Vector) (*vec.Vector, error) {
		out, infinite := make([]int64, c.n), vec.Bitmap(nil)
		factor := vec.Pow10Int64(int(t.Scale) - u.scale)
		eachPart(c, v, func(i int, p *parts, ok bool) {
			if !ok {
				if infinite == nil {
					infinite = vec.NewFullBitmap(c.n)
				}
				infinite.Clear(i)
				return
			}
			out[i] = u.of(p) * factor
		})
		return vec.FlatOf(t, out, infinite), nil
	}
}

// byUnit is an overload whose first argument names a unit. One that is no constant, or that the type does not have, is
// looked up row by row: it is no error where all rows are NULL.
func byUnit(s extension.Signature, result func(u unit, known bool) vec.Type) extension.ScalarOverload {
	return bound(s, func(args []extension.Argument) (vec.Type, body, error) {
		if name, ok := constText(args, 0); ok {
			if u, err := fieldUnit(name, args[1].Type); err == nil {
				t := result(u, true)
				return t, func(c *call) (*vec.Vector, error) { return fieldsOf(t, u, c, c.args[1]) }, nil
			}
		}
		t := result(unit{}, false)
		return t, func(c *call) (*vec.Vector, error) {
			names, out := textsOf(c.args[0]), vec.NewBuilder(t, c.n)
			for i := range c.n {
				if !c.ok(i) {
					out.AppendNull()
					continue
				}
				u, err := fieldUnit(names.str(i), c.args[1].Type)
				if err != nil {
					return nil, err
				}
				one := &call{ev: c.ev, n: 1}
				v, err := fieldsOf(t, u, one, vec.ConstantOf(c.args[1].Type, c.args[1].Value(i), 1))
				if err != nil {
					return nil, err
				}
				out.Append(v.Value(0))
			}
			return out.Finish(), nil
		}, nil
	})
}

func fieldsOf(t vec.Type, u unit, c *call, v *vec.Vector) (*vec.Vector, error) {
	if t.ID == vec.Decimal {
		return extractAs(t, u)(c, v)
	}
	scaled, err := extractAs(vec.DecimalType(vec.Precision64, u.scale), u)(c, v)
	if err != nil {
		return nil, err
	}
	a, _ := fixed[int64](scaled)
	unit := float64(vec.Pow10Int64(u.scale))
	out := make([]float64, c.n)
	for i := range out {
		out[i] = float64(a[i]) / unit
	}
	return vec.FlatOf(t, out, scaled.Valid), nil
}

var temporalTypes = []vec.Type{dateT, timeT, stampT, stampTZ, intervalT}

func fieldFunctions() []*extension.ScalarFunc {
	var extract, datePart []extension.ScalarOverload
	for _, t := range temporalTypes {
		extract = append(extract, byUnit(signature(textT, t), func(u unit, known bool) vec.Type {
			if !known {
				return vec.DecimalType(vec.Precision64, 6)
			}
			return vec.DecimalType(vec.Precision64, u.scale)
		}))
		datePart = append(datePart, byUnit(signature(textT, t), func(unit, bool) vec.Type { return float8 }))
	}
	out := []*extension.ScalarFunc{
		stable(def("extract", "Field of a moment or interval as NUMERIC", ex("extract(year FROM date '2024-03-01')", "2024"), ex("extract(second FROM time '10:20:30.5')", "30.500000")), extract...),
		stable(also(def("date_part", "Field of a moment or interval as DOUBLE PRECISION", ex("date_part('month', date '2024-03-01')", "3")), "datepart"), datePart...),
		nameFunction("dayname", "Name of the weekday", "Friday", func(p *parts) string { return dayNames[weekday(p.days)] }),
		nameFunction("monthname", "Name of the month", "March", func(p *parts) string { return monthNames[p.month-1] }),
	}
	for _, short := range []struct{ name, unit, alias string }{
		{"year", "year", ""}, {"month", "month", ""}, {"day", "day", "dayofmonth"}, {"hour", "hour", ""}, {"minute", "minute", ""},
		{"second", "second", ""}, {"quarter", "quarter", ""}, {"week", "week", "weekofyear"}, {"dayofweek", "dow", "weekday"},
		{"isodow", "isodow", ""}, {"dayofyear", "doy", ""}, {"decade", "decade", ""}, {"century", "century", ""}, {"isoyear", "isoyear", ""},
	} {
		out = append(out, shortField(short.name, short.unit, short.alias))
	}
	out = append(out, epochSeconds())
	for _, e := range []struct {
		name string
		unit int64
	}{{"epoch_ms", 1000}, {"epoch_us", 1}, {"epoch_ns", 0}} {
		out = append(out, epochField(e.name, e.unit))
	}
	return out
}

// shortField is a field as a function of its own, in BIGINT.
func shortField(name, unitName, alias string) *extension.ScalarFunc {
	u := units[unitName]
	clock := unitName == "hour" || unitName == "minute" || unitName == "second"
	d := def(name, "The "+unitName+" of a moment", ex("date_part('"+unitName+"', timestamp '2024-03-01 10:20:30') = "+name+"(timestamp '2024-03-01 10:20:30')", "t"))
	if alias != "" {
		d = also(d, alias)
	}
	f := stable(d)
	for _, t := range []vec.Type{dateT, stampT, stampTZ, timeT, intervalT} {
		if (t.ID == vec.Time && !clock) || (t.ID == vec.Date && clock) {
			continue
		}
		of := u
		if t.ID == vec.Interval {
			var ok bool
			if of, ok = spanUnits[unitName]; !ok {
				continue
			}
		}
		f.Overloads = append(f.Overloads, on(signature(t), int8, func(c *call) (*vec.Vector, error) {
			v, err := extractAs(vec.DecimalType(vec.Precision64, of.scale), of)(c, c.args[0])
			if err != nil {
				return nil, err
			}
			a, _ := fixed[int64](v)
			if of.scale > 0 {
				for i := range a { // the vector is not yet shared
					a[i] /= vec.Pow10Int64(of.scale)
				}
			}
			return vec.FlatOf(int8, a, v.Valid), nil
		}))
	}
	return f
}

// epochSeconds is the field epoch as a function of its own, in DOUBLE PRECISION.
func epochSeconds() *extension.ScalarFunc {
	f := stable(def("epoch", "Seconds since 1970-01-01, or of a time or an interval", ex("epoch(timestamp '1970-01-01 00:00:01.5')", "1.5")))
	for _, t := range temporalTypes {
		f.Overloads = append(f.Overloads, on(signature(t), float8, func(c *call) (*vec.Vector, error) {
			u, err := fieldUnit("epoch", t)
			if err != nil {
				return nil, err
			}
			return fieldsOf(float8, u, c, c.args[0])
		}))
	}
	return f
}

func epochField(name string, unit int64) *extension.ScalarFunc {
	result := map[int64]string{1000: "1000", 1: "1000000", 0: "1000000000"}[unit]
	f := immutable(def(name, "Units since 1970-01-01", ex(name+"(timestamp '1970-01-01 00:00:01')", result)))
	for _, t := range []vec.Type{stampT, stampTZ} {
		f.Overloads = append(f.Overloads, on(signature(t), int8, try1(int8, func(x int64) (int64, error) {
			if unit != 0 {
				return floorDiv(x, unit), nil
			}
			ns, ok := vec.MulInt64(x, 1000).Int64()
			if !ok {
				return 0, outOfRange(int8)
			}
			return ns, nil
		})))
	}
	if unit == 1000 {
		f.Overloads = append(f.Overloads, on(signature(int8), stampT, try1(stampT, func(x int64) (int64, error) {
			us, ok := vec.MulInt64(x, 1000).Int64()
			if !ok {
				return 0, outOfRange(stampT)
			}
			return us, nil
		})))
	}
	return f
}

func nameFunction(name, description, result string, f func(p *parts) string) *extension.ScalarFunc {
	out := stable(def(name, description, ex(name+"(date '2024-03-01')", result)))
	for _, t := range []vec.Type{dateT, stampT, stampTZ} {
		out.Overloads = append(out.Overloads, on(signature(t), textT, func(c *call) (*vec.Vector, error) {
			text := newTextOut(c.n, c.n*8)
			eachPart(c, c.args[0], func(_ int, p *parts, ok bool) {
				if !ok {
					text.null(c.n)
					return
				}
				text.data = append(text.data, f(p)...)
				text.offsets = append(text.offsets, int32(len(text.data)))
			})
			return text.vector(textT), nil
		}))
	}
	return out
}

var dayNames = [...]string{"Sunday", "Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday"}

var monthNames = [...]string{"January", "February", "March", "April", "May", "June", "July", "August", "September", "October", "November", "December"}
