package exec

import (
	"math/bits"

	"github.com/tidemarkdb/tidemark/function"
	"github.com/tidemarkdb/tidemark/vec"
)

// grouper numbers distinct keys from 0, in the order they come. NULL equals NULL.
type grouper interface {
	// assign writes the number of each row's key to out, numbering keys it has not seen.
	assign(keys []*vec.Vector, n int, out []uint32)
	// fresh returns the rows of the latest assign that brought a new key, in order.
	fresh() []int32
	len() int
	// keys returns the keys numbered from from on, n of them, borrowed.
	keys(from, n int) []*vec.Vector
	memory() int64
	// reset forgets every key. What keys returned is not valid any more.
	reset()
}

// newGrouper returns the grouper for keys of these types, with room for about hint of them.
func newGrouper(types []vec.Type, hint int) grouper {
	if len(types) == 1 {
		switch types[0].Phys() {
		case vec.PhysInt16, vec.PhysInt32, vec.PhysInt64:
			return newIntGrouper(types[0], hint)
		}
	}
	return newKeyGrouper(types, hint)
}

func newKeyGrouper(types []vec.Type, hint int) *keyGrouper {
	g := &keyGrouper{types: types, slots: make([]uint64, slotsFor(hint)), hasher: keyHasher{perRow: fewPerRow}}
	g.hashes = make([]uint64, 0, hint)
	g.makeColumns(types, hint)
	return g
}

func (g *keyGrouper) makeColumns(types []vec.Type, hint int) {
	g.cols = nil
	for _, t := range types {
		g.cols = append(g.cols, newKeyColumn(t, hint))
	}
}

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

// slotsFor returns how many slots keep a table of n keys at most half full.
func slotsFor(n int) int {
	size := 64
	for size < 2*n {
		size *= 2
	}
	return size
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
	g.added = g.added[:0]
	vals := g.widen(v, n)
	if !v.MayHaveNulls() {
		for i := 0; i < n; {
			// Rows in a piece can bring at most as many keys, so the table is grown once a piece.
			m := min(n-i, max(1024, len(g.slots)/4))
			g.reserve(m)
			g.assignPiece(vals[i:i+m], out[i:i+m], int32(i))
			i += m
		}
		return
	}
	g.reserve(n + 1)
	for i := range n {
		if v.IsNull(i) {
			out[i] = g.nullNumber(int32(i))
		} else {
			g.assignPiece(vals[i:i+1], out[i:i+1], int32(i))
		}
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
	mask := uint64(size - 1)
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
		for i, x := range flatValues[byte](v, n) {
			dst[i] = int64(x)
		}
	case vec.PhysInt16:
		for i, x := range flatValues[int16](v, n) {
			dst[i] = int64(x)
		}
	case vec.PhysInt32:
		for i, x := range flatValues[int32](v, n) {
			dst[i] = int64(x)
		}
	default:
		copyFixed(dst, v, nil, n)
	}
}

func (g *intGrouper) keys(from, n int) []*vec.Vector {
	vals := g.vals[from : from+n]
	out := &vec.Vector{Type: g.t, N: n}
	switch g.t.Phys() {
	case vec.PhysInt16:
		out.Data = narrowInts[int16](vals)
	case vec.PhysInt32:
		out.Data = narrowInts[int32](vals)
	default:
		out.Data = vec.AsBytes(vals)
	}
	if null := int(g.null) - 1; null >= from && null < from+n {
		out.Valid = vec.NewFullBitmap(n)
		out.Valid.Clear(null - from)
	}
	return []*vec.Vector{out}
}

func narrowInts[T int16 | int32](vals []int64) []byte {
	out := make([]T, len(vals))
	for i, x := range vals {
		out[i] = T(x)
	}
	return vec.AsBytes(out)
}

// keyGrouper numbers keys of any types: open addressing on hashes, keys compared column by column. Where every column
// comes as a small dictionary, rows are numbered by their codes.
type keyGrouper struct {
	types  []vec.Type
	cols   []*keyColumn
	slots  []uint64 // upper half of the hash, then number + 1; 0 is free
	hashes []uint64 // of each key
	added  []int32
	codes  codeTable
	folded *foldedKeys // what cols hold instead of the keys themselves, nil: nothing
	chosen bool        // whether to fold is decided
	hasher keyHasher
	hash   []uint64
	at     []uint64
	todo   []int32
	differ []bool
}

func (g *keyGrouper) len() int       { return len(g.hashes) }
func (g *keyGrouper) fresh() []int32 { return g.added }

func (g *keyGrouper) memory() int64 {
	size := int64(cap(g.slots)*8+cap(g.hashes)*8) + g.codes.memory() + g.hasher.memory()
	for _, c := range g.cols {
		size += c.memory()
	}
	if g.folded != nil {
		size += g.folded.memory()
	}
	return size
}

func (g *keyGrouper) reset() {
	clear(g.slots)
	g.hashes, g.added = g.hashes[:0], g.added[:0]
	g.codes.dicts = g.codes.dicts[:0]
	for _, c := range g.cols {
		c.reset()
	}
	if g.folded != nil {
		g.folded.reset()
	}
}

func (g *keyGrouper) assign(keys []*vec.Vector, n int, out []uint32) {
	if !g.assignCodes(keys, n, nil, out) {
		g.find(keys, n, out)
	}
}

// assignCodes assigns by dictionary codes and reports whether it could. Rows in except bring no key: one they share
// with no other row is given the number of any.
func (g *keyGrouper) assignCodes(keys []*vec.Vector, n int, except []int32, out []uint32) bool {
	g.added = g.added[:0]
	return g.codes.assign(g, keys, n, except, out)
}

// find assigns by hash. Rows go round by round: each finds a slot with its hash or a free one; those whose keys then
// turn out to differ look on in the next round.
func (g *keyGrouper) find(keys []*vec.Vector, n int, out []uint32) {
	if !g.chosen && n > 0 {
		g.chosen = true
		if g.folded = foldKeys(g.types, keys, n); g.folded != nil {
			g.makeColumns(g.folded.types(g.types), cap(g.hashes))
		}
	}
	if g.folded != nil {
		keys = g.folded.fold(keys, n)
	}
	g.hash, g.at = resize(g.hash, n), resize(g.at, n)
	g.hasher.hash(keys, n, g.hash)
	g.reserve(n)
	mask := uint64(len(g.slots) - 1)
	for i, h := range g.hash {
		g.at[i] = h & mask
	}
	todo := g.todo[:0]
	for i := range n {
		todo = append(todo, int32(i))
	}
	for len(todo) > 0 {
		check := todo[:0]
		for _, r := range todo {
			h, at := g.hash[r], g.at[r]
			for {
				s := g.slots[at]
				if s == 0 {
					out[r] = g.insert(keys, r, h, at)
					break
				}
				if s>>32 == h>>32 {
					out[r], g.at[r] = uint32(s)-1, (at+1)&mask
					check = append(check, r)
					break
				}
				at = (at + 1) & mask
			}
		}
		todo = g.mismatches(keys, check, out)
	}
	g.todo = todo[:0]
}

// insert numbers the key of a row and enters it in the free slot.
func (g *keyGrouper) insert(keys []*vec.Vector, r int32, h, at uint64) uint32 {
	number := uint32(len(g.hashes))
	for i, c := range g.cols {
		c.append(keys[i], int(r))
	}
	g.hashes = append(g.hashes, h)
	g.slots[at] = h>>32<<32 | uint64(number+1)
	g.added = append(g.added, r)
	return number
}

// mismatches returns the rows whose key is not the one out names, in the memory of rows.
func (g *keyGrouper) mismatches(keys []*vec.Vector, rows []int32, out []uint32) []int32 {
	if len(rows) == 0 {
		return rows
	}
	g.differ = resize(g.differ, len(rows))
	clear(g.differ)
	for i, c := range g.cols {
		c.compare(keys[i], rows, out, g.differ)
	}
	left := rows[:0]
	for i, r := range rows {
		if g.differ[i] {
			left = append(left, r)
		}
	}
	return left
}

func (g *keyGrouper) reserve(n int) {
	if (len(g.hashes)+n)*2 <= len(g.slots) {
		return
	}
	size := len(g.slots)
	for size < (len(g.hashes)+n)*2 {
		size *= 2
	}
	g.slots = make([]uint64, size)
	mask := uint64(size - 1)
	for i, h := range g.hashes {
		at := h & mask
		for g.slots[at] != 0 {
			at = (at + 1) & mask
		}
		g.slots[at] = h>>32<<32 | uint64(i+1)
	}
}

func (g *keyGrouper) keys(from, n int) []*vec.Vector {
	out := make([]*vec.Vector, len(g.cols))
	for i, c := range g.cols {
		out[i] = c.vector(from, n)
	}
	if g.folded != nil {
		return g.folded.unfold(out)
	}
	return out
}

// hashKeys hashes rows of several columns.
func hashKeys(keys []*vec.Vector, n int, dst []uint64) {
	if len(keys) == 0 {
		clear(dst[:n])
		return
	}
	function.HashInto(keys[0], n, dst)
	for _, k := range keys[1:] {
		function.HashCombine(k, n, dst)
	}
}
