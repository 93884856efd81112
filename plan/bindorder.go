package plan

import (
	"github.com/tidemarkdb/tidemark/sql"
	"github.com/tidemarkdb/tidemark/sqlerr"
	"github.com/tidemarkdb/tidemark/vec"
)

// bindOrder binds ORDER BY and DISTINCT ON: a name is first an output column, an integer a place among them, anything
// else an expression over FROM.
func (s *selectBinder) bindOrder() {
	for _, item := range s.q.OrderBy {
		if item.All {
			for _, out := range s.items {
				s.keys = append(s.keys, sortKey(out.expr, item))
			}
			continue
		}
		s.keys = append(s.keys, sortKey(s.outputExpr(item.Expr, "ORDER BY"), item))
	}
	for _, e := range s.sel.DistinctOn {
		s.distOn = append(s.distOn, s.outputExpr(e, "DISTINCT ON"))
	}
	s.block.allowAggs = false
}

func (s *selectBinder) outputExpr(e sql.Expr, clause string) Expr {
	if i, ok := ordinal(e, len(s.items), clause); ok {
		return s.items[i].expr
	}
	if c, ok := e.(*sql.Column); ok && len(c.Name) == 1 {
		if hit := s.outputNamed(c.Name[0].Name, c.Pos); hit != nil {
			return hit
		}
	}
	refuseConstant(e, clause)
	x := s.over(clause, true)
	x.setReturning = true
	return x.expr(e)
}

// refuseConstant refuses what is neither a place nor an expression of the rows.
func refuseConstant(e sql.Expr, clause string) {
	switch c := e.(type) {
	case *sql.String, *sql.Null:
		failHint(e.Position(), sqlerr.SyntaxError, "write the column's name or place", "non-integer constant in %s", clause)
	case *sql.Unary:
		if n, ok := c.Operand.(*sql.Number); ok && c.Op == "-" {
			failHint(n.Pos, sqlerr.InvalidColumnReference, "places count from 1", "%s position -%s is not in select list", clause, n.Text)
		}
	}
}

func (s *selectBinder) outputNamed(name string, pos int) Expr {
	var hit Expr
	for _, item := range s.items {
		if item.name != name {
			continue
		}
		if hit != nil && !s.b.sameExpr(hit, item.expr) {
			fail(pos, sqlerr.AmbiguousColumn, "ORDER BY %q is ambiguous", name)
		}
		hit = item.expr
	}
	return hit
}

// outputName is what PostgreSQL calls a column without alias.
func outputName(e sql.Expr) string {
	if name := writtenName(e); name != "" {
		return name
	}
	return "?column?"
}

var pgTypeNames = map[vec.ID]string{vec.Bool: "bool", vec.Int16: "int2", vec.Int32: "int4", vec.Int64: "int8",
	vec.Float32: "float4", vec.Float64: "float8", vec.Decimal: "numeric", vec.Timestamp: "timestamp",
	vec.TimestampTZ: "timestamptz", vec.Time: "time", vec.TimeTZ: "timetz"}

func writtenName(e sql.Expr) string {
	switch e := e.(type) {
	case *sql.Column:
		return e.Name.Last().Name
	case *sql.Field:
		return e.Name.Name
	case *sql.FuncCall:
		return lowerASCII(e.Name.Last().Name)
	case *sql.Cast:
		if name := writtenName(e.Operand); name != "" {
			return name
		}
		return typeColumnName(e.Type)
	case *sql.TypedString:
		return typeColumnName(e.Type)
	case *sql.Collate:
		return writtenName(e.Operand)
	case *sql.Subscript:
		return writtenName(e.Operand)
	case *sql.Slice:
		return writtenName(e.Operand)
	case *sql.Case:
		if e.Else != nil {
			if name := writtenName(e.Else); name != "" {
				return name
			}
		}
		return "case"
	case *sql.Exists:
		return "exists"
	case *sql.Array, *sql.ArrayQuery:
		return "array"
	case *sql.Row:
		return "row"
	case *sql.Subquery:
		return queryColumnName(e.Query)
	}
	return ""
}

func typeColumnName(n sql.TypeName) string {
	t, err := TypeOf(n)
	if err != nil {
		return n.Name
	}
	for t.ID == vec.Array {
		t = *t.Elem
	}
	if name := pgTypeNames[t.ID]; name != "" {
		return name
	}
	return t.String()
}

func queryColumnName(q sql.QueryExpr) string {
	switch q := q.(type) {
	case *sql.Select:
		if len(q.Items) == 1 {
			if q.Items[0].Alias.Name != "" {
				return q.Items[0].Alias.Name
			}
			return writtenName(q.Items[0].Expr)
		}
	case *sql.Query:
		return queryColumnName(q.Body)
	case *sql.SetOp:
		return queryColumnName(q.Left)
	case *sql.Values:
		return "column1"
	}
	return ""
}
