package parquetstore

import (
	"encoding/json"
	"fmt"

	"github.com/parquet-go/parquet-go/deprecated"
	"github.com/parquet-go/parquet-go/encoding/thrift"
	"github.com/parquet-go/parquet-go/format"

	"github.com/tidemarkdb/tidemark/tablet"
	"github.com/tidemarkdb/tidemark/vec"
)

// schemaWriter builds the flattened schema tree and the leaves below it.
type schemaWriter struct {
	elements  []format.SchemaElement
	leaves    []leafForm
	intervals []string
	types     map[string]json.RawMessage // what goes under typesKey, by path
}

func buildSchema(columns []tablet.Column) (*schemaWriter, error) {
	s := &schemaWriter{types: map[string]json.RawMessage{}}
	s.elements = append(s.elements, format.SchemaElement{Name: "schema", NumChildren: thrift.New(int32(len(columns)))})
	for _, c := range columns {
		if err := s.add(c.Name, nil, c.Type, c.Nullable, c.FieldID, 0, 0); err != nil {
			return nil, err
		}
	}
	return s, nil
}

// add appends the elements of one value; def and rep are the levels of what holds it.
func (s *schemaWriter) add(name string, path []string, t vec.Type, nullable bool, id int32, def, rep int) error {
	path = append(path[:len(path):len(path)], name)
	e := format.SchemaElement{Name: name, FieldID: id, RepetitionType: thrift.New(format.Required)}
	if nullable {
		e.RepetitionType.V = format.Optional
		def++
	}
	switch t.ID {
	case vec.Null:
		return fmt.Errorf("column %q has no type: cast the NULL to one", name)
	case vec.Array:
		e.NumChildren = thrift.New(int32(1))
		e.LogicalType.Value, e.ConvertedType = new(format.ListType), thrift.New(deprecated.List)
		list := format.SchemaElement{Name: "list", RepetitionType: thrift.New(format.Repeated), NumChildren: thrift.New(int32(1))}
		s.elements = append(s.elements, e, list)
		return s.add("element", append(path, "list"), *t.Elem, true, 0, def+1, rep+1)
	case vec.Struct:
		if len(t.Fields) == 0 {
			return fmt.Errorf("column %q is a struct without fields, which Parquet cannot hold", name)
		}
		e.NumChildren = thrift.New(int32(len(t.Fields)))
		s.elements = append(s.elements, e)
		for _, f := range t.Fields {
			if err := s.add(f.Name, path, f.Type, true, 0, def, rep); err != nil {
				return err
			}
		}
		return nil
	}
	form := formOf(t)
	e.Type = thrift.New(form.phys)
	if form.length > 0 {
		e.TypeLength = thrift.New(int32(form.length))
	}
	annotate(&e, t)
	s.elements = append(s.elements, e)
	s.leaves = append(s.leaves, leafForm{path: path, typ: t, form: form, maxDef: def, maxRep: rep})
	if t.ID == vec.Interval {
		s.intervals = append(s.intervals, dotted(path))
	}
	if unknownToParquet(t) {
		stored, err := tablet.EncodeType(t)
		if err != nil {
			return err
		}
		s.types[dotted(path)] = stored
	}
	return nil
}

// unknownToParquet reports a type whose values another one's stored form holds, so that the footer must tell.
func unknownToParquet(t vec.Type) bool { return t.ID == vec.TimeTZ }

func dotted(path []string) string {
	out := path[0]
	for _, p := range path[1:] {
		out += "." + p
	}
	return out
}

// annotate sets the logical type, and the older converted type where there is one.
func annotate(e *format.SchemaElement, t vec.Type) {
	logical := func(v format.LogicalTypeValue) { e.LogicalType.Value = v }
	converted := func(c deprecated.ConvertedType) { e.ConvertedType = thrift.New(c) }
	micros := format.TimeUnit{Value: new(format.MicroSeconds)}
	switch t.ID {
	case vec.Int16:
		logical(&format.IntType{BitWidth: 16, IsSigned: true})
		converted(deprecated.Int16)
	case vec.Decimal:
		logical(&format.DecimalType{Precision: int32(t.Precision), Scale: int32(t.Scale)})
		converted(deprecated.Decimal)
		e.Precision, e.Scale = thrift.New(int32(t.Precision)), thrift.New(int32(t.Scale))
	case vec.Text:
		logical(new(format.StringType))
		converted(deprecated.UTF8)
	case vec.JSON:
		logical(new(format.JsonType))
		converted(deprecated.Json)
	case vec.Date:
		logical(new(format.DateType))
		converted(deprecated.Date)
	case vec.Time:
		logical(&format.TimeType{Unit: micros})
	case vec.Timestamp:
		logical(&format.TimestampType{Unit: micros})
	case vec.TimestampTZ:
		logical(&format.TimestampType{IsAdjustedToUTC: true, Unit: micros})
		converted(deprecated.TimestampMicros)
	case vec.UUID:
		logical(new(format.UUIDType))
	}
}
