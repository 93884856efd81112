package exec

import (
	"math/bits"

	"github.com/tidemarkdb/tidemark/vec"
)

// intGrouper numbers integers: open addressing, at most half full.
type intGrouper struct {
	t     vec.Type
	slots []intSlot
	shift uint
	vals  []int64
	null  uint32 // number of the NULL key + 1, 0 when there is none
	wide  []int64
	added []int32
}

// intSlot holds a key and its number + 1; 0 marks a free slot.
type intSlot struct {
	key int64
	ref uint32
}

func newIntGrouper(t vec.Type, hint int) *intGrouper {
	size := slotsFor(hint)
	return &intGrouper{t: t, slots: make([]intSlot, size), shift: uint(64 - bits.TrailingZeros(uint(size))), vals: make([]int64, 0, hint)}
}

func (g *intGrouper) len() int       { return len(g.vals) }
func (g *intGrouper) fresh() []int32 { return g.added }
func (g *intGrouper) memory() int64 {
	return int64(cap(g.slots)*16 + cap(g.vals)*8 + cap(g.wide)*8 + cap(g.added)*4)
}

func (g *intGrouper) reset() {
	clear(g.slots)
	g.vals, g.added, g.null = g.vals[:0], g.added[:0], 0
}

func (g *intGrouper) assign(keys []*vec.Vector, n int, out []uint32) {
	v := keys[0]
	vals := g.widen(v, n)
	if !v.MayHaveNulls() {
		g.assignInts(vals, out)
		return
	}
	g.added = g.added[:0]
	g.reserve(n + 1)
	for i := range n {
		if v.IsNull(i) {
			out[i] = g.nullNumber(int32(i))
		} else {
			g.assignPiece(vals[i:i+1], out[i:i+1], int32(i))
		}
	}
}

// assignInts assigns integers of which none is NULL.
func (g *intGrouper) assignInts(vals []int64, out []uint32) {
	g.added = g.added[:0]
	for i, n := 0, len(vals); i < n; {
		// Rows in a piece can bring at most as many keys, so the table is grown once a piece.
		m := min(n-i, max(1024, len(g.slots)/4))
		g.reserve(m)
		g.assignPiece(vals[i:i+m], out[i:i+m], int32(i))
		i += m
	}
}

func (g *intGrouper) nullNumber(row int32) uint32 {
	if g.null == 0 {
		g.vals = append(g.vals, 0)
		g.null = uint32(len(g.vals))
		g.added = append(g.added, row)
	}
	return g.null - 1
}

func (g *intGrouper) assignPiece(vals []int64, out []uint32, first int32) {
	slots, shift, mask := g.slots, g.shift, uint64(len(g.slots)-1)
	for i, x := range vals {
		at := uint64(x) * hashMultiplier >> shift
		for {
			s := &slots[at&mask]
			if s.ref != 0 && s.key == x {
				out[i] = s.ref - 1
				break
			}
			if s.ref == 0 {
				g.vals = append(g.vals, x)
				s.key, s.ref = x, uint32(len(g.vals))
				out[i] = s.ref - 1
				g.added = append(g.added, first+int32(i))
				break
			}
			at++
		}
	}
}

// reserve makes room for n more keys.
func (g *intGrouper) reserve(n int) {
	if (len(g.vals)+n)*2 <= len(g.slots) {
		return
	}
	size := len(g.slots)
	for size < (len(g.vals)+n)*2 {
		size *= 2
	}
	g.slots = make([]intSlot, size)
	g.shift = uint(64 - bits.TrailingZeros(uint(size)))
	g.enter()
}

// renumber puts other integers in place of all there are, number by number.
func (g *intGrouper) renumber(vals []int64) {
	copy(g.vals, vals)
	clear(g.slots)
	g.enter()
}

// enter puts every key into the slots, which are free.
func (g *intGrouper) enter() {
	mask := uint64(len(g.slots) - 1)
	for i, x := range g.vals {
		if uint32(i+1) == g.null {
			continue
		}
		at := uint64(x) * hashMultiplier >> g.shift
		for g.slots[at&mask].ref != 0 {
			at++
		}
		g.slots[at&mask] = intSlot{key: x, ref: uint32(i + 1)}
	}
}

// widen returns the values as 64-bit integers.
func (g *intGrouper) widen(v *vec.Vector, n int) []int64 {
	if v.Type.Phys() == vec.PhysInt64 && v.Form == vec.Flat {
		return vec.Cast[int64](v.Data)[:n]
	}
	g.wide = resize(g.wide, n)
	widenInts(g.wide, v, n)
	return g.wide
}

// widenInts writes the n integers of v to dst, sign-extended.
func widenInts(dst []int64, v *vec.Vector, n int) {
	switch v.Type.Phys() {
	case vec.PhysBool:
		widenFixed[byte](dst, v, n)
	case vec.PhysInt16:
		widenFixed[int16](dst, v, n)
	case vec.PhysInt32:
		widenFixed[int32](dst, v, n)
	default:
		copyFixed(dst, v, nil, n)
	}
}

// widenFixed writes the first n values of v to dst. NULL rows get anything.
func widenFixed[T byte | int16 | int32](dst []int64, v *vec.Vector, n int) {
	dst = dst[:n]
	switch v.Form {
	case vec.Constant:
		x := int64(vec.Cast[T](v.Data)[0])
		for i := range dst {
			dst[i] = x
		}
	case vec.Dictionary:
		from := vec.Cast[T](v.Dict.Data)
		if len(from) == 0 { // every row is NULL
			clear(dst)
			return
		}
		for i, x := range v.Index[:n] {
			dst[i] = int64(from[x])
		}
	default:
		for i, x := range vec.Cast[T](v.Data)[:n] {
			dst[i] = int64(x)
		}
	}
}

func (g *intGrouper) keys(from, n int) []*vec.Vector {
	vals := g.vals[from : from+n]
	out := &vec.Vector{Type: g.t, N: n, Data: dataOf(g.t, vals)}
	if null := int(g.null) - 1; null >= from && null < from+n {
		out.Valid = vec.NewFullBitmap(n)
		out.Valid.Clear(null - from)
	}
	return []*vec.Vector{out}
}

// dataOf returns values as the data of a vector of an integer type, which may share their memory.
func dataOf(t vec.Type, vals []int64) []byte {
	switch t.Phys() {
	case vec.PhysBool:
		return narrowInts[byte](vals)
	case vec.PhysInt16:
		return narrowInts[int16](vals)
	case vec.PhysInt32:
		return narrowInts[int32](vals)
	}
	return vec.AsBytes(vals)
}

func narrowInts[T byte | int16 | int32](vals []int64) []byte {
	out := make([]T, len(vals))
	for i, x := range vals {
		out[i] = T(x)
	}
	return vec.AsBytes(out)
}
