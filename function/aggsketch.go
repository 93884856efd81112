package function

import (
	"math"
	"math/bits"

	"github.com/tidemarkdb/tidemark/extension"
	"github.com/tidemarkdb/tidemark/vec"
)

func sketchAggregates() []*extension.AggregateFunc {
	return []*extension.AggregateFunc{
		{Def: also(def("approx_count_distinct", "Estimate how many different values there are, within about 1 %", ex("SELECT approx_count_distinct(x) FROM (VALUES (1), (2), (2)) t(x)", "2")), "approx_distinct"),
			Overloads: []extension.AggregateOverload{aggregate(params(anyParam), int8, types(byteaT), func() extension.Accumulator { return &distinctSketch{} })}},
		{Def: def("skewness", "Skewness of a sample", ex("SELECT skewness(x) FROM (VALUES (1), (2), (3)) t(x)", "0")),
			Overloads: []extension.AggregateOverload{aggregate(signature(float8), float8, types(vec.ArrayType(float8)), func() extension.Accumulator { return &shape{f: skewness} })}},
		{Def: def("kurtosis", "Excess kurtosis of a sample", ex("SELECT kurtosis(x) FROM (VALUES (1), (2), (3), (4)) t(x)", "-1.200000000000001")),
			Overloads: []extension.AggregateOverload{aggregate(signature(float8), float8, types(vec.ArrayType(float8)), func() extension.Accumulator { return &shape{f: kurtosis} })}},
	}
}

// A HyperLogLog of 2^13 registers estimates within 1.15 % (Flajolet et al., "HyperLogLog", 2007); the estimator is
// Ertl's, which needs no bias table ("New cardinality estimation algorithms", 2017, algorithm 6).
const (
	sketchBits      = 13
	sketchRegisters = 1 << sketchBits
)

type distinctSketch struct{ slots[[]byte] }

func (a *distinctSketch) MemoryBytes() int64 {
	size := a.slots.MemoryBytes()
	for _, s := range a.at {
		size += int64(cap(s))
	}
	return size
}

func (a *distinctSketch) registers(g int) []byte {
	if a.at[g] == nil {
		a.at[g] = make([]byte, sketchRegisters)
	}
	return a.at[g]
}

func (a *distinctSketch) Update(groups []uint32, args []*vec.Vector, n int) error {
	hashes := make([]uint64, n)
	HashInto(args[0], n, hashes)
	for i, h := range hashes {
		r := a.registers(group(groups, i))
		h = mix(h)
		rank := byte(bits.LeadingZeros64(h<<sketchBits|1<<(sketchBits-1)) + 1)
		if k := h >> (64 - sketchBits); rank > r[k] {
			r[k] = rank
		}
	}
	return nil
}

func (a *distinctSketch) MergeState(groups []uint32, state []*vec.Vector, n int) error {
	for i := range n {
		if state[0].IsNull(i) {
			continue
		}
		r := a.registers(group(groups, i))
		for k, rank := range state[0].Bytes(i) {
			r[k] = max(r[k], rank)
		}
	}
	return nil
}

func (a *distinctSketch) SaveState(from, n int) ([]*vec.Vector, error) {
	out := newTextOut(n, 0)
	for _, s := range a.at[from : from+n] {
		if s == nil {
			out.null(n)
			continue
		}
		out.data = append(out.data, s...)
		if err := out.end(); err != nil {
			return nil, err
		}
	}
	return []*vec.Vector{out.vector(byteaT)}, nil
}

func (a *distinctSketch) Result(from, n int) (*vec.Vector, error) {
	return collect(int8, n, func(i int) (int64, bool) { return sketchEstimate(a.at[from+i]), true }), nil
}

func sketchEstimate(registers []byte) int64 {
	if registers == nil {
		return 0
	}
	const maxRank = 64 - sketchBits + 1
	var counts [maxRank + 1]int
	for _, r := range registers {
		counts[r]++
	}
	const m = float64(sketchRegisters)
	z := m * tau(1-float64(counts[maxRank])/m)
	for k := maxRank - 1; k >= 1; k-- {
		z = (z + float64(counts[k])) / 2
	}
	z += m * sigma(float64(counts[0])/m)
	return int64(math.Round(m * m / (2 * math.Ln2 * z)))
}

func sigma(x float64) float64 {
	if x == 1 {
		return math.Inf(1)
	}
	y, z := 1.0, x
	for {
		x *= x
		before := z
		z += x * y
		y += y
		if z == before {
			return z
		}
	}
}

func tau(x float64) float64 {
	if x == 0 || x == 1 {
		return 0
	}
	y, z := 1.0, 1-x
	for {
		x = math.Sqrt(x)
		before := z
		y /= 2
		z -= (1 - x) * (1 - x) * y
		if z == before {
			return z / 3
		}
	}
}

// shape keeps the sums of the first four powers.
type shape struct {
	slots[powers]
	f func(p powers) (float64, bool)
}

type powers [5]float64 // n, sum x, x^2, x^3, x^4

func (a *shape) Update(groups []uint32, args []*vec.Vector, n int) error {
	values, mask := fixed[float64](flatOrConstant(args[0]))
	for i := range n {
		p, x := &a.at[group(groups, i)], values[i&mask]
		p[0]++
		p[1] += x
		p[2] += x * x
		p[3] += x * x * x
		p[4] += x * x * x * x
	}
	return nil
}

func (a *shape) MergeState(groups []uint32, state []*vec.Vector, n int) error {
	for i := range n {
		for k, x := range state[0].Value(i).List {
			a.at[group(groups, i)][k] += x.F
		}
	}
	return nil
}

func (a *shape) SaveState(from, n int) ([]*vec.Vector, error) {
	out := vec.NewBuilder(vec.ArrayType(float8), n)
	for _, p := range a.at[from : from+n] {
		for _, x := range p {
			vec.AppendFixed(out.Elements(), x)
		}
		out.EndList()
	}
	return []*vec.Vector{out.Finish()}, nil
}

func (a *shape) Result(from, n int) (*vec.Vector, error) {
	return collect(float8, n, func(i int) (float64, bool) { return a.f(a.at[from+i]) }), nil
}

func skewness(p powers) (float64, bool) {
	n := p[0]
	if n <= 2 {
		return 0, false
	}
	mean := p[1] / n
	variance := p[2]/n - mean*mean
	if variance <= 0 {
		return math.NaN(), true
	}
	third := p[3]/n - 3*mean*p[2]/n + 2*mean*mean*mean
	return math.Sqrt(n*(n-1)) / (n - 2) * third / math.Pow(variance, 1.5), true
}

func kurtosis(p powers) (float64, bool) {
	n := p[0]
	if n <= 3 {
		return 0, false
	}
	mean := p[1] / n
	m2 := p[2]/n - mean*mean
	m4 := p[4]/n - 4*mean*p[3]/n + 6*mean*mean*p[2]/n - 3*mean*mean*mean*mean
	if m2 <= 0 {
		return math.NaN(), true
	}
	return (n - 1) * ((n+1)*m4/(m2*m2) - 3*(n-1)) / ((n - 2) * (n - 3)), true
}
