package files

import (
	"regexp"
	"strconv"

	"github.com/tidemarkdb/tidemark/vec"
)

// guess narrows a column's type down, value by value: it starts with every candidate and drops those that do not fit.
type guess struct {
	fits uint8 // bit i: candidates[i] fits every value so far
	seen bool  // some value was not NULL
}

// candidates are the types that text can turn out to be, the narrowest first.
var candidates = []struct {
	t    vec.Type
	fits func(s string) bool
}{
	{vec.BoolType, func(s string) bool { return boolText.MatchString(s) }},
	{vec.Int64Type, isInteger},
	{vec.Float64Type, isNumber},
	{vec.DateType, func(s string) bool { return dateText.MatchString(s) && parses(vec.DateType, s) }},
	{vec.TimeType, func(s string) bool { return timeText.MatchString(s) && parses(vec.TimeType, s) }},
	{vec.TimestampType, func(s string) bool {
		return (dateText.MatchString(s) || timestampText.MatchString(s)) && parses(vec.TimestampType, s)
	}},
	{vec.TimestampTZType, func(s string) bool { return zonedText.MatchString(s) && parses(vec.TimestampTZType, s) }},
}

var (
	boolText      = regexp.MustCompile(`^(?i:true|false)$`)
	numberText    = regexp.MustCompile(`^[-+]?(\d+\.?\d*|\.\d+)([eE][-+]?\d+)?$`)
	dateText      = regexp.MustCompile(`^\d{4}-\d{2}-\d{2}$`)
	timeText      = regexp.MustCompile(`^\d{2}:\d{2}:\d{2}(\.\d{1,6})?$`)
	timestampText = regexp.MustCompile(`^\d{4}-\d{2}-\d{2}[ T]\d{2}:\d{2}(:\d{2}(\.\d{1,6})?)?$`)
	zonedText     = regexp.MustCompile(`^\d{4}-\d{2}-\d{2}[ T]\d{2}:\d{2}(:\d{2}(\.\d{1,6})?)?(Z|[-+]\d{2}(:?\d{2})?)$`)
)

// isInteger reports a BIGINT. Leading zeros are part of codes, not of numbers.
func isInteger(s string) bool {
	digits := s
	if digits != "" && digits[0] == '-' {
		digits = digits[1:]
	}
	if digits == "" || len(digits) > 1 && digits[0] == '0' {
		return false
	}
	_, err := strconv.ParseInt(s, 10, 64)
	return err == nil
}

func isNumber(s string) bool {
	if !numberText.MatchString(s) {
		return false
	}
	if digits := s; len(digits) > 1 && digits[0] == '0' && digits[1] >= '0' && digits[1] <= '9' {
		return false
	}
	_, err := strconv.ParseFloat(s, 64)
	return err == nil
}

func parses(t vec.Type, s string) bool {
	_, err := vec.Parse(t, s, nil)
	return err == nil
}

func newGuess() guess { return guess{fits: 1<<len(candidates) - 1} }

// see takes the text of a value that is not NULL into account.
func (g *guess) see(s string) {
	g.seen = true
	for i := range candidates {
		if g.fits>>i&1 != 0 && !candidates[i].fits(s) {
			g.fits &^= 1 << i
		}
	}
}

// result returns the narrowest type that fits, TEXT when none does or nothing was seen.
func (g *guess) result() vec.Type {
	if g.seen {
		for i := range candidates {
			if g.fits>>i&1 != 0 {
				return candidates[i].t
			}
		}
	}
	return vec.TextType
}
