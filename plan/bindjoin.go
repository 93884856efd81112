package plan

import (
	"slices"

	"github.com/tidemarkdb/tidemark/sql"
	"github.com/tidemarkdb/tidemark/sqlerr"
)

var joinKinds = map[sql.JoinKind]JoinKind{sql.InnerJoin: Inner, sql.LeftJoin: Left, sql.RightJoin: Right, sql.FullJoin: Full,
	sql.CrossJoin: Cross, sql.SemiJoin: Semi, sql.AntiJoin: Anti}

func (b *binder) join(t *sql.Join, lateral *scope) (Node, namespace) {
	kind := joinKinds[t.Kind]
	left, lns := b.tableExpr(t.Left, lateral)
	right, rns := b.tableExpr(t.Right, &scope{parent: lateral.parent, ns: lateral.ns.plus(lns), ctes: b.ctes})
	if (kind == Right || kind == Full || kind == Semi || kind == Anti) && freeCols(right).intersects(colsOf(left)) {
		failHint(t.Pos, sqlerr.InvalidColumnReference, "use an INNER or LEFT join", "invalid reference to FROM-clause entry: the combining JOIN type must be INNER or LEFT for a LATERAL reference")
	}
	if t.Asof {
		return b.asofJoin(t, kind, left, right, lns, rns, lateral)
	}
	if kind == Right || kind == Full {
		left, lns = b.marked(left, lns)
	}
	if kind == Left || kind == Full {
		right, rns = b.marked(right, rns)
	}
	lns, rns = padded(lns, kind == Right || kind == Full), padded(rns, kind == Left || kind == Full)
	both := b.mergeNames(lns, rns, t.Pos)
	var on []Expr
	ns := both
	using := usingColumns(t, lns, rns)
	node := func(on []Expr) Node { return b.joinNodes(kind, left, right, on) }
	switch {
	case using != nil:
		var merge func(Node) Node
		on, ns, merge = b.using(t, kind, using, lns, rns)
		inner := node
		node = func(on []Expr) Node { return merge(inner(on)) }
	case t.On != nil:
		x := &exprBinder{b: b, scope: &scope{parent: lateral.parent, ns: both, ctes: b.ctes}, clause: "JOIN/ON"}
		on = conjuncts(nil, x.condition(t.On))
		if kind == Cross {
			kind = Inner
		}
	}
	if kind == Semi || kind == Anti {
		ns = lns
	}
	out := node(on)
	if t.Alias.Name.Name != "" {
		cols := make([]Col, len(ns.cols))
		for i, c := range ns.cols {
			cols[i] = c.Col
		}
		return out, b.named(cols, namesOf(cols), t.Alias.Name.Name, t.Alias, t.Pos)
	}
	return out, ns
}

// padded marks the columns of a side that an outer join may pad with NULLs.
func padded(ns namespace, yes bool) namespace {
	if !yes {
		return ns
	}
	out := namespace{}
	renewed := map[*relation]*relation{}
	for _, r := range ns.relations {
		c := *r
		c.cols = slices.Clone(r.cols)
		for i := range c.cols {
			c.cols[i].Nullable = true
		}
		if r.marker != nil {
			m := *r.marker
			m.Nullable = true
			c.marker = &m
		}
		renewed[r] = &c
		out.relations = append(out.relations, &c)
	}
	for _, v := range ns.cols {
		v.Nullable, v.rel = true, renewed[v.rel]
		out.cols = append(out.cols, v)
	}
	return out
}

// usingColumns lists the columns of USING or NATURAL, nil for a join with neither.
func usingColumns(t *sql.Join, l, r namespace) []sql.Ident {
	if !t.Natural {
		return t.Using
	}
	out := []sql.Ident{}
	for _, c := range l.cols {
		if slices.ContainsFunc(r.cols, func(o visibleCol) bool { return o.Name == c.Name }) &&
			!slices.ContainsFunc(out, func(i sql.Ident) bool { return i.Name == c.Name }) {
			out = append(out, sql.Ident{Name: c.Name, Pos: t.Pos})
		}
	}
	return out
}

// using makes the conditions of USING, the names after it and, for a full join, the projection that merges columns.
func (b *binder) using(t *sql.Join, kind JoinKind, names []sql.Ident, l, r namespace) ([]Expr, namespace, func(Node) Node) {
	x := &exprBinder{b: b}
	var on []Expr
	var merged []visibleCol
	var computed []Expr
	for _, name := range names {
		lc, rc := usingColumn(l, name, "left"), usingColumn(r, name, "right")
		le, re := x.pair(Eq, refTo(lc), refTo(rc), name.Pos)
		on = append(on, &Compare{Op: Eq, Left: le, Right: re})
		switch kind {
		case Right:
			lc = rc
		case Full:
			lc = b.newCol(name.Name, le.Type(), lc.Nullable && rc.Nullable)
			computed = append(computed, &Coalesce{Args: []Expr{le, re}, T: le.Type()})
		}
		merged = append(merged, visibleCol{Col: lc})
	}
	ns := namespace{relations: append(slices.Clone(l.relations), r.relations...), cols: merged}
	for _, side := range []namespace{l, r} {
		for _, c := range side.cols {
			if !slices.ContainsFunc(names, func(n sql.Ident) bool { return n.Name == c.Name }) {
				ns.cols = append(ns.cols, c)
			}
		}
	}
	if t.UsingAlias.Name != "" {
		alias := &relation{name: t.UsingAlias.Name}
		for _, c := range merged {
			alias.cols = append(alias.cols, c.Col)
		}
		ns.relations = append(ns.relations, alias)
	}
	merge := func(n Node) Node {
		if len(computed) == 0 {
			return n
		}
		cols := n.Cols()
		p := &Project{Input: n, Columns: slices.Clone(cols), Exprs: refsTo(cols)}
		for i, e := range computed {
			p.Columns, p.Exprs = append(p.Columns, merged[i].Col), append(p.Exprs, e)
		}
		return p
	}
	return on, ns, merge
}

func usingColumn(ns namespace, name sql.Ident, side string) Col {
	var hit *visibleCol
	for i := range ns.cols {
		if ns.cols[i].Name != name.Name {
			continue
		}
		if hit != nil {
			fail(name.Pos, sqlerr.AmbiguousColumn, "common column name %q appears more than once in %s table", name.Name, side)
		}
		hit = &ns.cols[i]
	}
	if hit == nil {
		failHint(name.Pos, sqlerr.UndefinedColumn, "USING needs a column of that name on both sides",
			"column %q specified in USING clause does not exist in %s table", name.Name, side)
	}
	return hit.Col
}

// asofJoin keeps, for each left row, the match that is last by the join's one inequality.
func (b *binder) asofJoin(t *sql.Join, kind JoinKind, left, right Node, l, r namespace, lateral *scope) (Node, namespace) {
	if kind != Inner && kind != Left || t.On == nil && len(t.Using) == 0 {
		failHint(t.Pos, sqlerr.FeatureNotSupported, "use ASOF [LEFT] JOIN ... ON or USING", "this form of ASOF join is not supported")
	}
	if kind == Left {
		right, r = b.marked(right, r)
	}
	r = padded(r, kind == Left)
	ns := b.mergeNames(l, r, t.Pos)
	var conds []Expr
	if t.On != nil {
		x := &exprBinder{b: b, scope: &scope{parent: lateral.parent, ns: ns, ctes: b.ctes}, clause: "JOIN/ON"}
		conds = conjuncts(nil, x.condition(t.On))
	} else { // all columns but the last are equal
		conds, ns, _ = b.using(t, kind, t.Using, l, r)
		last := *conds[len(conds)-1].(*Compare)
		last.Op = Ge
		conds[len(conds)-1] = &last
	}
	rightCols := colsOf(right)
	var key *SortKey
	for _, c := range conds {
		cmp, ok := c.(*Compare)
		if !ok || cmp.Op == Eq || cmp.Op == Ne || cmp.Op == Distinct || cmp.Op == NotDistinct {
			continue
		}
		op, side := cmp.Op, cmp.Right
		if !refs(side).intersects(rightCols) {
			op, side = mirroredOps[op], cmp.Left
		}
		if key != nil {
			fail(t.Pos, sqlerr.FeatureNotSupported, "an ASOF join has exactly one inequality")
		}
		key = &SortKey{Expr: side, Desc: op == Ge || op == Gt, NullsFirst: op == Ge || op == Gt}
	}
	if key == nil {
		failHint(t.Pos, sqlerr.SyntaxError, "compare the times with >=", "an ASOF join needs an inequality")
	}
	nearest := &Limit{Input: &Sort{Input: &Filter{Input: right, Conditions: conds}, Keys: []SortKey{*key}, Limit: -1}, Count: intConst(1)}
	return &Apply{Kind: kind, Left: left, Right: nearest}, ns
}
