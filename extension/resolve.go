package extension

import (
	"strings"

	"github.com/tidemarkdb/tidemark/sqlerr"
	"github.com/tidemarkdb/tidemark/vec"
)

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

// candidate is an overload that a call's arguments fit.
type candidate struct {
	index     int
	params    []Param // one an argument
	types     []vec.Type
	exact     int
	preferred int
}

// choose picks the signature for the arguments.
func choose(name string, sigs []Signature, args []Argument) (int, []vec.Type, error) {
	operator := len(name) > 0 && !isWord(name[0])
	if operator && len(args) == 2 && args[0].unknown() != args[1].unknown() {
		// An operator's untyped literal is first taken to have the other side's type.
		known := args[0].Type
		if args[0].unknown() {
			known = args[1].Type
		}
		for _, c := range fitting(sigs, args) {
			if exactly(c.params[0], known) && exactly(c.params[1], known) {
				return c.index, c.types, nil
			}
		}
	}
	all := fitting(sigs, args)
	if len(all) == 0 {
		return 0, nil, noMatch(name, sigs, args)
	}
	best := narrow(all, args)
	if len(best) > 1 {
		return 0, nil, sqlerr.New(sqlerr.AmbiguousFunction, "%s %s is not unique", callKind(operator), callText(name, args)).
			Hintf("Add explicit casts to choose one of the candidates.")
	}
	return best[0].index, best[0].types, nil
}

func isWord(c byte) bool { return c == '_' || c >= 'a' && c <= 'z' || c >= '0' && c <= '9' }

func exactly(p Param, t vec.Type) bool {
	return p.Kind == Exact && p.Type.ID == t.ID || p.Kind == AnyDecimal && t.ID == vec.Decimal
}

// fitting returns the signatures whose parameters the arguments match or cast to implicitly.
func fitting(sigs []Signature, args []Argument) []candidate {
	var out []candidate
	for i, s := range sigs {
		params, ok := expand(s, len(args))
		if !ok {
			continue
		}
		c := candidate{index: i, params: params}
		if c.match(args) {
			out = append(out, c)
		}
	}
	return out
}

// expand returns one parameter for each of n arguments.
func expand(s Signature, n int) ([]Param, bool) {
	if n < len(s.Params)-s.Optional || n > len(s.Params) && !s.Variadic {
		return nil, false
	}
	params := make([]Param, n)
	for i := range params {
		params[i] = s.Params[min(i, len(s.Params)-1)]
	}
	return params, true
}

func (c *candidate) match(args []Argument) bool {
	elem, ok := c.element(args)
	if !ok {
		return false
	}
	c.types = make([]vec.Type, len(args))
	for i, a := range args {
		p := c.params[i]
		want := p.Type
		switch p.Kind {
		case AnyElement:
			want = elem
		case AnyArray:
			want = vec.ArrayType(elem)
		case AnyType, AnyNonArray:
			if p.Kind == AnyNonArray && a.Type.ID == vec.Array {
				return false
			}
			if want = a.Type; a.unknown() {
				want = vec.TextType
			}
		case AnyDecimal:
			want = DecimalOf(a)
		case AnyStruct:
			if want = a.Type; !a.unknown() && a.Type.ID != vec.Struct {
				return false
			}
		}
		c.types[i] = want
		if a.unknown() {
			continue
		}
		switch {
		case a.Type.ID == want.ID && (p.Kind != AnyArray || a.Type.Equal(want)):
			c.exact++
			if !ImplicitCast(a.Type, want) {
				return false
			}
		case !ImplicitCast(a.Type, want):
			return false
		}
		if p.Kind == Exact && (a.Type.ID == want.ID || preferred(want)) {
			c.preferred++
		}
	}
	return true
}

// element finds the type of AnyElement; ok is false when the arguments disagree on it.
func (c *candidate) element(args []Argument) (vec.Type, bool) {
	var known []Argument
	polymorphic := false
	for i, p := range c.params {
		switch p.Kind {
		case AnyElement:
			polymorphic = true
			known = append(known, args[i])
		case AnyArray:
			polymorphic = true
			switch {
			case args[i].unknown():
			case args[i].Type.ID != vec.Array:
				return vec.Type{}, false
			default:
				known = append(known, Argument{Type: *args[i].Type.Elem})
			}
		}
	}
	if !polymorphic {
		return vec.Type{}, true
	}
	t, err := CommonType(known)
	return t, err == nil
}

// narrow applies PostgreSQL's steps until one candidate is left (PostgreSQL documentation, section 10.3).
func narrow(all []candidate, args []Argument) []candidate {
	all = keepMost(all, func(c candidate) int { return c.exact })
	if len(all) > 1 {
		all = keepMost(all, func(c candidate) int { return c.preferred })
	}
	if len(all) > 1 {
		all = narrowUnknown(all, args)
	}
	if len(all) > 1 {
		all = assumeSameType(all, args)
	}
	return all
}

func keepMost(all []candidate, score func(candidate) int) []candidate {
	best, out := -1, all[:0:0]
	for _, c := range all {
		if s := score(c); s > best {
			best, out = s, out[:0]
		}
		if score(c) == best {
			out = append(out, c)
		}
	}
	return out
}

// narrowUnknown decides by the categories the candidates accept at literals: text wins, then a category all share.
func narrowUnknown(all []candidate, args []Argument) []candidate {
	for i, a := range args {
		if !a.unknown() {
			continue
		}
		want, same, anyString := categoryOf(all[0].types[i]), true, false
		for _, c := range all {
			same = same && categoryOf(c.types[i]) == want
			anyString = anyString || categoryOf(c.types[i]) == catString && c.params[i].Kind == Exact
		}
		switch {
		case anyString:
			want = catString
		case !same:
			continue
		}
		var kept, best []candidate
		for _, c := range all {
			if categoryOf(c.types[i]) != want {
				continue
			}
			kept = append(kept, c)
			if preferred(c.types[i]) && c.params[i].Kind == Exact {
				best = append(best, c)
			}
		}
		if len(best) > 0 {
			kept = best
		}
		if len(kept) > 0 {
			all = kept
		}
	}
	return all
}

// assumeSameType takes literals to have the type that all other arguments have.
func assumeSameType(all []candidate, args []Argument) []candidate {
	var known *vec.Type
	for i := range args {
		switch {
		case args[i].unknown():
		case known == nil:
			known = &args[i].Type
		case known.ID != args[i].Type.ID:
			return all
		}
	}
	if known == nil {
		return all
	}
	var out []candidate
	for _, c := range all {
		fits := true
		for _, t := range c.types {
			fits = fits && ImplicitCast(*known, t)
		}
		if fits {
			out = append(out, c)
		}
	}
	if len(out) == 1 {
		return out
	}
	return all
}

func callKind(operator bool) string {
	if operator {
		return "operator"
	}
	return "function"
}

func callText(name string, args []Argument) string {
	names := make([]string, len(args))
	for i, a := range args {
		names[i] = argName(a)
	}
	switch {
	case len(name) > 0 && isWord(name[0]):
		return name + "(" + strings.Join(names, ", ") + ")"
	case len(args) == 1:
		return name + " " + names[0]
	}
	return strings.Join(names, " "+name+" ")
}

func noMatch(name string, sigs []Signature, args []Argument) error {
	operator := len(name) > 0 && !isWord(name[0])
	if operator {
		return sqlerr.New(sqlerr.UndefinedFunction, "operator does not exist: %s", callText(name, args)).
			Hintf("No operator matches these types. Add explicit casts.")
	}
	return sqlerr.New(sqlerr.UndefinedFunction, "function %s does not exist", callText(name, args)).
		Hintf("Known: %s. Add explicit casts or change the arguments.", signatureList(name, sigs))
}

// signatureList shows at most four overloads.
func signatureList(name string, sigs []Signature) string {
	var b strings.Builder
	for i, s := range sigs {
		if i == 4 {
			b.WriteString(", ...")
			break
		}
		if i > 0 {
			b.WriteString(", ")
		}
		b.WriteString(name + s.String())
	}
	return b.String()
}

// String shows the parameters: (numeric, integer).
func (s Signature) String() string {
	var b strings.Builder
	b.WriteByte('(')
	for i, p := range s.Params {
		if i >= len(s.Params)-s.Optional {
			b.WriteByte('[')
		}
		if i > 0 {
			b.WriteString(", ")
		}
		b.WriteString(p.TypeName())
		if i >= len(s.Params)-s.Optional {
			b.WriteByte(']')
		}
	}
	if s.Variadic {
		b.WriteString(", ...")
	}
	return b.String() + ")"
}

// TypeName is the parameter's type as the documentation shows it.
func (p Param) TypeName() string {
	switch p.Kind {
	case AnyType:
		return "any"
	case AnyElement:
		return "anyelement"
	case AnyArray:
		return "anyarray"
	case AnyDecimal:
		return "numeric"
	case AnyStruct:
		return "record"
	case AnyNonArray:
		return "anynonarray"
	}
	return typeName(p.Type)
}

func (r *Registry) unknownFunction(name string, args []Argument) error {
	operator := len(name) > 0 && !isWord(name[0])
	if operator {
		return noMatch(name, nil, args)
	}
	err := sqlerr.New(sqlerr.UndefinedFunction, "function %s does not exist", callText(name, args))
	if near := sqlerr.Nearest(name, r.FunctionNames()); near != "" {
		return err.Hintf("Did you mean %s?", near)
	}
	return err.Hintf("SELECT name FROM information_schema.functions lists the functions there are.")
}
