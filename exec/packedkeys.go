package exec

import (
	"math/bits"

	"github.com/tidemarkdb/tidemark/vec"
)

// packedKeys numbers keys of several integer columns as one integer each: every column has some bits of a word, wide
// enough for the span of its values so far, in which 0 stands for NULL. One lookup and one comparison decide a key then,
// however many columns it has.
type packedKeys struct {
	types []vec.Type
	parts []packedPart
	words *intGrouper // its keys are scattered
	wide  []int64
	row   []int64
}

// packedPart is where a word has a column: the value x as x - low + 1.
type packedPart struct {
	low   int64
	bits  uint
	shift uint
}

// maxPartBits is the widest a column may be: then no value beside the span looks like NULL.
const maxPartBits = 63

// packKeys returns words for keys like the first n rows, nil where they do not fit.
func packKeys(types []vec.Type, keys []*vec.Vector, n, hint int) *packedKeys {
	for _, t := range types {
		switch t.Phys() {
		case vec.PhysBool, vec.PhysInt16, vec.PhysInt32, vec.PhysInt64:
		default:
			return nil
		}
	}
	p := &packedKeys{types: types, words: newIntGrouper(vec.Int64Type, hint)}
	if !p.choose(keys, n) {
		return nil
	}
	return p
}

func (p *packedKeys) memory() int64 {
	return p.words.memory() + int64(cap(p.wide)+cap(p.row))*8
}

// assign numbers rows as grouper.assign does. It reports false, having done nothing, once the keys do not fit.
func (p *packedKeys) assign(keys []*vec.Vector, n int, out []uint32) bool {
	for !p.pack(keys, n) {
		if !p.widen(keys, n) {
			return false
		}
	}
	p.words.assignInts(p.row[:n], out)
	return true
}

// pack writes the words of n rows and reports whether every value lies within the span of its column.
func (p *packedKeys) pack(keys []*vec.Vector, n int) bool {
	p.row, p.wide = resize(p.row, n), resize(p.wide, n)
	clear(p.row)
	for k, part := range p.parts {
		v := keys[k]
		widenInts(p.wide, v, n)
		below := uint64(part.low) - 1
		var over uint64
		if v.MayHaveNulls() {
			valid := v.RowValid()
			for i, x := range p.wide {
				if valid == nil || valid.Get(i) {
					d := uint64(x) - below
					over |= d | (d - 1)
					p.row[i] |= int64(d << part.shift)
				}
			}
		} else {
			row := p.row[:len(p.wide)]
			for i, x := range p.wide {
				d := uint64(x) - below
				over |= d | (d - 1)
				row[i] |= int64(d << part.shift)
			}
		}
		if over>>part.bits != 0 {
			return false
		}
	}
	for i, x := range p.row {
		p.row[i] = scatter(x)
	}
	return true
}

// scatter mixes the halves of a word, so that columns whose values lie close together do not end up in a pattern. It is
// its own inverse.
func scatter(x int64) int64 { return x ^ int64(uint64(x)>>32) }

// widen makes room for the values of further rows and reports whether there is any.
func (p *packedKeys) widen(keys []*vec.Vector, n int) bool {
	known := p.keys(0, p.words.len())
	if !p.choose(keys, n, known...) {
		return false
	}
	p.pack(known, p.words.len())
	p.words.renumber(p.row)
	return true
}

// choose gives each column the bits that the values of n rows and of the keys known take, and a share of those to spare.
// It reports whether a word has enough.
func (p *packedKeys) choose(keys []*vec.Vector, n int, known ...*vec.Vector) bool {
	parts, spare := make([]packedPart, len(p.types)), 64
	spans := make([]uint64, len(parts))
	for k := range parts {
		low, high, any := int64(0), int64(0), false
		p.extend(keys[k], n, &low, &high, &any)
		if known != nil {
			p.extend(known[k], known[k].N, &low, &high, &any)
		}
		parts[k].low, spans[k] = low, uint64(high)-uint64(low)
		if parts[k].bits = uint(bits.Len64(spans[k] + 1)); parts[k].bits > maxPartBits || spans[k]+1 == 0 {
			return false
		}
		spare -= int(parts[k].bits)
	}
	if spare < 0 {
		return false
	}
	shift := uint(0)
	for k := range parts {
		part := &parts[k]
		part.bits = min(part.bits+uint(spare/len(parts)), maxPartBits)
		// Further values may lie on either side.
		part.low -= int64((1<<part.bits - 2 - spans[k]) / 2)
		part.shift = shift
		shift += part.bits
	}
	p.parts = parts
	return true
}

// extend widens [low, high] by the values of n rows.
func (p *packedKeys) extend(v *vec.Vector, n int, low, high *int64, any *bool) {
	p.wide = resize(p.wide, n)
	widenInts(p.wide, v, n)
	var valid vec.Bitmap
	if v.MayHaveNulls() {
		valid = v.RowValid()
	}
	for i, x := range p.wide {
		switch {
		case valid != nil && !valid.Get(i):
		case !*any:
			*low, *high, *any = x, x, true
		default:
			*low, *high = min(*low, x), max(*high, x)
		}
	}
}

// keys returns the keys numbered from from on, n of them.
func (p *packedKeys) keys(from, n int) []*vec.Vector {
	out := make([]*vec.Vector, len(p.parts))
	words := p.words.vals[from : from+n]
	for k, part := range p.parts {
		v, vals := &vec.Vector{Type: p.types[k], N: n}, make([]int64, n)
		below, mask := uint64(part.low)-1, uint64(1)<<part.bits-1
		for i, x := range words {
			d := uint64(scatter(x)) >> part.shift & mask
			if d == 0 {
				if v.Valid == nil {
					v.Valid = vec.NewFullBitmap(n)
				}
				v.Valid.Clear(i)
				continue
			}
			vals[i] = int64(d + below)
		}
		v.Data = dataOf(v.Type, vals)
		out[k] = v
	}
	return out
}
