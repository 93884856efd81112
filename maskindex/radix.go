package maskindex

import (
	"cmp"
	"slices"
)

// item is the high half of a key and its place in the batch it came from.
type item struct {
	hi  uint64
	idx uint32
}

const (
	digitBits = 8
	digits    = 64 / digitBits
	// Below this many items a comparison sort beats the histograms of the radix sort.
	radixMin = 192
)

// sortKeys returns the keys in ascending (hi, lo) order, equal keys in their order in the batch.
func sortKeys(keys *Keys) []item {
	items := make([]item, len(keys.Hi))
	sorted := true
	for i, h := range keys.Hi {
		items[i] = item{h, uint32(i)}
		sorted = sorted && (i == 0 || keys.Hi[i-1] <= h)
	}
	if !sorted {
		items = radixSort(items, func(it *item) uint64 { return it.hi }, make([]item, len(items)))
	}
	if keys.Lo != nil {
		sortTies(items, keys.Lo)
	}
	return items
}

// sortTies orders items of equal hi by lo. Such ties are rare in xxh3, so they are sorted apart.
func sortTies(items []item, lo []uint64) {
	for i := 1; i < len(items); i++ {
		if items[i].hi != items[i-1].hi {
			continue
		}
		j := i + 1
		for j < len(items) && items[j].hi == items[i].hi {
			j++
		}
		slices.SortStableFunc(items[i-1:j], func(a, b item) int { return cmp.Compare(lo[a.idx], lo[b.idx]) })
		i = j
	}
}

// radixSort sorts a by key, stably, with scratch of the same length, and returns the sorted slice, which is one of
// the two. Digits in which all keys agree cost nothing, so narrow keys take few passes.
func radixSort[T any](a []T, key func(*T) uint64, scratch []T) []T {
	if len(a) < radixMin {
		slices.SortStableFunc(a, func(x, y T) int { return cmp.Compare(key(&x), key(&y)) })
		return a
	}
	var counts [digits][1 << digitBits]uint32
	for i := range a {
		k := key(&a[i])
		for d := range digits {
			counts[d][uint8(k>>(d*digitBits))]++
		}
	}
	for d := range digits {
		shift := d * digitBits
		c := &counts[d]
		if c[uint8(key(&a[0])>>shift)] == uint32(len(a)) {
			continue
		}
		sum := uint32(0)
		for i := range c {
			c[i], sum = sum, sum+c[i]
		}
		for i := range a {
			p := &c[uint8(key(&a[i])>>shift)]
			scratch[*p] = a[i]
			*p++
		}
		a, scratch = scratch, a
	}
	return a
}

func sortUint64(a, scratch []uint64) []uint64 {
	return radixSort(a, func(v *uint64) uint64 { return *v }, scratch)
}
