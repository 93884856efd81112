package function

import (
	"bytes"
	"encoding/json"
	"slices"
	"strings"

	"github.com/tidemarkdb/tidemark/extension"
	"github.com/tidemarkdb/tidemark/sqlerr"
	"github.com/tidemarkdb/tidemark/vec"
)

func jsonFamily() family {
	return family{category: "json", tables: jsonTables(), scalars: slices.Concat(jsonFunctions(), jsonbChanges(), jsonbTwins(jsonFunctions()))}
}

// jsonFunctions are the operators and functions that look at JSON or make it.
func jsonFunctions() []*extension.ScalarFunc {
	j := `'{"a": 1, "b": [2, 3]}'::json`
	return []*extension.ScalarFunc{
		immutable(def("->", "Member of an object by key, or element of an array by place from 0", ex(j+" -> 'b'", "[2, 3]")), jsonArrows(false)...),
		immutable(def("->>", "Member or element as text", ex(j+" ->> 'a'", "1")), jsonArrows(true)...),
		immutable(def("#>", "Value at a path", ex(j+" #> '{b,1}'", "3")), jsonPaths(false)),
		immutable(def("#>>", "Value at a path as text", ex(j+" #>> '{b,0}'", "2")), jsonPaths(true)),
		immutable(also(def("?", "Whether an object has a key", ex(j+" ? 'a'", "t")), "json_exists", "jsonb_exists"), strictArrays(signature(jsonT, textT), resultOf(boolT), func(args []vec.Value) (vec.Value, error) {
			return vec.BoolValue(jsonHas(vec.StringBytes(args[0].S), args[1].S)), nil
		})),
		immutable(def("?|", "Whether an object has one of the keys", ex(j+" ?| ARRAY['x', 'a']", "t")), jsonKeys(false)),
		immutable(def("?&", "Whether an object has all of the keys", ex(j+" ?& ARRAY['x', 'a']", "f")), jsonKeys(true)),
		immutable(also(def("json_extract_path", "Value at a path", ex("json_extract_path("+j+", 'b', '0')", "2")), "jsonb_extract_path", "json_extract"), jsonExtract(false)),
		immutable(also(def("json_extract_path_text", "Value at a path as text", ex("json_extract_path_text("+j+", 'a')", "1")), "jsonb_extract_path_text", "json_extract_string"), jsonExtract(true)),
		immutable(also(def("json_array_length", "Number of elements of an array", ex("json_array_length('[1, 2]')", "2")), "jsonb_array_length"), strictArrays(signature(jsonT), resultOf(int4), func(args []vec.Value) (vec.Value, error) {
			elements, ok := jsonElements(vec.StringBytes(args[0].S))
			if !ok {
				return null(), invalidParameter("cannot get array length of a non-array")
			}
			return vec.IntValue(int4, int64(len(elements))), nil
		})),
		immutable(also(def("json_typeof", "Kind of a JSON value", ex("json_typeof('[1]')", "array")), "jsonb_typeof", "json_type"), on(signature(jsonT), textT, func(c *call) (*vec.Vector, error) {
			in := textsOf(c.args[0])
			return toText(textT, func(_ *call, dst []byte, i int) ([]byte, error) { return append(dst, jsonKind(in.at(i))...), nil })(c)
		})),
		immutable(def("json_valid", "Whether a text is JSON", ex("json_valid('{')", "f")), on(signature(textT), boolT, textToFixed(boolT, func(s []byte) (byte, error) { return bit(json.Valid(s)), nil }))),
		immutable(also(def("json_strip_nulls", "Drop members that are null", ex(`json_strip_nulls('{"a":null,"b":1}')`, `{"b":1}`))), on(signature(jsonT), jsonT, func(c *call) (*vec.Vector, error) {
			in := textsOf(c.args[0])
			return toText(jsonT, func(_ *call, dst []byte, i int) ([]byte, error) { return stripNulls(dst, in.at(i)), nil })(c)
		})),
		stable(also(def("to_json", "Value as JSON", ex("to_json('a'::text)", `"a"`)), "row_to_json"), bound(params(anyParam), func([]extension.Argument) (vec.Type, body, error) {
			return jsonT, toText(jsonT, func(c *call, dst []byte, i int) ([]byte, error) {
				return appendJSON(dst, c.args[0].Value(i), c.ev.Zone), nil
			}), nil
		})),
		stable(def("array_to_json", "Array as JSON; with TRUE each element is on a line of its own", ex("array_to_json(ARRAY[1, 2])", "[1,2]")),
			on(optional(params(arrayParam, exact(boolT)), 1), jsonT, arrayToJSON)),
		stable(also(def("json_build_array", "JSON array of the arguments", ex("json_build_array(1, 'a', NULL)", `[1, "a", null]`)), "json_array"),
			arrays(variadicFromNone(anyParam), resultOf(jsonT), func(ev *extension.Eval, args []vec.Value) (vec.Value, error) {
				out := []byte{'['}
				for i, a := range args {
					if i > 0 {
						out = append(out, ", "...)
					}
					out = appendJSON(out, a, ev.Zone)
				}
				return vec.StringValue(jsonT, string(append(out, ']'))), nil
			})),
		stable(also(def("json_build_object", "JSON object of alternating keys and values", ex("json_build_object('a', 1)", `{"a" : 1}`)), "json_object"),
			arrays(variadicFromNone(anyParam), resultOf(jsonT), buildObject)),
		immutable(def("jsonb_pretty", "JSON indented", ex(`jsonb_pretty('[1]')`, "[\n    1\n]")), strictArrays(signature(jsonT), resultOf(textT), func(args []vec.Value) (vec.Value, error) {
			tree, err := jsonValue(args[0].S)
			return vec.StringValue(textT, string(appendPretty(nil, tree, "\n"))), err
		})),
	}
}

// jsonbTwins are the functions that PostgreSQL has twice, once for each of its types, which return JSON.
func jsonbTwins(all []*extension.ScalarFunc) []*extension.ScalarFunc {
	names := map[string][2]string{
		"json_strip_nulls":  {"jsonb_strip_nulls", `{"b": 1}`},
		"json_build_array":  {"jsonb_build_array", `[1, "a", null]`},
		"json_build_object": {"jsonb_build_object", `{"a": 1}`},
		"to_json":           {"to_jsonb", `"a"`},
	}
	var out []*extension.ScalarFunc
	for _, f := range all {
		if twin, ok := names[f.Name]; ok {
			out = append(out, inJSONB(f, twin[0], twin[1]))
		}
	}
	return out
}

// variadicFromNone takes any number of arguments, none included.
func variadicFromNone(p extension.Param) extension.Signature {
	return optional(variadic(params(p)), 1)
}

func arrayToJSON(c *call) (*vec.Vector, error) {
	return toText(jsonT, func(c *call, dst []byte, i int) ([]byte, error) {
		array := c.args[0].Value(i)
		if len(c.args) == 1 || c.args[1].Value(i).I == 0 {
			return appendJSON(dst, array, c.ev.Zone), nil
		}
		dst = append(dst, '[')
		for k, element := range array.List {
			if k > 0 {
				dst = append(dst, ",\n "...)
			}
			dst = appendJSON(dst, element, c.ev.Zone)
		}
		return append(dst, ']'), nil
	})(c)
}

func jsonKeys(all bool) extension.ScalarOverload {
	return strictArrays(signature(jsonT, textArrayT), resultOf(boolT), func(args []vec.Value) (vec.Value, error) {
		has := func(k vec.Value) bool { return !k.Null && jsonHas(vec.StringBytes(args[0].S), k.S) }
		if all {
			return vec.BoolValue(!slices.ContainsFunc(args[1].List, func(k vec.Value) bool { return !k.Null && !has(k) })), nil
		}
		return vec.BoolValue(slices.ContainsFunc(args[1].List, has)), nil
	})
}

func buildObject(ev *extension.Eval, args []vec.Value) (vec.Value, error) {
	if len(args)%2 != 0 {
		return null(), sqlerr.New(sqlerr.InvalidParameterValue, "argument list must have even number of elements").
			Hintf("The arguments of json_build_object() must consist of alternating keys and values.")
	}
	out := []byte{'{'}
	for i := 0; i < len(args); i += 2 {
		if i > 0 {
			out = append(out, ", "...)
		}
		if args[i].Null {
			return null(), sqlerr.New(sqlerr.NullNotAllowed, "argument %d cannot be null", i+1).Hintf("Object keys should be text.")
		}
		out = appendJSONString(out, string(vec.AppendValue(nil, args[i], ev.Zone)))
		out = appendJSON(append(out, " : "...), args[i+1], ev.Zone)
	}
	return vec.StringValue(jsonT, string(append(out, '}'))), nil
}

// stripNulls appends text without the members that are null, arrays untouched, and without white space.
func stripNulls(dst, text []byte) []byte {
	if members, ok := jsonMembers(text); ok {
		dst = append(dst, '{')
		first := true
		for _, m := range members {
			if jsonKind(m.raw) == "null" {
				continue
			}
			if !first {
				dst = append(dst, ',')
			}
			first = false
			dst = stripNulls(append(appendJSONString(dst, m.key), ':'), m.raw)
		}
		return append(dst, '}')
	}
	if elements, ok := jsonElements(text); ok {
		dst = append(dst, '[')
		for i, e := range elements {
			if i > 0 {
				dst = append(dst, ',')
			}
			dst = stripNulls(dst, e)
		}
		return append(dst, ']')
	}
	return append(dst, bytes.TrimSpace(text)...)
}

// jsonTables are the set-returning functions of JSON.
func jsonTables() []*extension.TableFunc {
	each := func(asText bool) jsonExpansion {
		return func(text []byte, out []*vec.Builder) error {
			members, ok := jsonMembers(text)
			if !ok {
				return invalidParameter("cannot deconstruct a JSON value that is not an object")
			}
			for _, m := range members {
				out[0].AppendString(m.key)
				out[1].Append(jsonOut(m.raw, true, asText))
			}
			return nil
		}
	}
	elements := func(asText bool) jsonExpansion {
		return func(text []byte, out []*vec.Builder) error {
			list, ok := jsonElements(text)
			if !ok {
				return invalidParameter("cannot extract elements from a JSON value that is not an array")
			}
			for _, e := range list {
				out[0].Append(jsonOut(e, true, asText))
			}
			return nil
		}
	}
	keys := func(text []byte, out []*vec.Builder) error {
		members, ok := jsonMembers(text)
		if !ok {
			return invalidParameter("cannot call json_object_keys on a JSON value that is not an object")
		}
		for _, m := range members {
			out[0].AppendString(m.key)
		}
		return nil
	}
	var out []*extension.TableFunc
	both := func(name, description, example, result string, f jsonExpansion, columns ...vec.Column) {
		for _, canonical := range []bool{false, true} {
			if canonical {
				example, name = strings.Replace(example, name, "jsonb"+name[4:], 1), "jsonb"+name[4:]
			}
			named := slices.Clone(columns)
			if len(named) == 1 && named[0].Name == "" {
				named[0].Name = name
			}
			out = append(out, &extension.TableFunc{Def: def(name, description, ex(example, result)), Overloads: jsonRows(f, canonical, named...)})
		}
	}
	key, text, value := vec.Column{Name: "key", Type: textT}, vec.Column{Name: "value", Type: textT}, vec.Column{Name: "value", Type: jsonT}
	both("json_each", "Members of an object as rows", `SELECT key FROM json_each('{"a":1}')`, "a", each(false), key, value)
	both("json_each_text", "Members of an object as rows of text", `SELECT value FROM json_each_text('{"a":"x"}')`, "x", each(true), key, text)
	both("json_array_elements", "Elements of an array as rows", "SELECT value FROM json_array_elements('[7]')", "7", elements(false), value)
	both("json_array_elements_text", "Elements of an array as rows of text", `SELECT value FROM json_array_elements_text('["x"]')`, "x", elements(true), text)
	both("json_object_keys", "Keys of an object as rows", `SELECT * FROM json_object_keys('{"a":1}')`, "a", keys, vec.Column{Type: textT})
	return out
}

// jsonExpansion adds the rows that a JSON value stands for.
type jsonExpansion func(text []byte, out []*vec.Builder) error

// jsonRows makes rows of a JSON value, which canonical puts into the form of jsonb first.
func jsonRows(f jsonExpansion, canonical bool, columns ...vec.Column) []extension.TableOverload {
	return []extension.TableOverload{expand(signature(jsonT), func([]extension.Argument) (vec.Schema, expandRow, error) {
		return columns, func(_ *extension.Eval, args []*vec.Vector, i int, out []*vec.Builder) error {
			if args[0].IsNull(i) {
				return nil
			}
			text := args[0].Bytes(i)
			if canonical {
				tree, err := jsonValue(args[0].Value(i).S)
				if err != nil {
					return err
				}
				text = appendJSONB(nil, tree)
			}
			return f(text, out)
		}, nil
	})}
}
