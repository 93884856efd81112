package extension

import (
	"github.com/tidemarkdb/tidemark/sqlerr"
	"github.com/tidemarkdb/tidemark/vec"
)

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
