package function

import (
	"cmp"
	"encoding/json"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/tidemarkdb/tidemark/extension"
	"github.com/tidemarkdb/tidemark/vec"
)

// maxJSONExponent is how large an exponent is written out in digits; numbers beyond stay as they are written.
const maxJSONExponent = 400

// appendJSONB appends v, as jsonValue reads it, in the one form that jsonb has for it: a space after each colon and
// comma, each key once, shorter keys first, numbers without an exponent.
func appendJSONB(dst []byte, v any) []byte {
	switch v := v.(type) {
	case nil:
		return append(dst, "null"...)
	case bool:
		return strconv.AppendBool(dst, v)
	case string:
		return appendJSONString(dst, v)
	case json.Number:
		return append(dst, plainNumber(v.String())...)
	case []any:
		dst = append(dst, '[')
		for i, e := range v {
			if i > 0 {
				dst = append(dst, ", "...)
			}
			dst = appendJSONB(dst, e)
		}
		return append(dst, ']')
	case map[string]any:
		dst = append(dst, '{')
		for i, key := range jsonKeysInOrder(v) {
			if i > 0 {
				dst = append(dst, ", "...)
			}
			dst = appendJSONB(append(appendJSONString(dst, key), ": "...), v[key])
		}
		return append(dst, '}')
	}
	return dst
}

// jsonKeysInOrder returns the keys of an object as jsonb keeps them: by length, then by bytes.
func jsonKeysInOrder(object map[string]any) []string {
	return slices.SortedFunc(maps.Keys(object), func(a, b string) int {
		return cmp.Or(cmp.Compare(len(a), len(b)), cmp.Compare(a, b))
	})
}

// plainNumber writes a JSON number out without its exponent.
func plainNumber(s string) string {
	at := strings.IndexAny(s, "eE")
	if at < 0 {
		if s == "-0" {
			return "0"
		}
		return s
	}
	exponent, err := strconv.Atoi(s[at+1:])
	if err != nil || exponent > maxJSONExponent || exponent < -maxJSONExponent {
		return s
	}
	digits, negative := strings.CutPrefix(s[:at], "-")
	whole, fraction, _ := strings.Cut(digits, ".")
	digits = whole + fraction
	point := len(whole) + exponent // where the point stands in digits
	if point <= 0 {
		digits, point = strings.Repeat("0", 1-point)+digits, 1
	}
	if missing := point - len(digits); missing > 0 {
		digits += strings.Repeat("0", missing)
	}
	out := strings.TrimLeft(digits[:point], "0")
	if out == "" {
		out = "0"
	}
	if point < len(digits) {
		out += "." + digits[point:]
	}
	if negative && strings.Trim(out, "0.") != "" {
		out = "-" + out
	}
	return out
}

// jsonbOf boxes a JSON value in the form of jsonb.
func jsonbOf(v any) vec.Value { return vec.StringValue(jsonT, string(appendJSONB(nil, v))) }

// asJSONB writes the JSON results of a kernel in the form of jsonb.
func asJSONB(v *vec.Vector) (*vec.Vector, error) {
	out := vec.NewBuilder(v.Type, v.N)
	for i := range v.N {
		if v.IsNull(i) {
			out.AppendNull()
			continue
		}
		tree, err := jsonValue(v.Value(i).S)
		if err != nil {
			return nil, err
		}
		out.Append(jsonbOf(tree))
	}
	return out.Finish(), nil
}

// inJSONB is the jsonb twin of a function that returns JSON.
func inJSONB(f *extension.ScalarFunc, name, result string) *extension.ScalarFunc {
	twin := *f
	twin.Def = def(name, f.Description+", in the form of jsonb", ex(strings.Replace(f.Examples[0].SQL, f.Name, name, 1), result))
	twin.Overloads = slices.Clone(f.Overloads)
	for i := range twin.Overloads {
		bind := f.Overloads[i].Bind
		twin.Overloads[i].Bind = func(args []extension.Argument) (vec.Type, extension.Kernel, error) {
			t, kernel, err := bind(args)
			return t, func(ev *extension.Eval, args []*vec.Vector, n int) (*vec.Vector, error) {
				v, err := kernel(ev, args, n)
				if err != nil {
					return nil, err
				}
				return asJSONB(v)
			}, err
		}
	}
	return &twin
}

// onTree is an overload whose first argument is JSON, read as a tree, and which returns a tree or its own error.
func onTree(s extension.Signature, f func(tree any, args []vec.Value) (any, error)) extension.ScalarOverload {
	return strictArrays(s, resultOf(jsonT), func(args []vec.Value) (vec.Value, error) {
		tree, err := jsonValue(args[0].S)
		if err != nil {
			return null(), err
		}
		out, err := f(tree, args[1:])
		if err != nil {
			return null(), err
		}
		return jsonbOf(out), nil
	})
}

// appendPretty appends v with each member and element on a line of its own; newline is what a line begins with.
func appendPretty(dst []byte, v any, newline string) []byte {
	inner := newline + "    "
	switch v := v.(type) {
	case []any:
		dst = append(dst, '[')
		for i, e := range v {
			if i > 0 {
				dst = append(dst, ',')
			}
			dst = appendPretty(append(dst, inner...), e, inner)
		}
		return append(append(dst, newline...), ']')
	case map[string]any:
		dst = append(dst, '{')
		for i, key := range jsonKeysInOrder(v) {
			if i > 0 {
				dst = append(dst, ',')
			}
			dst = append(appendJSONString(append(dst, inner...), key), ": "...)
			dst = appendPretty(dst, v[key], inner)
		}
		return append(append(dst, newline...), '}')
	}
	return appendJSONB(dst, v)
}
