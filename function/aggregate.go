package function

import (
	"unsafe"

	"github.com/tidemarkdb/tidemark/extension"
	"github.com/tidemarkdb/tidemark/vec"
)

func aggregateFamily() family {
	f := family{category: "aggregates"}
	for _, part := range [][]*extension.AggregateFunc{
		countAggregates(), sumAggregates(), extremeAggregates(), bitAggregates(), listAggregates(),
		pickAggregates(), varianceAggregates(), regressionAggregates(), orderedAggregates(), sketchAggregates(),
	} {
		f.aggregates = append(f.aggregates, part...)
	}
	return f
}

// aggregate is an overload whose result and state have fixed types.
func aggregate(s extension.Signature, result vec.Type, state []vec.Type, start func() extension.Accumulator) extension.AggregateOverload {
	return aggregateBound(s, func([]extension.Argument) (vec.Type, []vec.Type, func() extension.Accumulator, error) {
		return result, state, start, nil
	})
}

// aggregateBound is an overload whose result, state or accumulator depend on the arguments.
func aggregateBound(s extension.Signature, bind func(args []extension.Argument) (vec.Type, []vec.Type, func() extension.Accumulator, error)) extension.AggregateOverload {
	return extension.AggregateOverload{Signature: s, Bind: func(args []extension.Argument) (extension.BoundAggregate, error) {
		result, state, start, err := bind(args)
		if err != nil {
			return extension.BoundAggregate{}, err
		}
		return extension.BoundAggregate{Result: result, State: state, New: func(*extension.Eval) extension.Accumulator { return start() }}, nil
	}}
}

func types(t ...vec.Type) []vec.Type { return t }

// slots is one state of type T for each group.
type slots[T any] struct{ at []T }

// Grow makes room for groups 0..n-1.
func (s *slots[T]) Grow(n int) {
	if more := n - len(s.at); more > 0 {
		s.at = append(s.at, make([]T, more)...)
	}
}

// MemoryBytes returns the bytes of the states themselves.
func (s *slots[T]) MemoryBytes() int64 {
	var zero T
	return int64(cap(s.at)) * int64(unsafe.Sizeof(zero))
}

// group returns the group of row i.
func group(groups []uint32, i int) int {
	if groups == nil {
		return 0
	}
	return int(groups[i])
}

// collect makes a vector of n values, with NULL where f reports false.
func collect[T vec.Fixed](t vec.Type, n int, f func(i int) (T, bool)) *vec.Vector {
	out := make([]T, n)
	var valid vec.Bitmap
	for i := range out {
		x, ok := f(i)
		if !ok {
			if valid == nil {
				valid = vec.NewFullBitmap(n)
			}
			valid.Clear(i)
			continue
		}
		out[i] = x
	}
	return vec.FlatOf(t, out, valid)
}

// collectDecimal is collect for unscaled NUMERICs of either width.
func collectDecimal(t vec.Type, n int, f func(i int) (vec.Int128, bool, error)) (*vec.Vector, error) {
	out, valid := newDecimalOut(t, n), vec.Bitmap(nil)
	for i := range n {
		x, ok, err := f(i)
		if err != nil {
			return nil, err
		}
		if !ok {
			if valid == nil {
				valid = vec.NewFullBitmap(n)
			}
			valid.Clear(i)
			continue
		}
		if !vec.FitsPrecision(x, int(t.Precision)) {
			return nil, outOfRange(t)
		}
		out.set(i, x)
	}
	v := out.vector()
	v.Valid = valid
	return v, nil
}

// stretches calls f for each run of the rows [0, n) between those in except.
func stretches(n int, except []int32, f func(from, to int)) {
	from := 0
	for _, r := range except {
		if int(r) > from {
			f(from, int(r))
		}
		from = int(r) + 1
	}
	if from < n {
		f(from, n)
	}
}
