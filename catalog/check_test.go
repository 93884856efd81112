package catalog

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/tidemarkdb/tidemark/objstore"
	"github.com/tidemarkdb/tidemark/tablet"
)

func TestCheckFindsEveryFault(t *testing.T) {
	ctx := t.Context()
	dir := t.TempDir()
	store, err := objstore.OpenLocal(dir)
	if err != nil {
		t.Fatal(err)
	}
	a := newAging(t, store)
	m := managed("m")
	a.must(m)
	good, short, lost, bad := a.add(m.ID, 10), a.add(m.ID, 11), a.add(m.ID, 12), a.add(m.ID, 13)
	old := a.add(m.ID, 14)
	a.must(&Modify{Table: m.ID, SchemaVersion: 1, Remove: []MaskedTablet{{Tablet: old.ID}}})
	orphan, stray := tablet.ParquetPath(m.ID, 5), tablet.TablesDir+"notes.txt"
	for path, size := range map[string]int64{orphan: 7, stray: 1, short.ParquetPath(m.ID): short.FileBytes - 1} {
		if err := store.Put(ctx, path, make([]byte, size)); err != nil {
			t.Fatal(err)
		}
	}
	if err := store.Delete(ctx, lost.SidecarPath(m.ID)); err != nil {
		t.Fatal(err)
	}
	if _, err := store.Create(ctx, "tables/unfinished"); err != nil { // a writer that crashed
		t.Fatal(err)
	}
	verified := 0
	verify := func(_ context.Context, f FileRef) error {
		verified++
		if f.ID == bad.ID && f.Kind == tablet.ParquetFile {
			return errBoom
		}
		return nil
	}

	report, err := Check(ctx, store, CheckOptions{Verify: verify})
	if err != nil {
		t.Fatal(err)
	}
	problems := map[string]error{}
	for _, p := range report.Problems {
		problems[p.Path] = p.Err
	}
	if len(problems) != 3 || !strings.Contains(problems[short.ParquetPath(m.ID)].Error(), "should have 110 bytes and has 109") ||
		!errors.Is(problems[lost.SidecarPath(m.ID)], objstore.ErrNotFound) || !errors.Is(problems[bad.ParquetPath(m.ID)], errBoom) {
		t.Errorf("problems %+v", report.Problems)
	}
	if report.Version != a.Snapshot().Version() || report.Tables != 1 || report.Files != 8 || report.Forgotten != 2 || verified != 6 || report.OK() {
		t.Errorf("report %+v after verifying %d files", report, verified)
	}
	if len(report.Orphans) != 2 || report.Orphans[0].Path != orphan || report.Orphans[0].Bytes != 7 || report.Orphans[0].Removed || report.Orphans[1].Path != stray {
		t.Errorf("orphans %+v", report.Orphans)
	}

	// Young orphans may be about to be committed.
	if report, err = Check(ctx, store, CheckOptions{Repair: true}); err != nil || report.Orphans[0].Removed || !a.exists(orphan) {
		t.Errorf("repaired %+v, %v", report, err)
	}
	later := func() time.Time { return time.Now().Add(25 * time.Hour) }
	if report, err = Check(ctx, store, CheckOptions{Repair: true, Now: later}); err != nil || !report.Orphans[0].Removed || a.exists(orphan) {
		t.Errorf("repaired %+v, %v", report, err)
	}
	if report.Orphans[1].Removed || !a.exists(stray) {
		t.Error("a file of another program was deleted")
	}
	for _, path := range []string{good.ParquetPath(m.ID), good.SidecarPath(m.ID), old.ParquetPath(m.ID), bad.ParquetPath(m.ID), entryPath(1)} {
		if !a.exists(path) {
			t.Errorf("repair deleted %s", path)
		}
	}
	if _, err = Check(ctx, store, CheckOptions{Repair: true, OrphanAge: -1}); err != nil {
		t.Fatal(err)
	}
	if n, err := store.CleanTemp(ctx, 0); n != 0 || err != nil {
		t.Errorf("repair left %d temporary files, %v", n, err)
	}
}

func TestCheckOfAnEmptyRoot(t *testing.T) {
	report, err := Check(t.Context(), objstore.NewMem(nil), CheckOptions{})
	if err != nil || !report.OK() || report.Version != 0 {
		t.Errorf("%+v, %v", report, err)
	}
}

func TestCheckComparesCheckpointsWithTheLog(t *testing.T) {
	r := newRoot(t)
	r.must(&SetSetting{Name: "a", Value: "1"})
	first := r.Snapshot()
	r.must(&SetSetting{Name: "b", Value: "2"})
	payload, err := encodeCheckpoint(first) // says what version 1 said
	if err != nil {
		t.Fatal(err)
	}
	s := r.Snapshot()
	h := header{kind: checkpointFile, version: 2, previous: s.checksum, micros: s.micros}
	if err := r.store.Put(t.Context(), checkpointPath(2), encodeLogFile(&h, payload)); err != nil {
		t.Fatal(err)
	}
	report, err := Check(t.Context(), r.store, CheckOptions{})
	if err != nil || report.OK() || len(report.Problems) != 1 || report.Problems[0].Path != checkpointPath(2) {
		t.Errorf("%+v, %v", report, err)
	}
	if report, err = Check(t.Context(), r.store, CheckOptions{Repair: true}); err != nil || !report.OK() || !report.Problems[0].Repaired {
		t.Errorf("%+v, %v", report, err)
	}
	sameState(t, openRoot(t, r.store, OpenOptions{}).Snapshot(), s)
}
