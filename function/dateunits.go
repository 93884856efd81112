package function

import (
	"math"
	"strings"

	"github.com/tidemarkdb/tidemark/sqlerr"
	"github.com/tidemarkdb/tidemark/vec"
)

// parts is a wall-clock moment or interval taken apart.
type parts struct {
	year, month, day int
	days             int64 // since 1970-01-01
	ofDay            int64 // microseconds
	raw              int64 // the argument: local microseconds
	utc              int64 // for TIMESTAMPTZ the moment itself, for TIMETZ the time in UTC
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
	case strings.HasPrefix(canonical, "timezone"):
		if t.ID != vec.TimestampTZ && t.ID != vec.TimeTZ {
			return unit{}, unsupportedUnit(strings.ToLower(name), t)
		}
	case (t.ID == vec.Time || t.ID == vec.TimeTZ) && !clock && canonical != "epoch":
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
	case vec.Time: // a day and 24:00 have the same microseconds
		a, mask := fixed[int64](v)
		for i := range c.n {
			p := parts{ofDay: a[i&mask], raw: a[i&mask], utc: a[i&mask]}
			f(i, &p, true)
		}
	case vec.TimeTZ:
		a, mask := fixed[int64](v)
		for i := range c.n {
			ofDay, offset := vec.SplitTimeTZ(a[i&mask])
			p := parts{ofDay: ofDay, raw: ofDay, utc: ofDay - offset*second, offset: offset}
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
