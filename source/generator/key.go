package generator

import (
	"encoding/binary"
	"fmt"
	"math"
	"strconv"

	"github.com/tidemarkdb/tidemark/sqlerr"
	"github.com/tidemarkdb/tidemark/vec"
)

// keyDigit says which part of the key number a merge key column holds: (number / divisor) % radix.
type keyDigit struct {
	divisor, radix uint64 // radix 0: the whole rest
}

// smallRadix is how many values the narrower columns of a composite key take.
const smallRadix = 16

// keyDigits spreads the key number over the merge key: the roomiest column takes the high part, the others a few
// values each. capacity is how many key numbers that can tell apart.
func keyDigits(columns []vec.Column, key []int) (digits map[int]keyDigit, capacity uint64, err error) {
	if len(key) == 0 {
		return nil, 0, sqlerr.New(sqlerr.InvalidTableDefinition, "a generator stream needs a table with a PRIMARY KEY")
	}
	widest, most := -1, uint64(0)
	for _, c := range key {
		room := keyRoom(columns[c].Type)
		if room == 0 {
			return nil, 0, sqlerr.New(sqlerr.FeatureNotSupported, "a generator stream cannot fill key column %q of type %s", columns[c].Name, columns[c].Type)
		}
		if room > most {
			widest, most = c, room
		}
	}
	digits, divisor := map[int]keyDigit{}, uint64(1)
	for _, c := range key {
		if c != widest {
			radix := min(smallRadix, keyRoom(columns[c].Type))
			digits[c] = keyDigit{divisor, radix}
			divisor *= radix
		}
	}
	digits[widest] = keyDigit{divisor: divisor}
	if most > math.MaxUint64/divisor {
		return digits, math.MaxUint64, nil
	}
	return digits, most * divisor, nil
}

// keyRoom returns how many key numbers a column of type t can hold, 0 when none.
func keyRoom(t vec.Type) uint64 {
	switch t.ID {
	case vec.Bool:
		return 2
	case vec.Int16:
		return 1 << 15
	case vec.Int32:
		return 1 << 31
	case vec.Float32:
		return 1 << 24
	case vec.Float64:
		return 1 << 53
	case vec.Date:
		return 2_000_000 // the year 7445
	case vec.Time, vec.TimeTZ:
		return 24 * 60 * 60 * 1_000_000
	case vec.Decimal:
		return pow10(min(int(t.Precision-t.Scale), 18))
	case vec.Int64, vec.Timestamp, vec.TimestampTZ, vec.Interval, vec.Text, vec.Bytea, vec.UUID, vec.JSON:
		return maxNumber
	}
	return 0
}

func pow10(n int) uint64 {
	p := uint64(1)
	for range n {
		p *= 10
	}
	return p
}

// keyVector returns the column of the given digit of the key numbers.
func keyVector(t vec.Type, d keyDigit, keys []uint64) *vec.Vector {
	digits := make([]uint64, len(keys))
	for i, k := range keys {
		x := k / d.divisor
		if d.radix != 0 {
			x %= d.radix
		}
		digits[i] = x
	}
	switch t.ID {
	case vec.Decimal:
		return decimals(t, digits, int(t.Scale))
	case vec.UUID:
		return fixed(t, digits, func(x uint64) vec.Int128 { return vec.Int128{Hi: int64(scramble(x)), Lo: x} })
	case vec.Text:
		return keyTexts(t, digits)
	case vec.Bytea:
		return texts(t, digits, func(b []byte, x uint64) []byte { return binary.BigEndian.AppendUint64(b, x) })
	case vec.JSON:
		return texts(t, digits, func(b []byte, x uint64) []byte { return strconv.AppendUint(b, x, 10) })
	}
	return numbers(t, digits)
}

// keyTexts renders numbers as k000000042: text order is then number order up to a billion.
func keyTexts(t vec.Type, digits []uint64) *vec.Vector {
	return texts(t, digits, func(b []byte, x uint64) []byte {
		if x >= 1_000_000_000 {
			return fmt.Appendf(b, "k%d", x)
		}
		b = append(b, "k000000000"...)
		for i := len(b) - 1; x > 0; i-- {
			b[i] = byte('0' + x%10)
			x /= 10
		}
		return b
	})
}
