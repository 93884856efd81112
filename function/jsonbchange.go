package function

import (
	"encoding/json"
	"maps"
	"slices"
	"strconv"

	"github.com/tidemarkdb/tidemark/extension"
	"github.com/tidemarkdb/tidemark/sqlerr"
	"github.com/tidemarkdb/tidemark/vec"
)

// jsonbChanges are the functions that make a changed copy of a JSON value.
func jsonbChanges() []*extension.ScalarFunc {
	return []*extension.ScalarFunc{
		immutable(def("#-", "JSON without what lies at a path", ex(`'{"a": [1, 2]}'::jsonb #- '{a,0}'`, `{"a": [2]}`)),
			onTree(signature(jsonT, textArrayT), func(tree any, args []vec.Value) (any, error) {
				return changeAt(tree, args[0].List, pathEdit{what: "delete path"})
			})),
		immutable(def("jsonb_set", "JSON with another value at a path; with FALSE only where there is one", ex(`jsonb_set('{"a": [1, 2]}', '{a,0}', '7')`, `{"a": [7, 2]}`)),
			onTree(optional(signature(jsonT, textArrayT, jsonT, boolT), 1), func(tree any, args []vec.Value) (any, error) {
				value, err := jsonValue(args[1].S)
				if err != nil {
					return nil, err
				}
				return changeAt(tree, args[0].List, pathEdit{what: "set path", value: value, keep: true, replace: true, create: len(args) < 3 || args[2].I != 0})
			})),
		immutable(def("jsonb_insert", "JSON with a value put in at a path, in an array before the element there or, with TRUE, after it", ex(`jsonb_insert('{"a": [1, 2]}', '{a,1}', '7')`, `{"a": [1, 7, 2]}`)),
			onTree(optional(signature(jsonT, textArrayT, jsonT, boolT), 1), func(tree any, args []vec.Value) (any, error) {
				value, err := jsonValue(args[1].S)
				if err != nil {
					return nil, err
				}
				return changeAt(tree, args[0].List, pathEdit{what: "set path", value: value, keep: true, create: true, after: len(args) == 3 && args[2].I != 0})
			})),
		immutable(def("jsonb", "JSON in the form of jsonb, which is the same for equal values", ex(`jsonb('{"bb":1, "a":2,"a":3e1}')`, `{"a": 30, "bb": 1}`)),
			onTree(signature(jsonT), func(tree any, _ []vec.Value) (any, error) { return tree, nil })),
	}
}

// jsonbMinus are the overloads of - on JSON: without a key, an element, or several keys.
func jsonbMinus() []extension.ScalarOverload {
	return []extension.ScalarOverload{
		onTree(signature(jsonT, textT), func(tree any, args []vec.Value) (any, error) { return withoutKeys(tree, args) }),
		onTree(signature(jsonT, int4), func(tree any, args []vec.Value) (any, error) {
			array, ok := tree.([]any)
			if !ok {
				if _, object := tree.(map[string]any); object {
					return nil, invalidParameter("cannot delete from object using integer index")
				}
				return nil, invalidParameter("cannot delete from scalar")
			}
			at := args[0].I
			if at < 0 {
				at += int64(len(array))
			}
			if at < 0 || at >= int64(len(array)) {
				return array, nil
			}
			return slices.Delete(array, int(at), int(at)+1), nil
		}),
		onTree(signature(jsonT, textArrayT), func(tree any, args []vec.Value) (any, error) { return withoutKeys(tree, args[0].List) }),
	}
}

func withoutKeys(tree any, keys []vec.Value) (any, error) {
	gone := func(s string) bool {
		return slices.ContainsFunc(keys, func(k vec.Value) bool { return !k.Null && k.S == s })
	}
	switch t := tree.(type) {
	case map[string]any:
		maps.DeleteFunc(t, func(key string, _ any) bool { return gone(key) })
		return t, nil
	case []any:
		return slices.DeleteFunc(t, func(e any) bool {
			s, ok := e.(string)
			return ok && gone(s)
		}), nil
	}
	return nil, invalidParameter("cannot delete from scalar")
}

// jsonbConcat is || of JSON: two objects unite, the right one's members win; anything else joins as arrays.
func jsonbConcat() extension.ScalarOverload {
	return onTree(signature(jsonT, jsonT), func(left any, args []vec.Value) (any, error) {
		right, err := jsonValue(args[0].S)
		if err != nil {
			return nil, err
		}
		l, lok := left.(map[string]any)
		r, rok := right.(map[string]any)
		if lok && rok {
			maps.Copy(l, r)
			return l, nil
		}
		return append(asElements(left), asElements(right)...), nil
	})
}

func asElements(v any) []any {
	if array, ok := v.([]any); ok {
		return array
	}
	return []any{v}
}

// pathEdit is what happens to the place that a path leads to.
type pathEdit struct {
	what    string // for messages: "set path"
	value   any
	keep    bool // value stands there afterwards; otherwise nothing does
	replace bool // in the place of what was there
	create  bool // also where there was nothing
	after   bool // in an array behind the element
}

// changeAt makes the change at path in tree, or none when the path leads nowhere.
func changeAt(tree any, path []vec.Value, edit pathEdit) (any, error) {
	switch tree.(type) {
	case map[string]any, []any:
	default:
		return nil, invalidParameter("cannot %s in scalar", edit.what)
	}
	if len(path) == 0 {
		return tree, nil
	}
	return edit.at(tree, path, 1)
}

func (d pathEdit) at(tree any, path []vec.Value, depth int) (any, error) {
	step := path[0]
	if step.Null {
		return nil, sqlerr.New(sqlerr.NullNotAllowed, "path element at position %d is null", depth).Hintf("name every step of the path")
	}
	switch t := tree.(type) {
	case map[string]any:
		return d.inObject(t, step.S, path, depth)
	case []any:
		place, err := strconv.ParseInt(step.S, 10, 32)
		if err != nil {
			return nil, sqlerr.New(sqlerr.InvalidText, "path element at position %d is not an integer: %q", depth, step.S).
				Hintf("an element of an array is named by its place, counted from 0")
		}
		return d.inArray(t, int(place), path, depth)
	}
	return tree, nil
}

func (d pathEdit) inObject(object map[string]any, key string, path []vec.Value, depth int) (any, error) {
	old, found := object[key]
	switch {
	case len(path) > 1 && found:
		changed, err := d.at(old, path[1:], depth+1)
		if err != nil {
			return nil, err
		}
		object[key] = changed
	case len(path) > 1:
	case !d.keep:
		delete(object, key)
	case found && !d.replace:
		return nil, sqlerr.New(sqlerr.InvalidParameterValue, "cannot replace existing key").Hintf("Try using the function jsonb_set to replace key value.")
	case found || d.create:
		object[key] = d.value
	}
	return object, nil
}

func (d pathEdit) inArray(array []any, place int, path []vec.Value, depth int) (any, error) {
	n := len(array)
	if place < 0 {
		place += n
	}
	inside := place >= 0 && place < n
	switch {
	case len(path) > 1 && inside:
		changed, err := d.at(array[place], path[1:], depth+1)
		if err != nil {
			return nil, err
		}
		array[place] = changed
	case len(path) > 1:
	case !d.keep:
		if inside {
			return slices.Delete(array, place, place+1), nil
		}
	case inside && d.replace:
		array[place] = d.value
	case !d.create:
	case place < 0:
		return slices.Insert(array, 0, d.value), nil
	case !inside:
		return append(array, d.value), nil
	case d.after:
		return slices.Insert(array, place+1, d.value), nil
	default:
		return slices.Insert(array, place, d.value), nil
	}
	return array, nil
}

// IsJSONContainer reports whether a text is a JSON object or array.
func IsJSONContainer(text string) bool {
	kind := jsonKind(vec.StringBytes(text))
	return (kind == "object" || kind == "array") && json.Valid(vec.StringBytes(text))
}
