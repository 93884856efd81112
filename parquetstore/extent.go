package parquetstore

import (
	"bytes"
	"encoding/binary"
	"math"

	"github.com/zeebo/xxh3"

	"github.com/tidemarkdb/tidemark/tablet"
	"github.com/tidemarkdb/tidemark/vec"
)

// extent is the range of dense values as the writer gathers it, in the vec form of the column.
type extent struct {
	known    bool
	nans     int64
	min, max vec.Value
}

// extentOf finds the range of the n values of a column from place from on. Intervals and JSON have none: nothing is
// compared with them.
func extentOf(b *columnBuffer, from, n int) extent {
	if n == 0 {
		return extent{}
	}
	switch b.phys {
	case vec.PhysBool:
		return intExtent(b.typ, vec.Cast[byte](b.data)[from:from+n])
	case vec.PhysInt16:
		return intExtent(b.typ, vec.Cast[int16](b.data)[from:from+n])
	case vec.PhysInt32:
		return intExtent(b.typ, vec.Cast[int32](b.data)[from:from+n])
	case vec.PhysInt64:
		return intExtent(b.typ, vec.Cast[int64](b.data)[from:from+n])
	case vec.PhysFloat32:
		return floatExtent(b.typ, vec.Cast[float32](b.data)[from:from+n])
	case vec.PhysFloat64:
		return floatExtent(b.typ, vec.Cast[float64](b.data)[from:from+n])
	case vec.PhysInt128:
		return wideExtent(b.typ, vec.Cast[vec.Int128](b.data)[from:from+n])
	case vec.PhysBytes:
		if b.typ.ID != vec.JSON {
			return bytesExtent(b.typ, b.data, b.offsets[from:from+n+1])
		}
	}
	return extent{}
}

func intExtent[T byte | int16 | int32 | int64](t vec.Type, values []T) extent {
	low, high := values[0], values[0]
	for _, x := range values {
		low, high = min(low, x), max(high, x)
	}
	return extent{known: true, min: vec.IntValue(t, int64(low)), max: vec.IntValue(t, int64(high))}
}

func floatExtent[T float32 | float64](t vec.Type, values []T) extent {
	low, high := T(math.Inf(1)), T(math.Inf(-1))
	nans := int64(0)
	for _, x := range values {
		if x != x {
			nans++
			continue
		}
		low, high = min(low, x), max(high, x)
	}
	if nans == int64(len(values)) {
		return extent{nans: nans}
	}
	// Zeros of either sign are equal in SQL but not to every reader: the bounds must take in both.
	if low == 0 {
		low = T(math.Copysign(0, -1))
	}
	if high == 0 {
		high = 0
	}
	return extent{known: true, nans: nans, min: vec.FloatValue(t, float64(low)), max: vec.FloatValue(t, float64(high))}
}

func wideExtent(t vec.Type, values []vec.Int128) extent {
	less := func(a, b vec.Int128) bool { return vec.CompareInt128(a, b) < 0 }
	if t.ID == vec.UUID {
		less = func(a, b vec.Int128) bool {
			return uint64(a.Hi) < uint64(b.Hi) || a.Hi == b.Hi && a.Lo < b.Lo
		}
	}
	low, high := values[0], values[0]
	for _, x := range values[1:] {
		if less(x, low) {
			low = x
		}
		if less(high, x) {
			high = x
		}
	}
	return extent{known: true, min: vec.Int128Value(t, low), max: vec.Int128Value(t, high)}
}

func bytesExtent(t vec.Type, data []byte, offsets []int32) extent {
	low := data[offsets[0]:offsets[1]]
	high := low
	// Most strings lie inside the range by their first bytes.
	first, last := prefix(low), prefix(high)
	for i := 1; i < len(offsets)-1; i++ {
		s := data[offsets[i]:offsets[i+1]]
		switch p := prefix(s); {
		case p > first && p < last:
		case p <= first && bytes.Compare(s, low) < 0:
			low, first = s, p
		case p >= last && bytes.Compare(s, high) > 0:
			high, last = s, p
		}
	}
	return extent{known: true, min: vec.StringValue(t, string(low)), max: vec.StringValue(t, string(high))}
}

// prefix returns a number that is ordered as the first eight bytes of strings are.
func prefix(s []byte) uint64 {
	if len(s) >= 8 {
		return binary.BigEndian.Uint64(s)
	}
	p := uint64(0)
	for i, c := range s {
		p |= uint64(c) << (56 - 8*i)
	}
	return p
}

// merge widens e by o.
func (e *extent) merge(o extent) {
	e.nans += o.nans
	if !o.known {
		return
	}
	if !e.known {
		e.known, e.min, e.max = true, o.min, o.max
		return
	}
	if vec.Compare(o.min, e.min) < 0 {
		e.min = o.min
	}
	if vec.Compare(o.max, e.max) > 0 {
		e.max = o.max
	}
}

// encodeBound returns a bound in the form of Parquet's statistics.
func encodeBound(t vec.Type, v vec.Value) []byte {
	switch t.Phys() {
	case vec.PhysBool:
		return []byte{byte(v.I)}
	case vec.PhysInt16, vec.PhysInt32:
		return binary.LittleEndian.AppendUint32(nil, uint32(v.I))
	case vec.PhysInt64:
		return binary.LittleEndian.AppendUint64(nil, uint64(v.I))
	case vec.PhysFloat32:
		return binary.LittleEndian.AppendUint32(nil, math.Float32bits(float32(v.F)))
	case vec.PhysFloat64:
		return binary.LittleEndian.AppendUint64(nil, math.Float64bits(v.F))
	case vec.PhysInt128:
		return appendBigEndian(nil, v.Int128(), formOf(t).length)
	}
	return []byte(v.S)
}

// tabletBounds returns the range in the form of tablet statistics. UUIDs have none: their order is unsigned, that of
// wide bounds is signed.
func (e *extent) tabletBounds(t vec.Type) (low, high tablet.Bound) {
	if !e.known {
		return
	}
	switch t.Phys() {
	case vec.PhysFloat32, vec.PhysFloat64:
		return tablet.MakeFloat(e.min.F, true), tablet.MakeFloat(e.max.F, true)
	case vec.PhysInt128:
		if t.ID == vec.UUID {
			return
		}
		return tablet.MakeInt128(e.min.Hi, uint64(e.min.I), true), tablet.MakeInt128(e.max.Hi, uint64(e.max.I), true)
	case vec.PhysBytes:
		return tablet.CutLower(e.min.S), tablet.CutUpper(e.max.S)
	}
	return tablet.MakeInt(e.min.I, true), tablet.MakeInt(e.max.I, true)
}

// sketchValues counts dense values in.
func sketchValues(s *Sketch, v *values) {
	if v.offsets != nil {
		for i, o := range v.offsets[:len(v.offsets)-1] {
			s.add(xxh3.Hash(v.data[o:v.offsets[i+1]]))
		}
		return
	}
	switch width := v.width(); width {
	case 4:
		for _, x := range vec.Cast[int32](v.data) {
			s.add(mix64(uint64(x)))
		}
	case 8:
		for _, x := range vec.Cast[int64](v.data) {
			s.add(mix64(uint64(x)))
		}
	default:
		for b := v.data; len(b) >= width; b = b[width:] {
			s.add(xxh3.Hash(b[:width]))
		}
	}
}
