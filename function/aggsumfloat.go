package function

import "github.com/tidemarkdb/tidemark/vec"

// sumFloats sums in double precision, with mean set to divide by the count.
type sumFloats[T float32 | float64] struct {
	slots[partial[float64]]
	result vec.Type
	mean   bool
}

func (a *sumFloats[T]) Update(groups []uint32, args []*vec.Vector, n int) error {
	return a.UpdateExcept(groups, args, n, nil)
}

// UpdateExcept implements extension.SelectiveAccumulator. What is added to a float cannot be taken back.
func (a *sumFloats[T]) UpdateExcept(groups []uint32, args []*vec.Vector, n int, except []int32) error {
	values, mask := fixed[T](flatOrConstant(args[0]))
	if groups == nil {
		total := a.at[0].sum
		stretches(n, except, func(from, to int) {
			for i := from; i < to; i++ {
				total += float64(values[i&mask])
			}
		})
		a.at[0].sum = total
		a.at[0].count += int64(n - len(except))
		return nil
	}
	stretches(n, except, func(from, to int) {
		for i, g := range groups[from:to] {
			s := &a.at[g]
			s.sum += float64(values[(from+i)&mask])
			s.count++
		}
	})
	return nil
}

func (a *sumFloats[T]) MergeState(groups []uint32, state []*vec.Vector, n int) error {
	sums, sm := fixed[float64](flatOrConstant(state[0]))
	counts, cm := fixed[int64](flatOrConstant(state[1]))
	for i := range n {
		s := &a.at[group(groups, i)]
		s.sum += sums[i&sm]
		s.count += counts[i&cm]
	}
	return nil
}

func (a *sumFloats[T]) SaveState(from, n int) ([]*vec.Vector, error) {
	return []*vec.Vector{
		collect(float8, n, func(i int) (float64, bool) { return a.at[from+i].sum, true }),
		collect(int8, n, func(i int) (int64, bool) { return a.at[from+i].count, true }),
	}, nil
}

func (a *sumFloats[T]) Result(from, n int) (*vec.Vector, error) {
	value := func(i int) (float64, bool) {
		s := a.at[from+i]
		if a.mean && s.count > 0 {
			return s.sum / float64(s.count), true
		}
		return s.sum, s.count > 0
	}
	if a.result.ID == vec.Float32 {
		return collect(float4, n, func(i int) (float32, bool) {
			x, ok := value(i)
			return float32(x), ok
		}), nil
	}
	return collect(float8, n, value), nil
}

type product struct{ slots[partial[float64]] }

func (a *product) multiply(g int, x float64, count int64) {
	s := &a.at[g]
	if s.count == 0 {
		s.sum = 1
	}
	if count > 0 {
		s.sum *= x
		s.count += count
	}
}

func (a *product) Update(groups []uint32, args []*vec.Vector, n int) error {
	values, mask := fixed[float64](flatOrConstant(args[0]))
	for i := range n {
		a.multiply(group(groups, i), values[i&mask], 1)
	}
	return nil
}

func (a *product) MergeState(groups []uint32, state []*vec.Vector, n int) error {
	values, vm := fixed[float64](flatOrConstant(state[0]))
	counts, cm := fixed[int64](flatOrConstant(state[1]))
	for i := range n {
		a.multiply(group(groups, i), values[i&vm], counts[i&cm])
	}
	return nil
}

func (a *product) SaveState(from, n int) ([]*vec.Vector, error) {
	return []*vec.Vector{
		collect(float8, n, func(i int) (float64, bool) { return a.at[from+i].sum, true }),
		collect(int8, n, func(i int) (int64, bool) { return a.at[from+i].count, true }),
	}, nil
}

func (a *product) Result(from, n int) (*vec.Vector, error) {
	return collect(float8, n, func(i int) (float64, bool) { return a.at[from+i].sum, a.at[from+i].count > 0 }), nil
}

// sumSpans sums intervals, with mean set to divide by their count.
type sumSpans struct {
	slots[partial[span]]
	mean bool
}

func (a *sumSpans) add(g int, x span, count int64) (err error) {
	s := &a.at[g]
	s.sum, err = addSpans(s.sum, x)
	s.count += count
	return err
}

func (a *sumSpans) Update(groups []uint32, args []*vec.Vector, n int) error {
	values, mask := fixed[span](flatOrConstant(args[0]))
	for i := range n {
		if err := a.add(group(groups, i), values[i&mask], 1); err != nil {
			return err
		}
	}
	return nil
}

func (a *sumSpans) MergeState(groups []uint32, state []*vec.Vector, n int) error {
	values, vm := fixed[span](flatOrConstant(state[0]))
	counts, cm := fixed[int64](flatOrConstant(state[1]))
	for i := range n {
		if err := a.add(group(groups, i), values[i&vm], counts[i&cm]); err != nil {
			return err
		}
	}
	return nil
}

func (a *sumSpans) SaveState(from, n int) ([]*vec.Vector, error) {
	return []*vec.Vector{
		collect(intervalT, n, func(i int) (span, bool) { return a.at[from+i].sum, true }),
		collect(int8, n, func(i int) (int64, bool) { return a.at[from+i].count, true }),
	}, nil
}

func (a *sumSpans) Result(from, n int) (*vec.Vector, error) {
	out, err := vec.NewBuilder(intervalT, n), error(nil)
	for _, s := range a.at[from : from+n] {
		if s.count == 0 {
			out.AppendNull()
			continue
		}
		x := s.sum
		if a.mean {
			if x, err = divSpan(x, float64(s.count)); err != nil {
				return nil, err
			}
		}
		vec.AppendFixed(out, x)
	}
	return out.Finish(), nil
}
