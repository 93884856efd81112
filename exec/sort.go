package exec

import (
	"sync"

	"github.com/tidemarkdb/tidemark/plan"
	"github.com/tidemarkdb/tidemark/vec"
)

// maxRunBytes ends a run in memory, so that its columns stay addressable and its sort can overlap reading.
const maxRunBytes = 512 << 20

// sorter collects rows and yields them in order: it is the sink of one pipeline and the source of the next.
type sorter struct {
	q     *query
	m     *nodeMetrics
	order *ordering
	types []vec.Type // of the rows kept: the input's columns, then computed keys
	width int        // columns of the input
	l     layout
	exprs []plan.Expr // the computed keys
	win   *rowWindow  // rows to yield; nil: all
	keep  int64       // rows that a top-N needs; -1: all
	mu    sync.Mutex
	runs  []*sortedRun
	res   []*reservation
}

// sortedRun is rows in order: in memory cols with order, or spilled batches.
type sortedRun struct {
	cols  []*vec.Vector
	order []sortEntry
	list  *chunkList
}

func (c *compiler) sort(n *plan.Sort, m *nodeMetrics) (*stream, error) {
	in, err := c.input(n, 0)
	if err != nil {
		return nil, err
	}
	s := c.newSorter(in.cols, n.Keys, m)
	if n.Limit >= 0 || n.Offset > 0 {
		s.win = &rowWindow{from: n.Offset, to: -1}
		if n.Limit >= 0 && n.Offset+n.Limit >= 0 {
			s.win.to = n.Offset + n.Limit
		}
		if s.keep = s.win.to; s.keep > maxTopRows {
			s.keep = -1
		}
	}
	out := single(in.cols, s, func() error { return c.q.drain(in, m, s.local) })
	out.ordered = true
	if s.win != nil {
		out.add(s.win.stage)
	}
	return out, nil
}

// newSorter prepares to order rows with the columns cols by keys.
func (c *compiler) newSorter(cols []plan.Col, keys []plan.SortKey, m *nodeMetrics) *sorter {
	s := &sorter{q: c.q, m: m, types: typesOf(cols), width: len(cols), l: layoutOf(cols), keep: -1}
	var specs []sortSpec
	for _, k := range keys {
		spec := sortSpec{t: k.Expr.Type(), desc: k.Desc, nullsFirst: k.NullsFirst}
		if _, constant := k.Expr.(*plan.Const); constant {
			continue
		}
		if ref, ok := k.Expr.(*plan.ColumnRef); ok {
			spec.place = s.l[ref.ID]
		} else {
			spec.place = len(s.types)
			s.types = append(s.types, spec.t)
			s.exprs = append(s.exprs, k.Expr)
		}
		specs = append(specs, spec)
	}
	s.order = newOrdering(specs)
	return s
}

// sortWorker collects one worker's rows.
type sortWorker struct {
	s        *sorter
	w        *worker
	prog     *program
	rows     *store
	runs     []*sortedRun // in memory
	runBytes int64
	res      *reservation
	cols     []*vec.Vector
	entries  []sortEntry
	bound    *sortEntry // top-N: no row above it is wanted
	sel      []int32
	file     *spillFile
}

// sortEntryBytes is what a row takes while it is sorted: an entry and its twin in the radix sort.
const sortEntryBytes = 48

// maxTopRows is the most rows a top-N keeps; beyond, sorting everything is as good.
const maxTopRows = 1 << 20

func (s *sorter) local(w *worker) (consumer, error) {
	sw := &sortWorker{s: s, w: w, rows: newStore(s.types), res: s.q.budget.open("Sort", s.m)}
	if len(s.exprs) > 0 {
		prog, err := newProgram(w, s.l, s.exprs)
		if err != nil {
			return nil, err
		}
		sw.prog = prog
	}
	s.mu.Lock()
	s.res = append(s.res, sw.res)
	s.mu.Unlock()
	return sw, nil
}

func (sw *sortWorker) consume(b *vec.Batch) error {
	if sw.s.keep == 0 {
		return errStop
	}
	sw.cols = append(sw.cols[:0], b.Cols...)
	sel, n := b.Sel, b.Rows()
	if sw.prog != nil {
		keys, err := sw.prog.eval(b)
		if err != nil {
			return err
		}
		if sel != nil { // keys are dense: make the rest so
			for i := range b.Cols {
				sw.cols[i] = sw.prog.in.col(i)
			}
			sel = nil
		}
		sw.cols = append(sw.cols, keys...)
	}
	if sw.bound != nil {
		if sel = sw.below(sel, n); len(sel) == 0 {
			return nil
		}
		n = len(sel)
	}
	sw.rows.append(sw.cols, sel, n)
	return sw.settle()
}

// below returns the rows of sel (nil: the first n) that are not above the bound.
func (sw *sortWorker) below(sel vec.Selection, n int) vec.Selection {
	total := n
	if sel != nil {
		total = int(sel[n-1]) + 1
	}
	sw.entries = sw.s.order.appendEntries(sw.entries[:0], sw.cols, total, 0)
	out := sw.sel[:0]
	for i := range n {
		row := int32(i)
		if sel != nil {
			row = sel[i]
		}
		if compareEntries(sw.entries[row], *sw.bound) <= 0 {
			out = append(out, row)
		}
	}
	sw.sel = out
	return out
}

// settle keeps the rows collected within bounds.
func (sw *sortWorker) settle() error {
	if keep := sw.s.keep; keep >= 0 && sw.rows.total >= 2*keep+vec.BatchRows {
		if err := sw.cut(); err != nil {
			return err
		}
	}
	size := sw.rows.memory() + sw.rows.total*sortEntryBytes
	if !sw.res.resize(sw.runBytes + size) {
		return sw.spill(size)
	}
	if size > maxRunBytes {
		return sw.endRun()
	}
	return nil
}

// cut drops all but the first rows that a top-N needs.
func (sw *sortWorker) cut() error {
	run, err := sw.sorted()
	if err != nil {
		return err
	}
	order := run.order[:min(len(run.order), int(sw.s.keep))]
	sel := make([]int32, len(order))
	for i, e := range order {
		sel[i] = e.row
	}
	sw.rows.append(run.cols, sel, len(sel))
	last := order[len(order)-1]
	sw.bound = &last
	return nil
}

// sorted takes the rows collected and sorts them.
func (sw *sortWorker) sorted() (*sortedRun, error) {
	chunks := sw.rows.take()
	run := &sortedRun{}
	n := 0
	for _, c := range chunks {
		n += c.N
	}
	for i, t := range sw.s.types {
		col, err := concat(sw.s.q, t, chunks, i)
		if err != nil {
			return nil, err
		}
		run.cols = append(run.cols, col)
	}
	entries, err := sw.s.order.entries(sw.s.q, sw.entries, run.cols, n)
	if err != nil {
		return nil, err
	}
	sw.entries = entries
	order, spare, err := sw.s.order.sort(sw.s.q, sw.entries, nil, run.cols)
	if err != nil {
		return nil, err
	}
	run.order, sw.entries = order, spare
	return run, nil
}

// endRun makes a run in memory of the rows collected.
func (sw *sortWorker) endRun() error {
	if sw.rows.total == 0 {
		return nil
	}
	run, err := sw.sorted()
	if err != nil {
		return err
	}
	sw.runs = append(sw.runs, run)
	for _, c := range run.cols {
		sw.runBytes += c.MemoryBytes()
	}
	sw.runBytes += int64(cap(run.order) * 24)
	if !sw.res.resize(sw.runBytes) {
		return sw.spill(0)
	}
	return nil
}

// spill writes everything this worker holds to a file, as sorted runs. size is what the open rows were refused.
func (sw *sortWorker) spill(size int64) error {
	if !sw.s.q.spill.enabled() {
		return sw.res.exceeded(size)
	}
	if sw.file == nil {
		file, err := sw.s.q.spill.create(sw.s.m)
		if err != nil {
			return err
		}
		sw.file = file
	}
	if sw.rows.total > 0 {
		run, err := sw.sorted()
		if err != nil {
			return err
		}
		sw.runs = append(sw.runs, run)
	}
	var done []*sortedRun
	for _, run := range sw.runs {
		list, err := sw.writeRun(run)
		if err != nil {
			return err
		}
		done = append(done, &sortedRun{list: list})
	}
	sw.s.mu.Lock()
	sw.s.runs = append(sw.s.runs, done...)
	sw.s.mu.Unlock()
	sw.runs, sw.runBytes = nil, 0
	sw.res.resize(0)
	return nil
}

// writeRun writes a run in order, in batches.
func (sw *sortWorker) writeRun(run *sortedRun) (*chunkList, error) {
	list := &chunkList{types: sw.s.types}
	index := make([]int32, 0, vec.BatchRows)
	for from := 0; from < len(run.order); from += vec.BatchRows {
		if err := sw.s.q.check(); err != nil {
			return nil, err
		}
		index = index[:0]
		for _, e := range run.order[from:min(from+vec.BatchRows, len(run.order))] {
			index = append(index, e.row)
		}
		b := &vec.Batch{N: len(index)}
		for _, c := range run.cols {
			b.Cols = append(b.Cols, vec.Gather(c, index, nil))
		}
		s, err := sw.file.write(b)
		if err != nil {
			return nil, err
		}
		list.items = append(list.items, chunkItem{s: s})
	}
	return list, nil
}

func (sw *sortWorker) flush() error {
	if err := sw.endRun(); err != nil {
		return err
	}
	sw.s.mu.Lock()
	sw.s.runs = append(sw.s.runs, sw.runs...)
	sw.s.mu.Unlock()
	sw.entries = nil
	return nil
}

func (s *sorter) open(*query, int) error { return nil }

func (s *sorter) close() error {
	s.runs = nil
	for _, r := range s.res {
		r.release()
	}
	return nil
}
