package function

import (
	"strconv"
	"strings"

	"github.com/tidemarkdb/tidemark/extension"
	"github.com/tidemarkdb/tidemark/sqlerr"
	"github.com/tidemarkdb/tidemark/vec"
)

// changing are the privileges that a session which only reads does not have.
var changing = map[string]bool{"insert": true, "update": true, "delete": true, "truncate": true, "create": true, "references": true, "trigger": true, "temporary": true, "temp": true}

var privileges = map[string]bool{"select": true, "usage": true, "connect": true, "execute": true, "member": true, "set": true, "maintain": true}

// mayAny reports whether the session has any privilege of a list such as 'SELECT, INSERT WITH GRANT OPTION'.
func mayAny(o extension.Objects, list string) (bool, error) {
	for _, p := range strings.Split(strings.ToLower(list), ",") {
		p = strings.TrimSuffix(strings.TrimSpace(p), " with grant option")
		switch {
		case !privileges[p] && !changing[p]:
			return false, sqlerr.New(sqlerr.InvalidParameterValue, "unrecognized privilege type: %q", p).Hintf("such as SELECT, INSERT or USAGE")
		case privileges[p] || o.MayChange():
			return true, nil
		}
	}
	return false, nil
}

// hasPrivilege is has_table_privilege and its kin: of an object given by name or oid, for the session's user or one that
// is named before. middle are parameters between the object and the privilege.
func hasPrivilege(name string, kind extension.ObjectKind, example string, middle ...vec.Type) *extension.ScalarFunc {
	f := stable(def(name, "Whether the user has one of the privileges listed", ex(example, "t")))
	for _, object := range []vec.Type{textT, int8} {
		for _, user := range [][]vec.Type{nil, {textT}, {int8}} {
			types := append(append(append([]vec.Type{}, user...), object), append(middle, textT)...)
			at := len(user)
			f.Overloads = append(f.Overloads, aboutCatalog(signature(types...), boolT, func(o extension.Objects, args []vec.Value) (vec.Value, bool, error) {
				if kind != "" && args[at].Type.ID == vec.Text {
					if _, err := o.Oid(kind, args[at].S); err != nil {
						return vec.Value{}, false, err
					}
				}
				yes, err := mayAny(o, args[len(args)-1].S)
				return vec.BoolValue(yes), true, err
			}))
		}
	}
	return f
}

func privilegeFunctions() []*extension.ScalarFunc {
	return []*extension.ScalarFunc{
		hasPrivilege("has_table_privilege", extension.ClassObject, "has_table_privilege('pg_class', 'SELECT')"),
		hasPrivilege("has_any_column_privilege", extension.ClassObject, "has_any_column_privilege('pg_class', 'SELECT')"),
		hasPrivilege("has_column_privilege", extension.ClassObject, "has_column_privilege('pg_class', 'oid', 'SELECT')", textT),
		hasPrivilege("has_sequence_privilege", extension.ClassObject, "has_sequence_privilege('pg_class', 'USAGE')"),
		hasPrivilege("has_schema_privilege", extension.NamespaceObject, "has_schema_privilege('pg_catalog', 'USAGE')"),
		hasPrivilege("has_database_privilege", "", "has_database_privilege(current_database(), 'CONNECT')"),
		hasPrivilege("has_function_privilege", "", "has_function_privilege('now', 'EXECUTE')"),
		hasPrivilege("pg_has_role", extension.RoleObject, "pg_has_role(current_user, 'USAGE')"),
	}
}

// fact is a function of no arguments whose result never changes.
func fact(name, description, value string) *extension.ScalarFunc {
	return sessionText(def(name, description, ex(name+"()", value)), func(*extension.Eval) string { return value })
}

func serverFunctions() []*extension.ScalarFunc {
	return []*extension.ScalarFunc{
		immutable(def("pg_size_pretty", "Bytes with a unit that suits them", ex("pg_size_pretty(1536000)", "1500 kB")),
			on(signature(int8), textT, toText(textT, func(c *call, dst []byte, i int) ([]byte, error) { return appendSize(dst, c.args[0].Value(i).I), nil }))),
		fact("pg_client_encoding", "Encoding of text in results", "UTF8"),
		fact("getdatabaseencoding", "Encoding of stored text", "UTF8"),
		session(def("pg_is_in_recovery", "Whether the server replays another's log: never", ex("pg_is_in_recovery()", "f")), boolT, func(*extension.Eval) vec.Value { return vec.BoolValue(false) }),
		session(def("pg_my_temp_schema", "Oid of the session's schema of temporary tables, 0 before the first", ex("pg_my_temp_schema() >= 0", "t")), int8, func(ev *extension.Eval) vec.Value {
			oid := int64(0)
			if ev.Objects != nil {
				for _, name := range ev.Objects.Schemas(false) {
					if strings.HasPrefix(name, "pg_temp_") {
						oid, _ = ev.Objects.Oid(extension.NamespaceObject, name)
					}
				}
			}
			return vec.IntValue(int8, oid)
		}),
		stable(def("pg_is_other_temp_schema", "Whether an oid is that of another session's schema of temporary tables: those are not seen", ex("pg_is_other_temp_schema(0)", "f")),
			on(signature(int8), boolT, boxed(boolT, func(*call, []vec.Value) (vec.Value, error) { return vec.BoolValue(false), nil }))),
		immutable(def("pg_encoding_to_char", "Name of an encoding of a number: 6 is UTF8", ex("pg_encoding_to_char(6)", "UTF8")),
			on(signature(int4), textT, boxed(textT, func(_ *call, args []vec.Value) (vec.Value, error) {
				name := ""
				if args[0].I == 6 {
					name = "UTF8"
				}
				return vec.StringValue(textT, name), nil
			}))),
		stable(def("pg_relation_is_updatable", "Bits of what DML a relation takes: 28 for all, 0 for none", ex("pg_relation_is_updatable(0, false)", "0")),
			aboutCatalog(signature(int8, boolT), int4, func(o extension.Objects, args []vec.Value) (vec.Value, bool, error) {
				bits := int64(0)
				if _, isView := o.Definition(extension.ViewDefinition, args[0].I, 0, false); !isView && o.MayChange() {
					if _, _, found := o.Bytes(args[0].I); found && args[0].I >= 16384 {
						bits = 28
					}
				}
				return vec.IntValue(int4, bits), true, nil
			})),
	}
}

// appendSize writes bytes as PostgreSQL does: the smallest unit that gives less than 10240 (in it or, above bytes, 20480
// halves of it), rounded.
func appendSize(dst []byte, bytes int64) []byte {
	size, unit := bytes, 0
	units := []string{"bytes", "kB", "MB", "GB", "TB", "PB"}
	limit := int64(10 * 1024)
	halves := false // size counts halves of the unit, for the rounding
	for ; unit < len(units)-1 && max(size, -size) >= limit; unit++ {
		shift := 10
		if !halves {
			shift, halves, limit = 9, true, 20*1024-1
		}
		size /= 1 << shift
	}
	if halves {
		if size < 0 {
			size--
		} else {
			size++
		}
		size /= 2
	}
	dst = strconv.AppendInt(dst, size, 10)
	return append(append(dst, ' '), units[unit]...)
}
