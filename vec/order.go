package vec

import (
	"bytes"
	"cmp"
	"slices"
)

// SortedIndex returns the rows of cols in ascending order of their values, column by column, NULLs last and equal
// rows in their given order. All have n rows.
func SortedIndex(cols []*Vector, n int) []int32 {
	index := make([]int32, n)
	for i := range index {
		index[i] = int32(i)
	}
	if len(cols) == 0 || n < 2 {
		return index
	}
	if keys, ok := orderKeys(cols[0]); ok && len(cols) == 1 {
		if slices.IsSorted(keys) {
			return index
		}
		return radixOrder(keys)
	}
	compare := make([]func(a, b int32) int, len(cols))
	for i, c := range cols {
		compare[i] = RowOrder(c)
	}
	slices.SortStableFunc(index, func(a, b int32) int {
		for _, c := range compare {
			if d := c(a, b); d != 0 {
				return d
			}
		}
		return 0
	})
	return index
}

// orderKeys returns unsigned keys that order as v does, when v has no NULL and integers of at most 64 bits.
func orderKeys(v *Vector) ([]uint64, bool) {
	if v.MayHaveNulls() {
		return nil, false
	}
	v = v.Flatten()
	keys := make([]uint64, v.N)
	switch v.Type.Phys() {
	case PhysBool:
		for i, x := range v.Data[:v.N] {
			keys[i] = uint64(x)
		}
	case PhysInt16:
		widen(keys, Cast[int16](v.Data))
	case PhysInt32:
		widen(keys, Cast[int32](v.Data))
	case PhysInt64:
		widen(keys, Cast[int64](v.Data))
	default:
		return nil, false
	}
	return keys, true
}

func widen[T int16 | int32 | int64](keys []uint64, values []T) {
	for i := range keys {
		keys[i] = uint64(int64(values[i])) ^ 1<<63
	}
}

// radixOrder returns the places of keys in ascending order, equal ones in their given order.
func radixOrder(keys []uint64) []int32 {
	type entry struct {
		key uint64
		row int32
	}
	from, to := make([]entry, len(keys)), make([]entry, len(keys))
	all, any := ^uint64(0), uint64(0)
	for i, k := range keys {
		from[i] = entry{k, int32(i)}
		all &= k
		any |= k
	}
	differs := all ^ any
	for shift := 0; shift < 64; shift += 8 {
		if differs>>shift&0xff == 0 {
			continue
		}
		var starts [256]int
		for i := range from {
			starts[from[i].key>>shift&0xff]++
		}
		sum := 0
		for b, n := range starts {
			starts[b] = sum
			sum += n
		}
		for _, e := range from {
			b := e.key >> shift & 0xff
			to[starts[b]] = e
			starts[b]++
		}
		from, to = to, from
	}
	index := make([]int32, len(keys))
	for i, e := range from {
		index[i] = e.row
	}
	return index
}

// RowOrder returns a comparison of two rows of v as [Compare] orders their values: NULL last, NaN above other floats.
func RowOrder(v *Vector) func(a, b int32) int {
	v = v.Flatten()
	var order func(a, b int32) int
	switch v.Type.Phys() {
	case PhysBool:
		order = func(a, b int32) int { return cmp.Compare(v.Data[a], v.Data[b]) }
	case PhysInt16:
		order = fixedOrder(Cast[int16](v.Data))
	case PhysInt32:
		order = fixedOrder(Cast[int32](v.Data))
	case PhysInt64:
		order = fixedOrder(Cast[int64](v.Data))
	case PhysFloat32:
		values := Cast[float32](v.Data)
		order = func(a, b int32) int { return CompareFloat(float64(values[a]), float64(values[b])) }
	case PhysFloat64:
		values := Cast[float64](v.Data)
		order = func(a, b int32) int { return CompareFloat(values[a], values[b]) }
	case PhysBytes:
		order = func(a, b int32) int {
			return bytes.Compare(v.Data[v.Offsets[a]:v.Offsets[a+1]], v.Data[v.Offsets[b]:v.Offsets[b+1]])
		}
	default:
		return func(a, b int32) int { return Compare(v.Value(int(a)), v.Value(int(b))) }
	}
	if !v.MayHaveNulls() {
		return order
	}
	return func(a, b int32) int {
		switch an, bn := v.IsNull(int(a)), v.IsNull(int(b)); {
		case an && bn:
			return 0
		case an:
			return 1
		case bn:
			return -1
		}
		return order(a, b)
	}
}

func fixedOrder[T int16 | int32 | int64](values []T) func(a, b int32) int {
	return func(a, b int32) int { return cmp.Compare(values[a], values[b]) }
}
