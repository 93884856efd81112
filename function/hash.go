package function

import (
	"math"
	"math/bits"

	"github.com/zeebo/xxh3"

	"github.com/tidemarkdb/tidemark/vec"
)

const (
	hashMultiplier = 0x9E3779B97F4A7C15 // 2^64 / golden ratio
	hashOfNull     = 0xA24BAED4963EE407
)

// mix spreads x over 64 bits: both halves of a 128-bit product.
func mix(x uint64) uint64 {
	hi, lo := bits.Mul64(x^0xE7037ED1A0B428DB, hashMultiplier)
	return hi ^ lo
}

// HashInto writes a hash of each of v's n rows into dst: equal rows of one type, in whatever form, hash alike; NULL,
// NaN and zero each hash alike whatever their bits.
func HashInto(v *vec.Vector, n int, dst []uint64) {
	dst = dst[:n]
	switch {
	case n == 0:
		return
	case v.Type.ID == vec.Null || v.Form == vec.Constant:
		h := uint64(hashOfNull)
		if !v.IsNull(0) {
			var one [1]uint64
			hashValues(v, 1, one[:])
			h = one[0]
		}
		for i := range dst {
			dst[i] = h
		}
		return
	case v.Form == vec.Dictionary && v.Dict.N <= n:
		entries := make([]uint64, v.Dict.N)
		HashInto(v.Dict, v.Dict.N, entries)
		if len(entries) > 0 {
			for i, x := range v.Index[:n] {
				dst[i] = entries[x]
			}
		}
		hashNulls(v.Valid, dst)
		return
	case v.Form == vec.Dictionary && v.Type.Phys() == vec.PhysBytes && !v.MayHaveNulls():
		d := v.Dict
		for i, x := range v.Index[:n] {
			dst[i] = xxh3.Hash(d.Data[d.Offsets[x]:d.Offsets[x+1]])
		}
		return
	}
	v = v.Flatten()
	hashValues(v, n, dst)
	hashNulls(v.Valid, dst)
}

func hashNulls(valid vec.Bitmap, dst []uint64) {
	if valid == nil {
		return
	}
	for i := range dst {
		if !valid.Get(i) {
			dst[i] = hashOfNull
		}
	}
}

// HashCombine folds the hash of each of v's n rows into those of the columns before it in dst; the order of columns
// counts.
func HashCombine(v *vec.Vector, n int, dst []uint64) {
	more := make([]uint64, n)
	HashInto(v, n, more)
	CombineHashes(dst[:n], more)
}

// CombineHashes folds the hash of each row's next column into dst, as HashCombine does.
func CombineHashes(dst, more []uint64) {
	more = more[:len(dst)]
	for i, h := range more {
		dst[i] = mix(bits.RotateLeft64(dst[i], 23) ^ h)
	}
}

// hashValues hashes n physical values of a vector, whatever NULL rows hold.
func hashValues(v *vec.Vector, n int, dst []uint64) {
	switch v.Type.Phys() {
	case vec.PhysBool:
		for i, x := range v.Data[:n] {
			dst[i] = mix(uint64(x))
		}
	case vec.PhysInt16:
		hashInts(vec.Cast[int16](v.Data)[:n], dst)
	case vec.PhysInt32:
		hashInts(vec.Cast[int32](v.Data)[:n], dst)
	case vec.PhysInt64:
		hashInts(vec.Cast[int64](v.Data)[:n], dst)
	case vec.PhysFloat32:
		for i, x := range vec.Cast[float32](v.Data)[:n] {
			dst[i] = mix(floatBits(float64(x)))
		}
	case vec.PhysFloat64:
		for i, x := range vec.Cast[float64](v.Data)[:n] {
			dst[i] = mix(floatBits(x))
		}
	case vec.PhysInt128:
		for i, x := range vec.Cast[vec.Int128](v.Data)[:n] {
			dst[i] = mix(mix(x.Lo) ^ uint64(x.Hi))
		}
	case vec.PhysInterval:
		for i, x := range vec.Cast[vec.IntervalValue](v.Data)[:n] {
			s := x.Span() // equal intervals may differ in their parts: 1 mon = 30 days
			dst[i] = mix(mix(s.Lo) ^ uint64(s.Hi))
		}
	case vec.PhysBytes:
		for i := range dst[:n] {
			dst[i] = xxh3.Hash(v.Data[v.Offsets[i]:v.Offsets[i+1]])
		}
	case vec.PhysList:
		hashLists(v, n, dst)
	case vec.PhysStruct:
		for i := range dst[:n] {
			dst[i] = hashMultiplier
		}
		for _, k := range v.Kids {
			HashCombine(k, n, dst[:n])
		}
	}
}

func hashInts[T int16 | int32 | int64](values []T, dst []uint64) {
	dst = dst[:len(values)]
	for i, x := range values {
		dst[i] = mix(uint64(int64(x)))
	}
}

// floatBits gives every NaN one pattern and both zeros another.
func floatBits(x float64) uint64 {
	switch {
	case x == 0:
		return 0
	case x != x:
		return 0x7FF8000000000001
	}
	return math.Float64bits(x)
}

func hashLists(v *vec.Vector, n int, dst []uint64) {
	first, last := v.Offsets[0], v.Offsets[n]
	elements := make([]uint64, last-first)
	HashInto(v.Kids[0].Slice(int(first), int(last-first)), len(elements), elements)
	for i := range dst[:n] {
		h := uint64(hashMultiplier)
		for _, e := range elements[v.Offsets[i]-first : v.Offsets[i+1]-first] {
			h = mix(bits.RotateLeft64(h, 23) ^ e)
		}
		dst[i] = h
	}
}
