package files

import (
	"math"
	"strconv"
	"time"

	"github.com/tidemarkdb/tidemark/vec"
)

// appendText adds the value that a field's text stands for.
func appendText(b *vec.Builder, s []byte, zone *time.Location) error {
	switch b.Type.ID {
	case vec.Text:
		b.AppendBytes(s)
		return nil
	case vec.Int64:
		if x, ok := shortInteger(s); ok {
			vec.AppendFixed(b, x)
			return nil
		}
	case vec.Int32:
		if x, ok := shortInteger(s); ok && x >= math.MinInt32 && x <= math.MaxInt32 {
			vec.AppendFixed(b, int32(x))
			return nil
		}
	case vec.Float64:
		if x, err := strconv.ParseFloat(vec.String(s), 64); err == nil && plainNumber(s) {
			vec.AppendFixed(b, x)
			return nil
		}
	}
	v, err := vec.Parse(b.Type, string(s), zone)
	if err != nil {
		return err
	}
	b.Append(v)
	return nil
}

// shortInteger reads an integer of at most 18 digits.
func shortInteger(s []byte) (x int64, ok bool) {
	digits := s
	if len(s) > 0 && s[0] == '-' {
		digits = s[1:]
	}
	if len(digits) == 0 || len(digits) > 18 {
		return 0, false
	}
	for _, c := range digits {
		if c < '0' || c > '9' {
			return 0, false
		}
		x = x*10 + int64(c-'0')
	}
	if len(digits) < len(s) {
		x = -x
	}
	return x, true
}

// plainNumber reports text of digits, signs, points and exponents: not Go's hexadecimal numbers or names.
func plainNumber(s []byte) bool {
	for _, c := range s {
		if (c < '0' || c > '9') && c != '-' && c != '+' && c != '.' && c != 'e' && c != 'E' {
			return false
		}
	}
	return true
}
