package plan

import (
	"github.com/tidemarkdb/tidemark/extension"
	"github.com/tidemarkdb/tidemark/sql"
	"github.com/tidemarkdb/tidemark/sqlerr"
	"github.com/tidemarkdb/tidemark/vec"
)

// subquery binds a query inside an expression; it sees the expression's scope.
func (x *exprBinder) subquery(q sql.QueryExpr) result {
	saved := x.b.ctes
	x.b.ctes = x.scope.ctes
	defer func() { x.b.ctes = saved }()
	r := x.b.query(q, x.scope)
	node, _ := x.b.settleUnknown(r)
	r.node = node
	x.b.written[node] = writtenQuery{q, x.scope}
	return r
}

// writtenQuery is what a subquery was bound from.
type writtenQuery struct {
	query sql.QueryExpr
	scope *scope
}

// sameExpr is equalExpr while a query is bound: two subqueries are the same besides when they were written alike in
// one scope, so that one of the select list is found among the groups.
func (b *binder) sameExpr(x, y Expr) bool {
	return equalBy(x, y, func(x, y *Subquery) bool {
		if x == y {
			return true
		}
		p, known := b.written[x.Plan]
		q, alsoKnown := b.written[y.Plan]
		return known && alsoKnown && x.Kind == y.Kind && x.Op == y.Op && x.Negate == y.Negate && p.scope == q.scope &&
			sql.Text(p.query) == sql.Text(q.query) && !volatileNode(x.Plan)
	})
}

// volatileNode reports whether anything in n may give another value each time it is computed.
func volatileNode(n Node) bool {
	found := false
	walkNode(n, func(n Node) bool {
		visitExprs(n, func(e Expr) { found = found || isVolatile(e) })
		return !found
	})
	return found
}

func (x *exprBinder) oneColumn(q sql.QueryExpr, pos int) result {
	r := x.subquery(q)
	if len(r.cols()) != 1 {
		failHint(pos, sqlerr.SyntaxError, "select one column", "subquery must return only one column")
	}
	return r
}

func (x *exprBinder) scalarSubquery(e *sql.Subquery) Expr {
	r := x.oneColumn(e.Query, e.Pos)
	return &Subquery{Kind: ScalarSubquery, Plan: r.node, T: r.cols()[0].Type}
}

var quantifiedLike = map[string]string{"LIKE": "~~", "ILIKE": "~~*", "NOT LIKE": "!~~", "NOT ILIKE": "!~~*"}

func (x *exprBinder) quantified(e *sql.Quantified) Expr {
	kind := Any
	if e.All {
		kind = All
	}
	op, isCompare := compareSymbols[e.Op]
	if e.Query != nil && isCompare {
		return x.quantifiedQuery(kind, op, e.Op, e.Left, e.Query, false, e.Pos)
	}
	if e.Query != nil {
		r := x.oneColumn(e.Query, e.Pos)
		return x.anyLike(kind, e.Op, x.expr(e.Left), refTo(r.cols()[0]), r.node, e.Pos)
	}
	arg, list := x.expr(e.Left), x.expr(e.Array)
	elems, known := x.b.elements(list, arg.Type())
	if !known {
		elem, rows := x.elementRows(arg, list, e.Pos)
		if !isCompare {
			return x.anyLike(kind, e.Op, arg, elem, rows, e.Pos)
		}
		l, r := x.pair(op, arg, elem, e.Pos)
		return x.anyOrAll(kind, op, []Expr{l}, []Expr{r}, rows, false)
	}
	if isCompare && op == Eq && kind == Any {
		if in, ok := x.inConstants(arg, elems, e.Pos); ok {
			return in
		}
	}
	var parts []Expr
	for _, el := range elems {
		if isCompare {
			parts = append(parts, x.compare(op, arg, el, e.Pos))
		} else {
			parts = append(parts, x.matches(e.Op, arg, el, e.Pos))
		}
	}
	if kind == All {
		return allOf(parts)
	}
	return anyOf(parts)
}

func (x *exprBinder) inConstants(arg Expr, elems []Expr, pos int) (Expr, bool) {
	if len(elems) == 0 {
		return nil, false
	}
	t := x.b.commonType("ANY", append([]Expr{arg}, elems...), pos)
	in := &In{Arg: x.b.coerce(arg, t, pos)}
	for _, el := range elems {
		c, ok := x.b.coerce(el, t, pos).(*Const)
		if !ok {
			return nil, false
		}
		in.List = append(in.List, c.Value)
	}
	return in, true
}

// elements returns the elements of an array that is written out.
func (b *binder) elements(list Expr, elem vec.Type) ([]Expr, bool) {
	if c, ok := list.(*Const); ok && unknown(c) && !c.Value.Null {
		if elem.ID == vec.Null {
			elem = vec.TextType
		}
		list = b.coerce(list, vec.ArrayType(elem), 0)
	}
	switch list := list.(type) {
	case *MakeArray:
		return list.Args, true
	case *Const:
		if list.Value.Null || list.Value.Type.ID != vec.Array {
			return nil, false
		}
		var out []Expr
		for _, v := range list.Value.List {
			out = append(out, &Const{Value: v})
		}
		return out, true
	}
	return nil, false
}

// elementRows is a query of the elements of a computed array that arg is compared with. For an array that is NULL that
// is one NULL, with which every comparison is NULL, not no row at all.
func (x *exprBinder) elementRows(arg, list Expr, pos int) (elem Expr, rows Node) {
	if unknown(list) {
		t := arg.Type()
		if t.ID == vec.Null {
			t = vec.TextType
		}
		list = x.b.coerce(list, vec.ArrayType(t), pos)
	}
	if list.Type().ID != vec.Array {
		failHint(pos, sqlerr.WrongObjectType, "give an array or a subquery", "op ANY/ALL (array) requires array on right side")
	}
	oneNull := &Const{Value: vec.Value{Type: list.Type(), List: []vec.Value{vec.NullValue(*list.Type().Elem)}}}
	list = &Coalesce{Args: []Expr{list, oneNull}, T: list.Type()}
	bound, err := x.b.functions.ResolveTable("unnest", []extension.Argument{x.b.argument(list)})
	check(err, pos)
	if bound.Expand == nil {
		panic(internalf("unnest does not expand rows"))
	}
	col := x.b.newCol("unnest", *list.Type().Elem, true)
	return refTo(col), &Expand{Input: oneRow(), Name: "unnest", Bound: *bound.Expand, Args: []Expr{list}, Columns: []Col{col}}
}

// matches binds arg [NOT] LIKE pattern and its kin, by the name that the parser gives the operator.
func (x *exprBinder) matches(op string, arg, pattern Expr, pos int) Expr {
	symbol := quantifiedLike[op]
	not := symbol == "!~~" || symbol == "!~~*"
	if not {
		symbol = symbol[1:]
	}
	return negateIf(not, x.scalar(symbol, []Expr{arg, pattern}, pos))
}

// anyLike is whether arg matches a pattern of a query, or all: the matching is part of the query.
func (x *exprBinder) anyLike(kind SubqueryKind, op string, arg, pattern Expr, rows Node, pos int) Expr {
	yes := &Const{Value: vec.BoolValue(true)}
	return x.anyOrAll(kind, Eq, []Expr{yes}, []Expr{x.matches(op, arg, pattern, pos)}, rows, false)
}

// quantifiedQuery binds operand op ANY|ALL (query); the operand may be a row.
func (x *exprBinder) quantifiedQuery(kind SubqueryKind, op CompareOp, symbol string, operand sql.Expr, q sql.QueryExpr, not bool, pos int) Expr {
	var args []Expr
	if row, ok := operand.(*sql.Row); ok {
		args = x.exprs(row.Elems)
	} else {
		args = []Expr{x.expr(operand)}
	}
	r := x.subquery(q)
	cols := r.cols()
	if len(cols) != len(args) {
		what := "few"
		if len(cols) > len(args) {
			what = "many"
		}
		failHint(pos, sqlerr.SyntaxError, "select as many columns as are compared", "subquery has too %s columns", what)
	}
	values := refsTo(cols)
	for i := range args {
		args[i], values[i] = x.pair(op, args[i], values[i], pos)
	}
	return x.anyOrAll(kind, op, args, values, r.node, not)
}

// anyOrAll makes the subquery expression; values are computed from the plan's rows and are projected where they are
// more than its columns.
func (x *exprBinder) anyOrAll(kind SubqueryKind, op CompareOp, args, values []Expr, plan Node, not bool) Expr {
	p := &Project{Input: plan}
	plain := true
	for i, v := range values {
		ref, ok := v.(*ColumnRef)
		plain = plain && ok && ref.ID == plan.Cols()[i].ID
		p.Columns = append(p.Columns, x.b.newCol("value", v.Type(), true))
		p.Exprs = append(p.Exprs, v)
	}
	if !plain || len(plan.Cols()) != len(values) {
		if from, ok := x.b.written[plan]; ok {
			x.b.written[p] = from
		}
		plan = p
	}
	return &Subquery{Kind: kind, Plan: plan, Args: args, Op: op, Negate: not, T: vec.BoolType}
}
