package function

import (
	"math"
	"strconv"
	"strings"

	"github.com/tidemarkdb/tidemark/sqlerr"
	"github.com/tidemarkdb/tidemark/vec"
)

func roundHalfEven(x float64) float64 { return math.RoundToEven(x) }

// parsed gathers the fields that a format reads.
type parsed struct {
	year, month, day, ofYear int
	isoYear, isoWeek         int
	hour, minute, second     int
	micros, ofDay, offset    int64
	twelve, pm, bc, zoned    bool
}

// nearYear reads a year of one to three digits as the one nearest to 2020.
func nearYear(x int) int {
	switch {
	case x < 70:
		return x + 2000
	case x < 100:
		return x + 1900
	case x < 520:
		return x + 2000
	case x < 1000:
		return x + 1000
	}
	return x
}

// local returns the wall-clock time, with 1 for fields that were not read; an offset is taken off.
func (q *parsed) local() (int64, error) {
	year := q.year
	if q.bc && year > 0 {
		year = 1 - year
	} else if year == 0 && !q.bc {
		year = 0 // 1 BC, as PostgreSQL has it when no year was read
	}
	month, dayOfMonth := max(q.month, 1), max(q.day, 1)
	if month > 12 || dayOfMonth > vec.DaysInMonth(year, month) {
		return 0, sqlerr.New(sqlerr.DatetimeOverflow, "date/time field value out of range: %d-%d-%d", q.year, q.month, q.day)
	}
	days := vec.DaysFromCivil(year, month, dayOfMonth)
	switch {
	case q.ofYear > 0:
		days = vec.DaysFromCivil(year, 1, 1) + int64(q.ofYear) - 1
	case q.isoYear > 0:
		first := vec.DaysFromCivil(q.isoYear, 1, 4)
		days = first - floorMod(first+3, 7) + int64(max(q.isoWeek, 1)-1)*7
	}
	h := q.hour
	if q.twelve || q.pm {
		if q.twelve && (h < 1 || h > 12) {
			return 0, sqlerr.New(sqlerr.InvalidDatetime, "hour \"%d\" is invalid for the 12-hour clock", h).
				Hintf("Use the 24-hour clock, or give an hour between 1 and 12.")
		}
		if h %= 12; q.pm {
			h += 12
		}
	}
	if h > 23 || q.minute > 59 || q.second > 59 {
		return 0, sqlerr.New(sqlerr.DatetimeOverflow, "date/time field value out of range: %d:%d:%d", q.hour, q.minute, q.second)
	}
	t := days*day + q.ofDay + int64(h)*hour + int64(q.minute)*minute + int64(q.second)*second + q.micros
	return t - q.offset*second, nil
}

// readDigits reads up to n digits, with a sign when signed.
func readDigits(s string, n int) (x int, rest string, ok bool) {
	k := digits(s)
	if k == 0 {
		return 0, s, false
	}
	k = min(k, n)
	x, err := strconv.Atoi(s[:k])
	return x, s[k:], err == nil
}

func badTemplate(s, format string) error {
	return sqlerr.New(sqlerr.InvalidDatetime, "invalid value \"%s\" for \"%s\"", s, format).Hintf("The text must have the form of the template.")
}

// readName reads one of names, or its first three letters, ignoring case.
func readName(s string, names []string) (int, string, bool) {
	for i, n := range names {
		if len(s) >= len(n) && strings.EqualFold(s[:len(n)], n) {
			return i, s[len(n):], true
		}
	}
	for i, n := range names {
		if len(s) >= 3 && strings.EqualFold(s[:3], n[:3]) {
			return i, s[3:], true
		}
	}
	return 0, s, false
}

// parseTemplate reads a text by a template of to_date and to_timestamp.
func parseTemplate(s, format string) (parsed, error) {
	var q parsed
	whole, template := s, format
	for format != "" {
		format = strings.TrimPrefix(strings.TrimPrefix(format, "FM"), "FX")
		t := matchTemplate(format)
		if t == nil {
			if format == "" {
				break
			}
			// A separator of the template matches any of the text; spaces are skipped.
			if s = strings.TrimLeft(s, " "); s != "" && format[0] != ' ' && !isLetterOrDigit(s[0]) {
				s = s[1:]
			} else if s != "" && isLetterOrDigit(format[0]) {
				s = s[1:]
			}
			format = format[1:]
			continue
		}
		if s = strings.TrimLeft(s, " "); s == "" {
			break
		}
		next := format[len(t.name):]
		ok := true
		s, ok = q.read(t, s, next)
		if !ok {
			return q, badTemplate(whole, template)
		}
		format = next
		if strings.HasPrefix(format, "TH") || strings.HasPrefix(format, "th") {
			format, s = format[2:], s[min(2, len(s)):]
		}
	}
	return q, nil
}

func isLetterOrDigit(c byte) bool {
	return c >= '0' && c <= '9' || c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z'
}

// read reads one pattern's value.
func (q *parsed) read(t *template, s, next string) (rest string, ok bool) {
	switch upper := strings.ToUpper(t.name); upper {
	case "MONTH", "MON":
		i, rest, ok := readName(s, monthNames[:])
		q.month = i + 1
		return rest, ok
	case "DAY", "DY":
		_, rest, ok := readName(s, dayNames[:])
		return rest, ok
	case "AM", "PM":
		if len(s) < 2 || !strings.EqualFold(s[1:2], "m") {
			return s, false
		}
		q.pm, q.twelve = strings.EqualFold(s[:1], "p"), true
		return s[2:], true
	case "BC", "AD":
		if len(s) < 2 {
			return s, false
		}
		q.bc = strings.EqualFold(s[:2], "BC")
		return s[2:], true
	case "MS", "US":
		n := min(digits(s), t.digits)
		x, err := strconv.Atoi(s[:n] + strings.Repeat("0", 6-n))
		q.micros = int64(x)
		return s[n:], err == nil
	case "TZH", "OF", "TZ":
		zone, offset, ok := vec.LookupZone(s)
		q.zoned, q.offset = true, offset
		return "", ok && zone == nil
	}
	width := t.digits
	if t.name == "YYYY" && (next == "" || !isLetterOrDigit(next[0])) {
		width = 9 // a separator follows: more digits may be meant
	}
	x, rest, ok := readDigits(s, width)
	if ok && t.set != nil {
		t.set(q, x)
	}
	return rest, ok
}

// appendStrftime appends a moment by a format of % codes.
func appendStrftime(dst []byte, p *parts, format string) []byte {
	for i := 0; i < len(format); i++ {
		if format[i] != '%' || i+1 == len(format) {
			dst = append(dst, format[i])
			continue
		}
		i++
		short := format[i] == '-' && i+1 < len(format)
		if short {
			i++
		}
		start := len(dst)
		dst = appendCode(dst, p, format[i])
		if short {
			dst = append(dst[:start], trimFill(string(dst[start:]), true)...)
		}
	}
	return dst
}

func appendCode(dst []byte, p *parts, code byte) []byte {
	switch code {
	case 'Y':
		return appendNumber(dst, int64(p.year), 4)
	case 'y':
		return appendNumber(dst, floorMod(int64(p.year), 100), 2)
	case 'm':
		return appendNumber(dst, int64(p.month), 2)
	case 'd':
		return appendNumber(dst, int64(p.day), 2)
	case 'H':
		return appendNumber(dst, p.ofDay/hour, 2)
	case 'I':
		return appendNumber(dst, hour12(p), 2)
	case 'M':
		return appendNumber(dst, p.ofDay/minute%60, 2)
	case 'S':
		return appendNumber(dst, p.ofDay/second%60, 2)
	case 'f':
		return appendNumber(dst, p.ofDay%second, 6)
	case 'g':
		return appendNumber(dst, p.ofDay%second/1000, 3)
	case 'p':
		return append(dst, half(p)...)
	case 'j':
		return appendNumber(dst, p.days-vec.DaysFromCivil(p.year, 1, 1)+1, 3)
	case 'w':
		return appendNumber(dst, weekday(p.days), 1)
	case 'u':
		return appendNumber(dst, floorMod(p.days+3, 7)+1, 1)
	case 'V':
		_, w := isoWeek(p.days)
		return appendNumber(dst, int64(w), 2)
	case 'G':
		y, _ := isoWeek(p.days)
		return appendNumber(dst, int64(y), 4)
	case 'a':
		return append(dst, dayOf(p)[:3]...)
	case 'A':
		return append(dst, dayOf(p)...)
	case 'b', 'h':
		return append(dst, monthOf(p)[:3]...)
	case 'B':
		return append(dst, monthOf(p)...)
	case 'z':
		return vec.AppendOffset(dst, p.offset)
	case 'x', 'F':
		return appendStrftime(dst, p, "%Y-%m-%d")
	case 'X', 'T':
		return appendStrftime(dst, p, "%H:%M:%S")
	case 'c':
		return appendStrftime(dst, p, "%Y-%m-%d %H:%M:%S")
	case 's':
		return appendNumber(dst, floorDiv(p.utc, second), 1)
	case '%':
		return append(dst, '%')
	}
	return append(dst, '%', code)
}

// parseStrptime reads a text by a format of % codes; the text must match to its end.
func parseStrptime(s, format string) (parsed, error) {
	var q parsed
	whole := s
	for i := 0; i < len(format); i++ {
		ok := true
		switch {
		case format[i] == ' ':
			s = strings.TrimLeft(s, " ")
			continue
		case format[i] != '%' || i+1 == len(format):
			ok = s != "" && s[0] == format[i]
			s = s[min(1, len(s)):]
		default:
			if i++; format[i] == '-' && i+1 < len(format) {
				i++
			}
			s, ok = q.readCode(s, format[i])
		}
		if !ok {
			return q, badTemplate(whole, format)
		}
	}
	if strings.TrimSpace(s) != "" {
		return q, badTemplate(whole, format)
	}
	return q, nil
}

func (q *parsed) readCode(s string, code byte) (rest string, ok bool) {
	x := 0
	read := func(n int, into *int) (string, bool) {
		x, s, ok = readDigits(s, n)
		*into = x
		return s, ok
	}
	switch code {
	case 'Y':
		return read(4, &q.year)
	case 'y':
		rest, ok = read(2, &q.year)
		q.year = nearYear(q.year)
		return rest, ok
	case 'm':
		return read(2, &q.month)
	case 'd':
		return read(2, &q.day)
	case 'H':
		return read(2, &q.hour)
	case 'I':
		q.twelve = true
		return read(2, &q.hour)
	case 'M':
		return read(2, &q.minute)
	case 'S':
		return read(2, &q.second)
	case 'j':
		return read(3, &q.ofYear)
	case 'f', 'g':
		n := min(digits(s), 6)
		x, err := strconv.Atoi(s[:n] + strings.Repeat("0", 6-n))
		q.micros = int64(x)
		return s[n:], err == nil
	case 'b', 'B', 'h':
		i, rest, ok := readName(s, monthNames[:])
		q.month = i + 1
		return rest, ok
	case 'a', 'A':
		_, rest, ok := readName(s, dayNames[:])
		return rest, ok
	case 'p':
		if len(s) < 2 {
			return s, false
		}
		q.pm, q.twelve = strings.EqualFold(s[:2], "PM"), true
		return s[2:], true
	case 'z':
		_, offset, ok := vec.LookupZone(s)
		q.offset = offset
		return "", ok
	case '%':
		return strings.TrimPrefix(s, "%"), strings.HasPrefix(s, "%")
	}
	return s, false
}
