package function

import (
	"math"
	"slices"
	"unsafe"

	"github.com/tidemarkdb/tidemark/extension"
	"github.com/tidemarkdb/tidemark/vec"
)

func orderedAggregates() []*extension.AggregateFunc {
	data := "FROM (VALUES (1), (2), (4), (8)) t(x)"
	return []*extension.AggregateFunc{
		{Def: def("percentile_cont", "Value at a fraction of the ordered values, interpolated", ex("SELECT percentile_cont(0.5) WITHIN GROUP (ORDER BY x) "+data, "3")),
			OrderedSet: true, OrderSensitive: true,
			Overloads: []extension.AggregateOverload{
				percentile(signature(float8, float8), float8, 0, interpolated), percentile(signature(float8, intervalT), intervalT, 0, interpolated),
				percentile(signature(vec.ArrayType(float8), float8), vec.ArrayType(float8), 0, interpolated),
				percentile(signature(vec.ArrayType(float8), intervalT), vec.ArrayType(intervalT), 0, interpolated),
			}},
		{Def: def("percentile_disc", "First value at or after a fraction of the ordered values", ex("SELECT percentile_disc(0.5) WITHIN GROUP (ORDER BY x) "+data, "2")),
			OrderedSet: true, OrderSensitive: true,
			Overloads: []extension.AggregateOverload{
				percentileDisc(params(exact(float8), elementParam), 0), percentileDisc(params(exact(vec.ArrayType(float8)), elementParam), 0),
			}},
		{Def: def("mode", "Most frequent value, the first of them in order", ex("SELECT mode() WITHIN GROUP (ORDER BY x) FROM (VALUES (1), (2), (2)) t(x)", "2")),
			Overloads: []extension.AggregateOverload{overSorted(params(elementParam), func(args []extension.Argument) (vec.Type, finishSorted) {
				return args[0].Type, func(v *vec.Vector, rows []int32, _ []vec.Value) vec.Value { return mostFrequent(v, rows) }
			})}},
		{Def: def("median", "Middle value; of an even number the mean of the two", ex("SELECT median(x) "+data, "3")),
			Overloads: []extension.AggregateOverload{
				middle(float8), middle(intervalT),
			}},
		{Def: also(def("quantile_cont", "Value at a fraction of the values, interpolated", ex("SELECT quantile_cont(x, 0.5) "+data, "3")), "approx_quantile", "approx_percentile"),
			Overloads: []extension.AggregateOverload{
				percentile(signature(float8, float8), float8, 1, interpolated),
				percentile(signature(float8, vec.ArrayType(float8)), vec.ArrayType(float8), 1, interpolated),
			}},
		{Def: also(def("quantile_disc", "First value at or after a fraction of the values", ex("SELECT quantile_disc(x, 0.5) "+data, "2")), "quantile"),
			Overloads: []extension.AggregateOverload{percentileDisc(params(elementParam, exact(float8)), 1), percentileDisc(params(elementParam, exact(vec.ArrayType(float8))), 1)}},
		{Def: def("entropy", "Shannon entropy of the values' frequencies in bits", ex("SELECT entropy(x) FROM (VALUES (1), (2)) t(x)", "1")),
			Overloads: []extension.AggregateOverload{overSorted(params(anyParam), func([]extension.Argument) (vec.Type, finishSorted) {
				return float8, func(v *vec.Vector, rows []int32, _ []vec.Value) vec.Value { return entropy(v, rows) }
			})}},
	}
}

// finishSorted computes a result from a group's values: v at rows, in order; direct are the direct arguments.
type finishSorted func(v *vec.Vector, rows []int32, direct []vec.Value) vec.Value

// atFraction computes one result at a fraction of the ordered values.
type atFraction func(t vec.Type, v *vec.Vector, rows []int32, fraction float64) vec.Value

// overSorted is an overload of the last argument's values alone.
func overSorted(s extension.Signature, bind func(args []extension.Argument) (vec.Type, finishSorted)) extension.AggregateOverload {
	return aggregateBound(s, func(args []extension.Argument) (vec.Type, []vec.Type, func() extension.Accumulator, error) {
		t, f := bind(args)
		value := args[0].Type
		return t, types(vec.ArrayType(value)), func() extension.Accumulator {
			return &sorted{gathered: newGathered(value, nil), result: t, f: f, direct: -1}
		}, nil
	})
}

func middle(t vec.Type) extension.AggregateOverload {
	return overSorted(signature(t), func([]extension.Argument) (vec.Type, finishSorted) {
		return t, func(v *vec.Vector, rows []int32, _ []vec.Value) vec.Value { return interpolated(t, v, rows, 0.5) }
	})
}

// percentile is an overload with a fraction, or an array of them, as argument value 0 or 1; the other is the values.
func percentile(s extension.Signature, result vec.Type, values int, at atFraction) extension.AggregateOverload {
	return aggregateBound(s, func(args []extension.Argument) (vec.Type, []vec.Type, func() extension.Accumulator, error) {
		return bindPercentile(args, result, 1-values, at)
	})
}

func percentileDisc(s extension.Signature, values int) extension.AggregateOverload {
	return aggregateBound(s, func(args []extension.Argument) (vec.Type, []vec.Type, func() extension.Accumulator, error) {
		result := args[1-values].Type
		if args[values].Type.ID == vec.Array {
			result = vec.ArrayType(result)
		}
		return bindPercentile(args, result, 1-values, discrete)
	})
}

// bindPercentile takes the values from argument place values and the fractions from the other.
func bindPercentile(args []extension.Argument, result vec.Type, values int, at atFraction) (vec.Type, []vec.Type, func() extension.Accumulator, error) {
	value, direct := args[values].Type, args[1-values]
	one := result
	if direct.Type.ID == vec.Array {
		one = *result.Elem
	}
	f := func(v *vec.Vector, rows []int32, given []vec.Value) vec.Value {
		if direct.Type.ID != vec.Array {
			return at(one, v, rows, given[0].F)
		}
		out := vec.Value{Type: result}
		for _, fraction := range given[0].List {
			if fraction.Null {
				out.List = append(out.List, vec.NullValue(one))
			} else {
				out.List = append(out.List, at(one, v, rows, fraction.F))
			}
		}
		return out
	}
	return result, types(vec.ArrayType(value), direct.Type), func() extension.Accumulator {
		return &sorted{gathered: newGathered(value, nil), result: result, f: f, values: values, direct: 1 - values, directType: direct.Type,
			constant: direct.Const}
	}, nil
}

// sorted gathers values and looks at them in order. Values that arrive in order, ascending or descending, keep it
// (WITHIN GROUP says which); others are sorted ascending.
type sorted struct {
	*gathered
	result     vec.Type
	f          finishSorted
	values     int
	direct     int // place of the direct argument, -1 for none
	directType vec.Type
	constant   *vec.Value   // the direct argument where it is the same for all groups
	given      []*vec.Value // by group otherwise, nil before the group's first row
}

func (a *sorted) Grow(n int) {
	a.gathered.Grow(n)
	if a.direct >= 0 && a.constant == nil && n > len(a.given) {
		a.given = append(a.given, make([]*vec.Value, n-len(a.given))...)
	}
}

func (a *sorted) MemoryBytes() int64 {
	return a.gathered.MemoryBytes() + int64(cap(a.given))*int64(unsafe.Sizeof(vec.Value{}))
}

func (a *sorted) Update(groups []uint32, args []*vec.Vector, n int) error {
	if err := a.take(groups, args, a.direct, n); err != nil {
		return err
	}
	return a.gathered.Update(groups, args[a.values:a.values+1], n)
}

// take keeps the direct argument, column at of cols, of groups that have none yet.
func (a *sorted) take(groups []uint32, cols []*vec.Vector, at, n int) error {
	if len(a.given) == 0 {
		return nil
	}
	for i := range n {
		g := group(groups, i)
		if a.given[g] != nil || cols[at].IsNull(i) {
			continue
		}
		v := cols[at].Value(i)
		if err := checkFractions(v); err != nil {
			return err
		}
		a.given[g] = &v
	}
	return nil
}

func checkFractions(v vec.Value) error {
	fractions := v.List
	if v.Type.ID != vec.Array {
		fractions = []vec.Value{v}
	}
	for _, f := range fractions {
		if !f.Null && !(f.F >= 0 && f.F <= 1) {
			return outOfUnit(f.F)
		}
	}
	return nil
}

func (a *sorted) MergeState(groups []uint32, state []*vec.Vector, n int) error {
	if err := a.take(groups, state, 1, n); err != nil {
		return err
	}
	return a.gathered.MergeState(groups, state[:1], n)
}

func (a *sorted) SaveState(from, n int) ([]*vec.Vector, error) {
	out := []*vec.Vector{a.arrays(from, n)}
	if a.direct < 0 {
		return out, nil
	}
	given := vec.NewBuilder(a.directType, n)
	for g := from; g < from+n; g++ {
		if v := a.of(g); v != nil {
			given.Append(*v)
		} else {
			given.AppendNull()
		}
	}
	return append(out, given.Finish()), nil
}

// of is the direct argument of group g, nil while none is known.
func (a *sorted) of(g int) *vec.Value {
	if a.constant != nil {
		return a.constant
	}
	return a.given[g]
}

func (a *sorted) Result(from, n int) (*vec.Vector, error) {
	if a.constant != nil {
		if err := checkFractions(*a.constant); err != nil {
			return nil, err
		}
	}
	v, out := a.store.vector(), vec.NewBuilder(a.result, n)
	order := vec.RowOrder(v)
	for i, s := range a.at[from : from+n] {
		var direct []vec.Value
		if a.direct >= 0 {
			given := a.of(from + i)
			if given == nil || given.Null {
				out.AppendNull()
				continue
			}
			direct = []vec.Value{*given}
		}
		if len(s.rows) == 0 {
			out.AppendNull()
			continue
		}
		out.Append(a.f(v, inOrder(s.rows, order), direct))
	}
	return out.Finish(), nil
}

func inOrder(rows []int32, order func(a, b int32) int) []int32 {
	backward := func(a, b int32) int { return order(b, a) }
	if slices.IsSortedFunc(rows, order) || slices.IsSortedFunc(rows, backward) {
		return rows
	}
	rows = slices.Clone(rows)
	slices.SortStableFunc(rows, order)
	return rows
}

func outOfUnit(f float64) error {
	return invalidFraction("percentile value %v is not between 0 and 1", f)
}

func interpolated(t vec.Type, v *vec.Vector, rows []int32, fraction float64) vec.Value {
	place := fraction * float64(len(rows)-1)
	low, high := math.Floor(place), math.Ceil(place)
	a, b := v.Value(int(rows[int(low)])), v.Value(int(rows[int(high)]))
	if low == high {
		a.Type = t
		return a
	}
	if t.ID == vec.Interval {
		diff, err := subSpans(b.Span, a.Span)
		if err == nil {
			if diff, err = mulSpan(diff, place-low); err == nil {
				a.Span, err = addSpans(a.Span, diff)
			}
		}
		a.Null = err != nil
		return a
	}
	return vec.FloatValue(t, a.F+(place-low)*(b.F-a.F))
}

func discrete(t vec.Type, v *vec.Vector, rows []int32, fraction float64) vec.Value {
	place := max(int(math.Ceil(fraction*float64(len(rows))))-1, 0)
	out := v.Value(int(rows[place]))
	out.Type = t
	return out
}

// runs calls f with a row of each run of equal values and the run's length.
func runs(v *vec.Vector, rows []int32, f func(row int32, length int)) {
	equal := EqualRows(v.Type)
	for start := 0; start < len(rows); {
		end := start + 1
		for end < len(rows) && equal(v, int(rows[start]), v, int(rows[end])) {
			end++
		}
		f(rows[start], end-start)
		start = end
	}
}

func mostFrequent(v *vec.Vector, rows []int32) vec.Value {
	best, longest := rows[0], 0
	runs(v, rows, func(row int32, length int) {
		if length > longest {
			best, longest = row, length
		}
	})
	return v.Value(int(best))
}

func entropy(v *vec.Vector, rows []int32) vec.Value {
	sum, total := 0.0, float64(len(rows))
	runs(v, rows, func(_ int32, length int) {
		p := float64(length) / total
		sum -= p * math.Log2(p)
	})
	return vec.FloatValue(float8, sum)
}
