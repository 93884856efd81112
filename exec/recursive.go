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
	if n.Distinct {
		r.seen = newGrouper(r.types, 0)
	}
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
	seen  grouper // UNION: every row so far
	res   *reservation
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
	if r.res != nil {
		r.res.release()
	}
	return nil
}

func (r *recursion) run(w *worker, out consumer) error {
	if w.id != 0 {
		return nil
	}
	r.res = r.c.q.budget.open("RecursiveCTE", r.m)
	next := r.base
	for {
		sink := &rowsSink{q: r.c.q, m: r.m, types: r.types, operator: "RecursiveCTE"}
		working, err := sink.collect(next)
		if err != nil {
			return err
		}
		if r.seen != nil {
			if working, err = r.fresh(working); err != nil {
				return err
			}
		}
		if working.rows == 0 {
			sink.release()
			return nil
		}
		if err := r.pass(w, working, out); err != nil {
			return err
		}
		if next, err = r.step(&nodeMetrics{name: "Step"}, working); err != nil {
			return err
		}
		sink.release()
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

// fresh returns the rows that no round has had.
func (r *recursion) fresh(rows *chunkList) (*chunkList, error) {
	out := &chunkList{types: r.types}
	kept := newStore(r.types)
	var ids []uint32
	for i := range rows.len() {
		b, err := rows.read(i)
		if err != nil {
			return nil, err
		}
		ids = resize(ids, b.N)
		r.seen.assign(b.Cols, b.N, ids)
		if err := r.res.require(r.seen.memory()); err != nil {
			return nil, err
		}
		fresh := r.seen.fresh()
		kept.append(b.Cols, fresh, len(fresh))
	}
	for _, b := range kept.take() {
		out.add(b)
	}
	return out, nil
}
