package exec

import (
	"math/bits"
	"slices"

	"github.com/tidemarkdb/tidemark/vec"
)

// packedJoinKeys packs several integer keys of a join into one: each has the bits that the span of the build side's
// values takes.
type packedJoinKeys struct {
	lows   []int64
	spans  []uint64
	shifts []uint
}

// integerKey returns the values of the only key when it is an integer that NULL does not match, or of several such keys
// that fit into one.
func (t *joinTable) integerKey(keys []*vec.Vector, nullSafe []bool, valid vec.Bitmap) ([]int64, bool) {
	if slices.Contains(nullSafe, true) {
		return nil, false
	}
	for _, k := range keys {
		switch k.Type.Phys() {
		case vec.PhysInt16, vec.PhysInt32, vec.PhysInt64:
		default:
			return nil, false
		}
	}
	if k := keys[0]; len(keys) == 1 && k.Type.Phys() == vec.PhysInt64 && k.Form == vec.Flat {
		return vec.Cast[int64](k.Data)[:t.n:t.n], true
	}
	out := make([]int64, t.n)
	if len(keys) == 1 {
		widenInts(out, keys[0], t.n)
		return out, true
	}
	wide := make([]int64, min(t.n, rowsStep))
	if t.packed = packJoinKeys(keys, t.n, wide, valid); t.packed == nil {
		return nil, false
	}
	part := make([]*vec.Vector, len(keys))
	for from := 0; from < t.n; from += rowsStep {
		n := min(rowsStep, t.n-from)
		for i, k := range keys {
			part[i] = k.Slice(from, n)
		}
		t.packed.pack(part, out[from:from+n], wide)
	}
	return out, true
}

// packJoinKeys returns how to pack keys like those of the build side that count, nil where they do not fit.
func packJoinKeys(keys []*vec.Vector, rows int, wide []int64, valid vec.Bitmap) *packedJoinKeys {
	p := &packedJoinKeys{}
	shift := uint(0)
	for _, k := range keys {
		low, high, any := int64(0), int64(0), false
		for from := 0; from < rows; from += rowsStep {
			n := min(rowsStep, rows-from)
			widenInts(wide, k.Slice(from, n), n)
			for i, x := range wide[:n] {
				switch {
				case valid != nil && !valid.Get(from+i):
				case !any:
					low, high, any = x, x, true
				default:
					low, high = min(low, x), max(high, x)
				}
			}
		}
		span := uint64(high) - uint64(low)
		p.lows, p.spans, p.shifts = append(p.lows, low), append(p.spans, span), append(p.shifts, shift)
		if shift += uint(bits.Len64(span)); shift > 63 {
			return nil
		}
	}
	return p
}

// noJoinKey is what no packed key is.
const noJoinKey = -1

// pack writes each row's keys as one to out, noJoinKey where the build side cannot have them. wide is scratch memory of
// as many rows.
func (p *packedJoinKeys) pack(keys []*vec.Vector, out, wide []int64) {
	clear(out)
	wide = wide[:len(out)]
	for k, v := range keys {
		widenInts(wide, v, len(out))
		low, span, shift := uint64(p.lows[k]), p.spans[k], p.shifts[k]
		for i, x := range wide {
			d := uint64(x) - low
			packed := out[i] | int64(d<<shift)
			if d > span {
				packed = noJoinKey
			}
			out[i] = packed
		}
	}
}
