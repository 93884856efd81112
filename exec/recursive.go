package exec

import (
	"maps"

	"github.com/tidemarkdb/tidemark/plan"
	"github.com/tidemarkdb/tidemark/vec"
)

// recursive compiles WITH RECURSIVE. Rows are passed on round by round, so that a LIMIT above ends a recursion that
// would not end by itself.
func (c *compiler) recursive(n *plan.RecursiveCTE, m *nodeMetrics) (*stream, error) {
	baseRows, err := c.alone(n.Base)
	if err != nil {
		return nil, err
	}
	r := &recursion{c: c, n: n, m: m, base: baseRows, ctes: maps.Clone(c.ctes), types: typesOf(n.Columns)}
	// Compiled once for EXPLAIN's sake: every round compiles its own, as operators keep state.
	if _, err := r.step(c.current, &chunkList{types: r.types}); err != nil {
		return nil, err
	}
	return single(n.Columns, r), nil
}

// recursion is the source of a recursive CTE's rows.
type recursion struct {
	c     *compiler
	n     *plan.RecursiveCTE
	m     *nodeMetrics
	base  *stream
	ctes  map[int]*sharedRows
	types []vec.Type
	seen  *firstRows // UNION: every row so far
}

// step compiles the recursive term over the rows of the round before.
func (r *recursion) step(under *nodeMetrics, working *chunkList) (*stream, error) {
	ctes := maps.Clone(r.ctes)
	rows := &sharedRows{types: r.types, fill: func() error { return nil }, list: working}
	ctes[r.n.ID] = rows
	c := &compiler{q: r.c.q, current: under, ctes: ctes}
	return c.compile(r.n.Step)
}

func (r *recursion) open(*query, int) error { return nil }

func (r *recursion) close() error {
	if r.seen != nil {
		r.seen.release()
	}
	return nil
}

func (r *recursion) run(w *worker, out consumer) error {
	if w.id != 0 {
		return nil
	}
	if r.n.Distinct {
		r.seen = newFirstRows(r.c.q, r.m, "RecursiveCTE", r.types, firstPlaces(len(r.types)))
	}
	next, before := r.base, (*rowsSink)(nil) // before: what next reads
	for {
		sink := &rowsSink{q: r.c.q, m: r.m, types: r.types, operator: "RecursiveCTE"}
		working, err := sink.collect(next)
		if err != nil {
			return err
		}
		if before != nil {
			if err := before.discard(); err != nil {
				return err
			}
		}
		before = sink
		if r.seen != nil {
			if working, err = r.fresh(w, sink, working); err != nil {
				return err
			}
		}
		if working.rows == 0 {
			return sink.discard()
		}
		if err := r.pass(w, working, out); err != nil {
			return err
		}
		if next, err = r.step(&nodeMetrics{name: "Step"}, working); err != nil {
			return err
		}
	}
}

// pass passes the rows of a round on.
func (r *recursion) pass(w *worker, rows *chunkList, out consumer) error {
	for i := range rows.len() {
		if err := w.check(); err != nil {
			return err
		}
		b, err := rows.read(i)
		if err != nil {
			return err
		}
		if err := consumeSlices(b, out); err != nil {
			return err
		}
	}
	return nil
}

// fresh returns the rows that no round has had. They take the place of those that sink holds.
func (r *recursion) fresh(w *worker, sink *rowsSink, rows *chunkList) (*chunkList, error) {
	kept, err := sink.local(w)
	if err != nil {
		return nil, err
	}
	k := kept.(*rowsWorker)
	pass := func(b *vec.Batch, fresh []int32) error {
		return k.consume(&vec.Batch{N: b.N, Cols: b.Cols, Sel: fresh})
	}
	err = rows.each(w, func(b *vec.Batch) error {
		if r.seen.spilled() {
			return r.seen.putAside(b.Cols, b.N)
		}
		fresh, err := r.seen.see(b.Cols, b.N)
		if err != nil || len(fresh) == 0 {
			return err
		}
		return pass(b, fresh)
	})
	if err != nil {
		return nil, err
	}
	if err := r.seen.drain(w, pass); err != nil {
		return nil, err
	}
	return k.rowsOf(), nil
}
