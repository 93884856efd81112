package maskindex

import (
	"encoding/binary"
	"math"

	"github.com/tidemarkdb/tidemark/sqlerr"
	"github.com/tidemarkdb/tidemark/vec"
	"github.com/zeebo/xxh3"
)

// Fingerprint appends the fingerprints of n rows to dst. cols are the key's columns, in order and of the layout's
// types, in any form. NULL in a key is an error that names column and row; dst is then as before.
func (l *Layout) Fingerprint(cols []*vec.Vector, n int, dst *Keys) error {
	if err := l.check(cols, n); err != nil {
		return err
	}
	if dst.Len() == 0 {
		dst.Reset(l.width)
	}
	if dst.Width() != l.width {
		return sqlerr.New(sqlerr.Internal, "%d-bit fingerprints appended to %d-bit ones", l.width, dst.Width())
	}
	at := dst.Len()
	dst.Hi = grow(dst.Hi, n)
	if l.width == Width64 {
		l.pack(cols, dst.Hi[at:])
		return nil
	}
	dst.Lo = grow(dst.Lo, n)
	l.hash(cols, dst.Hi[at:], dst.Lo[at:])
	return nil
}

// grow appends n zeros.
func grow(s []uint64, n int) []uint64 {
	at := len(s)
	if cap(s)-at < n {
		s = append(s, make([]uint64, n)...)
		return s
	}
	s = s[:at+n]
	clear(s[at:])
	return s
}

func (l *Layout) check(cols []*vec.Vector, n int) error {
	if len(cols) != len(l.columns) {
		return sqlerr.New(sqlerr.Internal, "a merge key of %d columns was given %d", len(l.columns), len(cols))
	}
	for c, v := range cols {
		col := l.columns[c]
		if v.N < n {
			return sqlerr.New(sqlerr.Internal, "key column %q holds %d of %d rows", col.Name, v.N, n)
		}
		if !v.Type.Equal(col.Type) && v.Type.ID != vec.Null {
			return sqlerr.New(sqlerr.Internal, "key column %q is %s and was given %s", col.Name, col.Type, v.Type)
		}
		if !v.MayHaveNulls() {
			continue
		}
		for i := range n {
			if v.IsNull(i) {
				return sqlerr.New(sqlerr.NotNullViolation, "merge key column %q is NULL at row %d", col.Name, i).
					Hintf("Every row needs a full key: correct the source, or choose key columns that are never NULL.")
			}
		}
	}
	return nil
}

// pack shifts the encoding of each column into dst, the first column ending in the highest bits.
func (l *Layout) pack(cols []*vec.Vector, dst []uint64) {
	for c, v := range cols {
		switch l.columns[c].Type.Phys() {
		case vec.PhysBool:
			packColumn(v, dst, 8, func(x byte) uint64 {
				if x != 0 {
					return 1
				}
				return 0
			})
		case vec.PhysInt16:
			packColumn(v, dst, 16, func(x int16) uint64 { return uint64(uint16(x) ^ 1<<15) })
		case vec.PhysInt32:
			packColumn(v, dst, 32, func(x int32) uint64 { return uint64(uint32(x) ^ 1<<31) })
		case vec.PhysInt64:
			packColumn(v, dst, 64, func(x int64) uint64 { return uint64(x) ^ 1<<63 })
		case vec.PhysFloat32:
			packColumn(v, dst, 32, func(x float32) uint64 { return ordered(uint64(floatBits32(x)), 31) })
		case vec.PhysFloat64:
			packColumn(v, dst, 64, func(x float64) uint64 { return ordered(floatBits64(x), 63) })
		}
	}
}

// floatBits64 returns the bits of a number such that equal numbers have equal ones: there is one zero and one NaN.
func floatBits64(x float64) uint64 {
	switch {
	case x == 0:
		return 0
	case x != x:
		return math.Float64bits(math.NaN())
	}
	return math.Float64bits(x)
}

func floatBits32(x float32) uint32 {
	switch {
	case x == 0:
		return 0
	case x != x:
		return math.Float32bits(float32(math.NaN()))
	}
	return math.Float32bits(x)
}

// ordered turns the bits of a float, whose sign is at the place given, into a number of the same order, NaN being the
// largest as in PostgreSQL.
func ordered(bits uint64, sign int) uint64 {
	if bits>>sign != 0 {
		return ^bits & (1<<sign - 1)
	}
	return bits | 1<<sign
}

// packColumn is the loop of pack. Flipping the sign bit, which code does, turns signed into unsigned order.
func packColumn[T vec.Fixed](v *vec.Vector, dst []uint64, bits int, code func(T) uint64) {
	switch v.Form {
	case vec.Constant:
		x := code(vec.Values[T](v)[0])
		for i := range dst {
			dst[i] = dst[i]<<bits | x
		}
	case vec.Dictionary:
		values := vec.Cast[T](v.Dict.Data)
		for i, at := range v.Index[:len(dst)] {
			dst[i] = dst[i]<<bits | code(values[at])
		}
	default:
		for i, x := range vec.Values[T](v)[:len(dst)] {
			dst[i] = dst[i]<<bits | code(x)
		}
	}
}

// hash fills hi and lo with the xxh3-128 of each row's encoding.
func (l *Layout) hash(cols []*vec.Vector, hi, lo []uint64) {
	if len(cols) == 1 && keyBytes(l.columns[0].Type) == variable {
		hashStrings(cols[0], hi, lo)
		return
	}
	var buf []byte
	for i := range hi {
		buf = buf[:0]
		for _, v := range cols {
			buf = appendValue(buf, v, i)
		}
		h := xxh3.Hash128(buf)
		hi[i], lo[i] = h.Hi, h.Lo
	}
}

// hashStrings hashes a single column of strings, whose bytes need no length: a dictionary's entries only once.
func hashStrings(v *vec.Vector, hi, lo []uint64) {
	if v.Form != vec.Dictionary || v.Dict.N > len(hi) {
		for i := range hi {
			h := xxh3.Hash128(v.Bytes(i))
			hi[i], lo[i] = h.Hi, h.Lo
		}
		return
	}
	entries := make([]xxh3.Uint128, v.Dict.N)
	for i := range entries {
		entries[i] = xxh3.Hash128(v.Dict.Bytes(i))
	}
	for i := range hi {
		h := entries[v.Index[i]]
		hi[i], lo[i] = h.Hi, h.Lo
	}
}

// appendValue appends the canonical encoding of row i, the same for equal values: fixed-width values little-endian,
// strings after their length.
func appendValue(buf []byte, v *vec.Vector, i int) []byte {
	p, i := v.Physical(i)
	phys := v.Type.Phys()
	switch phys {
	case vec.PhysBytes:
		b := p.Bytes(i)
		buf = binary.LittleEndian.AppendUint32(buf, uint32(len(b)))
		return append(buf, b...)
	case vec.PhysBool:
		if p.Data[i] != 0 {
			return append(buf, 1)
		}
		return append(buf, 0)
	case vec.PhysFloat32:
		return binary.LittleEndian.AppendUint32(buf, floatBits32(vec.Values[float32](p)[i]))
	case vec.PhysFloat64:
		return binary.LittleEndian.AppendUint64(buf, floatBits64(vec.Values[float64](p)[i]))
	case vec.PhysInterval: // a month equals 30 days
		span := vec.Values[vec.IntervalValue](p)[i].Span()
		return binary.LittleEndian.AppendUint64(binary.LittleEndian.AppendUint64(buf, span.Lo), uint64(span.Hi))
	}
	w := phys.Width()
	return append(buf, p.Data[i*w:(i+1)*w]...)
}
