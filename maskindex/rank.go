package maskindex

import (
	"math/bits"

	"github.com/RoaringBitmap/roaring/v2"
)

// Rank moves row ordinals through a rewrite that keeps live rows in their order: the new ordinal of a row is the old
// one less the dead rows before it. It takes rows/8 + rows/128 bytes and is safe for concurrent use.
type Rank struct {
	dead   []uint64
	before []uint32 // dead rows before each group of rankGroup words
	rows   uint32
	live   uint32
}

// rankGroup words share a cache line with nothing else, so a look-up misses the cache at most twice.
const rankGroup = 8

// NewRank returns the rank of a tablet of rows rows with the given dead ones; nil stands for none.
func NewRank(dead *roaring.Bitmap, rows uint32) *Rank {
	words := (int(rows) + 63) / 64
	r := &Rank{dead: make([]uint64, words), before: make([]uint32, (words+rankGroup-1)/rankGroup), rows: rows}
	expand(dead, r.dead, rows)
	sum := uint32(0)
	for i, w := range r.dead {
		if i%rankGroup == 0 {
			r.before[i/rankGroup] = sum
		}
		sum += uint32(bits.OnesCount64(w))
	}
	r.live = rows - sum
	return r
}

// Live returns the number of live rows, which is the number of rows after the rewrite.
func (r *Rank) Live() uint32 { return r.live }

// Remap returns the new ordinal of row old; live is false when the row is dead or beyond the tablet.
func (r *Rank) Remap(old uint32) (row uint32, live bool) {
	if old >= r.rows {
		return 0, false
	}
	w := int(old / 64)
	if r.dead[w]>>(old%64)&1 != 0 {
		return 0, false
	}
	dead := r.before[w/rankGroup]
	for i := w / rankGroup * rankGroup; i < w; i++ {
		dead += uint32(bits.OnesCount64(r.dead[i]))
	}
	dead += uint32(bits.OnesCount64(r.dead[w] & (1<<(old%64) - 1)))
	return old - dead, true
}

// RemapMask returns mask, of rows of the old tablet, as a mask of the new one. Rows that the rewrite dropped leave.
func (r *Rank) RemapMask(mask *roaring.Bitmap) *roaring.Bitmap { return moved(mask, r.Remap) }
