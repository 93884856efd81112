package tablet

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/tidemarkdb/tidemark/vec"
)

// typeJSON is the stored form of a vec.Type. Stored names never change, whatever vec does with its numbers.
type typeJSON struct {
	Name      string      `json:"t"`
	Precision uint8       `json:"p,omitempty"`
	Scale     uint8       `json:"s,omitempty"`
	Elem      *typeJSON   `json:"elem,omitempty"`
	Fields    []fieldJSON `json:"fields,omitempty"`
	Enum      *enumJSON   `json:"enum,omitempty"`
}

type enumJSON struct {
	Schema string   `json:"schema"`
	Name   string   `json:"name"`
	Labels []string `json:"labels"`
}

type fieldJSON struct {
	Name string    `json:"name"`
	Type *typeJSON `json:"type"`
}

var storedTypeName = map[vec.ID]string{
	vec.Null: "null", vec.Bool: "bool", vec.Int16: "int16", vec.Int32: "int32", vec.Int64: "int64",
	vec.Float32: "float32", vec.Float64: "float64", vec.Decimal: "decimal", vec.Text: "text", vec.Bytea: "bytea",
	vec.Date: "date", vec.Time: "time", vec.TimeTZ: "timetz", vec.Timestamp: "timestamp", vec.TimestampTZ: "timestamptz",
	vec.Interval: "interval", vec.UUID: "uuid", vec.JSON: "json", vec.Array: "array", vec.Struct: "struct",
}

var typeOfStoredName = func() map[string]vec.ID {
	m := make(map[string]vec.ID, len(storedTypeName))
	for id, name := range storedTypeName {
		m[name] = id
	}
	return m
}()

// maxTypeDepth bounds nesting, so that damaged bytes cannot exhaust the stack.
const maxTypeDepth = 64

// EncodeType returns the stable stored form of a type, a JSON value.
func EncodeType(t vec.Type) ([]byte, error) {
	j, err := encodeType(t)
	if err != nil {
		return nil, err
	}
	return json.Marshal(j)
}

// DecodeType is the inverse of [EncodeType].
func DecodeType(data []byte) (vec.Type, error) {
	var j typeJSON
	if err := decodeStrict(data, &j); err != nil {
		return vec.Type{}, err
	}
	return decodeType(&j, 0)
}

func encodeType(t vec.Type) (*typeJSON, error) {
	name, ok := storedTypeName[t.ID]
	if !ok {
		return nil, fmt.Errorf("type %s has no stored form", t)
	}
	j := &typeJSON{Name: name, Precision: t.Precision, Scale: t.Scale}
	if t.Enum != nil {
		j.Enum = &enumJSON{t.Enum.Schema, t.Enum.Name, t.Enum.Labels}
	}
	if t.Elem != nil {
		elem, err := encodeType(*t.Elem)
		if err != nil {
			return nil, err
		}
		j.Elem = elem
	}
	for _, f := range t.Fields {
		ft, err := encodeType(f.Type)
		if err != nil {
			return nil, err
		}
		j.Fields = append(j.Fields, fieldJSON{f.Name, ft})
	}
	return j, nil
}

func decodeType(j *typeJSON, depth int) (vec.Type, error) {
	if j == nil {
		return vec.Type{}, errors.New("a type is missing")
	}
	if depth > maxTypeDepth {
		return vec.Type{}, fmt.Errorf("a type is nested more than %d deep", maxTypeDepth)
	}
	id, ok := typeOfStoredName[j.Name]
	if !ok {
		return vec.Type{}, fmt.Errorf("type %q is not known to this release: a newer one wrote it", j.Name)
	}
	if id == vec.Decimal && (j.Precision < 1 || j.Precision > vec.MaxPrecision || j.Scale > j.Precision) {
		return vec.Type{}, fmt.Errorf("numeric(%d,%d) is no type", j.Precision, j.Scale)
	}
	t := vec.Type{ID: id, Precision: j.Precision, Scale: j.Scale}
	if j.Enum != nil {
		if id != vec.Text || j.Enum.Name == "" {
			return vec.Type{}, fmt.Errorf("type %q is no proper enumeration", j.Name)
		}
		t.Enum = &vec.Enum{Schema: j.Enum.Schema, Name: j.Enum.Name, Labels: j.Enum.Labels}
	}
	if (id == vec.Array) != (j.Elem != nil) {
		return vec.Type{}, fmt.Errorf("type %q has a wrong element", j.Name)
	}
	if j.Elem != nil {
		elem, err := decodeType(j.Elem, depth+1)
		if err != nil {
			return vec.Type{}, err
		}
		t.Elem = &elem
	}
	for _, f := range j.Fields {
		ft, err := decodeType(f.Type, depth+1)
		if err != nil {
			return vec.Type{}, err
		}
		t.Fields = append(t.Fields, vec.Field{Name: f.Name, Type: ft})
	}
	return t, nil
}

// decodeStrict refuses fields it does not know: skipping what a newer release wrote could mean wrong answers.
func decodeStrict(data []byte, into any) error {
	d := json.NewDecoder(bytes.NewReader(data))
	d.DisallowUnknownFields()
	return d.Decode(into)
}
