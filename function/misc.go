package function

import (
	"fmt"
	"strings"

	"github.com/tidemarkdb/tidemark/extension"
	"github.com/tidemarkdb/tidemark/sqlerr"
	"github.com/tidemarkdb/tidemark/vec"
)

// session is a function of no arguments whose result is the same for the whole statement.
func session(d extension.Def, t vec.Type, f func(ev *extension.Eval) vec.Value) *extension.ScalarFunc {
	return stable(d, extension.ScalarOverload{Strict: true, Bind: func([]extension.Argument) (vec.Type, extension.Kernel, error) {
		return t, func(ev *extension.Eval, _ []*vec.Vector, n int) (*vec.Vector, error) {
			if ev == nil {
				ev = &extension.Eval{}
			}
			return vec.ConstantOf(t, f(ev), n), nil
		}, nil
	}})
}

func sessionText(d extension.Def, f func(ev *extension.Eval) string) *extension.ScalarFunc {
	return session(d, textT, func(ev *extension.Eval) vec.Value { return vec.StringValue(textT, f(ev)) })
}

// Version is what version() returns: clients read the number after PostgreSQL to know which catalog queries work.
const Version = "PostgreSQL 15.0 (Tidemark)"

// settingOf is a setting by its name in any case.
func settingOf(ev *extension.Eval, name string) (string, error) {
	if ev.Setting == nil {
		return "", sqlerr.New(sqlerr.UndefinedObject, "unrecognized configuration parameter %q", name)
	}
	return ev.Setting(strings.ToLower(name))
}

func systemFamily() family {
	return family{category: "system", scalars: []*extension.ScalarFunc{
		sessionText(def("version", "Version of the server", ex("version() LIKE 'PostgreSQL%'", "t")), func(*extension.Eval) string { return Version }),
		sessionText(also(def("current_user", "Name of the user", ex("current_user = session_user", "t")), "session_user", "user", "current_role"), func(ev *extension.Eval) string { return ev.User }),
		sessionText(def("current_query", "Text of the statement as it was sent", ex("current_query() LIKE 'SELECT%'", "t")), func(ev *extension.Eval) string { return ev.Query }),
		sessionText(also(def("current_database", "Name of the database", ex("current_database() IS NOT NULL", "t")), "current_catalog"), func(ev *extension.Eval) string { return ev.Database }),
		sessionText(def("current_schema", "First schema of the search path", ex("current_schema() IS NOT NULL", "t")), func(ev *extension.Eval) string { return ev.Schema }),
		stable(def("current_setting", "Value of a setting; with TRUE behind its name NULL, not an error, where there is none", ex("current_setting('no.such', true) IS NULL", "t")), on(optional(signature(textT, boolT), 1), textT, func(c *call) (*vec.Vector, error) {
			in, out := textsOf(c.args[0]), newTextOut(c.n, 0)
			for i := range c.n {
				if !c.ok(i) {
					out.null(c.n)
					continue
				}
				value, err := settingOf(c.ev, in.str(i))
				if err != nil {
					if missing := len(c.args) == 2 && c.args[1].Value(i).I != 0; !missing {
						return nil, err
					}
					out.null(c.n)
					continue
				}
				out.data = append(out.data, value...)
				if err := out.end(); err != nil {
					return nil, err
				}
			}
			return out.vector(textT), nil
		})),
		immutable(def("pg_typeof", "Type of the argument, by PostgreSQL's name", ex("pg_typeof(1)", "integer")), typeName(typeOf)),
		immutable(def("typeof", "Type of the argument, by DuckDB's name", ex("typeof(1)", "INTEGER"), ex("typeof('a')", "VARCHAR")), typeName(duckTypeOf)),
		immutable(def("hash", "64-bit hash of a value", ex("hash(1) = hash(1)", "t")), lenient(variadic(params(anyParam)), func([]extension.Argument) (vec.Type, extension.Kernel, error) {
			return int8, func(_ *extension.Eval, args []*vec.Vector, n int) (*vec.Vector, error) {
				hashes := make([]uint64, n)
				HashInto(args[0], n, hashes)
				for _, a := range args[1:] {
					HashCombine(a, n, hashes)
				}
				return collect(int8, n, func(i int) (int64, bool) { return int64(hashes[i]), true }), nil
			}, nil
		})),
		volatile(also(def("gen_random_uuid", "Random UUID of version 4", ex("length(gen_random_uuid()::text)", "36")), "uuid"), extension.ScalarOverload{Strict: true, Bind: func([]extension.Argument) (vec.Type, extension.Kernel, error) {
			return uuidT, func(ev *extension.Eval, _ []*vec.Vector, n int) (*vec.Vector, error) {
				out := make([]vec.Int128, n)
				for i := range out { // RFC 9562: the version in the third group, the variant in the fourth
					out[i].Hi = int64(nextRandom(ev)&^0xF000 | 0x4000)
					out[i].Lo = nextRandom(ev)&(1<<62-1) | 1<<63
				}
				return vec.FlatOf(uuidT, out, nil), nil
			}, nil
		}}),
		volatile(def("setseed", "Let random() begin anew from a number between -1 and 1", ex("setseed(0.5) IS NULL", "t")), on(signature(float8), textT, boxed(textT, setSeed))),
		immutable(def("num_nulls", "Number of arguments that are NULL", ex("num_nulls(1, NULL, 2)", "1")), nullCount(true)),
		immutable(def("num_nonnulls", "Number of arguments that are not NULL", ex("num_nonnulls(1, NULL, 2)", "2")), nullCount(false)),
		immutable(def("error", "Fail with a message", ex("CASE WHEN true THEN 1 ELSE error('no')::int END", "1")), on(signature(textT), textT, func(c *call) (*vec.Vector, error) {
			in := textsOf(c.args[0])
			for i := range c.n {
				if c.ok(i) {
					return nil, invalidParameter("%s", in.at(i))
				}
			}
			return vec.NullOf(textT, c.n), nil
		})),
	}}
}

func typeName(name func(extension.Argument) string) extension.ScalarOverload {
	return lenient(params(anyParam), func(args []extension.Argument) (vec.Type, extension.Kernel, error) {
		value := vec.StringValue(textT, name(args[0]))
		return textT, func(_ *extension.Eval, _ []*vec.Vector, n int) (*vec.Vector, error) {
			return vec.ConstantOf(textT, value, n), nil
		}, nil
	})
}

// duckTypeOf is the type's name as DuckDB's typeof gives it.
func duckTypeOf(a extension.Argument) string {
	switch a.Type.ID {
	case vec.Null:
		return `"NULL"`
	case vec.Text:
		return "VARCHAR"
	case vec.Bytea:
		return "BLOB"
	case vec.Float32:
		return "FLOAT"
	case vec.Float64:
		return "DOUBLE"
	case vec.Timestamp:
		return "TIMESTAMP"
	case vec.TimestampTZ:
		return "TIMESTAMP WITH TIME ZONE"
	case vec.TimeTZ:
		return "TIME WITH TIME ZONE"
	case vec.Time:
		return "TIME"
	case vec.Decimal:
		return fmt.Sprintf("DECIMAL(%d,%d)", a.Type.Precision, a.Type.Scale)
	case vec.Array:
		return duckTypeOf(extension.Argument{Type: *a.Type.Elem}) + "[]"
	case vec.Struct:
		fields := make([]string, len(a.Type.Fields))
		for i, f := range a.Type.Fields {
			fields[i] = f.Name + " " + duckTypeOf(extension.Argument{Type: f.Type})
		}
		return "STRUCT(" + strings.Join(fields, ", ") + ")"
	}
	return strings.ToUpper(a.Type.String())
}

// typeOf is the type's name as pg_typeof gives it, NUMERIC without parameters.
func typeOf(a extension.Argument) string {
	switch {
	case a.Type.ID == vec.Decimal:
		return "numeric"
	case a.Type.ID == vec.Array && a.Type.Elem.ID == vec.Decimal:
		return "numeric[]"
	case a.Type.ID == vec.Struct:
		return "record"
	}
	return a.Type.String()
}

func nullCount(want bool) extension.ScalarOverload {
	return lenient(variadic(params(anyParam)), func([]extension.Argument) (vec.Type, extension.Kernel, error) {
		return int4, func(_ *extension.Eval, args []*vec.Vector, n int) (*vec.Vector, error) {
			return collect(int4, n, func(i int) (int32, bool) {
				count := int32(0)
				for _, a := range args {
					count += int32(bit(a.IsNull(i) == want))
				}
				return count, true
			}), nil
		}, nil
	})
}

// setSeed gives NULL: PostgreSQL's setseed has no result.
func setSeed(c *call, args []vec.Value) (vec.Value, error) {
	x := args[0].F
	if !(x >= -1 && x <= 1) {
		return vec.Value{}, invalidParameter("setseed parameter %v is out of allowed range [-1,1]", x)
	}
	if c.ev.Seed != nil {
		c.ev.Seed(x)
	}
	return vec.NullValue(textT), nil
}
