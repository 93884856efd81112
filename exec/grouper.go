package exec

import (
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

// slotsFor returns how many slots keep a table of n keys at most half full.
func slotsFor(n int) int {
	size := 64
	for size < 2*n {
		size *= 2
	}
	return size
}

func newKeyGrouper(types []vec.Type, hint int) *keyGrouper {
	g := &keyGrouper{types: types, hint: hint, hasher: keyHasher{perRow: fewPerRow}}
	g.makeColumns(types, 0)
	return g
}

func (g *keyGrouper) makeColumns(types []vec.Type, hint int) {
	g.cols = nil
	for _, t := range types {
		g.cols = append(g.cols, newKeyColumn(t, hint))
	}
}

// keyGrouper numbers keys of any types: open addressing on hashes, keys compared column by column. Where every column
// comes as a small dictionary, rows are numbered by their codes; where all are integers that fit into one word, by that.
type keyGrouper struct {
	types  []vec.Type
	hint   int
	packed *packedKeys // what has the keys instead of cols and slots, nil: nothing
	cols   []*keyColumn
	slots  []uint64 // upper half of the hash, then number + 1; 0 is free
	hashes []uint64 // of each key
	added  []int32
	codes  codeTable
	folded *foldedKeys // what cols hold instead of the keys themselves, nil: nothing
	chosen bool        // whether to fold and to pack is decided
	hasher keyHasher
	hash   []uint64
	at     []uint64
	todo   []int32
	differ []bool
}

func (g *keyGrouper) len() int {
	if g.packed != nil {
		return g.packed.words.len()
	}
	return len(g.hashes)
}

func (g *keyGrouper) fresh() []int32 { return g.added }

func (g *keyGrouper) memory() int64 {
	size := int64(cap(g.slots)*8+cap(g.hashes)*8) + g.codes.memory() + g.hasher.memory()
	for _, c := range g.cols {
		size += c.memory()
	}
	if g.folded != nil {
		size += g.folded.memory()
	}
	if g.packed != nil {
		size += g.packed.memory()
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
	if g.packed != nil {
		g.packed.words.reset()
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
	if n == 0 {
		return
	}
	first := !g.chosen
	if first {
		g.chosen = true
		g.folded = foldKeys(g.types, keys, n)
	}
	types := g.types
	if g.folded != nil {
		keys, types = g.folded.fold(keys, n), g.folded.types(g.types)
	}
	if first {
		if g.packed = packKeys(types, keys, n, g.hint); g.packed == nil {
			g.makeColumns(types, g.hint)
			g.hashes = make([]uint64, 0, g.hint)
		}
	}
	if g.packed != nil {
		if g.packed.assign(keys, n, out) {
			g.added = append(g.added[:0], g.packed.words.added...)
			return
		}
		g.unpack(types)
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

// unpack takes the keys out of their words.
func (g *keyGrouper) unpack(types []vec.Type) {
	n := g.packed.words.len()
	keys := g.packed.keys(0, n)
	g.packed = nil
	g.makeColumns(types, n)
	for i, c := range g.cols {
		for r := range n {
			c.append(keys[i], r)
		}
	}
	g.hashes = resize(g.hashes, n)
	hashKeys(keys, n, g.hashes)
	g.enter(slotsFor(n))
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
	size := max(len(g.slots), slotsFor(g.hint))
	for size < (len(g.hashes)+n)*2 {
		size *= 2
	}
	g.enter(size)
}

// enter makes the slots anew, with every key.
func (g *keyGrouper) enter(size int) {
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
	var out []*vec.Vector
	if g.packed != nil {
		out = g.packed.keys(from, n)
	} else {
		for _, c := range g.cols {
			out = append(out, c.vector(from, n))
		}
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
