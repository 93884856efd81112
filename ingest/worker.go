package ingest

import (
	"context"
	"errors"
	"log/slog"
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

// Config is what a worker needs. All fields are required except Now.
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
}

// Worker drives one attachment. Run it once.
type Worker struct {
	Config
	board board
}

// NewWorker returns a worker that Run starts.
func NewWorker(config Config) *Worker {
	if config.Now == nil {
		config.Now = time.Now
	}
	return &Worker{Config: config}
}

// Status returns what the worker shows of itself; any goroutine may call it.
func (w *Worker) Status() Status { return w.board.get() }

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
		case ctx.Err() != nil || errors.Is(err, errFenced):
			return nil
		case err == nil:
			return nil
		}
		w.board.update(func(s *Status) { s.LastError, s.ErrorCount = err.Error(), s.ErrorCount+1 })
		if exhausted := budget.Fail(w.Now()); exhausted || extension.IsPermanent(err) {
			return w.stop(ctx, err)
		}
		wait := budget.Backoff()
		w.Log.Warn("ingest failed, retrying", "attempt", budget.Failures(), "after", w.Now().Sub(started), "wait", wait, "error", err)
		if !sleep(ctx, wait) {
			return nil
		}
	}
}

// attempt opens the source, loads when needed and streams until something ends it.
func (w *Worker) attempt(ctx context.Context, budget *Budget) error {
	table, err := w.current()
	if err != nil {
		return err
	}
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
	} else if err := w.load(ctx, source, table); err != nil {
		return err
	}
	budget.Succeed()
	w.board.update(func(s *Status) { s.Phase, s.LastError = Streaming, "" })
	return w.stream(ctx, source, budget)
}

// current returns the table as it is now, or errFenced when this worker must stop.
func (w *Worker) current() (*catalog.Table, error) {
	table, ok := w.Catalog.Snapshot().TableByID(w.Table)
	if !ok || table.Ingest.Epoch != w.Epoch || table.Ingest.State != catalog.Enabled {
		return nil, errFenced
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

// commit makes an edit of this worker. An edit refused because the epoch moved on is errFenced.
func (w *Worker) commit(ctx context.Context, edit catalog.Edit) (*catalog.Table, error) {
	snapshot, err := w.Catalog.Commit(ctx, edit)
	if err != nil {
		if _, fenced := w.current(); fenced != nil {
			return nil, errFenced
		}
		return nil, err
	}
	table, ok := snapshot.TableByID(w.Table)
	if !ok {
		return nil, errFenced
	}
	return table, nil
}

// stop records the reason durably and applies what was staged, unless applying it was the failure.
func (w *Worker) stop(ctx context.Context, reason error) error {
	w.Log.Error("ingest stopped for good", "error", reason)
	for {
		_, err := w.commit(ctx, &catalog.SetIngestState{
			Table: w.Table, State: catalog.Failed, Reason: reasonText(reason), Epoch: w.Epoch,
		})
		if err == nil {
			break
		}
		if errors.Is(err, errFenced) || !sleep(ctx, maxBackoff/10) {
			return nil
		}
	}
	w.Metrics.Stop()
	var applying *applyError
	if errors.As(reason, &applying) {
		return reason
	}
	w.drain(ctx)
	return reason
}

// drain is the final drain: best effort, within a retry budget of its own.
func (w *Worker) drain(ctx context.Context) {
	budget := w.Budget()
	for {
		more, err := w.Drain(ctx)
		switch {
		case err == nil && !more, ctx.Err() != nil:
			return
		case err == nil:
			budget.Succeed()
			continue
		}
		if budget.Fail(w.Now()) {
			w.Log.Error("final drain given up; staged changes stay unapplied until the binding is replaced", "error", err)
			return
		}
		if !sleep(ctx, budget.Backoff()) {
			return
		}
	}
}

// applyError marks a failure to write or commit what was read, as opposed to one of the source.
type applyError struct{ error }

func (e *applyError) Unwrap() error { return e.error }

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
