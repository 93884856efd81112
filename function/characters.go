package function

import (
	"math"

	"github.com/tidemarkdb/tidemark/vec"
)

// characterAt is the character at a place of a text, from 1 or from the end when negative; "" outside.
func characterAt(_ *call, args []vec.Value) (vec.Value, error) {
	return substringOf(args[0].S, args[1].I, args[1].I), nil
}

// charactersOf are the characters from one place to another; negative places count from the end.
func charactersOf(_ *call, args []vec.Value) (vec.Value, error) {
	return substringOf(args[0].S, args[1].I, args[2].I), nil
}

func substringOf(s string, low, high int64) vec.Value {
	runes := []rune(s)
	n := int64(len(runes))
	if low < 0 {
		low += n + 1
	}
	if high < 0 && high != math.MinInt64 {
		high += n + 1
	}
	low, high = max(low, 1), min(high, n)
	if low > high {
		return vec.StringValue(textT, "")
	}
	return vec.StringValue(textT, string(runes[low-1:high]))
}
