package function

import (
	"github.com/tidemarkdb/tidemark/extension"
	"github.com/tidemarkdb/tidemark/vec"
)

func countAggregates() []*extension.AggregateFunc {
	start := func() extension.Accumulator { return &count{} }
	return []*extension.AggregateFunc{
		{Def: def("count", "Count rows; with an argument those where it is not NULL", ex("SELECT count(*) FROM (VALUES (1), (NULL)) t(x)", "2"), ex("SELECT count(x) FROM (VALUES (1), (NULL)) t(x)", "1")),
			Overloads: []extension.AggregateOverload{
				aggregate(signature(), int8, types(int8), start),
				aggregate(params(anyParam), int8, types(int8), start),
			}},
		{Def: also(def("count_if", "Count the rows where the argument is TRUE", ex("SELECT count_if(x > 1) FROM (VALUES (1), (2), (3)) t(x)", "2")), "countif"),
			Overloads: []extension.AggregateOverload{
				aggregate(signature(boolT), int8, types(int8), func() extension.Accumulator { return &countIf{} }),
			}},
	}
}

type count struct{ slots[int64] }

func (a *count) Update(groups []uint32, _ []*vec.Vector, n int) error {
	if groups == nil {
		a.at[0] += int64(n)
		return nil
	}
	for _, g := range groups[:n] {
		a.at[g]++
	}
	return nil
}

// UpdateExcept implements extension.SelectiveAccumulator: rows are counted and taken back.
func (a *count) UpdateExcept(groups []uint32, args []*vec.Vector, n int, except []int32) error {
	if groups == nil {
		a.at[0] += int64(n - len(except))
		return nil
	}
	for _, r := range except {
		a.at[groups[r]]--
	}
	return a.Update(groups, args, n)
}

func (a *count) MergeState(groups []uint32, state []*vec.Vector, n int) error {
	counts, mask := fixed[int64](flatOrConstant(state[0]))
	for i := range n {
		a.at[group(groups, i)] += counts[i&mask]
	}
	return nil
}

func (a *count) SaveState(from, n int) ([]*vec.Vector, error) {
	v, err := a.Result(from, n)
	return []*vec.Vector{v}, err
}

func (a *count) Result(from, n int) (*vec.Vector, error) {
	return vec.FlatOf(int8, append([]int64(nil), a.at[from:from+n]...), nil), nil
}

type countIf struct{ count }

func (a *countIf) Update(groups []uint32, args []*vec.Vector, n int) error {
	truth, mask := fixed[byte](flatOrConstant(args[0]))
	if groups == nil {
		total := 0
		for i := range n {
			total += int(truth[i&mask])
		}
		a.at[0] += int64(total)
		return nil
	}
	for i, g := range groups[:n] {
		a.at[g] += int64(truth[i&mask])
	}
	return nil
}

// UpdateExcept implements extension.SelectiveAccumulator.
func (a *countIf) UpdateExcept(groups []uint32, args []*vec.Vector, n int, except []int32) error {
	v := flatOrConstant(args[0])
	truth, mask := fixed[byte](v)
	for _, r := range except {
		a.at[group(groups, int(r))] -= int64(truth[int(r)&mask])
	}
	return a.Update(groups, []*vec.Vector{v}, n)
}
