package vec_test

import (
	"math"
	"testing"
	"time"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/memory"

	"github.com/tidemarkdb/tidemark/vec"
)

// arrowCases holds, by type, texts of values that survive the way to Arrow and back.
var arrowCases = []struct {
	t      vec.Type
	back   vec.Type // what comes back
	values []string
}{
	{vec.BoolType, vec.BoolType, []string{"true", "false", "true"}},
	{vec.Int16Type, vec.Int16Type, []string{"-32768", "0", "32767"}},
	{vec.Int32Type, vec.Int32Type, []string{"-2147483648", "5", "2147483647"}},
	{vec.Int64Type, vec.Int64Type, []string{"-9223372036854775808", "1", "9223372036854775807"}},
	{vec.Float32Type, vec.Float32Type, []string{"1.5", "-0", "Infinity"}},
	{vec.Float64Type, vec.Float64Type, []string{"1e300", "NaN", "-Infinity"}},
	{vec.DecimalType(10, 2), vec.DecimalType(10, 2), []string{"-12345678.90", "0.00", "0.01"}},
	{vec.DecimalType(38, 3), vec.DecimalType(38, 3), []string{"-99999999999999999999999999999999999.999", "0.001", "7.000"}},
	{vec.TextType, vec.TextType, []string{"", "häß", "longer than the others"}},
	{vec.ByteaType, vec.ByteaType, []string{`\x`, `\x00ff`, `\x01`}},
	{vec.DateType, vec.DateType, []string{"1969-12-31", "2024-02-29", "0001-01-01"}},
	{vec.TimeType, vec.TimeType, []string{"00:00:00", "23:59:59.999999", "12:00:00"}},
	{vec.TimeTZType, vec.TextType, []string{"00:00:00+00", "23:59:59.999999-15:59:59", "24:00:00+05:30"}},
	{vec.ArrayType(vec.TimeTZType), vec.ArrayType(vec.TextType), []string{"{12:00:00+01}", "{}", "{NULL,12:00:00-01}"}},
	{vec.TimestampType, vec.TimestampType, []string{"1969-12-31 23:59:59.999999", "2024-02-29 01:02:03", "1900-01-01 00:00:00"}},
	{vec.TimestampTZType, vec.TimestampTZType, []string{"1969-12-31 23:59:59.999999+00", "2024-02-29 01:02:03+00", "1900-01-01 00:00:00+00"}},
	{vec.IntervalType, vec.IntervalType, []string{"1 mon 2 days 00:00:03.000001", "-1 days", "00:00:00"}},
	{vec.UUIDType, vec.TextType, []string{"00000000-0000-0000-0000-000000000000", "01234567-89ab-cdef-0123-456789abcdef", "ffffffff-ffff-ffff-ffff-ffffffffffff"}},
	{vec.JSONType, vec.TextType, []string{`{"a": 1}`, "null", "[1, 2]"}},
	{vec.ArrayType(vec.Int64Type), vec.ArrayType(vec.Int64Type), []string{"{1,2}", "{}", "{NULL,3}"}},
	{vec.ArrayType(vec.TextType), vec.ArrayType(vec.TextType), []string{"{a,bc}", "{}", "{NULL,d}"}},
}

func column(t *testing.T, c vec.Type, texts []string) *vec.Vector {
	t.Helper()
	b := vec.NewBuilder(c, len(texts)+1)
	for _, s := range texts {
		v, err := vec.Parse(c, s, time.UTC)
		if err != nil {
			t.Fatal(err)
		}
		b.Append(v)
	}
	b.AppendNull()
	return b.Finish()
}

// TestArrowRoundTrip sends every type in every form, whole and sliced, to Arrow and back.
func TestArrowRoundTrip(t *testing.T) {
	for _, c := range arrowCases {
		flat := column(t, c.t, c.values)
		forms := map[string]*vec.Vector{
			"flat": flat, "slice": flat.Slice(1, 3), "constant": vec.ConstantOf(c.t, flat.Value(2), 5),
			"null": vec.NullOf(c.t, 3), "dictionary": vec.DictionaryOf(flat, []int32{3, 0, 0, 2, 1}, nil),
			"empty": flat.Slice(2, 0),
		}
		for form, v := range forms {
			schema := vec.ToArrowSchema(vec.Schema{{Name: "c", Type: c.t, Nullable: true}})
			record, err := vec.ToArrowBatch(schema, vec.NewBatch(v.N, v))
			if err != nil {
				t.Fatalf("%s %s: %v", c.t, form, err)
			}
			if !arrow.TypeEqual(record.Column(0).DataType(), vec.ToArrowType(c.t)) {
				t.Errorf("%s is %s, promised %s", c.t, record.Column(0).DataType(), vec.ToArrowType(c.t))
			}
			back, err := vec.FromArrow(record)
			if err != nil {
				t.Fatalf("%s %s: %v", c.t, form, err)
			}
			if back.N != v.N || !back.Cols[0].Type.Equal(c.back) {
				t.Fatalf("%s %s: %d rows of %s came back", c.t, form, back.N, back.Cols[0].Type)
			}
			for i := range v.N {
				want, got := v.Value(i), back.Cols[0].Value(i)
				if want.Null != got.Null || !want.Null && vec.Format(want) != vec.Format(got) {
					t.Errorf("%s %s row %d: %s became %s", c.t, form, i, vec.Format(want), vec.Format(got))
				}
			}
		}
	}
}

func TestArrowStruct(t *testing.T) {
	typ := vec.StructType(vec.Field{Name: "a", Type: vec.Int64Type}, vec.Field{Name: "b", Type: vec.TextType})
	b := vec.NewBuilder(typ, 2)
	vec.AppendFixed(b.Child(0), int64(7))
	b.Child(1).AppendString("x")
	b.EndStruct()
	b.AppendNull()
	v := b.Finish()
	record, err := vec.ToArrowBatch(vec.ToArrowSchema(vec.Schema{{Name: "s", Type: typ, Nullable: true}}), vec.NewBatch(2, v))
	if err != nil {
		t.Fatal(err)
	}
	back, err := vec.FromArrow(record)
	if err != nil {
		t.Fatal(err)
	}
	if got := back.Cols[0].Value(0).List; len(got) != 2 || got[0].I != 7 || got[1].S != "x" || !back.Cols[0].IsNull(1) {
		t.Errorf("got %v", got)
	}
}

// TestArrowShares checks that integers and strings are not copied on their way out.
func TestArrowShares(t *testing.T) {
	ints := vec.FlatOf(vec.Int64Type, []int64{1, 2, 3}, nil)
	words := vec.FlatBytes(vec.TextType, []int32{0, 1, 3}, []byte("abc"), nil)
	schema := vec.ToArrowSchema(vec.Schema{{Name: "c", Type: vec.Int64Type}})
	record, err := vec.ToArrowBatch(schema, vec.NewBatch(3, ints))
	if err != nil {
		t.Fatal(err)
	}
	if &record.Column(0).Data().Buffers()[1].Bytes()[0] != &ints.Data[0] {
		t.Error("integers were copied")
	}
	record, err = vec.ToArrowBatch(vec.ToArrowSchema(vec.Schema{{Name: "c", Type: vec.TextType}}), vec.NewBatch(2, words))
	if err != nil {
		t.Fatal(err)
	}
	if &record.Column(0).Data().Buffers()[2].Bytes()[0] != &words.Data[0] {
		t.Error("bytes of strings were copied")
	}
}

func TestArrowIntervalOverflow(t *testing.T) {
	v := vec.FlatOf(vec.IntervalType, []vec.IntervalValue{{Micros: math.MaxInt64}}, nil)
	if _, err := vec.ToArrowBatch(vec.ToArrowSchema(vec.Schema{{Name: "i", Type: vec.IntervalType}}), vec.NewBatch(1, v)); err == nil {
		t.Error("an interval beyond nanoseconds was sent as something else")
	}
}

// TestFromArrowForeign reads types that only others send.
func TestFromArrowForeign(t *testing.T) {
	mem := memory.DefaultAllocator
	build := func(typ arrow.DataType, fill func(array.Builder)) arrow.Array {
		b := array.NewBuilder(mem, typ)
		fill(b)
		b.AppendNull()
		return b.NewArray()
	}
	texts := func(values ...string) func(array.Builder) {
		return func(b array.Builder) {
			for _, v := range values {
				if err := b.AppendValueFromString(v); err != nil {
					t.Fatal(err)
				}
			}
		}
	}
	for _, c := range []struct {
		a    arrow.Array
		t    vec.Type
		want string
	}{
		{build(arrow.PrimitiveTypes.Int8, texts("-128")), vec.Int16Type, "-128"},
		{build(arrow.PrimitiveTypes.Uint8, texts("200")), vec.Int16Type, "200"},
		{build(arrow.PrimitiveTypes.Uint32, texts("4294967295")), vec.Int64Type, "4294967295"},
		{build(arrow.PrimitiveTypes.Uint64, texts("18446744073709551615")), vec.DecimalType(20, 0), "18446744073709551615"},
		{build(arrow.BinaryTypes.LargeString, texts("large")), vec.TextType, "large"},
		{build(arrow.BinaryTypes.StringView, texts("a view of more than twelve bytes")), vec.TextType, "a view of more than twelve bytes"},
		{build(&arrow.Decimal256Type{Precision: 38, Scale: 2}, texts("-123456789012345678901234.56")), vec.DecimalType(38, 2), "-123456789012345678901234.56"},
		{build(&arrow.TimestampType{Unit: arrow.Nanosecond}, texts("1969-12-31 23:59:59.999999999")), vec.TimestampType, "1969-12-31 23:59:59.999999"},
		{build(&arrow.DictionaryType{IndexType: arrow.PrimitiveTypes.Int8, ValueType: arrow.BinaryTypes.String}, texts("code")), vec.TextType, "code"},
	} {
		v, err := vec.FromArrowArray(c.a)
		if err != nil {
			t.Errorf("%s: %v", c.a.DataType(), err)
			continue
		}
		if !v.Type.Equal(c.t) || vec.Format(v.Value(0)) != c.want || !v.IsNull(1) {
			t.Errorf("%s: %s %s, want %s %s", c.a.DataType(), v.Type, vec.Format(v.Value(0)), c.t, c.want)
		}
	}
	seconds := build(&arrow.TimestampType{Unit: arrow.Second}, func(b array.Builder) { b.(*array.TimestampBuilder).Append(math.MaxInt64) })
	if _, err := vec.FromArrowArray(seconds); err == nil {
		t.Error("a timestamp out of range was taken")
	}
	if _, err := vec.FromArrowType(arrow.MapOf(arrow.BinaryTypes.String, arrow.BinaryTypes.String)); err == nil {
		t.Error("a map was taken")
	}
}

// TestFromArrowHostile reads byte strings whose buffers lie, or are not there.
func TestFromArrowHostile(t *testing.T) {
	offsets := memory.NewBufferBytes(vec.AsBytes([]int32{0, 3, 1, 3}))
	data := array.NewData(arrow.BinaryTypes.String, 3, []*memory.Buffer{nil, offsets, memory.NewBufferBytes([]byte("abc"))}, nil, 0, 0)
	if _, err := vec.FromArrowArray(array.MakeFromData(data)); err == nil {
		t.Error("offsets that descend were taken")
	}
	zeros := memory.NewBufferBytes(vec.AsBytes([]int32{0, 0, 0}))
	data = array.NewData(arrow.BinaryTypes.String, 2, []*memory.Buffer{nil, zeros, nil}, nil, 0, 0)
	v, err := vec.FromArrowArray(array.MakeFromData(data))
	if err != nil || len(v.Bytes(1)) != 0 {
		t.Errorf("empty strings without a buffer: %v", err)
	}
}
