package vec

import (
	"math"
	"math/big"
	"strings"
	"time"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"

	"github.com/tidemarkdb/tidemark/sqlerr"
)

// FromArrowSchema returns the columns that [FromArrow] makes of records of schema, or an error that names the first
// column of a type without a counterpart here.
func FromArrowSchema(schema *arrow.Schema) (Schema, error) {
	out := make(Schema, schema.NumFields())
	for i, f := range schema.Fields() {
		t, err := FromArrowType(f.Type)
		if err != nil {
			return nil, sqlerr.New(sqlerr.FeatureNotSupported, "column %q: %w", f.Name, err).Hintf("cast it before sending it")
		}
		out[i] = Column{Name: f.Name, Type: t, Nullable: f.Nullable}
	}
	return out, nil
}

// FromArrowType returns the type that holds every value of an Arrow type: unsigned integers take the next wider type,
// durations become intervals, units finer than microseconds are floored.
func FromArrowType(t arrow.DataType) (Type, error) {
	switch t := t.(type) {
	case *arrow.Decimal32Type, *arrow.Decimal64Type, *arrow.Decimal128Type, *arrow.Decimal256Type:
		return fromArrowDecimal(t.(arrow.DecimalType))
	case *arrow.TimestampType:
		if t.TimeZone != "" {
			return TimestampTZType, nil
		}
		return TimestampType, nil
	case *arrow.DictionaryType:
		return FromArrowType(t.ValueType)
	case *arrow.StructType:
		var fields []Field
		for _, f := range t.Fields() {
			ft, err := FromArrowType(f.Type)
			if err != nil {
				return Type{}, err
			}
			fields = append(fields, Field{f.Name, ft})
		}
		return StructType(fields...), nil
	case *arrow.MapType:
	case arrow.ListLikeType:
		elem, err := FromArrowType(t.Elem())
		return ArrayType(elem), err
	case arrow.ExtensionType:
		switch t.ExtensionName() {
		case "arrow.uuid":
			return UUIDType, nil
		case "arrow.json":
			return JSONType, nil
		}
		return FromArrowType(t.StorageType())
	}
	if known, ok := plainArrow[t.ID()]; ok {
		return known, nil
	}
	return Type{}, sqlerr.New(sqlerr.FeatureNotSupported, "the Arrow type %s is not supported", t)
}

// plainArrow maps the Arrow types without parameters that matter.
var plainArrow = map[arrow.Type]Type{
	arrow.NULL: NullType, arrow.BOOL: BoolType,
	arrow.INT8: Int16Type, arrow.INT16: Int16Type, arrow.INT32: Int32Type, arrow.INT64: Int64Type,
	arrow.UINT8: Int16Type, arrow.UINT16: Int32Type, arrow.UINT32: Int64Type, arrow.UINT64: {ID: Decimal, Precision: 20},
	arrow.FLOAT16: Float32Type, arrow.FLOAT32: Float32Type, arrow.FLOAT64: Float64Type,
	arrow.STRING: TextType, arrow.LARGE_STRING: TextType, arrow.STRING_VIEW: TextType,
	arrow.BINARY: ByteaType, arrow.LARGE_BINARY: ByteaType, arrow.BINARY_VIEW: ByteaType, arrow.FIXED_SIZE_BINARY: ByteaType,
	arrow.DATE32: DateType, arrow.DATE64: DateType, arrow.TIME32: TimeType, arrow.TIME64: TimeType,
	arrow.DURATION: IntervalType, arrow.INTERVAL_MONTHS: IntervalType, arrow.INTERVAL_DAY_TIME: IntervalType,
	arrow.INTERVAL_MONTH_DAY_NANO: IntervalType,
}

func fromArrowDecimal(t arrow.DecimalType) (Type, error) {
	p, s := int(t.GetPrecision()), int(t.GetScale())
	if s < 0 { // trailing zeros that are not sent
		p, s = p-s, 0
	}
	p = max(p, s)
	if p < 1 || p > MaxPrecision {
		return Type{}, sqlerr.New(sqlerr.NumericOutOfRange, "%s has more than %d digits", t, MaxPrecision)
	}
	return DecimalType(p, s), nil
}

// FromArrow returns a record batch as columns of the types of [FromArrowSchema]. Strings, floats and signed integers
// of 16 bits and more share the record's memory, which must be Go's and not change any more; the rest is converted.
func FromArrow(record arrow.RecordBatch) (*Batch, error) {
	out := &Batch{N: int(record.NumRows())}
	for i, column := range record.Columns() {
		v, err := FromArrowArray(column)
		if err != nil {
			return nil, sqlerr.From(err).Detailf("column %q", record.ColumnName(i))
		}
		out.Cols = append(out.Cols, v)
	}
	return out, nil
}

// FromArrowArray is [FromArrow] for one column.
func FromArrowArray(a arrow.Array) (*Vector, error) {
	t, err := FromArrowType(a.DataType())
	if err != nil {
		return nil, err
	}
	if err := checkArrowOffsets(a); err != nil {
		return nil, err
	}
	if v := shareArrow(t, a); v != nil {
		return v, nil
	}
	b := NewBuilder(t, a.Len())
	for i := range a.Len() {
		if err := appendArrow(b, a, i); err != nil {
			return nil, err
		}
	}
	return b.Finish(), nil
}

// shareArrow returns a vector over the memory of an array of the same layout, nil for any other.
func shareArrow(t Type, a arrow.Array) *Vector {
	n := a.Len()
	switch a := a.(type) {
	case *array.Int16:
		return FlatOf(t, a.Int16Values(), arrowValid(a))
	case *array.Int32:
		return FlatOf(t, a.Int32Values(), arrowValid(a))
	case *array.Int64:
		return FlatOf(t, a.Int64Values(), arrowValid(a))
	case *array.Float32:
		return FlatOf(t, a.Float32Values(), arrowValid(a))
	case *array.Float64:
		return FlatOf(t, a.Float64Values(), arrowValid(a))
	case *array.String:
		if n > 0 {
			return shareArrowBytes(t, a)
		}
	case *array.Binary:
		if n > 0 {
			return shareArrowBytes(t, a)
		}
	}
	return nil
}

// shareArrowBytes is shareArrow for n > 0 byte strings.
func shareArrowBytes(t Type, a arrow.Array) *Vector {
	var data []byte
	if values := a.Data().Buffers()[2]; values != nil { // absent when every string is empty
		data = values.Bytes()
	}
	return FlatBytes(t, arrowOffsets(a.Data()), data, arrowValid(a))
}

// arrowOffsets returns the n+1 offsets of an array of n byte strings, n > 0, from its first row on.
func arrowOffsets(d arrow.ArrayData) []int32 {
	return Cast[int32](d.Buffers()[1].Bytes())[d.Offset() : d.Offset()+d.Len()+1]
}

// checkArrowOffsets refuses byte strings that end before they begin: what a client sent is not to be trusted.
func checkArrowOffsets(a arrow.Array) error {
	switch a.(type) {
	case *array.String, *array.Binary:
	default:
		return nil
	}
	if a.Len() == 0 {
		return nil
	}
	last := int32(0)
	for _, o := range arrowOffsets(a.Data()) {
		if o < last {
			return sqlerr.New(sqlerr.InvalidBinary, "the offsets of an Arrow array of type %s do not ascend", a.DataType()).
				Hintf("the sender's encoder is at fault")
		}
		last = o
	}
	return nil
}

// arrowValid returns the validity of an array from its first row on.
func arrowValid(a arrow.Array) Bitmap {
	if a.NullN() == 0 {
		return nil
	}
	out := NewBitmap(a.Len())
	for i := range a.Len() {
		if a.IsValid(i) {
			out.Set(i)
		}
	}
	return out
}

// appendArrow appends row i of a to a builder of the type that [FromArrowType] gives.
func appendArrow(b *Builder, a arrow.Array, i int) error {
	if a.IsNull(i) {
		b.AppendNull()
		return nil
	}
	switch a := a.(type) {
	case *array.Null:
		b.AppendNull()
	case *array.Boolean:
		b.AppendBool(a.Value(i))
	case *array.Int8:
		AppendFixed(b, int16(a.Value(i)))
	case *array.Int16:
		AppendFixed(b, a.Value(i))
	case *array.Int32:
		AppendFixed(b, a.Value(i))
	case *array.Int64:
		AppendFixed(b, a.Value(i))
	case *array.Uint8:
		AppendFixed(b, int16(a.Value(i)))
	case *array.Uint16:
		AppendFixed(b, int32(a.Value(i)))
	case *array.Uint32:
		AppendFixed(b, int64(a.Value(i)))
	case *array.Uint64:
		AppendFixed(b, Int128{Lo: a.Value(i)})
	case *array.Float16:
		AppendFixed(b, a.Value(i).Float32())
	case *array.Float32:
		AppendFixed(b, a.Value(i))
	case *array.Float64:
		AppendFixed(b, a.Value(i))
	case *array.Decimal32:
		return appendArrowDecimal(b, a.DataType(), Int128From(int64(a.Value(i))))
	case *array.Decimal64:
		return appendArrowDecimal(b, a.DataType(), Int128From(int64(a.Value(i))))
	case *array.Decimal128:
		x := a.Value(i)
		return appendArrowDecimal(b, a.DataType(), Int128{Lo: x.LowBits(), Hi: x.HighBits()})
	case *array.Decimal256:
		x, ok := int128FromBig(a.Value(i).BigInt())
		if !ok {
			return NumericOverflow(b.Type)
		}
		return appendArrowDecimal(b, a.DataType(), x)
	case *array.Dictionary:
		return appendArrow(b, a.Dictionary(), a.GetValueIndex(i))
	case array.ExtensionArray:
		return appendArrowExtension(b, a, i)
	case array.ListLike:
		start, end := a.ValueOffsets(i)
		for j := start; j < end; j++ {
			if err := appendArrow(b.Elements(), a.ListValues(), int(j)); err != nil {
				return err
			}
		}
		b.EndList()
	case *array.Struct:
		for f := range a.NumField() {
			if err := appendArrow(b.Child(f), a.Field(f), i); err != nil {
				return err
			}
		}
		b.EndStruct()
	default:
		if text, ok := arrowBytes(a, i); ok {
			b.AppendString(text)
			return nil
		}
		return appendArrowTime(b, a, i)
	}
	return nil
}

// arrowBytes returns row i of an array of strings or bytes.
func arrowBytes(a arrow.Array, i int) (string, bool) {
	switch a := a.(type) {
	case *array.String:
		return a.Value(i), true
	case *array.LargeString:
		return a.Value(i), true
	case *array.StringView:
		return a.Value(i), true
	case *array.Binary:
		return string(a.Value(i)), true
	case *array.LargeBinary:
		return string(a.Value(i)), true
	case *array.BinaryView:
		return string(a.Value(i)), true
	case *array.FixedSizeBinary:
		return string(a.Value(i)), true
	}
	return "", false
}

func appendArrowDecimal(b *Builder, t arrow.DataType, x Int128) error {
	scale := int(t.(arrow.DecimalType).GetScale())
	x, ok := FitDecimal(x, scale, b.Type)
	if !ok {
		return NumericOverflow(b.Type)
	}
	if b.Type.Phys() == PhysInt64 {
		AppendFixed(b, int64(x.Lo))
	} else {
		AppendFixed(b, x)
	}
	return nil
}

func int128FromBig(x *big.Int) (Int128, bool) {
	if x.BitLen() > 127 {
		return Int128{}, false
	}
	low := new(big.Int).And(x, new(big.Int).SetUint64(math.MaxUint64))
	return Int128{Lo: low.Uint64(), Hi: new(big.Int).Rsh(x, 64).Int64()}, true
}

func appendArrowExtension(b *Builder, a array.ExtensionArray, i int) error {
	if b.Type.ID != UUID {
		return appendArrow(b, a.Storage(), i)
	}
	raw, ok := a.Storage().(*array.FixedSizeBinary)
	if !ok || len(raw.Value(i)) != 16 {
		return sqlerr.New(sqlerr.InvalidBinary, "a UUID does not have 16 bytes")
	}
	var x Int128
	for j, c := range raw.Value(i) {
		if j < 8 {
			x.Hi = x.Hi<<8 | int64(c)
		} else {
			x.Lo = x.Lo<<8 | uint64(c)
		}
	}
	AppendFixed(b, x)
	return nil
}

// appendArrowTime appends row i of an array of dates, times, timestamps, durations or intervals.
func appendArrowTime(b *Builder, a arrow.Array, i int) error {
	ok := true
	switch a := a.(type) {
	case *array.Date32:
		AppendFixed(b, int32(a.Value(i)))
	case *array.Date64:
		AppendFixed(b, int32(floorDiv(int64(a.Value(i)), (24*time.Hour).Milliseconds())))
	case *array.Time32:
		ok = appendMicros(b, int64(a.Value(i)), a.DataType().(*arrow.Time32Type).Unit)
	case *array.Time64:
		ok = appendMicros(b, int64(a.Value(i)), a.DataType().(*arrow.Time64Type).Unit)
	case *array.Timestamp:
		ok = appendMicros(b, int64(a.Value(i)), a.DataType().(*arrow.TimestampType).Unit)
	case *array.Duration:
		var micros int64
		micros, ok = arrowMicros(int64(a.Value(i)), a.DataType().(*arrow.DurationType).Unit)
		AppendFixed(b, IntervalValue{Micros: micros})
	case *array.MonthInterval:
		AppendFixed(b, IntervalValue{Months: int32(a.Value(i))})
	case *array.DayTimeInterval:
		x := a.Value(i)
		AppendFixed(b, IntervalValue{Days: x.Days, Micros: int64(x.Milliseconds) * 1000})
	case *array.MonthDayNanoInterval:
		x := a.Value(i)
		AppendFixed(b, IntervalValue{Months: x.Months, Days: x.Days, Micros: floorDiv(x.Nanoseconds, 1000)})
	default:
		return sqlerr.New(sqlerr.FeatureNotSupported, "the Arrow type %s is not supported", a.DataType())
	}
	if !ok {
		return sqlerr.New(sqlerr.DatetimeOverflow, "%s out of range: %s", strings.ToLower(b.Type.String()), a.ValueStr(i))
	}
	return nil
}

func appendMicros(b *Builder, x int64, unit arrow.TimeUnit) bool {
	micros, ok := arrowMicros(x, unit)
	AppendFixed(b, micros)
	return ok
}

// arrowMicros returns x in microseconds, floored, and whether they fit.
func arrowMicros(x int64, unit arrow.TimeUnit) (int64, bool) {
	switch unit {
	case arrow.Nanosecond:
		return floorDiv(x, 1000), true
	case arrow.Microsecond:
		return x, true
	case arrow.Millisecond:
		return MulInt64(x, 1000).Int64()
	}
	return MulInt64(x, 1_000_000).Int64()
}
