package plan

import (
	"github.com/tidemarkdb/tidemark/sql"
	"github.com/tidemarkdb/tidemark/sqlerr"
	"github.com/tidemarkdb/tidemark/vec"
)

// rowIsNull binds ROW(...) IS [NOT] NULL: whether all the values are NULL, or none is, so that neither may hold.
func (x *exprBinder) rowIsNull(row *sql.Row, not bool) Expr {
	var tests []Expr
	for _, e := range row.Elems {
		tests = append(tests, &IsNull{Arg: x.value(e), Negate: not})
	}
	return allOf(tests)
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
