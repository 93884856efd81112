package vec

import (
	"math"
	"strconv"
	"strings"

	"github.com/tidemarkdb/tidemark/sqlerr"
)

// span gathers an interval's parts; fractions of a unit go down to smaller ones as in PostgreSQL.
type span struct {
	months, days, micros int64
	overflow             bool
}

func (p *span) add(to *int64, x float64) {
	if math.Abs(x) >= math.MaxInt64 {
		p.overflow = true
		return
	}
	sum := *to + int64(x)
	if (x > 0) != (sum > *to) && int64(x) != 0 {
		p.overflow = true
	}
	*to = sum
}

// unit adds whole + fraction units of one kind and reports whether the kind is known.
func (p *span) unit(word string, x float64) bool {
	months, days := 0.0, 0.0
	switch strings.TrimSuffix(word, ".") {
	case "us", "usec", "usecs", "usecond", "useconds", "microsecond", "microseconds":
		p.add(&p.micros, math.RoundToEven(x))
		return true
	case "ms", "msec", "msecs", "msecond", "mseconds", "millisecond", "milliseconds":
		p.add(&p.micros, math.RoundToEven(x*1000))
		return true
	case "s", "sec", "secs", "second", "seconds":
		p.add(&p.micros, math.RoundToEven(x*MicrosPerSecond))
		return true
	case "m", "min", "mins", "minute", "minutes":
		p.add(&p.micros, math.RoundToEven(x*60*MicrosPerSecond))
		return true
	case "h", "hr", "hrs", "hour", "hours":
		p.add(&p.micros, math.RoundToEven(x*3600*MicrosPerSecond))
		return true
	case "d", "day", "days":
		days = x
	case "w", "week", "weeks":
		days = x * 7
	case "mon", "mons", "month", "months":
		months = x
	case "qtr", "quarter", "quarters":
		months = x * 3
	case "y", "yr", "yrs", "year", "years":
		p.add(&p.months, math.RoundToEven(x*12))
		return true
	case "dec", "decs", "decade", "decades":
		p.add(&p.months, math.RoundToEven(x*120))
		return true
	case "c", "cent", "century", "centuries":
		p.add(&p.months, math.RoundToEven(x*1200))
		return true
	case "mil", "mils", "millennium", "millennia", "millenniums":
		p.add(&p.months, math.RoundToEven(x*12000))
		return true
	default:
		return false
	}
	whole := math.Trunc(months)
	p.add(&p.months, whole)
	days += (months - whole) * 30
	// A fraction of a day that is a rounding error of the steps above is none.
	days = math.Round(days*1e9) / 1e9
	p.add(&p.days, math.Trunc(days))
	p.add(&p.micros, math.RoundToEven((days-math.Trunc(days))*MicrosPerDay))
	return true
}

func (p *span) value(s string) (IntervalValue, error) {
	if p.overflow || p.months != int64(int32(p.months)) || p.days != int64(int32(p.days)) {
		return IntervalValue{}, sqlerr.New(sqlerr.DatetimeOverflow, "interval field value out of range: \"%s\"", s)
	}
	return IntervalValue{Months: int32(p.months), Days: int32(p.days), Micros: p.micros}, nil
}

// ParseInterval reads an interval: '1 year 2 mons 3 days 04:05:06', '1-2', 'P1Y2M3DT4H5M6S', '90 min ago'.
func ParseInterval(s string) (IntervalValue, error) {
	var p span
	trimmed := strings.ToLower(strings.TrimSpace(s))
	ok := false
	if rest, iso := strings.CutPrefix(trimmed, "p"); iso {
		ok = p.iso(rest)
	} else {
		ok = p.words(trimmed)
	}
	if !ok {
		return IntervalValue{}, invalidDatetime(IntervalType, s)
	}
	return p.value(s)
}

// iso reads the part of ISO 8601's form after the P.
func (p *span) iso(s string) bool {
	inTime, any := false, false
	for s != "" {
		if s[0] == 't' {
			inTime, s = true, s[1:]
			continue
		}
		n := numberLength(s)
		if n == 0 || n == len(s) {
			return false
		}
		x, err := strconv.ParseFloat(s[:n], 64)
		if err != nil {
			return false
		}
		units := map[byte]string{'y': "year", 'm': "month", 'w': "week", 'd': "day"}
		if inTime {
			units = map[byte]string{'h': "hour", 'm': "minute", 's': "second"}
		}
		if !p.unit(units[s[n]], x) {
			return false
		}
		any, s = true, s[n+1:]
	}
	return any
}

// numberLength returns the bytes of the signed decimal number that s begins with, without an exponent.
func numberLength(s string) int {
	i := 0
	if i < len(s) && (s[i] == '-' || s[i] == '+') {
		i++
	}
	start := i
	for i < len(s) && (isDigit(s[i]) || s[i] == '.') {
		i++
	}
	if i == start {
		return 0
	}
	return i
}

// words reads numbers with units, clock times and the SQL standard's year-month form.
func (p *span) words(s string) bool {
	s = strings.TrimPrefix(s, "@")
	any := false
	for {
		s = strings.TrimLeft(s, " \t\n,")
		if s == "" {
			return any
		}
		if s == "ago" {
			p.months, p.days, p.micros = -p.months, -p.days, -p.micros
			return any
		}
		n := numberLength(s)
		if n == 0 {
			return false
		}
		number, rest := s[:n], s[n:]
		switch {
		case strings.HasPrefix(rest, ":"):
			end := 0
			for end < len(s) && strings.IndexByte(" \t\n", s[end]) < 0 {
				end++
			}
			if !p.clock(s[:end]) {
				return false
			}
			any, s = true, s[end:]
			continue
		case strings.HasPrefix(rest, "-") && len(rest) > 1 && isDigit(rest[1]):
			m := numberLength(rest[1:]) + 1
			if !p.yearMonth(number, rest[1:m]) {
				return false
			}
			any, s = true, rest[m:]
			if s != "" && strings.IndexByte(" \t\n,", s[0]) < 0 { // '2020-01-01' is a date
				return false
			}
			continue
		}
		x, err := strconv.ParseFloat(number, 64)
		if err != nil {
			return false
		}
		rest = strings.TrimLeft(rest, " \t\n")
		end := 0
		for end < len(rest) && rest[end] >= 'a' && rest[end] <= 'z' {
			end++
		}
		word := rest[:end]
		if word == "" || word == "ago" {
			word, end = "second", 0
			if rest != "" && rest != "ago" { // '1 12:30:00' counts days
				word = "day"
				if !strings.Contains(rest, ":") {
					return false
				}
			}
		}
		if !p.unit(word, x) {
			return false
		}
		any, s = true, rest[end:]
	}
}

func (p *span) yearMonth(years, months string) bool {
	y, err1 := strconv.ParseInt(years, 10, 32)
	m, err2 := strconv.ParseInt(months, 10, 32)
	if err1 != nil || err2 != nil || m > 11 {
		return false
	}
	if strings.HasPrefix(years, "-") {
		m = -m
	}
	p.months += y*12 + m
	return true
}

// clock reads [-]h:mm[:ss[.f]].
func (p *span) clock(tok string) bool {
	negative := strings.HasPrefix(tok, "-")
	parts := strings.Split(strings.TrimLeft(tok, "+-"), ":")
	if len(parts) < 2 || len(parts) > 3 {
		return false
	}
	h, err1 := strconv.ParseInt(parts[0], 10, 32)
	seconds, whole := "0", parts[1]
	if len(parts) == 3 {
		seconds = parts[2]
	} else if strings.Contains(parts[1], ".") { // mm:ss.f
		seconds, whole = parts[1], parts[0]
		h, parts[0] = 0, "0"
	}
	m, err2 := strconv.ParseInt(whole, 10, 32)
	sec, err3 := strconv.ParseFloat(seconds, 64)
	if err1 != nil || err2 != nil || err3 != nil || m > 59 || sec >= 61 || m < 0 || sec < 0 {
		return false
	}
	micros := (h*60+m)*60*MicrosPerSecond + int64(math.RoundToEven(sec*MicrosPerSecond))
	if negative {
		micros = -micros
	}
	p.micros += micros
	return true
}
