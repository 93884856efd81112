package catalog

import (
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/tidemarkdb/tidemark/objstore"
	"github.com/tidemarkdb/tidemark/objstore/errstore"
	"github.com/tidemarkdb/tidemark/sqlerr"
	"github.com/tidemarkdb/tidemark/tablet"
)

// aging is a root whose clock the test moves.
type aging struct {
	*root
	now time.Time
}

func newAging(t *testing.T, store objstore.Store) *aging {
	a := &aging{now: time.Now()}
	a.root = openRoot(t, store, OpenOptions{CheckpointEvery: -1, Now: func() time.Time { return a.now }})
	return a
}

func (a *aging) sweep() Swept {
	a.t.Helper()
	swept, err := a.Sweep(a.t.Context())
	if err != nil {
		a.t.Fatal(err)
	}
	return swept
}

func (a *aging) add(table tablet.TableID, rows int64) *tablet.Desc {
	a.t.Helper()
	d := desc(rows)
	if err := writeFiles(a.t.Context(), a.store, table, d); err != nil {
		a.t.Fatal(err)
	}
	a.must(insert(table, d))
	return d
}

func (a *aging) exists(path string) bool {
	a.t.Helper()
	_, err := a.store.Stat(a.t.Context(), path)
	if err != nil && !errors.Is(err, objstore.ErrNotFound) {
		a.t.Fatal(err)
	}
	return err == nil
}

func TestSweepDeletesWhatIsForgottenAndOld(t *testing.T) {
	a := newAging(t, objstore.NewMem(nil))
	m := managed("m")
	a.must(m)
	old := a.add(m.ID, 10)
	before := a.Snapshot().Version()
	a.must(&Truncate{Table: m.ID, SchemaVersion: 1})
	kept := a.add(m.ID, 20)

	if swept := a.sweep(); swept != (Swept{}) || !a.exists(old.ParquetPath(m.ID)) {
		t.Errorf("swept %+v at once", swept)
	}
	p, err := a.PinAt(t.Context(), before)
	if err != nil {
		t.Fatal(err)
	}
	a.now = a.now.Add(59 * time.Minute)
	if swept := a.sweep(); swept != (Swept{}) {
		t.Errorf("swept %+v within the retention", swept)
	}
	a.now = a.now.Add(2 * time.Minute)
	if swept := a.sweep(); swept.Files != 0 || !a.exists(old.ParquetPath(m.ID)) {
		t.Errorf("swept %+v, which is pinned", swept)
	}
	p.Release()
	p.Release()
	if swept := a.sweep(); swept.Files != 2 || a.exists(old.ParquetPath(m.ID)) || a.exists(old.SidecarPath(m.ID)) {
		t.Errorf("swept %+v, want the tablet and its sidecar", swept)
	}
	if !a.exists(kept.ParquetPath(m.ID)) || !a.exists(kept.SidecarPath(m.ID)) {
		t.Error("a file in use was swept")
	}
	if _, err := a.PinAt(t.Context(), before); sqlerr.Code(err) != sqlerr.InvalidParameterValue {
		t.Errorf("a version that lost files was pinned: %v", err)
	}
	if _, err := openRoot(t, a.store, a.options).PinAt(t.Context(), before); sqlerr.Code(err) != sqlerr.InvalidParameterValue {
		t.Errorf("another process pinned a version that lost files: %v", err)
	}
	if report, err := Check(t.Context(), a.store, CheckOptions{}); err != nil || !report.OK() || len(report.Orphans) != 0 {
		t.Errorf("%+v, %v", report, err)
	}
	// The list is shortened by the next sweep, and there is nothing more to say after it.
	a.sweep()
	if n := a.Snapshot().garbage.Len(); n != 0 {
		t.Errorf("%d lists of garbage are left", n)
	}
	version := a.Snapshot().Version()
	if swept := a.sweep(); swept != (Swept{}) || a.Snapshot().Version() != version {
		t.Errorf("an idle sweep did %+v and made version %d", swept, a.Snapshot().Version())
	}
}

func TestMaskFilesGoWithTheirLastReference(t *testing.T) {
	a := newAging(t, objstore.NewMem(nil))
	m := managed("m")
	a.must(m)
	one, two := a.add(m.ID, 10), a.add(m.ID, 10)
	file := tablet.NewID()
	if err := a.store.Put(t.Context(), tablet.MaskPath(file), []byte("masks")); err != nil {
		t.Fatal(err)
	}
	mask := tablet.MaskRef{File: file, Length: 2, Cardinality: 3}
	a.must(&Modify{Table: m.ID, SchemaVersion: 1, Masks: []MaskChange{{Tablet: one.ID, To: mask}, {Tablet: two.ID, To: mask}}})
	a.must(&Modify{Table: m.ID, SchemaVersion: 1, Remove: []MaskedTablet{{one.ID, mask}}})
	a.now = a.now.Add(2 * time.Hour)
	if a.sweep(); !a.exists(tablet.MaskPath(file)) {
		t.Error("the mask of the second tablet is gone")
	}
	// Moving the reference within one commit keeps the file.
	three := desc(10)
	if err := writeFiles(t.Context(), a.store, m.ID, three); err != nil {
		t.Fatal(err)
	}
	a.must(&Modify{Table: m.ID, SchemaVersion: 1, Remove: []MaskedTablet{{two.ID, mask}}, Add: []tablet.Base{{Desc: three, Mask: mask}}})
	a.now = a.now.Add(2 * time.Hour)
	if a.sweep(); !a.exists(tablet.MaskPath(file)) {
		t.Error("the mask that moved to another tablet is gone")
	}
	a.must(&DropTable{Table: m.ID})
	a.now = a.now.Add(2 * time.Hour)
	if swept := a.sweep(); a.exists(tablet.MaskPath(file)) || swept.Files != 3 {
		t.Errorf("swept %+v, want the last tablet, its sidecar and its mask", swept)
	}
}

func TestSweepGoesOnAfterAFailure(t *testing.T) {
	store := errstore.Wrap(objstore.NewMem(nil), nil)
	a := newAging(t, store)
	m := managed("m")
	a.must(m)
	a.add(m.ID, 10)
	a.must(&DropTable{Table: m.ID})
	a.now = a.now.Add(2 * time.Hour)
	store.SetRule(errstore.OnNth(2, errstore.Matching(tablet.TablesDir, errstore.OpDelete), errstore.Verdict{Before: errBoom}))
	if _, err := a.Sweep(t.Context()); !errors.Is(err, errBoom) {
		t.Errorf("the failure became %v", err)
	}
	again := &aging{root: openRoot(t, store, a.options), now: a.now} // another process takes over
	again.sweep()
	for info, err := range store.List(t.Context(), tablet.TablesDir, "") {
		t.Errorf("%s is left, %v", info.Path, err)
	}
}

func TestTheLogIsCutBehindAnOldCheckpoint(t *testing.T) {
	a := newAging(t, objstore.NewMem(nil))
	for i := range 9 {
		a.must(&SetSetting{Name: "n", Value: fmt.Sprint(i)})
		if i == 2 || i == 5 || i == 8 {
			if err := a.Checkpoint(t.Context()); err != nil {
				t.Fatal(err)
			}
		}
		a.now = a.now.Add(10 * time.Minute)
	}
	// It is 90 minutes: the commits 1 to 4 are older than an hour, so the checkpoint of 3 is the one to keep.
	if swept := a.sweep(); swept.LogEntries != 2 {
		t.Errorf("swept %+v, want the entries 1 and 2", swept)
	}
	for v := uint64(3); v <= 9; v++ {
		p, err := a.PinAt(t.Context(), v)
		if err != nil {
			t.Errorf("version %d: %v", v, err)
			continue
		}
		if n, _ := p.Setting("n"); n != fmt.Sprint(v-1) {
			t.Errorf("version %d has n = %s", v, n)
		}
		p.Release()
	}
	for _, v := range []uint64{1, 2} {
		if _, err := a.PinAt(t.Context(), v); sqlerr.Code(err) != sqlerr.InvalidParameterValue {
			t.Errorf("version %d: %v", v, err)
		}
	}
	if _, err := a.PinAsOf(t.Context(), a.now.Add(-89*time.Minute)); sqlerr.Code(err) != sqlerr.InvalidParameterValue {
		t.Errorf("before the cut: %v", err)
	}
	sameState(t, openRoot(t, a.store, OpenOptions{}).Snapshot(), a.Snapshot())
	a.now = a.now.Add(2 * time.Hour)
	if swept := a.sweep(); swept.LogEntries != 8 {
		t.Errorf("swept %+v, want the entries 3 to 8 and the checkpoints 3 and 6 without the entry of the last", swept)
	}
	sameState(t, openRoot(t, a.store, OpenOptions{}).Snapshot(), a.Snapshot())
}

func TestSweepSparesALogWhoseCheckpointIsDamaged(t *testing.T) {
	a := newAging(t, objstore.NewMem(nil))
	for range 4 {
		a.must(&SetSetting{Name: "n", Value: "1"})
	}
	if err := a.Checkpoint(t.Context()); err != nil {
		t.Fatal(err)
	}
	b, err := a.store.Get(t.Context(), checkpointPath(4))
	if err != nil {
		t.Fatal(err)
	}
	b[len(b)-1] ^= 1
	if err := a.store.Put(t.Context(), checkpointPath(4), b); err != nil {
		t.Fatal(err)
	}
	a.now = a.now.Add(2 * time.Hour)
	if _, err := a.Sweep(t.Context()); sqlerr.Code(err) != sqlerr.DataCorrupted {
		t.Errorf("sweeping behind a damaged checkpoint: %v", err)
	}
	if !a.exists(entryPath(1)) {
		t.Error("the log is cut although nothing else has what it says")
	}
}

func TestCheckpointsComeByThemselves(t *testing.T) {
	r := openRoot(t, objstore.NewMem(nil), OpenOptions{CheckpointEvery: 3, Report: func(err error) { t.Error(err) }})
	for range 7 {
		r.must(&SetSetting{Name: "n", Value: "1"})
		r.background.Wait()
	}
	versions, err := listVersions(t.Context(), r.store, checkpointPrefix, 0)
	if err != nil || fmt.Sprint(versions) != "[3 6]" {
		t.Errorf("checkpoints %v, %v", versions, err)
	}
}

func TestCheckpointFailureIsReportedAndHarmless(t *testing.T) {
	store := errstore.Wrap(objstore.NewMem(nil), nil)
	var reported error
	r := openRoot(t, store, OpenOptions{CheckpointEvery: 1, Report: func(err error) { reported = err }})
	store.SetRule(errstore.OnNth(1, errstore.Matching(checkpointPrefix), errstore.Verdict{Before: errBoom}))
	r.must(&SetSetting{Name: "n", Value: "1"})
	r.background.Wait()
	if !errors.Is(reported, errBoom) {
		t.Errorf("reported %v", reported)
	}
	sameState(t, openRoot(t, store, OpenOptions{}).Snapshot(), r.Snapshot())
}
