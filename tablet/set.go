package tablet

import (
	"iter"
	"sync"

	"github.com/tidemarkdb/tidemark/tablet/pmap"
)

// Set is the tablets of one table at one version. It is immutable, shares structure with its neighbours, and may be
// used from any goroutine.
type Set struct {
	table       TableID
	version     uint64
	runsVersion uint64
	base        pmap.Map[ID, Base]
	staging     pmap.Map[stageKey, Staged]
	stagedBy    pmap.Map[ID, stageKey]
	runs        []Run
	totals      Totals

	baseView *laidOut[Base] // shared by the sets of one base
	view     laidOut[*View]
}

// stageKey orders staging: append number above the part.
type stageKey uint64

const partBits = 20

// MaxPart is the largest place a tablet may have within its append.
const MaxPart = 1<<partBits - 1

func keyOf(s Staged) stageKey { return stageKey(s.Append<<partBits | uint64(s.Part)) }

// laidOut is a value computed once, at first use.
type laidOut[T any] struct {
	once  sync.Once
	items []T
}

// Totals are sums over a set, kept as it changes.
type Totals struct {
	BaseTablets, StagingTablets int
	BaseRows, StagingRows       int64 // stored, dead ones included
	MaskedRows                  int64 // rows of the base that committed masks hide
	Bytes                       int64 // Parquet and sidecars
}

// NewSet returns the empty set of a table.
func NewSet(table TableID, version uint64) *Set {
	return &Set{table: table, version: version, baseView: new(laidOut[Base])}
}

// Table returns the table the set belongs to.
func (s *Set) Table() TableID { return s.table }

// Version identifies the tablets and masks of the set among all versions of its table.
func (s *Set) Version() uint64 { return s.version }

// RunsVersion identifies the runs of the set among all versions of its table.
func (s *Set) RunsVersion() uint64 { return s.runsVersion }

// Totals returns sums over the set in constant time.
func (s *Set) Totals() Totals { return s.totals }

// Empty reports that the set has no tablet.
func (s *Set) Empty() bool { return s.base.Len() == 0 && s.staging.Len() == 0 }

// BaseTablet returns a tablet of the base.
func (s *Set) BaseTablet(id ID) (Base, bool) { return s.base.Get(id) }

// StagedTablet returns a tablet of staging.
func (s *Set) StagedTablet(id ID) (Staged, bool) {
	key, ok := s.stagedBy.Get(id)
	if !ok {
		return Staged{}, false
	}
	return s.staging.Get(key)
}

// Desc returns the description of a tablet of base or staging.
func (s *Set) Desc(id ID) (*Desc, bool) {
	if b, ok := s.base.Get(id); ok {
		return b.Desc, true
	}
	staged, ok := s.StagedTablet(id)
	return staged.Desc, ok
}

// Base yields the base in ID order.
func (s *Set) Base() iter.Seq[Base] {
	return func(yield func(Base) bool) {
		for _, b := range s.base.All() {
			if !yield(b) {
				return
			}
		}
	}
}

// Staging yields staging in order of (Append, Part).
func (s *Set) Staging() iter.Seq[Staged] {
	return func(yield func(Staged) bool) {
		for _, t := range s.staging.All() {
			if !yield(t) {
				return
			}
		}
	}
}

// Runs returns the runs of the key index; the slice must not be changed.
func (s *Set) Runs() []Run { return s.runs }

// View lays the set out. The first call costs O(tablets), less when only staging changed since a view of an earlier
// set was made; later calls are free.
func (s *Set) View() *View {
	s.view.once.Do(func() {
		s.baseView.once.Do(func() {
			s.baseView.items = make([]Base, 0, s.base.Len())
			for _, b := range s.base.All() {
				s.baseView.items = append(s.baseView.items, b)
			}
		})
		staging := make([]Staged, 0, s.staging.Len())
		for _, t := range s.staging.All() {
			staging = append(staging, t)
		}
		s.view.items = []*View{{
			Table: s.table, Version: s.version, RunsVersion: s.runsVersion,
			Base: s.baseView.items[:len(s.baseView.items):len(s.baseView.items)], Staging: staging, Runs: s.runs,
		}}
	})
	return s.view.items[0]
}
