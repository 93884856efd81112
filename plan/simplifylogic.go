package plan

import (
	"slices"

	"github.com/tidemarkdb/tidemark/vec"
)

func boolConst(e Expr) (value, ok bool) {
	k, isConst := e.(*Const)
	if !isConst || k.Value.Null || k.Value.Type.ID != vec.Bool {
		return false, false
	}
	return k.Value.I != 0, true
}

func simplifyAnd(e *And) Expr {
	var args []Expr
	for _, a := range conjuncts(nil, e) {
		if v, ok := boolConst(a); ok {
			if !v {
				return a
			}
			continue
		}
		if !slices.ContainsFunc(args, func(have Expr) bool { return equalExpr(have, a) }) {
			args = append(args, a)
		}
	}
	return allOf(args)
}

func (s *simplifier) or(e *Or) Expr {
	var args []Expr
	for _, a := range disjuncts(nil, e) {
		if v, ok := boolConst(a); ok {
			if v {
				return a
			}
			continue
		}
		if !slices.ContainsFunc(args, func(have Expr) bool { return equalExpr(have, a) }) {
			args = append(args, a)
		}
	}
	args = mergeEqualities(args)
	if len(args) < 2 {
		return anyOf(args)
	}
	return s.factor(args)
}

// factor turns (a AND b) OR (a AND c) into a AND (b OR c).
func (s *simplifier) factor(args []Expr) Expr {
	parts := make([][]Expr, len(args))
	for i, a := range args {
		parts[i] = conjuncts(nil, a)
	}
	var common []Expr
	for _, c := range parts[0] {
		inAll := true
		for _, p := range parts[1:] {
			inAll = inAll && slices.ContainsFunc(p, func(x Expr) bool { return equalExpr(x, c) })
		}
		if inAll {
			common = append(common, c)
		}
	}
	if len(common) == 0 {
		return &Or{Args: args}
	}
	rest := make([]Expr, len(args))
	for i, p := range parts {
		var left []Expr
		for _, x := range p {
			if !slices.ContainsFunc(common, func(c Expr) bool { return equalExpr(x, c) }) {
				left = append(left, x)
			}
		}
		rest[i] = allOf(left)
	}
	return simplifyAnd(&And{Args: append(common, s.one(&Or{Args: rest}))})
}

// mergeEqualities turns x = 1 OR x = 2 OR x IN (3) into x IN (1, 2, 3).
func mergeEqualities(args []Expr) []Expr {
	var out []Expr
	for _, a := range args {
		arg, list, ok := equalities(a)
		if !ok {
			out = append(out, a)
			continue
		}
		at := slices.IndexFunc(out, func(have Expr) bool {
			x, _, ok := equalities(have)
			return ok && equalExpr(x, arg)
		})
		if at < 0 {
			out = append(out, a)
			continue
		}
		_, have, _ := equalities(out[at])
		out[at] = &In{Arg: arg, List: distinctValues(append(slices.Clone(have), list...))}
	}
	return out
}

func equalities(e Expr) (Expr, []vec.Value, bool) {
	switch e := e.(type) {
	case *In:
		return e.Arg, e.List, !e.Negate && !isVolatile(e.Arg)
	case *Compare:
		k, ok := e.Right.(*Const)
		if ok && e.Op == Eq && !isVolatile(e.Left) {
			return e.Left, []vec.Value{k.Value}, true
		}
	}
	return nil, nil, false
}

func distinctValues(vs []vec.Value) []vec.Value {
	var out []vec.Value
	for _, v := range vs {
		if !slices.ContainsFunc(out, func(o vec.Value) bool { return sameValue(o, v) }) {
			out = append(out, v)
		}
	}
	return out
}

func (s *simplifier) not(e *Not) Expr {
	switch a := e.Arg.(type) {
	case *Not:
		return a.Arg
	case *Compare:
		return &Compare{Op: negatedOps[a.Op], Left: a.Left, Right: a.Right}
	case *IsNull:
		return &IsNull{Arg: a.Arg, Negate: !a.Negate}
	case *IsBool:
		return &IsBool{Arg: a.Arg, Want: a.Want, Negate: !a.Negate}
	case *In:
		return &In{Arg: a.Arg, List: a.List, Negate: !a.Negate}
	case *And:
		return s.one(&Or{Args: mapList(a.Args, func(x Expr) Expr { return s.one(&Not{Arg: x}) })})
	case *Or:
		return s.one(&And{Args: mapList(a.Args, func(x Expr) Expr { return s.one(&Not{Arg: x}) })})
	}
	return e
}
