package plan

import (
	"slices"

	"github.com/tidemarkdb/tidemark/sql"
	"github.com/tidemarkdb/tidemark/sqlerr"
	"github.com/tidemarkdb/tidemark/vec"
)

// rowIsNull binds ROW(...) IS [NOT] NULL: whether all the values are NULL, or none is, so that neither may hold.
func (x *exprBinder) rowIsNull(row *sql.Row, not bool) Expr {
	values := make([]Expr, len(row.Elems))
	for i, e := range row.Elems {
		values[i] = x.value(e)
	}
	return allNull(values, not)
}

func allNull(values []Expr, not bool) Expr {
	var tests []Expr
	for _, v := range values {
		tests = append(tests, &IsNull{Arg: v, Negate: not})
	}
	return allOf(tests)
}

// noteNames notes the names that may stand for the row of a relation in n. A star in a select list does not.
func (b *binder) noteNames(n sql.Node) {
	items := map[*sql.Star]bool{}
	sql.Walk(n, func(n sql.Node) bool {
		switch n := n.(type) {
		case *sql.Select:
			for _, item := range n.Items {
				if star, ok := item.Expr.(*sql.Star); ok {
					items[star] = true
				}
			}
		case *sql.Column:
			if len(n.Name) == 1 {
				b.rowNames[n.Name[0].Name] = true
			}
		case *sql.Star:
			if len(n.Qualifier) > 0 && !items[n] {
				b.rowNames[n.Qualifier.Last().Name] = true
			}
		}
		return true
	})
}

// marked gives the relations of a side of an outer join, whose rows a query may ask for as a whole, a column that tells
// padded rows from those that are there: one that is never NULL, or one made for it.
func (b *binder) marked(n Node, ns namespace) (Node, namespace) {
	var made *Project
	for i, r := range ns.relations {
		if r.marker != nil || !b.rowNames[r.name] {
			continue
		}
		c := *r
		if at := slices.IndexFunc(r.cols, func(c Col) bool { return !c.Nullable }); at >= 0 {
			c.marker = &r.cols[at]
		} else {
			if made == nil {
				made = &Project{Input: n, Columns: slices.Clone(n.Cols()), Exprs: refsTo(n.Cols())}
			}
			there := b.newCol("there", vec.BoolType, false)
			made.Columns, made.Exprs = append(made.Columns, there), append(made.Exprs, &Const{Value: vec.BoolValue(true)})
			c.marker = &there
		}
		ns = ns.with(i, &c)
	}
	if made != nil {
		return made, ns
	}
	return n, ns
}

// rowQuery binds row op (query): the comparison is computed on the query's row, so that it is NULL without one and an
// error with several.
func (x *exprBinder) rowQuery(op CompareOp, row *sql.Row, q *sql.Subquery, pos int) Expr {
	values := x.exprs(row.Elems)
	r := x.subquery(q.Query)
	cols := refsTo(r.cols())
	if len(cols) != len(values) {
		what := "few"
		if len(cols) > len(values) {
			what = "many"
		}
		failHint(q.Pos, sqlerr.SyntaxError, "select as many columns as are compared", "subquery has too %s columns", what)
	}
	for i := range values {
		values[i], cols[i] = x.pair(op, values[i], cols[i], pos)
	}
	out := x.b.newCol("value", vec.BoolType, true)
	compared := &Project{Input: r.node, Columns: []Col{out}, Exprs: []Expr{rowCompare(op, values, cols)}}
	return &Subquery{Kind: ScalarSubquery, Plan: compared, T: vec.BoolType}
}

// bindOverlaps binds (a, b) OVERLAPS (c, d), whose b and d may be intervals from a and c on.
func bindOverlaps(x *exprBinder, e *sql.FuncCall) Expr {
	if len(e.Args) != 2 {
		return x.scalar("overlaps", x.positional(e), e.Pos)
	}
	var ends []Expr
	for i, side := range []string{"left", "right"} {
		row, ok := e.Args[i].Value.(*sql.Row)
		if !ok || len(row.Elems) != 2 {
			failHint(e.Pos, sqlerr.SyntaxError, "write (start, end) OVERLAPS (start, end)", "wrong number of parameters on %s side of OVERLAPS expression", side)
		}
		start, end := x.expr(row.Elems[0]), x.expr(row.Elems[1])
		if end.Type().ID == vec.Interval {
			end = x.scalar("+", []Expr{start, end}, e.Pos)
		}
		ends = append(ends, start, end)
	}
	return x.scalar("overlaps", ends, e.Pos)
}
