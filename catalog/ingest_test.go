package catalog

import (
	"errors"
	"testing"

	"github.com/tidemarkdb/tidemark/sqlerr"
	"github.com/tidemarkdb/tidemark/tablet"
)

func TestAttachmentLifecycle(t *testing.T) {
	r := newRoot(t)
	table, other, s := cdc("t"), cdc("other"), stream("s")
	r.must(table, other, s, managed("m"))
	id, sid := table.ID, s.Stream.ID

	r.refuse(sqlerr.ObjectNotInPrerequisite, &SetIngestState{Table: id, State: Paused})
	r.refuse(sqlerr.ObjectNotInPrerequisite, &DetachStream{Table: id})
	r.refuse(sqlerr.ObjectNotInPrerequisite, &AcquireWorker{Table: id, Engine: "e"})
	r.refuse(sqlerr.UndefinedObject, &AttachStream{Table: id, Stream: NewStreamID()})
	m, _ := r.Snapshot().Table(DefaultSchema, "m")
	r.refuse(sqlerr.WrongObjectType, &AttachStream{Table: m.ID, Stream: sid})

	r.must(&AttachStream{Table: id, Stream: sid})
	if in := r.table(id).Ingest; in.State != Paused || in.Stream != sid || in.LoadDone() || in.Owner != "" {
		t.Errorf("attached: %+v", in)
	}
	if fed, ok := r.Snapshot().FedBy(sid); !ok || fed.ID != id {
		t.Errorf("FedBy: %v, %t", fed, ok)
	}
	r.refuse(sqlerr.ObjectInUse, &AttachStream{Table: other.ID, Stream: sid})
	r.refuse(sqlerr.ObjectNotInPrerequisite, &AttachStream{Table: id, Stream: sid})

	epoch := r.table(id).Ingest.Epoch
	r.must(&AcquireWorker{Table: id, Engine: "e", FromEpoch: epoch})
	r.refuse(sqlerr.SerializationFailure, &AcquireWorker{Table: id, Engine: "late", FromEpoch: epoch})
	if in := r.table(id).Ingest; in.State != Enabled || in.Owner != "e" || in.Epoch != epoch+1 {
		t.Errorf("acquired: %+v", in)
	}
	r.must(&SetIngestState{Table: id, State: Paused})
	r.must(&SetIngestState{Table: id, State: Enabled})
	r.refuse(sqlerr.Internal, &SetIngestState{Table: id, State: Failed})
	r.must(&SetIngestState{Table: id, State: Failed, Reason: "the slot is lost", Epoch: epoch + 1})
	r.must(&SetIngestState{Table: id, State: Failed, Reason: "something after it", Epoch: epoch + 1})
	r.must(&SetIngestState{Table: id, State: Paused})
	if in := r.table(id).Ingest; in.State != Failed || in.Reason != "the slot is lost" {
		t.Errorf("failed: %+v", in)
	}
	for _, e := range []Edit{&SetIngestState{Table: id, State: Enabled}, &AcquireWorker{Table: id, Engine: "e", FromEpoch: epoch + 1}} {
		if err := sqlerr.From(r.refuse(sqlerr.ObjectNotInPrerequisite, e)); err.Message != `ingestion of table "t" stopped for good: the slot is lost` {
			t.Errorf("message %q", err.Message)
		}
	}
	r.must(&DetachStream{Table: id})
	if in := r.table(id).Ingest; in.Attached() || in.State != "" || in.Reason != "" || in.Epoch != epoch+2 {
		t.Errorf("detached: %+v", in)
	}
	r.must(&DropStream{Name: "s"})
	sameState(t, openRoot(t, r.store, OpenOptions{}).Snapshot(), r.Snapshot())
}

func TestWorkersOfThePastAreFenced(t *testing.T) {
	for name, fence := range map[string]func(ingesting) []Edit{
		"another engine": func(in ingesting) []Edit {
			return []Edit{&AcquireWorker{Table: in.table, Engine: "two", FromEpoch: in.epoch}}
		},
		"detach": func(in ingesting) []Edit { return []Edit{&DetachStream{Table: in.table}} },
		"detach and attach": func(in ingesting) []Edit {
			return []Edit{&DetachStream{Table: in.table}, &AttachStream{Table: in.table, Stream: in.stream}}
		},
	} {
		t.Run(name, func(t *testing.T) {
			r := newRoot(t)
			in := r.ingest("t")
			r.must(in.append("p1", desc(1)))
			r.must(fence(in)...)
			for _, late := range []Edit{
				in.append("p2", desc(1)),
				&Load{Table: in.table, Epoch: in.epoch},
				&SetIngestState{Table: in.table, State: Failed, Reason: "x", Epoch: in.epoch},
				&Adopt{Table: in.table, AsOf: 1, Epoch: in.epoch},
				&ReplaceTablets{Table: in.table, Epoch: in.epoch},
			} {
				if _, err := r.Commit(t.Context(), late); !errors.Is(err, ErrFenced) {
					t.Errorf("%s: %v", late.kind(), err)
				}
			}
			if in := r.table(in.table).Ingest; string(in.Position) != "p1" {
				t.Errorf("position %s", in.Position)
			}
		})
	}
}

func TestAppendsAdvanceDataAndPositionTogether(t *testing.T) {
	r := newRoot(t)
	in := r.ingest("t")
	loaded := r.table(in.table)
	first := in.append("p1", desc(3), desc(4))
	first.Progress.LastSeq, first.Progress.SourceMicros, first.FromPosition = 7, 1000, []byte("p0")
	r.must(first)
	table := r.table(in.table)
	i := table.Ingest
	if string(i.Position) != "p1" || i.PositionText != "p1" || i.LastSeq != 7 || i.LastAppend != 1 || i.SourceMicros != 1000 || i.CommitMicros != r.Snapshot().micros {
		t.Errorf("after an append: %+v", i)
	}
	staging := table.Tablets.View().Staging
	if len(staging) != 2 || staging[0].Part != 0 || staging[1].Part != 1 || staging[1].Append != 1 || staging[1].SourceMicros != 1000 {
		t.Errorf("staging %+v", staging)
	}
	if loaded.Tablets.Totals().StagingTablets != 0 {
		t.Error("the snapshot before sees the append")
	}
	r.must(in.append("p2"))
	idle := r.table(in.table)
	if string(idle.Ingest.Position) != "p2" || idle.Ingest.CommitMicros != i.CommitMicros || idle.Ingest.LastAppend != 1 || idle.Tablets != table.Tablets {
		t.Errorf("an empty append changed more than the position: %+v", idle.Ingest)
	}
	stale := in.append("p3", desc(1))
	stale.FromPosition = []byte("p1")
	r.refuse(sqlerr.SerializationFailure, stale)
	back := in.append("p3", desc(1))
	back.Progress.LastSeq = 6
	r.refuse(sqlerr.Internal, back)
	r.refuse(sqlerr.Internal, in.append("p3", staging[0].Desc))
	r.refuse(sqlerr.Internal, in.append("p3", nil))
}

func TestAppendBeforeTheLoadIsRefused(t *testing.T) {
	r := newRoot(t)
	table, s := cdc("t"), stream("s")
	r.must(table, s, &AttachStream{Table: table.ID, Stream: s.Stream.ID}, &AcquireWorker{Table: table.ID, Engine: "e", FromEpoch: 1})
	r.refuse(sqlerr.Internal, &Append{Table: table.ID, Epoch: 2})
}

func TestLoadReplacesEverything(t *testing.T) {
	r := newRoot(t)
	in := r.ingest("t")
	first := in.append("p1", desc(3))
	first.Progress.SourceMicros, first.Progress.LastSeq = 55, 9
	r.must(first, &ReplaceRuns{Table: in.table, Add: []tablet.Run{{ID: tablet.NewID(), Rows: 1, Bytes: 1}}})
	rows := desc(50)
	r.must(&Load{Table: in.table, Epoch: in.epoch, Tablets: []*tablet.Desc{rows}, Progress: Progress{Position: []byte("q0")}})
	table := r.table(in.table)
	view := table.Tablets.View()
	if len(view.Base) != 1 || view.Base[0].Desc.ID != rows.ID || len(view.Staging) != 0 || len(view.Runs) != 0 {
		t.Errorf("loaded %+v", view)
	}
	if i := table.Ingest; i.SourceMicros != 0 || i.BaseSourceMicros != 0 || i.LastSeq != 9 || i.AdoptedAppend != 1 || string(i.Position) != "q0" {
		t.Errorf("after a load: %+v", i)
	}
}

func TestReattachingContinuesOrReseeds(t *testing.T) {
	r := newRoot(t)
	in := r.ingest("t")
	r.must(in.append("p1", desc(1)))
	r.must(&DetachStream{Table: in.table})
	r.must(&AttachStream{Table: in.table, Stream: in.stream})
	if i := r.table(in.table).Ingest; !i.LoadDone() || string(i.Position) != "p1" {
		t.Errorf("the same stream does not continue: %+v", i)
	}
	r.must(&DetachStream{Table: in.table})
	fresh := stream("fresh")
	r.must(fresh, &AttachStream{Table: in.table, Stream: fresh.Stream.ID})
	if i := r.table(in.table).Ingest; i.LoadDone() {
		t.Errorf("another stream does not reseed: %+v", i)
	}
	if r.table(in.table).Tablets.Empty() {
		t.Error("the rows went before the load")
	}
	// The first stream fills another table now, so it can no longer continue where it stopped in this one.
	other := cdc("other")
	r.must(other, &AttachStream{Table: other.ID, Stream: in.stream}, &AcquireWorker{Table: other.ID, Engine: "e", FromEpoch: 1})
	r.must(&Load{Table: other.ID, Epoch: 2, Progress: Progress{Position: []byte("z")}}, &DetachStream{Table: other.ID})
	r.must(&DetachStream{Table: in.table}, &AttachStream{Table: in.table, Stream: in.stream})
	if i := r.table(in.table).Ingest; i.LoadDone() || i.Position != nil {
		t.Errorf("the stream continues behind changes it gave to another table: %+v", i)
	}
	sameState(t, openRoot(t, r.store, OpenOptions{}).Snapshot(), r.Snapshot())
}

func TestSourceTruncate(t *testing.T) {
	r := newRoot(t)
	in := r.ingest("t")
	r.must(in.append("p1", desc(1)))
	kept := desc(2)
	e := in.append("p2", kept)
	e.Truncate = true
	r.must(e)
	table := r.table(in.table)
	view := table.Tablets.View()
	if len(view.Base) != 0 || len(view.Staging) != 1 || view.Staging[0].ID != kept.ID || view.Staging[0].Append != 2 {
		t.Errorf("truncated to %+v", view)
	}
}

func TestAdoptWhileAppendsLand(t *testing.T) {
	r := newRoot(t)
	in := r.ingest("t")
	for i, position := range []string{"p1", "p2", "p3"} {
		e := in.append(position, desc(10))
		e.Progress.SourceMicros = int64(i+1) * 100
		r.must(e)
	}
	view := r.table(in.table).Tablets.View()
	r.must(in.append("p4", desc(10))) // lands while the cascade works
	kept, retired, replaced := view.Staging[0].ID, view.Staging[1].ID, view.Staging[2].ID
	written, mask := desc(9), maskRef(20)
	adopt := &Adopt{
		Table: in.table, AsOf: 3, Epoch: in.epoch,
		Adopted: []Adoption{{Staged: kept, Mask: maskRef(2)}}, Retired: []tablet.ID{retired, replaced},
		Written: []tablet.Base{{Desc: written}}, Masks: []MaskChange{{Tablet: view.Base[0].ID, To: mask}},
	}
	r.must(adopt)
	after := r.table(in.table).Tablets.View()
	if len(after.Staging) != 1 || after.Staging[0].Append != 4 || len(after.Base) != 3 || after.Base[0].Mask != mask {
		t.Errorf("adopted to %+v", after)
	}
	if i := r.table(in.table).Ingest; i.AdoptedAppend != 3 || i.BaseSourceMicros != 300 {
		t.Errorf("after adoption: %+v", i)
	}
	r.refuse(sqlerr.SerializationFailure, adopt)
	r.refuse(sqlerr.Internal, &Adopt{Table: in.table, AsOf: 4}) // leaves append 4 behind
	r.refuse(sqlerr.Internal, &Adopt{Table: in.table, AsOf: 5})
	r.refuse(sqlerr.Internal, &Adopt{Table: in.table, AsOf: 3, Retired: []tablet.ID{after.Staging[0].ID}})
	r.refuse(sqlerr.SerializationFailure, &Adopt{Table: in.table, AsOf: 3, Masks: []MaskChange{{Tablet: view.Base[0].ID, To: maskRef(21)}}})
	r.must(&Adopt{Table: in.table, AsOf: 4, Retired: []tablet.ID{after.Staging[0].ID}, Dropped: []MaskedTablet{{view.Base[0].ID, mask}}})
	if r.table(in.table).Tablets.Totals() != (tablet.Totals{BaseTablets: 2, BaseRows: 19, MaskedRows: 2, Bytes: 11 * 19}) {
		t.Errorf("totals %+v", r.table(in.table).Tablets.Totals())
	}
	sameState(t, openRoot(t, r.store, OpenOptions{}).Snapshot(), r.Snapshot())
}

func TestAdoptAfterALoadIsRefused(t *testing.T) {
	r := newRoot(t)
	in := r.ingest("t")
	r.must(in.append("p1", desc(10)))
	staged := r.table(in.table).Tablets.View().Staging[0].ID
	r.must(&Load{Table: in.table, Epoch: in.epoch})
	r.refuse(sqlerr.SerializationFailure, &Adopt{Table: in.table, AsOf: 1, Adopted: []Adoption{{Staged: staged}}})
}

func TestReplaceTabletsNeedsTheMasksItSaw(t *testing.T) {
	r := newRoot(t)
	in := r.ingest("t")
	base := r.table(in.table).Tablets.View().Base[0]
	vacuum := &ReplaceTablets{Table: in.table, Remove: []MaskedTablet{{base.ID, base.Mask}}, Add: []tablet.Base{{Desc: desc(90)}}}
	r.must(&Adopt{Table: in.table, Masks: []MaskChange{{Tablet: base.ID, To: maskRef(1)}}})
	r.refuse(sqlerr.SerializationFailure, vacuum)
	vacuum.Remove[0].Mask = r.table(in.table).Tablets.View().Base[0].Mask
	r.must(vacuum)
	r.refuse(sqlerr.SerializationFailure, vacuum)
}

func TestRunsDoNotChangeTheVersionOfASet(t *testing.T) {
	r := newRoot(t)
	in := r.ingest("t")
	before := r.table(in.table).Tablets
	first, second := tablet.Run{ID: tablet.NewID(), Rows: 1, Bytes: 2}, tablet.Run{ID: tablet.NewID(), Rows: 1, Bytes: 2}
	r.must(&ReplaceRuns{Table: in.table, Add: []tablet.Run{first}})
	r.must(&ReplaceRuns{Table: in.table, Remove: []tablet.ID{first.ID}, Add: []tablet.Run{second}})
	r.refuse(sqlerr.SerializationFailure, &ReplaceRuns{Table: in.table, Remove: []tablet.ID{first.ID}})
	after := r.table(in.table).Tablets
	if after.Version() != before.Version() || after.RunsVersion() != r.Snapshot().Version() || len(after.Runs()) != 1 || after.Runs()[0].ID != second.ID {
		t.Errorf("version %d with runs %+v of version %d", after.Version(), after.Runs(), after.RunsVersion())
	}
}

func TestHandOverWaitsForTheOwner(t *testing.T) {
	r := newRoot(t)
	in := r.ingest("t")
	r.refuse(sqlerr.SerializationFailure, &YieldWorker{Table: in.table, Epoch: in.epoch})
	r.must(&SetIngestState{Table: in.table, State: Paused})
	r.must(&RequestWorker{Table: in.table, Engine: "two"}, &SetIngestState{Table: in.table, State: Paused})
	if i := r.table(in.table).Ingest; i.Wanted != "" || i.State != Paused {
		t.Errorf("suspending left the request: %+v", i)
	}
	r.must(&RequestWorker{Table: in.table, Engine: "two"})
	if i := r.table(in.table).Ingest; i.Owner != "one" || i.Wanted != "two" || i.Yielding || i.State != Enabled {
		t.Errorf("requested: %+v", i)
	}
	r.must(&YieldWorker{Table: in.table, Epoch: in.epoch})
	r.must(in.append("p1", desc(1))) // the statement that was running
	if i := r.table(in.table).Ingest; i.Owner != "one" || !i.Yielding || i.Epoch != in.epoch {
		t.Errorf("yielding: %+v", i)
	}
	r.must(&YieldWorker{Table: in.table, Epoch: in.epoch, Done: true})
	if i := r.table(in.table).Ingest; i.Owner != "" || i.Wanted != "two" || i.Yielding {
		t.Errorf("yielded: %+v", i)
	}
	if err := r.refuse(sqlerr.ObjectNotInPrerequisite, in.append("p2")); !errors.Is(err, ErrFenced) {
		t.Error(err)
	}
	r.must(&AcquireWorker{Table: in.table, Engine: "two", FromEpoch: in.epoch + 1})
	if i := r.table(in.table).Ingest; i.Owner != "two" || i.Wanted != "" || string(i.Position) != "p1" {
		t.Errorf("acquired: %+v", i)
	}
	sameState(t, openRoot(t, r.store, OpenOptions{}).Snapshot(), r.Snapshot())
}
