package function

import (
	"github.com/tidemarkdb/tidemark/extension"
	"github.com/tidemarkdb/tidemark/vec"
)

func pickAggregates() []*extension.AggregateFunc {
	pick := func(last bool) []extension.AggregateOverload {
		return []extension.AggregateOverload{aggregateBound(params(elementParam), func(args []extension.Argument) (vec.Type, []vec.Type, func() extension.Accumulator, error) {
			t := args[0].Type
			return t, types(t, boolT), func() extension.Accumulator { return &picked{t: t, last: last} }, nil
		})}
	}
	by := func(greatest bool) []extension.AggregateOverload {
		return []extension.AggregateOverload{aggregateBound(params(anyParam, anyParam), func(args []extension.Argument) (vec.Type, []vec.Type, func() extension.Accumulator, error) {
			t, key := args[0].Type, args[1].Type
			return t, types(t, key), func() extension.Accumulator { return &argExtreme{t: t, key: key, greatest: greatest} }, nil
		})}
	}
	return []*extension.AggregateFunc{
		{Def: def("first", "First value in order, NULL included", ex("SELECT first(x ORDER BY x) FROM (VALUES (2), (1)) t(x)", "1")), Overloads: pick(false), OrderSensitive: true, KeepsNulls: true},
		{Def: def("last", "Last value in order, NULL included", ex("SELECT last(x ORDER BY x) FROM (VALUES (2), (1)) t(x)", "2")), Overloads: pick(true), OrderSensitive: true, KeepsNulls: true},
		{Def: also(def("any_value", "Some value that is not NULL", ex("SELECT any_value(x) FROM (VALUES (1)) t(x)", "1")), "arbitrary"), Overloads: pick(false)},
		{Def: also(def("arg_min", "Value of the first argument where the second is least", ex("SELECT arg_min(x, y) FROM (VALUES ('a', 2), ('b', 1)) t(x, y)", "b")), "min_by", "argmin"), Overloads: by(false)},
		{Def: also(def("arg_max", "Value of the first argument where the second is greatest", ex("SELECT arg_max(x, y) FROM (VALUES ('a', 2), ('b', 1)) t(x, y)", "a")), "max_by", "argmax"), Overloads: by(true)},
	}
}

// picked keeps the first or last value it meets.
type picked struct {
	slots[candidate[vec.Value]]
	t    vec.Type
	last bool
}

func (a *picked) Update(groups []uint32, args []*vec.Vector, n int) error {
	if groups == nil && n > 0 {
		s := &a.at[0]
		switch {
		case a.last:
			*s = candidate[vec.Value]{args[0].Value(n - 1), true}
		case !s.seen:
			*s = candidate[vec.Value]{args[0].Value(0), true}
		}
		return nil
	}
	for i := range n {
		if s := &a.at[groups[i]]; a.last || !s.seen {
			*s = candidate[vec.Value]{args[0].Value(i), true}
		}
	}
	return nil
}

func (a *picked) MergeState(groups []uint32, state []*vec.Vector, n int) error {
	for i := range n {
		s := &a.at[group(groups, i)]
		if seen := state[1].Value(i).I != 0; seen && (a.last || !s.seen) {
			*s = candidate[vec.Value]{state[0].Value(i), true}
		}
	}
	return nil
}

func (a *picked) SaveState(from, n int) ([]*vec.Vector, error) {
	return []*vec.Vector{
		candidates(a.t, a.at[from:from+n]),
		collect(boolT, n, func(i int) (byte, bool) { return bit(a.at[from+i].seen), true }),
	}, nil
}

func (a *picked) Result(from, n int) (*vec.Vector, error) {
	return candidates(a.t, a.at[from:from+n]), nil
}

// argExtreme keeps the value of the row with the extreme key; rows with a NULL key do not count.
type argExtreme struct {
	slots[keyed]
	t, key   vec.Type
	greatest bool
}

type keyed struct {
	value, key vec.Value
	seen       bool
}

func (a *argExtreme) Update(groups []uint32, args []*vec.Vector, n int) error {
	for i := range n {
		if args[1].IsNull(i) {
			continue
		}
		key, s := args[1].Value(i), &a.at[group(groups, i)]
		if s.seen {
			if c := vec.Compare(key, s.key); c == 0 || (c > 0) != a.greatest {
				continue
			}
		}
		*s = keyed{args[0].Value(i), key, true}
	}
	return nil
}

func (a *argExtreme) MergeState(groups []uint32, state []*vec.Vector, n int) error {
	return a.Update(groups, state, n)
}

func (a *argExtreme) SaveState(from, n int) ([]*vec.Vector, error) {
	values, err := a.Result(from, n)
	keys := vec.NewBuilder(a.key, n)
	for _, s := range a.at[from : from+n] {
		s.key.Null = s.key.Null || !s.seen
		keys.Append(s.key)
	}
	return []*vec.Vector{values, keys.Finish()}, err
}

func (a *argExtreme) Result(from, n int) (*vec.Vector, error) {
	out := vec.NewBuilder(a.t, n)
	for _, s := range a.at[from : from+n] {
		s.value.Null = s.value.Null || !s.seen
		out.Append(s.value)
	}
	return out.Finish(), nil
}
