package parquetstore

import (
	"fmt"

	"github.com/parquet-go/parquet-go/deprecated"
	"github.com/parquet-go/parquet-go/format"

	"github.com/tidemarkdb/tidemark/vec"
)

// conversion turns values as stored into values of the SQL type.
type conversion uint8

const (
	keep           conversion = iota // stored form and vec form are the same bytes
	narrow16                         // int32 to int16, checked
	unsigned32                       // uint32 to int64
	unsigned64                       // uint64 to Int128
	widen64                          // int32 to int64
	millis32                         // milliseconds as int32 to microseconds
	millis64                         // milliseconds to microseconds
	nanos64                          // nanoseconds to microseconds, rounded down
	impala96                         // INT96: nanoseconds of the day and Julian day
	bigEndian64                      // decimal bytes to int64
	bigEndian128                     // decimal bytes to Int128
	int32To128                       // decimal of more digits than its form needs
	int64To128                       // decimal of more digits than its form needs
	uuidBytes                        // 16 bytes to Int128
	intervalMillis                   // Parquet's INTERVAL: months, days, milliseconds
	intervalMicros                   // ours: months, days, microseconds, 16 bytes
	half                             // FLOAT16
	fixedBytes                       // FIXED_LEN_BYTE_ARRAY to byte strings
)

// leafOf maps a primitive element to its SQL type. own is the type our writer stored there that Parquet has none for,
// the zero Type for others.
func leafOf(path string, e *format.SchemaElement, own vec.Type) (leaf, error) {
	l := leaf{path: path, phys: e.Type.V, length: int(e.TypeLength.V)}
	if !e.Type.Valid || l.phys < format.Boolean || l.phys > format.FixedLenByteArray {
		return l, fmt.Errorf("column %q has no known physical type", path)
	}
	if l.phys == format.FixedLenByteArray && (l.length < 1 || l.length > 1<<20) {
		return l, fmt.Errorf("column %q has values of %d bytes", path, l.length)
	}
	if own.ID != vec.Null {
		form := formOf(own)
		if l.phys != form.phys || l.length != form.length {
			return l, fmt.Errorf("column %q is of type %s but holds %s values", path, own, l.phys)
		}
		l.typ = own
		if own.ID == vec.Interval {
			l.conv = intervalMicros
		}
		return l, nil
	}
	ok := l.logical(e.LogicalType.Value) || l.converted(e) || l.plain()
	if !ok {
		return l, fmt.Errorf("column %q: type %s of %s values is not supported", path, e.LogicalType.String(), l.phys)
	}
	return l, nil
}

// plain gives a leaf without a usable annotation the type of its stored form.
func (l *leaf) plain() bool {
	switch l.phys {
	case format.Boolean:
		l.typ = vec.BoolType
	case format.Int32:
		l.typ = vec.Int32Type
	case format.Int64:
		l.typ = vec.Int64Type
	case format.Int96:
		l.typ, l.conv = vec.TimestampType, impala96
	case format.Float:
		l.typ = vec.Float32Type
	case format.Double:
		l.typ = vec.Float64Type
	case format.ByteArray:
		l.typ = vec.ByteaType
	case format.FixedLenByteArray:
		l.typ, l.conv = vec.ByteaType, fixedBytes
	}
	return true
}

// logical sets type and conversion from the annotation and reports whether it applies to the stored form.
func (l *leaf) logical(annotation format.LogicalTypeValue) bool {
	switch a := annotation.(type) {
	case *format.StringType, *format.EnumType:
		return l.bytes(vec.TextType)
	case *format.JsonType:
		return l.bytes(vec.JSONType)
	case *format.BsonType:
		return l.bytes(vec.ByteaType)
	case *format.DecimalType:
		return l.decimal(int(a.Precision), int(a.Scale))
	case *format.DateType:
		return l.set(l.phys == format.Int32, vec.DateType, keep)
	case *format.TimeType:
		return l.ticks(a.Unit.Value, vec.TimeType)
	case *format.TimestampType:
		if a.IsAdjustedToUTC {
			return l.ticks(a.Unit.Value, vec.TimestampTZType)
		}
		return l.ticks(a.Unit.Value, vec.TimestampType)
	case *format.IntType:
		return l.integer(int(a.BitWidth), a.IsSigned)
	case *format.UUIDType:
		return l.set(l.phys == format.FixedLenByteArray && l.length == 16, vec.UUIDType, uuidBytes)
	case *format.Float16Type:
		return l.set(l.phys == format.FixedLenByteArray && l.length == 2, vec.Float32Type, half)
	}
	return false
}

// converted does the same for the older annotation.
func (l *leaf) converted(e *format.SchemaElement) bool {
	if !e.ConvertedType.Valid {
		return false
	}
	switch c := e.ConvertedType.V; c {
	case deprecated.UTF8, deprecated.Enum:
		return l.bytes(vec.TextType)
	case deprecated.Json:
		return l.bytes(vec.JSONType)
	case deprecated.Bson:
		return l.bytes(vec.ByteaType)
	case deprecated.Decimal:
		return l.decimal(int(e.Precision.V), int(e.Scale.V))
	case deprecated.Date:
		return l.set(l.phys == format.Int32, vec.DateType, keep)
	case deprecated.TimeMillis:
		return l.ticks((*format.MilliSeconds)(nil), vec.TimeType)
	case deprecated.TimeMicros:
		return l.ticks((*format.MicroSeconds)(nil), vec.TimeType)
	case deprecated.TimestampMillis:
		return l.ticks((*format.MilliSeconds)(nil), vec.TimestampTZType)
	case deprecated.TimestampMicros:
		return l.ticks((*format.MicroSeconds)(nil), vec.TimestampTZType)
	case deprecated.Uint8, deprecated.Uint16, deprecated.Uint32, deprecated.Uint64:
		return l.integer(8<<(c-deprecated.Uint8), false)
	case deprecated.Int8, deprecated.Int16, deprecated.Int32, deprecated.Int64:
		return l.integer(8<<(c-deprecated.Int8), true)
	case deprecated.Interval:
		return l.set(l.phys == format.FixedLenByteArray && l.length == 12, vec.IntervalType, intervalMillis)
	}
	return false
}

func (l *leaf) set(ok bool, t vec.Type, c conversion) bool {
	if ok {
		l.typ, l.conv = t, c
	}
	return ok
}

func (l *leaf) bytes(t vec.Type) bool {
	if l.phys == format.FixedLenByteArray {
		return l.set(true, t, fixedBytes)
	}
	return l.set(l.phys == format.ByteArray, t, keep)
}

func (l *leaf) decimal(precision, scale int) bool {
	if precision < 1 || precision > vec.MaxPrecision || scale < 0 || scale > precision {
		return false
	}
	t := vec.DecimalType(precision, scale)
	wide := t.Phys() == vec.PhysInt128
	pick := func(narrow, big conversion) bool {
		if wide {
			return l.set(true, t, big)
		}
		return l.set(true, t, narrow)
	}
	switch l.phys {
	case format.Int32:
		return pick(widen64, int32To128)
	case format.Int64:
		return pick(keep, int64To128)
	case format.ByteArray, format.FixedLenByteArray:
		return pick(bigEndian64, bigEndian128)
	}
	return false
}

func (l *leaf) ticks(unit format.TimeUnitValue, t vec.Type) bool {
	switch unit.(type) {
	case *format.MilliSeconds:
		if l.phys == format.Int32 {
			return l.set(t.ID == vec.Time, t, millis32)
		}
		return l.set(l.phys == format.Int64, t, millis64)
	case *format.MicroSeconds:
		return l.set(l.phys == format.Int64, t, keep)
	case *format.NanoSeconds:
		return l.set(l.phys == format.Int64, t, nanos64)
	}
	return false
}

func (l *leaf) integer(bits int, signed bool) bool {
	small, large := l.phys == format.Int32, l.phys == format.Int64
	switch {
	case bits == 8, bits == 16 && signed:
		return l.set(small, vec.Int16Type, narrow16)
	case bits == 16, bits == 32 && signed:
		return l.set(small, vec.Int32Type, keep)
	case bits == 32:
		return l.set(small, vec.Int64Type, unsigned32)
	case bits == 64 && signed:
		return l.set(large, vec.Int64Type, keep)
	case bits == 64:
		return l.set(large, vec.DecimalType(20, 0), unsigned64)
	}
	return false
}

// storedWidth returns the bytes a value takes as decoded before conversion, 0 for byte arrays. Booleans take one.
func (l *leaf) storedWidth() int {
	switch l.phys {
	case format.Boolean:
		return 1
	case format.Int32, format.Float:
		return 4
	case format.Int64, format.Double:
		return 8
	case format.Int96:
		return 12
	case format.FixedLenByteArray:
		return l.length
	}
	return 0
}
