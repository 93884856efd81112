package exec

import (
	"fmt"
	"math/rand/v2"
	"testing"
)

// dropping returns the ascending rows of n without a share of them.
func dropping(n int, share float64, rng *rand.Rand) []int32 {
	var sel []int32
	for i := range n {
		if rng.Float64() >= share {
			sel = append(sel, int32(i))
		}
	}
	return sel
}

func TestPickToEqualsGather(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	from := make([]int64, 9000)
	for i := range from {
		from[i] = rng.Int64()
	}
	for _, share := range []float64{0, 0.001, 0.01, 0.05, 0.3, 0.99} {
		for range 50 {
			sel := dropping(rng.IntN(len(from)), share, rng)
			got, want := make([]int64, len(sel)), make([]int64, len(sel))
			pickTo(got, from, sel)
			gatherTo(want, from, sel)
			for i := range want {
				if got[i] != want[i] {
					t.Fatalf("share %v: row %d of %d differs", share, i, len(sel))
				}
			}
		}
	}
}

func BenchmarkPick(b *testing.B) {
	rng := rand.New(rand.NewPCG(1, 2))
	from, dst := make([]int64, 8192), make([]int64, 8192)
	for _, share := range []float64{0.001, 0.01, 0.05, 0.1} {
		sel := dropping(len(from), share, rng)
		for name, pick := range map[string]func(dst, from []int64, sel []int32){"pick": pickTo[int64], "gather": gatherTo[int64]} {
			b.Run(fmt.Sprintf("dead=%v/%s", share, name), func(b *testing.B) {
				for b.Loop() {
					pick(dst, from, sel)
				}
				b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/float64(len(sel)), "ns/row")
			})
		}
	}
}
