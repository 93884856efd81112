package mongodb

import (
	"encoding/binary"
	"encoding/hex"
	"errors"
	"fmt"
	"math"
	"unicode/utf8"

	"go.mongodb.org/mongo-driver/v2/bson"

	"github.com/tidemarkdb/tidemark/vec"
)

// A misfit is a value that its column cannot hold. Its text follows "does not fit INTEGER: ".
type misfit string

func (m misfit) Error() string { return string(m) }

func misfitf(format string, args ...any) error { return misfit(fmt.Sprintf(format, args...)) }

var typeNames = map[bson.Type]string{
	bson.TypeDouble: "a double", bson.TypeString: "a string", bson.TypeEmbeddedDocument: "a document", bson.TypeArray: "an array",
	bson.TypeBinary: "a binary value", bson.TypeUndefined: "undefined", bson.TypeObjectID: "an ObjectId", bson.TypeBoolean: "a boolean",
	bson.TypeDateTime: "a date", bson.TypeNull: "null", bson.TypeRegex: "a regular expression", bson.TypeDBPointer: "a DBPointer",
	bson.TypeJavaScript: "JavaScript code", bson.TypeSymbol: "a symbol", bson.TypeCodeWithScope: "JavaScript code with scope",
	bson.TypeInt32: "an int", bson.TypeTimestamp: "a timestamp", bson.TypeInt64: "a long", bson.TypeDecimal128: "a Decimal128",
	bson.TypeMinKey: "a MinKey", bson.TypeMaxKey: "a MaxKey",
}

// holdable reports whether values of BSON can be stored in columns of t.
func holdable(t vec.Type) bool {
	switch t.ID {
	case vec.Null, vec.Time, vec.TimeTZ, vec.Interval:
		return false
	case vec.Array:
		return holdable(*t.Elem)
	case vec.Struct:
		for _, f := range t.Fields {
			if !holdable(f.Type) {
				return false
			}
		}
	}
	return true
}

// decoder turns values of BSON into values of columns, one decoder for the snapshot and the stream. What it returns
// aliases its buffer and the value and holds until the next decode.
type decoder struct {
	json form // of JSON and TEXT columns: relaxed or canonical
	buf  []byte
}

// decode returns v as a value of type t. The error is a misfit, or errBSON.
func (d *decoder) decode(v value, t vec.Type) (vec.Value, error) {
	d.buf = d.buf[:0]
	return d.nested(v, t, 0)
}

func (d *decoder) nested(v value, t vec.Type, depth int) (vec.Value, error) {
	if v.null() {
		return vec.NullValue(t), nil
	}
	switch t.ID {
	case vec.JSON:
		return d.written(t, func(dst []byte) ([]byte, error) { return appendJSON(dst, v, d.json) })
	case vec.Text:
		return d.text(v, t)
	case vec.Array:
		return d.array(v, t, depth)
	case vec.Struct:
		return d.structure(v, t, depth)
	}
	return scalar(v, t)
}

// written returns what write appends to the buffer.
func (d *decoder) written(t vec.Type, write func([]byte) ([]byte, error)) (vec.Value, error) {
	start := len(d.buf)
	out, err := write(d.buf)
	if err != nil {
		if errors.Is(err, errUTF8) || errors.Is(err, errDepth) {
			err = misfit(err.Error())
		}
		return vec.Value{}, err
	}
	d.buf = out
	// The buffer may move when it grows; what was written before stays where it is.
	return vec.StringValue(t, vec.String(out[start:])), nil
}

// text prints values without a type's tag where there is an obvious text; the others are JSON.
func (d *decoder) text(v value, t vec.Type) (vec.Value, error) {
	switch v.kind {
	case bson.TypeString, bson.TypeSymbol:
		s, err := v.text()
		if err == nil {
			err = checkText(s)
		}
		return vec.StringValue(t, vec.String(s)), err
	case bson.TypeObjectID:
		return d.written(t, func(dst []byte) ([]byte, error) { return hex.AppendEncode(dst, v.data), nil })
	case bson.TypeDateTime:
		return d.written(t, func(dst []byte) ([]byte, error) { return appendMoment(dst, v.int64()), nil })
	case bson.TypeInt32, bson.TypeInt64, bson.TypeDouble, bson.TypeDecimal128:
		return d.written(t, func(dst []byte) ([]byte, error) { return appendBare(dst, v), nil })
	case bson.TypeBinary:
		if data, subtype := v.binary(); subtype == bson.TypeBinaryUUID && len(data) == 16 {
			return d.written(t, func(dst []byte) ([]byte, error) { return appendUUID(dst, data), nil })
		}
	}
	return d.written(t, func(dst []byte) ([]byte, error) { return appendJSON(dst, v, d.json) })
}

func checkText(s []byte) error {
	if !utf8.Valid(s) {
		return misfit(errUTF8.Error())
	}
	return nil
}

func (d *decoder) array(v value, t vec.Type, depth int) (vec.Value, error) {
	if v.kind != bson.TypeArray {
		return vec.Value{}, wrongType(v)
	}
	e, err := open(v.data)
	if err != nil {
		return vec.Value{}, err
	}
	out := vec.Value{Type: t, List: []vec.Value{}}
	for i := 0; ; i++ {
		_, inner, ok, err := e.next()
		if err != nil || !ok {
			return out, err
		}
		item, err := d.nested(inner, *t.Elem, depth+1)
		if err != nil {
			return vec.Value{}, inside(fmt.Sprintf("element %d", i), *t.Elem, err)
		}
		out.List = append(out.List, item)
	}
}

// structure fills a STRUCT from the fields of its names; other fields are left out, missing ones are NULL.
func (d *decoder) structure(v value, t vec.Type, depth int) (vec.Value, error) {
	if v.kind != bson.TypeEmbeddedDocument {
		return vec.Value{}, wrongType(v)
	}
	out := vec.Value{Type: t}
	for _, f := range t.Fields {
		inner, err := field(v.data, f.Name)
		if err != nil {
			return vec.Value{}, err
		}
		item, err := d.nested(inner, f.Type, depth+1)
		if err != nil {
			return vec.Value{}, inside("field "+f.Name, f.Type, err)
		}
		out.List = append(out.List, item)
	}
	return out, nil
}

func inside(where string, t vec.Type, err error) error {
	if m := misfit(""); errors.As(err, &m) {
		return misfitf("%s does not fit %s: %s", where, typeText(t), string(m))
	}
	return err
}

func wrongType(v value) error { return misfitf("it is %s", typeNames[v.kind]) }

// scalar decodes into the types that take no text and no nesting.
func scalar(v value, t vec.Type) (vec.Value, error) {
	switch t.ID {
	case vec.Bool:
		if v.kind == bson.TypeBoolean {
			return vec.BoolValue(v.data[0] != 0), nil
		}
	case vec.Int16, vec.Int32, vec.Int64:
		return integer(v, t)
	case vec.Float32, vec.Float64:
		return float(v, t)
	case vec.Decimal:
		return decimal(v, t)
	case vec.Bytea:
		if v.kind == bson.TypeBinary {
			data, _ := v.binary()
			return vec.StringValue(t, vec.String(data)), nil
		}
		if v.kind == bson.TypeObjectID {
			return vec.StringValue(t, vec.String(v.data)), nil
		}
	case vec.UUID:
		return uuid(v, t)
	case vec.Date, vec.Timestamp, vec.TimestampTZ:
		if v.kind == bson.TypeDateTime {
			return moment(v.int64(), t)
		}
	}
	return vec.Value{}, wrongType(v)
}

// numeric reads a number that must be finite.
func numeric(v value) (number, error) {
	switch v.kind {
	case bson.TypeInt32, bson.TypeInt64, bson.TypeDouble, bson.TypeDecimal128:
	default:
		return number{}, wrongType(v)
	}
	n, c := toNumber(v)
	if c != finite {
		return number{}, misfitf("it is %s", c)
	}
	return n, nil
}

func integer(v value, t vec.Type) (vec.Value, error) {
	if v.kind == bson.TypeTimestamp && t.ID == vec.Int64 {
		at := v.timestamp()
		if at.T > math.MaxInt32 {
			return vec.Value{}, misfit("it is out of range")
		}
		return vec.IntValue(t, int64(at.T)<<32|int64(at.I)), nil
	}
	n, err := numeric(v)
	if err != nil {
		return vec.Value{}, err
	}
	if _, ok := n.scaled(0); !ok && n.plain().exponent < 0 {
		return vec.Value{}, misfit("it is not a whole number")
	}
	x, ok := n.whole()
	if v.kind == bson.TypeDouble && ok && math.Abs(v.float64()) >= 1<<53 { // where its shortest text is not its value
		x, ok = int64(v.float64()), math.Abs(v.float64()) < 1<<63
	}
	if !ok || t.ID == vec.Int16 && x != int64(int16(x)) || t.ID == vec.Int32 && x != int64(int32(x)) {
		return vec.Value{}, misfit("it is out of range")
	}
	return vec.IntValue(t, x), nil
}

// float decodes numbers that keep their value. A Decimal128 keeps it when the float prints as it does.
func float(v value, t vec.Type) (vec.Value, error) {
	var x float64
	switch v.kind {
	case bson.TypeDouble:
		x = v.float64()
	case bson.TypeInt32, bson.TypeInt64:
		x = float64(v.int64())
		if x >= 1<<63 || int64(x) != v.int64() {
			return vec.Value{}, misfit("it has more digits than a float keeps")
		}
	case bson.TypeDecimal128:
		n, c := toNumber(v)
		x = map[class]float64{notANumber: math.NaN(), infinite: math.Inf(1), minusInfinite: math.Inf(-1)}[c]
		if c == finite {
			var ok bool
			if x, ok = n.float(); !ok {
				return vec.Value{}, misfit("it has more digits than a float keeps")
			}
		}
	default:
		return vec.Value{}, wrongType(v)
	}
	if t.ID == vec.Float32 && float64(float32(x)) != x && !math.IsNaN(x) {
		return vec.Value{}, misfit("it has more digits than a REAL keeps")
	}
	return vec.FloatValue(t, x), nil
}

func decimal(v value, t vec.Type) (vec.Value, error) {
	n, err := numeric(v)
	if err != nil {
		return vec.Value{}, err
	}
	x, ok := n.scaled(int(t.Scale))
	switch {
	case !ok && -n.plain().exponent > int(t.Scale):
		return vec.Value{}, misfitf("it has more than %d decimal places", t.Scale)
	case !ok || !vec.FitsPrecision(x, int(t.Precision)):
		return vec.Value{}, misfit("it is out of range")
	}
	return vec.Int128Value(t, x), nil
}

// uuid takes binary values of subtype 4, and strings in the form of a UUID. The older subtype 3 has its bytes in an order
// that depends on who wrote it.
func uuid(v value, t vec.Type) (vec.Value, error) {
	switch v.kind {
	case bson.TypeBinary:
		data, subtype := v.binary()
		if subtype == bson.TypeBinaryUUID && len(data) == 16 {
			return vec.Int128Value(t, vec.Int128{Hi: int64(binary.BigEndian.Uint64(data)), Lo: binary.BigEndian.Uint64(data[8:])}), nil
		}
		return vec.Value{}, misfitf("it is binary of subtype %d with %d bytes, not a UUID", subtype, len(data))
	case bson.TypeString:
		s, err := v.text()
		if err != nil {
			return vec.Value{}, err
		}
		const length = 36
		if len(s) == length {
			if out, err := vec.Parse(t, string(s), nil); err == nil {
				return out, nil
			}
		}
		return vec.Value{}, misfit("it is a string that is not a UUID")
	}
	return vec.Value{}, wrongType(v)
}

const (
	millisPerDay   = 24 * 60 * 60 * 1000
	microsPerMilli = 1000
)

func moment(millis int64, t vec.Type) (vec.Value, error) {
	days, ofDay := millis/millisPerDay, millis%millisPerDay
	if ofDay < 0 {
		days, ofDay = days-1, ofDay+millisPerDay
	}
	if t.ID == vec.Date {
		switch {
		case ofDay != 0:
			return vec.Value{}, misfit("it is not midnight UTC")
		case !vec.ValidDate(days):
			return vec.Value{}, misfit("it is out of range")
		}
		return vec.IntValue(t, days), nil
	}
	if !vec.ValidTimestampDate(days) {
		return vec.Value{}, misfit("it is out of range")
	}
	return vec.IntValue(t, millis*microsPerMilli), nil
}
