package function

import (
	"math"
	"time"
	"unicode/utf8"

	"github.com/tidemarkdb/tidemark/vec"
)

// appendJSON appends v as JSON, as to_json does: numbers and booleans as such, arrays and structs by their members,
// JSON as it is, timestamps in ISO 8601, everything else as a string of its text form.
func appendJSON(dst []byte, v vec.Value, zone *time.Location) []byte {
	if v.Null {
		return append(dst, "null"...)
	}
	switch v.Type.ID {
	case vec.Bool:
		if v.I != 0 {
			return append(dst, "true"...)
		}
		return append(dst, "false"...)
	case vec.Int16, vec.Int32, vec.Int64, vec.Decimal, vec.JSON:
		return vec.AppendValue(dst, v, zone)
	case vec.Float32, vec.Float64:
		if !math.IsNaN(v.F) && !math.IsInf(v.F, 0) {
			return vec.AppendValue(dst, v, zone)
		}
	case vec.Array:
		dst = append(dst, '[')
		for i, e := range v.List {
			if i > 0 {
				dst = append(dst, ',')
			}
			dst = appendJSON(dst, e, zone)
		}
		return append(dst, ']')
	case vec.Struct:
		dst = append(dst, '{')
		for i, e := range v.List {
			if i > 0 {
				dst = append(dst, ',')
			}
			dst = append(appendJSONString(dst, v.Type.Fields[i].Name), ':')
			dst = appendJSON(dst, e, zone)
		}
		return append(dst, '}')
	}
	text := vec.AppendValue(nil, v, zone)
	if v.Type.ID == vec.Timestamp || v.Type.ID == vec.TimestampTZ {
		text = isoTime(text, v.Type.ID == vec.TimestampTZ)
	}
	return appendJSONString(dst, string(text))
}

// isoTime turns PostgreSQL's text form into that of ISO 8601: a T between, and minutes in the offset.
func isoTime(text []byte, zoned bool) []byte {
	for i, c := range text {
		if c == ' ' {
			text[i] = 'T'
			break
		}
	}
	if n := len(text); zoned && n > 3 && (text[n-3] == '+' || text[n-3] == '-') {
		text = append(text, ":00"...)
	}
	return text
}

// appendJSONString appends s quoted, escaping what JSON requires.
func appendJSONString(dst []byte, s string) []byte {
	const hex = "0123456789abcdef"
	dst = append(dst, '"')
	for i := 0; i < len(s); i++ {
		c := s[i]
		switch {
		case c == '"' || c == '\\':
			dst = append(dst, '\\', c)
		case c == '\n':
			dst = append(dst, `\n`...)
		case c == '\r':
			dst = append(dst, `\r`...)
		case c == '\t':
			dst = append(dst, `\t`...)
		case c == '\b':
			dst = append(dst, `\b`...)
		case c == '\f':
			dst = append(dst, `\f`...)
		case c < ' ':
			dst = append(dst, `\u00`...)
			dst = append(dst, hex[c>>4], hex[c&15])
		case c < utf8.RuneSelf:
			dst = append(dst, c)
		default:
			r, size := utf8.DecodeRuneInString(s[i:])
			dst = utf8.AppendRune(dst, r)
			i += size - 1
		}
	}
	return append(dst, '"')
}
