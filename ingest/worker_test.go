package ingest_test

import (
	"cmp"
	"context"
	"errors"
	"log/slog"
	"slices"
	"sync/atomic"
	"testing"
	"time"

	"github.com/tidemarkdb/tidemark/cascade"
	"github.com/tidemarkdb/tidemark/catalog"
	"github.com/tidemarkdb/tidemark/extension"
	"github.com/tidemarkdb/tidemark/ingest"
	"github.com/tidemarkdb/tidemark/maskindex"
	"github.com/tidemarkdb/tidemark/metrics"
	"github.com/tidemarkdb/tidemark/objstore"
	"github.com/tidemarkdb/tidemark/source/generator"
	"github.com/tidemarkdb/tidemark/tablestore"
	"github.com/tidemarkdb/tidemark/tablet"
	"github.com/tidemarkdb/tidemark/vec"
)

// house is a root with one CDC table fed by a generator stream.
type house struct {
	t       *testing.T
	catalog *catalog.Catalog
	store   *tablestore.Store
	table   tablet.TableID
	stream  *catalog.Stream
	spec    extension.TableSpec
	options map[string]string

	memoryBytes int64         // of a window
	patience    time.Duration // how long an append reads, when not 0
}

var columns = []tablet.Column{
	{Name: "id", Type: vec.Int64Type}, {Name: "amount", Type: vec.DecimalType(12, 2), Nullable: true},
	{Name: "status", Type: vec.TextType, Nullable: true}, {Name: "version", Type: vec.Int64Type, Nullable: true},
}

func newHouse(t *testing.T, options map[string]string) *house {
	return newHouseIn(t, options, catalog.MergeRead)
}

func newHouseIn(t *testing.T, options map[string]string, mode catalog.MergeMode) *house {
	ctx := t.Context()
	objects, err := objstore.OpenLocal(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	c, err := catalog.Open(ctx, objects, catalog.OpenOptions{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { c.Close() })
	h := &house{t: t, catalog: c, store: tablestore.New(objects, tablestore.Options{}), table: tablet.NewTableID(), options: options, memoryBytes: 64 << 20}
	t.Cleanup(func() { h.store.Close() })
	stream := catalog.Stream{ID: catalog.NewStreamID(), Name: "s", Kind: "GENERATOR", Options: catalog.Options{}}
	for name, value := range options {
		stream.Options[name] = catalog.Option{Value: value}
	}
	h.stream = &stream
	for i, c := range columns {
		h.spec.Columns = append(h.spec.Columns, vec.Column{Name: c.Name, Type: c.Type, Nullable: i > 0})
	}
	h.spec.Key = []int{0}
	_, err = c.Commit(ctx,
		&catalog.CreateTable{ID: h.table, MergeKeyNames: []string{"id"}, Definition: catalog.Definition{
			Schema: "public", Name: "t", Kind: catalog.CDC, MergeMode: mode, Columns: slices.Clone(columns)}},
		&catalog.CreateStream{Stream: stream}, &catalog.AttachStream{Table: h.table, Stream: stream.ID})
	if err != nil {
		t.Fatal(err)
	}
	return h
}

func (h *house) current() *catalog.Table {
	table, ok := h.catalog.Snapshot().TableByID(h.table)
	if !ok {
		h.t.Fatal("the table is gone")
	}
	return table
}

// worker acquires the table and returns a worker that appends every maxRows changes.
func (h *house) worker(def *extension.SourceDef, maxRows int) (*ingest.Worker, *cascade.Cascade) {
	h.t.Helper()
	_, err := h.catalog.Commit(h.t.Context(), &catalog.AcquireWorker{Table: h.table, Engine: "e", FromEpoch: h.current().Ingest.Epoch})
	if err != nil {
		h.t.Fatal(err)
	}
	epoch := h.current().Ingest.Epoch
	m := metrics.NewCDC("tidemark").Start(metrics.Labels{Table: "t"})
	log := slog.New(slog.DiscardHandler)
	casc := &cascade.Cascade{Catalog: h.catalog, Store: h.store, Table: h.table, Epoch: epoch, Metrics: m, Log: log, Threads: func() int { return 2 }}
	return ingest.NewWorker(ingest.Config{
		Catalog: h.catalog, Store: h.store, Table: h.table, Epoch: epoch, Def: def, Stream: h.stream, SpillDir: h.t.TempDir(),
		Pacing: func() ingest.Pacing {
			return ingest.Pacing{MaxRead: cmp.Or(h.patience, 5*time.Millisecond), MaxRows: maxRows, Threads: 2, MemoryBytes: max(h.memoryBytes, 1<<10)}
		},
		Budget:  func() ingest.Budget { return ingest.Budget{MinFailures: 3, MinWindow: time.Nanosecond} },
		Metrics: m, Log: log, Drain: casc.Run,
	}), casc
}

// position returns how many changes the table has applied.
func (h *house) position() uint64 {
	n, err := generator.DecodePosition(h.current().Ingest.Position)
	if err != nil {
		h.t.Fatal(err)
	}
	return n
}

// verify compares every live row with the model at the table's own position.
func (h *house) verify() {
	h.t.Helper()
	table := h.current()
	model, err := generator.NewModel(h.spec, h.options)
	if err != nil {
		h.t.Fatal(err)
	}
	if err := model.ApplyTo(table.Ingest.Position); err != nil {
		h.t.Fatal(err)
	}
	var got generator.Checksum
	live := int64(0)
	h.scan(table, func(b *vec.Batch) {
		live += int64(b.N)
		got.Add(vec.NewBatch(b.N, b.Cols[:len(columns)]...))
	})
	if live != model.Live() {
		h.t.Fatalf("at change %d the table has %d live rows, the model %d", model.Position(), live, model.Live())
	}
	if want := model.Checksum(); got != want {
		h.t.Fatalf("at change %d the rows differ from the model's", model.Position())
	}
}

func (h *house) scan(table *catalog.Table, fn func(*vec.Batch)) {
	h.t.Helper()
	masks, err := h.store.Masks(h.t.Context(), table)
	if err != nil {
		h.t.Fatal(err)
	}
	view := table.Tablets.View()
	var descs []*tablet.Desc
	for _, b := range view.Base {
		descs = append(descs, b.Desc)
	}
	for _, s := range view.Staging {
		descs = append(descs, s.Desc)
	}
	b, err := h.store.ReadLive(h.t.Context(), table, descs, masks)
	if err != nil {
		h.t.Fatal(err)
	}
	fn(b)
}

// runUntil runs a worker until the table's position reached n.
func (h *house) runUntil(w *ingest.Worker, n uint64) {
	h.t.Helper()
	ctx, cancel := context.WithCancel(h.t.Context())
	defer cancel()
	done := make(chan error, 1)
	go func() { done <- w.Run(ctx) }()
	for h.position() < n {
		changed := h.catalog.Changed()
		if h.position() >= n {
			break
		}
		select {
		case <-changed:
		case err := <-done:
			h.t.Fatalf("the worker ended at change %d: %v (last error: %s)", h.position(), err, w.Status().LastError)
		}
	}
	cancel()
	if err := <-done; err != nil {
		h.t.Fatal(err)
	}
}

func options(more ...string) map[string]string {
	o := map[string]string{"keys": "5000", "rate": "0", "seed": "7", "transaction_rows": "50"}
	for i := 0; i < len(more); i += 2 {
		o[more[i]] = more[i+1]
	}
	return o
}

func TestLoadThenAppendsFollowTheModel(t *testing.T) {
	h := newHouse(t, options("limit", "20000"))
	w, _ := h.worker(generator.Source(), 1000)
	h.runUntil(w, 20000)
	h.verify()
	if s := w.Status(); s.ApplyCount < 2 || s.Phase != ingest.Streaming {
		t.Errorf("status %+v after several appends", s)
	}
}

// TestRestartsCascadesAndMaintenance stops and restarts the worker with cascades in between, and looks at the rows
// after every step.
func TestRestartsCascadesAndMaintenance(t *testing.T) {
	h := newHouse(t, options("keys", "300", "deletes", "20", "inserts", "20", "updates", "60"))
	for round := range 12 {
		w, c := h.worker(generator.Source(), 700)
		h.runUntil(w, h.position0()+3000)
		h.verify()
		before := h.current().Tablets.Version()
		drained, err := c.Run(t.Context())
		if err != nil || !drained {
			t.Fatalf("round %d: cascade drained = %v, %v", round, drained, err)
		}
		h.verify()
		if totals := h.current().Tablets.Totals(); totals.StagingTablets != 0 || h.current().Tablets.Version() == before {
			t.Fatalf("round %d: %d staging tablets after a cascade", round, totals.StagingTablets)
		}
		if err := c.Maintain(t.Context(), time.Minute); err != nil {
			t.Fatal(err)
		}
		h.verify()
	}
	if totals := h.current().Tablets.Totals(); totals.BaseTablets > 8 || totals.BaseRows > 4*300 {
		t.Errorf("%d base tablets with %d rows for about 300 live ones: nothing is vacuumed", totals.BaseTablets, totals.BaseRows)
	}
}

func (h *house) position0() uint64 {
	if len(h.current().Ingest.Position) == 0 {
		return 0
	}
	return h.position()
}

// TestCascadeWhileAppendsGoOn runs cascades and maintenance side by side with a worker.
func TestCascadeWhileAppendsGoOn(t *testing.T) {
	h := newHouse(t, options("limit", "60000"))
	w, c := h.worker(generator.Source(), 500)
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan error, 1)
	go func() {
		for ctx.Err() == nil {
			if _, err := c.Run(ctx); err != nil && ctx.Err() == nil {
				done <- err
				return
			}
			if err := c.Maintain(ctx, time.Second); err != nil && ctx.Err() == nil {
				done <- err
				return
			}
		}
		done <- nil
	}()
	h.runUntil(w, 60000)
	cancel()
	if err := <-done; err != nil {
		t.Fatal(err)
	}
	h.verify()
}

func TestAFencedWorkerStopsWithoutCommitting(t *testing.T) {
	h := newHouse(t, options())
	old, _ := h.worker(generator.Source(), 500)
	done := make(chan error, 1)
	go func() { done <- old.Run(t.Context()) }()
	for !h.current().Ingest.LoadDone() {
		<-h.catalog.Changed()
	}
	fresh, _ := h.worker(generator.Source(), 500)
	if err := <-done; err != nil {
		t.Fatalf("the fenced worker ended with %v", err)
	}
	h.runUntil(fresh, h.position()+5000)
	h.verify()
}

// failing wraps the generator with a source whose Check fails while on is set.
func failing(on *atomic.Bool, failure error) *extension.SourceDef {
	def := *generator.Source()
	open := def.Open
	def.Open = func(ctx context.Context, req extension.OpenRequest) (extension.Source, error) {
		s, err := open(ctx, req)
		return failingSource{s, on, failure}, err
	}
	return &def
}

type failingSource struct {
	extension.Source
	on      *atomic.Bool
	failure error
}

func (s failingSource) Check(ctx context.Context) error {
	if s.on.Load() {
		return s.failure
	}
	return s.Source.Check(ctx)
}

func TestFailuresEndInStateError(t *testing.T) {
	for name, failure := range map[string]error{
		"permanent at once":             extension.Permanent(errors.New("the source table is gone")),
		"others after the retry budget": errors.New("the source is not to be reached"),
	} {
		t.Run(name, func(t *testing.T) {
			var on atomic.Bool
			h := newHouse(t, options())
			first, _ := h.worker(failing(&on, failure), 500)
			h.runUntil(first, 2000)
			staged := h.current().Tablets.Totals().StagingTablets
			on.Store(true)
			w, _ := h.worker(failing(&on, failure), 500)
			if err := w.Run(t.Context()); !errors.Is(err, failure) {
				t.Fatalf("Run = %v, want the failure", err)
			}
			table := h.current()
			if table.Ingest.State != catalog.Failed || table.Ingest.Reason != failure.Error() {
				t.Errorf("state %s, reason %q", table.Ingest.State, table.Ingest.Reason)
			}
			if left := table.Tablets.Totals().StagingTablets; staged == 0 || left != 0 {
				t.Errorf("the final drain left %d of %d staging tablets", left, staged)
			}
			h.verify()
			_, err := h.catalog.Commit(t.Context(), &catalog.AcquireWorker{Table: h.table, Engine: "e", FromEpoch: table.Ingest.Epoch})
			if err == nil {
				t.Error("an attachment in state error was acquired again")
			}
		})
	}
}

func TestAnotherStreamReseeds(t *testing.T) {
	h := newHouse(t, options("limit", "3000"))
	w, _ := h.worker(generator.Source(), 500)
	h.runUntil(w, 3000)
	h.options = options("keys", "100", "seed", "8", "limit", "500")
	other := catalog.Stream{ID: catalog.NewStreamID(), Name: "other", Kind: "GENERATOR", Options: catalog.Options{}}
	for name, value := range h.options {
		other.Options[name] = catalog.Option{Value: value}
	}
	_, err := h.catalog.Commit(t.Context(), &catalog.DetachStream{Table: h.table}, &catalog.CreateStream{Stream: other},
		&catalog.AttachStream{Table: h.table, Stream: other.ID})
	if err != nil {
		t.Fatal(err)
	}
	h.stream = &other
	w, _ = h.worker(generator.Source(), 500)
	h.runUntilLoaded(w, other.ID, 500)
	h.verify()
}

func (h *house) runUntilLoaded(w *ingest.Worker, stream catalog.StreamID, n uint64) {
	ctx, cancel := context.WithCancel(h.t.Context())
	defer cancel()
	done := make(chan error, 1)
	go func() { done <- w.Run(ctx) }()
	for h.current().Ingest.LoadedBy != stream || h.position() < n {
		changed := h.catalog.Changed()
		if h.current().Ingest.LoadedBy == stream && h.position() >= n {
			break
		}
		select {
		case <-changed:
		case err := <-done:
			h.t.Fatalf("the worker ended: %v", err)
		}
	}
	cancel()
	<-done
}

// TestLookupFindsStoredRows asks for rows by key, as a source does that leaves unchanged values out.
func TestLookupFindsStoredRows(t *testing.T) {
	h := newHouse(t, options("limit", "4000", "deletes", "0", "inserts", "0", "updates", "100"))
	w, c := h.worker(generator.Source(), 300)
	h.runUntil(w, 4000)
	model, err := generator.NewModel(h.spec, h.options)
	if err != nil {
		t.Fatal(err)
	}
	if err := model.Apply(4000); err != nil {
		t.Fatal(err)
	}
	check := func(when string) {
		layout, err := tablestore.KeyLayout(h.current())
		if err != nil {
			t.Fatal(err)
		}
		b := vec.NewBuilder(vec.Int64Type, 0)
		var want []vec.Value
		for key := uint64(0); key < 5000; key += 37 {
			row, _ := model.Row(key)
			b.Append(row[0])
			want = append(want, row[3])
		}
		ids := b.Finish()
		var keys maskindex.Keys
		if err := layout.Fingerprint([]*vec.Vector{ids}, ids.N, &keys); err != nil {
			t.Fatal(err)
		}
		got, err := h.store.Lookup(t.Context(), h.current(), nil, &keys, []int{3})
		if err != nil {
			t.Fatalf("%s: %v", when, err)
		}
		for i, w := range want {
			if vec.Compare(got.Cols[0].Value(i), w) != 0 {
				t.Fatalf("%s: key %v has version %v, want %v", when, ids.Value(i), got.Cols[0].Value(i), w)
			}
		}
	}
	check("staged")
	if _, err := c.Run(t.Context()); err != nil {
		t.Fatal(err)
	}
	check("after a cascade")
}
