package maskindex

import (
	"cmp"
	"slices"
)

// slab is the newest position of each key of some staging tablets, in memory and in key order. Later appends are
// looked up in the slabs of the window instead of its many small sidecars.
type slab struct {
	Batch          // idx is nil
	pos   []uint64 // place in tablets << 32 | row
	ids   []uint64
}

func (s *slab) bytes() int64 { return int64(8 * (len(s.hi) + len(s.lo) + len(s.pos) + len(s.ids))) }

const slabRowBits = 32

// newSlab makes a slab of entries, in any order, whose positions are those of a slab. Of several entries of one key
// that with the highest position stays, and superseded gets the positions of the others.
func newSlab(entries []entry, ids []uint64, wide bool, superseded func(pos uint64)) *slab {
	ascend := func(a, b entry) int {
		return cmp.Or(cmp.Compare(a.hi, b.hi), cmp.Compare(a.lo, b.lo), cmp.Compare(a.pos, b.pos))
	}
	if len(ids) > 1 { // the entries of one sidecar ascend already
		entries = radixSort(entries, func(e *entry) uint64 { return e.hi }, make([]entry, len(entries)))
		for i := 1; i < len(entries); i++ {
			if j := i; entries[i].hi == entries[i-1].hi {
				for j < len(entries) && entries[j].hi == entries[i-1].hi {
					j++
				}
				slices.SortFunc(entries[i-1:j], ascend)
				i = j
			}
		}
	}
	s := &slab{Batch: Batch{hi: make([]uint64, 0, len(entries))}, pos: make([]uint64, 0, len(entries)), ids: ids}
	if wide {
		s.lo = make([]uint64, 0, len(entries))
	}
	for i, e := range entries {
		if i+1 < len(entries) && entries[i+1].hi == e.hi && entries[i+1].lo == e.lo {
			superseded(e.pos)
			continue
		}
		s.add(e.hi, e.lo, e.pos)
	}
	return s
}

func (s *slab) add(hi, lo, pos uint64) {
	s.hi, s.pos = append(s.hi, hi), append(s.pos, pos)
	if s.lo != nil {
		s.lo = append(s.lo, lo)
	}
}

// compare orders key i of s and key j of b.
func (s *slab) compare(i int, b *Batch, j int) int {
	return cmp.Or(cmp.Compare(s.hi[i], b.hi[j]), cmp.Compare(s.low(i), b.low(j)))
}

// seek returns the first key of s, from place at on, that is not below key j of b.
func (s *slab) seek(at int, b *Batch, j int) int {
	step, below, n := 1, at-1, len(s.hi)
	for below+step < n && s.compare(below+step, b, j) < 0 {
		below += step
		step <<= 1
	}
	above := min(below+step, n)
	for above-below > 1 {
		if mid := int(uint(below+above) >> 1); s.compare(mid, b, j) < 0 {
			below = mid
		} else {
			above = mid
		}
	}
	return above
}

// probe calls found with the place in b and the position of every key of b that s holds.
func (s *slab) probe(b *Batch, found func(j int, pos uint64)) {
	at := 0
	for j := range b.hi {
		if at = s.seek(at, b, j); at == len(s.hi) {
			return
		}
		if s.compare(at, b, j) == 0 {
			found(j, s.pos[at])
		}
	}
}

// mergeSlabs returns a slab of both; newer wins where they share a key.
func mergeSlabs(older, newer *slab) *slab {
	n := len(older.hi) + len(newer.hi)
	s := &slab{Batch: Batch{hi: make([]uint64, 0, n)}, pos: make([]uint64, 0, n)}
	if older.lo != nil {
		s.lo = make([]uint64, 0, n)
	}
	s.ids = append(slices.Clone(older.ids), newer.ids...)
	moved := uint64(len(older.ids)) << slabRowBits
	i := 0
	for j := range newer.hi {
		for ; i < len(older.hi) && older.compare(i, &newer.Batch, j) < 0; i++ {
			s.add(older.hi[i], older.low(i), older.pos[i])
		}
		if i < len(older.hi) && older.compare(i, &newer.Batch, j) == 0 {
			i++
		}
		s.add(newer.hi[j], newer.low(j), newer.pos[j]+moved)
	}
	for ; i < len(older.hi); i++ {
		s.add(older.hi[i], older.low(i), older.pos[i])
	}
	return s
}

// filter returns the slab without the tablets that keep does not report; nil when none is left.
func (s *slab) filter(keep func(id uint64) bool) *slab {
	out := &slab{ids: s.ids}
	if s.lo != nil {
		out.lo = []uint64{}
	}
	stays := make([]bool, len(s.ids))
	for i, id := range s.ids {
		stays[i] = keep(id)
	}
	if !slices.Contains(stays, false) {
		return s
	}
	for i, p := range s.pos {
		if stays[p>>slabRowBits] {
			out.add(s.hi[i], s.low(i), p)
		}
	}
	if len(out.hi) == 0 {
		return nil
	}
	return out
}
