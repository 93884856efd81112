package catalog

import (
	"context"
	"errors"
	"testing"

	"github.com/tidemarkdb/tidemark/sqlerr"
	"github.com/tidemarkdb/tidemark/tablet"
	"github.com/tidemarkdb/tidemark/vec"
)

func insert(table tablet.TableID, tablets ...*tablet.Desc) *Modify {
	e := &Modify{Table: table, SchemaVersion: 1}
	for _, d := range tablets {
		e.Add = append(e.Add, tablet.Base{Desc: d})
	}
	return e
}

func remask(table tablet.TableID, id tablet.ID, from, to tablet.MaskRef) *Modify {
	return &Modify{Table: table, SchemaVersion: 1, Masks: []MaskChange{{id, from, to}}}
}

func TestFirstCommitterWins(t *testing.T) {
	rows := desc(10)
	for name, c := range map[string]struct{ first, second func(id tablet.TableID) Edit }{
		"two masks of one tablet": {
			func(id tablet.TableID) Edit { return remask(id, rows.ID, tablet.MaskRef{}, maskRef(1)) },
			func(id tablet.TableID) Edit { return remask(id, rows.ID, tablet.MaskRef{}, maskRef(2)) },
		},
		"a mask of a removed tablet": {
			func(id tablet.TableID) Edit {
				return &Modify{Table: id, SchemaVersion: 1, Remove: []MaskedTablet{{Tablet: rows.ID}}}
			},
			func(id tablet.TableID) Edit { return remask(id, rows.ID, tablet.MaskRef{}, maskRef(2)) },
		},
		"a tablet removed twice": {
			func(id tablet.TableID) Edit {
				return &Modify{Table: id, SchemaVersion: 1, Remove: []MaskedTablet{{Tablet: rows.ID}}}
			},
			func(id tablet.TableID) Edit {
				return &Modify{Table: id, SchemaVersion: 1, Remove: []MaskedTablet{{Tablet: rows.ID}}}
			},
		},
		"rows for other columns": {
			func(id tablet.TableID) Edit {
				return &AlterColumns{Table: id, FromVersion: 1, Columns: []tablet.Column{{FieldID: 1, Name: "id", Type: vec.Int64Type}}}
			},
			func(id tablet.TableID) Edit { return insert(id, desc(1)) },
		},
		"rows for a dropped table": {
			func(id tablet.TableID) Edit { return &DropTable{Table: id} },
			func(id tablet.TableID) Edit { return insert(id, desc(1)) },
		},
		"a truncate of rows not seen": {
			func(id tablet.TableID) Edit { return insert(id, desc(1)) },
			func(id tablet.TableID) Edit { return &Truncate{Table: id, SchemaVersion: 1} },
		},
	} {
		t.Run(name, func(t *testing.T) {
			r := newRoot(t)
			m := managed("m")
			r.must(m, insert(m.ID, rows))
			base := r.Snapshot()
			winner := r.must(c.first(m.ID))
			if _, err := r.CommitFrom(t.Context(), base, []Edit{c.second(m.ID)}, nil); sqlerr.Code(err) != sqlerr.SerializationFailure {
				t.Errorf("the second committer got %v", err)
			}
			if r.Snapshot() != winner {
				t.Error("the second committer changed something")
			}
		})
	}
}

func TestWritersOfDifferentTabletsBothCommit(t *testing.T) {
	r := newRoot(t)
	m, a, b := managed("m"), desc(10), desc(10)
	r.must(m, insert(m.ID, a, b))
	base := r.Snapshot()
	for _, id := range []tablet.ID{a.ID, b.ID} {
		if _, err := r.CommitFrom(t.Context(), base, []Edit{remask(m.ID, id, tablet.MaskRef{}, maskRef(3)), insert(m.ID, desc(1))}, nil); err != nil {
			t.Errorf("tablet %s: %v", id, err)
		}
	}
	if got := r.table(m.ID).Tablets.Totals(); got.MaskedRows != 6 || got.BaseTablets != 4 {
		t.Errorf("totals %+v", got)
	}
}

func TestRebaseMakesTheEditsAnew(t *testing.T) {
	r := newRoot(t)
	m, rows := managed("m"), desc(10)
	r.must(m, insert(m.ID, rows))
	base := r.Snapshot()
	r.must(remask(m.ID, rows.ID, tablet.MaskRef{}, maskRef(1)))
	union := maskRef(3)
	calls := 0
	rebase := func(_ context.Context, newest *Snapshot, edits []Edit, fault error) ([]Edit, error) {
		if calls++; calls == 1 { // another commit comes while this one is made anew
			now, _ := newest.TableByID(m.ID)
			have, _ := now.Tablets.BaseTablet(rows.ID)
			r.must(remask(m.ID, rows.ID, have.Mask, maskRef(2)))
		}
		now, _ := newest.TableByID(m.ID)
		have, _ := now.Tablets.BaseTablet(rows.ID)
		return []Edit{remask(m.ID, rows.ID, have.Mask, union)}, nil
	}
	if _, err := r.CommitFrom(t.Context(), base, []Edit{remask(m.ID, rows.ID, tablet.MaskRef{}, maskRef(2))}, rebase); err != nil {
		t.Fatal(err)
	}
	if have, _ := r.table(m.ID).Tablets.BaseTablet(rows.ID); have.Mask != union || calls != 2 {
		t.Errorf("mask %+v after %d rebases", have.Mask, calls)
	}
	boom := errors.New("the same row")
	_, err := r.CommitFrom(t.Context(), base, []Edit{remask(m.ID, rows.ID, tablet.MaskRef{}, maskRef(2))},
		func(context.Context, *Snapshot, []Edit, error) ([]Edit, error) { return nil, boom })
	if !errors.Is(err, boom) {
		t.Errorf("the error of rebase became %v", err)
	}
}

func TestEditsApplyAllOrNone(t *testing.T) {
	r := newRoot(t)
	r.must(managed("m"))
	r.refuse(sqlerr.DuplicateTable, managed("n"), &SetSetting{Name: "x", Value: "1"}, managed("m"))
	if _, err := r.Snapshot().Table(DefaultSchema, "n"); err == nil {
		t.Error("a part of the commit was made")
	}
	if s, err := r.Commit(t.Context()); err != nil || s != r.Snapshot() {
		t.Errorf("an empty commit: %v, %v", s, err)
	}
}

func TestPreviewIsSeenByNobody(t *testing.T) {
	r := newRoot(t)
	m := managed("m")
	r.must(m)
	base := r.Snapshot()
	edits := []Edit{insert(m.ID, desc(5)), managed("mine")}
	seen := map[uint64]bool{}
	for range 2 {
		p, err := base.Preview(edits...)
		if err != nil {
			t.Fatal(err)
		}
		table, _ := p.TableByID(m.ID)
		if table.Tablets.Totals().BaseRows != 5 || p.Version() != base.Version() {
			t.Errorf("previewed %+v at version %d", table.Tablets.Totals(), p.Version())
		}
		if v := table.Tablets.Version(); seen[v] || v <= base.Version() {
			t.Errorf("set version %d is taken", v)
		} else {
			seen[v] = true
		}
	}
	if r.Snapshot() != base || r.table(m.ID).Tablets.Totals().BaseRows != 0 {
		t.Error("a preview was committed")
	}
	s, err := r.CommitFrom(t.Context(), base, edits, nil)
	if err != nil {
		t.Fatal(err)
	}
	if table, _ := s.TableByID(m.ID); table.Tablets.Totals().BaseRows != 5 || table.Tablets.Version() != s.Version() {
		t.Errorf("committed %+v as set version %d", table.Tablets.Totals(), table.Tablets.Version())
	}
	if _, err := base.Preview(managed("m")); sqlerr.Code(err) != sqlerr.DuplicateTable {
		t.Errorf("a preview of edits that do not fit: %v", err)
	}
}

func TestReadModeIsClosedToDML(t *testing.T) {
	r := newRoot(t)
	in := r.ingest("t")
	r.refuse(sqlerr.FeatureNotSupported, insert(in.table, desc(1)))
	r.refuse(sqlerr.FeatureNotSupported, &Truncate{Table: in.table, SchemaVersion: 1})
}

func TestWriteModeMergesWithItsPosition(t *testing.T) {
	r := newRoot(t)
	w, s := cdc("w"), stream("s")
	w.Definition.MergeMode = MergeWrite
	r.must(w, s, &AttachStream{Table: w.ID, Stream: s.Stream.ID}, &AcquireWorker{Table: w.ID, Engine: "e", FromEpoch: 1})
	merge := insert(w.ID, desc(5))
	merge.Ingest, merge.Epoch = &Progress{Position: []byte("p1"), LastSeq: 4, SourceMicros: 9}, 2
	r.refuse(sqlerr.Internal, merge) // before the load
	r.must(&Load{Table: w.ID, Epoch: 2})
	r.must(merge)
	if i := r.table(w.ID).Ingest; string(i.Position) != "p1" || i.LastSeq != 4 || i.BaseSourceMicros != 9 || i.CommitMicros == 0 {
		t.Errorf("after a merge: %+v", i)
	}
	late := insert(w.ID, desc(1))
	late.Ingest, late.Epoch = &Progress{}, 1
	if err := r.refuse(sqlerr.ObjectNotInPrerequisite, late); !errors.Is(err, ErrFenced) {
		t.Error(err)
	}
	r.must(insert(w.ID, desc(1)))
	r.must(&Truncate{Table: w.ID, SchemaVersion: 1})
	if !r.table(w.ID).Tablets.Empty() || string(r.table(w.ID).Ingest.Position) != "p1" {
		t.Error("TRUNCATE left rows or took the position")
	}
	r.refuse(sqlerr.Internal, &Append{Table: w.ID, Epoch: 2})
}
