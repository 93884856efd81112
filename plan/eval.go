package plan

import (
	"github.com/tidemarkdb/tidemark/extension"
	"github.com/tidemarkdb/tidemark/function"
	"github.com/tidemarkdb/tidemark/vec"
)

// evaluate computes an expression without columns, parameters and subqueries.
func evaluate(ev *extension.Eval, e Expr) (vec.Value, error) {
	switch e := e.(type) {
	case *Const:
		return e.Value, nil
	case *Cast:
		return evaluateCast(ev, e)
	case *Call:
		return evaluateCall(ev, e)
	case *Compare:
		return evaluateCompare(ev, e)
	case *And:
		return evaluateLogic(ev, e.Args, false)
	case *Or:
		return evaluateLogic(ev, e.Args, true)
	case *Not:
		v, err := evaluate(ev, e.Arg)
		if err != nil || v.Null {
			return v, err
		}
		return vec.BoolValue(v.I == 0), nil
	case *IsNull:
		v, err := evaluate(ev, e.Arg)
		return vec.BoolValue(v.Null != e.Negate), err
	case *IsBool:
		v, err := evaluate(ev, e.Arg)
		is := !v.Null && (v.I != 0) == e.Want
		return vec.BoolValue(is != e.Negate), err
	case *In:
		return evaluateIn(ev, e)
	case *Case:
		return evaluateCase(ev, e)
	case *Coalesce:
		for _, a := range e.Args {
			if v, err := evaluate(ev, a); err != nil || !v.Null {
				return v, err
			}
		}
		return vec.NullValue(e.T), nil
	case *MakeArray:
		return evaluateList(ev, e.Args, e.T)
	case *MakeStruct:
		return evaluateList(ev, e.Args, e.T)
	case *Field:
		v, err := evaluate(ev, e.Arg)
		if err != nil || v.Null {
			return vec.NullValue(e.Type()), err
		}
		return v.List[e.Index], nil
	}
	return vec.Value{}, internalf("evaluating a %T", e).err
}

func evaluateCast(ev *extension.Eval, e *Cast) (vec.Value, error) {
	v, err := evaluate(ev, e.Arg)
	if err != nil || v.Null {
		return vec.NullValue(e.To), err
	}
	out, err := function.CastValue(ev, v, e.To)
	if err != nil && e.Try {
		return vec.NullValue(e.To), nil
	}
	return out, err
}

func evaluateCall(ev *extension.Eval, e *Call) (vec.Value, error) {
	args := make([]*vec.Vector, len(e.Args))
	for i, a := range e.Args {
		v, err := evaluate(ev, a)
		if err != nil {
			return v, err
		}
		if v.Null && e.Bound.Strict {
			return vec.NullValue(e.Bound.Result), nil
		}
		args[i] = vec.ConstantOf(a.Type(), v, 1)
	}
	out, err := e.Bound.Kernel(ev, args, 1)
	if err != nil {
		return vec.Value{}, err
	}
	v := out.Value(0)
	v.Type = e.Bound.Result
	return v, nil
}

func evaluateCompare(ev *extension.Eval, e *Compare) (vec.Value, error) {
	l, err := evaluate(ev, e.Left)
	if err != nil {
		return l, err
	}
	r, err := evaluate(ev, e.Right)
	if err != nil {
		return r, err
	}
	return compareValues(e.Op, l, r), nil
}

// compareValues compares two values of one type.
func compareValues(op CompareOp, l, r vec.Value) vec.Value {
	switch {
	case op == Distinct || op == NotDistinct:
		return vec.BoolValue((vec.Compare(l, r) == 0) == (op == NotDistinct))
	case l.Null || r.Null:
		return vec.NullValue(vec.BoolType)
	}
	c := vec.Compare(l, r)
	switch op {
	case Eq:
		return vec.BoolValue(c == 0)
	case Ne:
		return vec.BoolValue(c != 0)
	case Lt:
		return vec.BoolValue(c < 0)
	case Le:
		return vec.BoolValue(c <= 0)
	case Gt:
		return vec.BoolValue(c > 0)
	}
	return vec.BoolValue(c >= 0)
}

// evaluateLogic computes OR when or is set, else AND; the value that decides ends it.
func evaluateLogic(ev *extension.Eval, args []Expr, or bool) (vec.Value, error) {
	out := vec.BoolValue(!or)
	for _, a := range args {
		v, err := evaluate(ev, a)
		if err != nil {
			return v, err
		}
		if !v.Null && (v.I != 0) == or {
			return vec.BoolValue(or), nil
		}
		if v.Null {
			out = vec.NullValue(vec.BoolType)
		}
	}
	return out, nil
}

func evaluateIn(ev *extension.Eval, e *In) (vec.Value, error) {
	v, err := evaluate(ev, e.Arg)
	if err != nil || v.Null {
		return vec.NullValue(vec.BoolType), err
	}
	null := false
	for _, x := range e.List {
		if x.Null {
			null = true
		} else if vec.Compare(v, x) == 0 {
			return vec.BoolValue(!e.Negate), nil
		}
	}
	if null {
		return vec.NullValue(vec.BoolType), nil
	}
	return vec.BoolValue(e.Negate), nil
}

func evaluateCase(ev *extension.Eval, e *Case) (vec.Value, error) {
	for i := range e.When {
		v, err := evaluate(ev, e.When[i])
		if err != nil {
			return v, err
		}
		if !v.Null && v.I != 0 {
			return evaluate(ev, e.Then[i])
		}
	}
	if e.Else == nil {
		return vec.NullValue(e.T), nil
	}
	return evaluate(ev, e.Else)
}

func evaluateList(ev *extension.Eval, args []Expr, t vec.Type) (vec.Value, error) {
	out := vec.Value{Type: t, List: make([]vec.Value, len(args))}
	for i, a := range args {
		v, err := evaluate(ev, a)
		if err != nil {
			return v, err
		}
		out.List[i] = v
	}
	return out, nil
}
