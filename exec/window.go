package exec

import (
	"sync"

	"github.com/tidemarkdb/tidemark/plan"
	"github.com/tidemarkdb/tidemark/vec"
)

// window is a compiled Window node: the sink of one pipeline, which shares rows out by the hash of PARTITION BY, and
// the source of the next, where a worker sorts a share and computes every call over it.
type window struct {
	q       *query
	m       *nodeMetrics
	n       *plan.Window
	l       layout
	width   int         // columns of the input
	exprs   []plan.Expr // of partition keys, order keys and what calls need, those that are not columns
	types   []vec.Type  // of the input's columns, then of exprs
	keys    int         // how many partition keys
	keyAt   []int       // their places
	order   *ordering   // partition keys, then order keys
	calls   []windowCall
	mu      sync.Mutex
	workers []*windowWorker
	parts   ticket
}

// windowCall is one call: places are those of window.types.
type windowCall struct {
	*plan.WindowCall
	args       []int
	filter     int // -1: none
	start, end frameBound
}

// frameBound is one end of a frame. For RANGE, at is the place of the ORDER BY key moved by the offset.
type frameBound struct {
	kind     plan.BoundKind
	rows     int64 // ROWS, GROUPS with a constant offset
	at       int
	seeks    bool // RANGE with an offset
	before   bool
	computed bool // the offset is a column, at the place offset
	offset   int
}

func (c *compiler) window(n *plan.Window, m *nodeMetrics) (*stream, error) {
	in, err := c.input(n, 0)
	if err != nil {
		return nil, err
	}
	x := &window{q: c.q, m: m, n: n, l: layoutOf(in.cols), width: len(in.cols), types: typesOf(in.cols), keys: len(n.Partition)}
	var specs []sortSpec
	for _, p := range n.Partition {
		x.keyAt = append(x.keyAt, x.add(p))
		specs = append(specs, sortSpec{place: x.keyAt[len(specs)], t: p.Type()})
	}
	for _, k := range n.Order {
		specs = append(specs, sortSpec{place: x.add(k.Expr), t: k.Expr.Type(), desc: k.Desc, nullsFirst: k.NullsFirst})
	}
	x.order = newOrdering(specs)
	for i := range n.Calls {
		call, err := c.windowCall(x, &n.Calls[i])
		if err != nil {
			return nil, err
		}
		x.calls = append(x.calls, call)
	}
	return single(n.Cols(), x, func() error { return c.q.drain(in, m, x.local) }), nil
}

// add makes e be there for each row and returns its place.
func (x *window) add(e plan.Expr) int {
	if ref, ok := e.(*plan.ColumnRef); ok {
		return x.l[ref.ID]
	}
	x.exprs = append(x.exprs, e)
	x.types = append(x.types, e.Type())
	return len(x.types) - 1
}

func (c *compiler) windowCall(x *window, call *plan.WindowCall) (windowCall, error) {
	out := windowCall{WindowCall: call, filter: -1}
	for _, a := range call.Args {
		out.args = append(out.args, x.add(a))
	}
	if call.Filter != nil {
		out.filter = x.add(call.Filter)
	}
	var err error
	if out.start, err = c.frameBound(x, call.Frame.Mode, call.Frame.Start); err != nil {
		return out, err
	}
	out.end, err = c.frameBound(x, call.Frame.Mode, call.Frame.End)
	return out, err
}

// windowWorker collects one worker's rows.
type windowWorker struct {
	x      *window
	prog   *program
	parts  *partitions
	res    *reservation
	hash   []uint64
	hasher keyHasher
	cols   []*vec.Vector
}

func (x *window) local(w *worker) (consumer, error) {
	prog, err := newProgram(w, x.l, x.exprs)
	if err != nil {
		return nil, err
	}
	k := &windowWorker{x: x, prog: prog, res: x.q.budget.open("Window", x.m), hasher: keyHasher{perRow: eagerPerRow}}
	k.parts = newPartitions(x.q, x.types, 0, x.m).keepDicts(len(x.types), false)
	x.mu.Lock()
	x.workers = append(x.workers, k)
	x.mu.Unlock()
	return k, nil
}

func (k *windowWorker) consume(b *vec.Batch) error {
	vals, err := k.prog.eval(b)
	if err != nil {
		return err
	}
	n := b.Rows()
	k.cols = k.cols[:0]
	for i := range b.Cols {
		k.cols = append(k.cols, k.prog.in.col(i))
	}
	k.cols = append(k.cols, vals...)
	k.hash = resize(k.hash, n)
	k.hasher.hash(pickColumns(k.cols, k.x.keyAt), n, k.hash)
	k.parts.add(k.cols, k.hash, n)
	size := k.parts.memory()
	if k.res.resize(size) {
		return nil
	}
	if !k.x.q.spill.enabled() {
		return k.res.exceeded(size - k.res.held)
	}
	k.res.resize(0)
	return k.parts.spill()
}

func (k *windowWorker) flush() error { return nil }

func (x *window) open(*query, int) error { return nil }

func (x *window) close() error {
	for _, k := range x.workers {
		k.res.release()
	}
	x.workers = nil
	return nil
}

func (x *window) run(w *worker, out consumer) error {
	res := x.q.budget.open("Window", x.m)
	defer res.release()
	for {
		k := x.parts.take()
		if k >= partitionCount {
			return nil
		}
		list := &chunkList{types: x.types}
		for _, ww := range x.workers {
			list.join(ww.parts.list(k))
		}
		if list.rows == 0 {
			continue
		}
		if err := x.share(w, out, list, res, 0); err != nil {
			return err
		}
		res.resize(0)
	}
}

// share sorts one share of the rows, computes every call and passes the rows on. What does not fit is shared out again
// by PARTITION BY, or computed in stretches.
func (x *window) share(w *worker, out consumer, list *chunkList, res *reservation, level int) error {
	cols, err := x.gather(w, list, res)
	if err != nil {
		return err
	}
	if cols == nil {
		res.resize(0)
		switch {
		case !x.q.spill.enabled():
			return x.tooLarge()
		case x.keys == 0 || level+1 >= maxLevels:
			return x.stream(w, out, list)
		}
		return x.split(w, out, list, res, level+1)
	}
	n := int(list.rows)
	entries, err := x.order.entries(x.q, nil, cols, n)
	if err != nil {
		return err
	}
	if entries, _, err = x.order.sort(x.q, entries, nil, cols); err != nil {
		return err
	}
	index := make([]int32, n)
	for i, e := range entries {
		index[i] = e.row
	}
	entries = nil
	for i, c := range cols {
		if err := w.check(); err != nil {
			return err
		}
		if c.Type.Phys().Width() > 0 {
			cols[i] = vec.Gather(c, index, nil)
		} else {
			cols[i] = vec.DictionaryOf(c, index, nil)
		}
	}
	s, err := newWindowShare(x, w, cols, n)
	if err != nil {
		return err
	}
	for i := range x.calls {
		v, err := s.call(&x.calls[i])
		if err != nil {
			return err
		}
		cols = append(cols[:len(x.types)+i:len(x.types)+i], v)
	}
	b := &vec.Batch{N: n, Cols: append(cols[:x.width:x.width], cols[len(x.types):]...)}
	for from := 0; from < n; from += vec.BatchRows {
		if err := w.check(); err != nil {
			return err
		}
		if err := out.consume(b.Slice(from, min(vec.BatchRows, n-from))); err != nil {
			return err
		}
	}
	return nil
}

// split shares rows out by further bits of the hash of PARTITION BY.
func (x *window) split(w *worker, out consumer, list *chunkList, res *reservation, level int) error {
	parts := newPartitions(x.q, x.types, level, x.m)
	var hash []uint64
	for i := range list.len() {
		if err := w.check(); err != nil {
			return err
		}
		b, err := list.read(i)
		if err != nil {
			return err
		}
		hash = resize(hash, b.N)
		hashKeys(pickColumns(b.Cols, x.keyAt), b.N, hash)
		parts.add(b.Cols, hash, b.N)
		if parts.memory() > splitBytes {
			if err := parts.spill(); err != nil {
				return err
			}
		}
	}
	if err := parts.spill(); err != nil {
		return err
	}
	for k := range partitionCount {
		part := parts.list(k)
		if part.rows == 0 {
			continue
		}
		if part.rows == list.rows { // one partition, or a few that hash alike
			level = maxLevels
		}
		if err := x.share(w, out, part, res, level); err != nil {
			return err
		}
		res.resize(0)
	}
	return parts.discard()
}

// gather reads a share into flat columns, nil when it does not fit.
func (x *window) gather(w *worker, list *chunkList, res *reservation) ([]*vec.Vector, error) {
	var chunks []*vec.Batch
	for i := range list.len() {
		if err := w.check(); err != nil {
			return nil, err
		}
		b, err := list.read(i)
		if err != nil {
			return nil, err
		}
		// Read, joined and sorted, a row is held twice beside what orders it.
		if !res.resize(res.held + 2*rowBytes(b) + int64(b.N)*sortEntryBytes) {
			return nil, nil
		}
		chunks = append(chunks, b)
	}
	cols := make([]*vec.Vector, len(x.types))
	for i, t := range x.types {
		if cols[i] = concatIndex(chunks, i); cols[i] != nil {
			continue
		}
		col, err := concat(x.q, t, chunks, i)
		if err != nil {
			return nil, err
		}
		cols[i] = col
	}
	return cols, nil
}
