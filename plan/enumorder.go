package plan

import (
	"github.com/tidemarkdb/tidemark/extension"
	"github.com/tidemarkdb/tidemark/function"
	"github.com/tidemarkdb/tidemark/vec"
)

// orderEnums makes what orders values of enumerations, which are kept as text, order them by the place of the label:
// sort keys, comparisons other than for equality, and the BETWEENs made of those.
func orderEnums(o *optimizer, n Node) Node {
	return mapNode(n, func(n Node) Node {
		n = mapExprs(n, func(e Expr) Expr { return mapExpr(e, o.compareEnums) })
		switch n := n.(type) {
		case *Sort:
			if keys := o.enumKeys(n.Keys); keys != nil {
				c := *n
				c.Keys = keys
				return &c
			}
		case *Window:
			if keys := o.enumKeys(n.Order); keys != nil {
				c := *n
				c.Order = keys
				return &c
			}
		case *Aggregate:
			return o.orderAggregates(n)
		}
		return n
	})
}

func isEnum(e Expr) bool { return e != nil && e.Type().Enum != nil }

func (o *optimizer) compareEnums(e Expr) Expr {
	c, ok := e.(*Compare)
	if !ok || !isEnum(c.Left) || !isEnum(c.Right) {
		return e
	}
	switch c.Op {
	case Lt, Le, Gt, Ge:
		return &Compare{Op: c.Op, Left: enumCode(o.functions, c.Left), Right: enumCode(o.functions, c.Right)}
	}
	return e
}

// enumKeys returns keys with enumerations by their places, nil when there are none.
func (o *optimizer) enumKeys(keys []SortKey) []SortKey {
	var out []SortKey
	for i, k := range keys {
		if isEnum(k.Expr) {
			if out == nil {
				out = append(out, keys...)
			}
			out[i].Expr = enumCode(o.functions, k.Expr)
		}
	}
	return out
}

func (o *optimizer) orderAggregates(n *Aggregate) Node {
	var calls []AggCall
	for i, a := range n.Aggregates {
		if keys := o.enumKeys(a.OrderBy); keys != nil && !a.Distinct { // a distinct one needs the argument as its key
			if calls == nil {
				calls = append(calls, n.Aggregates...)
			}
			calls[i].OrderBy = keys
		}
	}
	if calls == nil {
		return n
	}
	c := *n
	c.Aggregates = calls
	return &c
}

// enumCode is the call that gives a label's place.
func enumCode(functions *extension.Registry, e Expr) Expr {
	if c, ok := e.(*Const); ok && !c.Value.Null {
		return &Const{Value: vec.IntValue(vec.Int32Type, int64(e.Type().Enum.Place(c.Value.S)))}
	}
	bound, err := functions.ResolveScalar(function.EnumCode, []extension.Argument{{Type: e.Type()}})
	check(err, 0)
	return &Call{Bound: bound, Name: function.EnumCode, Args: []Expr{e}}
}

// extremeOfEnum puts, for min and max of an enumeration, the label's place in the place of the argument and returns the
// enumeration's type; else the zero type.
func (x *exprBinder) extremeOfEnum(name string, args []Expr) vec.Type {
	if len(args) != 1 || !isEnum(args[0]) || name != "min" && name != "max" {
		return vec.Type{}
	}
	t := args[0].Type()
	args[0] = enumCode(x.b.functions, args[0])
	return t
}

// fromEnumCode makes a label of the place that e gives, when t is an enumeration's type.
func (x *exprBinder) fromEnumCode(t vec.Type, e Expr) Expr {
	if t.Enum == nil {
		return e
	}
	return x.scalar(function.EnumLabel, []Expr{e, &Const{Value: vec.NullValue(t)}}, 0)
}
