package generator

import (
	"math"
	"math/bits"

	"github.com/tidemarkdb/tidemark/extension"
)

// Sequence is the generator's sequence of changes: change i is a function of the options and i.
//
// Rows are counted by ordinal, in order of insertion: the snapshot's are 0 to keys-1, insert number j is ordinal
// keys+j. Deletes take the ordinals in that same order, so the live rows are one range of ordinals and nothing has to
// be remembered. What looks random is the mapping of ordinals to key numbers. With I, U and D inserts, updates and
// deletes in a block of 100 changes:
//
//	ordinals   0 ........ bD ..... (b+1)D ............... keys+bI ..... keys+(b+1)I
//	           dead       | deleted  |   updated            | inserted     |
//	                      | in block b                      | in block b   |
type Sequence struct {
	config
	recreated uint64 // inserts of a block that re-create keys deleted in the block before
	stride    uint64 // ordinal o of the snapshot is key number o*stride mod keys
	zipfSpan  float64
}

// Change is one change of a Sequence.
type Change struct {
	Op  extension.Op
	Key uint64 // key number
}

// shuffles are the numbers prime to 100: s*m+c mod 100 shuffles a block for each of them as m.
var shuffles = func() (m []uint64) {
	for i := uint64(1); i < blockChanges; i++ {
		if i%2 != 0 && i%5 != 0 {
			m = append(m, i)
		}
	}
	return m
}()

func newSequence(c config) *Sequence {
	s := &Sequence{config: c, recreated: min(c.deletes, c.inserts/3)}
	s.stride = coprime(c.keys)
	if c.skew != 0 && c.skew != 1 {
		s.zipfSpan = math.Pow(float64(c.keys), 1-c.skew) - 1
	}
	return s
}

// coprime returns a number near 0.618 n that has no factor in common with n, so that multiples of it scatter.
func coprime(n uint64) uint64 {
	if n < 3 {
		return 1
	}
	a := max(uint64(float64(n)*0.6180339887498949), 1)
	for ; ; a++ {
		x, y := a, n
		for y != 0 {
			x, y = y, x%y
		}
		if x == 1 {
			return a
		}
	}
}

// Change returns change number i.
func (s *Sequence) Change(i uint64) Change {
	block, slot := i/blockChanges, i%blockChanges
	shuffle := hash(s.seed, block, 0x5bd1e995)
	kind := (slot*shuffles[shuffle%uint64(len(shuffles))] + shuffle>>32) % blockChanges
	switch {
	case kind < s.inserts:
		return Change{extension.Insert, s.key(s.keys + block*s.inserts + kind)}
	case kind < s.inserts+s.deletes:
		return Change{extension.Delete, s.key(block*s.deletes + kind - s.inserts)}
	}
	low, high := (block+1)*s.deletes, s.keys+block*s.inserts
	return Change{extension.Update, s.key(s.choose(hash(s.seed, i, 0x27d4eb2f), low, high))}
}

// choose picks a live ordinal of [low, high) by the random number h.
func (s *Sequence) choose(h, low, high uint64) uint64 {
	if s.skew == 0 {
		offset, _ := bits.Mul64(h, high-low)
		return low + offset
	}
	// The inverse of a power law cut off at keys. The most frequent rank is the snapshot's last ordinal, which is
	// deleted last.
	u, n := float64(h>>11)/(1<<53), float64(s.keys)
	var rank float64
	if s.skew == 1 {
		rank = math.Pow(n, u)
	} else {
		rank = math.Pow(1+u*s.zipfSpan, 1/(1-s.skew))
	}
	ordinal := s.keys - min(uint64(rank), s.keys)
	if ordinal < low {
		ordinal = low + ordinal%(high-low)
	}
	return ordinal
}

// key returns the key number of an ordinal. Of a block's inserts the first few take over the keys of the ordinals that
// the block before deleted first; the others make new key numbers.
func (s *Sequence) key(ordinal uint64) uint64 {
	for ordinal >= s.keys {
		insert := ordinal - s.keys
		block, place := insert/s.inserts, insert%s.inserts
		if block == 0 {
			return ordinal
		}
		if place >= s.recreated {
			return s.keys + s.inserts + (block-1)*(s.inserts-s.recreated) + place - s.recreated
		}
		ordinal = (block-1)*s.deletes + place
	}
	hi, lo := bits.Mul64(ordinal, s.stride)
	return bits.Rem64(hi, lo, s.keys)
}

// KeyNumbers returns a bound above every key number in use before change i.
func (s *Sequence) KeyNumbers(i uint64) uint64 {
	if i == 0 {
		return s.keys
	}
	return s.keys + s.inserts + (i-1)/blockChanges*(s.inserts-s.recreated)
}

// end returns the change number at which the transaction of change i ends.
func (s *Sequence) end(i uint64) uint64 {
	return min((i/s.transactionRows+1)*s.transactionRows, s.limit)
}

// hash mixes three numbers (the finalizer of SplitMix64 over a linear combination with odd constants).
func hash(a, b, c uint64) uint64 {
	return scramble(a*0x9e3779b97f4a7c15 + b*0xd1b54a32d192ed03 + c*0x8cb92ba72f3d8dd7 + 0x2545f4914f6cdd1d)
}

func scramble(x uint64) uint64 {
	x = (x ^ x>>30) * 0xbf58476d1ce4e5b9
	x = (x ^ x>>27) * 0x94d049bb133111eb
	return x ^ x>>31
}
