package vec

import (
	"math"
	"unsafe"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/memory"

	"github.com/tidemarkdb/tidemark/sqlerr"
)

// ToArrowType returns the Arrow type a column of type t has outside: dense, and of a kind that pandas, polars and JDBC
// can use. NUMERIC is decimal128 whatever its precision, UUID its text (clients show fixed-size binary as raw bytes),
// TIMETZ its text too, JSON utf8, INTERVAL month_day_nano, TIMESTAMPTZ a timestamp of zone UTC.
func ToArrowType(t Type) arrow.DataType {
	switch t.ID {
	case Null:
		return arrow.Null
	case Bool:
		return arrow.FixedWidthTypes.Boolean
	case Int16:
		return arrow.PrimitiveTypes.Int16
	case Int32:
		return arrow.PrimitiveTypes.Int32
	case Int64:
		return arrow.PrimitiveTypes.Int64
	case Float32:
		return arrow.PrimitiveTypes.Float32
	case Float64:
		return arrow.PrimitiveTypes.Float64
	case Decimal:
		return &arrow.Decimal128Type{Precision: int32(t.Precision), Scale: int32(t.Scale)}
	case Bytea:
		return arrow.BinaryTypes.Binary
	case Date:
		return arrow.FixedWidthTypes.Date32
	case Time:
		return arrow.FixedWidthTypes.Time64us
	case Timestamp:
		return &arrow.TimestampType{Unit: arrow.Microsecond}
	case TimestampTZ:
		return &arrow.TimestampType{Unit: arrow.Microsecond, TimeZone: "UTC"}
	case Interval:
		return arrow.FixedWidthTypes.MonthDayNanoInterval
	case Array:
		return arrow.ListOf(ToArrowType(*t.Elem))
	case Struct:
		fields := make([]arrow.Field, len(t.Fields))
		for i, f := range t.Fields {
			fields[i] = arrow.Field{Name: f.Name, Type: ToArrowType(f.Type), Nullable: true}
		}
		return arrow.StructOf(fields...)
	}
	return arrow.BinaryTypes.String
}

// ToArrowSchema returns the Arrow schema of s; see [ToArrowType].
func ToArrowSchema(s Schema) *arrow.Schema {
	fields := make([]arrow.Field, len(s))
	for i, c := range s {
		fields[i] = arrow.Field{Name: c.Name, Type: ToArrowType(c.Type), Nullable: c.Nullable || c.Type.ID == Null}
	}
	return arrow.NewSchema(fields, nil)
}

// ToArrowBatch returns b, which has no selection, as a record batch of schema, made by [ToArrowSchema]. It shares the
// memory of flat columns but for BOOLEAN, which is packed, narrow NUMERIC, which is widened, INTERVAL, UUID and TIMETZ; other
// forms are flattened. It is valid as long as b is. The error is a value that has no place in Arrow's type.
func ToArrowBatch(schema *arrow.Schema, b *Batch) (arrow.RecordBatch, error) {
	cols := make([]arrow.Array, len(b.Cols))
	for i, c := range b.Cols {
		data, err := toArrowData(c)
		if err != nil {
			return nil, err
		}
		cols[i] = array.MakeFromData(data)
	}
	return array.NewRecordBatch(schema, cols, int64(b.N)), nil
}

func toArrowData(v *Vector) (arrow.ArrayData, error) {
	v = v.Flatten()
	t := ToArrowType(v.Type)
	if v.Type.ID == TimeTZ {
		v = timeTZTexts(v)
	}
	if v.Type.ID == Null {
		return array.NewData(t, v.N, []*memory.Buffer{nil}, nil, v.N, 0), nil
	}
	valid, nulls := (*memory.Buffer)(nil), 0
	if v.Valid != nil {
		if nulls = v.N - v.Valid.Count(v.N); nulls > 0 {
			valid = memory.NewBufferBytes(bitmapBytes(v.Valid, v.N))
		}
	}
	buffers, kids := []*memory.Buffer{valid}, []arrow.ArrayData(nil)
	switch v.Type.Phys() {
	case PhysBytes:
		offsets, data := zeroBased(v)
		buffers = append(buffers, memory.NewBufferBytes(AsBytes(offsets)), memory.NewBufferBytes(data))
	case PhysList:
		offsets, first := rebase(v.Offsets)
		buffers = append(buffers, memory.NewBufferBytes(AsBytes(offsets)))
		elements, err := toArrowData(v.Kids[0].Slice(int(first), int(offsets[v.N])))
		if err != nil {
			return nil, err
		}
		kids = append(kids, elements)
	case PhysStruct:
		for _, k := range v.Kids {
			field, err := toArrowData(k)
			if err != nil {
				return nil, err
			}
			kids = append(kids, field)
		}
	default:
		values, err := arrowValues(v)
		if err != nil {
			return nil, err
		}
		if v.Type.ID == UUID {
			buffers = append(buffers, memory.NewBufferBytes(uuidOffsets(v.N)))
		}
		buffers = append(buffers, memory.NewBufferBytes(values))
	}
	return array.NewData(t, v.N, buffers, kids, nulls, 0), nil
}

// arrowValues returns the value buffer of a fixed-width vector.
func arrowValues(v *Vector) ([]byte, error) {
	switch {
	case v.Type.ID == Bool:
		packed := NewBitmap(v.N)
		for i, x := range v.Data[:v.N] {
			packed[i/64] |= uint64(x&1) << (i % 64)
		}
		return bitmapBytes(packed, v.N), nil
	case v.Type.ID == Decimal && v.Type.Phys() == PhysInt64:
		wide := make([]Int128, v.N)
		for i, x := range Values[int64](v)[:v.N] {
			wide[i] = Int128From(x)
		}
		return AsBytes(wide), nil
	case v.Type.ID == UUID:
		text := make([]byte, 0, v.N*uuidTextBytes)
		for _, x := range Values[Int128](v)[:v.N] {
			text = appendUUID(text, Int128Value(UUIDType, x))
		}
		return text, nil
	case v.Type.ID == Interval:
		spans := make([]arrow.MonthDayNanoInterval, v.N)
		for i, x := range Values[IntervalValue](v)[:v.N] {
			if (x.Micros > math.MaxInt64/1000 || x.Micros < math.MinInt64/1000) && !v.IsNull(i) {
				return nil, sqlerr.New(sqlerr.DatetimeOverflow, "an interval of more than 292 years of hours has no Arrow form").
					Hintf("cast it to TEXT")
			}
			spans[i] = arrow.MonthDayNanoInterval{Months: x.Months, Days: x.Days, Nanoseconds: x.Micros * 1000}
		}
		return arrow.MonthDayNanoIntervalTraits.CastToBytes(spans), nil
	}
	return v.Data[:v.N*v.Type.Phys().Width()], nil
}

// timeTZTexts returns flat TIMETZ as text.
func timeTZTexts(v *Vector) *Vector {
	offsets, text := make([]int32, 1, v.N+1), make([]byte, 0, v.N*len("00:00:00+00"))
	for i, x := range Values[int64](v)[:v.N] {
		if !v.IsNull(i) {
			text = AppendTimeTZ(text, x)
		}
		offsets = append(offsets, int32(len(text)))
	}
	return FlatBytes(TextType, offsets, text, v.Valid)
}

// uuidTextBytes is the length of a UUID as text.
const uuidTextBytes = 36

func uuidOffsets(n int) []byte {
	offsets := make([]int32, n+1)
	for i := range offsets {
		offsets[i] = int32(i * uuidTextBytes)
	}
	return AsBytes(offsets)
}

// zeroBased returns offsets that start at 0 and the bytes they span: Arrow's writers would otherwise send the whole
// buffer with each slice of it.
func zeroBased(v *Vector) ([]int32, []byte) {
	offsets, first := rebase(v.Offsets[:v.N+1])
	return offsets, v.Data[first : first+offsets[v.N]]
}

func rebase(offsets []int32) (rebased []int32, first int32) {
	first = offsets[0]
	if first == 0 {
		return offsets, 0
	}
	rebased = make([]int32, len(offsets))
	for i, o := range offsets {
		rebased[i] = o - first
	}
	return rebased, first
}

// bitmapBytes returns the memory of the first n bits.
func bitmapBytes(b Bitmap, n int) []byte {
	if len(b) == 0 {
		return nil
	}
	return unsafe.Slice((*byte)(unsafe.Pointer(unsafe.SliceData(b))), len(b)*8)[:(n+7)/8]
}
