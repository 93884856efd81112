package plan

import (
	"math"

	"github.com/tidemarkdb/tidemark/sql"
	"github.com/tidemarkdb/tidemark/vec"
)

// subscript binds x[i]: an element of an array, a field of a struct by name, or a member of JSON.
func (x *exprBinder) subscript(e *sql.Subscript) Expr {
	arg, index := x.expr(e.Operand), x.expr(e.Index)
	switch arg.Type().ID {
	case vec.Struct:
		if c, ok := index.(*Const); ok && unknown(c) && !c.Value.Null {
			return x.field(arg, sql.Ident{Name: c.Value.S, Pos: e.Pos})
		}
	case vec.JSON:
		return x.scalar("->", []Expr{arg, index}, e.Pos)
	}
	return x.scalar("array_get", []Expr{x.sliceable(arg), index}, e.Pos)
}

// sliceable makes a literal without a type text, of which subscripts are characters as in DuckDB.
func (x *exprBinder) sliceable(e Expr) Expr {
	if c, ok := e.(*Const); ok && unknown(e) && !c.Value.Null {
		return x.b.settle(e)
	}
	return e
}

// slice binds x[low:high]; an open end lies as far out as places go.
func (x *exprBinder) slice(e *sql.Slice) Expr {
	end := func(e sql.Expr, open int64) Expr {
		if e == nil {
			return intConst(open)
		}
		return x.expr(e)
	}
	return x.scalar("array_slice", []Expr{x.sliceable(x.expr(e.Operand)), end(e.Low, 1), end(e.High, math.MaxInt64)}, e.Pos)
}
