package vec

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"
)

// randomVector returns n rows of t drawn from few values, a tenth of them NULL.
func randomVector(t Type, n int, rng *rand.Rand) *Vector {
	b := NewBuilder(t, n)
	for range n {
		x := int64(rng.IntN(20) - 10)
		switch {
		case rng.IntN(10) == 0:
			b.AppendNull()
		case t.Phys() == PhysBytes:
			b.AppendString("abcdefghijklmnopqrst"[:x+10])
		case t.IsFloat() && x == 3:
			b.Append(FloatValue(t, math.NaN()))
		default:
			v := Int128Value(t, Int128From(x))
			v.F = float64(x)
			v.List = []Value{{Type: Int32Type, I: x}}
			b.Append(v)
		}
	}
	return b.Finish()
}

func TestSortedIndexAgreesWithCompare(t *testing.T) {
	rng := rand.New(rand.NewPCG(5, 6))
	for _, typ := range []Type{BoolType, Int16Type, Int32Type, Int64Type, Float32Type, Float64Type, DecimalType(30, 2), TextType, ArrayType(Int32Type), DateType} {
		for range 20 {
			n := rng.IntN(100)
			cols := []*Vector{randomVector(typ, n, rng), randomVector(Int32Type, n, rng)}
			want := Sequence(n)
			slices.SortStableFunc(want, func(a, b int32) int {
				for _, c := range cols {
					if d := Compare(c.Value(int(a)), c.Value(int(b))); d != 0 {
						return d
					}
				}
				return 0
			})
			if got := SortedIndex(cols, n); !slices.Equal(got, want) {
				t.Fatalf("%s: got %v, want %v", typ, got, want)
			}
		}
	}
}

func TestRadixOrderIsStable(t *testing.T) {
	rng := rand.New(rand.NewPCG(7, 8))
	values := make([]int64, 5000)
	for i := range values {
		values[i] = rng.Int64N(300)*1_000_003 - 1<<40
	}
	index := SortedIndex([]*Vector{FlatOf(Int64Type, values, nil)}, len(values))
	for i := 1; i < len(index); i++ {
		a, b := index[i-1], index[i]
		if values[a] > values[b] || values[a] == values[b] && a > b {
			t.Fatalf("rows %d and %d out of order", a, b)
		}
	}
}

func TestConcatKeepsEveryRow(t *testing.T) {
	rng := rand.New(rand.NewPCG(9, 10))
	for _, typ := range []Type{BoolType, Int32Type, TextType, DecimalType(30, 2), ArrayType(Int32Type)} {
		var parts []*Vector
		var want []Value
		for range 4 {
			v := randomVector(typ, rng.IntN(30), rng)
			if v.N > 3 {
				v = v.Slice(1, v.N-2)
			}
			if v.N > 0 && rng.IntN(2) == 0 {
				v = DictionaryOf(v, []int32{int32(v.N - 1), 0}, nil)
			}
			parts = append(parts, v)
			for i := range v.N {
				want = append(want, v.Value(i))
			}
		}
		got := Concat(typ, parts)
		if got.N != len(want) {
			t.Fatalf("%s: %d rows, want %d", typ, got.N, len(want))
		}
		for i, w := range want {
			if Compare(got.Value(i), w) != 0 {
				t.Fatalf("%s row %d: got %v, want %v", typ, i, got.Value(i), w)
			}
		}
	}
}
