package function

import (
	"math/bits"

	"github.com/tidemarkdb/tidemark/extension"
	"github.com/tidemarkdb/tidemark/vec"
)

func sumAggregates() []*extension.AggregateFunc {
	sumType := vec.DecimalType(vec.MaxPrecision, 0)
	return []*extension.AggregateFunc{
		{Def: def("sum", "Sum of the values", ex("SELECT sum(x) FROM (VALUES (1), (2), (3)) t(x)", "6"), ex("SELECT sum(x) FROM (VALUES (1.5), (2.25)) t(x)", "3.75")),
			Overloads: []extension.AggregateOverload{
				aggregate(signature(int2), int8, types(int8, int8), func() extension.Accumulator { return &sumInts[int16]{} }),
				aggregate(signature(int4), int8, types(int8, int8), func() extension.Accumulator { return &sumInts[int32]{} }),
				aggregate(signature(int8), sumType, types(sumType, int8), func() extension.Accumulator { return &sumWide{result: sumType} }),
				aggregateBound(params(decimalParam), func(args []extension.Argument) (vec.Type, []vec.Type, func() extension.Accumulator, error) {
					t := vec.DecimalType(vec.MaxPrecision, int(args[0].Type.Scale))
					return t, types(t, int8), func() extension.Accumulator { return &sumWide{result: t} }, nil
				}),
				aggregate(signature(float4), float4, types(float8, int8), func() extension.Accumulator { return &sumFloats[float32]{result: float4} }),
				aggregate(signature(float8), float8, types(float8, int8), func() extension.Accumulator { return &sumFloats[float64]{result: float8} }),
				aggregate(signature(intervalT), intervalT, types(intervalT, int8), func() extension.Accumulator { return &sumSpans{} }),
			}},
		{Def: also(def("avg", "Arithmetic mean", ex("SELECT avg(x) FROM (VALUES (1), (2), (4)) t(x)", "2.3333333333333333")), "mean"),
			Overloads: []extension.AggregateOverload{
				averageInts(int2), averageInts(int4), averageInts(int8),
				aggregateBound(params(decimalParam), func(args []extension.Argument) (vec.Type, []vec.Type, func() extension.Accumulator, error) {
					return averageOf(args[0].Type)
				}),
				aggregate(signature(float4), float8, types(float8, int8), func() extension.Accumulator { return &sumFloats[float32]{result: float8, mean: true} }),
				aggregate(signature(float8), float8, types(float8, int8), func() extension.Accumulator { return &sumFloats[float64]{result: float8, mean: true} }),
				aggregate(signature(intervalT), intervalT, types(intervalT, int8), func() extension.Accumulator { return &sumSpans{mean: true} }),
			}},
		{Def: def("product", "Product of the values", ex("SELECT product(x) FROM (VALUES (2), (3), (4)) t(x)", "24")),
			Overloads: []extension.AggregateOverload{
				aggregate(signature(float8), float8, types(float8, int8), func() extension.Accumulator { return &product{} }),
			}},
	}
}

func averageInts(t vec.Type) extension.AggregateOverload {
	return aggregateBound(signature(t), func([]extension.Argument) (vec.Type, []vec.Type, func() extension.Accumulator, error) {
		return averageOf(vec.DecimalType(1, 0))
	})
}

// averageOf is the mean of NUMERIC or, with scale 0, integers: the sum is kept at the argument's scale.
func averageOf(t vec.Type) (vec.Type, []vec.Type, func() extension.Accumulator, error) {
	sum := vec.DecimalType(vec.MaxPrecision, int(t.Scale))
	mean := vec.DecimalType(vec.MaxPrecision, max(minDivScale, int(t.Scale)))
	return mean, types(sum, int8), func() extension.Accumulator { return &sumWide{result: sum, mean: &mean} }, nil
}

// partial is a sum of count values.
type partial[T any] struct {
	sum   T
	count int64
}

// sumInts sums SMALLINT and INTEGER in 64 bits: 2^31 values are needed to overflow, so the check is made on merging
// and on the last group's count only.
type sumInts[T int16 | int32] struct{ slots[partial[int64]] }

func (a *sumInts[T]) Update(groups []uint32, args []*vec.Vector, n int) error {
	values, mask := fixed[T](flatOrConstant(args[0]))
	if groups == nil {
		total := int64(0)
		if mask == 0 {
			total = int64(values[0]) * int64(n)
		} else {
			for _, x := range values[:n] {
				total += int64(x)
			}
		}
		a.at[0].sum += total
		a.at[0].count += int64(n)
		return nil
	}
	for i, g := range groups[:n] {
		s := &a.at[g]
		s.sum += int64(values[i&mask])
		s.count++
	}
	return nil
}

// UpdateExcept implements extension.SelectiveAccumulator: all rows are added and some taken back, which wrapping sums
// bear.
func (a *sumInts[T]) UpdateExcept(groups []uint32, args []*vec.Vector, n int, except []int32) error {
	v := flatOrConstant(args[0])
	values, mask := fixed[T](v)
	for _, r := range except {
		s := &a.at[group(groups, int(r))]
		s.sum -= int64(values[int(r)&mask])
		s.count--
	}
	return a.Update(groups, []*vec.Vector{v}, n)
}

func (a *sumInts[T]) MergeState(groups []uint32, state []*vec.Vector, n int) error {
	sums, sm := fixed[int64](flatOrConstant(state[0]))
	counts, cm := fixed[int64](flatOrConstant(state[1]))
	for i := range n {
		s := &a.at[group(groups, i)]
		r := s.sum + sums[i&sm]
		if (s.sum^r)&(sums[i&sm]^r) < 0 {
			return outOfRange(int8)
		}
		s.sum = r
		s.count += counts[i&cm]
	}
	return nil
}

func (a *sumInts[T]) SaveState(from, n int) ([]*vec.Vector, error) {
	return []*vec.Vector{
		collect(int8, n, func(i int) (int64, bool) { return a.at[from+i].sum, true }),
		collect(int8, n, func(i int) (int64, bool) { return a.at[from+i].count, true }),
	}, nil
}

func (a *sumInts[T]) Result(from, n int) (*vec.Vector, error) {
	return collect(int8, n, func(i int) (int64, bool) { return a.at[from+i].sum, a.at[from+i].count > 0 }), nil
}

// sumWide sums unscaled values in 128 bits, with mean set to divide by their count.
type sumWide struct {
	slots[partial[vec.Int128]]
	result vec.Type
	mean   *vec.Type
}

func (a *sumWide) Update(groups []uint32, args []*vec.Vector, n int) error {
	return a.UpdateExcept(groups, args, n, nil)
}

// UpdateExcept implements extension.SelectiveAccumulator.
func (a *sumWide) UpdateExcept(groups []uint32, args []*vec.Vector, n int, except []int32) error {
	v := flatOrConstant(args[0])
	switch v.Type.Phys() {
	case vec.PhysInt16:
		sumNarrow[int16](a, v, groups, n, except)
	case vec.PhysInt32:
		sumNarrow[int32](a, v, groups, n, except)
	case vec.PhysInt64:
		sumNarrow[int64](a, v, groups, n, except)
	default:
		return a.sumAll(v, groups, n, except)
	}
	return nil
}

// sumAll adds 128-bit values, which may overflow: rows in except must not be looked at.
func (a *sumWide) sumAll(v *vec.Vector, groups []uint32, n int, except []int32) (err error) {
	values, mask := fixed[vec.Int128](v)
	stretches(n, except, func(from, to int) {
		for i := from; i < to && err == nil; i++ {
			err = a.add(group(groups, i), values[i&mask], 1)
		}
	})
	return err
}

// sumNarrow adds 64-bit values, of which no number of rows overflows 128 bits. Rows in except are added with the others
// and taken back.
func sumNarrow[T int16 | int32 | int64](a *sumWide, v *vec.Vector, groups []uint32, n int, except []int32) {
	values, mask := fixed[T](v)
	if groups == nil {
		s := &a.at[0]
		if mask == 0 {
			s.sum = vec.AddInt128(s.sum, vec.MulInt64(int64(values[0]), int64(n-len(except))))
		} else {
			s.sum = vec.AddInt128(s.sum, total(values[:n]))
			s.sum = vec.SubInt128(s.sum, totalOf(values, except))
		}
		s.count += int64(n - len(except))
		return
	}
	for i, g := range groups[:n] {
		s, x := &a.at[g], int64(values[i&mask])
		lo, carry := bits.Add64(s.sum.Lo, uint64(x), 0)
		s.sum.Lo, s.sum.Hi = lo, s.sum.Hi+x>>63+int64(carry)
		s.count++
	}
	for _, r := range except {
		s, x := &a.at[groups[r]], int64(values[int(r)&mask])
		lo, borrow := bits.Sub64(s.sum.Lo, uint64(x), 0)
		s.sum.Lo, s.sum.Hi = lo, s.sum.Hi-x>>63-int64(borrow)
		s.count--
	}
}

// total returns the sum of fewer than 2^31 values, of which no row waits for another's carry: next to the sum of all
// bits, which wraps, that of the upper halves is kept. What the first has beyond the second is the sum of the lower
// halves, which fits.
func total[T int16 | int32 | int64](values []T) vec.Int128 {
	var sum, more, high int64
	for len(values) >= 8 {
		v := (*[8]T)(values)
		a, b, c, d := int64(v[0]), int64(v[1]), int64(v[2]), int64(v[3])
		e, f, g, h := int64(v[4]), int64(v[5]), int64(v[6]), int64(v[7])
		sum += a + b + c + d
		more += e + f + g + h
		high += a>>32 + b>>32 + c>>32 + d>>32 + e>>32 + f>>32 + g>>32 + h>>32
		values = values[8:]
	}
	for _, x := range values {
		sum, high = sum+int64(x), high+int64(x)>>32
	}
	return joinTotal(sum+more, high)
}

// totalOf is total of some rows.
func totalOf[T int16 | int32 | int64](values []T, rows []int32) vec.Int128 {
	var sum, high int64
	for _, r := range rows {
		x := int64(values[r])
		sum, high = sum+x, high+x>>32
	}
	return joinTotal(sum, high)
}

// joinTotal makes a sum of its lowest 64 bits and that of the upper halves.
func joinTotal(sum, high int64) vec.Int128 {
	upper := vec.Int128{Lo: uint64(high) << 32, Hi: high >> 32}
	return vec.AddInt128(upper, vec.Int128{Lo: uint64(sum) - upper.Lo})
}

func (a *sumWide) add(g int, x vec.Int128, count int64) error {
	s, ok := vec.AddInt128Checked(a.at[g].sum, x)
	if !ok {
		return outOfRange(a.result)
	}
	a.at[g].sum = s
	a.at[g].count += count
	return nil
}

func (a *sumWide) MergeState(groups []uint32, state []*vec.Vector, n int) error {
	sums, sm := fixed[vec.Int128](flatOrConstant(state[0]))
	counts, cm := fixed[int64](flatOrConstant(state[1]))
	for i := range n {
		if err := a.add(group(groups, i), sums[i&sm], counts[i&cm]); err != nil {
			return err
		}
	}
	return nil
}

func (a *sumWide) SaveState(from, n int) ([]*vec.Vector, error) {
	return []*vec.Vector{
		collect(a.result, n, func(i int) (vec.Int128, bool) { return a.at[from+i].sum, true }),
		collect(int8, n, func(i int) (int64, bool) { return a.at[from+i].count, true }),
	}, nil
}

func (a *sumWide) Result(from, n int) (*vec.Vector, error) {
	t := a.result
	if a.mean != nil {
		t = *a.mean
	}
	up := int(t.Scale) - int(a.result.Scale)
	return collectDecimal(t, n, func(i int) (vec.Int128, bool, error) {
		s := a.at[from+i]
		if s.count == 0 || a.mean == nil {
			return s.sum, s.count > 0, nil
		}
		x, ok := divideDecimal(s.sum, vec.Int128From(s.count), up)
		if !ok {
			return x, false, outOfRange(t)
		}
		return x, true, nil
	})
}
