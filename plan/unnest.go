package plan

import (
	"github.com/tidemarkdb/tidemark/vec"
)

// unnest removes every Apply. Where the correlation is a condition that can be lifted into a join it is lifted;
// otherwise the right side is computed for the domain, the distinct values of the outer columns it uses, by pushing a
// join with the domain down until nothing depends on the outer side (Neumann and Kemper, "Unnesting Arbitrary
// Queries", BTW 2015).
func unnest(o *optimizer, n Node) Node {
	u := &unnester{o: o}
	return u.node(n)
}

type unnester struct {
	o *optimizer
	// blocked is set when an Apply could only be removed by a domain over a left side that itself depends on an outer
	// query; it is then left to the outer query's own removal, which resolves that dependence first.
	blocked bool
}

func (u *unnester) node(n Node) Node {
	if a, ok := n.(*Apply); ok {
		return u.apply(a)
	}
	return mapInputs(n, u.node)
}

func (u *unnester) apply(a *Apply) Node {
	cols := a.Cols()
	left := u.node(a.Left)
	made := colsOf(left)
	right := simplifyApplied(a)
	outer := outerCols(left, freeCols(right))
	if len(outer) == 0 {
		return keepCols(u.join(a, left, u.node(right), nil, a.On), cols)
	}
	right = u.inner(right, made)
	if x, conds, ok := liftConditions(right, made); ok {
		return keepCols(u.join(a, left, u.node(x), conds, a.On), cols)
	}
	left, right = nameOuterTerms(u.o, left, right)
	outer = outerCols(left, freeCols(right))
	d := &domain{u: u, left: left, outer: outer, carriers: map[int][]Col{}}
	for _, c := range outer {
		d.set.add(c.ID)
	}
	var out Node
	if n, ok := d.scalarAggregate(a, right); ok {
		out = n
	} else {
		pushed, values := d.push(right)
		var same []Expr
		for _, c := range outer {
			same = append(same, values[c.ID].equals(c, a.Kind == Mark))
		}
		out = u.join(a, d.left, u.node(pushed), same, a.On)
	}
	if d.shared != nil {
		out = &CTE{ID: d.shared.ID, Name: "domain", Def: left, Body: out}
	}
	return keepCols(out, cols)
}

// outerCols lists the columns of n that are in used.
func outerCols(n Node, used colSet) []Col {
	var out []Col
	for _, c := range n.Cols() {
		if used.has(c.ID) {
			out = append(out, c)
		}
	}
	return out
}

// join makes the join that an Apply becomes. where are conditions that the right side's own filters had, for which
// unknown counts as false; on those of the Apply, for which it counts in a mark that may be NULL.
func (u *unnester) join(a *Apply, left, right Node, where, on []Expr) Node {
	kind := a.Kind
	if kind == Mark {
		right, where = definite(left, right, where)
		if !a.MarkCol.Nullable {
			right, on = definite(left, right, on)
		}
	}
	conds := append(where[:len(where):len(where)], on...)
	if kind == Single && len(conds) == 0 && exactlyOneRow(right) {
		kind = Cross
	}
	if kind == Single && atMostOneRow(right) && len(conds) == 0 {
		kind = Left
	}
	if kind == Cross && len(conds) > 0 {
		kind = Inner
	}
	j := normalizeJoin(&Join{Kind: kind, Left: left, Right: right, Other: conds, MarkCol: a.MarkCol})
	if kind == Single && uniqueOn(right, j.Equal) {
		j.Kind = Left // there never are two matches
	}
	return j
}

// definite turns unknown into false in conditions over both sides. An equality stays hashable: where its right side is
// not NULL, IS NOT DISTINCT FROM says the same.
func definite(left, right Node, conds []Expr) (Node, []Expr) {
	out := make([]Expr, len(conds))
	rightCols := colsOf(right)
	for i, c := range conds {
		out[i] = c
		nulls := nullsOf(left, right)
		if !nulls.mayBeNull(c) {
			continue
		}
		cmp, ok := c.(*Compare)
		if !ok || cmp.Op != Eq {
			out[i] = &IsBool{Arg: c, Want: true}
			continue
		}
		inner := cmp.Right
		if !refs(inner).within(rightCols) || refs(inner).empty() {
			inner = cmp.Left
		}
		switch own := refs(inner); {
		case !nulls.mayBeNull(cmp.Left) || !nulls.mayBeNull(cmp.Right):
		case own.within(rightCols) && !own.empty() && !isVolatile(inner):
			right = &Filter{Input: right, Conditions: []Expr{&IsNull{Arg: inner, Negate: true}}}
		default:
			out[i] = &IsBool{Arg: c, Want: true}
			continue
		}
		out[i] = &Compare{Op: NotDistinct, Left: cmp.Left, Right: cmp.Right}
	}
	return right, out
}

// simplifyApplied drops from the right side what cannot matter: order, and for Semi, Anti and Mark also duplicates.
func simplifyApplied(a *Apply) Node {
	n := a.Right
	for {
		switch m := n.(type) {
		case *Sort:
			if m.Limit >= 0 {
				return n
			}
			n = m.Input
			continue
		case *Limit:
			if exists(a) && m.Offset == nil && positiveConst(m.Count) {
				n = m.Input
				continue
			}
		case *Project:
			if exists(a) {
				n = m.Input
				continue
			}
		case *Aggregate:
			if len(m.Aggregates) == 0 && len(m.Sets) == 0 && len(m.Groups) > 0 && (a.Kind == Semi || a.Kind == Anti || a.Kind == Mark) {
				n = &Project{Input: m.Input, Columns: m.GroupCols, Exprs: m.Groups}
				continue
			}
		case *Window:
			if exists(a) {
				n = m.Input
				continue
			}
		}
		return n
	}
}

// exists reports an Apply that asks only whether there is a row.
func exists(a *Apply) bool {
	return (a.Kind == Semi || a.Kind == Anti || a.Kind == Mark) && len(a.On) == 0
}

func positiveConst(e Expr) bool {
	c, ok := e.(*Const)
	return e == nil || ok && (c.Value.Null || c.Value.I > 0)
}

// inner removes the Applies inside n whose right sides do not depend on the columns outer.
func (u *unnester) inner(n Node, outer colSet) Node {
	n = mapInputs(n, func(in Node) Node { return u.inner(in, outer) })
	a, ok := n.(*Apply)
	if !ok || freeCols(a.Right).intersects(outer) || refs(a.On...).intersects(outer) {
		return n
	}
	saved := u.blocked
	u.blocked = false
	out := u.apply(a)
	blocked := u.blocked
	u.blocked = saved
	if blocked {
		return n
	}
	return out
}

// liftConditions takes the filter conditions that refer to outer columns out of n, so that a join can apply them
// instead. It fails where an operator between would see other rows without them.
func liftConditions(n Node, outer colSet) (Node, []Expr, bool) {
	if !freeCols(n).intersects(outer) {
		return n, nil, true
	}
	switch m := n.(type) {
	case *Filter:
		in, lifted, ok := liftConditions(m.Input, outer)
		if !ok {
			return nil, nil, false
		}
		var kept []Expr
		for _, c := range conjuncts(nil, allOf(m.Conditions)) {
			if refs(c).intersects(outer) {
				lifted = append(lifted, c)
			} else {
				kept = append(kept, c)
			}
		}
		if len(kept) > 0 {
			in = &Filter{Input: in, Conditions: kept}
		}
		return in, lifted, true
	case *Project:
		return liftThroughProject(m, outer)
	case *Join:
		return liftThroughJoin(m, outer)
	}
	return nil, nil, false
}

func liftThroughProject(m *Project, outer colSet) (Node, []Expr, bool) {
	if refs(m.Exprs...).intersects(outer) {
		return nil, nil, false
	}
	in, lifted, ok := liftConditions(m.Input, outer)
	if !ok {
		return nil, nil, false
	}
	p := &Project{Input: in, Columns: m.Columns[:len(m.Columns):len(m.Columns)], Exprs: m.Exprs[:len(m.Exprs):len(m.Exprs)]}
	have, need := colsOf(p), refs(lifted...)
	for _, c := range in.Cols() {
		if need.has(c.ID) && !have.has(c.ID) {
			p.Columns, p.Exprs = append(p.Columns, c), append(p.Exprs, refTo(c))
		}
	}
	return p, lifted, true
}

func liftThroughJoin(m *Join, outer colSet) (Node, []Expr, bool) {
	left, lifted, ok := liftConditions(m.Left, outer)
	if !ok {
		return nil, nil, false
	}
	if m.Kind != Inner && m.Kind != Cross {
		dependent := refs(joinConditions(m)...).intersects(outer) || freeCols(m.Right).intersects(outer)
		if dependent || m.Kind == Right || m.Kind == Full {
			return nil, nil, false
		}
		return m.WithInputs([]Node{left, m.Right}), lifted, true
	}
	right, more, ok := liftConditions(m.Right, outer)
	if !ok {
		return nil, nil, false
	}
	lifted = append(lifted, more...)
	var kept []Expr
	for _, c := range joinConditions(m) {
		if refs(c).intersects(outer) {
			lifted = append(lifted, c)
		} else {
			kept = append(kept, c)
		}
	}
	return normalizeJoin(&Join{Kind: Inner, Left: left, Right: right, Other: kept}), lifted, true
}

// nameOuterTerms gives every cast of an outer column that the right side compares by = a column of its own on the
// left, so that the comparison can stand for the domain.
func nameOuterTerms(o *optimizer, left, right Node) (Node, Node) {
	made := colsOf(left)
	cols := left.Cols()
	var named []Expr
	var columns []Col
	name := func(e Expr) Expr {
		c, ok := e.(*Cast)
		if !ok || c.Try || !lossless(c) {
			return e
		}
		ref, ok := c.Arg.(*ColumnRef)
		if !ok || !made.has(ref.ID) {
			return e
		}
		for i, have := range named {
			if equalExpr(have, e) {
				return refTo(columns[i])
			}
		}
		col := o.newCol(ref.Name, c.To, true)
		named, columns = append(named, e), append(columns, col)
		return refTo(col)
	}
	right = mapNode(right, func(n Node) Node {
		f, ok := n.(*Filter)
		if !ok {
			return n
		}
		return mapExprs(f, func(e Expr) Expr {
			return mapExpr(e, func(e Expr) Expr {
				if c, ok := e.(*Compare); ok && c.Op == Eq {
					return mapChildren(c, name)
				}
				return e
			})
		})
	})
	if len(named) == 0 {
		return left, right
	}
	return &Project{Input: left, Columns: append(cols[:len(cols):len(cols)], columns...), Exprs: append(refsTo(cols), named...)}, right
}

// lossless reports a cast that cannot fail, so that computing it for rows that do not need it changes nothing.
func lossless(c *Cast) bool {
	from, to := c.Arg.Type(), c.To
	if from.IsInteger() && to.IsInteger() {
		return from.ID <= to.ID
	}
	return from.IsInteger() && (to.ID == vec.Decimal && int(to.Precision)-int(to.Scale) >= 19 || to.ID == vec.Float64) ||
		from.ID == vec.Decimal && to.ID == vec.Decimal && from.Scale <= to.Scale &&
			from.Precision-from.Scale <= to.Precision-to.Scale ||
		from.ID == vec.Float32 && to.ID == vec.Float64
}

// exactlyOneRow reports that n yields one row whatever its input holds.
func exactlyOneRow(n Node) bool {
	switch n := n.(type) {
	case *Aggregate:
		return len(n.Groups) == 0
	case *Project:
		return exactlyOneRow(n.Input)
	case *Sort:
		return exactlyOneRow(n.Input) && n.Limit < 0
	case *Values:
		return len(n.Rows) == 1
	case *Window:
		return exactlyOneRow(n.Input)
	case *Join:
		return (n.Kind == Inner || n.Kind == Cross) && len(n.Equal)+len(n.Other) == 0 && exactlyOneRow(n.Left) && exactlyOneRow(n.Right) ||
			(n.Kind == Left || n.Kind == Single || n.Kind == Mark) && exactlyOneRow(n.Left) && (n.Kind != Left || atMostOneRow(n.Right))
	}
	return false
}

// atMostOneRow reports that n never yields two rows.
func atMostOneRow(n Node) bool {
	switch m := n.(type) {
	case *Filter:
		return atMostOneRow(m.Input)
	case *Project:
		return atMostOneRow(m.Input)
	case *Window:
		return atMostOneRow(m.Input)
	case *Limit:
		c, ok := m.Count.(*Const)
		return ok && !c.Value.Null && c.Value.I <= 1 || atMostOneRow(m.Input)
	case *Sort:
		return m.Limit >= 0 && m.Limit <= 1 || atMostOneRow(m.Input)
	case *Values:
		return len(m.Rows) <= 1
	case *Join:
		return (m.Kind == Semi || m.Kind == Anti) && atMostOneRow(m.Left) ||
			m.Kind != Full && m.Kind != Semi && m.Kind != Anti && atMostOneRow(m.Left) && atMostOneRow(m.Right) ||
			exactlyOneRow(n)
	}
	return exactlyOneRow(n)
}
