package ingest

import (
	"cmp"
	"context"
	"slices"
	"sync"
	"sync/atomic"

	"golang.org/x/sync/errgroup"

	"github.com/tidemarkdb/tidemark/catalog"
	"github.com/tidemarkdb/tidemark/extension"
	"github.com/tidemarkdb/tidemark/sqlerr"
	"github.com/tidemarkdb/tidemark/tablestore"
	"github.com/tidemarkdb/tidemark/tablet"
	"github.com/tidemarkdb/tidemark/vec"
)

// load replaces the table's rows with a snapshot of the source in one commit.
func (w *Worker) load(ctx context.Context, source extension.Source, table *catalog.Table) error {
	started := w.Now()
	w.board.update(func(s *Status) { s.Phase = Backfilling })
	w.Metrics.LoadStarted(started)
	rows, tablets, err := w.loadOnce(ctx, source, table)
	if err != nil {
		w.Metrics.LoadFailed()
		return err
	}
	w.Metrics.LoadCommitted(w.Now().Sub(started), rows, tablets)
	w.Log.Info("initial load committed", "rows", rows, "tablets", tablets, "took", w.Now().Sub(started))
	return nil
}

func (w *Worker) loadOnce(ctx context.Context, source extension.Source, table *catalog.Table) (rows, tablets int64, err error) {
	snapshot, err := source.Snapshot(ctx)
	if err != nil {
		return 0, 0, err
	}
	defer snapshot.Close()
	ledger := w.Store.NewLedger()
	defer ledger.Discard()
	ctx = ledger.Context(ctx)
	descs, lastSeq, err := w.copyParts(ctx, snapshot, table)
	if err != nil {
		return 0, 0, err
	}
	descs, runs, err := w.Store.IndexTablets(ctx, table, descs)
	if err != nil {
		return 0, 0, &applyError{err}
	}
	for _, d := range descs {
		rows += d.Rows
	}
	position := snapshot.Position()
	_, err = w.commit(ctx, &catalog.Load{
		Table: w.Table, Epoch: w.Epoch, Tablets: descs, Runs: runs,
		Progress: catalog.Progress{Position: position, PositionText: w.Def.FormatPosition(position), LastSeq: lastSeq},
	})
	if err != nil {
		return 0, 0, &applyError{err}
	}
	return rows, int64(len(descs)), nil
}

// copyParts reads the parts of the snapshot side by side; each reader writes tablets of its own. lastSeq is the number of
// the last row read.
func (w *Worker) copyParts(ctx context.Context, snapshot extension.Snapshot, table *catalog.Table) (descs []*tablet.Desc, lastSeq int64, err error) {
	var (
		mu   sync.Mutex
		next atomic.Int64
		seq  atomic.Int64
	)
	seq.Store(table.Ingest.LastSeq)
	threads := min(max(1, w.Pacing().Threads), max(1, snapshot.Parts()))
	g, ctx := errgroup.WithContext(ctx)
	for range threads {
		g.Go(func() error {
			out := &loadBuffer{worker: w, table: table, limitBytes: w.Pacing().MemoryBytes / int64(threads), seq: &seq}
			defer func() {
				mu.Lock()
				defer mu.Unlock()
				descs = append(descs, out.descs...)
			}()
			for {
				part := int(next.Add(1)) - 1
				if part >= snapshot.Parts() {
					break
				}
				if err := snapshot.Read(ctx, part, func(b *vec.Batch) error { return out.add(ctx, b) }); err != nil {
					return err
				}
			}
			return out.flush(ctx)
		})
	}
	if err := g.Wait(); err != nil {
		return nil, 0, err
	}
	slices.SortFunc(descs, func(a, b *tablet.Desc) int { return cmp.Compare(a.ID, b.ID) })
	return descs, seq.Load(), nil
}

// loadBuffer collects rows of a snapshot until they make a tablet.
type loadBuffer struct {
	worker     *Worker
	table      *catalog.Table
	limitBytes int64
	seq        *atomic.Int64

	batches []*vec.Batch
	rows    int
	bytes   int64
	descs   []*tablet.Desc
}

func (b *loadBuffer) add(ctx context.Context, batch *vec.Batch) error {
	batch = batch.Compact()
	if batch.N == 0 {
		return nil
	}
	b.batches = append(b.batches, batch)
	b.rows += batch.N
	b.bytes += batch.MemoryBytes()
	if b.bytes >= b.limitBytes || b.rows >= tablestore.TargetRows {
		return b.flush(ctx)
	}
	return nil
}

// flush writes the rows held as one tablet. Rows of a load are inserts, numbered in the order they arrived.
func (b *loadBuffer) flush(ctx context.Context) error {
	if b.rows == 0 {
		return nil
	}
	joined, err := tablestore.Concat(b.table.Columns, b.batches)
	if err != nil {
		return &applyError{err}
	}
	cols := joined.Cols
	last := b.seq.Add(int64(b.rows))
	ops, seqs := make([]int16, b.rows), make([]int64, b.rows)
	for i := range seqs {
		seqs[i] = last - int64(b.rows) + 1 + int64(i)
	}
	cols = append(cols, vec.FlatOf(vec.Int16Type, ops, nil), vec.FlatOf(vec.Int64Type, seqs, nil))
	batch := vec.NewBatch(b.rows, cols...)
	desc, err := b.write(ctx, batch)
	if sqlerr.Code(err) == sqlerr.UniqueViolation {
		// The source has several rows for one key, which is trusted: they are versions of one row, the last in force.
		if batch, err = b.newest(batch); err == nil {
			desc, err = b.write(ctx, batch)
		}
	}
	if sqlerr.Code(err) == sqlerr.NotNullViolation {
		err = extension.Permanent(err)
	}
	if err != nil {
		return &applyError{err}
	}
	b.descs = append(b.descs, desc)
	b.batches, b.rows, b.bytes = nil, 0, 0
	return nil
}

func (b *loadBuffer) write(ctx context.Context, batch *vec.Batch) (*tablet.Desc, error) {
	return b.worker.Store.Write(ctx, b.table, tablestore.Rows{Batch: tablestore.SortRows(b.table, batch)}, 1)
}

// newest returns the last row of each key.
func (b *loadBuffer) newest(batch *vec.Batch) (*vec.Batch, error) {
	keys, err := tablestore.Fingerprint(b.table, batch)
	if err != nil {
		return nil, err
	}
	return (&vec.Batch{N: batch.N, Cols: batch.Cols, Sel: newestOfEachKey(keys, 0)}).Compact(), nil
}
