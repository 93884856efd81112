package maskindex

import (
	"fmt"
	"math"

	"github.com/tidemarkdb/tidemark/sqlerr"
)

// Width is the number of bits in a fingerprint: Width64 or Width128.
type Width uint8

// The widths of fingerprints.
const (
	Width64  Width = 64  // exact: equal fingerprints are equal keys
	Width128 Width = 128 // xxh3-128: odds of one false match are below 1e-18 at ten billion keys
)

// Keys is a batch of fingerprints in row order. Lo is nil for 64-bit keys and as long as Hi for 128-bit keys.
type Keys struct {
	Hi []uint64
	Lo []uint64
}

// Len returns the number of keys.
func (k *Keys) Len() int { return len(k.Hi) }

// Width returns the width of the keys.
func (k *Keys) Width() Width {
	if k.Lo != nil {
		return Width128
	}
	return Width64
}

// Reset empties the batch for keys of width w and keeps its memory.
func (k *Keys) Reset(w Width) {
	k.Hi = k.Hi[:0]
	if w == Width64 {
		k.Lo = nil
		return
	}
	if k.Lo == nil {
		k.Lo = []uint64{}
	}
	k.Lo = k.Lo[:0]
}

func (k *Keys) check() error {
	if k.Lo != nil && len(k.Lo) != len(k.Hi) {
		return sqlerr.New(sqlerr.Internal, "maskindex: %d high and %d low halves of keys", len(k.Hi), len(k.Lo))
	}
	if len(k.Hi) > math.MaxInt32 {
		return sqlerr.New(sqlerr.ProgramLimitExceeded, "a batch of %d merge keys exceeds %d; split it",
			len(k.Hi), math.MaxInt32)
	}
	return nil
}

// Batch is a batch of fingerprints in ascending order, ready to be probed against any number of files. It is safe
// for concurrent use.
type Batch struct {
	hi, lo []uint64
	idx    []uint32 // place of each key in the Keys it was made from
}

// NewBatch sorts keys. It copies what it needs: keys may be reused at once.
func NewBatch(keys *Keys) (*Batch, error) {
	if err := keys.check(); err != nil {
		return nil, err
	}
	items := sortKeys(keys)
	b := &Batch{hi: make([]uint64, len(items)), idx: make([]uint32, len(items))}
	for i, it := range items {
		b.hi[i], b.idx[i] = it.hi, it.idx
	}
	if keys.Lo != nil {
		b.lo = make([]uint64, len(items))
		for i, it := range items {
			b.lo[i] = keys.Lo[it.idx]
		}
	}
	return b, nil
}

// Len returns the number of keys.
func (b *Batch) Len() int { return len(b.hi) }

// Width returns the width of the keys.
func (b *Batch) Width() Width {
	if b.lo != nil {
		return Width128
	}
	return Width64
}

func (b *Batch) low(i int) uint64 {
	if b.lo == nil {
		return 0
	}
	return b.lo[i]
}

// Position is the place of one row version.
type Position struct {
	Tablet uint64 // tablet id
	Row    uint32 // row ordinal in the tablet, from 0
}

func (p Position) String() string { return fmt.Sprintf("tablet %d row %d", p.Tablet, p.Row) }
