package function

import (
	"math"
	"math/big"
	"math/rand/v2"
	"testing"

	"github.com/tidemarkdb/tidemark/vec"
)

// TestNarrowSpread compares the spread of small sums with that of big integers, to the last digit.
func TestNarrowSpread(t *testing.T) {
	random := rand.New(rand.NewPCG(3, 9))
	taken := 0
	for range 200_000 {
		var m moments
		limit := int64(1) << random.IntN(40)
		for range 1 + random.IntN(12) {
			m.add(random.Int64N(2*limit+1) - limit)
		}
		kind, scale := spreadKind{sample: random.IntN(2) == 0, root: random.IntN(3) > 0}, random.IntN(10)
		if m.n == 1 && kind.sample {
			continue
		}
		got, ok := m.spreadNarrow(kind, scale)
		if !ok {
			continue
		}
		taken++
		if want := m.spread(kind, scale); toBig(got).Cmp(want) != 0 {
			t.Fatalf("%+v, %+v, scale %d: %s, want %s", m, kind, scale, toBig(got), want)
		}
	}
	if taken < 100_000 {
		t.Errorf("only %d sums were small", taken)
	}
}

// TestVarianceFloat compares the variance as a float with the exact one, for sums of every size.
func TestVarianceFloat(t *testing.T) {
	random := rand.New(rand.NewPCG(4, 9))
	for range 100_000 {
		var m moments
		limit := int64(1) << random.IntN(63)
		for range 2 + random.IntN(12) {
			m.add(random.Int64N(limit) - random.Int64N(limit))
		}
		kind := spreadKind{sample: random.IntN(2) == 0}
		want, _ := new(big.Rat).SetFrac(m.variance(kind)).Float64()
		if got := m.varianceFloat(kind); math.Abs(got-want) > 1e-15*want {
			t.Fatalf("%+v, %+v: %v, want %v", m, kind, got, want)
		}
	}
}

// TestSpreadStates checks that merging saved sums of squares adds them, those of wide values too.
func TestSpreadStates(t *testing.T) {
	wide := vec.Int128{Hi: 1 << 30}
	for _, values := range [][]vec.Int128{
		{vec.Int128From(5), vec.Int128From(math.MinInt64)}, {wide, vec.Int128From(7)}, {vec.Int128From(math.MaxInt64), wide, wide},
	} {
		var merged moments
		want := new(big.Int)
		for range 3 {
			for _, x := range values {
				var one moments
				if !one.addWide(x) {
					t.Fatal("the sum overflows")
				}
				merged.addSquares(one.squareBytes())
				want.Add(want, new(big.Int).Mul(toBig(x), toBig(x)))
			}
		}
		if got := merged.sumOfSquares(); got.Cmp(want) != 0 {
			t.Errorf("%v: %s, want %s", values, got, want)
		}
	}
}

func TestRootOf192Bits(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 1))
	for range 100_000 {
		x := uint192{random.Uint64(), random.Uint64(), random.Uint64()}
		for cut := random.IntN(3); cut > 0; cut-- {
			x[3-cut] = 0
		}
		x[2] >>= 6 + random.IntN(58)
		b := new(big.Int).SetUint64(x[2])
		for _, w := range []uint64{x[1], x[0]} {
			b.Lsh(b, 64).Add(b, new(big.Int).SetUint64(w))
		}
		if got, want := toBig(x.sqrt()), new(big.Int).Sqrt(b); got.Cmp(want) != 0 {
			t.Fatalf("root of %s is %s, want %s", b, got, want)
		}
	}
}
