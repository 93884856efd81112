package ingest

import (
	"context"
	"errors"
	"log/slog"
	"sync"
	"sync/atomic"
	"time"

	"github.com/tidemarkdb/tidemark/catalog"
	"github.com/tidemarkdb/tidemark/extension"
	"github.com/tidemarkdb/tidemark/metrics"
	"github.com/tidemarkdb/tidemark/sqlerr"
	"github.com/tidemarkdb/tidemark/tablestore"
	"github.com/tidemarkdb/tidemark/tablet"
)

// Pacing is how appends are cut; it is read anew for each.
type Pacing struct {
	MaxRead     time.Duration // execution.cdc.append_max_read_ms: how long one append reads
	MaxRows     int           // execution.cdc.append_max_rows: how many change events end it early
	Threads     int           // execution.cdc.append_max_threads: how many cores it writes with
	MemoryBytes int64         // how much of a window is held before it is written in parts
}

// Pacing defaults of the specification.
const (
	DefaultMaxRead     = 2 * time.Second
	DefaultMaxRows     = 2_000_000
	DefaultMemoryBytes = 256 << 20
)

// Config is what a worker needs. All fields are required except Now and Wait.
type Config struct {
	Catalog *catalog.Catalog
	Store   *tablestore.Store
	Table   tablet.TableID
	Epoch   uint64 // as acquired: every commit carries it

	Def      *extension.SourceDef
	Stream   *catalog.Stream
	SpillDir string

	Pacing  func() Pacing
	Budget  func() Budget // with limits set, nothing counted
	Metrics *metrics.Table
	Log     *slog.Logger

	// Drain applies what is staged, once; false when nothing is left.
	Drain func(ctx context.Context) (more bool, err error)
	Now   func() time.Time // time.Now when nil
	// Wait waits between attempts and reports whether ctx is still alive; a timer when nil.
	Wait func(ctx context.Context, d time.Duration) bool
}

// Worker drives one attachment. Run it once.
type Worker struct {
	Config
	board   board
	columns atomic.Uint32 // schema version of the table that the source was opened for; 0 before

	// writeFailing says that the latest failure was one to store what was read, which only an append that stores
	// something ends: an empty one proves nothing.
	writeFailing bool

	overtaken atomic.Bool // a merge lost to another commit and has not committed yet
	busy      atomic.Bool // an append is being written or committed

	yield   chan struct{} // closed by Yield
	yielded sync.Once
}

// NewWorker returns a worker that Run starts.
func NewWorker(config Config) *Worker {
	if config.Now == nil {
		config.Now = time.Now
	}
	if config.Wait == nil {
		config.Wait = sleep
	}
	return &Worker{Config: config, yield: make(chan struct{})}
}

// Yield asks the worker to end when the statement it is running has: an append, or the whole of an initial load. It is
// idempotent; Run returns nil then.
func (w *Worker) Yield() { w.yielded.Do(func() { close(w.yield) }) }

// Overtaken reports whether a merge of this worker lost to another commit and tries again: work on the table that can
// wait should, so that it succeeds.
func (w *Worker) Overtaken() bool { return w.overtaken.Load() }

// Busy reports whether an append is being written or committed: whatever can wait should let it pass.
func (w *Worker) Busy() bool { return w.busy.Load() }

// yielding reports whether Yield was called.
func (w *Worker) yielding() bool {
	select {
	case <-w.yield:
		return true
	default:
		return false
	}
}

// Status returns what the worker shows of itself; any goroutine may call it.
func (w *Worker) Status() Status { return w.board.get() }

// errColumns ends an attempt because the table's columns have changed: the source is opened anew for them.
var errColumns = errors.New("the columns of the table were changed")

// errYielded ends a worker that was asked to, between two statements.
var errYielded = errors.New("the worker is handed over")

// errFenced ends a worker whose attachment is no longer its own.
var errFenced = errors.New("the attachment was taken over, suspended or ended")

// Run ingests until ctx ends, the attachment is suspended, detached or taken over by another engine (all nil), or
// until it failed for good: then the table is in state error and the returned error is the reason.
func (w *Worker) Run(ctx context.Context) error {
	budget := w.Budget()
	for {
		started := w.Now()
		err := w.attempt(ctx, &budget)
		switch {
		case ctx.Err() != nil || errors.Is(err, errFenced) || errors.Is(err, errYielded):
			return nil
		case err == nil:
			return nil
		case errors.Is(err, errColumns):
			w.Log.Info("the table's columns were changed, opening the source for the new ones")
			continue
		}
		w.countFailure(err, w.Now().Sub(started))
		if exhausted := budget.Fail(w.Now()); exhausted || extension.IsPermanent(err) {
			return w.stop(ctx, err)
		}
		wait := budget.Backoff()
		w.Log.Warn("ingest failed, retrying", "attempt", budget.Failures(), "after", w.Now().Sub(started), "wait", wait, "error", err)
		if !w.pause(ctx, wait) {
			return nil
		}
	}
}

// pause waits for the next attempt and reports whether there is to be one.
func (w *Worker) pause(ctx context.Context, d time.Duration) bool {
	ctx, cancel := context.WithCancel(ctx)
	watching := make(chan struct{})
	go func() {
		defer close(watching)
		select {
		case <-w.yield:
			cancel()
		case <-ctx.Done():
		}
	}()
	again := w.Wait(ctx, d)
	cancel()
	<-watching
	return again && !w.yielding()
}

// countFailure shows a failed attempt. Once the table is loaded an attempt is an append, which failed.
func (w *Worker) countFailure(err error, took time.Duration) {
	w.board.update(func(s *Status) { s.LastError, s.ErrorCount = reasonText(err), s.ErrorCount+1 })
	var storing *applyError
	w.writeFailing = errors.As(err, &storing)
	if table, fenced := w.current(); fenced != nil || !table.Ingest.LoadDone() {
		return
	}
	var failed *appendError
	if errors.As(err, &failed) {
		took = time.Since(failed.started)
	}
	w.Metrics.AppendFailed(took)
}

// attempt opens the source, loads when needed and streams until something ends it.
func (w *Worker) attempt(ctx context.Context, budget *Budget) error {
	w.columns.Store(0)
	table, err := w.current()
	if err != nil {
		return err
	}
	w.columns.Store(table.SchemaVersion)
	source, err := w.open(ctx, table)
	if err != nil {
		return err
	}
	defer source.Close()
	if err := source.Check(ctx); err != nil {
		return err
	}
	if table.Ingest.LoadDone() {
		w.Metrics.LoadFoundComplete()
	} else {
		if err := w.load(ctx, source, table); err != nil {
			return err
		}
		w.succeed(budget, func(*Status) {})
	}
	w.board.update(func(s *Status) { s.Phase = Streaming })
	return w.stream(ctx, source, budget)
}

// succeed forgets earlier failures. Connecting to a source is not yet a success: loading and appending are.
func (w *Worker) succeed(budget *Budget, change func(*Status)) {
	budget.Succeed()
	w.writeFailing = false
	w.board.update(func(s *Status) {
		s.LastError = ""
		change(s)
	})
}

// current returns the table as it is now, errFenced when this worker must stop, or errColumns when it must open its
// source anew.
func (w *Worker) current() (*catalog.Table, error) {
	table, ok := w.Catalog.Snapshot().TableByID(w.Table)
	if !ok || table.Ingest.Epoch != w.Epoch || table.Ingest.State != catalog.Enabled {
		return nil, errFenced
	}
	if v := w.columns.Load(); v != 0 && v != table.SchemaVersion {
		return nil, errColumns
	}
	return table, nil
}

func (w *Worker) open(ctx context.Context, table *catalog.Table) (extension.Source, error) {
	spec := extension.TableSpec{Key: tablestore.Places(table, table.MergeKey)}
	for _, c := range table.Columns {
		spec.Columns = append(spec.Columns, tablestore.VecColumn(c))
	}
	return w.Def.Open(ctx, extension.OpenRequest{
		Stream: w.Stream.Name, Options: w.Stream.Options.Values(), Table: spec, SpillDir: w.SpillDir,
		MemoryBytes: w.Pacing().MemoryBytes, Log: func(msg string, args ...any) { w.Log.Info(msg, args...) },
	})
}

// commit makes an edit of this worker. An edit refused because the epoch moved on is errFenced, and errColumns because
// the columns changed.
func (w *Worker) commit(ctx context.Context, edit catalog.Edit) (*catalog.Table, error) {
	snapshot, err := w.Catalog.Commit(ctx, edit)
	tablestore.LedgerOf(ctx).Committed(err, edit)
	if err != nil {
		if _, ended := w.current(); ended != nil {
			return nil, ended
		}
		return nil, err
	}
	table, ok := snapshot.TableByID(w.Table)
	if !ok {
		return nil, errFenced
	}
	return table, nil
}

// stop records the reason durably and applies what was staged. When applying it is what fails, the attachment is ended
// by whoever runs the cascades, and Run ends without a final drain.
func (w *Worker) stop(ctx context.Context, reason error) error {
	w.Log.Error("ingest stopped for good", "error", reason)
	for {
		_, err := w.commit(ctx, &catalog.SetIngestState{
			Table: w.Table, State: catalog.Failed, Reason: reasonText(reason), Epoch: w.Epoch,
		})
		if err == nil {
			break
		}
		if errors.Is(err, errColumns) {
			w.columns.Store(0)
			continue
		}
		if errors.Is(err, errFenced) || !w.Wait(ctx, maxBackoff/10) {
			return nil
		}
	}
	w.Metrics.Stop()
	w.drain(ctx)
	return reason
}

// drain is the final drain: best effort, within a retry budget of its own.
func (w *Worker) drain(ctx context.Context) {
	budget := w.Budget()
	for {
		more, err := w.Drain(ctx)
		switch {
		case err == nil && !more, ctx.Err() != nil, errors.Is(err, catalog.ErrFenced):
			return
		case err == nil:
			budget.Succeed()
			continue
		}
		if budget.Fail(w.Now()) {
			w.Log.Error("final drain given up; staged changes stay unapplied until the binding is replaced", "error", err)
			return
		}
		if !w.Wait(ctx, budget.Backoff()) {
			return
		}
	}
}

// applyError marks a failure to write or commit what was read, as opposed to one of the source.
type applyError struct{ error }

func (e *applyError) Unwrap() error { return e.error }

// appendError is the failure of one append.
type appendError struct {
	error
	started time.Time
}

func (e *appendError) Unwrap() error { return e.error }

// reasonText is the durable reason: the message and the hint, without what only a log needs.
func reasonText(err error) string {
	var e *sqlerr.Error
	if !errors.As(err, &e) {
		return err.Error()
	}
	text := e.Message
	if e.Detail != "" {
		text += "; " + e.Detail
	}
	if e.Hint != "" {
		text += "; hint: " + e.Hint
	}
	return text
}

// sleep waits and reports whether ctx is still alive.
func sleep(ctx context.Context, d time.Duration) bool {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-ctx.Done():
		return false
	case <-timer.C:
		return true
	}
}
