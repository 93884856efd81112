package pgcatalog

import (
	"strconv"
	"strings"

	"github.com/tidemarkdb/tidemark/catalog"
	"github.com/tidemarkdb/tidemark/vec"
)

// builtinType is a type of PostgreSQL that values or functions here have.
type builtinType struct {
	oid, array int64
	name       string // as pg_type has it
	display    string // as format_type writes it
	length     int
	category   string
	id         vec.ID // of the type it is here, Null for none
}

var builtinTypes = []builtinType{
	{16, 1000, "bool", "boolean", 1, "B", vec.Bool},
	{17, 1001, "bytea", "bytea", -1, "U", vec.Bytea},
	{18, 1002, "char", `"char"`, 1, "Z", vec.Null},
	{19, 1003, "name", "name", 64, "S", vec.Null},
	{20, 1016, "int8", "bigint", 8, "N", vec.Int64},
	{21, 1005, "int2", "smallint", 2, "N", vec.Int16},
	{22, 1006, "int2vector", "int2vector", -1, "A", vec.Null},
	{23, 1007, "int4", "integer", 4, "N", vec.Int32},
	{24, 1008, "regproc", "regproc", 4, "N", vec.Null},
	{25, 1009, "text", "text", -1, "S", vec.Text},
	{26, 1028, "oid", "oid", 4, "N", vec.Null},
	{30, 1013, "oidvector", "oidvector", -1, "A", vec.Null},
	{114, 199, "json", "json", -1, "U", vec.JSON},
	{700, 1021, "float4", "real", 4, "N", vec.Float32},
	{701, 1022, "float8", "double precision", 8, "N", vec.Float64},
	{1042, 1014, "bpchar", "character", -1, "S", vec.Null},
	{1043, 1015, "varchar", "character varying", -1, "S", vec.Null},
	{1082, 1182, "date", "date", 4, "D", vec.Date},
	{1083, 1183, "time", "time without time zone", 8, "D", vec.Time},
	{1114, 1115, "timestamp", "timestamp without time zone", 8, "D", vec.Timestamp},
	{1184, 1185, "timestamptz", "timestamp with time zone", 8, "D", vec.TimestampTZ},
	{1186, 1187, "interval", "interval", 16, "T", vec.Interval},
	{1266, 1270, "timetz", "time with time zone", 12, "D", vec.TimeTZ},
	{1700, 1231, "numeric", "numeric", -1, "N", vec.Decimal},
	{2202, 2207, "regprocedure", "regprocedure", 4, "N", vec.Null},
	{2205, 2210, "regclass", "regclass", 4, "N", vec.Null},
	{2206, 2211, "regtype", "regtype", 4, "N", vec.Null},
	{2249, 2287, "record", "record", -1, "P", vec.Struct},
	{2276, 0, "any", `"any"`, 4, "P", vec.Null},
	{2277, 0, "anyarray", "anyarray", -1, "P", vec.Null},
	{2278, 0, "void", "void", 4, "P", vec.Null},
	{2283, 0, "anyelement", "anyelement", 4, "P", vec.Null},
	{2776, 0, "anynonarray", "anynonarray", 4, "P", vec.Null},
	{2950, 2951, "uuid", "uuid", 16, "U", vec.UUID},
	{3802, 3807, "jsonb", "jsonb", -1, "U", vec.Null},
	{4089, 4090, "regnamespace", "regnamespace", 4, "N", vec.Null},
	{4096, 4097, "regrole", "regrole", 4, "N", vec.Null},
}

// typeOid is the number of a type: arrays of arrays are arrays, as in PostgreSQL.
func (v *View) typeOid(t vec.Type) int64 {
	if t.ID == vec.Array {
		elem := *t.Elem
		for elem.ID == vec.Array {
			elem = *elem.Elem
		}
		if elem.Enum != nil {
			return v.numbers.of("array", nameKey(elem.Enum.Schema, elem.Enum.Name))
		}
		return builtinOf(elem).array
	}
	if t.Enum != nil {
		return v.numbers.of("type", nameKey(t.Enum.Schema, t.Enum.Name))
	}
	return builtinOf(t).oid
}

func builtinOf(t vec.Type) builtinType {
	for _, b := range builtinTypes {
		if b.id == t.ID && t.ID != vec.Null {
			return b
		}
	}
	return builtinType{oid: 25, array: 1009, name: "text", display: "text", length: -1} // an untyped NULL ends as text
}

// typmod is a type's modifier: of NUMERIC its precision and scale, -1 for none.
func typmod(t vec.Type) int {
	for t.ID == vec.Array {
		t = *t.Elem
	}
	if t.ID == vec.Decimal {
		return int(t.Precision)<<16 | int(t.Scale) + 4
	}
	return -1
}

func dimensions(t vec.Type) int {
	n := 0
	for t.ID == vec.Array {
		t = *t.Elem
		n++
	}
	return n
}

func typeLength(t vec.Type) int {
	if t.ID == vec.Array {
		return -1
	}
	if t.Enum != nil {
		return 4
	}
	return builtinOf(t).length
}

// byValue reports whether PostgreSQL passes values of a length by value; alignment is how it aligns them.
func byValue(length int) bool { return length == 1 || length == 2 || length == 4 || length == 8 }

func alignment(length int) string {
	switch length {
	case 1, 64:
		return "c"
	case 2:
		return "s"
	case 8, 12, 16:
		return "d"
	}
	return "i"
}

func storage(length int) string {
	if length < 0 {
		return "x"
	}
	return "p"
}

func typeRelations() []Relation {
	return []Relation{
		relation("pg_type", `oid oid, typname name, typnamespace oid, typowner oid, typlen int2, typbyval bool, typtype char,
			typcategory char, typispreferred bool, typisdefined bool, typdelim char, typrelid oid, typsubscript text, typelem oid,
			typarray oid, typinput text, typoutput text, typreceive text, typsend text, typmodin text, typmodout text,
			typanalyze text, typalign char, typstorage char, typnotnull bool, typbasetype oid, typtypmod int4, typndims int4,
			typcollation oid, typdefaultbin text, typdefault text, typacl text[]`, fillTypes),
		relation("pg_enum", "oid oid, enumtypid oid, enumsortorder float4, enumlabel name", fillEnums),
	}
}

// typeRow is what one row of pg_type varies in.
type typeRow struct {
	oid, schema, elem, array int64
	name, kind, category     string
	length                   int
}

func fillTypes(v *View, add func(values ...any)) {
	put := func(r typeRow) {
		in, out, subscript := r.name+"in", r.name+"out", "-"
		collation := 0
		if r.category == "A" && r.elem != 0 {
			in, out, subscript = "array_in", "array_out", "array_subscript_handler"
		}
		if r.kind == "e" {
			in, out = "enum_in", "enum_out"
		}
		if r.category == "S" {
			collation = 100
		}
		preferred := r.name == "bool" || r.name == "text" || r.name == "float8" || r.name == "timestamptz" || r.name == "interval" || r.name == "oid"
		add(r.oid, r.name, r.schema, ownerOid, r.length, byValue(r.length), r.kind, r.category, preferred, true, ",", 0, subscript, r.elem, r.array,
			in, out, "-", "-", "-", "-", "-", alignment(r.length), storage(r.length), false, 0, -1, 0, collation, nil, nil, nil)
	}
	for _, b := range builtinTypes {
		kind, elem := "b", int64(0)
		if b.category == "P" {
			kind = "p"
		}
		put(typeRow{b.oid, catalogSchemaOid, elem, b.array, b.name, kind, b.category, b.length})
		if b.array != 0 {
			put(typeRow{b.array, catalogSchemaOid, b.oid, 0, "_" + b.name, "b", "A", -1})
		}
	}
	for t := range v.userTypes() {
		oid, list := v.numbers.of("type", nameKey(t.Schema, t.Name)), v.numbers.of("array", nameKey(t.Schema, t.Name))
		put(typeRow{oid, v.schemaOid(t.Schema), 0, list, t.Name, "e", "E", 4})
		put(typeRow{list, v.schemaOid(t.Schema), oid, 0, "_" + t.Name, "b", "A", -1})
	}
}

// userTypes yields the enumerations that the session sees.
func (v *View) userTypes() func(yield func(*catalog.UserType) bool) {
	return func(yield func(*catalog.UserType) bool) {
		for t := range v.Snapshot.UserTypes() {
			if v.sees(t.Schema) && !yield(t) {
				return
			}
		}
	}
}

func fillEnums(v *View, add func(values ...any)) {
	for t := range v.userTypes() {
		oid := v.numbers.of("type", nameKey(t.Schema, t.Name))
		for i, label := range t.Labels {
			add(firstOid+int64(hash("label", nameKey(t.Schema, t.Name)+"\x00"+label)%(1<<31-firstOid)), oid, float64(i+1), label)
		}
	}
}

// formatType writes a type given by number as format_type does; ok is false for a number of no type.
func (v *View) formatType(oid int64, mod int64) (string, bool) {
	if oid == 0 {
		return "-", true
	}
	for _, b := range builtinTypes {
		if oid != b.oid && oid != b.array || oid == 0 {
			continue
		}
		name := b.display
		if b.id == vec.Decimal && mod >= 4 {
			name += "(" + strconv.FormatInt((mod-4)>>16, 10) + "," + strconv.FormatInt((mod-4)&0x7FF, 10) + ")"
		}
		if (b.oid == 1043 || b.oid == 1042) && mod >= 4 {
			name += "(" + strconv.FormatInt(mod-4, 10) + ")"
		}
		if oid == b.array {
			name += "[]"
		}
		return name, true
	}
	for t := range v.userTypes() {
		switch oid {
		case v.numbers.of("type", nameKey(t.Schema, t.Name)):
			return v.qualify(t.Schema, t.Name), true
		case v.numbers.of("array", nameKey(t.Schema, t.Name)):
			return v.qualify(t.Schema, t.Name) + "[]", true
		}
	}
	return "", false
}

// typeNamed finds the number of a type by any of its names.
func (v *View) typeNamed(schema, name string) int64 {
	base, isArray := strings.CutSuffix(name, "[]")
	if schema == "" || schema == "pg_catalog" {
		for _, b := range builtinTypes {
			if base != b.name && base != b.display {
				continue
			}
			if isArray {
				return b.array
			}
			return b.oid
		}
	}
	for _, s := range v.path(schema) {
		if t, err := v.Snapshot.UserType(s, base); err == nil {
			if isArray {
				return v.numbers.of("array", nameKey(t.Schema, t.Name))
			}
			return v.numbers.of("type", nameKey(t.Schema, t.Name))
		}
	}
	return 0
}
