package function

import (
	"github.com/tidemarkdb/tidemark/extension"
	"github.com/tidemarkdb/tidemark/sqlerr"
	"github.com/tidemarkdb/tidemark/vec"
)

// ObjectOid and ObjectName are the functions by which the planner casts between names and oids: of a kind such as
// 'regclass'.
const (
	ObjectOid  = "object_oid"
	ObjectName = "object_name"
)

// aboutCatalog is a strict overload that asks the objects of the catalog; a false result is NULL.
func aboutCatalog(s extension.Signature, result vec.Type, f func(o extension.Objects, args []vec.Value) (vec.Value, bool, error)) extension.ScalarOverload {
	return on(s, result, boxed(result, func(c *call, args []vec.Value) (vec.Value, error) {
		if c.ev.Objects == nil {
			return vec.NullValue(result), sqlerr.New(sqlerr.FeatureNotSupported, "there is no catalog to ask here").Hintf("run it in a session of an engine")
		}
		v, ok, err := f(c.ev.Objects, args)
		if err != nil || !ok {
			return vec.NullValue(result), err
		}
		return v, nil
	}))
}

// catalogText is aboutCatalog with a text for a result.
func catalogText(s extension.Signature, f func(o extension.Objects, args []vec.Value) (string, bool)) extension.ScalarOverload {
	return aboutCatalog(s, textT, func(o extension.Objects, args []vec.Value) (vec.Value, bool, error) {
		text, ok := f(o, args)
		return vec.StringValue(textT, text), ok, nil
	})
}

// definition is a function from an oid, and what of it may be left out, to a text about the object.
func definition(what extension.Definition, part int, s extension.Signature) extension.ScalarOverload {
	return catalogText(s, func(o extension.Objects, args []vec.Value) (string, bool) {
		nth := int64(0)
		if part > 0 && len(args) > part {
			nth = args[part].I
		}
		last := args[len(args)-1]
		return o.Definition(what, args[0].I, nth, last.Type.ID == vec.Bool && last.I != 0)
	})
}

// named makes an overload over names of one over oids.
func named(kind extension.ObjectKind, s extension.Signature, result vec.Type, f func(o extension.Objects, oid int64, args []vec.Value) (vec.Value, bool, error)) extension.ScalarOverload {
	return aboutCatalog(s, result, func(o extension.Objects, args []vec.Value) (vec.Value, bool, error) {
		oid, err := o.Oid(kind, args[0].S)
		if err != nil {
			return vec.Value{}, false, err
		}
		return f(o, oid, args)
	})
}

// toReg is to_regclass and its kin: NULL where a cast would fail.
func toReg(name, what string, kind extension.ObjectKind, example extension.Example) *extension.ScalarFunc {
	return stable(def(name, "Oid of "+what+", NULL when there is none of that name", example),
		aboutCatalog(signature(textT), int8, func(o extension.Objects, args []vec.Value) (vec.Value, bool, error) {
			oid, err := o.Oid(kind, args[0].S)
			return vec.IntValue(int8, oid), err == nil, nil
		}))
}

// visible is pg_table_is_visible and its kin.
func visible(name string, kind extension.ObjectKind, aliases ...string) *extension.ScalarFunc {
	return stable(also(def(name, "Whether the bare name of the object of that oid finds it", ex(name+"(1) IS NULL", "t")), aliases...),
		aboutCatalog(signature(int8), boolT, func(o extension.Objects, args []vec.Value) (vec.Value, bool, error) {
			yes, found := o.Visible(kind, args[0].I)
			return vec.BoolValue(yes), found, nil
		}))
}

// never is a function about what this database does not have.
func never(name, what string, signatures ...extension.Signature) *extension.ScalarFunc {
	f := stable(def(name, "NULL: there are no "+what))
	for _, s := range signatures {
		f.Overloads = append(f.Overloads, catalogText(s, func(extension.Objects, []vec.Value) (string, bool) { return "", false }))
	}
	f.Examples = []extension.Example{ex(name+"(0) IS NULL", "t")}
	return f
}

func catalogFamily() family {
	size := func(rows, keys bool) func(o extension.Objects, oid int64, _ []vec.Value) (vec.Value, bool, error) {
		return func(o extension.Objects, oid int64, _ []vec.Value) (vec.Value, bool, error) {
			r, k, found := o.Bytes(oid)
			if !rows {
				r = 0
			}
			if !keys {
				k = 0
			}
			return vec.IntValue(int8, r+k), found, nil
		}
	}
	sizeOf := func(name, description string, rows, keys bool, optionals ...vec.Type) *extension.ScalarFunc {
		of := size(rows, keys)
		return stable(def(name, description, ex(name+"('pg_class'::regclass)", "0")),
			aboutCatalog(optional(signature(append([]vec.Type{int8}, optionals...)...), len(optionals)), int8, func(o extension.Objects, args []vec.Value) (vec.Value, bool, error) {
				return of(o, args[0].I, args)
			}),
			named(extension.ClassObject, optional(signature(append([]vec.Type{textT}, optionals...)...), len(optionals)), int8, of))
	}
	describe := func(name, arguments string, signatures ...extension.Signature) *extension.ScalarFunc {
		f := stable(def(name, "Comment on the object of that oid", ex(name+"("+arguments+") IS NULL", "t")))
		for _, s := range signatures {
			f.Overloads = append(f.Overloads, catalogText(s, func(o extension.Objects, args []vec.Value) (string, bool) {
				part := int64(0)
				if len(args) > 1 && args[1].Type.IsInteger() {
					if part = args[1].I; part < 1 {
						return "", false
					}
				}
				return o.Definition(extension.Comment, args[0].I, part, false)
			}))
		}
		return f
	}
	return family{category: "catalog", scalars: append([]*extension.ScalarFunc{
		stable(def(ObjectOid, "Oid of the object of a kind such as 'regclass' that a name or the digits of an oid stand for", ex("object_oid('regclass', 'pg_class')", "1259")),
			aboutCatalog(signature(textT, textT), int8, func(o extension.Objects, args []vec.Value) (vec.Value, bool, error) {
				oid, err := o.Oid(extension.ObjectKind(args[0].S), args[1].S)
				return vec.IntValue(int8, oid), true, err
			})),
		stable(def(ObjectName, "Name of the object of a kind such as 'regclass' that has an oid; the digits when there is none", ex("object_name('regclass', 1259)", "pg_class")),
			catalogText(signature(textT, int8), func(o extension.Objects, args []vec.Value) (string, bool) {
				if name, ok := o.Name(extension.ObjectKind(args[0].S), args[1].I); ok {
					return name, true
				}
				if args[1].I == 0 {
					return "-", true
				}
				return vec.Format(args[1]), true
			})),
		toReg("to_regclass", "a relation", extension.ClassObject, ex("to_regclass('no_such_table') IS NULL", "t")),
		toReg("to_regtype", "a type", extension.TypeObject, ex("to_regtype('int4')", "23")),
		toReg("to_regnamespace", "a schema", extension.NamespaceObject, ex("to_regnamespace('pg_catalog')", "11")),
		toReg("to_regproc", "a function", extension.RoutineObject, ex("to_regproc('no_such_function') IS NULL", "t")),
		toReg("to_regrole", "a role", extension.RoleObject, ex("to_regrole('nobody else') IS NULL", "t")),
		stable(def("format_type", "Name of the type of an oid, with its modifier", ex("format_type(1700, 655366)", "numeric(10,2)"), ex("format_type(23, NULL)", "integer")), formatType()),
		stable(def("pg_get_expr", "Text of an expression kept in the catalog", ex("pg_get_expr('a > 1', 0)", "a > 1")),
			catalogText(optional(signature(textT, int8, boolT), 1), func(_ extension.Objects, args []vec.Value) (string, bool) { return args[0].S, true })),
		stable(def("pg_get_viewdef", "Query of a view", ex("pg_get_viewdef(0) IS NULL", "t")),
			definition(extension.ViewDefinition, 0, optional(signature(int8, boolT), 1)), definition(extension.ViewDefinition, 0, signature(int8, int4)),
			named(extension.ClassObject, optional(signature(textT, boolT), 1), textT, func(o extension.Objects, oid int64, _ []vec.Value) (vec.Value, bool, error) {
				text, ok := o.Definition(extension.ViewDefinition, oid, 0, false)
				return vec.StringValue(textT, text), ok, nil
			})),
		stable(def("pg_get_indexdef", "CREATE INDEX of an index, or its entry of a number from 1", ex("pg_get_indexdef(0) IS NULL", "t")),
			definition(extension.IndexDefinition, 0, signature(int8)), definition(extension.IndexDefinition, 1, signature(int8, int4, boolT))),
		stable(def("pg_get_constraintdef", "Constraint as behind ADD CONSTRAINT", ex("pg_get_constraintdef(0) IS NULL", "t")),
			definition(extension.ConstraintDefinition, 0, optional(signature(int8, boolT), 1))),
		stable(also(def("pg_get_function_arguments", "Types of a function's parameters", ex("pg_get_function_arguments(0) IS NULL", "t")), "pg_get_function_identity_arguments"),
			definition(extension.RoutineArguments, 0, signature(int8))),
		stable(def("pg_get_function_result", "Type of a function's result", ex("pg_get_function_result(0) IS NULL", "t")), definition(extension.RoutineResult, 0, signature(int8))),
		stable(def("pg_get_userbyid", "Name of a role", ex("pg_get_userbyid(10) = current_user", "t")), catalogText(signature(int8), func(o extension.Objects, args []vec.Value) (string, bool) {
			name, ok := o.Name(extension.RoleObject, args[0].I)
			if !ok {
				name = "unknown (OID=" + vec.Format(args[0]) + ")"
			}
			return name, true
		})),
		describe("obj_description", "0", optional(signature(int8, textT), 1)),
		describe("shobj_description", "0, 'pg_database'", signature(int8, textT)),
		describe("col_description", "0, 1", signature(int8, int4)),
		visible("pg_table_is_visible", extension.ClassObject),
		visible("pg_type_is_visible", extension.TypeObject),
		visible("pg_function_is_visible", extension.RoutineObject),
		sizeOf("pg_relation_size", "Bytes of a relation's files on disk, without those of its keys", true, false, textT),
		sizeOf("pg_table_size", "Bytes of a table's files on disk, without those of its keys", true, false),
		sizeOf("pg_indexes_size", "Bytes of the files of a table's keys on disk", false, true),
		sizeOf("pg_total_relation_size", "Bytes of all files of a relation on disk", true, true),
		stable(def("pg_database_size", "Bytes of all files of all tables on disk", ex("pg_database_size(current_database()) >= 0", "t")), databaseSize(textT), databaseSize(int8)),
		stable(def("current_schemas", "Schemas of the search path that exist; true adds those searched without being named", ex("current_schemas(false)", "{public}")),
			aboutCatalog(signature(boolT), textArrayT, func(o extension.Objects, args []vec.Value) (vec.Value, bool, error) {
				out := vec.Value{Type: textArrayT}
				for _, name := range o.Schemas(args[0].I != 0) {
					out.List = append(out.List, vec.StringValue(textT, name))
				}
				return out, true, nil
			})),
		never("pg_get_functiondef", "functions written in SQL", signature(int8)),
		never("pg_get_partkeydef", "partitioned tables", signature(int8)),
		never("pg_get_triggerdef", "triggers", optional(signature(int8, boolT), 1)),
		never("pg_get_ruledef", "rules", optional(signature(int8, boolT), 1)),
		never("pg_get_statisticsobjdef_columns", "extended statistics", signature(int8)),
		never("pg_tablespace_location", "tablespaces elsewhere", signature(int8)),
	}, append(privilegeFunctions(), serverFunctions()...)...)}
}

func databaseSize(t vec.Type) extension.ScalarOverload {
	return aboutCatalog(signature(t), int8, func(o extension.Objects, _ []vec.Value) (vec.Value, bool, error) {
		return vec.IntValue(int8, o.AllBytes()), true, nil
	})
}

// formatType is not strict: a NULL modifier is none.
func formatType() extension.ScalarOverload {
	return lenient(signature(int8, int4), func([]extension.Argument) (vec.Type, extension.Kernel, error) {
		return textT, func(ev *extension.Eval, args []*vec.Vector, n int) (*vec.Vector, error) {
			out := vec.NewBuilder(textT, n)
			for i := range n {
				oid, modifier := args[0].Value(i), args[1].Value(i)
				if modifier.Null {
					modifier.I = -1
				}
				if oid.Null || ev == nil || ev.Objects == nil {
					out.AppendNull()
				} else if name, ok := ev.Objects.FormatType(oid.I, modifier.I); ok {
					out.AppendString(name)
				} else {
					out.AppendString("???")
				}
			}
			return out.Finish(), nil
		}, nil
	})
}
