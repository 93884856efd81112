package vec

import (
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
