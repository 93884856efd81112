package ingest

import (
	"bytes"
	"context"
	"errors"
	"slices"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/tidemarkdb/tidemark/catalog"
	"github.com/tidemarkdb/tidemark/extension"
	"github.com/tidemarkdb/tidemark/maskindex"
	"github.com/tidemarkdb/tidemark/tablestore"
	"github.com/tidemarkdb/tidemark/tablet"
	"github.com/tidemarkdb/tidemark/vec"
)

// boundaryWait is how long one read waits for the boundary of a transaction that outlasts the window.
const boundaryWait = 100 * time.Millisecond

// piece is what the reader hands to the writer: a window, or with more set a part of one that outgrew its budget. The
// parts end at boundaries where they can. With back set the window ends at the boundary before a failure, and parts
// that came after the last one that ended at a boundary are to be forgotten.
type piece struct {
	*window
	started time.Time
	more    bool
	back    bool
}

// stream reads changes and commits them until ctx ends or something fails. One goroutine reads, one writes.
func (w *Worker) stream(ctx context.Context, source extension.Source, budget *Budget) error {
	table, err := w.current()
	if err != nil {
		return err
	}
	changes, err := source.Stream(ctx, table.Ingest.Position)
	if err != nil {
		return err
	}
	defer changes.Close()
	pieces := make(chan piece)
	var last error // set before pieces is closed: what ends the stream once they are written
	g, ctx := errgroup.WithContext(ctx)
	g.Go(func() (err error) {
		defer close(pieces)
		last, err = w.read(ctx, changes, pieces)
		return err
	})
	g.Go(func() error {
		a := &appender{worker: w, changes: changes, budget: budget, ledger: w.Store.NewLedger()}
		defer a.ledger.Discard()
		if table.MergeMode == catalog.MergeWrite {
			a.merge, a.whole.merge = new(merging), new(merging)
		}
		for p := range pieces {
			if err := a.take(ctx, p); err != nil {
				return err
			}
		}
		if last != nil {
			return last
		}
		if w.yielding() {
			return errYielded
		}
		return nil
	})
	g.Go(func() error { return w.watch(ctx) })
	return g.Wait()
}

// watch ends the stream when the attachment is no longer this worker's.
func (w *Worker) watch(ctx context.Context) error {
	for {
		changed := w.Catalog.Changed()
		if _, err := w.current(); err != nil {
			return err
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-changed:
		}
	}
}

// read cuts the changes into windows, until the worker is to yield. A failure that no retry heals comes back as last
// after the transactions before it went out: nobody reads them again.
func (w *Worker) read(ctx context.Context, changes extension.Stream, out chan<- piece) (last, err error) {
	table, err := w.current()
	if err != nil {
		return nil, err
	}
	send := func(p piece) error {
		select {
		case out <- p:
			return nil
		case <-ctx.Done():
			return ctx.Err()
		}
	}
	for !w.yielding() {
		started := time.Now()
		win := &window{columns: table.Columns, key: tablestore.Places(table, table.MergeKey)}
		back := false
		if err := w.readWindow(ctx, changes, win, started, send); err != nil {
			err = &appendError{err, started}
			if !extension.IsPermanent(err) || !win.moved {
				return nil, err
			}
			back = win.torn
			win.cut()
			last = err
		}
		if err := send(piece{win, started, false, back}); err != nil || last != nil {
			return last, err
		}
	}
	return nil, nil
}

// readWindow reads until the window's time is over or it holds its number of events, and on to the next boundary. What
// outgrows the memory budget is sent on the way; the rest stays in win.
func (w *Worker) readWindow(ctx context.Context, changes extension.Stream, win *window, started time.Time, send func(piece) error) error {
	pacing := w.Pacing()
	deadline := started.Add(pacing.MaxRead)
	for read := false; ; read = true { // at least once, however late it is on a busy machine
		wait := time.Until(deadline)
		left := pacing.MaxRows - int(win.events())
		if read && (wait <= 0 || left <= 0) {
			if !win.open {
				return nil
			}
			wait = boundaryWait
		}
		c, err := changes.Next(ctx, max(wait, time.Millisecond), max(1, left))
		if err != nil {
			return err
		}
		if ctx.Err() != nil {
			return ctx.Err()
		}
		if c != nil {
			if err := win.add(c); err != nil {
				return err
			}
		}
		for win.bytes > pacing.MemoryBytes {
			if err := send(piece{win.split(), started, true, false}); err != nil {
				return err
			}
		}
	}
}

// appender writes windows in order.
type appender struct {
	worker  *Worker
	changes extension.Stream
	budget  *Budget
	ledger  *tablestore.Ledger // of the append being written

	written
	whole written // as of the last part that ended at a boundary
}

// written is what an append written in parts has so far.
type written struct {
	parts                     []*tablet.Desc
	truncated                 bool
	lastSeq                   int64
	inserts, updates, deletes int64

	merge *merging // of a table in write mode, else nil
}

// clone returns a copy that more parts written do not change.
func (w *written) clone() written {
	out := *w
	out.parts = slices.Clip(w.parts)
	if w.merge != nil {
		out.merge = w.merge.clone()
	}
	return out
}

// take writes one piece and, when it ends a window, commits the append.
func (a *appender) take(ctx context.Context, p piece) error {
	a.worker.busy.Store(true)
	defer a.worker.busy.Store(false)
	ctx = a.ledger.Context(ctx)
	if p.back {
		a.written = a.whole.clone()
	}
	err := a.write(ctx, p)
	if err == nil && p.more && !p.open {
		a.whole = a.clone()
	}
	if err == nil && !p.more {
		err = a.commit(ctx, p)
	}
	if err == nil || errors.Is(err, errFenced) {
		return err
	}
	return &appendError{err, p.started}
}

// ended reports whether err is no failure but the end of the attempt.
func ended(err error) bool { return errors.Is(err, errFenced) || errors.Is(err, errColumns) }

// write turns a piece into staging tablets that no commit names yet.
func (a *appender) write(ctx context.Context, p piece) error {
	a.inserts += p.inserts
	a.updates += p.updates
	a.deletes += p.deletes
	if p.rows == 0 {
		return nil
	}
	w := a.worker
	table, err := w.current()
	if err != nil {
		return err
	}
	if a.lastSeq == 0 {
		a.lastSeq = table.Ingest.LastSeq
	}
	layout, err := tablestore.KeyLayout(table)
	if err != nil {
		return err
	}
	stored := func(ctx context.Context, keys *maskindex.Keys, columns []int) (*vec.Batch, error) {
		return w.Store.Lookup(ctx, table, a.parts, keys, columns)
	}
	rows, err := p.seal(ctx, layout, tablestore.Places(table, table.MergeKey), tablestore.Places(table, table.SortColumns()), a.lastSeq+1, stored)
	if err != nil {
		return err
	}
	a.lastSeq = rows.lastSeq
	if rows.truncated {
		a.parts, a.truncated = nil, true
	}
	if a.merge != nil {
		return a.mergeRows(ctx, table, rows)
	}
	if rows.batch.N == 0 {
		return nil
	}
	desc, err := w.Store.Write(ctx, table, tablestore.Rows{Batch: rows.batch, Keys: &rows.keys, Deletes: rows.deletes}, w.Pacing().Threads)
	if err != nil {
		return &applyError{err}
	}
	a.parts = append(a.parts, desc)
	return nil
}

// commit makes the append durable, acknowledges it and counts it.
func (a *appender) commit(ctx context.Context, p piece) error {
	w := a.worker
	if !p.moved {
		a.foundNothing(p)
		return nil
	}
	table, err := w.current()
	if err != nil {
		return err
	}
	from := table.Ingest.Position
	if !a.changed() && bytes.Equal(from, p.position) {
		a.foundNothing(p)
		return nil
	}
	progress := catalog.Progress{
		Position: p.position, PositionText: w.Def.FormatPosition(p.position), LastSeq: max(a.lastSeq, table.Ingest.LastSeq),
		SourceMicros: table.Ingest.SourceMicros,
	}
	asOf := time.Time{}
	if !p.commitTime.IsZero() && a.changed() {
		asOf = p.commitTime
		progress.SourceMicros = asOf.UnixMicro()
	}
	var committed *catalog.Table
	if a.merge != nil {
		committed, err = a.commitMerge(ctx, progress)
	} else {
		edit := &catalog.Append{
			Table: w.Table, Epoch: w.Epoch, Tablets: slices.Clone(a.parts), Progress: progress,
			FromPosition: nonNil(from), Truncate: a.truncated,
		}
		committed, err = w.commit(ctx, edit)
	}
	if err != nil {
		if ended(err) {
			return err
		}
		return &applyError{err}
	}
	a.changes.Ack(p.position)
	w.Metrics.AppendCommitted(time.Since(p.started), a.inserts, a.updates, a.deletes, asOf)
	now := w.Now()
	w.succeed(a.budget, func(s *Status) { s.ApplyCount, s.LastApplied = s.ApplyCount+1, now })
	a.ledger.Discard() // parts that no longer count
	parts := a.parts
	next := appender{worker: a.worker, changes: a.changes, budget: a.budget, ledger: a.ledger}
	if a.merge != nil {
		next.merge, next.whole.merge = new(merging), new(merging)
	}
	*a = next
	w.Store.Warm(ctx, committed, parts...)
	return nil
}

// changed reports whether the append holds changes.
func (a *appender) changed() bool {
	return len(a.parts) > 0 || a.truncated || a.merge != nil && a.merge.keys.Len() > 0
}

// foundNothing ends an append that has nothing to commit.
func (a *appender) foundNothing(p piece) {
	a.worker.Metrics.AppendEmpty(time.Since(p.started))
	if !a.worker.writeFailing {
		a.worker.succeed(a.budget, func(*Status) {})
	}
}

// nonNil returns the position as the catalog compares it: nil would mean that any will do.
func nonNil(position []byte) []byte {
	if position == nil {
		return []byte{}
	}
	return position
}
