package function

import (
	"math"

	"github.com/tidemarkdb/tidemark/extension"
	"github.com/tidemarkdb/tidemark/vec"
)

// pairMoments are the sums behind covariance, correlation and linear regression of y on x: counts, sums, and sums of
// products of differences from the means.
type pairMoments struct{ n, sx, sxx, sy, syy, sxy float64 }

func (m *pairMoments) add(y, x float64) {
	m.n++
	m.sx += x
	m.sy += y
	if m.n > 1 {
		dx, dy := x*m.n-m.sx, y*m.n-m.sy
		scale := 1 / (m.n * (m.n - 1))
		m.sxx += dx * dx * scale
		m.syy += dy * dy * scale
		m.sxy += dx * dy * scale
		return
	}
	if x-x != 0 {
		m.sxx, m.sxy = math.NaN(), math.NaN()
	}
	if y-y != 0 {
		m.syy, m.sxy = math.NaN(), math.NaN()
	}
}

func (m *pairMoments) merge(o pairMoments) {
	switch {
	case o.n == 0:
	case m.n == 0:
		*m = o
	default:
		n := m.n + o.n
		dx, dy := m.sx/m.n-o.sx/o.n, m.sy/m.n-o.sy/o.n
		scale := m.n * o.n / n
		*m = pairMoments{n, m.sx + o.sx, m.sxx + o.sxx + scale*dx*dx, m.sy + o.sy, m.syy + o.syy + scale*dy*dy, m.sxy + o.sxy + scale*dx*dy}
	}
}

func (m *pairMoments) fields() []*float64 {
	return []*float64{&m.n, &m.sx, &m.sxx, &m.sy, &m.syy, &m.sxy}
}

func regressionAggregates() []*extension.AggregateFunc {
	over := func(f func(m pairMoments) (float64, bool)) []extension.AggregateOverload {
		return []extension.AggregateOverload{aggregate(signature(float8, float8), float8, types(float8, float8, float8, float8, float8, float8),
			func() extension.Accumulator { return &regression{f: f} })}
	}
	data := "FROM (VALUES (1, 1), (2, 3), (4, 4)) t(y, x)"
	return []*extension.AggregateFunc{
		{Def: def("covar_pop", "Covariance of a population", ex("SELECT covar_pop(y, x) FROM (VALUES (1, 1), (3, 5)) t(y, x)", "2")), Overloads: over(func(m pairMoments) (float64, bool) { return m.sxy / m.n, m.n > 0 })},
		{Def: def("covar_samp", "Covariance of a sample", ex("SELECT covar_samp(y, x) FROM (VALUES (1, 1), (3, 5)) t(y, x)", "4")), Overloads: over(func(m pairMoments) (float64, bool) { return m.sxy / (m.n - 1), m.n > 1 })},
		{Def: def("corr", "Correlation coefficient", ex("SELECT corr(y, x) FROM (VALUES (1, 1), (3, 5)) t(y, x)", "1")), Overloads: over(func(m pairMoments) (float64, bool) {
			return m.sxy / math.Sqrt(m.sxx*m.syy), m.n > 0 && m.sxx != 0 && m.syy != 0
		})},
		{Def: def("regr_count", "Number of pairs without NULL", ex("SELECT regr_count(y, x) "+data, "3")), Overloads: []extension.AggregateOverload{
			aggregate(signature(float8, float8), int8, types(int8), func() extension.Accumulator { return &count{} })}},
		{Def: def("regr_avgx", "Mean of the second argument", ex("SELECT regr_avgx(y, x) FROM (VALUES (1, 2), (3, 4)) t(y, x)", "3")), Overloads: over(func(m pairMoments) (float64, bool) { return m.sx / m.n, m.n > 0 })},
		{Def: def("regr_avgy", "Mean of the first argument", ex("SELECT regr_avgy(y, x) FROM (VALUES (1, 2), (3, 4)) t(y, x)", "2")), Overloads: over(func(m pairMoments) (float64, bool) { return m.sy / m.n, m.n > 0 })},
		{Def: def("regr_sxx", "Sum of squares of the second argument", ex("SELECT regr_sxx(y, x) FROM (VALUES (1, 2), (3, 4)) t(y, x)", "2")), Overloads: over(func(m pairMoments) (float64, bool) { return m.sxx, m.n > 0 })},
		{Def: def("regr_syy", "Sum of squares of the first argument", ex("SELECT regr_syy(y, x) FROM (VALUES (1, 2), (3, 4)) t(y, x)", "2")), Overloads: over(func(m pairMoments) (float64, bool) { return m.syy, m.n > 0 })},
		{Def: def("regr_sxy", "Sum of products", ex("SELECT regr_sxy(y, x) FROM (VALUES (1, 2), (3, 4)) t(y, x)", "2")), Overloads: over(func(m pairMoments) (float64, bool) { return m.sxy, m.n > 0 })},
		{Def: def("regr_slope", "Slope of the line of best fit", ex("SELECT regr_slope(y, x) FROM (VALUES (1, 1), (3, 5)) t(y, x)", "0.5")), Overloads: over(func(m pairMoments) (float64, bool) { return m.sxy / m.sxx, m.n > 0 && m.sxx != 0 })},
		{Def: def("regr_intercept", "Intercept of the line of best fit", ex("SELECT regr_intercept(y, x) FROM (VALUES (1, 1), (3, 5)) t(y, x)", "0.5")), Overloads: over(func(m pairMoments) (float64, bool) {
			return (m.sy - m.sx*m.sxy/m.sxx) / m.n, m.n > 0 && m.sxx != 0
		})},
		{Def: def("regr_r2", "Square of the correlation coefficient", ex("SELECT regr_r2(y, x) FROM (VALUES (1, 1), (3, 5)) t(y, x)", "1")), Overloads: over(func(m pairMoments) (float64, bool) {
			if m.syy == 0 {
				return 1, m.n > 0 && m.sxx != 0
			}
			return m.sxy * m.sxy / (m.sxx * m.syy), m.n > 0 && m.sxx != 0
		})},
	}
}

type regression struct {
	slots[pairMoments]
	f func(m pairMoments) (float64, bool)
}

func (a *regression) Update(groups []uint32, args []*vec.Vector, n int) error {
	ys, ym := fixed[float64](flatOrConstant(args[0]))
	xs, xm := fixed[float64](flatOrConstant(args[1]))
	for i := range n {
		a.at[group(groups, i)].add(ys[i&ym], xs[i&xm])
	}
	return nil
}

func (a *regression) MergeState(groups []uint32, state []*vec.Vector, n int) error {
	for i := range n {
		var o pairMoments
		for k, f := range o.fields() {
			*f = state[k].Value(i).F
		}
		a.at[group(groups, i)].merge(o)
	}
	return nil
}

func (a *regression) SaveState(from, n int) ([]*vec.Vector, error) {
	var out []*vec.Vector
	for k := range (&pairMoments{}).fields() {
		out = append(out, collect(float8, n, func(i int) (float64, bool) { return *a.at[from+i].fields()[k], true }))
	}
	return out, nil
}

func (a *regression) Result(from, n int) (*vec.Vector, error) {
	return collect(float8, n, func(i int) (float64, bool) { return a.f(a.at[from+i]) }), nil
}
