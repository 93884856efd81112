package plan

import (
	"slices"

	"github.com/tidemarkdb/tidemark/sql"
	"github.com/tidemarkdb/tidemark/sqlerr"
	"github.com/tidemarkdb/tidemark/vec"
)

func bindGreatest(x *exprBinder, e *sql.FuncCall) Expr { return bindExtreme(x, e, Ge) }

func bindLeast(x *exprBinder, e *sql.FuncCall) Expr { return bindExtreme(x, e, Le) }

// bindExtreme binds GREATEST and LEAST, which pass over NULLs: a CASE that takes the first argument that none of the
// others beats.
func bindExtreme(x *exprBinder, e *sql.FuncCall, op CompareOp) Expr {
	name := lowerASCII(e.Name.Last().Name)
	args := x.positional(e)
	if len(args) == 0 {
		failHint(e.Pos, sqlerr.SyntaxError, "give it values to choose from", "%s needs an argument", name)
	}
	t := x.b.commonType(name, args, e.Pos)
	args = x.b.castArgs(args, slices.Repeat([]vec.Type{t}, len(args)), e.Pos)
	if x.b.functions.Scalar(name) != nil {
		return x.scalar(name, args, e.Pos)
	}
	out := &Case{T: t, Else: args[len(args)-1]}
	for i, a := range args[:len(args)-1] {
		wins := []Expr{&IsNull{Arg: a, Negate: true}}
		for k, other := range args {
			if k != i {
				wins = append(wins, &Or{Args: []Expr{&IsNull{Arg: other}, &Compare{Op: op, Left: a, Right: other}}})
			}
		}
		out.When, out.Then = append(out.When, &And{Args: wins}), append(out.Then, a)
	}
	if len(out.When) == 0 {
		return args[0]
	}
	return out
}
