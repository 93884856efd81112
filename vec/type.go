package vec

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// ID names a logical type.
type ID uint8

// The logical types. The physical form of each is what [Type.Phys] returns.
const (
	Null        ID = iota // the type of an untyped NULL
	Bool                  // one byte a value, 0 or 1
	Int16                 // SMALLINT
	Int32                 // INTEGER
	Int64                 // BIGINT
	Float32               // REAL
	Float64               // DOUBLE PRECISION
	Decimal               // NUMERIC(p, s): int64 for p <= 18, Int128 above; the value is unscaled
	Text                  // UTF-8
	Bytea                 // bytes
	Date                  // days since 1970-01-01
	Time                  // microseconds since midnight
	Timestamp             // microseconds since 1970-01-01 without zone
	TimestampTZ           // microseconds since 1970-01-01 UTC
	Interval              // months, days, microseconds
	UUID                  // 16 bytes, big-endian, kept as Int128{Hi, Lo}
	JSON                  // UTF-8 text of one JSON value
	Array                 // of Elem
	Struct                // of Fields
	TimeTZ                // time of day with its offset from UTC, packed by [MakeTimeTZ]
	numIDs
)

// Type is a logical type with its parameters. Types are small values: pass them by value and compare with [Type.Equal].
type Type struct {
	ID        ID
	Precision uint8   // Decimal: 1..38
	Scale     uint8   // Decimal: 0..Precision
	Elem      *Type   // Array
	Fields    []Field // Struct
	Enum      *Enum   // Text: the enumeration whose labels the values are, nil for text
}

// Enum is an enumeration: a named list of labels. Its values are kept as text and compare as text for equality; their
// order is that of the labels, which whoever orders them has to look up.
type Enum struct {
	Schema, Name string
	Labels       []string
}

// EnumType returns an enumeration's type.
func EnumType(e *Enum) Type { return Type{ID: Text, Enum: e} }

// Place returns the place of a label among the labels, -1 when it is none of them.
func (e *Enum) Place(label string) int { return slices.Index(e.Labels, label) }

func sameEnum(a, b *Enum) bool {
	return a == b || a != nil && b != nil && a.Schema == b.Schema && a.Name == b.Name
}

// Field is one member of a STRUCT.
type Field struct {
	Name string
	Type Type
}

// Constructors for the types without parameters read better than literals.
var (
	NullType        = Type{ID: Null}
	BoolType        = Type{ID: Bool}
	Int16Type       = Type{ID: Int16}
	Int32Type       = Type{ID: Int32}
	Int64Type       = Type{ID: Int64}
	Float32Type     = Type{ID: Float32}
	Float64Type     = Type{ID: Float64}
	TextType        = Type{ID: Text}
	ByteaType       = Type{ID: Bytea}
	DateType        = Type{ID: Date}
	TimeType        = Type{ID: Time}
	TimeTZType      = Type{ID: TimeTZ}
	TimestampType   = Type{ID: Timestamp}
	TimestampTZType = Type{ID: TimestampTZ}
	IntervalType    = Type{ID: Interval}
	UUIDType        = Type{ID: UUID}
	JSONType        = Type{ID: JSON}
)

// MaxPrecision is the widest NUMERIC; Precision64 the widest that fits an int64.
const (
	MaxPrecision = 38
	Precision64  = 18
)

// DecimalType returns NUMERIC(precision, scale). It panics outside 1..38 or scale > precision: check user input first.
func DecimalType(precision, scale int) Type {
	if precision < 1 || precision > MaxPrecision || scale < 0 || scale > precision {
		panic(fmt.Sprintf("vec: NUMERIC(%d, %d)", precision, scale))
	}
	return Type{ID: Decimal, Precision: uint8(precision), Scale: uint8(scale)}
}

// ArrayType returns elem[].
func ArrayType(elem Type) Type { return Type{ID: Array, Elem: &elem} }

// StructType returns STRUCT(fields).
func StructType(fields ...Field) Type { return Type{ID: Struct, Fields: fields} }

// Phys is the physical form of a type's values.
type Phys uint8

// The physical forms.
const (
	PhysNone     Phys = iota // Null: no data
	PhysBool                 // []byte, 0 or 1
	PhysInt16                // []int16
	PhysInt32                // []int32
	PhysInt64                // []int64
	PhysFloat32              // []float32
	PhysFloat64              // []float64
	PhysInt128               // []Int128
	PhysInterval             // []IntervalValue
	PhysBytes                // offsets and data
	PhysList                 // offsets and a child vector
	PhysStruct               // child vectors
)

var physOf = [numIDs]Phys{
	Null: PhysNone, Bool: PhysBool, Int16: PhysInt16, Int32: PhysInt32, Int64: PhysInt64, Float32: PhysFloat32,
	Float64: PhysFloat64, Decimal: PhysInt64, Text: PhysBytes, Bytea: PhysBytes, Date: PhysInt32, Time: PhysInt64,
	Timestamp: PhysInt64, TimestampTZ: PhysInt64, Interval: PhysInterval, UUID: PhysInt128, JSON: PhysBytes,
	Array: PhysList, Struct: PhysStruct, TimeTZ: PhysInt64,
}

// Phys returns the physical form of t's values.
func (t Type) Phys() Phys {
	if t.ID == Decimal && t.Precision > Precision64 {
		return PhysInt128
	}
	return physOf[t.ID]
}

// Width returns the bytes one value of a fixed-width form takes, 0 for the others.
func (p Phys) Width() int {
	switch p {
	case PhysBool:
		return 1
	case PhysInt16:
		return 2
	case PhysInt32, PhysFloat32:
		return 4
	case PhysInt64, PhysFloat64:
		return 8
	case PhysInt128, PhysInterval:
		return 16
	}
	return 0
}

// Equal reports whether t and u are the same type, parameters and members included.
func (t Type) Equal(u Type) bool {
	if t.ID != u.ID || t.Precision != u.Precision || t.Scale != u.Scale || !sameEnum(t.Enum, u.Enum) || len(t.Fields) != len(u.Fields) {
		return false
	}
	if (t.Elem == nil) != (u.Elem == nil) || t.Elem != nil && !t.Elem.Equal(*u.Elem) {
		return false
	}
	for i := range t.Fields {
		if t.Fields[i].Name != u.Fields[i].Name || !t.Fields[i].Type.Equal(u.Fields[i].Type) {
			return false
		}
	}
	return true
}

// IsInteger reports SMALLINT, INTEGER and BIGINT.
func (t Type) IsInteger() bool { return t.ID == Int16 || t.ID == Int32 || t.ID == Int64 }

// IsFloat reports REAL and DOUBLE PRECISION.
func (t Type) IsFloat() bool { return t.ID == Float32 || t.ID == Float64 }

// IsNumeric reports integers, floats and NUMERIC.
func (t Type) IsNumeric() bool { return t.IsInteger() || t.IsFloat() || t.ID == Decimal }

// IsTemporal reports dates, times and timestamps; not intervals.
func (t Type) IsTemporal() bool { return t.ID >= Date && t.ID <= TimestampTZ || t.ID == TimeTZ }

var typeNames = [numIDs]string{
	Null: "unknown", Bool: "boolean", Int16: "smallint", Int32: "integer", Int64: "bigint", Float32: "real",
	Float64: "double precision", Decimal: "numeric", Text: "text", Bytea: "bytea", Date: "date", Time: "time without time zone",
	Timestamp: "timestamp without time zone", TimestampTZ: "timestamp with time zone", Interval: "interval",
	UUID: "uuid", JSON: "json", Array: "array", Struct: "struct", TimeTZ: "time with time zone",
}

// String returns PostgreSQL's name of the type.
func (t Type) String() string {
	switch t.ID {
	case Text:
		if t.Enum != nil {
			return t.Enum.Name
		}
	case Decimal:
		return "numeric(" + strconv.Itoa(int(t.Precision)) + "," + strconv.Itoa(int(t.Scale)) + ")"
	case Array:
		return t.Elem.String() + "[]"
	case Struct:
		parts := make([]string, len(t.Fields))
		for i, f := range t.Fields {
			parts[i] = f.Name + " " + f.Type.String()
		}
		return "struct(" + strings.Join(parts, ", ") + ")"
	}
	if int(t.ID) < len(typeNames) {
		return typeNames[t.ID]
	}
	return "type " + strconv.Itoa(int(t.ID))
}
