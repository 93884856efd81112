package generator

import (
	"encoding/binary"
	"fmt"

	"github.com/tidemarkdb/tidemark/vec"
)

// Ranges of random values and the times that temporal ones count from.
const (
	epochMicros  = 1_704_067_200_000_000             // 2024-01-01 00:00:00
	epochDay     = epochMicros / dayMicros           //
	dayMicros    = 24 * 60 * 60 * 1_000_000          //
	updatedEpoch = 366 * dayMicros                   // updated columns count from a year after created ones
	smallValues  = 1_000                             // SMALLINT
	mediumValues = 100_000                           // INTEGER
	largeValues  = 1_000_000_000                     // BIGINT
	cents        = 1_000_000                         // floats: this many hundredths
	decimalCap   = 7                                 // NUMERIC: at most this many digits
	spanMicros   = 2 * 365 * dayMicros / 1000 * 1000 // TIMESTAMP: two years, to the millisecond
)

func fixed[T vec.Fixed](t vec.Type, numbers []uint64, f func(uint64) T) *vec.Vector {
	out := make([]T, len(numbers))
	for i, x := range numbers {
		out[i] = f(x)
	}
	return vec.FlatOf(t, out, nil)
}

// texts renders numbers as byte strings. One batch stays far below vec.MaxBytes: at most 64K values of tens of bytes.
func texts(t vec.Type, numbers []uint64, f func([]byte, uint64) []byte) *vec.Vector {
	offsets := make([]int32, 1, len(numbers)+1)
	data := make([]byte, 0, len(numbers)*12)
	for _, x := range numbers {
		data = f(data, x)
		offsets = append(offsets, int32(len(data)))
	}
	return vec.FlatBytes(t, offsets, data, nil)
}

// decimals returns numbers times 10^shift as unscaled values.
func decimals(t vec.Type, numbers []uint64, shift int) *vec.Vector {
	if t.Phys() == vec.PhysInt64 {
		factor := pow10(shift)
		return fixed(t, numbers, func(x uint64) int64 { return int64(x * factor) })
	}
	low, high := vec.Int128From(int64(pow10(min(shift, 18)))), vec.Int128From(int64(pow10(max(shift-18, 0))))
	if shift > 36 { // 10^20 and above does not fit the second factor; such a column holds at most one digit
		low, _ = vec.MulInt128Checked(low, vec.Int128From(int64(pow10(shift-36))))
		high = vec.Int128From(int64(pow10(18)))
	}
	return fixed(t, numbers, func(x uint64) vec.Int128 {
		product, _ := vec.MulInt128Checked(vec.Int128From(int64(x)), low)
		product, _ = vec.MulInt128Checked(product, high)
		return product
	})
}

// numbers returns numbers themselves as values of a numeric or temporal type.
func numbers(t vec.Type, xs []uint64) *vec.Vector {
	switch t.ID {
	case vec.Bool:
		out := make([]byte, len(xs))
		for i, x := range xs {
			out[i] = byte(x & 1)
		}
		return vec.FlatOf(t, out, nil)
	case vec.Int16:
		return fixed(t, xs, func(x uint64) int16 { return int16(x & 0x7fff) })
	case vec.Int32, vec.Date:
		return fixed(t, xs, func(x uint64) int32 { return int32(x & 0x7fffffff) })
	case vec.Float32:
		return fixed(t, xs, func(x uint64) float32 { return float32(x) })
	case vec.Float64:
		return fixed(t, xs, func(x uint64) float64 { return float64(x) })
	case vec.Interval:
		return fixed(t, xs, func(x uint64) vec.IntervalValue { return vec.IntervalValue{Micros: int64(x)} })
	case vec.TimeTZ:
		return fixed(t, xs, func(x uint64) int64 { return vec.MakeTimeTZ(int64(x%dayMicros), 0) })
	}
	return fixed(t, xs, func(x uint64) int64 { return int64(x) })
}

// exact makes the values of named roles: plain numbers, or for temporal types microseconds after 2024.
func exact(t vec.Type, xs []uint64) *vec.Vector {
	switch t.ID {
	case vec.Decimal:
		room := pow10(min(int(t.Precision-t.Scale), 18))
		within := make([]uint64, len(xs))
		for i, x := range xs {
			within[i] = x % room
		}
		return decimals(t, within, int(t.Scale))
	case vec.Date:
		return fixed(t, xs, func(x uint64) int32 { return int32(epochDay + x/dayMicros%2_000_000) })
	case vec.Time:
		return fixed(t, xs, func(x uint64) int64 { return int64(x % dayMicros) })
	case vec.Timestamp, vec.TimestampTZ:
		return fixed(t, xs, func(x uint64) int64 { return int64(epochMicros + x%(1<<61)) })
	}
	return numbers(t, xs)
}

// random makes values of any type from random numbers.
func random(t vec.Type, xs []uint64) *vec.Vector {
	switch t.ID {
	case vec.Int16:
		return fixed(t, xs, func(x uint64) int16 { return int16(x % smallValues) })
	case vec.Int32:
		return fixed(t, xs, func(x uint64) int32 { return int32(x % mediumValues) })
	case vec.Int64:
		return fixed(t, xs, func(x uint64) int64 { return int64(x % largeValues) })
	case vec.Float32:
		return fixed(t, xs, func(x uint64) float32 { return float32(x%cents) / 100 })
	case vec.Float64:
		return fixed(t, xs, func(x uint64) float64 { return float64(x%cents) / 100 })
	case vec.Decimal:
		room := pow10(min(int(t.Precision), decimalCap))
		within := make([]uint64, len(xs))
		for i, x := range xs {
			within[i] = x % room
		}
		return decimals(t, within, 0)
	case vec.Date:
		return fixed(t, xs, func(x uint64) int32 { return int32(epochDay + x%730) })
	case vec.TimeTZ: // of whole hours within a day either way
		return fixed(t, xs, func(x uint64) int64 { return vec.MakeTimeTZ(int64(x%dayMicros), (int64(x>>40%25)-12)*3600) })
	case vec.Time:
		return fixed(t, xs, func(x uint64) int64 { return int64(x % dayMicros) })
	case vec.Timestamp, vec.TimestampTZ:
		return fixed(t, xs, func(x uint64) int64 { return int64(epochMicros + x%spanMicros/1000*1000) })
	case vec.Interval:
		return fixed(t, xs, func(x uint64) vec.IntervalValue {
			return vec.IntervalValue{Months: int32(x % 12), Days: int32(x >> 8 % 28), Micros: int64(x >> 16 % dayMicros)}
		})
	case vec.UUID: // version 4, RFC 9562
		return fixed(t, xs, func(x uint64) vec.Int128 {
			return vec.Int128{Hi: int64(x&^0xf000 | 0x4000), Lo: scramble(x)&^(3<<62) | 1<<63}
		})
	case vec.Text:
		return texts(t, xs, appendWord)
	case vec.Bytea:
		return texts(t, xs, func(b []byte, x uint64) []byte { return binary.BigEndian.AppendUint64(b, x) })
	case vec.JSON:
		return texts(t, xs, func(b []byte, x uint64) []byte {
			return fmt.Appendf(b, `{"n":%d,"ok":%t,"tag":"%s"}`, x%smallValues, x>>10&1 == 0, appendWord(nil, scramble(x)))
		})
	case vec.Array:
		return arrays(t, xs)
	case vec.Struct:
		out := &vec.Vector{Type: t, N: len(xs)}
		for i, f := range t.Fields {
			out.Kids = append(out.Kids, random(f.Type, rehash(xs, uint64(i))))
		}
		return out
	case vec.Null:
		return vec.NullOf(t, len(xs))
	}
	return numbers(t, xs)
}

func rehash(xs []uint64, salt uint64) []uint64 {
	out := make([]uint64, len(xs))
	for i, x := range xs {
		out[i] = hash(x, salt, 3)
	}
	return out
}

// arrays returns arrays of none to three elements.
func arrays(t vec.Type, xs []uint64) *vec.Vector {
	out := &vec.Vector{Type: t, N: len(xs), Offsets: make([]int32, 1, len(xs)+1)}
	var elements []uint64
	for _, x := range xs {
		for e := range x % 4 {
			elements = append(elements, hash(x, e, 2))
		}
		out.Offsets = append(out.Offsets, int32(len(elements)))
	}
	out.Kids = []*vec.Vector{random(*t.Elem, elements)}
	return out
}

// appendWord appends four syllables and a number, such as kamolitu-407.
func appendWord(b []byte, x uint64) []byte {
	const consonants, vowels = "bdfgklmnprstvzhj", "aeiou"
	for range 4 {
		b = append(b, consonants[x&15], vowels[x>>4&7%5])
		x >>= 7
	}
	n := x % 1000
	return append(b, '-', byte('0'+n/100), byte('0'+n/10%10), byte('0'+n%10))
}
