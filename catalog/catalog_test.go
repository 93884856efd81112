package catalog

import (
	"context"
	"fmt"
	"reflect"
	"slices"
	"testing"
	"time"

	"github.com/tidemarkdb/tidemark/objstore"
	"github.com/tidemarkdb/tidemark/sqlerr"
	"github.com/tidemarkdb/tidemark/tablet"
	"github.com/tidemarkdb/tidemark/vec"
)

// root is a store with a catalog open on it.
type root struct {
	*Catalog
	t     testing.TB
	store objstore.Store
}

func openRoot(t testing.TB, store objstore.Store, options OpenOptions) *root {
	t.Helper()
	c, err := Open(context.Background(), store, options)
	if err != nil {
		t.Fatalf("Open: %v", err)
	}
	t.Cleanup(func() { c.Close() })
	return &root{c, t, store}
}

func newRoot(t testing.TB) *root {
	return openRoot(t, objstore.NewMem(nil), OpenOptions{CheckpointEvery: -1})
}

func (r *root) must(edits ...Edit) *Snapshot {
	r.t.Helper()
	s, err := r.Commit(context.Background(), edits...)
	if err != nil {
		r.t.Fatalf("Commit: %v", err)
	}
	return s
}

func (r *root) refuse(code string, edits ...Edit) error {
	r.t.Helper()
	before := r.Snapshot()
	_, err := r.Commit(context.Background(), edits...)
	if got := sqlerr.Code(err); got != code {
		r.t.Fatalf("Commit: %v, want SQLSTATE %s", err, code)
	}
	if r.Snapshot() != before {
		r.t.Fatal("a refused commit changed the catalog")
	}
	return err
}

func (r *root) table(id tablet.TableID) *Table {
	r.t.Helper()
	t, ok := r.Snapshot().TableByID(id)
	if !ok {
		r.t.Fatalf("table %s is gone", id)
	}
	return t
}

func managed(name string) *CreateTable {
	return &CreateTable{ID: tablet.NewTableID(), Definition: Definition{Schema: DefaultSchema, Name: name, Kind: Managed,
		Columns: []tablet.Column{{Name: "id", Type: vec.Int64Type}, {Name: "note", Type: vec.TextType, Nullable: true}}}}
}

func cdc(name string) *CreateTable {
	e := managed(name)
	e.Definition.Kind, e.MergeKeyNames = CDC, []string{"id"}
	return e
}

func stream(name string) *CreateStream {
	return &CreateStream{Stream: Stream{ID: NewStreamID(), Name: name, Kind: "GENERATOR"}}
}

func desc(rows int64) *tablet.Desc {
	return &tablet.Desc{ID: tablet.NewID(), Rows: rows, FileBytes: rows * 10, SidecarBytes: rows, Checksum: 1, SidecarSum: 2, SchemaVersion: 1,
		Stats: tablet.MakeStats([]tablet.ColumnStats{{FieldID: 1, Min: tablet.MakeInt(0, true), Max: tablet.MakeInt(rows, true)}})}
}

func maskRef(rows int64) tablet.MaskRef {
	return tablet.MaskRef{File: tablet.NewID(), Offset: 4, Length: 40, Cardinality: rows}
}

// ingesting is a CDC table with a stream attached, a worker and its load done.
type ingesting struct {
	table  tablet.TableID
	stream StreamID
	epoch  uint64
}

func (r *root) ingest(name string) ingesting {
	r.t.Helper()
	table, stream := cdc(name), stream(name+"_stream")
	r.must(table, stream, &AttachStream{Table: table.ID, Stream: stream.Stream.ID})
	in := ingesting{table: table.ID, stream: stream.Stream.ID}
	r.must(&AcquireWorker{Table: in.table, Engine: "one", FromEpoch: r.table(in.table).Ingest.Epoch})
	in.epoch = r.table(in.table).Ingest.Epoch
	r.must(&Load{Table: in.table, Epoch: in.epoch, Tablets: []*tablet.Desc{desc(100)}, Progress: Progress{Position: []byte("p0")}})
	return in
}

func (in ingesting) append(position string, tablets ...*tablet.Desc) *Append {
	return &Append{Table: in.table, Epoch: in.epoch, Tablets: tablets, Progress: Progress{Position: []byte(position), PositionText: position}}
}

func TestCommitsSurviveReopening(t *testing.T) {
	r := newRoot(t)
	in := r.ingest("orders")
	staged := desc(5)
	r.must(in.append("p1", staged))
	want := r.Snapshot()

	again := openRoot(t, r.store, OpenOptions{}).Snapshot()
	if again.Version() != want.Version() || !again.Time().Equal(want.Time()) {
		t.Errorf("reopened at version %d of %s, want %d of %s", again.Version(), again.Time(), want.Version(), want.Time())
	}
	table, err := again.Table(DefaultSchema, "orders")
	if err != nil {
		t.Fatal(err)
	}
	if got := string(table.Ingest.Position); got != "p1" {
		t.Errorf("position %q, want p1", got)
	}
	view := table.Tablets.View()
	if len(view.Base) != 1 || len(view.Staging) != 1 || !view.Staging[0].Desc.Equal(staged) {
		t.Errorf("view %+v, want one base and the staged tablet", view)
	}
	if before, _ := want.TableByID(in.table); view.Version != before.Tablets.Version() {
		t.Errorf("set version %d after reopening, want %d", view.Version, before.Tablets.Version())
	}
	sameState(t, again, want)
}

func TestCheckpointsSayWhatTheLogSays(t *testing.T) {
	r := newRoot(t)
	in := r.ingest("orders")
	for i := range 5 {
		e := in.append(fmt.Sprint(i), desc(3), desc(4))
		e.Progress.SourceMicros = int64(i + 1000)
		r.must(e)
	}
	r.must(&CreateSchema{Name: "s"}, &CreateView{View: View{Schema: "s", Name: "v", SQL: "SELECT 1", Columns: []string{"a"}}}, &SetSetting{Name: "x", Value: "y"})
	first := r.table(in.table).Tablets.View()
	r.must(&Adopt{Table: in.table, AsOf: 2, Adopted: []Adoption{{first.Staging[0].ID, maskRef(1)}, {first.Staging[1].ID, tablet.MaskRef{}}},
		Retired: []tablet.ID{first.Staging[2].ID, first.Staging[3].ID}, Masks: []MaskChange{{Tablet: first.Base[0].ID, To: maskRef(9)}}})
	r.must(&ReplaceRuns{Table: in.table, Add: []tablet.Run{{ID: tablet.NewID(), Tablets: []tablet.ID{first.Base[0].ID}, Rows: 100, Bytes: 900}}})
	if err := r.Checkpoint(context.Background()); err != nil {
		t.Fatal(err)
	}
	for v := uint64(1); v <= r.Snapshot().Version(); v++ { // only the checkpoint is left
		if err := r.store.Delete(context.Background(), entryPath(v)); err != nil {
			t.Fatal(err)
		}
	}
	sameState(t, openRoot(t, r.store, OpenOptions{}).Snapshot(), r.Snapshot())
}

// sameState compares everything two snapshots hold.
func sameState(t *testing.T, got, want *Snapshot) {
	t.Helper()
	g, err := encodeCheckpoint(got)
	if err != nil {
		t.Fatal(err)
	}
	w, err := encodeCheckpoint(want)
	if err != nil {
		t.Fatal(err)
	}
	if string(g) != string(w) || got.version != want.version || got.micros != want.micros || got.checksum != want.checksum {
		t.Errorf("the states differ:\n%q\n%q", g, w)
	}
	if fmt.Sprint(collect(got.masks.All())) != fmt.Sprint(collect(want.masks.All())) {
		t.Error("the references to mask files differ")
	}
	for table := range want.Tables("") { // an encoding that leaves something out would not show above
		if other, ok := got.TableByID(table.ID); ok {
			sameView(t, other.Tablets.View(), table.Tablets.View())
		}
	}
}

func sameView(t *testing.T, got, want *tablet.View) {
	t.Helper()
	bases := slices.EqualFunc(got.Base, want.Base, func(a, b tablet.Base) bool { return a.Desc.Equal(b.Desc) && a.Mask == b.Mask })
	staging := slices.EqualFunc(got.Staging, want.Staging, func(a, b tablet.Staged) bool {
		same := a.Desc.Equal(b.Desc)
		a.Desc, b.Desc = nil, nil
		return same && a == b
	})
	if !bases || !staging || got.Table != want.Table || got.Version != want.Version || got.RunsVersion != want.RunsVersion ||
		!reflect.DeepEqual(got.Runs, want.Runs) {
		t.Errorf("the tablets differ:\n%+v\n%+v", got, want)
	}
}

func collect[K comparable, V any](seq func(func(K, V) bool)) map[K]V {
	m := map[K]V{}
	for k, v := range seq {
		m[k] = v
	}
	return m
}

func TestPinAtAndAsOf(t *testing.T) {
	now := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	r := openRoot(t, objstore.NewMem(nil), OpenOptions{CheckpointEvery: 4, Now: func() time.Time { return now }})
	ctx := context.Background()
	var times []time.Time
	for i := range 10 {
		now = now.Add(time.Minute)
		times = append(times, now)
		r.must(&SetSetting{Name: "n", Value: fmt.Sprint(i)})
	}
	r.background.Wait()
	for i, at := range times {
		byTime, err := r.PinAsOf(ctx, at.Add(time.Second))
		if err != nil {
			t.Fatal(err)
		}
		byVersion, err := r.PinAt(ctx, uint64(i+1))
		if err != nil {
			t.Fatal(err)
		}
		for _, p := range []*Pin{byTime, byVersion} {
			if v, _ := p.Setting("n"); v != fmt.Sprint(i) || p.Version() != uint64(i+1) {
				t.Errorf("version %d has n = %s, want version %d", p.Version(), v, i+1)
			}
			p.Release()
		}
	}
	if _, err := r.PinAt(ctx, 11); sqlerr.Code(err) != sqlerr.InvalidParameterValue {
		t.Errorf("PinAt(11): %v", err)
	}
	if _, err := r.PinAsOf(ctx, times[0].Add(-time.Hour)); sqlerr.Code(err) != sqlerr.InvalidParameterValue {
		t.Errorf("PinAsOf before the root: %v", err)
	}
}
