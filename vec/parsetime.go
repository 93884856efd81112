package vec

import (
	"math"
	"strconv"
	"strings"
	"time"

	"github.com/tidemarkdb/tidemark/sqlerr"
)

// moment is a date and time as read from text.
type moment struct {
	year, month, day int
	ofDay            int64 // microseconds; 24:00:00 is a full day
	offset           int64 // seconds ahead of UTC
	zone             *time.Location
	hasDate, hasTime bool
	hasOffset        bool
}

func invalidDatetime(t Type, s string) error {
	return sqlerr.New(sqlerr.InvalidDatetime, "invalid input syntax for type %s: \"%s\"", t, s)
}

func datetimeFieldRange(s string) error {
	return sqlerr.New(sqlerr.DatetimeOverflow, "date/time field value out of range: \"%s\"", s)
}

// DatetimeOverflow is the error for a moment outside the range of type t.
func DatetimeOverflow(t Type) error {
	name := "timestamp"
	if t.ID == Date {
		name = "date"
	}
	return sqlerr.New(sqlerr.DatetimeOverflow, "%s out of range", name)
}

// parseTemporal reads DATE, TIME, TIMETZ, TIMESTAMP and TIMESTAMPTZ.
func (c parseContext) parseTemporal(t Type, s string) (Value, error) {
	if days, ofDay, ok := scanISO(s); ok && (t.ID == Date || t.ID == Timestamp) {
		if t.ID == Date {
			return IntValue(t, days), nil
		}
		return IntValue(t, days*MicrosPerDay+ofDay), nil
	}
	if v, ok := c.special(t, s); ok {
		return v, nil
	}
	m, err := scanMoment(t, s)
	if err != nil {
		return Value{}, err
	}
	if clock := t.ID == Time || t.ID == TimeTZ; clock && !m.hasTime || !clock && !m.hasDate {
		return Value{}, invalidDatetime(t, s)
	}
	if t.ID == Time {
		return IntValue(t, m.ofDay), nil
	}
	if !m.hasDate {
		return c.timeTZ(m, invalidDatetime(t, s))
	}
	if m.month < 1 || m.month > 12 || m.day < 1 || m.day > DaysInMonth(m.year, m.month) {
		return Value{}, datetimeFieldRange(s)
	}
	return c.fromMoment(t, m, s)
}

func (c parseContext) fromMoment(t Type, m moment, s string) (Value, error) {
	days := DaysFromCivil(m.year, m.month, m.day)
	if t.ID == Date {
		if !ValidDate(days) {
			return Value{}, sqlerr.New(sqlerr.DatetimeOverflow, "date out of range: \"%s\"", s)
		}
		return IntValue(t, days), nil
	}
	local := days*MicrosPerDay + m.ofDay
	if !ValidTimestampDate(days) && !(t.ID == Timestamp && days == maxTimestampDate+1 && local > 0 && FiniteMicros(local)) {
		return Value{}, sqlerr.New(sqlerr.DatetimeOverflow, "timestamp out of range: \"%s\"", s)
	}
	switch {
	case t.ID == TimeTZ:
		return c.timeTZ(m, nil)
	case t.ID == Timestamp:
		return IntValue(t, local), nil
	case m.hasOffset:
		return IntValue(t, local-m.offset*MicrosPerSecond), nil
	case m.zone != nil:
		return IntValue(t, FromLocal(m.zone, local)), nil
	}
	return IntValue(t, FromLocal(c.zone, local)), nil
}

// special reads the words that stand for moments.
func (c parseContext) special(t Type, s string) (Value, bool) {
	word := strings.ToLower(strings.TrimSpace(s))
	if t.ID == Time || t.ID == TimeTZ {
		return c.specialTime(t, word)
	}
	if word == "infinity" || word == "-infinity" {
		x := int64(InfinityMicros)
		if t.ID == Date {
			x = DateInfinity
		}
		if word[0] == '-' {
			x = -x - 1
		}
		return IntValue(t, x), true
	}
	if word == "epoch" {
		return IntValue(t, 0), true
	}
	shift, ok := map[string]int64{"now": 0, "today": 0, "tomorrow": 1, "yesterday": -1}[word]
	if !ok {
		return Value{}, false
	}
	local := ToLocal(c.zone, c.present().UnixMicro())
	days, ofDay := SplitMicros(local)
	days += shift
	if word != "now" {
		ofDay = 0
	}
	switch t.ID {
	case Date:
		return IntValue(t, days), true
	case TimestampTZ:
		return IntValue(t, FromLocal(c.zone, days*MicrosPerDay+ofDay)), true
	}
	return IntValue(t, days*MicrosPerDay+ofDay), true
}

// specialTime reads the words that stand for times of day.
func (c parseContext) specialTime(t Type, word string) (Value, bool) {
	ofDay, offset := int64(0), int64(0)
	switch word {
	case "allballs":
	case "now":
		now := c.present().UnixMicro()
		_, ofDay = SplitMicros(ToLocal(c.zone, now))
		offset = OffsetAt(c.zone, now)
	default:
		return Value{}, false
	}
	if t.ID == TimeTZ {
		return IntValue(t, MakeTimeTZ(ofDay, offset)), true
	}
	return IntValue(t, ofDay), true
}

// scanISO reads yyyy-mm-dd[( |T)hh:mm:ss[.ffffff]], the form nearly all text has, and nothing else.
func scanISO(s string) (days, ofDay int64, ok bool) {
	if len(s) < 10 || s[4] != '-' || s[7] != '-' {
		return 0, 0, false
	}
	y, ok1 := digitsOf(s[:4])
	m, ok2 := digitsOf(s[5:7])
	d, ok3 := digitsOf(s[8:10])
	if !ok1 || !ok2 || !ok3 || y < 1 || m < 1 || m > 12 || d < 1 || d > DaysInMonth(y, m) {
		return 0, 0, false
	}
	days = DaysFromCivil(y, m, d)
	if len(s) == 10 {
		return days, 0, true
	}
	if len(s) < 19 || s[10] != ' ' && s[10] != 'T' || s[13] != ':' || s[16] != ':' {
		return 0, 0, false
	}
	h, ok1 := digitsOf(s[11:13])
	mi, ok2 := digitsOf(s[14:16])
	sec, ok3 := digitsOf(s[17:19])
	if !ok1 || !ok2 || !ok3 || h > 23 || mi > 59 || sec > 59 {
		return 0, 0, false
	}
	ofDay = int64((h*60+mi)*60+sec) * MicrosPerSecond
	if len(s) == 19 {
		return days, ofDay, true
	}
	if s[19] != '.' || len(s) == 20 || len(s) > 26 {
		return 0, 0, false
	}
	fraction, ok := digitsOf(s[20:])
	return days, ofDay + int64(fraction)*pow10Int64[26-len(s)], ok
}

func digitsOf(s string) (x int, ok bool) {
	for i := range len(s) {
		c := s[i] - '0'
		if c > 9 {
			return 0, false
		}
		x = x*10 + int(c)
	}
	return x, len(s) > 0
}

// scanMoment reads the many ways people write dates and times, month before day where that is open (DateStyle MDY).
func scanMoment(t Type, s string) (moment, error) {
	var m moment
	bad := invalidDatetime(t, s)
	text := s
	if t.ID == Time || t.ID == TimeTZ {
		text = spacedClock(s)
	}
	tokens := momentTokens(text)
	bc, pm, am, monthWord := false, false, false, false
	var numbers []string
	for i, tok := range tokens {
		word := strings.ToLower(tok)
		switch {
		case tok == "":
		case strings.Contains(tok, ":") && !strings.HasPrefix(tok, "+") && !strings.HasPrefix(tok, "-"):
			if m.hasTime {
				return m, bad
			}
			if err := m.clock(tok, bad, s); err != nil {
				return m, err
			}
		case word == "am":
			am = true
		case word == "pm":
			pm = true
		case word == "bc":
			bc = true
		case word == "ad" || word == "at" || word == "t" || weekdayWord(word):
		case m.month == 0 && monthNumber(word) > 0:
			m.month, monthWord = monthNumber(word), true
		case (tok[0] == '+' || tok[0] == '-') && m.hasTime:
			offset, ok := parseOffset(tok)
			if !ok {
				return m, bad
			}
			m.offset, m.hasOffset = offset, true
		case tok[0] == 'J' && len(tok) > 5 && allDigits(tok[1:]):
			julian, _ := strconv.ParseInt(tok[1:], 10, 64)
			m.year, m.month, m.day = CivilFromDays(julian - julianDayOfUnixEpoch)
			m.hasDate = true
		case strings.Count(tok, "-") == 2 || strings.Count(tok, "/") == 2 || strings.Count(tok, ".") == 2:
			if m.hasDate || !m.dateParts(tok) {
				return m, bad
			}
		case allDigits(tok) && len(tok) == 8 && !m.hasDate && len(numbers) == 0 && !monthWord:
			m.year, _ = strconv.Atoi(tok[:4])
			m.month, _ = strconv.Atoi(tok[4:6])
			m.day, _ = strconv.Atoi(tok[6:])
			m.hasDate = true
		case allDigits(tok) && len(tok) == 6 && m.hasDate && !m.hasTime:
			if err := m.clock(tok[:2]+":"+tok[2:4]+":"+tok[4:], bad, s); err != nil {
				return m, err
			}
		case allDigits(tok) && !m.hasDate:
			numbers = append(numbers, tok)
		case t.ID != Date || i > 0:
			zone, offset, ok := LookupZone(tok)
			if !ok || !m.hasTime && !m.hasDate {
				if !ok && strings.Contains(tok, "/") {
					return m, sqlerr.New(sqlerr.InvalidParameterValue, "time zone \"%s\" not recognized", word)
				}
				return m, bad
			}
			if zone != nil {
				m.zone = zone
			} else {
				m.offset, m.hasOffset = offset, true
			}
		default:
			return m, bad
		}
	}
	if monthWord && !m.hasDate {
		if !m.aroundMonth(numbers) {
			return m, bad
		}
	} else if len(numbers) > 0 {
		return m, bad
	}
	if bc {
		if !m.hasDate || m.year < 1 {
			return m, bad
		}
		m.year = 1 - m.year
	} else if m.hasDate && m.year == 0 {
		return m, datetimeFieldRange(s)
	}
	return m, m.halfDay(am, pm, s)
}

// halfDay applies AM and PM.
func (m *moment) halfDay(am, pm bool, s string) error {
	if !am && !pm {
		return nil
	}
	const noon = MicrosPerDay / 2
	if !m.hasTime || m.ofDay >= noon+MicrosPerDay/24 {
		return datetimeFieldRange(s)
	}
	if m.ofDay >= noon {
		m.ofDay -= noon
	}
	if pm {
		m.ofDay += noon
	}
	return nil
}

// momentTokens splits at white space, commas, between date and time at T, and before a zone that touches a time.
func momentTokens(s string) []string {
	var out []string
	for _, tok := range strings.FieldsFunc(s, func(r rune) bool { return r == ' ' || r == ',' || r == '\t' || r == '\n' }) {
		if i := strings.IndexAny(tok, "Tt"); i >= 8 && i+1 < len(tok) && isDigit(tok[i-1]) && isDigit(tok[i+1]) {
			out = append(out, tok[:i])
			tok = tok[i+1:]
			if !strings.Contains(tok, ":") && len(tok) >= 4 && allDigits(tok[:4]) {
				tok = tok[:2] + ":" + tok[2:4] + colonBefore(tok[4:])
			}
		}
		if colon := strings.IndexByte(tok, ':'); colon > 0 && isDigit(tok[0]) {
			end := colon
			for end < len(tok) && (isDigit(tok[end]) || tok[end] == ':' || tok[end] == '.') {
				end++
			}
			out = append(out, tok[:end])
			if tok = tok[end:]; tok == "" {
				continue
			}
		}
		if half := strings.ToLower(tok[:min(2, len(tok))]); (half == "am" || half == "pm") && len(tok) > 2 && (tok[2] == '+' || tok[2] == '-') {
			out = append(out, half)
			tok = tok[2:]
		}
		if n := leadingDigits(tok); n > 0 && n < len(tok) && monthNumber(strings.ToLower(tok[n:])) > 0 {
			out = append(out, tok[:n])
			tok = tok[n:]
		}
		out = append(out, strings.TrimSuffix(tok, "."))
	}
	return out
}

// spacedClock puts the colons into a time of day written hhmm or hhmmss, before a fraction or a zone.
func spacedClock(s string) string {
	s = strings.TrimSpace(s)
	switch n := leadingDigits(s); {
	case n == 4 && len(s) == 4:
		return s[:2] + ":" + s[2:]
	case n == 6 && (len(s) == 6 || strings.IndexByte(" +-.zZ", s[6]) >= 0):
		return s[:2] + ":" + s[2:4] + ":" + s[4:]
	}
	return s
}

func colonBefore(s string) string {
	if s != "" && isDigit(s[0]) {
		return ":" + s
	}
	return s
}

func leadingDigits(s string) int {
	n := 0
	for n < len(s) && isDigit(s[n]) {
		n++
	}
	return n
}

func isDigit(c byte) bool { return c >= '0' && c <= '9' }

func allDigits(s string) bool { return s != "" && leadingDigits(s) == len(s) }

// clock reads hh:mm[:ss[.ffffff]].
func (m *moment) clock(tok string, bad error, s string) error {
	parts := strings.Split(tok, ":")
	if last := len(parts) - 1; last > 0 && parts[last] == "" { // 12: is 12:00, 12:30: is 12:30:00
		parts[last] = "0"
	}
	if len(parts) > 3 || !allDigits(parts[0]) || !allDigits(parts[1]) || len(parts[0]) > 4 {
		return bad
	}
	h, _ := strconv.Atoi(parts[0])
	mi, _ := strconv.Atoi(parts[1])
	var micros int64
	if len(parts) == 3 {
		whole, fraction, _ := strings.Cut(parts[2], ".")
		if !allDigits(whole) || fraction != "" && !allDigits(fraction) {
			return bad
		}
		sec, _ := strconv.Atoi(whole)
		if sec > 60 {
			return datetimeFieldRange(s)
		}
		micros = int64(sec)*MicrosPerSecond + roundFraction(fraction)
	}
	if h > 24 || mi > 59 || h == 24 && (mi > 0 || micros > 0) {
		return datetimeFieldRange(s)
	}
	m.ofDay, m.hasTime = int64(h*60+mi)*60*MicrosPerSecond+micros, true
	return nil
}

// roundFraction returns a decimal fraction of a second in microseconds, halves rounded to even.
func roundFraction(digits string) int64 {
	if digits == "" {
		return 0
	}
	f, _ := strconv.ParseFloat("0."+digits, 64)
	return int64(math.RoundToEven(f * MicrosPerSecond))
}

// dateParts reads three parts joined by -, / or . in the order y-m-d, m/d/y or with the month's name anywhere.
func (m *moment) dateParts(tok string) bool {
	parts := strings.FieldsFunc(tok, func(r rune) bool { return r == '-' || r == '/' || r == '.' })
	if len(parts) != 3 {
		return false
	}
	for i, p := range parts {
		if n := monthNumber(strings.ToLower(p)); n > 0 {
			m.month = n
			rest := append(append([]string{}, parts[:i]...), parts[i+1:]...)
			return m.aroundMonth(rest)
		}
		if !allDigits(p) || len(p) > 7 {
			return false
		}
	}
	a, _ := strconv.Atoi(parts[0])
	b, _ := strconv.Atoi(parts[1])
	c, _ := strconv.Atoi(parts[2])
	m.hasDate = true
	if len(parts[0]) > 2 {
		m.year, m.month, m.day = a, b, c
		return true
	}
	m.year, m.month, m.day = fullYear(parts[2]), a, b
	return true
}

// aroundMonth takes day and year from the numbers beside a month's name.
func (m *moment) aroundMonth(numbers []string) bool {
	if len(numbers) != 2 || !allDigits(numbers[0]) || !allDigits(numbers[1]) {
		return false
	}
	day, year := numbers[0], numbers[1]
	if len(day) > 2 {
		day, year = year, day
	}
	m.day, _ = strconv.Atoi(day)
	m.year = fullYear(year)
	m.hasDate = true
	return len(day) <= 2
}

// fullYear reads a year, of which two digits mean 1970 to 2069.
func fullYear(digits string) int {
	y, _ := strconv.Atoi(digits)
	switch {
	case len(digits) > 2:
		return y
	case y < 70:
		return y + 2000
	}
	return y + 1900
}

var monthNames = [...]string{"january", "february", "march", "april", "may", "june", "july", "august", "september", "october", "november", "december"}

// monthNumber returns the number of a month's name or its first three letters, 0 for other words.
func monthNumber(word string) int {
	if word == "sept" {
		return 9
	}
	for i, name := range monthNames {
		if word == name || len(word) == 3 && word == name[:3] {
			return i + 1
		}
	}
	return 0
}

func weekdayWord(word string) bool {
	for _, name := range [...]string{"monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday"} {
		if word == name || len(word) >= 3 && len(word) < len(name) && strings.HasPrefix(name, word) {
			return true
		}
	}
	return false
}
