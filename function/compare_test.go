package function

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/tidemarkdb/tidemark/extension"
	"github.com/tidemarkdb/tidemark/vec"
)

var comparedTypes = []vec.Type{
	boolT, int2, int4, int8, float4, float8, vec.DecimalType(10, 2), vec.DecimalType(30, 2), textT, dateT, stampTZ, intervalT,
	uuidT, vec.ArrayType(int4), vec.StructType(vec.Field{Name: "a", Type: int4}, vec.Field{Name: "b", Type: textT}),
}

// someValue draws from few values, so that equal ones meet; the special ones of each type are among them.
func someValue(rnd *rand.Rand, t vec.Type) vec.Value {
	if rnd.IntN(6) == 0 {
		return vec.NullValue(t)
	}
	k := rnd.IntN(5)
	v := vec.Value{Type: t, I: []int64{-2, -1, 0, 1, 2}[k]}
	switch t.Phys() {
	case vec.PhysBool:
		v.I = int64(k % 2)
	case vec.PhysInt128:
		v.Hi = []int64{math.MinInt64 / 4, -1, 0, 0, 1}[k]
	case vec.PhysFloat32, vec.PhysFloat64:
		v.F = []float64{math.NaN(), math.Copysign(0, -1), 0, math.Inf(1), 1.5}[k]
	case vec.PhysInterval:
		v.Span = []span{{Months: 1}, {Days: 30}, {Micros: 1}, {Days: -1}, {}}[k]
	case vec.PhysBytes:
		v.S = []string{"", "a", "ab", "b", "\xff"}[k]
	case vec.PhysList:
		v.List = []vec.Value{}
		for range rnd.IntN(3) {
			v.List = append(v.List, someValue(rnd, *t.Elem))
		}
	case vec.PhysStruct:
		for _, f := range t.Fields {
			v.List = append(v.List, someValue(rnd, f.Type))
		}
	}
	return v
}

// someVector returns n values in a random form.
func someVector(rnd *rand.Rand, t vec.Type, n int) *vec.Vector {
	switch rnd.IntN(3) {
	case 0:
		return vec.ConstantOf(t, someValue(rnd, t), n)
	case 1:
		b := vec.NewBuilder(t, 4)
		for range 4 {
			b.Append(someValue(rnd, t))
		}
		index := make([]int32, n)
		for i := range index {
			index[i] = int32(rnd.IntN(4))
		}
		return vec.DictionaryOf(b.Finish(), index, nil)
	}
	b := vec.NewBuilder(t, n)
	nulls := rnd.IntN(2) == 0
	for range n {
		v := someValue(rnd, t)
		for v.Null && !nulls {
			v = someValue(rnd, t)
		}
		b.Append(v)
	}
	return b.Finish()
}

// TestCompareAgrees holds the kernels, the selectors, the row order and the hashes to the order of boxed values.
func TestCompareAgrees(t *testing.T) {
	rnd := rand.New(rand.NewPCG(1, 2))
	for _, typ := range comparedTypes {
		for op := Eq; op <= NotDistinct; op++ {
			for range 30 {
				n := 1 + rnd.IntN(130)
				a, b := someVector(rnd, typ, n), someVector(rnd, typ, n)
				checkCompare(t, op, typ, a, b, n)
				checkSelect(t, rnd, op, typ, a, b, n)
			}
		}
		for range 30 {
			checkRows(t, typ, someVector(rnd, typ, 100), someVector(rnd, typ, 100))
		}
	}
}

// expected is op by boxed values.
func expected(op CompareOp, a, b vec.Value) (truth, null bool) {
	if (a.Null || b.Null) && op != Distinct && op != NotDistinct {
		return false, true
	}
	return op.holds(vec.Compare(a, b)), false
}

func checkCompare(t *testing.T, op CompareOp, typ vec.Type, a, b *vec.Vector, n int) {
	t.Helper()
	out, err := Compare(op, typ)(nil, []*vec.Vector{a, b}, n)
	if err != nil {
		t.Fatal(err)
	}
	for i := range n {
		truth, null := expected(op, a.Value(i), b.Value(i))
		if got := out.Value(i); got.Null != null || !null && (got.I != 0) != truth {
			t.Fatalf("%s: %s %s %s is %s", typ, vec.Format(a.Value(i)), op, vec.Format(b.Value(i)), vec.Format(got))
		}
	}
}

func checkSelect(t *testing.T, rnd *rand.Rand, op CompareOp, typ vec.Type, a, b *vec.Vector, n int) {
	t.Helper()
	var sel vec.Selection
	if rnd.IntN(2) == 0 {
		sel = vec.Selection{}
		for i := range n {
			if rnd.IntN(3) > 0 {
				sel = append(sel, int32(i))
			}
		}
	}
	var want vec.Selection
	for i := range n {
		if truth, _ := expected(op, a.Value(i), b.Value(i)); truth && (sel == nil || slices.Contains(sel, int32(i))) {
			want = append(want, int32(i))
		}
	}
	got, err := SelectCompare(op, typ)(a, b, n, sel, nil)
	if err != nil || !slices.Equal(got, want) {
		t.Fatalf("%s %s: selected %v of %v, want %v (%v)", typ, op, got, sel, want, err)
	}
}

func checkRows(t *testing.T, typ vec.Type, a, b *vec.Vector) {
	t.Helper()
	order, equal := CompareRows(typ), EqualRows(typ)
	ha, hb := make([]uint64, a.N), make([]uint64, b.N)
	HashInto(a, a.N, ha)
	HashInto(b, b.N, hb)
	for i := range a.N {
		c := vec.Compare(a.Value(i), b.Value(i))
		if got := order(a, i, b, i); got != c {
			t.Fatalf("%s: %s against %s orders %d, want %d", typ, vec.Format(a.Value(i)), vec.Format(b.Value(i)), got, c)
		}
		if equal(a, i, b, i) != (c == 0) {
			t.Fatalf("%s: %s equals %s: %v", typ, vec.Format(a.Value(i)), vec.Format(b.Value(i)), c != 0)
		}
		if c == 0 && ha[i] != hb[i] {
			t.Fatalf("%s: %s and %s are equal and hash apart", typ, vec.Format(a.Value(i)), vec.Format(b.Value(i)))
		}
	}
}

// TestKleene checks AND and OR of two and three arguments against the truth table.
func TestKleene(t *testing.T) {
	rnd := rand.New(rand.NewPCG(3, 4))
	for range 200 {
		n := 1 + rnd.IntN(130)
		args := make([]*vec.Vector, 1+rnd.IntN(3))
		for k := range args {
			args[k] = someVector(rnd, boolT, n)
		}
		for _, deciding := range []int64{0, 1} {
			kernel := map[int64]extension.Kernel{0: And, 1: Or}[deciding]
			out, err := kernel(nil, args, n)
			if err != nil {
				t.Fatal(err)
			}
			for i := range n {
				want := vec.Value{I: 1 - deciding}
				for _, a := range args {
					switch v := a.Value(i); {
					case v.Null && want.I != deciding:
						want.Null = true
					case !v.Null && v.I == deciding:
						want = vec.Value{I: deciding}
					}
				}
				if got := out.Value(i); got.Null != want.Null || !got.Null && got.I != want.I {
					t.Fatalf("row %d: %v, want %v", i, got, want)
				}
			}
		}
	}
}
