package plan

import (
	"slices"

	"github.com/tidemarkdb/tidemark/extension"
	"github.com/tidemarkdb/tidemark/vec"
)

// simplify folds constants and brings predicates into a form that the other rules look for. An expression whose
// computation fails stays as it is, so that the error comes only where a row asks for it.
func simplify(o *optimizer, n Node) Node {
	s := o.simplifier()
	return mapNode(n, func(n Node) Node {
		n = mapExprs(n, s.expr)
		if f, ok := n.(*Filter); ok {
			return s.filter(f)
		}
		return n
	})
}

type simplifier struct {
	eval *extension.Eval
	once *bool // set when a value that holds for this statement only was folded
}

func (s *simplifier) expr(e Expr) Expr { return mapExpr(e, s.one) }

// filter simplifies conditions, of which only TRUE counts.
func (s *simplifier) filter(f *Filter) Node {
	nulls := nullsOf(f.Input)
	var conds []Expr
	for _, c := range f.Conditions {
		for _, c := range conjuncts(nil, s.truth(c, nulls)) {
			if k, ok := c.(*Const); ok {
				if k.Value.Null || k.Value.I == 0 {
					return empty(f.Cols())
				}
				continue
			}
			if !slices.ContainsFunc(conds, func(have Expr) bool { return equalExpr(have, c) }) {
				conds = append(conds, c)
			}
		}
	}
	if len(conds) == 0 {
		return f.Input
	}
	return &Filter{Input: f.Input, Conditions: conds}
}

// empty is a relation without rows.
func empty(cols []Col) Node { return &Values{Columns: cols} }

func isEmpty(n Node) bool {
	v, ok := n.(*Values)
	return ok && len(v.Rows) == 0
}

// truth simplifies a condition where unknown counts as false.
func (s *simplifier) truth(c Expr, nulls nullability) Expr {
	switch e := c.(type) {
	case *IsBool:
		if e.Want && !e.Negate {
			return s.truth(e.Arg, nulls)
		}
	case *IsNull:
		if !nulls.mayBeNull(e.Arg) && !isVolatile(e.Arg) && !mayFail(e.Arg) {
			return &Const{Value: vec.BoolValue(e.Negate)}
		}
	case *And:
		return s.one(&And{Args: mapList(e.Args, func(a Expr) Expr { return s.truth(a, nulls) })})
	case *Or:
		return s.one(&Or{Args: mapList(e.Args, func(a Expr) Expr { return s.truth(a, nulls) })})
	case *Coalesce:
		if len(e.Args) == 2 {
			if k, ok := e.Args[1].(*Const); ok && !k.Value.Null && k.Value.I == 0 {
				return s.truth(e.Args[0], nulls)
			}
		}
	}
	return c
}

// mayFail reports whether computing e can raise an error.
func mayFail(e Expr) bool {
	fails := false
	walkExpr(e, func(e Expr) bool {
		switch e := e.(type) {
		case *Call:
			fails = fails || !totalFunctions[e.Name]
		case *Cast:
			fails = fails || !e.Try && !lossless(e)
		case *Subquery:
			fails = true
		}
		return !fails
	})
	return fails
}

// totalFunctions never raise an error.
var totalFunctions = map[string]bool{"~~": true, "!~~": true, "~~*": true, "!~~*": true, "lower": true, "upper": true, "length": true}

// one simplifies e, whose children are simple.
func (s *simplifier) one(e Expr) Expr {
	if folded, ok := s.fold(e); ok {
		return folded
	}
	switch e := e.(type) {
	case *And:
		return simplifyAnd(e)
	case *Or:
		return s.or(e)
	case *Not:
		return s.not(e)
	case *Compare:
		return s.compare(e)
	case *In:
		return s.in(e)
	case *Case:
		return simplifyCase(e)
	case *Coalesce:
		return simplifyCoalesce(e)
	case *Call:
		return simplifyCall(e)
	}
	return e
}

// fold computes an expression of constants.
func (s *simplifier) fold(e Expr) (Expr, bool) {
	switch e := e.(type) {
	case *Const, *ColumnRef, *Param, *Subquery:
		return nil, false
	case *Call:
		f := e.Bound.Func
		if f == nil || f.Volatility == extension.Volatile || e.Bound.Kernel == nil {
			return nil, false
		}
	}
	for _, c := range e.Children() {
		if _, ok := c.(*Const); !ok {
			return nil, false
		}
	}
	v, err := evaluate(s.eval, e)
	if err != nil {
		return nil, false
	}
	v.Type = e.Type()
	if c, ok := e.(*Call); ok && s.once != nil && !timeless(c) {
		*s.once = true
	}
	return &Const{Value: v}, true
}

// timeless reports a call whose value is the same in every statement: operators are Stable only for the time zone.
func timeless(c *Call) bool {
	if c.Bound.Func.Volatility == extension.Immutable {
		return true
	}
	zoned := c.Type().ID == vec.TimestampTZ
	for _, t := range c.Bound.Args {
		zoned = zoned || t.ID == vec.TimestampTZ
	}
	return isOperator(c.Name) && !zoned
}

func (s *simplifier) compare(e *Compare) Expr {
	_, leftConst := e.Left.(*Const)
	_, rightConst := e.Right.(*Const)
	if leftConst && !rightConst {
		e = &Compare{Op: mirroredOps[e.Op], Left: e.Right, Right: e.Left}
	}
	k, ok := e.Right.(*Const)
	if !ok {
		return e
	}
	switch {
	case k.Value.Null && e.Op == Distinct:
		return &IsNull{Arg: e.Left, Negate: true}
	case k.Value.Null && e.Op == NotDistinct:
		return &IsNull{Arg: e.Left}
	case k.Value.Null && !isVolatile(e.Left) && !mayFail(e.Left):
		return &Const{Value: vec.NullValue(vec.BoolType)}
	case e.Left.Type().ID == vec.Bool && (e.Op == Eq || e.Op == Ne):
		if (k.Value.I != 0) == (e.Op == Eq) {
			return e.Left
		}
		return s.one(&Not{Arg: e.Left})
	}
	return unwrapCompare(e, k.Value)
}

func (s *simplifier) in(e *In) Expr {
	if len(e.List) == 1 {
		op := Eq
		if e.Negate {
			op = Ne
		}
		return s.one(&Compare{Op: op, Left: e.Arg, Right: &Const{Value: e.List[0]}})
	}
	return unwrapIn(e)
}

func simplifyCase(e *Case) Expr {
	out := &Case{T: e.T, Else: e.Else}
	for i, w := range e.When {
		if k, ok := w.(*Const); ok {
			if k.Value.Null || k.Value.I == 0 {
				continue
			}
			out.Else = e.Then[i]
			break
		}
		out.When, out.Then = append(out.When, w), append(out.Then, e.Then[i])
	}
	if len(out.When) == len(e.When) {
		return e
	}
	if len(out.When) > 0 {
		return out
	}
	if out.Else == nil {
		return &Const{Value: vec.NullValue(e.T)}
	}
	return out.Else
}

func simplifyCoalesce(e *Coalesce) Expr {
	var args []Expr
	for _, a := range e.Args {
		k, ok := a.(*Const)
		if ok && k.Value.Null {
			continue
		}
		args = append(args, a)
		if ok {
			break
		}
	}
	switch {
	case len(args) == 0:
		return &Const{Value: vec.NullValue(e.T)}
	case len(args) == 1:
		return args[0]
	case len(args) == len(e.Args):
		return e
	}
	return &Coalesce{Args: args, T: e.T}
}

// simplifyCall turns LIKE with a pattern without wildcards into =, and NULL arguments of strict functions into NULL.
func simplifyCall(e *Call) Expr {
	if e.Bound.Strict && e.Bound.Func != nil && e.Bound.Func.Volatility != extension.Volatile {
		null, fails := false, false
		for _, a := range e.Args {
			k, ok := a.(*Const)
			null = null || ok && k.Value.Null
			fails = fails || mayFail(a) || isVolatile(a)
		}
		if null && !fails {
			return &Const{Value: vec.NullValue(e.Type())}
		}
	}
	if e.Name != "~~" && e.Name != "!~~" || len(e.Args) != 2 {
		return e
	}
	k, ok := e.Args[1].(*Const)
	if !ok || k.Value.Null || k.Value.Type.ID != vec.Text || e.Args[0].Type().ID != vec.Text {
		return e
	}
	prefix, rest := likePrefix(k.Value.S)
	if rest != "" {
		return e
	}
	op := Eq
	if e.Name == "!~~" {
		op = Ne
	}
	return &Compare{Op: op, Left: e.Args[0], Right: &Const{Value: vec.StringValue(vec.TextType, prefix)}}
}

// likePrefix splits a LIKE pattern into what every match begins with and the rest from the first wildcard.
func likePrefix(pattern string) (prefix, rest string) {
	var b []byte
	for i := 0; i < len(pattern); i++ {
		switch c := pattern[i]; c {
		case '%', '_':
			return string(b), pattern[i:]
		case '\\':
			if i++; i == len(pattern) {
				return string(b), `\` // a pattern that fails when it is used
			}
			b = append(b, pattern[i])
		default:
			b = append(b, c)
		}
	}
	return string(b), ""
}
