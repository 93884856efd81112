package plan

import (
	"slices"

	"github.com/tidemarkdb/tidemark/extension"
	"github.com/tidemarkdb/tidemark/vec"
)

// pushAggregate groups by the outer columns too. Without groups of its own the aggregate has a row for every row of
// the domain, also where no input row is.
func (d *domain) pushAggregate(n *Aggregate) (Node, carriedCols) {
	if slices.ContainsFunc(n.Sets, func(s []int) bool { return len(s) == 0 }) {
		return d.push(d.u.o.ids.splitEmptySets(n))
	}
	agg, v := d.groupBy(n)
	if len(n.Groups) > 0 {
		return agg, v
	}
	dom, w := d.values(d.outer)
	var on []Expr
	for _, c := range d.outer {
		on = append(on, &Compare{Op: NotDistinct, Left: refTo(w[c.ID].col), Right: refTo(v[c.ID].col)})
	}
	join := normalizeJoin(&Join{Kind: Left, Left: dom, Right: agg, Other: on})
	var cols []Col
	var exprs []Expr
	for i := range n.Aggregates {
		cols = append(cols, n.Aggregates[i].Out)
		exprs = append(exprs, d.orEmpty(&n.Aggregates[i], agg.Aggregates[i].Out))
	}
	for _, c := range d.outer {
		cols, exprs = append(cols, w[c.ID].col), append(exprs, refTo(w[c.ID].col))
	}
	return &Project{Input: join, Columns: cols, Exprs: exprs}, w
}

// splitEmptySets writes each empty grouping set as an aggregate without groups, which has its row for no input too, and
// appends their rows to those of the other sets.
func (i *ids) splitEmptySets(n *Aggregate) Node {
	out := &SetOp{Kind: Union, All: true, Columns: n.Cols()}
	others := *n
	others.Sets = slices.DeleteFunc(slices.Clone(n.Sets), func(s []int) bool { return len(s) == 0 })
	if len(others.Sets) > 0 {
		arm, _ := copyPlan(&others, i)
		out.Args = append(out.Args, arm)
	}
	for range len(n.Sets) - len(others.Sets) {
		arm, cols := copyPlan(&Aggregate{Input: n.Input, Aggregates: n.Aggregates}, i)
		p := &Project{Input: arm}
		for _, c := range n.GroupCols {
			p.Exprs = append(p.Exprs, &Const{Value: vec.NullValue(c.Type)})
		}
		p.Exprs = append(p.Exprs, refsTo(cols)...)
		if n.Grouping != nil {
			p.Exprs = append(p.Exprs, &Const{Value: vec.IntValue(n.Grouping.Type, 1<<len(n.Groups)-1)})
		}
		for _, c := range n.Cols() {
			p.Columns = append(p.Columns, i.fresh(c))
		}
		out.Args = append(out.Args, p)
	}
	if len(out.Args) == 1 {
		p := out.Args[0].(*Project)
		return &Project{Input: p.Input, Exprs: p.Exprs, Columns: n.Cols()}
	}
	return out
}

// groupBy pushes below n and adds the outer columns in front of its groups. The aggregates of an aggregate without
// groups get new columns, since n's own are computed above from them.
func (d *domain) groupBy(n *Aggregate) (*Aggregate, carriedCols) {
	in, v := d.push(n.Input)
	agg := *mapExprs(n, v.expr).(*Aggregate)
	agg.Input = in
	agg.Groups = append(d.refs(v), agg.Groups...)
	out := carriedCols{}
	var keys []Col
	for _, c := range d.outer {
		key := d.u.o.ids.fresh(v[c.ID].col)
		keys = append(keys, key)
		out[c.ID] = carried{col: key, strict: v[c.ID].strict}
	}
	agg.GroupCols = append(keys, n.GroupCols...)
	agg.Sets = nil
	for _, s := range n.Sets {
		var set []int
		for i := range d.outer {
			set = append(set, i)
		}
		for _, g := range s {
			set = append(set, g+len(d.outer))
		}
		agg.Sets = append(agg.Sets, set)
	}
	if len(n.Groups) == 0 {
		agg.Aggregates = slices.Clone(agg.Aggregates)
		for i := range agg.Aggregates {
			agg.Aggregates[i].Out = d.u.o.ids.fresh(agg.Aggregates[i].Out)
		}
	}
	return &agg, out
}

// orEmpty is the aggregate's value, and for a group without rows what the aggregate of no rows is: 0 for a count.
func (d *domain) orEmpty(call *AggCall, out Col) Expr {
	empty := emptyAggregate(call)
	if empty.Null {
		return refTo(out)
	}
	return &Coalesce{Args: []Expr{refTo(out), &Const{Value: empty}}, T: out.Type}
}

// emptyAggregate computes the aggregate of no rows.
func emptyAggregate(call *AggCall) (v vec.Value) {
	v = vec.NullValue(call.Out.Type)
	if call.Bound.New == nil {
		return v
	}
	acc := call.Bound.New(&extension.Eval{})
	acc.Grow(1)
	result, err := acc.Result(0, 1)
	if err != nil {
		return v
	}
	return result.Value(0)
}

// scalarAggregate joins an aggregate without groups straight to the left side, when projections are all that lies
// between: the left join itself keeps the rows without a group.
func (d *domain) scalarAggregate(a *Apply, right Node) (Node, bool) {
	if len(a.On) > 0 || a.Kind != Single && a.Kind != Left && a.Kind != Inner && a.Kind != Cross {
		return nil, false
	}
	var projects []*Project
	for {
		p, ok := right.(*Project)
		if !ok {
			break
		}
		projects, right = append(projects, p), p.Input
	}
	n, ok := right.(*Aggregate)
	if !ok || len(n.Groups) > 0 || len(n.Sets) > 0 || !freeCols(n).intersects(d.set) {
		return nil, false
	}
	agg, v := d.groupBy(n)
	var on []Expr
	for _, c := range d.outer {
		// An outer column that only the projections above use does not restrict the groups, but carries them anyway.
		on = append(on, v[c.ID].equals(c, false))
	}
	var out Node = normalizeJoin(&Join{Kind: Left, Left: d.left, Right: d.u.node(agg), Other: on})
	leftCols := d.left.Cols()
	p := &Project{Input: out, Columns: slices.Clone(leftCols), Exprs: refsTo(leftCols)}
	for i := range n.Aggregates {
		p.Columns = append(p.Columns, n.Aggregates[i].Out)
		p.Exprs = append(p.Exprs, d.orEmpty(&n.Aggregates[i], agg.Aggregates[i].Out))
	}
	out = p
	for _, above := range slices.Backward(projects) {
		out = dedupProject(out, append(slices.Clone(leftCols), above.Columns...), append(refsTo(leftCols), above.Exprs...))
	}
	return out, true
}
