package mongodb

import (
	"bytes"
	"encoding/binary"
	"errors"
	"math"
	"strconv"

	"go.mongodb.org/mongo-driver/v2/bson"
)

// errBSON is a document that does not have the form of BSON (bsonspec.org, version 1.1).
var errBSON = errors.New("it is not well-formed BSON")

// maxDepth bounds nested documents; MongoDB itself stores at most 100 levels.
const maxDepth = 200

// value is one BSON value: its type and its bytes, which are borrowed. The zero value stands for a missing field.
type value struct {
	kind bson.Type
	data []byte
}

// missing reports a field that is not there.
func (v value) missing() bool { return v.kind == 0 }

// null reports what becomes NULL: a missing field, null and the deprecated undefined.
func (v value) null() bool {
	return v.kind == 0 || v.kind == bson.TypeNull || v.kind == bson.TypeUndefined
}

// elements walks the elements of one document or array.
//
//	length int32 | (type byte, name\0, value) per element | 0 byte
type elements struct{ rest []byte }

// open returns the elements of a document.
func open(document []byte) (elements, error) {
	if len(document) < 5 || int(int32(binary.LittleEndian.Uint32(document))) != len(document) || document[len(document)-1] != 0 {
		return elements{}, errBSON
	}
	return elements{document[4 : len(document)-1]}, nil
}

// next returns the next element; ok is false at the end.
func (e *elements) next() (name []byte, v value, ok bool, err error) {
	if len(e.rest) == 0 {
		return nil, value{}, false, nil
	}
	end := bytes.IndexByte(e.rest[1:], 0)
	if end < 0 {
		return nil, value{}, false, errBSON
	}
	kind, name, rest := bson.Type(e.rest[0]), e.rest[1:1+end], e.rest[end+2:]
	n := width(kind, rest)
	if n < 0 || n > len(rest) {
		return nil, value{}, false, errBSON
	}
	e.rest = rest[n:]
	return name, value{kind, rest[:n]}, true, nil
}

// width returns how many bytes a value takes at the beginning of rest, or -1 when it cannot be told.
func width(kind bson.Type, rest []byte) int {
	length := func(least, extra int) int {
		if len(rest) < 4 {
			return -1
		}
		n := int(int32(binary.LittleEndian.Uint32(rest)))
		if n < least || n > math.MaxInt32-extra {
			return -1
		}
		return n + extra
	}
	switch kind {
	case bson.TypeUndefined, bson.TypeNull, bson.TypeMinKey, bson.TypeMaxKey:
		return 0
	case bson.TypeBoolean:
		return 1
	case bson.TypeInt32:
		return 4
	case bson.TypeDouble, bson.TypeDateTime, bson.TypeTimestamp, bson.TypeInt64:
		return 8
	case bson.TypeObjectID:
		return 12
	case bson.TypeDecimal128:
		return 16
	case bson.TypeString, bson.TypeJavaScript, bson.TypeSymbol:
		return length(1, 4)
	case bson.TypeDBPointer:
		return length(1, 4+12)
	case bson.TypeEmbeddedDocument, bson.TypeArray:
		return length(5, 0)
	case bson.TypeCodeWithScope:
		return length(14, 0)
	case bson.TypeBinary:
		return length(0, 5)
	case bson.TypeRegex:
		pattern := bytes.IndexByte(rest, 0)
		if pattern < 0 {
			return -1
		}
		options := bytes.IndexByte(rest[pattern+1:], 0)
		if options < 0 {
			return -1
		}
		return pattern + options + 2
	}
	return -1
}

// text returns the bytes of a string, symbol or code; data is a length, the bytes and a zero byte.
func (v value) text() ([]byte, error) {
	if len(v.data) < 5 || v.data[len(v.data)-1] != 0 {
		return nil, errBSON
	}
	return v.data[4 : len(v.data)-1], nil
}

// binary returns the bytes of a binary value and its subtype. Subtype 2 repeats the length in front of the bytes.
func (v value) binary() (data []byte, subtype byte) {
	data, subtype = v.data[5:], v.data[4]
	if subtype == 2 && len(data) >= 4 && int(binary.LittleEndian.Uint32(data)) == len(data)-4 {
		data = data[4:]
	}
	return data, subtype
}

func (v value) int64() int64 {
	if v.kind == bson.TypeInt32 {
		return int64(int32(binary.LittleEndian.Uint32(v.data)))
	}
	return int64(binary.LittleEndian.Uint64(v.data))
}

func (v value) float64() float64 { return math.Float64frombits(binary.LittleEndian.Uint64(v.data)) }

// timestamp returns a BSON timestamp: seconds since 1970 and a counter within the second.
func (v value) timestamp() bson.Timestamp {
	return bson.Timestamp{T: binary.LittleEndian.Uint32(v.data[4:]), I: binary.LittleEndian.Uint32(v.data)}
}

// field returns the first field of a document with a name, the zero value when there is none.
func field(document []byte, name string) (value, error) {
	e, err := open(document)
	if err != nil {
		return value{}, err
	}
	for {
		n, v, ok, err := e.next()
		if err != nil || !ok {
			return value{}, err
		}
		if string(n) == name {
			return v, nil
		}
	}
}

// follow returns what lies at a path below v: fields of documents, and elements of arrays by their number from 0.
func follow(v value, path []string) (value, error) {
	for _, step := range path {
		switch v.kind {
		case bson.TypeEmbeddedDocument:
		case bson.TypeArray: // whose elements are named by their numbers, which nothing enforces: count
			n, err := strconv.Atoi(step)
			if err != nil {
				return value{}, nil
			}
			if v, err = element(v.data, n); err != nil {
				return value{}, err
			}
			continue
		default:
			return value{}, nil
		}
		var err error
		if v, err = field(v.data, step); err != nil {
			return value{}, err
		}
	}
	return v, nil
}

func element(array []byte, n int) (value, error) {
	e, err := open(array)
	if err != nil {
		return value{}, err
	}
	for i := 0; ; i++ {
		_, v, ok, err := e.next()
		if err != nil || !ok {
			return value{}, err
		}
		if i == n {
			return v, nil
		}
	}
}
