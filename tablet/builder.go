package tablet

import (
	"fmt"
	"slices"

	"github.com/tidemarkdb/tidemark/tablet/pmap"
)

// Builder makes a changed copy of a [Set]. Its methods refuse changes that do not fit the set; a builder that
// refused one must be dropped. It belongs to one goroutine.
type Builder struct {
	from     *Set
	base     *pmap.Editor[ID, Base]
	staging  *pmap.Editor[stageKey, Staged]
	stagedBy *pmap.Editor[ID, stageKey]
	runs     []Run
	totals   Totals

	baseChanged, stagingChanged, runsChanged bool
}

// Edit starts a changed copy.
func (s *Set) Edit() *Builder {
	return &Builder{
		from: s, base: s.base.Edit(), staging: s.staging.Edit(), stagedBy: s.stagedBy.Edit(),
		runs: s.runs, totals: s.totals,
	}
}

// Has reports whether a tablet is in base or staging.
func (b *Builder) Has(id ID) bool {
	_, inBase := b.base.Get(id)
	_, staged := b.stagedBy.Get(id)
	return inBase || staged
}

// Base returns a tablet of the base.
func (b *Builder) Base(id ID) (Base, bool) { return b.base.Get(id) }

// Staged returns a tablet of staging.
func (b *Builder) Staged(id ID) (Staged, bool) {
	key, ok := b.stagedBy.Get(id)
	if !ok {
		return Staged{}, false
	}
	return b.staging.Get(key)
}

// Totals returns the sums so far.
func (b *Builder) Totals() Totals { return b.totals }

// AddBase adds a tablet to the base.
func (b *Builder) AddBase(t Base) error {
	if err := checkMask(t); err != nil {
		return err
	}
	if b.Has(t.ID) {
		return fmt.Errorf("tablet %s is in the table already", t.ID)
	}
	b.base.Set(t.ID, t)
	b.count(t.Desc, t.Mask, +1)
	b.baseChanged = true
	return nil
}

// RemoveBase takes a tablet out of the base and returns it.
func (b *Builder) RemoveBase(id ID) (Base, error) {
	t, ok := b.base.Delete(id)
	if !ok {
		return Base{}, fmt.Errorf("tablet %s is not in the base", id)
	}
	b.count(t.Desc, t.Mask, -1)
	b.baseChanged = true
	return t, nil
}

// SetMask replaces the committed mask of a tablet of the base and returns the one before.
func (b *Builder) SetMask(id ID, mask MaskRef) (MaskRef, error) {
	t, ok := b.base.Get(id)
	if !ok {
		return MaskRef{}, fmt.Errorf("tablet %s is not in the base", id)
	}
	old := t.Mask
	if old == mask {
		return old, nil
	}
	t.Mask = mask
	if err := checkMask(t); err != nil {
		return old, err
	}
	b.base.Set(id, t)
	b.totals.MaskedRows += mask.Cardinality - old.Cardinality
	b.baseChanged = true
	return old, nil
}

// Stage adds a tablet to staging. Its place must be free.
func (b *Builder) Stage(t Staged) error {
	if t.Desc == nil || t.ID == 0 {
		return fmt.Errorf("a staged tablet has no description")
	}
	if t.Append == 0 || t.Append >= 1<<(64-partBits) || t.Part > MaxPart {
		return fmt.Errorf("tablet %s has place %d of append %d, which is out of range", t.ID, t.Part, t.Append)
	}
	if b.Has(t.ID) {
		return fmt.Errorf("tablet %s is in the table already", t.ID)
	}
	key := keyOf(t)
	if other, taken := b.staging.Get(key); taken {
		return fmt.Errorf("tablet %s has the place of %s in append %d", t.ID, other.ID, t.Append)
	}
	b.staging.Append(key, t)
	b.stagedBy.Set(t.ID, key)
	b.totals.StagingTablets++
	b.totals.StagingRows += t.Rows
	b.totals.Bytes += t.FileBytes + t.SidecarBytes
	b.stagingChanged = true
	return nil
}

// Unstage takes a tablet out of staging and returns it.
func (b *Builder) Unstage(id ID) (Staged, error) {
	key, ok := b.stagedBy.Delete(id)
	if !ok {
		return Staged{}, fmt.Errorf("tablet %s is not in staging", id)
	}
	t, _ := b.staging.Delete(key)
	b.totals.StagingTablets--
	b.totals.StagingRows -= t.Rows
	b.totals.Bytes -= t.FileBytes + t.SidecarBytes
	b.stagingChanged = true
	return t, nil
}

// Clear removes every tablet and run.
func (b *Builder) Clear() {
	b.baseChanged = b.baseChanged || b.base.Len() > 0
	b.stagingChanged = b.stagingChanged || b.staging.Len() > 0
	b.runsChanged = b.runsChanged || len(b.runs) > 0
	b.base, b.staging, b.stagedBy = pmap.Map[ID, Base]{}.Edit(), pmap.Map[stageKey, Staged]{}.Edit(), pmap.Map[ID, stageKey]{}.Edit()
	b.runs, b.totals = nil, Totals{}
}

// ReplaceRuns removes the runs of the given IDs, each of which must be there, and adds others.
func (b *Builder) ReplaceRuns(remove []ID, add []Run) error {
	runs := slices.Clone(b.runs)
	for _, id := range remove {
		i := slices.IndexFunc(runs, func(r Run) bool { return r.ID == id })
		if i < 0 {
			return fmt.Errorf("run %s is not in the table", id)
		}
		runs = slices.Delete(runs, i, i+1)
	}
	for _, r := range add {
		if r.ID == 0 || r.Rows < 0 || r.Bytes < 0 {
			return fmt.Errorf("run %s has no proper description", r.ID)
		}
		if slices.ContainsFunc(runs, func(o Run) bool { return o.ID == r.ID }) {
			return fmt.Errorf("run %s is in the table already", r.ID)
		}
		runs = append(runs, r)
	}
	b.runs = runs
	b.runsChanged = b.runsChanged || len(remove)+len(add) > 0
	return nil
}

// Set ends the build. The version goes to what changed; the set it started from is returned when nothing did.
func (b *Builder) Set(version uint64) *Set {
	if !b.baseChanged && !b.stagingChanged && !b.runsChanged {
		return b.from
	}
	s := &Set{
		table: b.from.table, version: b.from.version, runsVersion: b.from.runsVersion,
		base: b.from.base, staging: b.from.staging, stagedBy: b.from.stagedBy,
		runs: b.runs, totals: b.totals, baseView: b.from.baseView,
	}
	if b.baseChanged {
		s.base, s.baseView = b.base.Map(), new(laidOut[Base])
	}
	if b.stagingChanged {
		s.staging, s.stagedBy = b.staging.Map(), b.stagedBy.Map()
	}
	if b.baseChanged || b.stagingChanged {
		s.version = version
	}
	if b.runsChanged {
		s.runsVersion = version
	}
	return s
}

func (b *Builder) count(d *Desc, mask MaskRef, sign int64) {
	b.totals.BaseTablets += int(sign)
	b.totals.BaseRows += sign * d.Rows
	b.totals.MaskedRows += sign * mask.Cardinality
	b.totals.Bytes += sign * (d.FileBytes + d.SidecarBytes)
}

func checkMask(t Base) error {
	if t.Desc == nil || t.ID == 0 {
		return fmt.Errorf("a base tablet has no description")
	}
	m := t.Mask
	if m.IsZero() {
		return nil
	}
	if m.File == 0 || m.Offset < 0 || m.Length <= 0 || m.Cardinality <= 0 || m.Cardinality > t.Rows {
		return fmt.Errorf("the mask of tablet %s (%d of %d rows at %d+%d of %s) is out of range",
			t.ID, m.Cardinality, t.Rows, m.Offset, m.Length, m.File)
	}
	return nil
}

// Restore returns a set as it was stored, with both versions. The members must be distinct.
func Restore(v *View) (*Set, error) {
	b := NewSet(v.Table, v.Version).Edit()
	for _, t := range v.Base {
		if err := b.AddBase(t); err != nil {
			return nil, err
		}
	}
	for _, t := range v.Staging {
		if err := b.Stage(t); err != nil {
			return nil, err
		}
	}
	if err := b.ReplaceRuns(nil, v.Runs); err != nil {
		return nil, err
	}
	s := b.Set(v.Version)
	if s == b.from {
		s = NewSet(v.Table, v.Version)
	}
	s.runsVersion = v.RunsVersion
	return s, nil
}
