package engine

import (
	"context"
	"sync"

	"github.com/tidemarkdb/tidemark/catalog"
	"github.com/tidemarkdb/tidemark/exec"
	"github.com/tidemarkdb/tidemark/files"
	"github.com/tidemarkdb/tidemark/parquetstore"
	"github.com/tidemarkdb/tidemark/sqlerr"
	"github.com/tidemarkdb/tidemark/tablestore"
	"github.com/tidemarkdb/tidemark/vec"
)

// storage reads stored tables and files for the executor.
type storage struct {
	store *tablestore.Store
	load  bool // files are read to be stored: their pages are not kept
}

// Scan implements exec.Storage.
func (s storage) Scan(ctx context.Context, req *exec.ScanRequest) (exec.ScanSource, error) {
	t := &tableScan{counters: new(parquetstore.Counters), readers: make([]openReader, req.Workers), except: req.Except}
	var err error
	switch h := req.Table.Handle.(type) {
	case *catalog.Table:
		t.kind = "tablets"
		t.parts, err = tabletParts(ctx, s.store, h, req.Ordinals)
		s.store.NoteScan(h, columnsOf(h, req.Ordinals))
	case *files.Parquet:
		t.kind, t.once = "files", s.load
		t.parts = fileParts(h, req.Ordinals)
	default:
		err = sqlerr.New(sqlerr.Internal, "table %q has no stored description", req.Table.Name)
	}
	if err != nil {
		return nil, err
	}
	t.total = len(t.parts)
	for _, ordinal := range req.Ordinals {
		if ordinal < 0 {
			t.layout, t.position = append(t.layout, -1), true
			continue
		}
		t.layout = append(t.layout, len(t.types))
		t.types = append(t.types, req.Table.Columns[ordinal].Type)
		initial := vec.NullValue(req.Table.Columns[ordinal].Type)
		if table, ok := req.Table.Handle.(*catalog.Table); ok {
			if initial, err = tablestore.Initial(table.Columns[ordinal]); err != nil {
				return nil, err
			}
		}
		t.initial = append(t.initial, initial)
	}
	t.pushDown(req)
	return t, nil
}

// part is one file of a scan.
type part interface {
	// mask returns the file's dead rows, nil when there are none; all is true when no row lives.
	mask() (dead parquetstore.Mask, all bool, err error)
	// mayMatch reports whether what is known without opening the file leaves room for a row that passes.
	mayMatch(predicates []columnPredicate) bool
	// open returns the file and, for each column of the scan, its place there, -1 where the file has none: its rows
	// have the initial value. The caller closes the file.
	open(ctx context.Context) (f *parquetstore.File, places []int, err error)
	// ordinal is the high half of the positions of the file's rows.
	ordinal() int
}

// tableScan is one scan: workers take morsels from a queue that the next part refills.
type tableScan struct {
	kind       string      // what parts are called in counters
	types      []vec.Type  // of the columns to read
	initial    []vec.Value // of the columns to read, in files that lack them
	layout     []int       // for each ordinal asked for: its place in types, or -1 for the position
	position   bool
	predicates []columnPredicate
	filters    []*exec.ScanFilter // to be evaluated on rows, in this order
	applied    []bool
	counters   *parquetstore.Counters
	readers    []openReader // by worker
	except     bool         // batches may say which rows do not count
	once       bool         // pages are not kept
	total      int

	mu     sync.Mutex
	parts  []part // not opened yet
	queue  []pendingMorsel
	masked int64 // parts left out because no row lives
	pruned int64
	closed bool
}

type pendingMorsel struct {
	file   *openFile
	morsel parquetstore.Morsel
}

// openFile is a part's file with the number of morsels that still need it.
type openFile struct {
	file    *parquetstore.File
	scan    *parquetstore.Scan
	from    []int // for each column of the scan its place among those read, or -1
	places  []int // for each column of the scan its place in the file, or -1
	ordinal int
	users   int
}

// openReader is what a worker reads, and its memory.
type openReader struct {
	from   *openFile            // nil: the next morsel is to be taken
	reader *parquetstore.Reader // the latest
	out    vec.Batch            // borrowed by whoever asked for it
}

// Applied implements exec.ScanSource.
func (t *tableScan) Applied() []bool { return t.applied }

// Next implements exec.ScanSource.
func (t *tableScan) Next(ctx context.Context, worker int) (*vec.Batch, error) {
	r := &t.readers[worker]
	for {
		if r.from != nil {
			batch, err := r.reader.Next(ctx)
			if err != nil {
				return nil, err
			}
			if batch != nil {
				return t.layOut(r, batch), nil
			}
			t.done(r.from)
			r.from = nil
		}
		m, err := t.take(ctx)
		if err != nil || m == nil {
			return nil, err
		}
		reader, err := m.file.file.NewReader(t.scanOf(m.file, worker), m.morsel)
		if err != nil {
			t.done(m.file)
			return nil, err
		}
		if r.reader != nil {
			reader.TakeOver(r.reader)
		}
		r.from, r.reader = m.file, reader
	}
}

// layOut puts what was read in the order asked for.
func (t *tableScan) layOut(r *openReader, b *vec.Batch) *vec.Batch {
	f, out := r.from, &r.out
	if out.Cols == nil {
		out.Cols = make([]*vec.Vector, len(t.layout))
	}
	out.N, out.Sel, out.Except = b.N, b.Sel, b.Except
	for i, column := range t.layout {
		switch {
		case column < 0:
			rows := vec.Values[int64](b.Cols[len(b.Cols)-1])
			positions := make([]int64, len(rows))
			for k, row := range rows {
				positions[k] = int64(f.ordinal)<<32 | row
			}
			out.Cols[i] = vec.FlatOf(vec.Int64Type, positions, nil)
		case f.from[column] < 0:
			out.Cols[i] = vec.ConstantOf(t.types[column], t.initial[column], b.N)
		default:
			out.Cols[i] = b.Cols[f.from[column]]
		}
	}
	return out
}

// take returns the next morsel, nil when none is left.
func (t *tableScan) take(ctx context.Context) (*pendingMorsel, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	for len(t.queue) == 0 {
		if len(t.parts) == 0 || t.closed {
			return nil, nil
		}
		p := t.parts[0]
		t.parts = t.parts[1:]
		if err := t.open(ctx, p); err != nil {
			return nil, err
		}
	}
	m := t.queue[0]
	t.queue = t.queue[1:]
	return &m, nil
}

// open queues the morsels of a part that may have rows to return.
func (t *tableScan) open(ctx context.Context, p part) error {
	mask, all, err := p.mask()
	if err != nil {
		return err
	}
	if all {
		t.masked++
		return nil
	}
	if !p.mayMatch(t.predicates) {
		t.pruned++
		return nil
	}
	file, places, err := p.open(ctx)
	if err != nil {
		return err
	}
	f := &openFile{file: file, places: places, from: make([]int, len(places)), ordinal: p.ordinal()}
	f.scan = &parquetstore.Scan{Mask: mask, Position: t.position, Except: t.except, Borrow: true, Once: t.once, Counters: t.counters}
	for i, place := range places {
		f.from[i] = -1
		if place >= 0 {
			f.from[i] = len(f.scan.Columns)
			f.scan.Columns = append(f.scan.Columns, place)
		}
	}
	if !t.addPredicates(f) {
		t.pruned++
		return file.Close()
	}
	file.Settle(f.scan)
	morsels := file.Prune(f.scan, file.Morsels())
	if len(morsels) == 0 {
		return file.Close()
	}
	f.users = len(morsels)
	for _, m := range morsels {
		t.queue = append(t.queue, pendingMorsel{f, m})
	}
	return nil
}

// done gives up one use of a file.
func (t *tableScan) done(f *openFile) {
	t.mu.Lock()
	defer t.mu.Unlock()
	f.release()
}

// release gives up one use; the scan's lock is held.
func (f *openFile) release() {
	f.users--
	if f.users == 0 {
		f.file.Close()
	}
}

// Counters implements exec.ScanSource.
func (t *tableScan) Counters() []exec.Counter {
	c := t.counters
	return []exec.Counter{
		{Name: t.kind, Value: int64(t.total)},
		{Name: t.kind + " masked", Value: t.masked},
		{Name: t.kind + " pruned", Value: t.pruned + c.FilesPruned.Load()},
		{Name: "row groups pruned", Value: c.GroupsPruned.Load()},
		{Name: "pages pruned", Value: c.PagesPruned.Load()},
		{Name: "pages decoded", Value: c.PagesDecoded.Load()},
		{Name: "pages cached", Value: c.PagesCached.Load()},
		{Name: "rows masked", Value: c.RowsMasked.Load()},
	}
}

// Close implements exec.ScanSource.
func (t *tableScan) Close() error {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.closed {
		return nil
	}
	t.closed = true
	for _, m := range t.queue {
		m.file.release()
	}
	t.queue = nil
	for i := range t.readers {
		if r := &t.readers[i]; r.from != nil {
			r.from.release()
			r.from = nil
		}
	}
	return nil
}
