package plan

import (
	"github.com/tidemarkdb/tidemark/sqlerr"
	"github.com/tidemarkdb/tidemark/vec"
)

// WithParams returns q with its parameters replaced by values, which are cast to the parameters' types. Call it
// before [Optimize], so that rules see constants.
func (q *Query) WithParams(values []vec.Value) (out *Query, err error) {
	defer recoverFault(&err)
	if len(values) != len(q.Params) {
		return nil, sqlerr.New(sqlerr.UndefinedParameter, "the statement has %d parameters and %d values were given", len(q.Params), len(values)).
			Hintf("give one value for each of $1 to $%d", len(q.Params))
	}
	if len(values) == 0 {
		return q, nil
	}
	constants := make([]Expr, len(values))
	for i, v := range values {
		if v.Type.ID == vec.Null && !v.Null { // a string of unknown type
			v.Type = vec.TextType
		}
		cast, err := evaluate(q.eval, castTo(&Const{Value: v}, q.Params[i]))
		if err != nil {
			return nil, sqlerr.From(err).Detailf("of parameter $%d", i+1)
		}
		constants[i] = &Const{Value: cast}
	}
	c := *q
	c.Plan = replaceParams(q.Plan, constants)
	return &c, nil
}

// castTo casts e unless it has the type already.
func castTo(e Expr, t vec.Type) Expr {
	if e.Type().Equal(t) {
		return e
	}
	return &Cast{Arg: e, To: t}
}

// replaceParams puts constants in the place of parameters, in the plans of subqueries too.
func replaceParams(n Node, constants []Expr) Node {
	inExpr := func(e Expr) Expr {
		return mapExpr(e, func(e Expr) Expr {
			switch x := e.(type) {
			case *Param:
				return castTo(constants[x.Index-1], x.T)
			case *Subquery:
				c := *x
				c.Plan = replaceParams(x.Plan, constants)
				return &c
			}
			return e
		})
	}
	return mapNode(n, func(n Node) Node { return mapExprs(n, inExpr) })
}
