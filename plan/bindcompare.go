package plan

import (
	"github.com/tidemarkdb/tidemark/extension"
	"github.com/tidemarkdb/tidemark/sql"
	"github.com/tidemarkdb/tidemark/sqlerr"
)

// compareExprs compares two operands, which may be rows.
func (x *exprBinder) compareExprs(op CompareOp, left, right sql.Expr, pos int) Expr {
	l, lok := left.(*sql.Row)
	r, rok := right.(*sql.Row)
	if lok && rok {
		if len(l.Elems) != len(r.Elems) {
			failHint(pos, sqlerr.SyntaxError, "give both rows as many values", "unequal number of entries in row expressions")
		}
		ls, rs := x.exprs(l.Elems), x.exprs(r.Elems)
		for i := range ls {
			ls[i], rs[i] = x.pair(op, ls[i], rs[i], pos)
		}
		return rowCompare(op, ls, rs)
	}
	if q, ok := right.(*sql.Subquery); ok && lok && op != Distinct && op != NotDistinct {
		return x.rowQuery(op, l, q, pos)
	}
	if out, ok := x.regCompare(op, left, right, pos); ok {
		return out
	}
	return x.compare(op, x.expr(left), x.expr(right), pos)
}

func (x *exprBinder) compare(op CompareOp, l, r Expr, pos int) Expr {
	l, r = x.pair(op, l, r, pos)
	return &Compare{Op: op, Left: l, Right: r}
}

// pair casts both operands of a comparison to their common type.
func (x *exprBinder) pair(op CompareOp, l, r Expr, pos int) (Expr, Expr) {
	symbol := op.String()
	if op == Distinct || op == NotDistinct {
		symbol = "="
	}
	t, err := extension.ComparisonType(symbol, x.b.argument(l), x.b.argument(r))
	check(err, pos)
	return x.b.coerce(l, t, pos), x.b.coerce(r, t, pos)
}

func (x *exprBinder) inList(e *sql.InList) Expr {
	if row, ok := e.Operand.(*sql.Row); ok {
		var any []Expr
		for _, item := range e.List {
			any = append(any, x.compareExprs(Eq, row, item, e.Pos))
		}
		return negateIf(e.Not, anyOf(any))
	}
	arg := x.expr(e.Operand)
	list := x.exprs(e.List)
	t := x.b.commonType("IN", append([]Expr{arg}, list...), e.Pos)
	arg = x.b.coerce(arg, t, e.Pos)
	in := &In{Arg: arg, Negate: e.Not}
	var others []Expr
	for i, item := range list {
		item = x.b.coerce(item, t, e.List[i].Position())
		if c, ok := item.(*Const); ok {
			in.List = append(in.List, c.Value)
		} else {
			others = append(others, &Compare{Op: Eq, Left: arg, Right: item})
		}
	}
	if len(others) == 0 {
		return in
	}
	if len(in.List) > 0 {
		in.Negate = false
		others = append([]Expr{in}, others...)
	}
	return negateIf(e.Not, anyOf(others))
}

var likeNames = map[sql.LikeKind]string{sql.LikeCase: "~~", sql.LikeNoCase: "~~*"}

func (x *exprBinder) like(e *sql.Like) Expr {
	arg, pattern := x.expr(e.Operand), x.expr(e.Pattern)
	if e.Kind == sql.LikeSimilar {
		args := []Expr{pattern}
		if e.Escape != nil {
			args = append(args, x.expr(e.Escape))
		}
		matched := x.scalar("~", []Expr{arg, x.scalar("similar_to_escape", args, e.Pos)}, e.Pos)
		return negateIf(e.Not, matched)
	}
	if e.Escape != nil {
		pattern = x.scalar("like_escape", []Expr{pattern, x.expr(e.Escape)}, e.Pos)
	}
	return negateIf(e.Not, x.scalar(likeNames[e.Kind], []Expr{arg, pattern}, e.Pos))
}
