package function

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/tidemarkdb/tidemark/extension"
	"github.com/tidemarkdb/tidemark/vec"
)

func TestTotal(t *testing.T) {
	rnd := rand.New(rand.NewPCG(3, 4))
	edges := []int64{math.MinInt64, math.MaxInt64, -1, 0, 1, 1 << 32, -1 << 32, 1<<31 - 1}
	for n := range 70 {
		values, want := make([]int64, n), vec.Int128{}
		for i := range values {
			values[i] = int64(rnd.Uint64())
			if rnd.IntN(3) == 0 {
				values[i] = edges[rnd.IntN(len(edges))]
			}
			want = vec.AddInt128(want, vec.Int128From(values[i]))
		}
		if got := total(values); got != want {
			t.Fatalf("total of %v = %v, want %v", values, got, want)
		}
	}
	low := make([]int64, 65536)
	for i := range low {
		low[i] = math.MinInt64
	}
	if got, want := total(low), (vec.Int128{Hi: math.MinInt64 >> 48}); got != want {
		t.Errorf("total of the least values = %v, want %v", got, want)
	}
}

// TestUpdateExcept holds every selective accumulator to what it makes of the rows that count, copied together.
func TestUpdateExcept(t *testing.T) {
	r := extension.NewRegistry()
	RegisterAll(r)
	rnd := rand.New(rand.NewPCG(9, 9))
	for _, name := range []string{"count", "count_if", "sum", "avg", "min", "max"} {
		for _, typ := range []vec.Type{boolT, int2, int4, int8, float4, float8, vec.DecimalType(12, 2), vec.DecimalType(38, 2)} {
			call, err := r.ResolveAggregate(name, []extension.Argument{{Type: typ}})
			if err != nil || !call.Args[0].Equal(typ) {
				continue
			}
			for _, form := range []vec.Form{vec.Flat, vec.Constant, vec.Dictionary} {
				for _, grouped := range []bool{false, true} {
					t.Run(fmt.Sprintf("%s(%s) form %d grouped %v", name, typ, form, grouped), func(t *testing.T) {
						checkExcept(t, call, typ, form, grouped, rnd)
					})
				}
			}
		}
	}
}

func checkExcept(t *testing.T, call extension.BoundAggregate, typ vec.Type, form vec.Form, grouped bool, rnd *rand.Rand) {
	all, some := call.New(nil), call.New(nil)
	selective, ok := all.(extension.SelectiveAccumulator)
	if !ok {
		t.Fatalf("%T is not selective", all)
	}
	all.Grow(3)
	some.Grow(3)
	for _, n := range []int{1, 7, 64, 333} {
		v := randomVector(typ, form, n, rnd)
		groups := make([]uint32, n)
		var sel, except []int32
		for i := range groups {
			groups[i] = rnd.Uint32N(3)
			if i > 0 && rnd.IntN(4) == 0 {
				except = append(except, int32(i))
			} else {
				sel = append(sel, int32(i))
			}
		}
		picked := make([]uint32, len(sel))
		for i, s := range sel {
			picked[i] = groups[s]
		}
		if !grouped {
			groups, picked = nil, nil
		}
		if err := selective.UpdateExcept(groups, []*vec.Vector{v}, n, except); err != nil {
			t.Fatal(err)
		}
		if err := some.Update(picked, []*vec.Vector{v.Select(sel)}, len(sel)); err != nil {
			t.Fatal(err)
		}
	}
	got, err := all.Result(0, 3)
	if err != nil {
		t.Fatal(err)
	}
	want, err := some.Result(0, 3)
	if err != nil {
		t.Fatal(err)
	}
	for i := range 3 {
		if got.IsNull(i) != want.IsNull(i) || !got.IsNull(i) && vec.Compare(got.Value(i), want.Value(i)) != 0 {
			t.Errorf("group %d: %v, want %v", i, got.Value(i), want.Value(i))
		}
	}
}

func randomVector(typ vec.Type, form vec.Form, n int, rnd *rand.Rand) *vec.Vector {
	make1 := func(n int) *vec.Vector {
		b := vec.NewBuilder(typ, n)
		for range n {
			switch typ.Phys() {
			case vec.PhysBool:
				b.Append(vec.BoolValue(rnd.IntN(2) == 0))
			case vec.PhysFloat32, vec.PhysFloat64:
				b.Append(vec.FloatValue(typ, float64(rnd.IntN(1000))))
			case vec.PhysInt128:
				vec.AppendFixed(b, vec.MulInt64(rnd.Int64()-1<<62, 1<<8))
			default:
				b.Append(vec.IntValue(typ, int64(rnd.IntN(60000)-30000)))
			}
		}
		return b.Finish()
	}
	switch form {
	case vec.Constant:
		return vec.ConstantOf(typ, make1(1).Value(0), n)
	case vec.Dictionary:
		index := make([]int32, n)
		for i := range index {
			index[i] = rnd.Int32N(5)
		}
		return vec.DictionaryOf(make1(5), index, nil)
	}
	return make1(n)
}
