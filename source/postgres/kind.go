package postgres

import (
	"fmt"

	"github.com/tidemarkdb/tidemark/vec"
)

// kind is how values of a source type look in PostgreSQL's binary form.
type kind uint8

const (
	kindText    kind = iota // no binary form of ours: read as PostgreSQL's text
	kindBool                //
	kindInt2                //
	kindInt4                //
	kindInt8                //
	kindFloat4              //
	kindFloat8              //
	kindNumeric             //
	kindString              // text, varchar, bpchar, name, citext, enum labels
	kindChar                // "char", one byte
	kindBytea               //
	kindDate                //
	kindTime                //
	kindTimeTZ              //
	kindTimestamp
	kindTimestampTZ
	kindInterval
	kindUUID
	kindJSON
	kindJSONB
	kindArray
)

// kindOfSend maps the binary output function of a type, which domains and enums inherit, to its kind. A type whose
// function is not listed is kindText.
var kindOfSend = map[string]kind{
	"boolsend": kindBool, "int2send": kindInt2, "int4send": kindInt4, "int8send": kindInt8, "float4send": kindFloat4,
	"float8send": kindFloat8, "numeric_send": kindNumeric, "textsend": kindString, "varcharsend": kindString,
	"bpcharsend": kindString, "namesend": kindString, "citextsend": kindString, "enum_send": kindString,
	"charsend": kindChar, "byteasend": kindBytea, "date_send": kindDate, "time_send": kindTime, "timetz_send": kindTimeTZ,
	"timestamp_send": kindTimestamp, "timestamptz_send": kindTimestampTZ, "interval_send": kindInterval,
	"uuid_send": kindUUID, "json_send": kindJSON, "jsonb_send": kindJSONB, "array_send": kindArray,
}

// sourceType is the type of a source column, domains resolved to what they are over.
type sourceType struct {
	oid    uint32
	typmod int32
	name   string // as PostgreSQL prints it, with its parameters
	kind   kind
	elem   *sourceType // kindArray
}

// precision returns p and s of numeric(p, s), false for numeric without them.
func (t sourceType) precision() (p, s int, ok bool) {
	if t.kind != kindNumeric || t.typmod < 4 {
		return 0, 0, false
	}
	packed := t.typmod - 4
	return int(packed >> 16 & 0xffff), int(packed&0x7ff^1024) - 1024, true
}

// natural returns the target type that holds every value of t, for messages and documentation.
func (t sourceType) natural() vec.Type {
	switch t.kind {
	case kindBool:
		return vec.BoolType
	case kindInt2:
		return vec.Int16Type
	case kindInt4:
		return vec.Int32Type
	case kindInt8:
		return vec.Int64Type
	case kindFloat4:
		return vec.Float32Type
	case kindFloat8:
		return vec.Float64Type
	case kindNumeric:
		if p, s, ok := t.precision(); ok {
			scale := max(s, 0)
			if whole := max(p-s, 0); whole+scale >= 1 && whole+scale <= vec.MaxPrecision {
				return vec.DecimalType(whole+scale, scale)
			}
		}
		return vec.TextType
	case kindBytea:
		return vec.ByteaType
	case kindDate:
		return vec.DateType
	case kindTime:
		return vec.TimeType
	case kindTimeTZ:
		return vec.TimeTZType
	case kindTimestamp:
		return vec.TimestampType
	case kindTimestampTZ:
		return vec.TimestampTZType
	case kindInterval:
		return vec.IntervalType
	case kindUUID:
		return vec.UUIDType
	case kindJSON, kindJSONB:
		return vec.JSONType
	case kindArray:
		return vec.ArrayType(t.elem.natural())
	}
	return vec.TextType
}

// fits reports whether the target type takes values of t without loss. Unconstrained numerics and arrays of them fit
// any NUMERIC: each value is checked as it arrives. The reason of a misfit says what to declare.
func (t sourceType) fits(target vec.Type) error {
	switch t.kind {
	case kindInt2, kindInt4, kindInt8:
		if t.integerFits(target) {
			return nil
		}
	case kindFloat4:
		if target.IsFloat() {
			return nil
		}
	case kindNumeric:
		if target.ID == vec.Text {
			return nil
		}
		if target.ID == vec.Decimal {
			p, s, constrained := t.precision()
			if !constrained || max(s, 0) <= int(target.Scale) && p-s <= int(target.Precision)-int(target.Scale) {
				return nil
			}
		}
	case kindUUID, kindJSON, kindJSONB, kindTimeTZ:
		if target.ID == t.natural().ID || target.ID == vec.Text {
			return nil
		}
	case kindArray:
		if target.ID == vec.Text {
			return nil
		}
		elem := target
		for elem.ID == vec.Array {
			elem = *elem.Elem
		}
		if target.ID == vec.Array && t.elem.kind != kindArray && t.elem.fits(elem) == nil {
			return nil
		}
	default:
		if target.Equal(t.natural()) {
			return nil
		}
	}
	return fmt.Errorf("declare it %s", t.declaration())
}

// declaration is natural in the words of a CREATE CDC TABLE statement.
func (t sourceType) declaration() string {
	if t.kind == kindNumeric && t.natural().ID == vec.Text {
		return "NUMERIC(38, s) with the scale s of its values, or TEXT to keep every value exactly"
	}
	return upper(t.natural().String())
}

func upper(s string) string {
	b := []byte(s)
	for i, c := range b {
		if c >= 'a' && c <= 'z' {
			b[i] = c - 'a' + 'A'
		}
	}
	return string(b)
}

func (t sourceType) integerFits(target vec.Type) bool {
	digits := map[kind]int{kindInt2: 5, kindInt4: 10, kindInt8: 19}[t.kind]
	switch target.ID {
	case vec.Int16:
		return t.kind == kindInt2
	case vec.Int32:
		return t.kind != kindInt8
	case vec.Int64:
		return true
	case vec.Float32:
		return t.kind == kindInt2
	case vec.Float64:
		return t.kind != kindInt8
	case vec.Decimal:
		return int(target.Precision)-int(target.Scale) >= digits
	}
	return false
}

// byText reports whether values must be read in PostgreSQL's text form: there is no binary decoder from t to target.
func (t sourceType) byText(target vec.Type) bool {
	if t.kind == kindArray {
		return target.ID == vec.Text || t.elem.byText(innermost(target))
	}
	return t.kind == kindText
}

func innermost(t vec.Type) vec.Type {
	for t.ID == vec.Array {
		t = *t.Elem
	}
	return t
}
