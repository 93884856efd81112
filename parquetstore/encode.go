package parquetstore

import (
	"encoding/binary"

	"github.com/parquet-go/parquet-go/encoding/delta"
	"github.com/parquet-go/parquet-go/format"

	"github.com/tidemarkdb/tidemark/vec"
)

// storedForm says how our writer lays a vec form down in Parquet.
type storedForm struct {
	phys   format.Type
	length int // FIXED_LEN_BYTE_ARRAY
}

// formOf returns the stored form of a flat type.
func formOf(t vec.Type) storedForm {
	switch t.Phys() {
	case vec.PhysBool:
		return storedForm{phys: format.Boolean}
	case vec.PhysInt16, vec.PhysInt32:
		return storedForm{phys: format.Int32}
	case vec.PhysInt64:
		return storedForm{phys: format.Int64}
	case vec.PhysFloat32:
		return storedForm{phys: format.Float}
	case vec.PhysFloat64:
		return storedForm{phys: format.Double}
	case vec.PhysInt128:
		if t.ID == vec.Decimal {
			return storedForm{phys: format.FixedLenByteArray, length: decimalBytes(int(t.Precision))}
		}
		return storedForm{phys: format.FixedLenByteArray, length: 16}
	case vec.PhysInterval:
		return storedForm{phys: format.FixedLenByteArray, length: 16}
	}
	return storedForm{phys: format.ByteArray}
}

// decimalBytes returns the fewest bytes that hold every number of so many digits, as Iceberg asks for.
func decimalBytes(precision int) int {
	limit := vec.Int128{Lo: 1}
	for range precision {
		limit, _ = vec.MulInt128Checked(limit, vec.Int128{Lo: 10})
	}
	n := 1
	for n < 16 && vec.CompareInt128(limit, shiftLeft1(8*n-1)) > 0 {
		n++
	}
	return n
}

// shiftLeft1 returns 1<<n for n up to 126.
func shiftLeft1(n int) vec.Int128 {
	if n >= 64 {
		return vec.Int128{Hi: 1 << (n - 64)}
	}
	return vec.Int128{Lo: 1 << n}
}

// widenStored returns dense values in their stored width: SMALLINT becomes 4 bytes, wide numbers big-endian bytes.
func widenStored(t vec.Type, form storedForm, data []byte) []byte {
	switch {
	case t.ID == vec.Int16:
		return mapValues(vec.Cast[int16](data), func(x int16) int32 { return int32(x) })
	case t.Phys() == vec.PhysInt128:
		values := vec.Cast[vec.Int128](data)
		out := make([]byte, 0, len(values)*form.length)
		for _, x := range values {
			out = appendBigEndian(out, x, form.length)
		}
		return out
	}
	return data
}

// appendBigEndian appends the lowest length bytes of x, most significant first.
func appendBigEndian(dst []byte, x vec.Int128, length int) []byte {
	var b [16]byte
	binary.BigEndian.PutUint64(b[:], uint64(x.Hi))
	binary.BigEndian.PutUint64(b[8:], x.Lo)
	return append(dst, b[16-length:]...)
}

// values is a stretch of a column's dense values in stored form.
type values struct {
	form    storedForm
	data    []byte
	offsets []int32 // byte arrays
	codes   []int32 // dictionary codes, when the chunk has a dictionary
}

// slice returns the values from to to.
func (v *values) slice(from, to int) values {
	out := values{form: v.form, data: v.data}
	if v.codes != nil {
		out.codes = v.codes[from:to]
	}
	if v.offsets != nil {
		out.offsets = v.offsets[from : to+1]
		return out
	}
	width := v.width()
	out.data = v.data[from*width : to*width]
	return out
}

// width returns the bytes of one value of a form other than byte arrays. Booleans take one before they are packed.
func (v *values) width() int {
	switch v.form.phys {
	case format.Boolean:
		return 1
	case format.Int32, format.Float:
		return 4
	case format.Int64, format.Double:
		return 8
	}
	return v.form.length
}

// bytesBetween returns the plain size of values from to to.
func (v *values) bytesBetween(from, to int) int {
	if v.offsets != nil {
		return int(v.offsets[to]-v.offsets[from]) + 4*(to-from)
	}
	if v.form.phys == format.Boolean {
		return (to - from + 7) / 8
	}
	return v.width() * (to - from)
}

// encode appends the values to dst. width is that of dictionary codes.
func (v *values) encode(dst []byte, e format.Encoding, width uint) []byte {
	switch e {
	case format.RLEDictionary:
		return appendHybrid(append(dst, byte(width)), v.codes, width)
	case format.DeltaBinaryPacked:
		return appendDelta(dst, v)
	}
	switch v.form.phys {
	case format.Boolean:
		return appendBools(dst, v.data)
	case format.ByteArray:
		for i, o := range v.offsets[:len(v.offsets)-1] {
			s := v.data[o:v.offsets[i+1]]
			dst = binary.LittleEndian.AppendUint32(dst, uint32(len(s)))
			dst = append(dst, s...)
		}
		return dst
	}
	return append(dst, v.data...)
}

func appendDelta(dst []byte, v *values) []byte {
	var e delta.BinaryPackedEncoding
	var out []byte
	if v.form.phys == format.Int32 {
		out, _ = e.EncodeInt32(nil, vec.Cast[int32](v.data)) // fails for no input
	} else {
		out, _ = e.EncodeInt64(nil, vec.Cast[int64](v.data))
	}
	return append(dst, out...)
}

// appendBools packs bytes of 0 and 1 to bits, least significant first.
func appendBools(dst, bools []byte) []byte {
	for len(bools) >= 8 {
		// Gathers the low bits of 8 bytes in the top byte of a product.
		w := binary.LittleEndian.Uint64(bools) & 0x0101010101010101
		dst = append(dst, byte(w*0x0102040810204080>>56))
		bools = bools[8:]
	}
	if len(bools) > 0 {
		var last byte
		for i, b := range bools {
			last |= b & 1 << i
		}
		dst = append(dst, last)
	}
	return dst
}
