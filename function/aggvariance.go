package function

import (
	"encoding/binary"
	"math"
	"math/big"
	"math/bits"

	"github.com/tidemarkdb/tidemark/extension"
	"github.com/tidemarkdb/tidemark/vec"
)

// spreadKind says which measure of spread is asked for.
type spreadKind struct {
	sample bool // divide by n-1, not n
	root   bool // the standard deviation
}

func varianceAggregates() []*extension.AggregateFunc {
	return []*extension.AggregateFunc{
		{Def: also(def("stddev_samp", "Standard deviation of a sample", ex("SELECT stddev_samp(x) FROM (VALUES (1::float8), (2), (4)) t(x)", "1.5275252316519468")), "stddev"), Overloads: spreads(spreadKind{true, true})},
		{Def: def("stddev_pop", "Standard deviation of a population", ex("SELECT stddev_pop(x) FROM (VALUES (1::float8), (3)) t(x)", "1")), Overloads: spreads(spreadKind{false, true})},
		{Def: also(def("var_samp", "Variance of a sample, as DOUBLE PRECISION for BIGINT", ex("SELECT var_samp(x) FROM (VALUES (1::float8), (3)) t(x)", "2")), "variance"), Overloads: spreads(spreadKind{true, false})},
		{Def: def("var_pop", "Variance of a population, as DOUBLE PRECISION for BIGINT", ex("SELECT var_pop(x) FROM (VALUES (1::float8), (3)) t(x)", "1")), Overloads: spreads(spreadKind{false, false})},
	}
}

func spreads(kind spreadKind) []extension.AggregateOverload {
	exactly := func(s extension.Signature) extension.AggregateOverload {
		return aggregateBound(s, func(args []extension.Argument) (vec.Type, []vec.Type, func() extension.Accumulator, error) {
			scale := int(args[0].Type.Scale)
			sum := vec.DecimalType(vec.MaxPrecision, 0)
			return spreadType, types(int8, sum, byteaT), func() extension.Accumulator {
				return &exactSpread{kind: kind, scale: scale, sumType: sum}
			}, nil
		})
	}
	wide := exactly(signature(int8))
	if !kind.root { // the square of what lies between two BIGINTs can have more digits than a NUMERIC
		wide = aggregate(signature(int8), float8, types(int8, vec.DecimalType(vec.MaxPrecision, 0), byteaT), func() extension.Accumulator {
			return &exactSpread{kind: kind, sumType: vec.DecimalType(vec.MaxPrecision, 0), rounded: true}
		})
	}
	return []extension.AggregateOverload{
		exactly(signature(int2)), exactly(signature(int4)), wide, exactly(params(decimalParam)),
		aggregate(signature(float8), float8, types(float8, float8, float8), func() extension.Accumulator { return &floatSpread{kind: kind} }),
	}
}

// spreadType is the result for integers and NUMERIC.
var spreadType = vec.DecimalType(vec.MaxPrecision, minDivScale)

// exactSpread sums values and squares exactly, squares in 192 bits: room for 2^64 squares of 64-bit values. Squares
// of wider values go to overflow.
type exactSpread struct {
	slots[moments]
	kind    spreadKind
	scale   int
	sumType vec.Type
	rounded bool // the result is DOUBLE PRECISION
}

type moments struct {
	n       int64
	sum     vec.Int128
	squares [3]uint64 // least significant first
	rest    *big.Int  // squares of values beyond 64 bits
}

func (m *moments) add(x int64) {
	lo, carry := bits.Add64(m.sum.Lo, uint64(x), 0)
	m.sum.Lo, m.sum.Hi = lo, m.sum.Hi+x>>63+int64(carry)
	magnitude := uint64(x)
	if x < 0 {
		magnitude = -magnitude
	}
	hi, lo := bits.Mul64(magnitude, magnitude)
	m.squares[0], carry = bits.Add64(m.squares[0], lo, 0)
	m.squares[1], carry = bits.Add64(m.squares[1], hi, carry)
	m.squares[2] += carry
	m.n++
}

func (m *moments) addWide(x vec.Int128) bool {
	if narrow, ok := x.Int64(); ok {
		m.add(narrow)
		return true
	}
	var ok bool
	m.sum, ok = vec.AddInt128Checked(m.sum, x)
	b := toBig(x)
	if m.rest == nil {
		m.rest = new(big.Int)
	}
	m.rest.Add(m.rest, b.Mul(b, b))
	m.n++
	return ok
}

// sumOfSquares returns all squares.
func (m *moments) sumOfSquares() *big.Int {
	out := new(big.Int).SetUint64(m.squares[2])
	for _, w := range []uint64{m.squares[1], m.squares[0]} {
		out.Lsh(out, 64).Add(out, new(big.Int).SetUint64(w))
	}
	if m.rest != nil {
		out.Add(out, m.rest)
	}
	return out
}

// wordBytes is the size of the sum of squares of 64-bit values; with wider ones it takes more.
const wordBytes = 24

// squareBytes returns the sum of all squares, big-endian.
func (m *moments) squareBytes() []byte {
	if m.rest != nil {
		all := m.sumOfSquares()
		return all.FillBytes(make([]byte, max(wordBytes+1, (all.BitLen()+7)/8)))
	}
	out := make([]byte, 0, wordBytes)
	for i := 2; i >= 0; i-- {
		out = binary.BigEndian.AppendUint64(out, m.squares[i])
	}
	return out
}

// addSquares adds what squareBytes gave. Sums of wordBytes come from 64-bit values, of which there are too few
// for the words to overflow.
func (m *moments) addSquares(b []byte) {
	if len(b) != wordBytes {
		if m.rest == nil {
			m.rest = new(big.Int)
		}
		m.rest.Add(m.rest, new(big.Int).SetBytes(b))
		return
	}
	var carry uint64
	for i := range m.squares {
		m.squares[i], carry = bits.Add64(m.squares[i], binary.BigEndian.Uint64(b[16-8*i:]), carry)
	}
}

func (a *exactSpread) Update(groups []uint32, args []*vec.Vector, n int) error {
	v := flatOrConstant(args[0])
	at := wide(v)
	for i := range n {
		if !a.at[group(groups, i)].addWide(at(i)) {
			return outOfRange(spreadType)
		}
	}
	return nil
}

func (a *exactSpread) MergeState(groups []uint32, state []*vec.Vector, n int) error {
	counts, cm := fixed[int64](flatOrConstant(state[0]))
	sums, sm := fixed[vec.Int128](flatOrConstant(state[1]))
	for i := range n {
		m, ok := &a.at[group(groups, i)], false
		if m.sum, ok = vec.AddInt128Checked(m.sum, sums[i&sm]); !ok {
			return outOfRange(spreadType)
		}
		m.addSquares(state[2].Bytes(i))
		m.n += counts[i&cm]
	}
	return nil
}

func (a *exactSpread) SaveState(from, n int) ([]*vec.Vector, error) {
	squares := vec.NewBuilder(byteaT, n)
	for i := range a.at[from : from+n] {
		squares.AppendBytes(a.at[from+i].squareBytes())
	}
	return []*vec.Vector{
		collect(int8, n, func(i int) (int64, bool) { return a.at[from+i].n, true }),
		collect(a.sumType, n, func(i int) (vec.Int128, bool) { return a.at[from+i].sum, true }),
		squares.Finish(),
	}, nil
}

func (a *exactSpread) Result(from, n int) (*vec.Vector, error) {
	if a.rounded {
		return collect(float8, n, func(i int) (float64, bool) {
			m := &a.at[from+i]
			if m.n == 0 || m.n == 1 && a.kind.sample {
				return 0, false
			}
			return m.varianceFloat(a.kind), true
		}), nil
	}
	return collectDecimal(spreadType, n, func(i int) (vec.Int128, bool, error) {
		m := &a.at[from+i]
		if m.n == 0 || m.n == 1 && a.kind.sample {
			return vec.Int128{}, false, nil
		}
		if x, ok := m.spreadNarrow(a.kind, a.scale); ok {
			return x, true, nil
		}
		x, ok := fromBig(m.spread(a.kind, a.scale))
		if !ok {
			return x, false, outOfRange(spreadType)
		}
		return x, true, nil
	})
}

// variance returns (n*sum(x^2) - sum(x)^2) / (n * (n or n-1)) of the unscaled values.
func (m *moments) variance(kind spreadKind) (numerator, divisor *big.Int) {
	n, sum := big.NewInt(m.n), toBig(m.sum)
	numerator = new(big.Int).Mul(n, m.sumOfSquares())
	numerator.Sub(numerator, sum.Mul(sum, sum))
	divisor = big.NewInt(m.n)
	if kind.sample {
		divisor = big.NewInt(m.n - 1)
	}
	return numerator, divisor.Mul(divisor, n)
}

// spread returns the variance, or its root, at the result's scale.
func (m *moments) spread(kind spreadKind, scale int) *big.Int {
	numerator, divisor := m.variance(kind)
	up := minDivScale
	if kind.root {
		up = 2*minDivScale + 2 // two more digits, so that the root can be rounded
	}
	numerator.Mul(numerator, pow10Big(up))
	divisor.Mul(divisor, pow10Big(2*scale))
	if !kind.root {
		return divRoundBig(numerator, divisor)
	}
	root := numerator.Sqrt(numerator.Quo(numerator, divisor))
	return divRoundBig(root, big.NewInt(10))
}

func pow10Big(n int) *big.Int { return new(big.Int).Exp(big.NewInt(10), big.NewInt(int64(n)), nil) }

// floatSpread follows Youngs and Cramer: n, the sum, and the sum of squared differences from the mean.
type floatSpread struct {
	slots[floatMoments]
	kind spreadKind
}

type floatMoments struct{ n, sum, squares float64 }

func (m *floatMoments) add(x float64) {
	m.n++
	m.sum += x
	if m.n > 1 {
		d := x*m.n - m.sum
		m.squares += d * d / (m.n * (m.n - 1))
	} else if x-x != 0 { // infinite or NaN
		m.squares = math.NaN()
	}
}

func (m *floatMoments) merge(o floatMoments) {
	switch {
	case o.n == 0:
	case m.n == 0:
		*m = o
	default:
		d := m.sum/m.n - o.sum/o.n
		total := m.n + o.n
		m.squares += o.squares + m.n*o.n*d*d/total
		m.n, m.sum = total, m.sum+o.sum
	}
}

func (a *floatSpread) Update(groups []uint32, args []*vec.Vector, n int) error {
	values, mask := fixed[float64](flatOrConstant(args[0]))
	for i := range n {
		a.at[group(groups, i)].add(values[i&mask])
	}
	return nil
}

func (a *floatSpread) MergeState(groups []uint32, state []*vec.Vector, n int) error {
	ns, nm := fixed[float64](flatOrConstant(state[0]))
	sums, sm := fixed[float64](flatOrConstant(state[1]))
	squares, qm := fixed[float64](flatOrConstant(state[2]))
	for i := range n {
		a.at[group(groups, i)].merge(floatMoments{ns[i&nm], sums[i&sm], squares[i&qm]})
	}
	return nil
}

func (a *floatSpread) SaveState(from, n int) ([]*vec.Vector, error) {
	return []*vec.Vector{
		collect(float8, n, func(i int) (float64, bool) { return a.at[from+i].n, true }),
		collect(float8, n, func(i int) (float64, bool) { return a.at[from+i].sum, true }),
		collect(float8, n, func(i int) (float64, bool) { return a.at[from+i].squares, true }),
	}, nil
}

func (a *floatSpread) Result(from, n int) (*vec.Vector, error) {
	return collect(float8, n, func(i int) (float64, bool) {
		m, divisor := a.at[from+i], a.at[from+i].n
		if a.kind.sample {
			divisor--
		}
		if m.n == 0 || divisor <= 0 {
			return 0, false
		}
		x := m.squares / divisor
		if a.kind.root {
			x = math.Sqrt(x)
		}
		return x, true
	}), nil
}
