package function

import (
	"math"

	"github.com/tidemarkdb/tidemark/vec"
)

type span = vec.IntervalValue

func addSpans(a, b span) (span, error) {
	months := int64(a.Months) + int64(b.Months)
	days := int64(a.Days) + int64(b.Days)
	micros := a.Micros + b.Micros
	if months != int64(int32(months)) || days != int64(int32(days)) || (a.Micros^micros)&(b.Micros^micros) < 0 {
		return span{}, outOfRange(vec.IntervalType)
	}
	return span{Months: int32(months), Days: int32(days), Micros: micros}, nil
}

func negSpan(a span) (span, error) {
	if a.Months == math.MinInt32 || a.Days == math.MinInt32 || a.Micros == math.MinInt64 {
		return span{}, outOfRange(vec.IntervalType)
	}
	return span{Months: -a.Months, Days: -a.Days, Micros: -a.Micros}, nil
}

func subSpans(a, b span) (span, error) {
	n, err := negSpan(b)
	if err != nil {
		return span{}, err
	}
	return addSpans(a, n)
}

// mulSpan multiplies each part; fractions of months become days of 30 to the month, those of days become time.
func mulSpan(a span, f float64) (span, error) {
	return scaleSpan(a, func(x float64) float64 { return x * f })
}

func divSpan(a span, f float64) (span, error) {
	if f == 0 {
		return span{}, divisionByZero()
	}
	return scaleSpan(a, func(x float64) float64 { return x / f })
}

func scaleSpan(a span, by func(float64) float64) (span, error) {
	const daySeconds = 24 * 60 * 60
	months, days := by(float64(a.Months)), by(float64(a.Days))
	if !inInt32(months) || !inInt32(days) {
		return span{}, outOfRange(vec.IntervalType)
	}
	out := span{Months: int32(months), Days: int32(days)}
	// Fractions are rounded to microseconds so that 1 mon * 0.1 does not lose time to binary fractions.
	monthDays := roundMicros((months - float64(out.Months)) * 30)
	seconds := roundMicros((days - float64(out.Days) + monthDays - math.Trunc(monthDays)) * daySeconds)
	if math.Abs(seconds) >= daySeconds {
		out.Days += int32(seconds / daySeconds)
		seconds -= math.Trunc(seconds/daySeconds) * daySeconds
	}
	out.Days += int32(monthDays)
	micros := math.RoundToEven(by(float64(a.Micros)) + seconds*vec.MicrosPerSecond)
	if !(math.Abs(micros) < math.MaxInt64) {
		return span{}, outOfRange(vec.IntervalType)
	}
	out.Micros = int64(micros)
	return out, nil
}

func inInt32(x float64) bool { return x >= math.MinInt32 && x <= math.MaxInt32 }

func roundMicros(x float64) float64 { return math.RoundToEven(x*1e6) / 1e6 }

// addToLocal adds an interval to a wall-clock time: months first, to the last day of a shorter month, then days, then
// time. Infinities stay.
func addToLocal(t int64, s span) (int64, error) {
	if !vec.FiniteMicros(t) {
		return t, nil
	}
	t, err := addCalendar(t, s)
	if err != nil {
		return 0, err
	}
	return addMicros(t, s.Micros)
}

// addCalendar adds the months and days of s.
func addCalendar(t int64, s span) (int64, error) {
	if s.Months == 0 && s.Days == 0 {
		return t, nil
	}
	days, ofDay := vec.SplitMicros(t)
	if s.Months != 0 {
		y, m, d := vec.CivilFromDays(days)
		month := int64(y)*12 + int64(m-1) + int64(s.Months)
		y, m = int(floorDiv(month, 12)), int(month-floorDiv(month, 12)*12)+1
		days = vec.DaysFromCivil(y, m, min(d, vec.DaysInMonth(y, m)))
	}
	days += int64(s.Days)
	if !vec.ValidTimestampDate(days) {
		return 0, outOfRange(vec.TimestampType)
	}
	return days*vec.MicrosPerDay + ofDay, nil
}

func addMicros(t, micros int64) (int64, error) {
	r := t + micros
	days, _ := vec.SplitMicros(r)
	if (t^r)&(micros^r) < 0 || !vec.ValidTimestampDate(days) {
		return 0, outOfRange(vec.TimestampType)
	}
	return r, nil
}

func floorDiv(a, b int64) int64 {
	q := a / b
	if a%b != 0 && (a < 0) != (b < 0) {
		q--
	}
	return q
}

// addToMoment adds an interval to a TIMESTAMPTZ: months and days by the session's wall clock, time by elapsed time.
func addToMoment(c *call, t int64, s span) (int64, error) {
	if !vec.FiniteMicros(t) {
		return t, nil
	}
	if s.Months != 0 || s.Days != 0 {
		local, err := addCalendar(vec.ToLocal(c.ev.Zone, t), s)
		if err != nil {
			return 0, err
		}
		t = vec.FromLocal(c.ev.Zone, local)
	}
	return addMicros(t, s.Micros)
}

// spanBetween returns a - b in days and time.
func spanBetween(a, b int64) (span, error) {
	d := a - b
	if (a^b)&(a^d) < 0 || !vec.FiniteMicros(a) || !vec.FiniteMicros(b) {
		if !vec.FiniteMicros(a) || !vec.FiniteMicros(b) {
			return span{}, cannotSubtractInfinity()
		}
		return span{}, outOfRange(vec.IntervalType)
	}
	return span{Days: int32(d / vec.MicrosPerDay), Micros: d % vec.MicrosPerDay}, nil
}
