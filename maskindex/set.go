package maskindex

import (
	"reflect"
	"sync/atomic"

	"github.com/RoaringBitmap/roaring/v2"
	"github.com/tidemarkdb/tidemark/sqlerr"
)

// Tablet is a tablet as resolution sees it.
type Tablet struct {
	ID        uint64
	Rows      uint32
	Committed *roaring.Bitmap // committed dead rows, nil for none and in staging; must not change later

	// The rest is for staging tablets. Tablets of one append agree in Append, TruncateBefore and Disjoint.

	Keys           string // name of the sidecar
	Append         uint64 // order of the append that wrote the tablet; tablets of one append share it
	TruncateBefore bool   // the append begins with a TRUNCATE: it masks every row of older appends and of the base
	Disjoint       bool   // no key lies in two tablets of the append, so they need no look-up among each other
}

// Base is the base tablets of a table with their committed masks. It is immutable: make one for each change of them
// and use it for every set until the next.
type Base struct {
	identity any
	tablets  map[uint64]Tablet
	masks    map[uint64]*Mask // of tablets with dead rows
	index    []string
	bytes    int64
	covered  atomic.Bool // every tablet was found in a file of index
}

// tabletBytes estimates the memory of a tablet with its place in a map.
const tabletBytes = 128

// NewBase returns the base of a table. identity is a comparable value that changes whenever a base tablet or its
// committed mask changes, such as the catalog version of the last such commit. index names the key files, runs and
// sidecars, that together cover every tablet; it may name files that hold entries of tablets that are gone. A table
// without a merge key has no index.
func NewBase(identity any, tablets []Tablet, index []string) (*Base, error) {
	if identity != nil && !reflect.TypeOf(identity).Comparable() {
		return nil, sqlerr.New(sqlerr.Internal, "a base identity of type %T is not comparable", identity)
	}
	b := &Base{identity: identity, tablets: make(map[uint64]Tablet, len(tablets)), masks: map[uint64]*Mask{}, index: index}
	for _, t := range tablets {
		if _, twice := b.tablets[t.ID]; twice {
			return nil, sqlerr.New(sqlerr.Internal, "tablet %d occurs twice in a base", t.ID)
		}
		b.tablets[t.ID] = t
		b.bytes += tabletBytes
		if t.Committed == nil || t.Committed.IsEmpty() {
			continue
		}
		m, err := NewMask(t.Committed, t.Rows)
		if err != nil {
			return nil, sqlerr.New(sqlerr.DataCorrupted, "tablet %d: %w", t.ID, err)
		}
		b.masks[t.ID] = m
		b.bytes += maskBytes(m)
	}
	return b, nil
}

// committed returns the committed mask of a base tablet.
func (b *Base) committed(t Tablet) *Mask {
	if m := b.masks[t.ID]; m != nil {
		return m
	}
	return &Mask{rows: t.Rows}
}

// Set is the tablets of a table at one snapshot. A table that is not fed by changes has no staging tablets: its masks
// are the committed ones. The tablets of one append leave staging together.
type Set struct {
	Table   uint64
	Base    *Base
	Staging []Tablet // from old to new: by append, then by ordinal in the append
}

func (s *Set) check() error {
	for i, t := range s.Staging {
		if i > 0 && t.Append < s.Staging[i-1].Append {
			return sqlerr.New(sqlerr.Internal, "table %d: staging tablet %d is out of order", s.Table, t.ID)
		}
		if i > 0 && t.Append == s.Staging[i-1].Append &&
			(t.TruncateBefore != s.Staging[i-1].TruncateBefore || t.Disjoint != s.Staging[i-1].Disjoint) {
			return sqlerr.New(sqlerr.Internal, "table %d: the tablets of append %d differ in what they say of it",
				s.Table, t.Append)
		}
		if t.Committed != nil {
			return sqlerr.New(sqlerr.Internal, "table %d: staging tablet %d has a committed mask", s.Table, t.ID)
		}
		if _, in := s.Base.tablets[t.ID]; in {
			return sqlerr.New(sqlerr.Internal, "table %d: tablet %d is both in the base and in staging", s.Table, t.ID)
		}
	}
	return nil
}

// Masks is the dead rows of every tablet of a set, committed and resolved. It is immutable and safe for concurrent use.
type Masks struct {
	base      *Base
	over      map[uint64]*Mask // staging tablets, and base tablets with rows that staging supersedes
	truncated bool             // every base row is dead
}

// Of returns the mask of a tablet of the set; asking for another tablet is an error.
func (m *Masks) Of(tablet uint64) (*Mask, error) {
	if k := m.over[tablet]; k != nil {
		return k, nil
	}
	t, ok := m.base.tablets[tablet]
	if !ok {
		return nil, sqlerr.New(sqlerr.Internal, "tablet %d is not in the set the masks were resolved for", tablet)
	}
	if m.truncated {
		return fullMask(t.Rows), nil
	}
	return m.base.committed(t), nil
}

// has reports whether the tablet is in the set.
func (m *Masks) has(tablet uint64) bool {
	_, base := m.base.tablets[tablet]
	return base || m.over[tablet] != nil
}

// LiveRows returns the number of live rows in the whole set.
func (m *Masks) LiveRows() uint64 {
	live := uint64(0)
	for _, k := range m.over {
		live += uint64(k.Live())
	}
	for id, t := range m.base.tablets {
		if m.over[id] == nil && !m.truncated {
			live += uint64(m.base.committed(t).Live())
		}
	}
	return live
}

// Resolved calls yield for every tablet whose mask is more than its committed one, and for every staging tablet: what
// a cascade commits.
func (m *Masks) Resolved(yield func(tablet uint64, mask *Mask) bool) {
	for id, k := range m.over {
		if !yield(id, k) {
			return
		}
	}
	if !m.truncated {
		return
	}
	for id, t := range m.base.tablets {
		if m.over[id] == nil && !m.base.committed(t).All() && !yield(id, fullMask(t.Rows)) {
			return
		}
	}
}
