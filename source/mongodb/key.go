package mongodb

import (
	"encoding/hex"
	"math"
	"math/big"
	"strconv"

	"go.mongodb.org/mongo-driver/v2/bson"

	"github.com/tidemarkdb/tidemark/sqlerr"
)

// family is a set of types whose values MongoDB compares with each other: two _id of different families are never
// equal, whatever their values. The zero family is that of a collection whose first _id is still to come.
type family byte

// familyOf returns the family of a type. It is a letter, since positions keep it.
func familyOf(kind bson.Type) family {
	switch kind {
	case bson.TypeDouble, bson.TypeInt32, bson.TypeInt64, bson.TypeDecimal128:
		return 'n'
	case bson.TypeString, bson.TypeSymbol:
		return 's'
	case bson.TypeObjectID:
		return 'o'
	case bson.TypeEmbeddedDocument:
		return 'd'
	case bson.TypeBinary:
		return 'b'
	case bson.TypeDateTime:
		return 't'
	case bson.TypeBoolean:
		return 'l'
	case bson.TypeTimestamp:
		return 'i'
	}
	return 'x' // null, code, minKey and other oddities, which are tagged in every format
}

var familyNames = map[family]string{
	'n': "numbers", 's': "strings", 'o': "ObjectIds", 'd': "documents", 'b': "binary values", 't': "dates", 'l': "booleans",
	'i': "timestamps", 'x': "values of rare types",
}

// appendPlainKey writes an _id as people write it: an ObjectId as its hex digits, a string as itself, a number, a date
// and a UUID as text, everything else as keyed JSON. Within one family different values have different texts.
func appendPlainKey(dst []byte, v value) ([]byte, error) {
	switch v.kind {
	case bson.TypeString, bson.TypeSymbol:
		s, err := v.text()
		if err != nil {
			return nil, err
		}
		return append(dst, s...), checkText(s)
	case bson.TypeObjectID:
		return hex.AppendEncode(dst, v.data), nil
	case bson.TypeDateTime:
		return appendMoment(dst, v.int64()), nil
	case bson.TypeBinary:
		if data, subtype := v.binary(); subtype == bson.TypeBinaryUUID && len(data) == 16 {
			return appendUUID(dst, data), nil
		}
	}
	return appendJSON(dst, v, keyed)
}

// appendKeyNumber writes a number so that those MongoDB holds equal are equal: 5, 5.0, NumberLong(5) and
// NumberDecimal("5.00") are one _id. MongoDB compares doubles and decimals by their exact values, so a decimal that is
// neither an int64 nor exactly a double is tagged: 0.1 and NumberDecimal("0.1") are two.
func appendKeyNumber(dst []byte, v value) []byte {
	n, c := toNumber(v)
	if c != finite {
		return append(append(append(dst, `{"$numberDouble":"`...), c.String()...), `"}`...)
	}
	if v.kind == bson.TypeDecimal128 {
		if _, ok := n.whole(); ok {
			return n.append(dst)
		}
		x, ok := n.double()
		if !ok {
			return append(n.append(append(dst, `{"$numberDecimal":"`...)), `"}`...)
		}
		return appendKeyDouble(dst, x)
	}
	if v.kind == bson.TypeDouble {
		return appendKeyDouble(dst, v.float64())
	}
	return n.append(dst)
}

// appendKeyDouble writes a double, one that is exactly an int64 as that integer.
func appendKeyDouble(dst []byte, x float64) []byte {
	if x == math.Trunc(x) && x >= -(1<<63) && x < 1<<63 {
		return strconv.AppendInt(dst, int64(x), 10)
	}
	n, _ := fromFloat(x)
	return n.append(dst)
}

// double returns the double that has exactly the value of n.
func (n number) double() (float64, bool) {
	const mostExponent = 400 // beyond the largest and the smallest double
	n = n.plain()
	if n.exponent > mostExponent || n.exponent < -3*mostExponent {
		return 0, false
	}
	text := string(n.append(nil))
	x, err := strconv.ParseFloat(text, 64)
	if err != nil {
		return 0, false
	}
	exact, ok := new(big.Rat).SetString(text)
	return x, ok && new(big.Rat).SetFloat64(x).Cmp(exact) == 0
}

// mixedKeys is the error of an _id of another family than those before.
func mixedKeys(was, now family) error {
	return sqlerr.New(sqlerr.DataException, "the collection has _id that are %s and _id that are %s, whose texts could be the same", familyNames[was], familyNames[now]).
		Hintf("create a stream with key_format = 'json', which keeps the types of _id apart, and a new CDC table")
}

// appendUUID writes 16 bytes as a UUID.
func appendUUID(dst, raw []byte) []byte {
	for i, x := range raw {
		if i == 4 || i == 6 || i == 8 || i == 10 {
			dst = append(dst, '-')
		}
		dst = append(dst, hexDigits[x>>4], hexDigits[x&15])
	}
	return dst
}
