package function

import (
	"bytes"

	"github.com/tidemarkdb/tidemark/extension"
	"github.com/tidemarkdb/tidemark/vec"
)

func extremeAggregates() []*extension.AggregateFunc {
	return []*extension.AggregateFunc{
		{Def: def("min", "Least value", ex("SELECT min(x) FROM (VALUES (3), (1), (2)) t(x)", "1")), Overloads: extremes(false)},
		{Def: def("max", "Greatest value", ex("SELECT max(x) FROM (VALUES ('a'), ('c'), ('b')) t(x)", "c")), Overloads: extremes(true)},
	}
}

func extremes(greatest bool) []extension.AggregateOverload {
	return []extension.AggregateOverload{aggregateBound(params(elementParam), func(args []extension.Argument) (vec.Type, []vec.Type, func() extension.Accumulator, error) {
		t := args[0].Type
		return t, types(t), func() extension.Accumulator { return newExtreme(t, greatest) }, nil
	})}
}

func newExtreme(t vec.Type, greatest bool) extension.Accumulator {
	switch t.Phys() {
	case vec.PhysBool:
		return &extreme[byte]{t: t, greatest: greatest}
	case vec.PhysInt16:
		return &extreme[int16]{t: t, greatest: greatest}
	case vec.PhysInt32:
		return &extreme[int32]{t: t, greatest: greatest}
	case vec.PhysInt64:
		return &extreme[int64]{t: t, greatest: greatest}
	case vec.PhysFloat32:
		return &extreme[float32]{t: t, greatest: greatest}
	case vec.PhysFloat64:
		return &extreme[float64]{t: t, greatest: greatest}
	case vec.PhysBytes:
		return &extremeText{t: t, greatest: greatest}
	case vec.PhysInt128:
		if t.ID == vec.Decimal {
			return &extremeWide{t: t, greatest: greatest}
		}
	}
	return &extremeValue{t: t, greatest: greatest}
}

// candidate is the best value so far, if there was one.
type candidate[T any] struct {
	value T
	seen  bool
}

// extreme keeps the least or greatest of fixed-width values.
type extreme[T byte | int16 | int32 | int64 | float32 | float64] struct {
	slots[candidate[T]]
	t        vec.Type
	greatest bool
}

// beats reports x < y, or x > y for the greatest; NaN is above every other float.
func (a *extreme[T]) beats(x, y T) bool {
	if a.greatest {
		return x > y || x != x && y == y
	}
	return x < y || y != y && x == x
}

func (a *extreme[T]) Update(groups []uint32, args []*vec.Vector, n int) error {
	return a.fold(groups, args[0], n, false)
}

// UpdateExcept implements extension.SelectiveAccumulator.
func (a *extreme[T]) UpdateExcept(groups []uint32, args []*vec.Vector, n int, except []int32) error {
	values, mask := fixed[T](flatOrConstant(args[0]))
	stretches(n, except, func(from, to int) {
		if groups == nil {
			a.offer(0, a.best(values, mask, from, to))
			return
		}
		for i, g := range groups[from:to] {
			a.offer(int(g), values[(from+i)&mask])
		}
	})
	return nil
}

// best returns the best of rows [from, to), of which there is one.
func (a *extreme[T]) best(values []T, mask, from, to int) T {
	best := values[from&mask]
	if mask != 0 {
		for _, x := range values[from+1 : to] {
			if a.beats(x, best) {
				best = x
			}
		}
	}
	return best
}

// offer gives group g another value.
func (a *extreme[T]) offer(g int, x T) {
	if s := &a.at[g]; !s.seen || a.beats(x, s.value) {
		*s = candidate[T]{x, true}
	}
}

func (a *extreme[T]) MergeState(groups []uint32, state []*vec.Vector, n int) error {
	return a.fold(groups, state[0], n, state[0].MayHaveNulls())
}

func (a *extreme[T]) fold(groups []uint32, v *vec.Vector, n int, nulls bool) error {
	v = flatOrConstant(v)
	values, mask := fixed[T](v)
	if groups == nil && !nulls && n > 0 {
		a.offer(0, a.best(values, mask, 0, n))
		return nil
	}
	for i := range n {
		if nulls && v.IsNull(i) {
			continue
		}
		a.offer(group(groups, i), values[i&mask])
	}
	return nil
}

func (a *extreme[T]) SaveState(from, n int) ([]*vec.Vector, error) {
	v, err := a.Result(from, n)
	return []*vec.Vector{v}, err
}

func (a *extreme[T]) Result(from, n int) (*vec.Vector, error) {
	return collect(a.t, n, func(i int) (T, bool) { return a.at[from+i].value, a.at[from+i].seen }), nil
}

// extremeText keeps the least or greatest byte string, reusing a group's buffer.
type extremeText struct {
	slots[candidate[[]byte]]
	t        vec.Type
	greatest bool
	held     int64
}

func (a *extremeText) MemoryBytes() int64 { return a.slots.MemoryBytes() + a.held }

func (a *extremeText) Update(groups []uint32, args []*vec.Vector, n int) error {
	v := args[0]
	for i := range n {
		a.offer(group(groups, i), v.Bytes(i))
	}
	return nil
}

func (a *extremeText) offer(g int, x []byte) {
	s := &a.at[g]
	if s.seen {
		if c := bytes.Compare(x, s.value); c == 0 || (c > 0) != a.greatest {
			return
		}
	}
	a.held -= int64(cap(s.value))
	s.value, s.seen = append(s.value[:0], x...), true
	a.held += int64(cap(s.value))
}

func (a *extremeText) MergeState(groups []uint32, state []*vec.Vector, n int) error {
	for i := range n {
		if !state[0].IsNull(i) {
			a.offer(group(groups, i), state[0].Bytes(i))
		}
	}
	return nil
}

func (a *extremeText) SaveState(from, n int) ([]*vec.Vector, error) {
	v, err := a.Result(from, n)
	return []*vec.Vector{v}, err
}

func (a *extremeText) Result(from, n int) (*vec.Vector, error) {
	out := vec.NewBuilder(a.t, n)
	for _, s := range a.at[from : from+n] {
		if out.BytesLen()+len(s.value) > vec.MaxBytes {
			return nil, resultTooLong()
		}
		if s.seen {
			out.AppendBytes(s.value)
		} else {
			out.AppendNull()
		}
	}
	return out.Finish(), nil
}

// extremeWide keeps the least or greatest NUMERIC of more than 18 digits.
type extremeWide struct {
	slots[candidate[vec.Int128]]
	t        vec.Type
	greatest bool
}

// offer gives group g another value.
func (a *extremeWide) offer(g int, x vec.Int128) {
	s := &a.at[g]
	if s.seen {
		if c := vec.CompareInt128(x, s.value); c == 0 || (c > 0) != a.greatest {
			return
		}
	}
	*s = candidate[vec.Int128]{x, true}
}

func (a *extremeWide) Update(groups []uint32, args []*vec.Vector, n int) error {
	return a.UpdateExcept(groups, args, n, nil)
}

// UpdateExcept implements extension.SelectiveAccumulator.
func (a *extremeWide) UpdateExcept(groups []uint32, args []*vec.Vector, n int, except []int32) error {
	values, mask := fixed[vec.Int128](flatOrConstant(args[0]))
	stretches(n, except, func(from, to int) {
		for i := from; i < to; i++ {
			a.offer(group(groups, i), values[i&mask])
		}
	})
	return nil
}

func (a *extremeWide) MergeState(groups []uint32, state []*vec.Vector, n int) error {
	v := flatOrConstant(state[0])
	values, mask := fixed[vec.Int128](v)
	nulls := v.MayHaveNulls()
	for i := range n {
		if !nulls || !v.IsNull(i) {
			a.offer(group(groups, i), values[i&mask])
		}
	}
	return nil
}

func (a *extremeWide) SaveState(from, n int) ([]*vec.Vector, error) {
	v, err := a.Result(from, n)
	return []*vec.Vector{v}, err
}

func (a *extremeWide) Result(from, n int) (*vec.Vector, error) {
	return collect(a.t, n, func(i int) (vec.Int128, bool) { return a.at[from+i].value, a.at[from+i].seen }), nil
}

// extremeValue keeps the least or greatest value of the other types.
type extremeValue struct {
	slots[candidate[vec.Value]]
	t        vec.Type
	greatest bool
}

func (a *extremeValue) Update(groups []uint32, args []*vec.Vector, n int) error {
	for i := range n {
		if args[0].IsNull(i) {
			continue
		}
		x, s := args[0].Value(i), &a.at[group(groups, i)]
		if s.seen {
			if c := vec.Compare(x, s.value); c == 0 || (c > 0) != a.greatest {
				continue
			}
		}
		s.value, s.seen = x, true
	}
	return nil
}

func (a *extremeValue) MergeState(groups []uint32, state []*vec.Vector, n int) error {
	return a.Update(groups, state, n)
}

func (a *extremeValue) SaveState(from, n int) ([]*vec.Vector, error) {
	v, err := a.Result(from, n)
	return []*vec.Vector{v}, err
}

func (a *extremeValue) Result(from, n int) (*vec.Vector, error) {
	return candidates(a.t, a.at[from:from+n]), nil
}

func candidates(t vec.Type, all []candidate[vec.Value]) *vec.Vector {
	out := vec.NewBuilder(t, len(all))
	for _, s := range all {
		if s.seen {
			out.Append(s.value)
		} else {
			out.AppendNull()
		}
	}
	return out.Finish()
}
