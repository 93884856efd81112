package plan

import (
	"strings"

	"github.com/tidemarkdb/tidemark/sql"
	"github.com/tidemarkdb/tidemark/sqlerr"
	"github.com/tidemarkdb/tidemark/vec"
)

var typesByName = map[string]vec.Type{
	"bool": vec.BoolType, "boolean": vec.BoolType,
	"smallint": vec.Int16Type, "int2": vec.Int16Type,
	"integer": vec.Int32Type, "int": vec.Int32Type, "int4": vec.Int32Type, "serial": vec.Int32Type,
	"bigint": vec.Int64Type, "int8": vec.Int64Type, "long": vec.Int64Type, "bigserial": vec.Int64Type, "oid": vec.Int64Type,
	"real": vec.Float32Type, "float4": vec.Float32Type,
	"double precision": vec.Float64Type, "float8": vec.Float64Type, "double": vec.Float64Type, "float": vec.Float64Type,
	"text": vec.TextType, "varchar": vec.TextType, "char": vec.TextType, "bpchar": vec.TextType, "string": vec.TextType,
	"name": vec.TextType, "citext": vec.TextType, "regclass": vec.Int64Type, "regtype": vec.Int64Type, "regnamespace": vec.Int64Type,
	"regproc": vec.Int64Type, "regprocedure": vec.Int64Type, "regrole": vec.Int64Type, "xid": vec.Int64Type,
	"int2vector": vec.ArrayType(vec.Int16Type), "oidvector": vec.ArrayType(vec.Int64Type), "pg_node_tree": vec.TextType,
	"bytea": vec.ByteaType, "blob": vec.ByteaType, "date": vec.DateType, "time": vec.TimeType, "timetz": vec.TimeTZType,
	"timestamp": vec.TimestampType, "datetime": vec.TimestampType, "timestamptz": vec.TimestampTZType,
	// Types of DuckDB that have none of their own here: the next one that holds all their values.
	"tinyint": vec.Int16Type, "int1": vec.Int16Type, "utinyint": vec.Int16Type, "short": vec.Int16Type,
	"usmallint": vec.Int32Type, "uinteger": vec.Int64Type, "signed": vec.Int32Type,
	"ubigint": vec.DecimalType(20, 0), "hugeint": vec.DecimalType(vec.MaxPrecision, 0), "uhugeint": vec.DecimalType(vec.MaxPrecision, 0),
	"logical": vec.BoolType, "nvarchar": vec.TextType, "binary": vec.ByteaType, "varbinary": vec.ByteaType,
	"timestamp_us": vec.TimestampType, "timestamp_ms": vec.TimestampType, "timestamp_s": vec.TimestampType,
	"interval": vec.IntervalType, "uuid": vec.UUIDType, "json": vec.JSONType, "jsonb": vec.JSONType,
}

// defaultDecimal is NUMERIC without parameters.
var defaultDecimal = vec.DecimalType(vec.MaxPrecision, 9)

// TypeOf returns the type that a type name stands for. A length of VARCHAR and CHAR is not part of the type. The errors
// are 42704 for a type there is not and 22023 for parameters out of range.
func TypeOf(n sql.TypeName) (t vec.Type, err error) { return TypeIn(nil, n) }

// TypeIn is TypeOf with the types of a catalog, which may be nil.
func TypeIn(cat TypeCatalog, n sql.TypeName) (t vec.Type, err error) {
	defer recoverFault(&err)
	return typeReader{cat}.read(n, n.Pos), nil
}

// typeOf is TypeIn with the types of the binder's catalog.
func (b *binder) typeOf(n sql.TypeName, pos int) vec.Type {
	cat, _ := b.cat.(TypeCatalog)
	return typeReader{cat}.read(n, pos)
}

// typeReader finds types by name.
type typeReader struct{ cat TypeCatalog }

// ParseType is TypeOf for the text of a type name.
func ParseType(text string) (vec.Type, error) {
	e, err := sql.ParseExpr("CAST(NULL AS " + text + ")")
	if err != nil {
		return vec.Type{}, err
	}
	c, ok := e.(*sql.Cast)
	if !ok {
		return vec.Type{}, sqlerr.New(sqlerr.SyntaxError, "%q is not the name of a type", text)
	}
	return TypeOf(c.Type)
}

func (r typeReader) read(n sql.TypeName, pos int) vec.Type {
	if n.Pos != 0 {
		pos = n.Pos
	}
	t := r.scalar(n, pos)
	for range n.Dims {
		t = vec.ArrayType(t)
	}
	return t
}

func (r typeReader) scalar(n sql.TypeName, pos int) vec.Type {
	name := strings.ToLower(n.Name)
	switch name {
	case "numeric", "decimal", "dec":
		return decimalType(n.Args, pos)
	case "float":
		if len(n.Args) == 1 && n.Args[0] <= 24 {
			return vec.Float32Type
		}
		return vec.Float64Type
	case "struct", "row", "record":
		fields := make([]vec.Field, len(n.Fields))
		for i, f := range n.Fields {
			fields[i] = vec.Field{Name: f.Name.Name, Type: r.read(f.Type, pos)}
		}
		if len(fields) > 0 {
			return vec.StructType(fields...)
		}
	}
	if n.Name == "varchar" || n.Name == "char" || n.Name == "bpchar" {
		if len(n.Args) > 0 && n.Args[0] < 1 {
			failHint(pos, sqlerr.InvalidParameterValue, "leave the length out, or use TEXT", "length for type %s must be at least 1", name)
		}
	}
	if t, ok := typesByName[name]; ok && (n.Schema.Name == "" || n.Schema.Name == "pg_catalog") {
		return t
	}
	if r.cat != nil {
		if t, ok := r.cat.UserType(n.Schema.Name, n.Name); ok {
			return t
		}
	}
	err := sqlerr.New(sqlerr.UndefinedObject, "type %q does not exist", n.Name)
	names := make([]string, 0, len(typesByName))
	for known := range typesByName {
		names = append(names, known)
	}
	if near := sqlerr.Nearest(name, names); near != "" {
		err = err.Hintf("did you mean %q?", near)
	} else {
		err = err.Hintf("use a type of PostgreSQL such as BIGINT, NUMERIC(12, 2), TEXT or TIMESTAMPTZ")
	}
	panic(fault{err.At(pos)})
}

func decimalType(args []int, pos int) vec.Type {
	if len(args) == 0 {
		return defaultDecimal
	}
	precision, scale := args[0], 0
	if len(args) > 1 {
		scale = args[1]
	}
	if precision < 1 || precision > vec.MaxPrecision {
		failHint(pos, sqlerr.InvalidParameterValue, "use DOUBLE PRECISION for wider ranges",
			"NUMERIC precision %d must be between 1 and %d", precision, vec.MaxPrecision)
	}
	if scale < 0 || scale > precision {
		failHint(pos, sqlerr.InvalidParameterValue, "the scale counts digits of the precision",
			"NUMERIC scale %d must be between 0 and precision %d", scale, precision)
	}
	return vec.DecimalType(precision, scale)
}

// lengthLimit returns the n of VARCHAR(n) or CHAR(n), 0 for other types.
func lengthLimit(n sql.TypeName) int {
	switch n.Name {
	case "varchar", "char", "bpchar":
		if len(n.Args) == 1 && len(n.Dims) == 0 {
			return n.Args[0]
		}
		if n.Name == "char" && len(n.Dims) == 0 {
			return 1
		}
	}
	return 0
}
