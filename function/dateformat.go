package function

import (
	"strconv"
	"strings"

	"github.com/tidemarkdb/tidemark/extension"
	"github.com/tidemarkdb/tidemark/sqlerr"
	"github.com/tidemarkdb/tidemark/vec"
)

func formatFunctions() []*extension.ScalarFunc {
	toChar := stable(def("to_char", "Text of a moment, interval or number by a template", ex("to_char(timestamp '2024-03-17 15:20:30', 'YYYY-MM-DD HH12:MI PM')", "2024-03-17 03:20 PM"), ex("to_char(1234.5, '9,999.99')", " 1,234.50"), ex("to_char(485, 'FMRN')", "CDLXXXV")))
	strf := stable(def("strftime", "Text of a moment by a format of % codes", ex("strftime(timestamp '2024-03-17 15:20:30', '%Y-%m-%d %H:%M')", "2024-03-17 15:20")))
	for _, t := range []vec.Type{dateT, stampT, stampTZ, intervalT} {
		toChar.Overloads = append(toChar.Overloads, on(signature(t, textT), textT, formatMoments(appendTemplate)))
		if t.ID != vec.Interval {
			strf.Overloads = append(strf.Overloads, on(signature(t, textT), textT, formatMoments(appendStrftime)))
		}
	}
	toChar.Overloads = append(toChar.Overloads,
		bound(params(decimalParam, exact(textT)), func(args []extension.Argument) (vec.Type, body, error) { return textT, numberToChar, nil }),
		on(signature(int4, textT), textT, numberToChar), on(signature(int8, textT), textT, numberToChar), on(signature(float8, textT), textT, numberToChar))
	local := func(f func(s, format string) (parsed, error)) func(c *call, args []vec.Value) (int64, error) {
		return func(_ *call, args []vec.Value) (int64, error) {
			p, err := f(args[0].S, args[1].S)
			if err != nil {
				return 0, err
			}
			return p.local()
		}
	}
	return []*extension.ScalarFunc{
		toChar, strf,
		stable(def("to_date", "Date of a text by a template", ex("to_date('05 Dec 2000', 'DD Mon YYYY')", "2000-12-05")), on(signature(textT, textT), dateT, boxed(dateT, func(c *call, args []vec.Value) (vec.Value, error) {
			t, err := local(parseTemplate)(c, args)
			return vec.IntValue(dateT, floorDiv(t, day)), err
		}))),
		stable(def("to_timestamp", "Moment of a text by a template, or of seconds since 1970-01-01", ex("to_timestamp(0) = timestamptz 'epoch'", "t")),
			on(signature(textT, textT), stampTZ, boxed(stampTZ, func(c *call, args []vec.Value) (vec.Value, error) {
				t, err := local(parseTemplate)(c, args)
				return vec.IntValue(stampTZ, vec.FromLocal(c.ev.Zone, t)), err
			})),
			on(signature(float8), stampTZ, try1(stampTZ, secondsToMoment))),
		immutable(def("strptime", "Timestamp of a text by a format of % codes", ex("strptime('2024-03-17 15:20', '%Y-%m-%d %H:%M')", "2024-03-17 15:20:00")), on(signature(textT, textT), stampT, boxed(stampT, func(c *call, args []vec.Value) (vec.Value, error) {
			t, err := local(parseStrptime)(c, args)
			return vec.IntValue(stampT, t), err
		}))),
		immutable(def("to_number", "Number of a text by a template", ex("to_number('12,454.8-', '99G999D9S')", "-12454.800000000")), on(signature(textT, textT), toNumberType, boxed(toNumberType, toNumber))),
	}
}

func secondsToMoment(x float64) (int64, error) {
	switch {
	case x != x:
		return 0, sqlerr.New(sqlerr.DatetimeOverflow, "timestamp cannot be NaN")
	case x-x != 0 && x > 0:
		return vec.InfinityMicros, nil
	case x-x != 0:
		return vec.MinusInfinityMicros, nil
	case x > 9e12 || x < -2.1e11:
		return 0, outOfRange(stampTZ)
	}
	return int64(roundHalfEven(x * 1e6)), nil
}

// formatMoments makes a body (moment, format) of what appends one moment in a format.
func formatMoments(f func(dst []byte, p *parts, format string) []byte) body {
	return func(c *call) (*vec.Vector, error) {
		formats, out := textsOf(c.args[1]), newTextOut(c.n, c.n*16)
		var err error
		eachPart(c, c.args[0], func(i int, p *parts, ok bool) {
			if !ok || !c.ok(i) {
				out.null(c.n)
				return
			}
			out.data = f(out.data, p, formats.str(i))
			if e := out.end(); e != nil {
				err = e
			}
		})
		return out.vector(textT), err
	}
}

// template is one pattern of to_char, longest first where one begins another.
type template struct {
	name   string
	append func(dst []byte, p *parts) []byte
	digits int // how many digits of it can be read; 0 for names
	set    func(q *parsed, x int)
}

func numeral(width int, f func(p *parts) int64) func(dst []byte, p *parts) []byte {
	return func(dst []byte, p *parts) []byte { return appendNumber(dst, f(p), width) }
}

// appendNumber appends x with at least width digits.
func appendNumber(dst []byte, x int64, width int) []byte {
	if x < 0 {
		dst, x = append(dst, '-'), -x
	}
	s := strconv.FormatInt(x, 10)
	for range width - len(s) {
		dst = append(dst, '0')
	}
	return append(dst, s...)
}

func hour12(p *parts) int64 {
	if h := p.ofDay / hour % 12; h != 0 {
		return h
	}
	return 12
}

func eraYear(p *parts) int64 {
	if p.year <= 0 && p.month > 0 && p.day > 0 {
		return int64(1 - p.year)
	}
	return int64(p.year)
}

func half(p *parts) string {
	if p.ofDay/hour%24 >= 12 {
		return "PM"
	}
	return "AM"
}

func name(f func(p *parts) string, width int, recase func(string) string) func(dst []byte, p *parts) []byte {
	return func(dst []byte, p *parts) []byte {
		s := recase(f(p))
		dst = append(dst, s...)
		for range width - len(s) {
			dst = append(dst, ' ')
		}
		return dst
	}
}

func monthOf(p *parts) string { return monthNames[floorMod(int64(p.month)-1, 12)] }

func dayOf(p *parts) string { return dayNames[weekday(p.days)] }

func three(f func(p *parts) string) func(p *parts) string {
	return func(p *parts) string { return f(p)[:3] }
}

func same(s string) string { return s }

func dayNumber(p *parts) int64 {
	if p.day == 0 { // an interval's
		return p.days
	}
	return int64(p.day)
}

var templates = []template{
	{"HH24", numeral(2, func(p *parts) int64 { return p.ofDay / hour }), 2, func(q *parsed, x int) { q.hour = x }},
	{"HH12", numeral(2, hour12), 2, func(q *parsed, x int) { q.hour, q.twelve = x, true }},
	{"HH", numeral(2, hour12), 2, func(q *parsed, x int) { q.hour, q.twelve = x, true }},
	{"MI", numeral(2, func(p *parts) int64 { return p.ofDay / minute % 60 }), 2, func(q *parsed, x int) { q.minute = x }},
	{"SSSSS", numeral(1, func(p *parts) int64 { return p.ofDay / second }), 5, func(q *parsed, x int) { q.ofDay = int64(x) * second }},
	{"SSSS", numeral(1, func(p *parts) int64 { return p.ofDay / second }), 5, func(q *parsed, x int) { q.ofDay = int64(x) * second }},
	{"SS", numeral(2, func(p *parts) int64 { return p.ofDay / second % 60 }), 2, func(q *parsed, x int) { q.second = x }},
	{"MS", numeral(3, func(p *parts) int64 { return p.ofDay % second / 1000 }), 3, nil},
	{"US", numeral(6, func(p *parts) int64 { return p.ofDay % second }), 6, nil},
	{"AM", name(half, 0, same), 0, nil}, {"PM", name(half, 0, same), 0, nil},
	{"am", name(half, 0, strings.ToLower), 0, nil}, {"pm", name(half, 0, strings.ToLower), 0, nil},
	{"Y,YYY", func(dst []byte, p *parts) []byte {
		return appendNumber(append(appendNumber(dst, eraYear(p)/1000, 1), ','), eraYear(p)%1000, 3)
	}, 5, nil},
	{"YYYY", numeral(4, eraYear), 4, func(q *parsed, x int) { q.year = x }},
	{"YYY", numeral(3, func(p *parts) int64 { return eraYear(p) % 1000 }), 3, func(q *parsed, x int) { q.year = nearYear(x) }},
	{"YY", numeral(2, func(p *parts) int64 { return eraYear(p) % 100 }), 2, func(q *parsed, x int) { q.year = nearYear(x) }},
	{"Y", numeral(1, func(p *parts) int64 { return eraYear(p) % 10 }), 1, func(q *parsed, x int) { q.year = nearYear(x) }},
	{"IYYY", numeral(4, func(p *parts) int64 { y, _ := isoWeek(p.days); return int64(y) }), 4, func(q *parsed, x int) { q.isoYear = x }},
	{"IYY", numeral(3, func(p *parts) int64 { y, _ := isoWeek(p.days); return int64(y % 1000) }), 3, nil},
	{"IY", numeral(2, func(p *parts) int64 { y, _ := isoWeek(p.days); return int64(y % 100) }), 2, nil},
	{"IDDD", numeral(3, func(p *parts) int64 {
		y, _ := isoWeek(p.days)
		first := vec.DaysFromCivil(y, 1, 4)
		return p.days - (first - floorMod(first+3, 7)) + 1
	}), 3, nil},
	{"ID", numeral(1, func(p *parts) int64 { return floorMod(p.days+3, 7) + 1 }), 1, nil},
	{"IW", numeral(2, func(p *parts) int64 { _, w := isoWeek(p.days); return int64(w) }), 2, func(q *parsed, x int) { q.isoWeek = x }},
	{"BC", name(func(p *parts) string { return era(p, "BC", "AD") }, 0, same), 0, nil},
	{"AD", name(func(p *parts) string { return era(p, "BC", "AD") }, 0, same), 0, nil},
	{"MONTH", name(monthOf, 9, strings.ToUpper), 0, nil}, {"Month", name(monthOf, 9, same), 0, nil}, {"month", name(monthOf, 9, strings.ToLower), 0, nil},
	{"MON", name(three(monthOf), 0, strings.ToUpper), 0, nil}, {"Mon", name(three(monthOf), 0, same), 0, nil}, {"mon", name(three(monthOf), 0, strings.ToLower), 0, nil},
	{"MM", numeral(2, func(p *parts) int64 { return int64(p.month) }), 2, func(q *parsed, x int) { q.month = x }},
	{"DAY", name(dayOf, 9, strings.ToUpper), 0, nil}, {"Day", name(dayOf, 9, same), 0, nil}, {"day", name(dayOf, 9, strings.ToLower), 0, nil},
	{"DY", name(three(dayOf), 0, strings.ToUpper), 0, nil}, {"Dy", name(three(dayOf), 0, same), 0, nil}, {"dy", name(three(dayOf), 0, strings.ToLower), 0, nil},
	{"DDD", numeral(3, func(p *parts) int64 { return p.days - vec.DaysFromCivil(p.year, 1, 1) + 1 }), 3, func(q *parsed, x int) { q.ofYear = x }},
	{"DD", numeral(2, dayNumber), 2, func(q *parsed, x int) { q.day = x }},
	{"D", numeral(1, func(p *parts) int64 { return weekday(p.days) + 1 }), 1, nil},
	{"WW", numeral(2, func(p *parts) int64 { return (p.days-vec.DaysFromCivil(p.year, 1, 1))/7 + 1 }), 2, nil},
	{"W", numeral(1, func(p *parts) int64 { return int64(p.day-1)/7 + 1 }), 1, nil},
	{"CC", numeral(2, func(p *parts) int64 { return ceilYears(p.year, 100) }), 2, nil},
	{"J", numeral(1, func(p *parts) int64 { return p.days + 2440588 }), 7, nil},
	{"Q", numeral(1, func(p *parts) int64 { return int64(p.month-1)/3 + 1 }), 1, nil},
	{"TZH", func(dst []byte, p *parts) []byte { return vec.AppendOffset(dst, p.offset-p.offset%3600) }, 0, nil},
	{"TZM", numeral(2, func(p *parts) int64 { return max(p.offset, -p.offset) / 60 % 60 }), 0, nil},
	{"OF", func(dst []byte, p *parts) []byte { return vec.AppendOffset(dst, p.offset) }, 0, nil},
	{"TZ", func(dst []byte, p *parts) []byte {
		if p.offset == 0 {
			return append(dst, "UTC"...)
		}
		return vec.AppendOffset(dst, p.offset)
	}, 0, nil},
}

func era(p *parts, before, after string) string {
	if p.year <= 0 {
		return before
	}
	return after
}

// matchTemplate finds the pattern at the start of a format: first as written, then in upper case.
func matchTemplate(format string) *template {
	for i := range templates {
		if strings.HasPrefix(format, templates[i].name) {
			return &templates[i]
		}
	}
	upper := strings.ToUpper(format[:min(len(format), 5)])
	for i := range templates {
		if t := &templates[i]; t.digits > 0 && strings.HasPrefix(upper, t.name) {
			return t
		}
	}
	return nil
}

// appendTemplate appends a moment by a template of to_char.
func appendTemplate(dst []byte, p *parts, format string) []byte {
	for format != "" {
		if format[0] == '"' {
			end := strings.IndexByte(format[1:], '"')
			if end < 0 {
				return append(dst, format[1:]...)
			}
			dst, format = append(dst, format[1:1+end]...), format[end+2:]
			continue
		}
		fill := false
		if strings.HasPrefix(format, "FM") {
			fill, format = true, format[2:]
		}
		t := matchTemplate(format)
		if t == nil {
			if format != "" {
				dst, format = append(dst, format[0]), format[1:]
			}
			continue
		}
		start := len(dst)
		dst = t.append(dst, p)
		if fill {
			dst = append(dst[:start], trimFill(string(dst[start:]), t.digits > 0)...)
		}
		format = format[len(t.name):]
		if strings.HasPrefix(format, "TH") || strings.HasPrefix(format, "th") {
			suffix := ordinal(string(dst[start:]))
			if format[0] == 'T' {
				suffix = strings.ToUpper(suffix)
			}
			dst, format = append(dst, suffix...), format[2:]
		}
	}
	return dst
}

// trimFill drops the fill of a pattern after FM.
func trimFill(s string, digits bool) string {
	if !digits {
		return strings.TrimRight(s, " ")
	}
	if s = strings.TrimLeft(s, "0"); s == "" {
		return "0"
	}
	return s
}

func ordinal(number string) string {
	if n := len(number); n > 1 && number[n-2] == '1' {
		return "th"
	}
	switch number[len(number)-1] {
	case '1':
		return "st"
	case '2':
		return "nd"
	case '3':
		return "rd"
	}
	return "th"
}
