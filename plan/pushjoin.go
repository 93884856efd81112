package plan

import (
	"slices"

	"github.com/tidemarkdb/tidemark/vec"
)

// join distributes conditions over a join's sides.
func (p *pusher) join(n *Join, conds []Expr) Node {
	n = strengthen(n, conds)
	left, right := colsOf(n.Left), colsOf(n.Right)
	on := joinConditions(n)
	switch n.Kind {
	case Inner, Cross:
		return p.innerJoin(n, append(slices.Clone(conds), on...), left, right)
	case Full:
		return p.finish(n, n.Left, n.Right, nil, nil, on, conds)
	case Mark:
		return p.markJoin(n, conds, on, left)
	}
	above, stay := split(conds, left) // every other kind keeps left rows as they are
	onRight, rest := split(on, right)
	var toLeft []Expr
	if n.Kind == Semi {
		toLeft, rest = split(rest, left)
	}
	toLeft = append(toLeft, above...)
	onRight = append(onRight, derived(toLeft, rest, right)...)
	if n.Kind == Semi {
		toLeft = append(toLeft, derived(onRight, rest, left)...)
	}
	onRight, volatile := partition(onRight, func(c Expr) bool { return !isVolatile(c) })
	return p.finish(n, n.Left, n.Right, toLeft, onRight, append(rest, volatile...), stay)
}

// finish builds the join over filtered sides.
func (p *pusher) finish(n *Join, left, right Node, toLeft, toRight, on, above []Expr) Node {
	c := &Join{Kind: n.Kind, Left: p.push(left, toLeft), Right: p.push(right, toRight), MarkCol: n.MarkCol, Other: on}
	return p.above(pruneEmpty(normalizeJoin(c)), above)
}

// pruneEmpty removes joins with a side that has no rows.
func pruneEmpty(n *Join) Node {
	l, r := isEmptyProjection(n.Left), isEmptyProjection(n.Right)
	if len(n.Equal)+len(n.Other) == 0 {
		switch {
		case isOneRow(n.Right) && n.Kind != Mark && n.Kind != Anti && n.Kind != Full && n.Kind != Right:
			return n.Left
		case isOneRow(n.Left) && (n.Kind == Cross || n.Kind == Inner):
			return n.Right
		}
	}
	switch n.Kind {
	case Inner, Cross, Semi:
		if l || r {
			return empty(n.Cols())
		}
	case Anti:
		if l {
			return empty(n.Cols())
		}
		if r {
			return n.Left
		}
	case Left, Single:
		if l {
			return empty(n.Cols())
		}
		if r {
			p := &Project{Input: n.Left, Columns: n.Cols(), Exprs: refsTo(n.Left.Cols())}
			for _, c := range n.Right.Cols() {
				p.Exprs = append(p.Exprs, &Const{Value: vec.NullValue(c.Type)})
			}
			return p
		}
	}
	return n
}

// strengthen turns an outer join into a stricter one when conds drop the rows it pads.
func strengthen(n *Join, conds []Expr) *Join {
	left, right := colsOf(n.Left), colsOf(n.Right)
	rejects := func(side colSet) bool {
		return slices.ContainsFunc(conds, func(c Expr) bool {
			r := refs(c)
			return r.intersects(side) && rejectsNull(c, side)
		})
	}
	c := *n
	switch n.Kind {
	case Left:
		if rejects(right) {
			c.Kind = Inner
		}
	case Full:
		keepsLeft, keepsRight := rejects(left), rejects(right)
		switch {
		case keepsLeft && keepsRight:
			c.Kind = Inner
		case keepsLeft:
			c.Kind = Left
		case keepsRight:
			return normalizeJoin(&Join{Kind: Left, Left: n.Right, Right: n.Left, Other: joinConditions(n)})
		}
	case Right:
		return strengthen(normalizeJoin(&Join{Kind: Left, Left: n.Right, Right: n.Left, Other: joinConditions(n)}), conds)
	}
	return &c
}

func (p *pusher) innerJoin(n *Join, conds []Expr, left, right colSet) Node {
	toLeft, rest := split(conds, left)
	toRight, both := split(rest, right)
	moreRight := derived(toLeft, both, right)
	toLeft = append(toLeft, derived(toRight, both, left)...)
	toRight = append(toRight, moreRight...)
	toLeft = append(toLeft, impliedByOr(both, left)...)
	toRight = append(toRight, impliedByOr(both, right)...)
	both, volatile := partition(both, func(c Expr) bool { return !isVolatile(c) })
	c := *n
	c.Kind = Inner
	return p.finish(&c, n.Left, n.Right, toLeft, toRight, both, volatile)
}

// derived returns the conditions of from of the form x op constant, rewritten for the columns of side that on makes
// equal to x.
func derived(from, on []Expr, side colSet) []Expr {
	var out []Expr
	for _, c := range on {
		cmp, ok := c.(*Compare)
		if !ok || cmp.Op != Eq {
			continue
		}
		l, lok := cmp.Left.(*ColumnRef)
		r, rok := cmp.Right.(*ColumnRef)
		if !lok || !rok {
			continue
		}
		if side.has(l.ID) {
			l, r = r, l
		}
		if !side.has(r.ID) || side.has(l.ID) {
			continue
		}
		for _, f := range from {
			if x, ok := constantCondition(f); ok && x.ID == l.ID {
				out = append(out, substitute(f, map[ColID]Expr{l.ID: r}))
			}
		}
	}
	return out
}

// constantCondition reports a comparison of one column with constants.
func constantCondition(e Expr) (*ColumnRef, bool) {
	switch e := e.(type) {
	case *Compare:
		ref, ok := e.Left.(*ColumnRef)
		if !ok {
			return nil, false
		}
		switch e.Right.(type) {
		case *Const, *Param:
			return ref, e.Op != Ne && e.Op != Distinct && e.Op != NotDistinct
		}
	case *In:
		ref, ok := e.Arg.(*ColumnRef)
		return ref, ok && !e.Negate
	}
	return nil, false
}

// impliedByOr returns, for conditions (a AND b) OR (c AND d) over both sides, the weaker one over the columns of side
// alone: a OR c. The full condition stays where it is.
func impliedByOr(conds []Expr, side colSet) []Expr {
	var out []Expr
	for _, c := range conds {
		or, ok := c.(*Or)
		if !ok {
			continue
		}
		var parts []Expr
		for _, branch := range or.Args {
			inside, _ := split(conjuncts(nil, branch), side)
			inside, _ = partition(inside, func(e Expr) bool { r := refs(e); return !r.empty() && !isVolatile(e) && !mayFail(e) })
			if len(inside) == 0 {
				parts = nil
				break
			}
			parts = append(parts, allOf(inside))
		}
		if parts != nil {
			out = append(out, anyOf(parts))
		}
	}
	return out
}

// markJoin turns a mark that is only filtered on into a semi or anti join.
func (p *pusher) markJoin(n *Join, conds, on []Expr, left colSet) Node {
	above, stay := split(conds, left)
	for i, c := range stay {
		kind, ok := Semi, isMark(c, n.MarkCol.ID)
		if not, isNot := c.(*Not); isNot && !n.MarkCol.Nullable && isMark(not.Arg, n.MarkCol.ID) {
			kind, ok = Anti, true
		}
		if !ok {
			continue
		}
		rest := slices.Delete(slices.Clone(stay), i, i+1)
		if refs(rest...).has(n.MarkCol.ID) {
			continue
		}
		semi := &Join{Kind: kind, Left: n.Left, Right: n.Right, Other: on}
		value := &Project{Columns: n.Cols(), Exprs: refsTo(n.Left.Cols())}
		value.Input = p.join(semi, append(above, rest...))
		value.Exprs = append(value.Exprs, &Const{Value: vec.BoolValue(kind == Semi)})
		return value
	}
	return p.finish(n, n.Left, n.Right, above, nil, on, stay)
}

func isMark(e Expr, id ColID) bool {
	r, ok := e.(*ColumnRef)
	return ok && r.ID == id
}
