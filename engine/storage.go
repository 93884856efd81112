package engine

import (
	"context"
	"sync"

	"github.com/tidemarkdb/tidemark/catalog"
	"github.com/tidemarkdb/tidemark/exec"
	"github.com/tidemarkdb/tidemark/maskindex"
	"github.com/tidemarkdb/tidemark/parquetstore"
	"github.com/tidemarkdb/tidemark/sqlerr"
	"github.com/tidemarkdb/tidemark/tablestore"
	"github.com/tidemarkdb/tidemark/tablet"
	"github.com/tidemarkdb/tidemark/vec"
)

// storage reads stored tables for the executor.
type storage struct{ store *tablestore.Store }

// Scan implements exec.Storage: it resolves the table's masks and hands out morsels of its tablets.
func (s storage) Scan(ctx context.Context, req *exec.ScanRequest) (exec.ScanSource, error) {
	table, ok := req.Table.Handle.(*catalog.Table)
	if !ok {
		return nil, sqlerr.New(sqlerr.Internal, "table %q has no stored description", req.Table.Name)
	}
	masks, err := s.store.Masks(ctx, table)
	if err != nil {
		return nil, err
	}
	t := &tableScan{store: s.store, table: table, masks: masks, counters: new(parquetstore.Counters), readers: make([]*openReader, req.Workers)}
	view := table.Tablets.View()
	for i, b := range view.Base {
		t.tablets = append(t.tablets, scanTablet{b.Desc, i})
	}
	for i, staged := range view.Staging {
		t.tablets = append(t.tablets, scanTablet{staged.Desc, len(view.Base) + i})
	}
	for _, ordinal := range req.Ordinals {
		if ordinal < 0 {
			t.position = true
			continue
		}
		t.columns = append(t.columns, table.Columns[ordinal])
	}
	t.layout = layoutOf(req.Ordinals)
	t.applied = make([]bool, len(req.Filters))
	for i, f := range req.Filters {
		predicates, ok := t.predicatesOf(req, f)
		if !ok {
			continue
		}
		t.predicates = append(t.predicates, predicates...)
		t.applied[i] = f.Exact && !f.Runtime
	}
	return t, nil
}

// scanTablet is a tablet to scan and its ordinal among the table's, which is the high half of row positions.
type scanTablet struct {
	*tablet.Desc
	ordinal int
}

// columnPredicate is a predicate before it is known where in a file its column lies.
type columnPredicate struct {
	fieldID int32
	op      parquetstore.Op
	values  []vec.Value
}

// tableScan is one scan of a table: workers take morsels from a queue that the next tablet refills.
type tableScan struct {
	store      *tablestore.Store
	table      *catalog.Table
	masks      *maskindex.Masks
	columns    []tablet.Column // to read
	layout     []int           // for each ordinal asked for: its place in columns, or -1 for the position
	position   bool
	predicates []columnPredicate
	applied    []bool
	counters   *parquetstore.Counters
	readers    []*openReader // by worker

	mu            sync.Mutex
	tablets       []scanTablet
	next          int
	queue         []pendingMorsel
	masked        int64 // tablets left out because no row lives
	prunedTablets int64
	closed        bool
}

type pendingMorsel struct {
	file   *openFile
	morsel parquetstore.Morsel
}

// openFile is a tablet's file with the number of morsels that still need it.
type openFile struct {
	file    *parquetstore.File
	scan    *parquetstore.Scan
	project *tablestore.Projection
	ordinal int
	users   int
}

type openReader struct {
	from   *openFile
	reader *parquetstore.Reader
}

// layoutOf returns for each ordinal asked for its place among the columns read, or -1 for the position.
func layoutOf(ordinals []int) []int {
	layout, n := make([]int, len(ordinals)), 0
	for i, o := range ordinals {
		if o < 0 {
			layout[i] = -1
			continue
		}
		layout[i] = n
		n++
	}
	return layout
}

// predicatesOf turns a filter's simple form into predicates of scans.
func (t *tableScan) predicatesOf(req *exec.ScanRequest, f *exec.ScanFilter) ([]columnPredicate, bool) {
	p := f.Simple
	if p == nil || req.Ordinals[p.Column] < 0 {
		return nil, false
	}
	column := t.table.Columns[req.Ordinals[p.Column]]
	var out []columnPredicate
	add := func(op parquetstore.Op, values ...vec.Value) bool {
		out = append(out, columnPredicate{column.FieldID, op, values})
		return parquetstore.Exact(column.Type, op)
	}
	ok := true
	switch p.Op {
	case exec.PredRange:
		switch {
		case p.Low != nil && p.High != nil && !p.LowOpen && !p.HighOpen && vec.Compare(*p.Low, *p.High) == 0:
			return out, add(parquetstore.Eq, *p.Low) && ok
		case p.Low != nil && p.High != nil && !p.LowOpen && !p.HighOpen:
			return out, add(parquetstore.Between, *p.Low, *p.High) && ok
		}
		if p.Low != nil {
			op := parquetstore.Ge
			if p.LowOpen {
				op = parquetstore.Gt
			}
			ok = add(op, *p.Low)
		}
		if p.High != nil {
			op := parquetstore.Le
			if p.HighOpen {
				op = parquetstore.Lt
			}
			ok = add(op, *p.High) && ok
		}
	case exec.PredIn:
		ok = add(parquetstore.In, p.Values...)
	case exec.PredNotEq:
		ok = add(parquetstore.Ne, p.Values[0])
	case exec.PredIsNull:
		ok = add(parquetstore.IsNull)
	case exec.PredNotNull:
		ok = add(parquetstore.IsNotNull)
	default:
		return nil, false
	}
	return out, ok
}

// Applied implements exec.ScanSource.
func (t *tableScan) Applied() []bool { return t.applied }

// Next implements exec.ScanSource.
func (t *tableScan) Next(ctx context.Context, worker int) (*vec.Batch, error) {
	for {
		if r := t.readers[worker]; r != nil {
			batch, err := r.reader.Next(ctx)
			if err != nil {
				return nil, err
			}
			if batch != nil {
				return t.layOut(r.from, batch), nil
			}
			t.readers[worker] = nil
			t.done(r.from)
		}
		m, err := t.take(ctx)
		if err != nil || m == nil {
			return nil, err
		}
		reader, err := m.file.file.NewReader(m.file.scan, m.morsel)
		if err != nil {
			t.done(m.file)
			return nil, err
		}
		t.readers[worker] = &openReader{m.file, reader}
	}
}

// layOut puts what was read in the order asked for.
func (t *tableScan) layOut(f *openFile, b *vec.Batch) *vec.Batch {
	projected := f.project.Apply(b)
	out := &vec.Batch{N: b.N, Sel: b.Sel, Cols: make([]*vec.Vector, len(t.layout))}
	for i, place := range t.layout {
		if place >= 0 {
			out.Cols[i] = projected.Cols[place]
			continue
		}
		rows := vec.Values[int64](projected.Cols[len(t.columns)])
		positions := make([]int64, len(rows))
		for k, row := range rows {
			positions[k] = int64(f.ordinal)<<32 | row
		}
		out.Cols[i] = vec.FlatOf(vec.Int64Type, positions, nil)
	}
	return out
}

// take returns the next morsel, nil when none is left.
func (t *tableScan) take(ctx context.Context) (*pendingMorsel, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	for len(t.queue) == 0 {
		if t.next == len(t.tablets) || t.closed {
			return nil, nil
		}
		d := t.tablets[t.next]
		t.next++
		if err := t.open(ctx, d); err != nil {
			return nil, err
		}
	}
	m := t.queue[0]
	t.queue = t.queue[1:]
	return &m, nil
}

// open queues the morsels of a tablet that may have rows to return.
func (t *tableScan) open(ctx context.Context, d scanTablet) error {
	mask, err := t.masks.Of(uint64(d.ID))
	if err != nil {
		return err
	}
	if mask.All() || d.Rows == 0 {
		t.masked++
		return nil
	}
	if !t.mayMatch(d.Desc) {
		t.prunedTablets++
		return nil
	}
	file, err := t.store.Open(ctx, t.table.ID, d.ID)
	if err != nil {
		return err
	}
	project, err := tablestore.NewProjection(file, t.columns)
	if err != nil {
		file.Close()
		return err
	}
	scan := &parquetstore.Scan{Columns: project.Read, Mask: tablestore.ScanMask(mask), Position: t.position, Counters: t.counters}
	for _, p := range t.predicates {
		place := file.ColumnByFieldID(p.fieldID)
		if place >= 0 {
			scan.Predicates = append(scan.Predicates, parquetstore.Predicate{Column: place, Op: p.op, Values: p.values})
		} else if p.op != parquetstore.IsNull { // written before the column was added: NULL in every row
			t.prunedTablets++
			return file.Close()
		}
	}
	morsels := file.Prune(scan, file.Morsels())
	if len(morsels) == 0 {
		return file.Close()
	}
	f := &openFile{file: file, scan: scan, project: project, ordinal: d.ordinal, users: len(morsels)}
	for _, m := range morsels {
		t.queue = append(t.queue, pendingMorsel{f, m})
	}
	return nil
}

// mayMatch reports whether a tablet's statistics leave room for a row that passes.
func (t *tableScan) mayMatch(d *tablet.Desc) bool {
	for _, p := range t.predicates {
		stats, ok := d.Stats.Column(p.fieldID)
		if ok && excludes(stats, d.Rows, p) {
			return false
		}
	}
	return true
}

// excludes reports whether a column's bounds rule a predicate out for every row. NaN lies outside the bounds.
func excludes(stats tablet.ColumnStats, rows int64, p columnPredicate) bool {
	if p.op == parquetstore.IsNull {
		return stats.NullCount == 0
	}
	if stats.NullCount == rows {
		return true
	}
	if stats.NaNCount > 0 || !stats.Min.Known() || !stats.Max.Known() || len(p.values) == 0 {
		return false
	}
	low, high := p.values[0], p.values[len(p.values)-1]
	lowest, highest := boundValue(low.Type, stats.Min), boundValue(low.Type, stats.Max)
	switch p.op {
	case parquetstore.Eq, parquetstore.Between, parquetstore.In:
		return vec.Compare(highest, low) < 0 || vec.Compare(lowest, high) > 0
	case parquetstore.Lt:
		return vec.Compare(lowest, low) >= 0
	case parquetstore.Le:
		return vec.Compare(lowest, low) > 0
	case parquetstore.Gt:
		return vec.Compare(highest, low) < 0 || stats.Max.Exact && vec.Compare(highest, low) == 0
	case parquetstore.Ge:
		return vec.Compare(highest, low) < 0
	}
	return false
}

// done gives up one use of a file.
func (t *tableScan) done(f *openFile) {
	t.mu.Lock()
	defer t.mu.Unlock()
	f.users--
	if f.users == 0 {
		f.file.Close()
	}
}

// Counters implements exec.ScanSource.
func (t *tableScan) Counters() []exec.Counter {
	c := t.counters
	return []exec.Counter{
		{Name: "tablets", Value: int64(len(t.tablets))},
		{Name: "tablets masked", Value: t.masked},
		{Name: "tablets pruned", Value: t.prunedTablets + c.FilesPruned.Load()},
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
		m.file.users--
		if m.file.users == 0 {
			m.file.file.Close()
		}
	}
	t.queue = nil
	for i, r := range t.readers {
		if r != nil {
			r.from.users--
			if r.from.users == 0 {
				r.from.file.Close()
			}
			t.readers[i] = nil
		}
	}
	return nil
}
