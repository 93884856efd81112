package extension

import "github.com/tidemarkdb/tidemark/vec"

// BoundTable is a resolved call of a table function. Expand is set for a set-returning function of rows; otherwise
// cast the constant arguments to Args and call Overload.Bind.
type BoundTable struct {
	Func     *TableFunc
	Overload *TableOverload
	Args     []vec.Type
	Expand   *BoundExpand
}

// ResolveScalar finds the overload of a scalar function or operator (named by its symbol) for a call, by PostgreSQL's
// rules: an exact match, else the one with the most exact and then preferred types among those the arguments cast
// to implicitly. The errors are 42883 and 42725.
func (r *Registry) ResolveScalar(name string, args []Argument) (BoundScalar, error) {
	f := r.scalars[name]
	if f == nil {
		return BoundScalar{}, r.unknownFunction(name, args)
	}
	sigs := make([]Signature, len(f.Overloads))
	for i := range f.Overloads {
		sigs[i] = f.Overloads[i].Signature
	}
	i, types, err := choose(name, sigs, args)
	if err != nil {
		return BoundScalar{}, err
	}
	o := &f.Overloads[i]
	result, kernel, err := o.Bind(coerced(args, types))
	if err != nil {
		return BoundScalar{}, err
	}
	return BoundScalar{Func: f, Args: types, Result: result, Strict: o.Strict, Kernel: kernel}, nil
}

// ResolveAggregate is [Registry.ResolveScalar] for aggregates. For an ordered-set aggregate args are the direct
// arguments followed by the ordered expressions.
func (r *Registry) ResolveAggregate(name string, args []Argument) (BoundAggregate, error) {
	f := r.aggregates[name]
	if f == nil {
		return BoundAggregate{}, r.unknownFunction(name, args)
	}
	sigs := make([]Signature, len(f.Overloads))
	for i := range f.Overloads {
		sigs[i] = f.Overloads[i].Signature
	}
	i, types, err := choose(name, sigs, args)
	if err != nil {
		return BoundAggregate{}, err
	}
	b, err := f.Overloads[i].Bind(coerced(args, types))
	b.Func, b.Args = f, types
	return b, err
}

// ResolveWindow is [Registry.ResolveScalar] for window functions.
func (r *Registry) ResolveWindow(name string, args []Argument) (BoundWindow, error) {
	f := r.windows[name]
	if f == nil {
		return BoundWindow{}, r.unknownFunction(name, args)
	}
	sigs := make([]Signature, len(f.Overloads))
	for i := range f.Overloads {
		sigs[i] = f.Overloads[i].Signature
	}
	i, types, err := choose(name, sigs, args)
	if err != nil {
		return BoundWindow{}, err
	}
	b, err := f.Overloads[i].Bind(coerced(args, types))
	b.Func, b.Args = f, types
	return b, err
}

// ResolveTable is [Registry.ResolveScalar] for table functions; arguments given by name are not part of args.
func (r *Registry) ResolveTable(name string, args []Argument) (BoundTable, error) {
	f := r.tables[name]
	if f == nil {
		return BoundTable{}, r.unknownFunction(name, args)
	}
	sigs := make([]Signature, len(f.Overloads))
	for i := range f.Overloads {
		sigs[i] = f.Overloads[i].Signature
	}
	i, types, err := choose(name, sigs, args)
	if err != nil {
		return BoundTable{}, err
	}
	b := BoundTable{Func: f, Overload: &f.Overloads[i], Args: types}
	if b.Overload.Expand != nil {
		e, err := b.Overload.Expand(coerced(args, types))
		if err != nil {
			return BoundTable{}, err
		}
		e.Args = types
		b.Expand = &e
	}
	return b, nil
}

// coerced returns args as they are after their casts to types. A constant stays known where its cast is certain.
func coerced(args []Argument, types []vec.Type) []Argument {
	out := make([]Argument, len(types))
	for i, t := range types {
		out[i] = Argument{Type: t}
		c := args[i].Const
		switch from := args[i].Type; {
		case c == nil:
		case c.Null:
			null := vec.NullValue(t)
			out[i].Const = &null
		case args[i].Literal && c.Type.ID == vec.Text && t.ID != vec.Text && !t.IsTemporal():
			if v, err := vec.Parse(t, c.S, nil); err == nil {
				out[i].Const = &v
			}
		case from.Equal(t), c.Type.Equal(t):
			v := *c
			v.Type = t
			out[i].Const = &v
		case from.IsInteger() && t.IsInteger():
			v := vec.IntValue(t, c.I)
			out[i].Const = &v
		case from.IsInteger() && t.IsFloat():
			v := vec.FloatValue(t, float64(c.I))
			out[i].Const = &v
		case from.IsInteger() && t.ID == vec.Decimal:
			if x, ok := vec.FitDecimal(vec.Int128From(c.I), 0, t); ok {
				v := vec.Int128Value(t, x)
				out[i].Const = &v
			}
		}
	}
	return out
}
