package plan

import (
	"slices"

	"github.com/tidemarkdb/tidemark/extension"
	"github.com/tidemarkdb/tidemark/sqlerr"
	"github.com/tidemarkdb/tidemark/vec"
)

// introduceApplies turns every Subquery in an expression into an Apply below the node that has the expression.
func introduceApplies(o *optimizer, n Node) Node {
	return mapNode(n, func(n Node) Node {
		if !nodeHasSubquery(n) {
			return n
		}
		h := &hoister{o: o}
		switch n := n.(type) {
		case *Filter:
			return h.filter(n)
		case *Join:
			return h.join(n)
		case *Apply:
			return h.apply(n)
		case *Values:
			return h.values(n)
		}
		in := n.Inputs()
		if len(in) != 1 {
			panic(internalf("subquery in a %T", n))
		}
		h.input = in[0]
		rewritten := mapExprs(n, h.expr)
		return keepCols(rewritten.WithInputs([]Node{h.input}), n.Cols())
	})
}

func nodeHasSubquery(n Node) bool {
	found := false
	visitExprs(n, func(e Expr) { found = found || hasSubquery(e) })
	return found
}

// hoister replaces subqueries in expressions by columns that Applies on top of input make.
type hoister struct {
	o     *optimizer
	input Node
	// guard holds what must be TRUE for the expression at hand to be evaluated at all: it stands in a branch of CASE or
	// behind the first argument of COALESCE.
	guard []Expr
}

func (h *hoister) filter(n *Filter) Node {
	h.input = n.Input
	var plain, withSubquery []Expr
	for _, c := range n.Conditions {
		for _, c := range conjuncts(nil, c) {
			if hasSubquery(c) {
				withSubquery = append(withSubquery, c)
			} else {
				plain = append(plain, c)
			}
		}
	}
	if len(plain) > 0 {
		h.input = &Filter{Input: h.input, Conditions: plain}
	}
	for _, c := range withSubquery {
		if s, ok := positiveSubquery(c); ok && h.semi(s) {
			continue
		}
		cond := h.expr(c)
		h.input = &Filter{Input: h.input, Conditions: []Expr{cond}}
	}
	return keepCols(h.input, n.Cols())
}

// positiveSubquery returns c as a subquery with NOT folded into it.
func positiveSubquery(c Expr) (*Subquery, bool) {
	if not, ok := c.(*Not); ok {
		s, ok := not.Arg.(*Subquery)
		if !ok || s.Kind == ScalarSubquery || s.Kind == ArraySubquery {
			return nil, false
		}
		n := *s
		n.Negate = !n.Negate
		return &n, true
	}
	s, ok := c.(*Subquery)
	return s, ok
}

// semi filters the input by a subquery that is a conjunct of WHERE, where unknown counts as false. It reports false
// for what only a mark can answer.
func (h *hoister) semi(s *Subquery) bool {
	if hasAnySubquery(s.Args) {
		return false
	}
	switch {
	case s.Kind == Exists:
		kind := Semi
		if s.Negate {
			kind = Anti
		}
		h.add(kind, h.plan(s), nil)
		return true
	case s.Kind == Any && !s.Negate, s.Kind == All && s.Negate:
		op := s.Op
		if s.Kind == All {
			op = negatedOps[op] // NOT (a op ALL q) is a negated-op ANY q
		}
		plan := h.plan(s)
		h.add(Semi, plan, []Expr{rowCompare(op, s.Args, refsTo(plan.Cols()))})
		return true
	case s.Kind == All, s.Kind == Any && s.Negate:
		// Kept are the rows for which the comparison with no row is TRUE or unknown.
		op := s.Op
		if s.Kind == All {
			op = negatedOps[op]
		}
		plan := h.plan(s)
		cond := rowCompare(op, s.Args, refsTo(plan.Cols()))
		if !h.mayBeNull(cond, plan) {
			h.add(Anti, plan, []Expr{cond})
			return true
		}
		if op != Eq {
			h.add(Anti, plan, []Expr{&IsBool{Arg: cond, Want: false, Negate: true}})
			return true
		}
		mark := h.o.newCol("mark", vec.BoolType, true)
		h.addMark(plan, []Expr{cond}, mark)
		h.input = &Filter{Input: h.input, Conditions: []Expr{&Not{Arg: refTo(mark)}}}
		return true
	}
	return false
}

func hasAnySubquery(es []Expr) bool {
	for _, e := range es {
		if hasSubquery(e) {
			return true
		}
	}
	return false
}

func (h *hoister) mayBeNull(cond Expr, plan Node) bool {
	return nullsOf(h.input, plan).mayBeNull(cond)
}

func (h *hoister) plan(s *Subquery) Node { return introduceApplies(h.o, s.Plan) }

func (h *hoister) add(kind JoinKind, right Node, on []Expr) {
	h.input = &Apply{Kind: kind, Left: h.input, Right: right, On: on}
}

func (h *hoister) addMark(right Node, on []Expr, mark Col) {
	h.input = &Apply{Kind: Mark, Left: h.input, Right: right, On: on, MarkCol: mark}
}

// expr replaces the subqueries in e, innermost first.
func (h *hoister) expr(e Expr) Expr {
	if !hasSubquery(e) {
		return e
	}
	switch c := e.(type) {
	case *Case:
		return h.branches(c)
	case *Coalesce:
		return h.firstNotNull(c)
	}
	children := slices.Clone(e.Children())
	for i, c := range children {
		children[i] = h.expr(c)
	}
	e = e.WithChildren(children)
	if s, ok := e.(*Subquery); ok {
		return h.column(s)
	}
	return e
}

// branches replaces the subqueries in a CASE, each guarded by the conditions that lead to it.
func (h *hoister) branches(e *Case) Expr {
	saved := h.guard
	defer func() { h.guard = saved }()
	out := &Case{T: e.T}
	for i, when := range e.When {
		when = h.expr(when)
		before := h.guard
		h.guard = append(slices.Clone(before), when)
		out.When, out.Then = append(out.When, when), append(out.Then, h.expr(e.Then[i]))
		h.guard = append(slices.Clone(before), &IsBool{Arg: when, Want: true, Negate: true})
	}
	if e.Else != nil {
		out.Else = h.expr(e.Else)
	}
	return out
}

func (h *hoister) firstNotNull(e *Coalesce) Expr {
	saved := h.guard
	defer func() { h.guard = saved }()
	out := &Coalesce{T: e.T}
	for _, arg := range e.Args {
		arg = h.expr(arg)
		out.Args = append(out.Args, arg)
		h.guard = append(slices.Clone(h.guard), &IsNull{Arg: arg})
	}
	return out
}

// guards are the conditions under which a scalar subquery is looked at; without them one of several rows would be an
// error of rows that never ask for it.
func (h *hoister) guards(plan Node) []Expr {
	if atMostOneRow(plan) || slices.ContainsFunc(h.guard, isVolatile) {
		return nil
	}
	return slices.Clone(h.guard)
}

func (h *hoister) column(s *Subquery) Expr {
	plan := h.plan(s)
	cols := plan.Cols()
	switch s.Kind {
	case ScalarSubquery:
		h.add(Single, plan, h.guards(plan))
		return refTo(cols[0])
	case ArraySubquery:
		return h.array(plan, s.T)
	case Exists:
		mark := h.o.newCol("exists", vec.BoolType, false)
		h.addMark(plan, nil, mark)
		return negateIf(s.Negate, refTo(mark))
	}
	op, negate := s.Op, s.Negate
	if s.Kind == All { // a op ALL q is NOT (a negated-op ANY q), unknown included
		op, negate = negatedOps[op], !negate
	}
	mark := h.o.newCol("mark", vec.BoolType, true)
	h.addMark(plan, []Expr{rowCompare(op, s.Args, refsTo(cols))}, mark)
	return negateIf(negate, refTo(mark))
}

func negateIf(negate bool, e Expr) Expr {
	if negate {
		return &Not{Arg: e}
	}
	return e
}

// array collects the rows of a subquery into one array, empty for no rows.
func (h *hoister) array(plan Node, t vec.Type) Expr {
	col := plan.Cols()[0]
	var order []SortKey
	if s, ok := plan.(*Sort); ok && s.Limit < 0 {
		plan, order = s.Input, s.Keys
	} else if p, ok := plan.(*Project); ok {
		if s, ok := p.Input.(*Sort); ok && s.Limit < 0 {
			order, plan = s.Keys, s.Input
			plan = &Project{Input: plan, Columns: append([]Col(nil), p.Columns...), Exprs: append([]Expr(nil), p.Exprs...)}
			plan, order = addKeys(h.o, plan.(*Project), order)
		}
	}
	bound, err := h.o.functions.ResolveAggregate("array_agg", []extension.Argument{{Type: col.Type}})
	if err != nil {
		panic(fault{err})
	}
	out := h.o.newCol("array", t, true)
	agg := &Aggregate{Input: plan, Aggregates: []AggCall{{
		Out: out, Bound: bound, Name: "array_agg", Args: []Expr{refTo(col)}, OrderBy: order}}}
	h.add(Single, agg, nil)
	empty := &Const{Value: vec.Value{Type: t, List: []vec.Value{}}}
	return &Coalesce{Args: []Expr{refTo(out), empty}, T: t}
}

// addKeys makes the expressions of order columns of p, so that they can be used above it.
func addKeys(o *optimizer, p *Project, order []SortKey) (Node, []SortKey) {
	keys := make([]SortKey, len(order))
	for i, k := range order {
		c := o.newCol("key", k.Expr.Type(), true)
		p.Columns, p.Exprs = append(p.Columns, c), append(p.Exprs, k.Expr)
		keys[i] = k
		keys[i].Expr = refTo(c)
	}
	return p, keys
}

// rowCompare compares two rows of values: one pair by op, several by SQL's row comparison.
func rowCompare(op CompareOp, left, right []Expr) Expr {
	pairs := make([]Expr, len(left))
	for i := range left {
		pairs[i] = &Compare{Op: op, Left: left[i], Right: right[i]}
	}
	if len(left) == 1 {
		return pairs[0]
	}
	switch op {
	case Eq, NotDistinct:
		return &And{Args: pairs}
	case Ne, Distinct:
		return &Or{Args: pairs}
	}
	strict := op
	if op == Le {
		strict = Lt
	} else if op == Ge {
		strict = Gt
	}
	return &Or{Args: []Expr{
		&Compare{Op: strict, Left: left[0], Right: right[0]},
		&And{Args: []Expr{&Compare{Op: Eq, Left: left[0], Right: right[0]}, rowCompare(op, left[1:], right[1:])}},
	}}
}

// join moves subqueries out of the join's conditions. Those over one side only become columns of that side; the rest
// turn the join into one with its condition evaluated in an applied right side.
func (h *hoister) join(n *Join) Node {
	conds := joinConditions(n)
	if n.Kind == Inner || n.Kind == Cross {
		return h.filter(&Filter{Input: &Join{Kind: Cross, Left: n.Left, Right: n.Right}, Conditions: conds})
	}
	if n.Kind == Right {
		return keepCols(h.join(&Join{Kind: Left, Left: n.Right, Right: n.Left, Other: conds}), n.Cols())
	}
	c := &Join{Kind: n.Kind, Left: n.Left, Right: n.Right, MarkCol: n.MarkCol}
	left, right := colsOf(n.Left), colsOf(n.Right)
	for _, cond := range conds {
		if !hasSubquery(cond) {
			c.Other = append(c.Other, cond)
			continue
		}
		used := refs(cond)
		side := &c.Right
		switch {
		case !used.intersects(left):
		case !used.intersects(right):
			side = &c.Left
		case n.Kind == Left:
			inner := &Filter{Input: n.Right, Conditions: conds}
			return &Apply{Kind: Left, Left: n.Left, Right: introduceApplies(h.o, inner)}
		case n.Kind == Full && !hasVolatile(n.Left) && !hasVolatile(n.Right):
			return h.full(n, conds)
		default:
			panic(fault{sqlerr.New(sqlerr.FeatureNotSupported, "a subquery over both sides of a %s join is not supported", n.Kind).
				Hintf("move the subquery into one side of the join")})
		}
		sub := &hoister{o: h.o, input: *side}
		c.Other = append(c.Other, sub.expr(cond))
		*side = sub.input
	}
	return keepCols(normalizeJoin(c), n.Cols())
}

// full makes a full join of the left join and of the right rows that have no match on the left.
func (h *hoister) full(n *Join, conds []Expr) Node {
	matched := introduceApplies(h.o, &Join{Kind: Left, Left: n.Left, Right: n.Right, Other: conds})
	lone, _ := copyPlan(&Apply{Kind: Anti, Left: n.Right, Right: n.Left, On: conds}, h.o.ids)
	lone = introduceApplies(h.o, lone)
	rest := &Project{Input: lone}
	for _, c := range n.Left.Cols() {
		rest.Columns, rest.Exprs = append(rest.Columns, h.o.newCol(c.Name, c.Type, true)), append(rest.Exprs, &Const{Value: vec.NullValue(c.Type)})
	}
	for _, c := range lone.Cols() {
		rest.Columns, rest.Exprs = append(rest.Columns, h.o.newCol(c.Name, c.Type, c.Nullable)), append(rest.Exprs, refTo(c))
	}
	args := []Node{&Project{Input: matched, Columns: h.o.freshCols(n.Cols()), Exprs: refsTo(n.Cols())}, rest}
	return &SetOp{Kind: Union, All: true, Args: args, Columns: n.Cols()}
}

func (h *hoister) apply(n *Apply) Node {
	inner := &Filter{Input: n.Right, Conditions: n.On}
	c := *n
	c.On, c.Right = nil, introduceApplies(h.o, inner)
	return &c
}

// values turns rows with subqueries into projections of one empty row, put together again.
func (h *hoister) values(n *Values) Node {
	args := make([]Node, len(n.Rows))
	for i, row := range n.Rows {
		cols := n.Columns
		if len(n.Rows) > 1 {
			cols = h.o.freshCols(n.Columns)
		}
		args[i] = introduceApplies(h.o, &Project{Input: oneRow(), Columns: cols, Exprs: row})
	}
	if len(args) == 1 {
		return args[0]
	}
	return &SetOp{Kind: Union, All: true, Args: args, Columns: n.Columns}
}

// oneRow is a relation of one row without columns.
func oneRow() *Values { return &Values{Rows: [][]Expr{{}}} }
