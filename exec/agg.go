package exec

import (
	"slices"
	"sync"

	"github.com/tidemarkdb/tidemark/extension"
	"github.com/tidemarkdb/tidemark/plan"
	"github.com/tidemarkdb/tidemark/vec"
)

// aggregation is a compiled GROUP BY: the sink of one pipeline and the source of the next.
//
// Each worker folds its rows into a table of its own. A table that outgrows the cache is emptied into partitions by
// the hash of the keys: as states, or, where folding hardly shrinks them, as rows. Afterwards each partition is
// folded by one worker. Partitions spill; one that does not fit is partitioned again.
type aggregation struct {
	q     *query
	m     *nodeMetrics
	l     layout
	exprs []plan.Expr // keys, then whatever calls need
	types []vec.Type  // of exprs
	width int         // of keys
	calls []aggCall
	state []vec.Type // keys, then the states of every call
	raw   bool       // rows must stay rows until their group is in one place (DISTINCT, ORDER BY)
	// spread, without keys, is the places by whose hash rows are shared out: the arguments of the one DISTINCT.
	spread []int
	// outKeys maps the result's key columns to keys; -1 is NULL. outTypes are their types.
	outKeys  []int
	outTypes []vec.Type
	grouping *int64 // value of the GROUPING column, nil when there is none
	// coarser are the grouping sets that are folded from the groups of this one, and within, in such a set, the places
	// of its keys among those of the finer one.
	coarser []*aggregation
	within  []int
	// outer is, in an aggregation that removes duplicates for a DISTINCT one, that one; inner is the reverse.
	outer, inner *aggregation
	sharing      distinctSharing

	mu      sync.Mutex
	workers []*aggWorker
	parts   ticket
	merged  *groups   // when nothing was partitioned
	spare   sync.Pool // of emptied tables
	whole   []*groups // tables of groups that are nowhere else
	wholes  ticket
	total   *groups // without keys: what the partitions come to
	done    int     // partitions in total
}

// aggCall is an aggregate: places are those of exprs.
type aggCall struct {
	bound    *extension.BoundAggregate
	args     []int
	filter   int // -1: none
	distinct bool
	order    []sortSpec
}

// maxLocalGroups is how many groups a worker's table may have before it is partitioned: about what the second-level
// cache holds.
const maxLocalGroups = 1 << 14

// someGroups is how many groups tell whether keys repeat.
const someGroups = 1 << 12

// addExpr returns the place of e among what is computed for each row.
func (a *aggregation) addExpr(e plan.Expr) int {
	key := fingerprint(e)
	if deterministic(e) {
		for i, x := range a.exprs {
			if fingerprint(x) == key {
				return i
			}
		}
	}
	a.exprs = append(a.exprs, e)
	a.types = append(a.types, e.Type())
	return len(a.exprs) - 1
}

// newAggregation compiles groups and calls over columns laid out as l.
func newAggregation(q *query, m *nodeMetrics, l layout, groups []plan.Expr, calls []plan.AggCall) *aggregation {
	a := &aggregation{q: q, m: m, l: l, width: len(groups)}
	for _, g := range groups {
		a.exprs = append(a.exprs, g)
		a.types = append(a.types, g.Type())
	}
	a.state = append(a.state, a.types...)
	for i := range calls {
		c := &calls[i]
		call := aggCall{bound: &c.Bound, filter: -1, distinct: c.Distinct}
		for _, arg := range c.Args {
			call.args = append(call.args, a.addExpr(arg))
		}
		if c.Filter != nil {
			call.filter = a.addExpr(c.Filter)
		}
		for _, k := range c.OrderBy {
			call.order = append(call.order, sortSpec{place: a.addExpr(k.Expr), t: k.Expr.Type(), desc: k.Desc, nullsFirst: k.NullsFirst})
		}
		a.raw = a.raw || call.distinct || len(call.order) > 0
		a.state = append(a.state, c.Bound.State...)
		a.calls = append(a.calls, call)
	}
	if a.width == 0 && a.raw {
		a.spread = a.commonDistinct()
	}
	return a
}

// commonDistinct returns the arguments that every call that needs rows is DISTINCT in; nil when they differ.
func (a *aggregation) commonDistinct() (args []int) {
	for i := range a.calls {
		c := &a.calls[i]
		switch {
		case len(c.order) > 0 || c.distinct && args != nil && !slices.Equal(args, c.args):
			return nil
		case c.distinct:
			args = c.args
		}
	}
	return args
}

// sharedBy returns the columns by whose hash rows are shared out at a level.
func (a *aggregation) sharedBy(cols []*vec.Vector, level int) []*vec.Vector {
	if a.width == 0 {
		return pickColumns(cols, a.spread)
	}
	if level == 0 && a.sharing.byGroup {
		return cols[:a.outer.width]
	}
	return cols[:a.width]
}

// aggWorker folds one worker's rows.
type aggWorker struct {
	a      *aggregation
	w      *worker
	prog   *program
	table  *groups
	res    *reservation
	rows   *partitions // rows not folded
	states *partitions // groups folded so far
	hashes []uint64
	hasher keyHasher
	direct bool // fold nothing more: groups hardly repeat
	seen   int64
	set    rowSet
	whole  []*groups // tables of groups that no other worker has
	size   int64     // of those
	// spilled is set once something went to files: then all goes there, to leave memory to the tables of partitions.
	spilled bool
}

func (a *aggregation) local(w *worker) (consumer, error) {
	prog, err := newProgram(w, a.l, a.exprs)
	if err != nil {
		return nil, err
	}
	aw := &aggWorker{a: a, w: w, prog: prog, res: a.q.budget.open("Aggregate", a.m), direct: a.raw, hasher: keyHasher{perRow: eagerPerRow}}
	aw.table = newGroups(a, w.ev, 0)
	a.mu.Lock()
	a.workers = append(a.workers, aw)
	a.mu.Unlock()
	return aw, nil
}

func (aw *aggWorker) consume(b *vec.Batch) error {
	n := b.Rows()
	if n == 0 {
		return nil
	}
	if !aw.direct && aw.set.reset(b) {
		if cols, ok := aw.prog.evalAll(b); ok {
			return aw.foldRows(cols, &aw.set)
		}
	}
	cols, err := aw.prog.eval(b)
	if err != nil {
		return err
	}
	return aw.fold(cols, n)
}

func (aw *aggWorker) fold(cols []*vec.Vector, n int) error {
	a := aw.a
	if aw.direct {
		if aw.rows == nil {
			aw.rows = newPartitions(a.q, a.types, 0, a.m).keepDicts(a.width, false)
		}
		aw.share(aw.rows, cols, n)
		return aw.settle()
	}
	return aw.foldRows(cols, aw.set.whole(n))
}

// foldRows folds rows into the worker's table.
func (aw *aggWorker) foldRows(cols []*vec.Vector, rows *rowSet) error {
	aw.seen += int64(rows.n - len(rows.except))
	if err := aw.table.update(cols, rows); err != nil {
		return err
	}
	return aw.shrink()
}

// shrink partitions a table that became too large, and keeps within the budget.
func (aw *aggWorker) shrink() error {
	if n := int64(aw.table.len()); aw.a.width > 0 && !aw.a.getsWhole() && (n > maxLocalGroups || n > someGroups && n*20 > aw.seen*19) {
		// Less than two rows a group: moving rows is cheaper than folding them twice. Of keys that hardly repeat among
		// the first rows there are too many for the table anyway.
		aw.direct = n*2 > aw.seen
		if err := aw.partition(); err != nil {
			return err
		}
		aw.seen = 0
	}
	return aw.settle()
}

func (aw *aggWorker) flush() error { return nil }

// open decides how the workers' results come together.
func (a *aggregation) open(q *query, workers int) error {
	a.parts, a.wholes = ticket{}, ticket{}
	partitioned, spilled := false, false
	for _, aw := range a.workers {
		a.whole = append(a.whole, aw.whole...)
		aw.whole = nil
		partitioned = partitioned || aw.rows != nil || aw.states != nil
		spilled = spilled || aw.spilled
	}
	if !partitioned {
		return a.mergeTables()
	}
	if a.width == 0 {
		a.total = newGroups(a, q.newWorker(0, nil).ev, 0)
	}
	return q.parallel(len(a.workers), func(i int) error {
		aw := a.workers[i]
		if aw.table.len() > 0 && a.width > 0 {
			if err := aw.partition(); err != nil {
				return err
			}
		}
		if spilled {
			return aw.spill()
		}
		return nil
	})
}

// mergeTables folds every worker's table into the largest.
func (a *aggregation) mergeTables() error {
	best := 0
	for i, aw := range a.workers {
		if aw.table.len() > a.workers[best].table.len() {
			best = i
		}
	}
	a.merged = a.workers[best].table
	for i, aw := range a.workers {
		if i == best || aw.seen == 0 {
			continue
		}
		for from := 0; from < aw.table.len(); from += vec.BatchRows {
			if err := a.q.check(); err != nil {
				return err
			}
			n := min(vec.BatchRows, aw.table.len()-from)
			cols, err := aw.table.states(from, n)
			if err != nil {
				return err
			}
			if err := a.merged.merge(cols, n); err != nil {
				return err
			}
		}
		aw.table = nil
	}
	return nil
}

func (a *aggregation) run(w *worker, out consumer) error {
	out, err := a.feedCoarser(w, out)
	if err != nil {
		return err
	}
	for k := a.wholes.take(); k < len(a.whole); k = a.wholes.take() {
		if err := a.whole[k].yield(w, out); err != nil {
			return err
		}
	}
	if a.merged != nil {
		if w.id != 0 {
			return nil
		}
		return a.merged.yield(w, out)
	}
	res := a.q.budget.open("Aggregate", a.m)
	defer res.release()
	for {
		k := a.parts.take()
		if k >= partitionCount {
			return nil
		}
		rows, states := &chunkList{types: a.types}, &chunkList{types: a.state}
		for _, aw := range a.workers {
			if aw.rows != nil {
				rows.join(aw.rows.list(k))
			}
			if aw.states != nil {
				states.join(aw.states.list(k))
			}
		}
		if err := a.runPartition(w, out, rows, states, res, 0); err != nil {
			return err
		}
		if a.sharing.byGroup {
			a.outer.endWhole(w)
		}
		a.mu.Lock()
		a.done++
		last := a.done == partitionCount
		a.mu.Unlock()
		if last && a.total != nil {
			return a.total.yield(w, out)
		}
	}
}

func (a *aggregation) close() error {
	for _, aw := range a.workers {
		aw.res.release()
	}
	a.workers, a.merged, a.whole = nil, nil, nil
	return nil
}
