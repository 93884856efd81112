package plan

import (
	"slices"
	"strings"

	"github.com/tidemarkdb/tidemark/sql"
	"github.com/tidemarkdb/tidemark/sqlerr"
	"github.com/tidemarkdb/tidemark/vec"
)

// query binds a query inside outer, nil for none.
func (b *binder) query(q sql.QueryExpr, outer *scope) result {
	check(b.ctx.Err(), 0)
	switch q := q.(type) {
	case *sql.Select:
		return b.selectBlock(q, &sql.Query{Body: q}, outer)
	case *sql.Query:
		return b.withClause(q, outer)
	case *sql.SetOp:
		return b.setOperation(q, outer)
	case *sql.Values:
		return b.values(q, outer)
	}
	panic(internalf("unknown query %T", q))
}

func (b *binder) body(q *sql.Query, outer *scope) result {
	if s, ok := q.Body.(*sql.Select); ok {
		return b.selectBlock(s, q, outer)
	}
	r := b.query(q.Body, outer)
	if len(q.OrderBy) == 0 && q.Limit == nil && q.Offset == nil {
		return r
	}
	node, _ := b.settleUnknown(r)
	r.node = node
	return b.orderResult(r, q, outer)
}

// orderResult applies ORDER BY and LIMIT to a query that is not a SELECT block: the keys are over its columns.
func (b *binder) orderResult(r result, q *sql.Query, outer *scope) result {
	cols := r.cols()
	rel := &relation{cols: slices.Clone(cols)}
	for i := range rel.cols {
		rel.cols[i].Name = r.names[i]
	}
	x := &exprBinder{b: b, scope: &scope{parent: outer, ns: namespaceOf(rel), ctes: b.ctes}, clause: "ORDER BY"}
	var keys []SortKey
	for _, item := range q.OrderBy {
		if item.All {
			for _, c := range cols {
				keys = append(keys, sortKey(refTo(c), item))
			}
			continue
		}
		if i, ok := ordinal(item.Expr, len(cols), "ORDER BY"); ok {
			keys = append(keys, sortKey(refTo(cols[i]), item))
			continue
		}
		if _, ok := q.Body.(*sql.SetOp); ok && !isName(item.Expr) {
			failHint(item.Expr.Position(), sqlerr.FeatureNotSupported, "add the expression to every SELECT, or move the UNION into FROM",
				"invalid UNION/INTERSECT/EXCEPT ORDER BY clause: only result column names can be used, not expressions")
		}
		keys = append(keys, sortKey(x.value(item.Expr), item))
	}
	r.node = b.sortAndLimit(r.node, keys, q, outer)
	r.node = keepCols(r.node, cols)
	return r
}

func isName(e sql.Expr) bool {
	if c, ok := e.(*sql.Collate); ok {
		e = c.Operand
	}
	_, ok := e.(*sql.Column)
	return ok
}

// ordinal reads the place of an output column, written as an integer from 1.
func ordinal(e sql.Expr, n int, clause string) (int, bool) {
	num, ok := e.(*sql.Number)
	if !ok {
		return 0, false
	}
	i := 0
	for _, c := range num.Text {
		if c < '0' || c > '9' || i > n {
			break
		}
		i = i*10 + int(c-'0')
	}
	if itoa(i) != num.Text || i < 1 || i > n {
		failHint(num.Pos, sqlerr.InvalidColumnReference, "there are "+itoa(n)+" columns", "%s position %s is not in select list", clause, num.Text)
	}
	return i - 1, true
}

// sortAndLimit puts ORDER BY, LIMIT and OFFSET on top of n.
func (b *binder) sortAndLimit(n Node, keys []SortKey, q *sql.Query, outer *scope) Node {
	if len(keys) > 0 {
		n = &Sort{Input: n, Keys: keys, Limit: -1}
	}
	count := b.limitExpr(q.Limit, "LIMIT", outer)
	offset := b.limitExpr(q.Offset, "OFFSET", outer)
	if q.WithTies && count != nil {
		return b.withTies(n, keys, count, offset, q)
	}
	if count == nil && offset == nil {
		return n
	}
	if count != nil && hasSubquery(count) || offset != nil && hasSubquery(offset) {
		return b.limitByQuery(n, keys, count, offset, q)
	}
	return &Limit{Input: n, Count: count, Offset: offset}
}

// limitByQuery keeps the rows whose number lies between what subqueries say.
func (b *binder) limitByQuery(n Node, keys []SortKey, count, offset Expr, q *sql.Query) Node {
	if len(keys) > 0 {
		n = n.(*Sort).Input
	}
	var made colSet
	walkNode(n, func(n Node) bool {
		made.addCols(n.Cols())
		return true
	})
	numbered, numbers := b.numbered(n, keys, q.Pos, "row_number")
	number := numbers[0]
	p := &Project{Input: numbered, Columns: slices.Clone(numbered.Cols()), Exprs: refsTo(numbered.Cols())}
	x := &exprBinder{b: b}
	var conds []Expr
	bound := func(e Expr, clause string, keep func(limit Expr) Expr) {
		if e == nil {
			return
		}
		if refs(e).intersects(made) {
			failHint(q.Pos, sqlerr.InvalidColumnReference, "write a constant, a parameter or a query of its own",
				"argument of %s must not contain variables", clause)
		}
		c := b.newCol(strings.ToLower(clause), vec.Int64Type, true)
		p.Columns, p.Exprs = append(p.Columns, c), append(p.Exprs, e)
		name := &Const{Value: vec.StringValue(vec.TextType, clause)}
		refused := &Compare{Op: Ge, Left: x.scalar("within_limit", []Expr{refTo(c), name}, q.Pos), Right: intConst(0)}
		conds = append(conds, &Case{T: vec.BoolType,
			When: []Expr{&IsNull{Arg: refTo(c)}, &Compare{Op: Lt, Left: refTo(c), Right: intConst(0)}},
			Then: []Expr{&Const{Value: vec.BoolValue(true)}, refused}, Else: keep(refTo(c))})
	}
	first := number
	bound(offset, "OFFSET", func(limit Expr) Expr {
		first = x.scalar("-", []Expr{number, &Coalesce{Args: []Expr{limit, intConst(0)}, T: vec.Int64Type}}, q.Pos)
		return &Compare{Op: Gt, Left: number, Right: limit}
	})
	bound(count, "LIMIT", func(limit Expr) Expr { return &Compare{Op: Le, Left: first, Right: limit} })
	kept := Node(&Filter{Input: p, Conditions: conds})
	if len(keys) > 0 {
		kept = &Sort{Input: kept, Keys: keys, Limit: -1}
	}
	return kept
}

// numbered adds columns with ranking functions over the keys.
func (b *binder) numbered(in Node, keys []SortKey, pos int, names ...string) (*Window, []Expr) {
	frame := Frame{Mode: Range, Start: Bound{Kind: UnboundedPreceding}, End: Bound{Kind: CurrentRow}}
	w := &Window{Input: in, Order: keys}
	var outs []Expr
	for _, name := range names {
		bound, err := b.functions.ResolveWindow(name, nil)
		check(err, pos)
		out := b.newCol(name, bound.Result, false)
		w.Calls = append(w.Calls, WindowCall{Out: out, Name: name, Bound: &bound, Frame: frame})
		outs = append(outs, refTo(out))
	}
	return w, outs
}

func (b *binder) limitExpr(e sql.Expr, clause string, outer *scope) Expr {
	if e == nil {
		return nil
	}
	x := &exprBinder{b: b, scope: &scope{parent: outer, ctes: b.ctes}, clause: clause}
	x.check = func(_ Col, _ *scope, pos int) {
		failHint(pos, sqlerr.InvalidColumnReference, "write a constant or a parameter", "argument of %s must not contain variables", clause)
	}
	bound := x.expr(e)
	pos := e.Position()
	bound = b.assign(bound, vec.Int64Type, "argument of "+clause, pos)
	switch c := bound.(type) {
	case *Const:
		if c.Value.Null {
			return nil
		}
		if c.Value.I < 0 {
			code := sqlerr.InvalidLimit
			if clause == "OFFSET" {
				code = sqlerr.InvalidOffset
			}
			fail(pos, code, "%s must not be negative", clause)
		}
	}
	return bound
}

// withTies keeps the rows up to the count and those that order equal to the last of them.
func (b *binder) withTies(n Node, keys []SortKey, count, offset Expr, q *sql.Query) Node {
	if len(keys) == 0 {
		failHint(q.Pos, sqlerr.SyntaxError, "add ORDER BY", "WITH TIES cannot be specified without ORDER BY clause")
	}
	in := n.(*Sort).Input
	w, outs := b.numbered(in, keys, q.Pos, "rank", "row_number")
	rank, number := outs[0], outs[1]
	last := count
	var conds []Expr
	if offset != nil {
		x := &exprBinder{b: b}
		last = x.scalar("+", []Expr{count, offset}, q.Pos)
		conds = append(conds, &Compare{Op: Gt, Left: number, Right: offset})
	}
	conds = append(conds, &Compare{Op: Le, Left: rank, Right: last})
	return &Sort{Input: &Filter{Input: w, Conditions: conds}, Keys: keys, Limit: -1}
}

func (b *binder) values(q *sql.Values, outer *scope) result {
	return b.valuesOf(q, outer, nil)
}

// valuesOf binds VALUES; types, when given, are what the columns are cast to as by assignment.
func (b *binder) valuesOf(q *sql.Values, outer *scope, types []vec.Type) result {
	b.takeTargets()
	x := &exprBinder{b: b, scope: &scope{parent: outer, ctes: b.ctes}, clause: "VALUES"}
	rows := make([][]Expr, len(q.Rows))
	for i, row := range q.Rows {
		if len(row) != len(q.Rows[0]) {
			failHint(q.Pos, sqlerr.SyntaxError, "give every row as many values", "VALUES lists must all be the same length")
		}
		rows[i] = x.exprs(row)
	}
	n := &Values{Rows: rows}
	var names []string
	for c := range q.Rows[0] {
		column := make([]Expr, len(rows))
		for i := range rows {
			column[i] = rows[i][c]
		}
		var t vec.Type
		if types != nil {
			t = types[c]
		} else {
			t = b.commonType("VALUES", column, q.Pos)
		}
		nullable := false
		for i := range rows {
			if types != nil {
				rows[i][c] = b.assign(rows[i][c], t, "column "+itoa(c+1), q.Rows[i][c].Position())
			} else {
				rows[i][c] = b.coerce(rows[i][c], t, q.Rows[i][c].Position())
			}
			nullable = nullable || (nullability{}).mayBeNull(rows[i][c])
		}
		name := "column" + itoa(c+1)
		names = append(names, name)
		n.Columns = append(n.Columns, b.newCol(name, t, nullable))
	}
	return result{node: n, names: names}
}
