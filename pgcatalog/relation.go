package pgcatalog

import (
	"slices"
	"strings"

	"github.com/tidemarkdb/tidemark/vec"
)

// Relation is one relation of pg_catalog or information_schema.
type Relation struct {
	Schema  string
	Name    string
	Columns vec.Schema
	// Fill calls add for each row with a value for each column: nil is NULL, integers take the width of their column.
	Fill func(v *View, add func(values ...any))
}

// relation makes a relation of pg_catalog; columns are "name type" with commas between.
func relation(name, columns string, fill func(v *View, add func(values ...any))) Relation {
	return Relation{Schema: "pg_catalog", Name: name, Columns: columnsOf(columns), Fill: fill}
}

// none is a relation for what this database does not have: tools look there and find nothing.
func none(name, columns string) Relation {
	return relation(name, columns, func(*View, func(values ...any)) {})
}

var columnTypes = map[string]vec.Type{
	"oid": vec.Int64Type, "int8": vec.Int64Type, "int4": vec.Int32Type, "int2": vec.Int16Type, "bool": vec.BoolType,
	"name": vec.TextType, "text": vec.TextType, "char": vec.TextType, "float4": vec.Float32Type, "float8": vec.Float64Type,
	"timestamptz": vec.TimestampTZType, "text[]": vec.ArrayType(vec.TextType), "int2[]": vec.ArrayType(vec.Int16Type),
	"oid[]": vec.ArrayType(vec.Int64Type),
}

func columnsOf(text string) vec.Schema {
	var out vec.Schema
	for _, part := range strings.Split(text, ",") {
		name, typ, _ := strings.Cut(strings.TrimSpace(part), " ")
		t, known := columnTypes[typ]
		if !known {
			panic("pgcatalog: column " + part + " has no known type")
		}
		out = append(out, vec.Column{Name: name, Type: t, Nullable: true})
	}
	return out
}

// All returns every relation.
func All() []Relation {
	return slices.Concat(classRelations(), typeRelations(), constraintRelations(), routineRelations(), serverRelations(),
		listRelations(), emptyRelations(), informationRelations())
}

// smallints and oidList are arrays as values of a row.
func smallints(numbers []int) vec.Value { return array(vec.Int16Type, numbers) }

func oidList[T int | int64](numbers []T) vec.Value { return array(vec.Int64Type, numbers) }

func array[T int | int64](elem vec.Type, numbers []T) vec.Value {
	out := vec.Value{Type: vec.ArrayType(elem)}
	for _, n := range numbers {
		out.List = append(out.List, vec.IntValue(elem, int64(n)))
	}
	return out
}

// orNull is NULL in place of an empty text.
func orNull(s string) any {
	if s == "" {
		return nil
	}
	return s
}

func yesNo(b bool) string {
	if b {
		return "YES"
	}
	return "NO"
}
