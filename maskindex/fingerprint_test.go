package maskindex

import (
	"errors"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/tidemarkdb/tidemark/sqlerr"
	"github.com/tidemarkdb/tidemark/vec"
)

func layoutOf(t testing.TB, types ...vec.Type) *Layout {
	t.Helper()
	var cols []Column
	for i, ty := range types {
		cols = append(cols, Column{Name: string(rune('a' + i)), Type: ty})
	}
	l, err := NewLayout(cols)
	if err != nil {
		t.Fatal(err)
	}
	return l
}

func fingerprints(t testing.TB, l *Layout, cols ...*vec.Vector) *Keys {
	t.Helper()
	k := &Keys{}
	if err := l.Fingerprint(cols, cols[0].N, k); err != nil {
		t.Fatal(err)
	}
	if k.Len() != cols[0].N || k.Width() != l.Width() {
		t.Fatalf("%d fingerprints of %d bits for %d rows", k.Len(), k.Width(), cols[0].N)
	}
	return k
}

func texts(values ...string) *vec.Vector {
	offsets, data := []int32{0}, []byte(nil)
	for _, v := range values {
		data = append(data, v...)
		offsets = append(offsets, int32(len(data)))
	}
	return vec.FlatBytes(vec.TextType, offsets, data, nil)
}

func TestWidths(t *testing.T) {
	for _, c := range []struct {
		types []vec.Type
		want  Width
	}{
		{[]vec.Type{vec.BoolType}, Width64},
		{[]vec.Type{vec.Int64Type}, Width64},
		{[]vec.Type{vec.TimestampTZType}, Width64},
		{[]vec.Type{vec.DecimalType(18, 4)}, Width64},
		{[]vec.Type{vec.DecimalType(19, 4)}, Width128},
		{[]vec.Type{vec.Int32Type, vec.DateType}, Width64},
		{[]vec.Type{vec.Int16Type, vec.Int16Type, vec.BoolType, vec.BoolType, vec.Int16Type}, Width64},
		{[]vec.Type{vec.Int64Type, vec.BoolType}, Width128},
		{[]vec.Type{vec.TextType}, Width128},
		{[]vec.Type{vec.UUIDType}, Width128},
		{[]vec.Type{vec.Float64Type}, Width64},
		{[]vec.Type{vec.Float32Type, vec.Int32Type}, Width64},
		{[]vec.Type{vec.IntervalType}, Width128},
	} {
		if got := layoutOf(t, c.types...).Width(); got != c.want {
			t.Errorf("%v: %d bits", c.types, got)
		}
	}
	for _, ty := range []vec.Type{vec.JSONType, vec.ArrayType(vec.Int32Type)} {
		if _, err := NewLayout([]Column{{"k", ty}}); err == nil || KeyType(ty) {
			t.Errorf("%s was accepted as a key", ty)
		}
	}
}

func TestFingerprintsKeepOrder(t *testing.T) {
	ints := []int64{math.MinInt64, -5, -1, 0, 1, 5, math.MaxInt64}
	for _, ty := range []vec.Type{vec.Int64Type, vec.TimestampType, vec.TimestampTZType, vec.DecimalType(18, 2)} {
		ascend(t, fingerprints(t, layoutOf(t, ty), vec.FlatOf(ty, ints, nil)))
	}
	narrow := []int32{math.MinInt32, -1, 0, 1, math.MaxInt32}
	ascend(t, fingerprints(t, layoutOf(t, vec.Int32Type), vec.FlatOf(vec.Int32Type, narrow, nil)))
	ascend(t, fingerprints(t, layoutOf(t, vec.DateType), vec.FlatOf(vec.DateType, narrow, nil)))
	ascend(t, fingerprints(t, layoutOf(t, vec.Int16Type), vec.FlatOf(vec.Int16Type, []int16{math.MinInt16, -1, 0, 1, math.MaxInt16}, nil)))
	ascend(t, fingerprints(t, layoutOf(t, vec.BoolType), vec.FlatOf(vec.BoolType, []byte{0, 1}, nil)))
	ascend(t, fingerprints(t, layoutOf(t, vec.Int32Type, vec.Int16Type),
		vec.FlatOf(vec.Int32Type, []int32{-1, -1, 0, 0, 7}, nil), vec.FlatOf(vec.Int16Type, []int16{-3, 3, -3, 3, -9}, nil)))
}

func TestFingerprintsOfFloatsKeepOrder(t *testing.T) {
	nan, inf := math.NaN(), math.Inf(1)
	ascend(t, fingerprints(t, layoutOf(t, vec.Float64Type), vec.FlatOf(vec.Float64Type, []float64{-inf, -1e300, -1, -1e-320, 0, 1e-320, 1, inf, nan}, nil)))
	small := []float32{float32(-inf), -1, 0, 1, float32(inf), float32(nan)}
	ascend(t, fingerprints(t, layoutOf(t, vec.Float32Type), vec.FlatOf(vec.Float32Type, small, nil)))
}

// TestEqualValuesHaveOneFingerprint holds for values with several representations, packed and hashed.
func TestEqualValuesHaveOneFingerprint(t *testing.T) {
	otherNaN := math.Float64frombits(math.Float64bits(math.NaN()) ^ 1<<63 ^ 1)
	floats := []float64{math.Copysign(0, -1), 0, math.NaN(), otherNaN}
	narrow := make([]float32, len(floats))
	for i, f := range floats {
		narrow[i] = float32(f)
	}
	narrow[3] = math.Float32frombits(math.Float32bits(narrow[2]) ^ 1<<31 ^ 1)
	long := vec.FlatOf(vec.Int64Type, []int64{1, 1, 1, 1}, nil)
	for _, v := range []*vec.Vector{vec.FlatOf(vec.Float64Type, floats, nil), vec.FlatOf(vec.Float32Type, narrow, nil)} {
		for _, k := range []*Keys{fingerprints(t, layoutOf(t, v.Type), v), fingerprints(t, layoutOf(t, v.Type, vec.Int64Type), v, long)} {
			if k.Hi[0] != k.Hi[1] || k.Hi[2] != k.Hi[3] || k.Hi[0] == k.Hi[2] {
				t.Errorf("%s: %x", v.Type, k.Hi)
			}
		}
	}
	spans := vec.FlatOf(vec.IntervalType, []vec.IntervalValue{{Months: 1}, {Days: 30}, {Micros: 30 * 24 * 3600 * 1e6}, {Days: 31}}, nil)
	k := fingerprints(t, layoutOf(t, vec.IntervalType), spans)
	if k.Hi[0] != k.Hi[1] || k.Hi[1] != k.Hi[2] || k.Lo[0] != k.Lo[2] || k.Hi[2] == k.Hi[3] {
		t.Errorf("intervals: %x", k.Hi)
	}
}

func ascend(t *testing.T, k *Keys) {
	t.Helper()
	for i := 1; i < k.Len(); i++ {
		if k.Hi[i-1] >= k.Hi[i] {
			t.Fatalf("fingerprints do not ascend: %x", k.Hi)
		}
	}
}

func TestCompositeEncodingIsUnambiguous(t *testing.T) {
	l := layoutOf(t, vec.TextType, vec.TextType)
	k := fingerprints(t, l, texts("ab", "a", "", "abc", "x"), texts("c", "bc", "abc", "", "x"))
	for i := range k.Len() {
		for j := range i {
			if k.Hi[i] == k.Hi[j] || k.Lo[i] == k.Lo[j] {
				t.Fatalf("rows %d and %d share a fingerprint", i, j)
			}
		}
	}
}

// A key has one fingerprint, whatever form its vector has.
func TestFormsAgree(t *testing.T) {
	index := []int32{2, 0, 1, 1, 2}
	for _, c := range []struct {
		l    *Layout
		dict *vec.Vector
	}{
		{layoutOf(t, vec.Int32Type), vec.FlatOf(vec.Int32Type, []int32{-7, 8, 9}, nil)},
		{layoutOf(t, vec.Int64Type), vec.FlatOf(vec.Int64Type, []int64{-7, 8, 9}, nil)},
		{layoutOf(t, vec.Int16Type), vec.FlatOf(vec.Int16Type, []int16{-7, 8, 9}, nil)},
		{layoutOf(t, vec.BoolType), vec.FlatOf(vec.BoolType, []byte{0, 1, 1}, nil)},
		{layoutOf(t, vec.UUIDType), vec.FlatOf(vec.UUIDType, []vec.Int128{{Lo: 1}, {Hi: 1}, {Lo: 3, Hi: -1}}, nil)},
		{layoutOf(t, vec.TextType), texts("", "b", "long enough to be hashed otherwise, that is above 240 bytes"+strings.Repeat("x", 300))},
	} {
		d := vec.DictionaryOf(c.dict, slices.Clone(index), nil)
		want := fingerprints(t, c.l, d.Flatten())
		got := fingerprints(t, c.l, d)
		if !slices.Equal(got.Hi, want.Hi) || !slices.Equal(got.Lo, want.Lo) {
			t.Errorf("%s: a dictionary differs", c.dict.Type)
		}
		constant := vec.ConstantOf(c.dict.Type, c.dict.Value(2), 3)
		got = fingerprints(t, c.l, constant)
		if got.Hi[0] != want.Hi[0] || got.Hi[2] != want.Hi[0] {
			t.Errorf("%s: a constant differs", c.dict.Type)
		}
	}
}

func TestNullInAKeyNamesColumnAndRow(t *testing.T) {
	valid := vec.NewFullBitmap(4)
	valid.Clear(2)
	l := layoutOf(t, vec.Int32Type, vec.Int32Type)
	k := &Keys{Hi: []uint64{1}}
	err := l.Fingerprint([]*vec.Vector{vec.FlatOf(vec.Int32Type, make([]int32, 4), nil),
		vec.FlatOf(vec.Int32Type, make([]int32, 4), valid)}, 4, k)
	var e *sqlerr.Error
	if !errors.As(err, &e) || e.Code != sqlerr.NotNullViolation || !strings.Contains(e.Message, `"b" is NULL at row 2`) {
		t.Fatal(err)
	}
	if k.Len() != 1 {
		t.Fatal("the batch was changed by a failed call")
	}
}

func TestWrongColumnsAreErrors(t *testing.T) {
	l := layoutOf(t, vec.Int32Type)
	for _, cols := range [][]*vec.Vector{nil, {vec.FlatOf(vec.Int64Type, []int64{1}, nil)}, {vec.FlatOf(vec.Int32Type, []int32{}, nil)}} {
		if err := l.Fingerprint(cols, 1, &Keys{}); err == nil {
			t.Errorf("%v accepted", cols)
		}
	}
	if err := l.Fingerprint([]*vec.Vector{vec.FlatOf(vec.Int32Type, []int32{1}, nil)}, 1, &Keys{Hi: []uint64{1}, Lo: []uint64{1}}); err == nil {
		t.Error("64-bit keys were appended to 128-bit ones")
	}
}

func TestRadixSortIsStable(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 1))
	for _, n := range []int{0, 1, radixMin - 1, radixMin, 5000} {
		k := &Keys{}
		for range n {
			k.Hi = append(k.Hi, r.Uint64N(50)<<56|r.Uint64N(3))
		}
		items := sortKeys(k)
		for i := 1; i < n; i++ {
			a, b := items[i-1], items[i]
			if a.hi > b.hi || a.hi == b.hi && a.idx >= b.idx || k.Hi[b.idx] != b.hi {
				t.Fatalf("n=%d: %v before %v", n, a, b)
			}
		}
	}
}

func BenchmarkFingerprint(b *testing.B) {
	const n = 8192
	long := make([]string, n)
	ids := make([]int64, n)
	for i := range long {
		long[i] = strings.Repeat("k", 10+i%26)
		ids[i] = int64(i)
	}
	for name, c := range map[string]*vec.Vector{"bigint": vec.FlatOf(vec.Int64Type, ids, nil), "text": texts(long...)} {
		b.Run(name, func(b *testing.B) {
			l := layoutOf(b, c.Type)
			k := &Keys{}
			for b.Loop() {
				k.Reset(l.Width())
				if err := l.Fingerprint([]*vec.Vector{c}, n, k); err != nil {
					b.Fatal(err)
				}
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/n, "ns/key")
		})
	}
}
