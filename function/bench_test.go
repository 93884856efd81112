package function

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/tidemarkdb/tidemark/extension"
	"github.com/tidemarkdb/tidemark/vec"
)

func randomInts(n, below int) *vec.Vector {
	rnd := rand.New(rand.NewPCG(5, 6))
	values := make([]int64, n)
	for i := range values {
		values[i] = int64(rnd.IntN(below))
	}
	return vec.FlatOf(int8, values, nil)
}

func rowsPerSecond(b *testing.B, n int) {
	b.ReportMetric(float64(b.N)*float64(n)/b.Elapsed().Seconds()/1e6, "Mrows/s")
}

func BenchmarkSelectLess(b *testing.B) {
	const n = vec.BatchRows
	a, c := randomInts(n, 1000), vec.ConstantOf(int8, vec.IntValue(int8, 500), n)
	selector, out := SelectCompare(Lt, int8), make(vec.Selection, 0, n)
	for b.Loop() {
		if _, err := selector(a, c, n, nil, out); err != nil {
			b.Fatal(err)
		}
	}
	rowsPerSecond(b, n)
}

func BenchmarkAddBigint(b *testing.B)     { benchmarkCall(b, "+", int8) }
func BenchmarkMulDecimal(b *testing.B)    { benchmarkCall(b, "*", vec.DecimalType(15, 2)) }
func BenchmarkDivideDecimal(b *testing.B) { benchmarkCall(b, "/", vec.DecimalType(15, 2)) }

func benchmarkCall(b *testing.B, name string, t vec.Type) {
	const n = vec.BatchRows
	r := extension.NewRegistry()
	RegisterAll(r)
	call, err := r.ResolveScalar(name, []extension.Argument{{Type: t}, {Type: t}})
	if err != nil {
		b.Fatal(err)
	}
	v := *randomInts(n, 1000)
	v.Type = t
	w := vec.FlatOf(t, make([]int64, n), nil)
	for i := range n {
		vec.Cast[int64](w.Data)[i] = int64(i%97) + 1
	}
	for b.Loop() {
		if _, err := call.Kernel(nil, []*vec.Vector{&v, w}, n); err != nil {
			b.Fatal(err)
		}
	}
	rowsPerSecond(b, n)
}

func BenchmarkSumDecimalGrouped(b *testing.B) {
	const n = vec.BatchRows
	r := extension.NewRegistry()
	RegisterAll(r)
	t := vec.DecimalType(15, 2)
	bound, err := r.ResolveAggregate("sum", []extension.Argument{{Type: t}})
	if err != nil {
		b.Fatal(err)
	}
	v := *randomInts(n, 1000)
	v.Type = t
	groups := make([]uint32, n)
	for i := range groups {
		groups[i] = uint32(i * 31 % 1000)
	}
	acc := bound.New(nil)
	acc.Grow(1000)
	for b.Loop() {
		if err := acc.Update(groups, []*vec.Vector{&v}, n); err != nil {
			b.Fatal(err)
		}
	}
	rowsPerSecond(b, n)
}

func BenchmarkHashBigint(b *testing.B) {
	const n = vec.BatchRows
	v, dst := randomInts(n, 1000), make([]uint64, n)
	for b.Loop() {
		HashInto(v, n, dst)
	}
	rowsPerSecond(b, n)
}

func BenchmarkLikeContains(b *testing.B) {
	const n = vec.BatchRows
	r := extension.NewRegistry()
	RegisterAll(r)
	pattern := vec.StringValue(textT, "%special%requests%")
	call, err := r.ResolveScalar("~~", []extension.Argument{{Type: textT}, {Type: textT, Literal: true, Const: &pattern}})
	if err != nil {
		b.Fatal(err)
	}
	text := vec.NewBuilder(textT, n)
	for range n {
		text.AppendString("carefully final deposits sleep special across the pending requests")
	}
	args := []*vec.Vector{text.Finish(), vec.ConstantOf(textT, pattern, n)}
	for b.Loop() {
		if _, err := call.Kernel(nil, args, n); err != nil {
			b.Fatal(err)
		}
	}
	rowsPerSecond(b, n)
}

// BenchmarkSumExcept sums a batch of which some rows in 100 do not count, into one group and into five.
func BenchmarkSumExcept(b *testing.B) {
	const n = vec.BatchRows
	values := randomInts(n, 10_000_000)
	values.Type = vec.DecimalType(12, 2)
	five := make([]uint32, n)
	for i := range five {
		five[i] = uint32(vec.Cast[int64](values.Data)[i] % 5)
	}
	for _, percent := range []int{0, 1, 10} {
		var except []int32
		rnd := rand.New(rand.NewPCG(1, 2))
		for i := range int32(n) {
			if rnd.IntN(100) < percent {
				except = append(except, i)
			}
		}
		for name, groups := range map[string][]uint32{"one": nil, "five": five} {
			b.Run(fmt.Sprintf("%s/%d%%", name, percent), func(b *testing.B) {
				a := &sumWide{}
				a.Grow(5)
				for b.Loop() {
					if err := a.UpdateExcept(groups, []*vec.Vector{values}, n, except); err != nil {
						b.Fatal(err)
					}
				}
				rowsPerSecond(b, n)
			})
		}
	}
}
