package function

import (
	"github.com/tidemarkdb/tidemark/extension"
	"github.com/tidemarkdb/tidemark/vec"
)

func bitAggregates() []*extension.AggregateFunc {
	and := func(x, y int64) int64 { return x & y }
	or := func(x, y int64) int64 { return x | y }
	xor := func(x, y int64) int64 { return x ^ y }
	return []*extension.AggregateFunc{
		{Def: also(def("bool_and", "TRUE when every value is", ex("SELECT bool_and(x > 0) FROM (VALUES (1), (2)) t(x)", "t")), "every"),
			Overloads: []extension.AggregateOverload{folded(boolT, and)}},
		{Def: def("bool_or", "TRUE when any value is", ex("SELECT bool_or(x > 1) FROM (VALUES (1), (2)) t(x)", "t")),
			Overloads: []extension.AggregateOverload{folded(boolT, or)}},
		{Def: def("bit_and", "Bitwise AND of the values", ex("SELECT bit_and(x) FROM (VALUES (12), (10)) t(x)", "8")), Overloads: foldedInts(and)},
		{Def: def("bit_or", "Bitwise OR of the values", ex("SELECT bit_or(x) FROM (VALUES (12), (10)) t(x)", "14")), Overloads: foldedInts(or)},
		{Def: def("bit_xor", "Bitwise exclusive OR of the values", ex("SELECT bit_xor(x) FROM (VALUES (12), (10)) t(x)", "6")), Overloads: foldedInts(xor)},
	}
}

func foldedInts(f func(x, y int64) int64) []extension.AggregateOverload {
	return []extension.AggregateOverload{folded(int2, f), folded(int4, f), folded(int8, f)}
}

func folded(t vec.Type, f func(x, y int64) int64) extension.AggregateOverload {
	return aggregate(signature(t), t, types(t), func() extension.Accumulator { return &fold{t: t, f: f} })
}

// fold combines booleans or integers by an associative function.
type fold struct {
	slots[candidate[int64]]
	t vec.Type
	f func(x, y int64) int64
}

func (a *fold) Update(groups []uint32, args []*vec.Vector, n int) error {
	v := flatOrConstant(args[0])
	if v.Type.Phys() == vec.PhysBool {
		values, mask := fixed[byte](v)
		return a.each(groups, v, n, func(i int) int64 { return int64(values[i&mask]) })
	}
	at := wide(v)
	return a.each(groups, v, n, func(i int) int64 { return int64(at(i).Lo) })
}

func (a *fold) each(groups []uint32, v *vec.Vector, n int, at func(i int) int64) error {
	for i := range n {
		if v.IsNull(i) {
			continue
		}
		s := &a.at[group(groups, i)]
		if s.seen {
			s.value = a.f(s.value, at(i))
		} else {
			*s = candidate[int64]{at(i), true}
		}
	}
	return nil
}

func (a *fold) MergeState(groups []uint32, state []*vec.Vector, n int) error {
	return a.Update(groups, state, n)
}

func (a *fold) SaveState(from, n int) ([]*vec.Vector, error) {
	v, err := a.Result(from, n)
	return []*vec.Vector{v}, err
}

func (a *fold) Result(from, n int) (*vec.Vector, error) {
	out := vec.NewBuilder(a.t, n)
	for _, s := range a.at[from : from+n] {
		out.Append(vec.Value{I: s.value, Null: !s.seen})
	}
	return out.Finish(), nil
}
