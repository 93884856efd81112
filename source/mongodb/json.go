package mongodb

import (
	"encoding/base64"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"math"
	"strconv"
	"time"
	"unicode/utf8"

	"go.mongodb.org/mongo-driver/v2/bson"
)

// form is how values look in JSON: the modes of MongoDB Extended JSON v2, and one of our own for keys.
type form uint8

const (
	relaxed   form = iota // numbers and dates as people write them, where JSON can hold them
	canonical             // every value with its type
	// keyed gives equal values, as MongoDB compares _id, equal text, and others different text: numbers without their
	// type, everything else as canonical does.
	keyed
)

var (
	errUTF8  = errors.New("it holds text that is not valid UTF-8")
	errDepth = errors.New("it is nested too deeply")
)

// appendJSON writes v as extended JSON.
func appendJSON(dst []byte, v value, f form) ([]byte, error) { return appendNested(dst, v, f, 0) }

func appendNested(dst []byte, v value, f form, depth int) (_ []byte, err error) {
	switch v.kind {
	case bson.TypeEmbeddedDocument, bson.TypeArray:
		return appendContainer(dst, v, f, depth)
	case bson.TypeDouble, bson.TypeInt32, bson.TypeInt64, bson.TypeDecimal128:
		return appendNumber(dst, v, f), nil
	case bson.TypeString:
		return appendText(dst, v)
	case bson.TypeBoolean:
		return strconv.AppendBool(dst, v.data[0] != 0), nil
	case bson.TypeNull:
		return append(dst, "null"...), nil
	case bson.TypeDateTime:
		return appendDate(dst, v.int64(), f), nil
	case bson.TypeCodeWithScope:
		return appendScoped(dst, v, f, depth)
	case bson.TypeSymbol:
		if f == keyed { // MongoDB compares symbols as strings
			return appendText(dst, v)
		}
	}
	return appendTagged(dst, v)
}

func appendContainer(dst []byte, v value, f form, depth int) ([]byte, error) {
	if depth >= maxDepth {
		return nil, errDepth
	}
	e, err := open(v.data)
	if err != nil {
		return nil, err
	}
	brackets := "{}"
	if v.kind == bson.TypeArray {
		brackets = "[]"
	}
	dst = append(dst, brackets[0])
	for first := true; ; first = false {
		name, inner, ok, err := e.next()
		if err != nil {
			return nil, err
		}
		if !ok {
			return append(dst, brackets[1]), nil
		}
		if !first {
			dst = append(dst, ',')
		}
		if v.kind != bson.TypeArray {
			if !utf8.Valid(name) {
				return nil, errUTF8
			}
			dst = append(appendQuoted(dst, name), ':')
		}
		if dst, err = appendNested(dst, inner, f, depth+1); err != nil {
			return nil, err
		}
	}
}

func appendText(dst []byte, v value) ([]byte, error) {
	s, err := v.text()
	if err != nil {
		return nil, err
	}
	if !utf8.Valid(s) {
		return nil, errUTF8
	}
	return appendQuoted(dst, s), nil
}

// appendQuoted writes s, which is valid UTF-8, as a JSON string.
func appendQuoted(dst, s []byte) []byte {
	dst = append(dst, '"')
	for _, c := range s {
		switch {
		case c == '"' || c == '\\':
			dst = append(dst, '\\', c)
		case c == '\n':
			dst = append(dst, '\\', 'n')
		case c == '\t':
			dst = append(dst, '\\', 't')
		case c == '\r':
			dst = append(dst, '\\', 'r')
		case c < ' ':
			dst = append(dst, '\\', 'u', '0', '0', hexDigits[c>>4], hexDigits[c&15])
		default:
			dst = append(dst, c)
		}
	}
	return append(dst, '"')
}

const hexDigits = "0123456789abcdef"

// appendNumber writes a number. JSON has no NaN, no infinities and no decimals that every reader keeps exactly: those are
// tagged in every form.
func appendNumber(dst []byte, v value, f form) []byte {
	if f == keyed {
		return appendKeyNumber(dst, v)
	}
	tag := ""
	switch v.kind {
	case bson.TypeInt32:
		if f == canonical {
			tag = "$numberInt"
		}
	case bson.TypeInt64:
		if f == canonical {
			tag = "$numberLong"
		}
	case bson.TypeDouble:
		if x := v.float64(); f == canonical || math.IsNaN(x) || math.IsInf(x, 0) {
			tag = "$numberDouble"
		}
	case bson.TypeDecimal128:
		tag = "$numberDecimal"
	}
	if tag == "" {
		return appendBare(dst, v)
	}
	dst = append(append(append(dst, `{"`...), tag...), `":"`...)
	return append(appendBare(dst, v), `"}`...)
}

// appendBare writes a number's own text: a double always shows that it is one, and a Decimal128 keeps its zeros.
func appendBare(dst []byte, v value) []byte {
	switch v.kind {
	case bson.TypeDouble:
		return appendDouble(dst, v.float64())
	case bson.TypeDecimal128:
		return append(dst, bson.NewDecimal128(binary.LittleEndian.Uint64(v.data[8:]), binary.LittleEndian.Uint64(v.data)).String()...)
	}
	return strconv.AppendInt(dst, v.int64(), 10)
}

func appendDouble(dst []byte, x float64) []byte {
	if _, c := fromFloat(x); c != finite {
		return append(dst, c.String()...)
	}
	layout := byte('f')
	if size := math.Abs(x); size != 0 && (size < 1e-6 || size >= 1e21) {
		layout = 'e'
	}
	start := len(dst)
	dst = strconv.AppendFloat(dst, x, layout, -1, 64)
	for _, c := range dst[start:] {
		if c == '.' || c == 'e' {
			return dst
		}
	}
	return append(dst, ".0"...)
}

// appendDate writes a date of milliseconds since 1970. Relaxed JSON has text for the years 1970 to 9999.
func appendDate(dst []byte, millis int64, f form) []byte {
	const end = 253402300800000 // the year 10000
	dst = append(dst, `{"$date":`...)
	if f == relaxed && millis >= 0 && millis < end {
		dst = append(dst, '"')
		dst = appendMoment(dst, millis)
		return append(dst, `"}`...)
	}
	dst = append(dst, `{"$numberLong":"`...)
	dst = strconv.AppendInt(dst, millis, 10)
	return append(dst, `"}}`...)
}

// appendMoment writes a date as ISO 8601 in UTC, with milliseconds where there are any.
func appendMoment(dst []byte, millis int64) []byte {
	layout := "2006-01-02T15:04:05Z"
	if millis%1000 != 0 {
		layout = "2006-01-02T15:04:05.000Z"
	}
	return time.UnixMilli(millis).UTC().AppendFormat(dst, layout)
}

// appendTagged writes the types that are an object with a tag in every form.
func appendTagged(dst []byte, v value) (_ []byte, err error) {
	switch v.kind {
	case bson.TypeObjectID:
		dst = append(dst, `{"$oid":"`...)
		return append(hex.AppendEncode(dst, v.data), `"}`...), nil
	case bson.TypeBinary:
		data, subtype := v.binary()
		dst = append(dst, `{"$binary":{"base64":"`...)
		dst = base64.StdEncoding.AppendEncode(dst, data)
		dst = append(dst, `","subType":"`...)
		return append(dst, hexDigits[subtype>>4], hexDigits[subtype&15], '"', '}', '}'), nil
	case bson.TypeRegex:
		return appendRegex(dst, v.data)
	case bson.TypeTimestamp:
		t := v.timestamp()
		dst = strconv.AppendUint(append(dst, `{"$timestamp":{"t":`...), uint64(t.T), 10)
		dst = strconv.AppendUint(append(dst, `,"i":`...), uint64(t.I), 10)
		return append(dst, "}}"...), nil
	case bson.TypeSymbol, bson.TypeJavaScript:
		tag := `{"$code":`
		if v.kind == bson.TypeSymbol {
			tag = `{"$symbol":`
		}
		if dst, err = appendText(append(dst, tag...), v); err != nil {
			return nil, err
		}
		return append(dst, '}'), nil
	case bson.TypeDBPointer:
		n := len(v.data) - 12
		if dst, err = appendText(append(dst, `{"$dbPointer":{"$ref":`...), value{data: v.data[:n]}); err != nil {
			return nil, err
		}
		dst = hex.AppendEncode(append(dst, `,"$id":{"$oid":"`...), v.data[n:])
		return append(dst, `"}}}`...), nil
	case bson.TypeMinKey:
		return append(dst, `{"$minKey":1}`...), nil
	case bson.TypeMaxKey:
		return append(dst, `{"$maxKey":1}`...), nil
	case bson.TypeUndefined:
		return append(dst, `{"$undefined":true}`...), nil
	}
	return nil, errBSON
}

func appendRegex(dst, data []byte) ([]byte, error) {
	if !utf8.Valid(data) {
		return nil, errUTF8
	}
	end := 0
	for data[end] != 0 {
		end++
	}
	dst = appendQuoted(append(dst, `{"$regularExpression":{"pattern":`...), data[:end])
	dst = appendQuoted(append(dst, `,"options":`...), data[end+1:len(data)-1])
	return append(dst, "}}"...), nil
}

// appendScoped writes code with the values of its variables.
//
//	length int32 | code (a string) | scope (a document)
func appendScoped(dst []byte, v value, f form, depth int) (_ []byte, err error) {
	rest := v.data[4:]
	n := width(bson.TypeString, rest)
	if n < 0 || n > len(rest) {
		return nil, errBSON
	}
	if dst, err = appendText(append(dst, `{"$code":`...), value{data: rest[:n]}); err != nil {
		return nil, err
	}
	if dst, err = appendContainer(append(dst, `,"$scope":`...), value{bson.TypeEmbeddedDocument, rest[n:]}, f, depth+1); err != nil {
		return nil, err
	}
	return append(dst, '}'), nil
}
