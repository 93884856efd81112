package function

import (
	"math"
	"strings"

	"github.com/tidemarkdb/tidemark/vec"
)

// romanWidth is how wide to_char makes a Roman numeral: as the longest one, MMMDCCCLXXXVIII.
const romanWidth = 15

var romans = []struct {
	value int64
	text  string
}{{1000, "M"}, {900, "CM"}, {500, "D"}, {400, "CD"}, {100, "C"}, {90, "XC"}, {50, "L"}, {40, "XL"}, {10, "X"}, {9, "IX"}, {5, "V"}, {4, "IV"}, {1, "I"}}

// romanFormat reports a number format of RN alone, rn in lower case, with FM to leave out the blanks.
func romanFormat(format string) (lower, fill, ok bool) {
	bare := format
	for _, fm := range []string{"FM", "fm"} {
		bare = strings.TrimSuffix(strings.TrimPrefix(bare, fm), fm)
	}
	return bare == "rn", bare != format, bare == "RN" || bare == "rn"
}

// appendRoman writes n, # where there is no numeral for it.
func appendRoman(dst []byte, n int64, lower, fill bool) []byte {
	if n < 1 || n > 3999 {
		return append(dst, strings.Repeat("#", romanWidth)...)
	}
	var out strings.Builder
	for _, r := range romans {
		for ; n >= r.value; n -= r.value {
			out.WriteString(r.text)
		}
	}
	text := out.String()
	if lower {
		text = strings.ToLower(text)
	}
	if !fill {
		text = strings.Repeat(" ", romanWidth-len(text)) + text
	}
	return append(dst, text...)
}

// wholeNumber rounds row i of a number as a cast to INTEGER does, a half of floats to even; 0 for what is far too large.
func wholeNumber(v *vec.Vector, i int) int64 {
	switch v.Type.ID {
	case vec.Decimal:
		if x, ok := vec.RescaleInt128(wide(v)(i), int(v.Type.Scale), 0); ok && vec.FitsPrecision(x, 18) {
			return int64(x.Lo)
		}
		return 0
	case vec.Int32, vec.Int64:
		return int64(wide(v)(i).Lo)
	}
	if f := math.RoundToEven(floatsOf(v)(i)); math.Abs(f) < 1e18 {
		return int64(f)
	}
	return 0
}
