package plan

import (
	"slices"

	"github.com/tidemarkdb/tidemark/extension"
	"github.com/tidemarkdb/tidemark/vec"
)

// equalExpr reports whether a and b compute the same value in every row: same shape, same columns, no volatile call.
func equalExpr(a, b Expr) bool {
	return equalBy(a, b, func(a, b *Subquery) bool { return a == b })
}

// equalBy is equalExpr with a say of its own about subqueries, whose arguments are compared besides.
func equalBy(a, b Expr, sameQuery func(a, b *Subquery) bool) bool {
	if a == nil || b == nil {
		return a == nil && b == nil
	}
	if !a.Type().Equal(b.Type()) {
		return false
	}
	if s, ok := a.(*Subquery); ok {
		o, ok := b.(*Subquery)
		if !ok || !sameQuery(s, o) {
			return false
		}
	} else if !sameOperator(a, b) {
		return false
	}
	return slices.EqualFunc(a.Children(), b.Children(), func(a, b Expr) bool { return equalBy(a, b, sameQuery) })
}

func sameOperator(a, b Expr) bool {
	switch a := a.(type) {
	case *ColumnRef:
		b, ok := b.(*ColumnRef)
		return ok && a.ID == b.ID
	case *Const:
		b, ok := b.(*Const)
		return ok && sameValue(a.Value, b.Value)
	case *Param:
		b, ok := b.(*Param)
		return ok && a.Index == b.Index
	case *Call:
		b, ok := b.(*Call)
		return ok && a.Bound.Func == b.Bound.Func && slices.EqualFunc(a.Bound.Args, b.Bound.Args, vec.Type.Equal) &&
			(a.Bound.Func == nil || a.Bound.Func.Volatility != extension.Volatile)
	case *Cast:
		b, ok := b.(*Cast)
		return ok && a.Try == b.Try
	case *Compare:
		b, ok := b.(*Compare)
		return ok && a.Op == b.Op
	case *And:
		_, ok := b.(*And)
		return ok
	case *Or:
		_, ok := b.(*Or)
		return ok
	case *Not:
		_, ok := b.(*Not)
		return ok
	case *IsNull:
		b, ok := b.(*IsNull)
		return ok && a.Negate == b.Negate
	case *IsBool:
		b, ok := b.(*IsBool)
		return ok && a.Negate == b.Negate && a.Want == b.Want
	case *In:
		b, ok := b.(*In)
		return ok && a.Negate == b.Negate && slices.EqualFunc(a.List, b.List, sameValue)
	case *Case:
		b, ok := b.(*Case)
		return ok && len(a.When) == len(b.When)
	case *Coalesce:
		_, ok := b.(*Coalesce)
		return ok
	case *MakeArray:
		_, ok := b.(*MakeArray)
		return ok
	case *MakeStruct:
		_, ok := b.(*MakeStruct)
		return ok
	case *Field:
		b, ok := b.(*Field)
		return ok && a.Index == b.Index
	}
	return false
}

// sameValue reports identity, NULLs included.
func sameValue(a, b vec.Value) bool {
	return a.Type.Equal(b.Type) && a.Null == b.Null && (a.Null || vec.Compare(a, b) == 0)
}

// isVolatile reports whether e may give another value each time it is computed.
func isVolatile(e Expr) bool {
	found := false
	walkExpr(e, func(e Expr) bool {
		if c, ok := e.(*Call); ok && c.Bound.Func != nil && c.Bound.Func.Volatility == extension.Volatile {
			found = true
		}
		return !found
	})
	return found
}

// hasSubquery reports whether a subquery is anywhere in e.
func hasSubquery(e Expr) bool {
	found := false
	walkExpr(e, func(e Expr) bool {
		if _, ok := e.(*Subquery); ok {
			found = true
		}
		return !found
	})
	return found
}

// conjuncts appends the parts of the conjunction e.
func conjuncts(into []Expr, e Expr) []Expr {
	if a, ok := e.(*And); ok {
		for _, x := range a.Args {
			into = conjuncts(into, x)
		}
		return into
	}
	return append(into, e)
}

// disjuncts appends the parts of the disjunction e.
func disjuncts(into []Expr, e Expr) []Expr {
	if o, ok := e.(*Or); ok {
		for _, x := range o.Args {
			into = disjuncts(into, x)
		}
		return into
	}
	return append(into, e)
}

// allOf returns the conjunction of conds: TRUE for none.
func allOf(conds []Expr) Expr {
	switch len(conds) {
	case 0:
		return &Const{Value: vec.BoolValue(true)}
	case 1:
		return conds[0]
	}
	return &And{Args: conds}
}

// anyOf returns the disjunction of conds: FALSE for none.
func anyOf(conds []Expr) Expr {
	switch len(conds) {
	case 0:
		return &Const{Value: vec.BoolValue(false)}
	case 1:
		return conds[0]
	}
	return &Or{Args: conds}
}

var negatedOps = [...]CompareOp{Eq: Ne, Ne: Eq, Lt: Ge, Le: Gt, Gt: Le, Ge: Lt, Distinct: NotDistinct, NotDistinct: Distinct}

// mirroredOps[op] is the operator with the operands swapped.
var mirroredOps = [...]CompareOp{Eq: Eq, Ne: Ne, Lt: Gt, Le: Ge, Gt: Lt, Ge: Le, Distinct: Distinct, NotDistinct: NotDistinct}

// substitute replaces references to columns in by by what they stand for.
func substitute(e Expr, by map[ColID]Expr) Expr {
	return mapExpr(e, func(e Expr) Expr {
		switch e := e.(type) {
		case *ColumnRef:
			if to, ok := by[e.ID]; ok {
				return to
			}
		case *Subquery:
			if p := substituteNode(e.Plan, by); p != e.Plan {
				s := *e
				s.Plan = p
				return &s
			}
		}
		return e
	})
}

func substituteList(es []Expr, by map[ColID]Expr) []Expr {
	out := make([]Expr, len(es))
	for i, e := range es {
		out[i] = substitute(e, by)
	}
	return out
}

// substituteNode replaces references to outer columns everywhere in n.
func substituteNode(n Node, by map[ColID]Expr) Node {
	return mapNode(n, func(n Node) Node {
		return mapExprs(n, func(e Expr) Expr { return substitute(e, by) })
	})
}
