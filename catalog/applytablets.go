package catalog

import (
	"bytes"

	"github.com/tidemarkdb/tidemark/sqlerr"
	"github.com/tidemarkdb/tidemark/tablet"
)

func (e *Append) apply(d *draft) error {
	t, ingest, err := d.working(e.Table, e.Epoch)
	if err != nil {
		return err
	}
	if err := t.refuseUnloaded(); err != nil {
		return err
	}
	if t.MergeMode != MergeRead {
		return broken("table %q has no staging: its merge_mode is 'write'", t.Name)
	}
	if e.FromPosition != nil && !bytes.Equal(e.FromPosition, ingest.Position) {
		return outdated("the stream position of table %q is not where this append begins", t.Name)
	}
	b := t.Tablets.Edit()
	if e.Truncate {
		d.forgetSet(t.Tablets)
		b.Clear()
		ingest.AdoptedAppend = ingest.LastAppend
	}
	if len(e.Tablets) > 0 {
		ingest.LastAppend++
	}
	for part, desc := range e.Tablets {
		staged := tablet.Staged{Desc: desc, Append: ingest.LastAppend, Part: uint32(part), SourceMicros: e.Progress.SourceMicros}
		if err := b.Stage(staged); err != nil {
			return broken("append to %q: %w", t.Name, err)
		}
	}
	if err := ingest.advance(e.Progress, d.micros, len(e.Tablets) > 0 || e.Truncate); err != nil {
		return err
	}
	t.Tablets = b.Set(d.setVersion)
	d.putTable(t)
	return nil
}

func (e *Load) apply(d *draft) error {
	t, ingest, err := d.working(e.Table, e.Epoch)
	if err != nil {
		return err
	}
	d.forgetSet(t.Tablets)
	b := t.Tablets.Edit()
	b.Clear()
	for _, desc := range e.Tablets {
		if err := b.AddBase(tablet.Base{Desc: desc}); err != nil {
			return broken("load of %q: %w", t.Name, err)
		}
	}
	if err := b.ReplaceRuns(nil, e.Runs); err != nil {
		return broken("load of %q: %w", t.Name, err)
	}
	d.moveLoad(t, ingest)
	if err := ingest.advance(e.Progress, d.micros, true); err != nil {
		return err
	}
	ingest.SourceMicros, ingest.BaseSourceMicros = 0, 0
	ingest.AdoptedAppend = ingest.LastAppend
	t.Tablets = b.Set(d.setVersion)
	d.putTable(t)
	return nil
}

// moveLoad records that the attached stream fills t from now on. A table it filled before can no longer continue from
// its position there, and must be loaded again.
func (d *draft) moveLoad(t *Table, ingest *Ingest) {
	d.setLoaded(ingest.LoadedBy, t.ID, 0)
	ingest.LoadedBy = ingest.Stream
	s, ok := d.streamIDs.get(ingest.Stream)
	if !ok {
		return
	}
	if other, ok := d.tables.get(s.Loaded); ok && other.ID != t.ID && other.Ingest != nil && other.Ingest.LoadedBy == s.ID {
		left, before := *other, *other.Ingest
		before.LoadedBy, before.Position, before.PositionText = 0, nil, ""
		left.Ingest = &before
		d.putTable(&left)
	}
	d.setLoaded(s.ID, s.Loaded, t.ID)
}

func (e *Adopt) apply(d *draft) error {
	t, ingest, err := d.cascading(e.Table, e.Epoch)
	if err != nil {
		return err
	}
	if ingest == nil {
		return broken("table %q has no staging", t.Name)
	}
	if e.AsOf > ingest.LastAppend {
		return broken("adoption as of append %d, table %q is at %d", e.AsOf, t.Name, ingest.LastAppend)
	}
	b := t.Tablets.Edit()
	leave := func(id tablet.ID) (tablet.Staged, error) {
		s, err := b.Unstage(id)
		if err != nil {
			return s, outdated("staging of table %q was replaced: %w", t.Name, err)
		}
		if s.Append > e.AsOf {
			return s, broken("tablet %s of append %d is adopted as of append %d", id, s.Append, e.AsOf)
		}
		ingest.BaseSourceMicros = max(ingest.BaseSourceMicros, s.SourceMicros)
		return s, nil
	}
	for _, a := range e.Adopted {
		s, err := leave(a.Staged)
		if err != nil {
			return err
		}
		if err := d.addBase(b, t, tablet.Base{Desc: s.Desc, Mask: a.Mask}); err != nil {
			return err
		}
	}
	for _, id := range e.Retired {
		s, err := leave(id)
		if err != nil {
			return err
		}
		d.forgetTablet(t.ID, s.Desc)
	}
	if err := d.change(b, t, e.Written, e.Masks, e.Dropped); err != nil {
		return err
	}
	ingest.AdoptedAppend = max(ingest.AdoptedAppend, e.AsOf)
	t.Tablets = b.Set(d.setVersion)
	for s := range t.Tablets.Staging() {
		if s.Append <= e.AsOf {
			return broken("adoption as of append %d leaves tablet %s of append %d in staging", e.AsOf, s.ID, s.Append)
		}
		break // in order of append
	}
	d.putTable(t)
	return nil
}

// cascading returns a table for work on its base, fenced when epoch is not zero.
func (d *draft) cascading(id tablet.TableID, epoch uint64) (*Table, *Ingest, error) {
	t, err := d.table(id)
	if err != nil {
		return nil, nil, err
	}
	changed := *t
	if t.Ingest == nil {
		return &changed, nil, nil
	}
	ingest := *t.Ingest
	changed.Ingest = &ingest
	if epoch != 0 {
		return &changed, &ingest, changed.fence(epoch)
	}
	return &changed, &ingest, nil
}

// change adds tablets, replaces masks and removes tablets of a base.
func (d *draft) change(b *tablet.Builder, t *Table, add []tablet.Base, masks []MaskChange, remove []MaskedTablet) error {
	for _, r := range remove {
		base, err := b.RemoveBase(r.Tablet)
		if err != nil {
			return outdated("table %q: %w", t.Name, err)
		}
		if base.Mask != r.Mask {
			return outdated("rows of tablet %s of table %q were changed", r.Tablet, t.Name)
		}
		d.releaseMask(base.Mask)
		d.forgetTablet(t.ID, base.Desc)
	}
	for _, m := range masks {
		base, ok := b.Base(m.Tablet)
		if !ok {
			return outdated("tablet %s of table %q was rewritten", m.Tablet, t.Name)
		}
		if base.Mask != m.From {
			return outdated("rows of tablet %s of table %q were changed", m.Tablet, t.Name)
		}
		if _, err := b.SetMask(m.Tablet, m.To); err != nil {
			return broken("table %q: %w", t.Name, err)
		}
		d.retainMask(m.To)
		d.releaseMask(m.From)
	}
	for _, base := range add {
		if err := d.addBase(b, t, base); err != nil {
			return err
		}
	}
	return nil
}

func (d *draft) addBase(b *tablet.Builder, t *Table, base tablet.Base) error {
	if err := b.AddBase(base); err != nil {
		return broken("table %q: %w", t.Name, err)
	}
	d.retainMask(base.Mask)
	return nil
}

func (e *ReplaceTablets) apply(d *draft) error {
	t, _, err := d.cascading(e.Table, e.Epoch)
	if err != nil {
		return err
	}
	b := t.Tablets.Edit()
	if err := d.change(b, t, e.Add, e.Masks, e.Remove); err != nil {
		return err
	}
	t.Tablets = b.Set(d.setVersion)
	d.putTable(t)
	return nil
}

func (e *Modify) apply(d *draft) error {
	t, ingest, err := d.modifying(e.Table, e.SchemaVersion)
	if err != nil {
		return err
	}
	if e.KeysAsOf != 0 && e.KeysAsOf != t.Tablets.Version() && !d.replaying {
		return outdated("rows of table %q were added or changed", t.Name)
	}
	if e.Ingest != nil {
		if ingest == nil {
			return broken("table %q has no stream position", t.Name)
		}
		if err := firstError(t.fence(e.Epoch), t.refuseFailed(), t.refuseUnloaded()); err != nil {
			return err
		}
		changed := len(e.Add)+len(e.Masks)+len(e.Remove) > 0
		if err := ingest.advance(*e.Ingest, d.micros, changed); err != nil {
			return err
		}
		ingest.BaseSourceMicros = ingest.SourceMicros
	}
	b := t.Tablets.Edit()
	if err := d.change(b, t, e.Add, e.Masks, e.Remove); err != nil {
		return err
	}
	t.Tablets = b.Set(d.setVersion)
	d.putTable(t)
	return nil
}

// modifying returns a copy of a table for DML made for one version of its columns.
func (d *draft) modifying(id tablet.TableID, schemaVersion uint32) (*Table, *Ingest, error) {
	t, ingest, err := d.cascading(id, 0)
	if err != nil {
		return nil, nil, err
	}
	if !t.OpenToDML() {
		return nil, nil, sqlerr.New(sqlerr.FeatureNotSupported, "CDC table %q in merge_mode 'read' takes rows from its stream alone", t.Name).
			Hintf("change the rows at the source; a table created with merge_mode = 'write' is open to INSERT, UPDATE, DELETE, MERGE and TRUNCATE")
	}
	if t.SchemaVersion != schemaVersion {
		return nil, nil, outdated("the columns of table %q were changed", t.Name)
	}
	return t, ingest, nil
}

func (e *Truncate) apply(d *draft) error {
	t, _, err := d.modifying(e.Table, e.SchemaVersion)
	if err != nil {
		return err
	}
	d.forgetSet(t.Tablets)
	b := t.Tablets.Edit()
	b.Clear()
	t.Tablets = b.Set(d.setVersion)
	d.putTable(t)
	return nil
}

func (e *ReplaceRuns) apply(d *draft) error {
	t, err := d.table(e.Table)
	if err != nil {
		return err
	}
	b := t.Tablets.Edit()
	if err := b.ReplaceRuns(e.Remove, e.Add); err != nil {
		return outdated("the key index of table %q was changed: %w", t.Name, err)
	}
	for _, id := range e.Remove {
		d.forget(tablet.RunFile, t.ID, id)
	}
	changed := *t
	changed.Tablets = b.Set(d.setVersion)
	d.putTable(&changed)
	return nil
}

func (e *expire) apply(d *draft) error {
	d.horizon = max(d.horizon, e.Horizon)
	for version := range d.garbage.freeze().All() {
		if version > e.Deleted {
			break
		}
		d.garbage.remove(version)
	}
	return nil
}

func firstError(errs ...error) error {
	for _, err := range errs {
		if err != nil {
			return err
		}
	}
	return nil
}
