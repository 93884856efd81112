package engine

import (
	"context"
	"log/slog"
	"maps"
	"sync"
	"sync/atomic"
	"time"

	"github.com/tidemarkdb/tidemark/cascade"
	"github.com/tidemarkdb/tidemark/catalog"
	"github.com/tidemarkdb/tidemark/extension"
	"github.com/tidemarkdb/tidemark/ingest"
	"github.com/tidemarkdb/tidemark/metrics"
	"github.com/tidemarkdb/tidemark/sqlerr"
	"github.com/tidemarkdb/tidemark/tablet"
)

// workers holds the ingest workers that run on this engine. The zero value is ready.
type workers struct {
	mu      sync.Mutex
	running map[tablet.TableID]*running
	claims  map[tablet.TableID]*claim // hand-overs to this engine that are under way
	closed  bool
	notify  chan struct{} // made at first use; a send wakes the supervisor
}

// running is one worker with its cascades.
type running struct {
	worker  *ingest.Worker
	metrics *metrics.Table
	cascade *cascade.Cascade
	epoch   uint64
	stop    context.CancelFunc    // ends reading and appends
	done    chan struct{}         // closed when the worker and its cascades have ended
	mu      sync.Mutex            // one cascade at a time
	failing atomic.Pointer[error] // how the latest cascade ended, nil before the first
}

func (w *workers) start(e *Engine, table *catalog.Table, stream *catalog.Stream, def *extension.SourceDef) error {
	log := e.log.With("table", table.QualifiedName(), "stream", stream.Name)
	ctx, stop := context.WithCancel(e.ctx)
	r := &running{epoch: table.Ingest.Epoch, stop: stop, done: make(chan struct{})}
	r.metrics = e.cdcMetrics.Start(metrics.Labels{
		Database: Database, Table: table.QualifiedName(), TableID: table.ID.String(), Stream: stream.Name,
	})
	r.cascade = &cascade.Cascade{
		Catalog: e.catalog, Store: e.store, Table: table.ID, Epoch: r.epoch, Metrics: r.metrics, Log: log,
		Threads: func() int { return max(1, e.pacing().Threads/2) }, // appends and queries need the rest
		Aside:   func() bool { return r.worker.Overtaken() },
		Busy:    func() bool { return r.worker.Busy() },
	}
	r.worker = ingest.NewWorker(ingest.Config{
		Catalog: e.catalog, Store: e.store, Table: table.ID, Epoch: r.epoch, Def: def, Stream: stream, SpillDir: e.spill.path,
		Pacing: e.pacing, Budget: e.retryBudget, Metrics: r.metrics, Log: log,
		Drain: func(ctx context.Context) (bool, error) { return r.drain(ctx) },
	})
	w.mu.Lock()
	if same := w.running[table.ID]; w.closed || same != nil && same.epoch == r.epoch {
		closed := w.closed
		w.mu.Unlock()
		stop()
		r.metrics.Stop()
		if !closed {
			return nil // it runs already
		}
		return sqlerr.New(sqlerr.AdminShutdown, "the engine is shutting down")
	}
	if w.running == nil {
		w.running = map[tablet.TableID]*running{}
	}
	w.running[table.ID] = r
	w.mu.Unlock()
	go w.drive(e, ctx, table.ID, r, log)
	return nil
}

// drive runs the worker and its cascades until the worker ends.
func (w *workers) drive(e *Engine, ctx context.Context, id tablet.TableID, r *running, log *slog.Logger) {
	defer close(r.done)
	cascades, stopCascades := context.WithCancel(e.ctx)
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		if err := guard(func() error { e.cascades(cascades, id, r, log); return nil }); err != nil {
			log.Error("cascades ended", "error", err)
		}
	}()
	if err := guard(func() error {
		_ = r.worker.Run(ctx) // it has logged and recorded why it stopped
		return nil
	}); err != nil {
		log.Error("worker ended", "error", err)
	}
	stopCascades()
	<-ended
	r.stop()
	r.metrics.Stop()
	w.mu.Lock()
	if w.running[id] == r {
		delete(w.running, id)
	}
	w.mu.Unlock()
	w.wake()
}

// diagnostic returns the failure that is being retried, of appends or else of cascades; "" when there is none.
func (r *running) diagnostic() string {
	if last := r.worker.Status().LastError; last != "" {
		return last
	}
	if err := r.failing.Load(); err != nil && *err != nil {
		return "cascade: " + (*err).Error()
	}
	return ""
}

// drain is one cascade of the final drain.
func (r *running) drain(ctx context.Context) (bool, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.cascade.Run(ctx)
}

// cascades folds the table at its interval until ctx ends. A failure that exhausts the retry budget ends the
// attachment, and the worker with it. A cascade under way is not interrupted.
func (e *Engine) cascades(ctx context.Context, id tablet.TableID, r *running, log *slog.Logger) {
	budget := e.retryBudget()
	for {
		table, ok := e.catalog.Snapshot().TableByID(id)
		if !ok {
			return
		}
		interval := table.CascadeInterval
		if interval <= 0 {
			interval = catalog.DefaultCascadeInterval
		}
		timer := time.NewTimer(interval)
		select {
		case <-ctx.Done():
			timer.Stop()
			return
		case <-timer.C:
		}
		err := e.cascadeOnce(context.WithoutCancel(ctx), r)
		r.failing.Store(&err)
		switch {
		case err == nil:
			budget.Succeed()
		case ctx.Err() != nil:
			return
		case budget.Fail(time.Now()):
			log.Error("cascades fail for good", "error", err)
			e.failAttachment(ctx, id, r.epoch, err)
			return
		default:
			log.Warn("cascade failed, trying again at the next interval", "error", err)
		}
	}
}

func (e *Engine) cascadeOnce(ctx context.Context, r *running) error {
	return guard(func() error {
		r.mu.Lock()
		defer r.mu.Unlock()
		if _, err := r.cascade.Run(ctx); err != nil {
			return err
		}
		return r.cascade.Maintain(ctx, time.Duration(e.settings.integer(settingVacuumBudget))*time.Millisecond)
	})
}

func (e *Engine) failAttachment(ctx context.Context, id tablet.TableID, epoch uint64, reason error) {
	edit := &catalog.SetIngestState{Table: id, State: catalog.Failed, Reason: "staging maintenance: " + reason.Error(), Epoch: epoch}
	if _, err := e.catalog.Commit(ctx, edit); err != nil {
		e.log.Error("recording why an attachment failed", "error", err)
	}
}

// stop ends a table's worker and waits for what it is doing, a cascade included, until ctx ends.
func (w *workers) stop(ctx context.Context, id tablet.TableID) {
	w.mu.Lock()
	r := w.running[id]
	w.mu.Unlock()
	if r == nil {
		return
	}
	r.stop()
	select {
	case <-r.done:
	case <-ctx.Done():
	}
}

// stopDropped ends the workers of tables that are gone.
func (w *workers) stopDropped(ctx context.Context, snapshot *catalog.Snapshot) {
	w.mu.Lock()
	var gone []tablet.TableID
	for id := range w.running {
		if _, ok := snapshot.TableByID(id); !ok {
			gone = append(gone, id)
		}
	}
	w.mu.Unlock()
	for _, id := range gone {
		w.stop(ctx, id)
	}
}

// stopAll ends every worker and lets none start any more. The tables are left without an owner, so that another engine
// need not ask a process that is gone.
func (w *workers) stopAll(e *Engine) {
	w.mu.Lock()
	w.closed = true
	all := maps.Clone(w.running)
	w.mu.Unlock()
	for _, r := range all {
		r.stop()
	}
	for id, r := range all {
		<-r.done
		e.release(id, r.epoch)
	}
}

// get returns the worker of a table that runs here, if its attachment is the current one.
func (w *workers) get(table *catalog.Table) *running {
	w.mu.Lock()
	defer w.mu.Unlock()
	r := w.running[table.ID]
	if r == nil || table.Ingest == nil || table.Ingest.Epoch != r.epoch {
		return nil
	}
	return r
}

// wake makes the supervisor look at once.
func (w *workers) wake() {
	select {
	case w.signal() <- struct{}{}:
	default:
	}
}

func (w *workers) signal() chan struct{} {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.notify == nil {
		w.notify = make(chan struct{}, 1)
	}
	return w.notify
}

// supervisePause bounds how often the supervisor looks while commits follow each other.
const supervisePause = 100 * time.Millisecond

// supervise follows the catalog: it ends workers whose table is gone or no longer theirs, hands over those that another
// engine asks for, moves the metrics of renamed tables and drops what the caches hold of dropped ones.
func (e *Engine) supervise(ctx context.Context) {
	known := map[tablet.TableID]string{}
	for {
		changed := e.catalog.Changed()
		e.follow(known)
		select {
		case <-ctx.Done():
			return
		case <-changed:
			timer := time.NewTimer(supervisePause)
			select {
			case <-ctx.Done():
			case <-timer.C:
			}
			timer.Stop()
		case <-e.workers.signal():
		}
	}
}

func (e *Engine) follow(known map[tablet.TableID]string) {
	snapshot := e.catalog.Snapshot()
	e.settleWorkers(snapshot)
	for id := range known {
		table, ok := snapshot.TableByID(id)
		if !ok {
			delete(known, id)
			e.store.Forget(id)
			e.stats.forget(id)
			continue
		}
		known[id] = table.QualifiedName()
		e.workers.mu.Lock()
		if r := e.workers.running[id]; r != nil {
			r.metrics.Rename(known[id]) // nothing when it is the same
		}
		e.workers.mu.Unlock()
	}
	for table := range snapshot.Tables("") {
		if _, ok := known[table.ID]; !ok {
			known[table.ID] = table.QualifiedName()
		}
	}
}
