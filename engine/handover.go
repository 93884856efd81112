package engine

import (
	"context"
	"errors"
	"os"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/tidemarkdb/tidemark/catalog"
	"github.com/tidemarkdb/tidemark/extension"
	"github.com/tidemarkdb/tidemark/sqlerr"
	"github.com/tidemarkdb/tidemark/tablet"
)

// Ingestion moves between engines through the log:
//
//	here                                there (the owner)
//	RequestWorker  ------------------>  the worker ends after its statement, its cascade after that
//	               <------------------  YieldWorker: heard. Asked again now and then, it answers again
//	               <------------------  YieldWorker, done: no owner
//	AcquireWorker: a new epoch, a worker
//
// An owner that does not answer in time is taken for dead, and fenced by AcquireWorker. Where the store fails, a request
// may have been made although it seemed to fail: the owner would leave, and nobody would come. So a claim goes on until
// it has the worker or reads in the log that nobody wants it here.

// claim is a hand-over to this engine that is under way.
type claim struct {
	stop    context.CancelFunc
	settled chan struct{} // closed when the claim has ended, one way or the other
	err     error         // set before settled is closed
	failing chan error    // holds the first failure that it goes on after
	tried   uint64        // epoch that it last tried to acquire the table from; 0 before
}

// resume binds a table's ingestion to this engine. Without an owner elsewhere the worker runs when it returns; else
// the owner is asked, and the hand-over goes on in the background when it takes longer than the owner may be silent.
func (w *workers) resume(ctx context.Context, e *Engine, table *catalog.Table) error {
	stream, def, err := e.feeding(table)
	if err != nil {
		return err
	}
	ingest := table.Ingest
	if r := w.get(table); r != nil && ingest.State == catalog.Enabled && ingest.Wanted == "" {
		return nil // it runs here
	}
	if ingest.Owner == "" || ingest.Owner == e.name || processGone(ingest.Owner) {
		w.stop(ctx, table.ID)
		return w.acquire(ctx, e, table, stream, def)
	}
	_, err = e.catalog.Commit(ctx, &catalog.RequestWorker{Table: table.ID, Engine: e.name})
	c := w.claim(e, table.ID, err != nil)
	switch {
	case c == nil:
		return sqlerr.New(sqlerr.AdminShutdown, "the engine is shutting down")
	case err != nil:
		return err
	}
	timer := time.NewTimer(2 * e.handoverTimeout())
	defer timer.Stop()
	select {
	case <-c.settled:
		return c.err
	case err := <-c.failing:
		return err
	case <-timer.C: // the owner finishes a long statement
		return nil
	case <-ctx.Done():
		return nil
	}
}

// feeding returns the stream attached to a table and what opens it.
func (e *Engine) feeding(table *catalog.Table) (*catalog.Stream, *extension.SourceDef, error) {
	stream, ok := e.catalog.Snapshot().StreamByID(table.Ingest.Stream)
	if !ok {
		return nil, nil, sqlerr.New(sqlerr.UndefinedObject, "the stream attached to CDC table %q is gone", table.Name).
			Hintf("DETACH STREAM and attach another")
	}
	def := e.functions.Source(strings.ToLower(stream.Kind))
	if def == nil {
		return nil, nil, sqlerr.New(sqlerr.UndefinedObject, "this engine has no stream source %q", stream.Kind).
			Hintf("load the extension that provides it, then RESUME again")
	}
	return stream, def, nil
}

// acquire makes this engine the owner and starts the worker.
func (w *workers) acquire(ctx context.Context, e *Engine, table *catalog.Table, stream *catalog.Stream, def *extension.SourceDef) error {
	snapshot, err := e.catalog.Commit(ctx, &catalog.AcquireWorker{Table: table.ID, Engine: e.name, FromEpoch: table.Ingest.Epoch})
	if err != nil {
		return err
	}
	acquired, ok := snapshot.TableByID(table.ID)
	if !ok {
		return sqlerr.New(sqlerr.UndefinedTable, "CDC table %q was dropped meanwhile", table.Name)
	}
	return w.start(e, acquired, stream, def)
}

func (e *Engine) handoverTimeout() time.Duration {
	d, _ := time.ParseDuration(e.settings.get(settingHandover)) // kept normal, so it parses
	return d
}

// claim waits for a table's worker in the background, in place of an earlier claim; nil when the engine shuts down.
// unsure says that the request for it may not have been made.
func (w *workers) claim(e *Engine, id tablet.TableID, unsure bool) *claim {
	ctx, stop := context.WithCancel(e.ctx)
	c := &claim{stop: stop, settled: make(chan struct{}), failing: make(chan error, 1)}
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.closed {
		stop()
		return nil
	}
	if old := w.claims[id]; old != nil {
		old.stop()
	}
	if w.claims == nil {
		w.claims = map[tablet.TableID]*claim{}
	}
	w.claims[id] = c
	e.tasks.Go(func() {
		c.err = guard(func() error { return e.pursue(ctx, c, id, unsure) })
		stop()
		w.mu.Lock()
		if w.claims[id] == c {
			delete(w.claims, id)
		}
		w.mu.Unlock()
		close(c.settled)
		if c.err != nil && e.ctx.Err() == nil {
			e.log.Warn("taking a worker over", "table_id", id.String(), "error", c.err)
		}
	})
	return c
}

// claimPause is how long a claim waits after a failure of the store.
const claimPause = 100 * time.Millisecond

// pursue takes a table over, however long the store fails meanwhile. The first failure is passed on.
func (e *Engine) pursue(ctx context.Context, c *claim, id tablet.TableID, unsure bool) error {
	for {
		var err error
		if unsure {
			_, err = e.catalog.Refresh(ctx)
		}
		if err == nil {
			err = e.takeOver(ctx, c, id)
		}
		switch code := sqlerr.Code(err); {
		case err == nil || ctx.Err() != nil, code == sqlerr.UndefinedObject, code == sqlerr.UndefinedTable, code == sqlerr.AdminShutdown,
			code == sqlerr.ObjectNotInPrerequisite:
			return err
		}
		select {
		case c.failing <- err:
		default:
		}
		if unsure = true; !sleepFor(ctx, claimPause) {
			return ctx.Err()
		}
	}
}

// takeOver acquires a table once its owner has handed it over, or has been silent for too long. It ends without an
// error when nobody wants the worker here any more.
func (e *Engine) takeOver(ctx context.Context, c *claim, id tablet.TableID) error {
	asked, answered := time.Now(), time.Time{}
	for {
		changed := e.catalog.Changed()
		table, ok := e.catalog.Snapshot().TableByID(id)
		switch {
		case !ok || !table.Ingest.Attached():
			return nil
		case c.tried != 0 && table.Ingest.Owner == e.name && table.Ingest.Epoch == c.tried+1: // acquired, and the answer was lost
			stream, def, err := e.feeding(table)
			if err != nil {
				return err
			}
			return e.workers.start(e, table, stream, def)
		case table.Ingest.Wanted != e.name:
			return nil
		}
		timeout := e.handoverTimeout()
		silent := answered.IsZero() && time.Since(asked) >= timeout
		if table.Ingest.Owner == "" || silent {
			if silent {
				e.log.Warn("the engine that ingests does not answer; taking its worker", "table", table.QualifiedName(), "engine", table.Ingest.Owner)
			}
			stream, def, err := e.feeding(table)
			if err != nil {
				return err
			}
			e.workers.stop(ctx, id)
			c.tried = table.Ingest.Epoch
			if err := e.workers.acquire(ctx, e, table, stream, def); sqlerr.Code(err) != sqlerr.SerializationFailure {
				return err
			}
			continue
		}
		if table.Ingest.Yielding && answered.IsZero() {
			answered = time.Now()
		}
		next := asked.Add(timeout)
		if !answered.IsZero() {
			next = answered.Add(timeout / 2)
			if !time.Now().Before(next) { // is it still alive?
				if _, err := e.catalog.Commit(ctx, &catalog.RequestWorker{Table: id, Engine: e.name}); err != nil {
					return err
				}
				asked, answered = time.Now(), time.Time{}
				continue
			}
		}
		timer := time.NewTimer(time.Until(next))
		select {
		case <-ctx.Done():
			timer.Stop()
			return ctx.Err()
		case <-changed:
		case <-timer.C:
		}
		timer.Stop()
	}
}

// settleWorkers ends the workers here whose table is gone, suspended or no longer theirs, and answers engines that ask
// for the worker of a table this engine owns.
func (e *Engine) settleWorkers(snapshot *catalog.Snapshot) {
	e.workers.mu.Lock()
	running := make(map[tablet.TableID]*running, len(e.workers.running))
	for id, r := range e.workers.running {
		running[id] = r
		table, ok := snapshot.TableByID(id)
		if !ok || table.Ingest.Epoch > r.epoch || table.Ingest.State == catalog.Paused {
			r.stop()
		}
	}
	e.workers.mu.Unlock()
	for table := range snapshot.Tables("") {
		i := table.Ingest
		if !i.Attached() || i.Owner != e.name || i.Wanted == "" || i.Wanted == e.name {
			continue
		}
		r := running[table.ID]
		if r != nil && r.epoch == i.Epoch {
			r.worker.Yield()
			if i.Yielding {
				continue
			}
		} else {
			r = nil
		}
		if _, err := e.catalog.Commit(e.ctx, &catalog.YieldWorker{Table: table.ID, Epoch: i.Epoch, Done: r == nil}); err != nil && e.ctx.Err() == nil {
			e.log.Info("answering an engine that wants a worker", "table", table.QualifiedName(), "error", err)
		}
	}
}

// releaseTimeout bounds how long a closing engine tries to give up a table.
const releaseTimeout = 5 * time.Second

// release leaves a table without an owner, if it is still this engine's at epoch.
func (e *Engine) release(id tablet.TableID, epoch uint64) {
	table, ok := e.catalog.Snapshot().TableByID(id)
	if !ok || !table.Ingest.Attached() || table.Ingest.Epoch != epoch || table.Ingest.State != catalog.Enabled {
		return
	}
	var edits []catalog.Edit
	if table.Ingest.Wanted == "" {
		edits = append(edits, &catalog.RequestWorker{Table: id, Engine: e.name})
	}
	ctx, cancel := context.WithTimeout(context.Background(), releaseTimeout)
	defer cancel()
	if _, err := e.catalog.Commit(ctx, append(edits, &catalog.YieldWorker{Table: id, Epoch: epoch, Done: true})...); err != nil {
		e.log.Info("giving up a worker", "table", table.QualifiedName(), "error", err)
	}
}

// processGone reports whether an engine with a generated name ran on this machine in a process that has ended.
func processGone(engine string) bool {
	host, err := os.Hostname()
	rest, here := strings.CutPrefix(engine, host+"-")
	if err != nil || !here {
		return false
	}
	text, _, ok := strings.Cut(rest, "-")
	pid, err := strconv.Atoi(text)
	if !ok || err != nil || pid <= 0 {
		return false
	}
	process, err := os.FindProcess(pid)
	return err != nil || errors.Is(process.Signal(syscall.Signal(0)), os.ErrProcessDone)
}
