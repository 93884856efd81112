package parquetstore

import (
	"bytes"
	"slices"

	"github.com/parquet-go/parquet-go/format"
	"github.com/zeebo/xxh3"

	"github.com/tidemarkdb/tidemark/vec"
)

// Limits of a dictionary. A code must be worth it: reading through a dictionary larger than the cache costs more than
// reading plain values.
const (
	firstSlots     = 1024
	dictSample     = 4096     // values looked at before the rest
	dictSampleMost = 2048     // distinct ones among them at most
	dictMostValues = 1 << 16  // entries
	dictMostBytes  = 1 << 20  // of all entries
	dictMostShare  = 3.0 / 10 // entries a value
)

// dictionaryBuilder gives every distinct value of a chunk a code in order of first appearance.
type dictionaryBuilder struct {
	slots   []int32 // code+1, 0 when free; a power of two
	hashes  []uint64
	codes   []int32
	entries values
}

// build encodes all n values as codes and reports whether a dictionary pays. It uses the memory of the one before.
func (d *dictionaryBuilder) build(v *values, n int) bool {
	switch v.form.phys {
	case format.Int32, format.Int64, format.Float, format.Double, format.ByteArray:
	default:
		return false
	}
	if n < 2 {
		return false
	}
	d.start(v, n)
	for _, to := range []int{min(dictSample, n), n} {
		var ok bool
		switch {
		case v.offsets != nil:
			ok = d.addBytes(v, to)
		case v.width() == 4:
			ok = addFixed(d, vec.Cast[int32](v.data)[:to])
		default:
			ok = addFixed(d, vec.Cast[int64](v.data)[:to])
		}
		entries := len(d.hashes)
		if !ok || to == dictSample && entries > dictSampleMost || to == n && float64(entries) > max(dictMostShare*float64(n), 1) {
			return false
		}
	}
	return true
}

// start empties the builder for n values of v's form.
func (d *dictionaryBuilder) start(v *values, n int) {
	if cap(d.slots) < firstSlots {
		d.slots = make([]int32, firstSlots)
	}
	d.slots = d.slots[:firstSlots]
	clear(d.slots)
	d.hashes, d.codes = d.hashes[:0], slices.Grow(d.codes[:0], n)
	d.entries = values{form: v.form, data: d.entries.data[:0], offsets: d.entries.offsets[:0]}
	if v.offsets != nil {
		d.entries.offsets = append(d.entries.offsets, 0)
	}
}

// size returns the number of entries.
func (d *dictionaryBuilder) size() int { return len(d.hashes) }

// addFixed codes the values not coded yet; false when there are too many distinct ones.
func addFixed[T int32 | int64](d *dictionaryBuilder, all []T) bool {
	entries := vec.Cast[T](d.entries.data)
	mask := uint64(len(d.slots) - 1)
	for i, x := range all[len(d.codes):] {
		if i > 0 && x == all[len(d.codes)-1] {
			d.codes = append(d.codes, d.codes[len(d.codes)-1])
			continue
		}
		h := mix64(uint64(x))
		for at := h & mask; ; at = (at + 1) & mask {
			code := d.slots[at]
			if code == 0 {
				if len(d.hashes) >= dictMostValues {
					return false
				}
				one := [1]T{x}
				d.entries.data = append(d.entries.data, vec.AsBytes(one[:])...)
				entries = vec.Cast[T](d.entries.data)
				mask = d.insert(at, h)
				break
			}
			if entries[code-1] == x {
				d.codes = append(d.codes, code-1)
				break
			}
		}
	}
	return true
}

// insert gives a new entry, stored already, the next code, and returns the new slot mask.
func (d *dictionaryBuilder) insert(at, hash uint64) uint64 {
	d.hashes = append(d.hashes, hash)
	code := int32(len(d.hashes))
	d.slots[at] = code
	d.codes = append(d.codes, code-1)
	if len(d.hashes)*2 > len(d.slots) {
		if n := 2 * len(d.slots); n <= cap(d.slots) {
			d.slots = d.slots[:n]
			clear(d.slots)
		} else {
			d.slots = make([]int32, n)
		}
		mask := uint64(len(d.slots) - 1)
		for i, h := range d.hashes {
			at := h & mask
			for d.slots[at] != 0 {
				at = (at + 1) & mask
			}
			d.slots[at] = int32(i) + 1
		}
	}
	return uint64(len(d.slots) - 1)
}

func (d *dictionaryBuilder) addBytes(v *values, to int) bool {
	mask := uint64(len(d.slots) - 1)
	for i := len(d.codes); i < to; i++ {
		s := v.data[v.offsets[i]:v.offsets[i+1]]
		h := xxh3.Hash(s)
		for at := h & mask; ; at = (at + 1) & mask {
			code := d.slots[at]
			if code == 0 {
				if len(d.hashes) >= dictMostValues || len(d.entries.data)+len(s) > dictMostBytes {
					return false
				}
				d.entries.data = append(d.entries.data, s...)
				d.entries.offsets = append(d.entries.offsets, int32(len(d.entries.data)))
				mask = d.insert(at, h)
				break
			}
			if d.hashes[code-1] == h && bytes.Equal(d.entry(code-1), s) {
				d.codes = append(d.codes, code-1)
				break
			}
		}
	}
	return true
}

func (d *dictionaryBuilder) entry(code int32) []byte {
	return d.entries.data[d.entries.offsets[code]:d.entries.offsets[code+1]]
}
