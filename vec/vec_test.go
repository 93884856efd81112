package vec

import (
	"math/big"
	"math/rand/v2"
	"slices"
	"testing"
)

func ints(xs ...int64) *Vector { return FlatOf(Int64Type, xs, nil) }

func TestBuilderRoundTripsEveryForm(t *testing.T) {
	row := []Value{{Type: Int32Type, I: 7}, NullValue(TextType)}
	values := []Value{
		BoolValue(true), IntValue(Int16Type, -3), IntValue(Int32Type, 1<<30), IntValue(Int64Type, -1<<60),
		FloatValue(Float32Type, 1.5), FloatValue(Float64Type, -2.25), IntValue(DecimalType(12, 2), 12345),
		Int128Value(DecimalType(38, 0), Int128{Lo: 5, Hi: -9}), StringValue(TextType, "héllo"), StringValue(ByteaType, "\x00\xff"),
		{Type: IntervalType, Span: IntervalValue{Months: 1, Days: -2, Micros: 3}},
		{Type: ArrayType(Int32Type), List: []Value{{Type: Int32Type, I: 1}, NullValue(Int32Type)}},
		{Type: StructType(Field{"a", Int32Type}, Field{"b", TextType}), List: row},
	}
	for _, want := range values {
		b := NewBuilder(want.Type, 2)
		b.Append(want)
		b.AppendNull()
		b.Append(want)
		v := b.Finish()
		if v.N != 3 || !v.IsNull(1) {
			t.Errorf("%s: N = %d, IsNull(1) = %v", want.Type, v.N, v.IsNull(1))
		}
		for name, form := range map[string]*Vector{"flat": v, "dictionary": DictionaryOf(v, []int32{2, 1, 0}, nil), "gathered": Gather(v, []int32{0, 1, 2}, nil), "sliced": v.Slice(0, 3)} {
			if got := form.Value(2); Compare(got, want) != 0 {
				t.Errorf("%s %s: got %v, want %v", want.Type, name, got, want)
			}
			if !form.IsNull(1) {
				t.Errorf("%s %s: row 1 is not NULL", want.Type, name)
			}
		}
	}
}

func TestDictionaryOfDictionaryFolds(t *testing.T) {
	entries := ints(10, 20, 30)
	entries.Valid = NewFullBitmap(3)
	entries.Valid.Clear(1)
	inner := DictionaryOf(entries, []int32{2, 1, 0}, nil)
	outer := DictionaryOf(inner, []int32{0, 1, 2, 2}, nil)
	if outer.Dict != entries {
		t.Fatal("the inner dictionary is not folded away")
	}
	flat := outer.Flatten()
	for i, want := range []int64{30, -1, 10, 10} {
		if want < 0 {
			if !flat.IsNull(i) || !outer.IsNull(i) {
				t.Errorf("row %d is not NULL", i)
			}
			continue
		}
		if got := Values[int64](flat)[i]; got != want {
			t.Errorf("row %d = %d, want %d", i, got, want)
		}
	}
}

func TestGatherOfNothingIsAllNull(t *testing.T) {
	v := Gather(NewBuilder(TextType, 0).Finish(), []int32{0, 0}, NewBitmap(2))
	if v.N != 2 || !v.IsNull(0) || !v.IsNull(1) {
		t.Errorf("got %d rows, NULLs %v %v", v.N, v.IsNull(0), v.IsNull(1))
	}
}

func TestBitmapSliceAcrossWords(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	b := NewBitmap(500)
	for range 200 {
		b.Set(rng.IntN(500))
	}
	for range 200 {
		from := rng.IntN(500)
		n := rng.IntN(500 - from)
		s := b.Slice(from, n)
		for i := range n {
			if s.Get(i) != b.Get(from+i) {
				t.Fatalf("Slice(%d, %d): bit %d differs", from, n, i)
			}
		}
		if got, want := s.Count(n), len(s.AppendSelection(nil, n)); got != want {
			t.Fatalf("Count = %d, selection has %d", got, want)
		}
	}
}

func (a Int128) big() *big.Int {
	b := new(big.Int).Lsh(big.NewInt(a.Hi), 64)
	return b.Add(b, new(big.Int).SetUint64(a.Lo))
}

func TestInt128AgainstBig(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 4))
	limit := new(big.Int).Lsh(big.NewInt(1), 127)
	draw := func() Int128 {
		x := Int128{Lo: rng.Uint64(), Hi: int64(rng.Uint64())}
		switch rng.IntN(4) {
		case 0:
			return Int128From(int64(rng.Uint64() >> rng.IntN(64)))
		case 1:
			x.Hi >>= rng.IntN(64)
		}
		return x
	}
	for range 20000 {
		a, b := draw(), draw()
		product, ok := MulInt128Checked(a, b)
		exact := new(big.Int).Mul(a.big(), b.big())
		fits := exact.Cmp(limit) < 0 && exact.Cmp(new(big.Int).Neg(limit)) >= 0
		if ok != fits || ok && product.big().Cmp(exact) != 0 {
			t.Fatalf("%v * %v = %v %v, want %v", a.big(), b.big(), product.big(), ok, exact)
		}
		if b != (Int128{}) && !(b == Int128From(-1)) {
			q, r := DivInt128(a, b)
			wq, wr := new(big.Int).QuoRem(a.big(), b.big(), new(big.Int))
			if q.big().Cmp(wq) != 0 || r.big().Cmp(wr) != 0 {
				t.Fatalf("%v / %v = %v rem %v, want %v rem %v", a.big(), b.big(), q.big(), r.big(), wq, wr)
			}
		}
		sum, ok := AddInt128Checked(a, b)
		exact.Add(a.big(), b.big())
		fits = exact.Cmp(limit) < 0 && exact.Cmp(new(big.Int).Neg(limit)) >= 0
		if ok != fits || ok && sum.big().Cmp(exact) != 0 {
			t.Fatalf("%v + %v = %v %v", a.big(), b.big(), sum.big(), ok)
		}
	}
}

func TestMulInt64(t *testing.T) {
	for _, p := range [][2]int64{{-1, -1}, {-1 << 63, -1 << 63}, {1<<63 - 1, -1 << 63}, {3, -4}, {0, -5}} {
		want := new(big.Int).Mul(big.NewInt(p[0]), big.NewInt(p[1]))
		if got := MulInt64(p[0], p[1]).big(); got.Cmp(want) != 0 {
			t.Errorf("%d * %d = %v, want %v", p[0], p[1], got, want)
		}
	}
}

func TestComplement(t *testing.T) {
	rng := rand.New(rand.NewPCG(11, 12))
	for range 500 {
		n := rng.IntN(300)
		share := []int{0, 1, 5, 50, 99, 100}[rng.IntN(6)]
		var sel, want Selection
		for i := range int32(n) {
			if rng.IntN(100) < share {
				want = append(want, i)
			} else {
				sel = append(sel, i)
			}
		}
		if got := sel.AppendComplement(nil, n); !slices.Equal(got, want) {
			t.Fatalf("complement of %v in %d rows = %v, want %v", sel, n, got, want)
		}
	}
}
