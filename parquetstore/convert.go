package parquetstore

import (
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"math/bits"

	"github.com/tidemarkdb/tidemark/vec"
)

// stored holds decoded values before conversion: n values of the leaf's storedWidth in data, or byte strings.
type stored struct {
	n       int
	data    []byte
	offsets []int32 // byte arrays only
}

var errTooLarge = errors.New("a value is outside the range of its type")

// convert returns v's values as a dense, flat vector of the leaf's type. It takes v over.
func (l *leaf) convert(v stored) (*vec.Vector, error) {
	out := &vec.Vector{Type: l.typ, N: v.n, Data: v.data, Offsets: v.offsets}
	var err error
	switch l.conv {
	case keep:
	case narrow16:
		out.Data, err = mapChecked(vec.Cast[int32](v.data), func(x int32) (int16, bool) { return int16(x), int32(int16(x)) == x })
	case unsigned32:
		out.Data = mapValues(vec.Cast[int32](v.data), func(x int32) int64 { return int64(uint32(x)) })
	case unsigned64:
		out.Data = mapValues(vec.Cast[int64](v.data), func(x int64) vec.Int128 { return vec.Int128{Lo: uint64(x)} })
	case widen64:
		out.Data = mapValues(vec.Cast[int32](v.data), func(x int32) int64 { return int64(x) })
	case millis32:
		out.Data = mapValues(vec.Cast[int32](v.data), func(x int32) int64 { return int64(x) * 1000 })
	case millis64:
		out.Data, err = mapChecked(vec.Cast[int64](v.data), func(x int64) (int64, bool) { return x * 1000, x*1000/1000 == x })
	case nanos64:
		out.Data = mapValues(vec.Cast[int64](v.data), floorMicros)
	case impala96:
		out.Data, err = mapBytes(v, l, func(b []byte) (int64, bool) { return julianMicros(b) })
	case bigEndian64:
		out.Data, err = mapBytes(v, l, func(b []byte) (int64, bool) {
			x, ok := bigEndianInt128(b)
			narrow, fits := x.Int64()
			return narrow, ok && fits
		})
		out.Offsets = nil
	case bigEndian128:
		out.Data, err = mapBytes(v, l, bigEndianInt128)
		out.Offsets = nil
	case int32To128:
		out.Data = mapValues(vec.Cast[int32](v.data), func(x int32) vec.Int128 { return vec.Int128From(int64(x)) })
	case int64To128:
		out.Data = mapValues(vec.Cast[int64](v.data), vec.Int128From)
	case uuidBytes:
		out.Data, err = mapBytes(v, l, bigEndianInt128)
	case intervalMillis:
		out.Data, err = mapBytes(v, l, parquetInterval)
	case intervalMicros:
	case half:
		out.Data, err = mapBytes(v, l, func(b []byte) (float32, bool) { return halfFloat(binary.LittleEndian.Uint16(b)), true })
	case fixedBytes:
		if int64(v.n)*int64(l.length) > vec.MaxBytes {
			return nil, errors.New("a page holds more than 2 GiB of strings")
		}
		out.Offsets = make([]int32, v.n+1)
		for i := range out.Offsets {
			out.Offsets[i] = int32(i * l.length)
		}
	}
	if err != nil {
		return nil, fmt.Errorf("column %q: %w", l.path, err)
	}
	return out, nil
}

func mapValues[From, To vec.Fixed](in []From, f func(From) To) []byte {
	out := make([]To, len(in))
	for i, x := range in {
		out[i] = f(x)
	}
	return vec.AsBytes(out)
}

func mapChecked[From, To vec.Fixed](in []From, f func(From) (To, bool)) ([]byte, error) {
	out := make([]To, len(in))
	for i, x := range in {
		y, ok := f(x)
		if !ok {
			return nil, errTooLarge
		}
		out[i] = y
	}
	return vec.AsBytes(out), nil
}

// mapBytes converts values of the leaf's fixed width, or byte strings, one by one.
func mapBytes[To vec.Fixed](v stored, l *leaf, f func([]byte) (To, bool)) ([]byte, error) {
	out := make([]To, v.n)
	width := l.storedWidth()
	for i := range out {
		var b []byte
		if v.offsets != nil {
			b = v.data[v.offsets[i]:v.offsets[i+1]]
		} else {
			b = v.data[i*width : (i+1)*width]
		}
		y, ok := f(b)
		if !ok {
			return nil, errTooLarge
		}
		out[i] = y
	}
	return vec.AsBytes(out), nil
}

func floorMicros(nanos int64) int64 {
	q := nanos / 1000
	if nanos%1000 < 0 {
		q--
	}
	return q
}

// julianMicros reads an INT96 timestamp: 8 bytes of nanoseconds in the day, 4 bytes of Julian day number.
func julianMicros(b []byte) (int64, bool) {
	const unixEpochJulian, dayMicros = 2440588, 24 * 60 * 60 * 1_000_000
	day := int64(int32(binary.LittleEndian.Uint32(b[8:]))) - unixEpochJulian
	of := floorMicros(int64(binary.LittleEndian.Uint64(b)))
	hi, lo := bits.Mul64(uint64(max(day, -day)), dayMicros)
	if hi != 0 || lo > math.MaxInt64/2 {
		return 0, false
	}
	return day*dayMicros + of, of > math.MinInt64/2 && of < math.MaxInt64/2
}

// bigEndianInt128 reads a two's complement number of any length that fits.
func bigEndianInt128(b []byte) (vec.Int128, bool) {
	var x vec.Int128
	if len(b) == 0 {
		return x, true
	}
	sign := int64(int8(b[0]) >> 7)
	for len(b) > 16 {
		if b[0] != byte(sign) {
			return x, false
		}
		b = b[1:]
	}
	x = vec.Int128{Hi: sign, Lo: uint64(sign)}
	for _, c := range b {
		x.Hi = x.Hi<<8 | int64(x.Lo>>56)
		x.Lo = x.Lo<<8 | uint64(c)
	}
	return x, x.Hi>>63 == sign
}

func parquetInterval(b []byte) (vec.IntervalValue, bool) {
	v := vec.IntervalValue{
		Months: int32(binary.LittleEndian.Uint32(b)),
		Days:   int32(binary.LittleEndian.Uint32(b[4:])),
		Micros: int64(binary.LittleEndian.Uint32(b[8:])) * 1000,
	}
	return v, v.Months >= 0 && v.Days >= 0 // both are unsigned in the file
}

// halfFloat widens an IEEE 754 binary16.
func halfFloat(h uint16) float32 {
	sign, exponent, fraction := uint32(h>>15)<<31, uint32(h>>10&31), uint32(h&1023)
	switch exponent {
	case 31:
		return math.Float32frombits(sign | 0xff<<23 | fraction<<13)
	case 0:
		f := float32(fraction) / (1 << 24)
		return math.Float32frombits(sign | math.Float32bits(f))
	}
	return math.Float32frombits(sign | (exponent+112)<<23 | fraction<<13)
}
