package exec

import (
	"slices"

	"github.com/tidemarkdb/tidemark/function"
	"github.com/tidemarkdb/tidemark/vec"
)

// keyHasher hashes the keys of one operator instance. With perRow, it remembers the hashes of the entries of large
// dictionaries that stay for several batches, such as the columns of a join's build side, so that a string is hashed
// once a dictionary and not once a row.
type keyHasher struct {
	perRow  int // how many entries of a dictionary may be prepared for each row that refers to it
	entries []entryHashes
	more    []uint64
}

// entryHashes is the hashes known of the entries of one dictionary, or of the combinations of entries of several columns
// with the same codes; 0 where not known.
type entryHashes struct {
	dicts  []*vec.Vector
	hashes []uint64
	rows   int
	stays  bool
}

// In a table that sees all rows many entries may be prepared: clearing one takes about a thirtieth of what hashing a
// string does. Tables of partitions see few rows each.
const (
	eagerPerRow = 32
	fewPerRow   = 2
)

// hash writes the hash of each of n rows, as hashKeys does.
func (h *keyHasher) hash(keys []*vec.Vector, n int, dst []uint64) {
	if h.perRow == 0 || len(keys) == 0 || n == 0 {
		hashKeys(keys, n, dst)
		return
	}
	for len(h.entries) < len(keys) {
		h.entries = append(h.entries, entryHashes{})
	}
	first := 1
	for first < len(keys) && foldable(keys[0]) && foldable(keys[first]) && sameCodes(keys[0], keys[first], n) {
		first++
	}
	h.entries[0].hash(keys[:first], n, dst, h.perRow)
	for i := first; i < len(keys); i++ {
		h.more = resize(h.more, n)
		h.entries[i].hash(keys[i:i+1], n, h.more, h.perRow)
		function.CombineHashes(dst[:n], h.more)
	}
}

// hash writes the hash of each row of columns with the same codes, if they have any.
func (e *entryHashes) hash(keys []*vec.Vector, n int, dst []uint64, perRow int) {
	wide := !slices.ContainsFunc(keys, func(v *vec.Vector) bool { return v.Type.Phys().Width() == 0 })
	if wide || !foldable(keys[0]) || !e.remembers(keys, n*perRow) {
		hashKeys(keys, n, dst)
		return
	}
	codes := keys[0].Index[:n]
	var missing []int32
	for i, x := range codes {
		if dst[i] = e.hashes[x]; dst[i] == 0 {
			missing = append(missing, int32(i))
		}
	}
	if len(missing) == 0 {
		return
	}
	some := make([]*vec.Vector, len(keys))
	for i, k := range keys {
		some[i] = k.Select(missing)
	}
	hashes := make([]uint64, len(missing))
	hashKeys(some, len(missing), hashes)
	for i, r := range missing {
		e.hashes[codes[r]], dst[r] = hashes[i], hashes[i]
	}
}

// remembers makes hashes serve the dictionaries once enough rows refer to them, of which more come, and reports false
// until then.
func (e *entryHashes) remembers(keys []*vec.Vector, more int) bool {
	if !slices.EqualFunc(e.dicts, keys, func(d, v *vec.Vector) bool { return d == v.Dict }) {
		*e = entryHashes{dicts: e.dicts[:0], hashes: e.hashes}
		for _, k := range keys {
			e.dicts = append(e.dicts, k.Dict)
		}
	}
	if e.stays {
		return true
	}
	e.rows += more
	size := keys[0].Dict.N
	e.stays = size <= min(e.rows, maxFoldedRows)
	if e.stays {
		e.hashes = resize(e.hashes, size)
		clear(e.hashes)
	}
	return e.stays
}

func (h *keyHasher) memory() (size int64) {
	for _, e := range h.entries {
		size += int64(cap(e.hashes) * 8)
	}
	return size + int64(cap(h.more)*8)
}
