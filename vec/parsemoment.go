package vec

import (
	"math"
	"strconv"
	"strings"
)

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
