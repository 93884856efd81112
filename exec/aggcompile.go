package exec

import (
	"slices"

	"github.com/tidemarkdb/tidemark/plan"
	"github.com/tidemarkdb/tidemark/vec"
)

// aggregate compiles a GROUP BY: one aggregation, or one for each grouping set. Rows are read once.
func (c *compiler) aggregate(n *plan.Aggregate, m *nodeMetrics) (*stream, error) {
	inner, outer := splitDistinct(n)
	if inner != nil {
		n = outer
	}
	in, err := c.input(n, 0)
	if err != nil {
		return nil, err
	}
	if _, ok := n.Input.(*plan.Scan); ok { // its rows come to us as the source gives them
		in.branches[0].source.(*scanSource).except = true
	}
	out, err := c.aggregateOver(n, in, m)
	if err == nil && inner != nil {
		linkDistinct(in.branches[0].source, out.branches[0].source)
	}
	return out, err
}

func (c *compiler) aggregateOver(n *plan.Aggregate, in *stream, m *nodeMetrics) (*stream, error) {
	sets := n.Sets
	if len(sets) == 0 {
		all := make([]int, len(n.Groups))
		for i := range all {
			all[i] = i
		}
		sets = [][]int{all}
	}
	l := layoutOf(in.cols)
	out := &stream{cols: n.Cols()}
	var aggs []*aggregation
	for _, set := range sets {
		aggs = append(aggs, newSetAggregation(c.q, m, l, n, set))
	}
	order, roots := linkSets(aggs, sets)
	collect := func() error {
		return c.q.drain(in, m, func(w *worker) (consumer, error) { return newTee(roots, w) })
	}
	for i, a := range order {
		b := &branch{source: a}
		if i == 0 {
			b.before = append(b.before, collect)
		}
		out.branches = append(out.branches, b)
	}
	return out, nil
}

// newSetAggregation compiles the aggregation of one grouping set.
func newSetAggregation(q *query, m *nodeMetrics, l layout, n *plan.Aggregate, set []int) *aggregation {
	groups := make([]plan.Expr, len(set))
	for i, g := range set {
		groups[i] = n.Groups[g]
	}
	a := newAggregation(q, m, l, groups, n.Aggregates)
	var mask int64
	for g := range n.Groups {
		place := slices.Index(set, g)
		a.outKeys = append(a.outKeys, place)
		a.outTypes = append(a.outTypes, n.Groups[g].Type())
		if place < 0 {
			mask |= 1 << (len(n.Groups) - 1 - g)
		}
	}
	if n.Grouping != nil {
		a.grouping = &mask
	}
	return a
}

// tee passes batches to several sinks.
type tee struct{ to []consumer }

func newTee(aggs []*aggregation, w *worker) (consumer, error) {
	t := &tee{}
	for _, a := range aggs {
		c, err := a.local(w)
		if err != nil {
			return nil, err
		}
		t.to = append(t.to, c)
	}
	if len(t.to) == 1 {
		return t.to[0], nil
	}
	return t, nil
}

func (t *tee) consume(b *vec.Batch) error {
	for _, c := range t.to {
		if err := c.consume(b); err != nil {
			return err
		}
	}
	return nil
}

func (t *tee) flush() error {
	for _, c := range t.to {
		if err := c.flush(); err != nil {
			return err
		}
	}
	return nil
}

// splitDistinct rewrites an aggregate whose calls are all DISTINCT in the same arguments: an inner one removes
// duplicates, in parallel and with little memory, and an outer one folds what is left. nil when n is not of that kind.
func splitDistinct(n *plan.Aggregate) (inner, outer *plan.Aggregate) {
	if len(n.Aggregates) == 0 || len(n.Sets) > 0 {
		return nil, nil
	}
	first := n.Aggregates[0]
	for _, a := range n.Aggregates {
		if !a.Distinct || a.Filter != nil || len(a.OrderBy) > 0 || len(a.Args) == 0 || !sameExprs(a.Args, first.Args) {
			return nil, nil
		}
	}
	for _, e := range append(slices.Clone(n.Groups), first.Args...) {
		if !deterministic(e) {
			return nil, nil
		}
	}
	inner = &plan.Aggregate{Input: n.Input, Groups: slices.Concat(n.Groups, first.Args)}
	next := plan.ColID(-1) // ids of the executor's own columns are negative
	refs := make([]plan.Expr, 0, len(inner.Groups))
	for _, g := range inner.Groups {
		inner.GroupCols = append(inner.GroupCols, plan.Col{ID: next, Type: g.Type(), Nullable: true})
		refs = append(refs, &plan.ColumnRef{ID: next, T: g.Type()})
		next--
	}
	copied := *n
	copied.Input = inner
	copied.Groups = refs[:len(n.Groups)]
	copied.Aggregates = slices.Clone(n.Aggregates)
	for i := range copied.Aggregates {
		copied.Aggregates[i].Distinct = false
		copied.Aggregates[i].Args = refs[len(n.Groups):]
	}
	return inner, &copied
}

func sameExprs(a, b []plan.Expr) bool {
	return slices.EqualFunc(a, b, func(x, y plan.Expr) bool { return fingerprint(x) == fingerprint(y) })
}
