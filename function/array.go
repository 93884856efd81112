package function

import (
	"fmt"
	"strings"

	"github.com/tidemarkdb/tidemark/extension"
	"github.com/tidemarkdb/tidemark/sqlerr"
	"github.com/tidemarkdb/tidemark/vec"
)

func arrayFamily() family {
	return family{category: "array", scalars: append(append(arrayLengths(), arrayBuilders()...), arrayAssignment())}
}

// valueFn computes one boxed result of boxed arguments, NULL among them.
type valueFn func(ev *extension.Eval, args []vec.Value) (vec.Value, error)

// arrays is an overload of boxed values that sees NULLs; result gives the result type of the arguments' types.
func arrays(s extension.Signature, result func(args []extension.Argument) vec.Type, f valueFn) extension.ScalarOverload {
	return lenient(s, func(args []extension.Argument) (vec.Type, extension.Kernel, error) {
		t := result(args)
		return t, func(ev *extension.Eval, args []*vec.Vector, n int) (*vec.Vector, error) {
			if ev == nil {
				ev = &extension.Eval{}
			}
			out, values := vec.NewBuilder(t, n), make([]vec.Value, len(args))
			for i := range n {
				for k, a := range args {
					values[k] = a.Value(i)
				}
				v, err := f(ev, values)
				if err != nil {
					return nil, err
				}
				out.Append(v)
			}
			return out.Finish(), nil
		}, nil
	})
}

// strictArrays is arrays for functions that are NULL where an argument is.
func strictArrays(s extension.Signature, result func(args []extension.Argument) vec.Type, f func(args []vec.Value) (vec.Value, error)) extension.ScalarOverload {
	return bound(s, func(args []extension.Argument) (vec.Type, body, error) {
		t := result(args)
		return t, boxed(t, func(_ *call, args []vec.Value) (vec.Value, error) { return f(args) }), nil
	})
}

func resultOfArg(i int) func(args []extension.Argument) vec.Type {
	return func(args []extension.Argument) vec.Type { return args[i].Type }
}

func resultOf(t vec.Type) func([]extension.Argument) vec.Type {
	return func([]extension.Argument) vec.Type { return t }
}

func null() vec.Value { return vec.Value{Null: true} }

// arrayConcat is || of arrays and elements; NULL arrays count as empty.
func arrayConcat() []extension.ScalarOverload {
	return []extension.ScalarOverload{
		arrays(params(arrayParam, arrayParam), resultOfArg(0), joinLists),
		arrays(params(arrayParam, elementParam), resultOfArg(0), appendElement),
		arrays(params(elementParam, arrayParam), resultOfArg(1), prependElement),
	}
}

func joinLists(_ *extension.Eval, args []vec.Value) (vec.Value, error) {
	switch {
	case args[0].Null:
		return args[1], nil
	case args[1].Null:
		return args[0], nil
	}
	return vec.Value{List: append(append([]vec.Value{}, args[0].List...), args[1].List...)}, nil
}

func appendElement(_ *extension.Eval, args []vec.Value) (vec.Value, error) {
	return vec.Value{List: append(append([]vec.Value{}, args[0].List...), args[1])}, nil
}

func prependElement(_ *extension.Eval, args []vec.Value) (vec.Value, error) {
	return vec.Value{List: append([]vec.Value{args[0]}, args[1].List...)}, nil
}

// listLength is the number of elements, straight from the offsets.
func listLength(c *call) (*vec.Vector, error) {
	v, out := c.args[0].Flatten(), make([]int32, c.n)
	for i := range out {
		out[i] = v.Offsets[i+1] - v.Offsets[i]
	}
	return vec.FlatOf(int4, out, nil), nil
}

func arrayLengths() []*extension.ScalarFunc {
	dimension := func(f func(length int) vec.Value) extension.ScalarOverload {
		return strictArrays(params(arrayParam, exact(int4)), resultOf(int4), func(args []vec.Value) (vec.Value, error) {
			list := args[0].List
			for d := args[1].I; d > 1 && len(list) > 0; d-- {
				if list[0].Type.ID != vec.Array {
					return null(), nil
				}
				list = list[0].List
			}
			if args[1].I < 1 || len(list) == 0 {
				return null(), nil
			}
			return f(len(list)), nil
		})
	}
	return []*extension.ScalarFunc{
		immutable(def("array_length", "Length of an array in a dimension, by default the first; NULL when empty", ex("array_length(ARRAY[1, 2, 3], 1)", "3")),
			dimension(func(n int) vec.Value { return vec.IntValue(int4, int64(n)) }),
			on(params(arrayParam), int4, listLength)),
		immutable(def("array_upper", "Upper bound of a dimension", ex("array_upper(ARRAY[1, 2, 3], 1)", "3")), dimension(func(n int) vec.Value { return vec.IntValue(int4, int64(n)) })),
		immutable(def("array_lower", "Lower bound of a dimension", ex("array_lower(ARRAY[1, 2, 3], 1)", "1")), dimension(func(int) vec.Value { return vec.IntValue(int4, 1) })),
		immutable(def("array_ndims", "Number of dimensions", ex("array_ndims(ARRAY[1, 2])", "1")), strictArrays(params(arrayParam), resultOf(int4), func(args []vec.Value) (vec.Value, error) {
			n, v := int64(0), args[0]
			for v.Type.ID == vec.Array && len(v.List) > 0 {
				n, v = n+1, v.List[0]
			}
			if n == 0 {
				return null(), nil
			}
			return vec.IntValue(int4, n), nil
		})),
		immutable(def("array_dims", "Bounds of the dimensions as text; NULL when empty", ex("array_dims(ARRAY[[1, 2, 3], [4, 5, 6]])", "[1:2][1:3]")), strictArrays(params(arrayParam), resultOf(textT), func(args []vec.Value) (vec.Value, error) {
			out := ""
			for v := args[0]; v.Type.ID == vec.Array && len(v.List) > 0; v = v.List[0] {
				out += fmt.Sprintf("[1:%d]", len(v.List))
			}
			if out == "" {
				return null(), nil
			}
			return vec.StringValue(textT, out), nil
		})),
		immutable(also(def("cardinality", "Number of elements", ex("cardinality(ARRAY[1, 2])", "2")), "list_length", "array_size"), on(params(arrayParam), int4, listLength)),
		immutable(also(def("array_get", "Element at a place from 1, NULL outside", ex("array_get(ARRAY[5, 6], 2)", "6"), ex("(ARRAY[5, 6])[1]", "5")), "list_extract", "list_element", "array_extract"),
			bound(params(arrayParam, exact(int8)), bindArrayGet), on(signature(textT, int8), textT, boxed(textT, characterAt))),
		immutable(def("range", "Numbers from a start, 0 when left out, up to an end that is left out", ex("range(3)", "{0,1,2}"), ex("range(1, 6, 2)", "{1,3,5}")),
			rangeList(1), rangeList(2), rangeList(3)),
		immutable(also(def("array_slice", "Elements of a range of places", ex("(ARRAY[1, 2, 3])[2:3]", "{2,3}")), "list_slice"),
			arrays(params(arrayParam, exact(int8), exact(int8)), resultOfArg(0), func(_ *extension.Eval, args []vec.Value) (vec.Value, error) {
				if args[0].Null || args[1].Null || args[2].Null {
					return null(), nil
				}
				low, high := max(1, args[1].I), min(int64(len(args[0].List)), args[2].I)
				if low > high {
					return vec.Value{List: []vec.Value{}}, nil
				}
				return vec.Value{List: args[0].List[low-1 : high]}, nil
			}), on(signature(textT, int8, int8), textT, boxed(textT, charactersOf))),
	}
}

// bindArrayGet takes elements by gathering them from the arrays' child.
func bindArrayGet(args []extension.Argument) (vec.Type, body, error) {
	return *args[0].Type.Elem, func(c *call) (*vec.Vector, error) {
		v := c.args[0].Flatten()
		places, mask := fixed[int64](c.args[1])
		index, valid := make([]int32, c.n), vec.NewBitmap(c.n)
		for i := range index {
			k := places[i&mask]
			if length := int64(v.Offsets[i+1] - v.Offsets[i]); k >= 1 && k <= length {
				index[i] = v.Offsets[i] + int32(k-1)
				valid.Set(i)
			}
		}
		return vec.Gather(v.Kids[0], index, valid), nil
	}, nil
}

func find(list []vec.Value, x vec.Value, from int) int {
	for i := from; i < len(list); i++ {
		if list[i].Null && x.Null || !list[i].Null && !x.Null && vec.Compare(list[i], x) == 0 {
			return i
		}
	}
	return -1
}

func arrayBuilders() []*extension.ScalarFunc {
	arrayElem := params(arrayParam, elementParam)
	overlap := func(list, other []vec.Value) bool {
		for _, x := range other {
			if !x.Null && find(list, x, 0) >= 0 {
				return true
			}
		}
		return false
	}
	holds := func(list, other []vec.Value) bool {
		for _, x := range other {
			if x.Null || find(list, x, 0) < 0 {
				return false
			}
		}
		return true
	}
	predicate := func(f func(a, b []vec.Value) bool) extension.ScalarOverload {
		return strictArrays(params(arrayParam, arrayParam), resultOf(boolT), func(args []vec.Value) (vec.Value, error) {
			return vec.BoolValue(f(args[0].List, args[1].List)), nil
		})
	}
	return []*extension.ScalarFunc{
		immutable(also(def("array_append", "Add an element at the end", ex("array_append(ARRAY[1, 2], 3)", "{1,2,3}")), "list_append"), arrays(arrayElem, resultOfArg(0), appendElement)),
		immutable(also(def("array_prepend", "Add an element at the start", ex("array_prepend(1, ARRAY[2, 3])", "{1,2,3}")), "list_prepend"), arrays(params(elementParam, arrayParam), resultOfArg(1), prependElement)),
		immutable(also(def("array_cat", "Join arrays", ex("array_cat(ARRAY[1], ARRAY[2, 3])", "{1,2,3}")), "list_concat", "array_concat", "list_cat"), arrays(params(arrayParam, arrayParam), resultOfArg(0), joinLists)),
		immutable(also(def("array_position", "Place of an element from 1, NULL when there is none", ex("array_position(ARRAY['a', 'b'], 'b')", "2")), "list_position", "list_indexof", "array_indexof"),
			arrays(optional(params(arrayParam, elementParam, exact(int4)), 1), resultOf(int4), func(_ *extension.Eval, args []vec.Value) (vec.Value, error) {
				from := 0
				if len(args) == 3 {
					from = max(int(args[2].I)-1, 0)
				}
				if at := find(args[0].List, args[1], from); at >= 0 && !args[0].Null {
					return vec.IntValue(int4, int64(at+1)), nil
				}
				return null(), nil
			})),
		immutable(def("array_positions", "Places of an element", ex("array_positions(ARRAY[1, 2, 1], 1)", "{1,3}")), arrays(arrayElem, resultOf(vec.ArrayType(int4)), func(_ *extension.Eval, args []vec.Value) (vec.Value, error) {
			if args[0].Null {
				return null(), nil
			}
			out := vec.Value{List: []vec.Value{}}
			for at := find(args[0].List, args[1], 0); at >= 0; at = find(args[0].List, args[1], at+1) {
				out.List = append(out.List, vec.IntValue(int4, int64(at+1)))
			}
			return out, nil
		})),
		immutable(def("array_remove", "Drop every occurrence of an element", ex("array_remove(ARRAY[1, 2, 1], 1)", "{2}")), arrays(arrayElem, resultOfArg(0), func(_ *extension.Eval, args []vec.Value) (vec.Value, error) {
			if args[0].Null {
				return null(), nil
			}
			out := vec.Value{List: []vec.Value{}}
			for _, e := range args[0].List {
				if find([]vec.Value{e}, args[1], 0) < 0 {
					out.List = append(out.List, e)
				}
			}
			return out, nil
		})),
		immutable(def("array_replace", "Replace every occurrence of an element", ex("array_replace(ARRAY[1, 2], 2, 5)", "{1,5}")), arrays(params(arrayParam, elementParam, elementParam), resultOfArg(0), func(_ *extension.Eval, args []vec.Value) (vec.Value, error) {
			if args[0].Null {
				return null(), nil
			}
			out := vec.Value{List: []vec.Value{}}
			for _, e := range args[0].List {
				if find([]vec.Value{e}, args[1], 0) >= 0 {
					e = args[2]
				}
				out.List = append(out.List, e)
			}
			return out, nil
		})),
		immutable(also(def("array_contains", "Whether an array has an element", ex("array_contains(ARRAY[1, 2], 2)", "t")), "list_contains", "list_has", "array_has"),
			strictArrays(arrayElem, resultOf(boolT), func(args []vec.Value) (vec.Value, error) {
				return vec.BoolValue(find(args[0].List, args[1], 0) >= 0), nil
			})),
		immutable(also(def("@>", "Whether an array has all elements of another", ex("ARRAY[1, 2, 3] @> ARRAY[2]", "t")), "array_has_all", "list_has_all"), append(jsonContains(false), predicate(holds))...),
		immutable(def("<@", "Whether all elements of an array are in another", ex("ARRAY[2] <@ ARRAY[1, 2]", "t")), append(jsonContains(true), predicate(func(a, b []vec.Value) bool { return holds(b, a) }))...),
		immutable(also(def("&&", "Whether two arrays have an element in common", ex("ARRAY[1, 2] && ARRAY[2, 3]", "t")), "array_has_any", "list_has_any"), predicate(overlap)),
		immutable(also(def("array_distinct", "Different elements, the first of each kept", ex("array_distinct(ARRAY[1, 2, 1])", "{1,2}")), "list_distinct"), strictArrays(params(arrayParam), resultOfArg(0), func(args []vec.Value) (vec.Value, error) {
			out := vec.Value{List: []vec.Value{}}
			for _, e := range args[0].List {
				if find(out.List, e, 0) < 0 {
					out.List = append(out.List, e)
				}
			}
			return out, nil
		})),
		immutable(also(def("array_sort", "Elements in ascending order, NULL last", ex("array_sort(ARRAY[3, 1, 2])", "{1,2,3}")), "list_sort"), strictArrays(params(arrayParam), resultOfArg(0), func(args []vec.Value) (vec.Value, error) {
			return vec.Value{List: sortedValues(args[0].List, false)}, nil
		})),
		immutable(also(def("array_reverse_sort", "Elements in descending order, NULL first", ex("array_reverse_sort(ARRAY[3, 1, 2])", "{3,2,1}")), "list_reverse_sort"), strictArrays(params(arrayParam), resultOfArg(0), func(args []vec.Value) (vec.Value, error) {
			return vec.Value{List: sortedValues(args[0].List, true)}, nil
		})),
		immutable(also(def("array_reverse", "Elements in reverse order", ex("array_reverse(ARRAY[3, 1, 2])", "{2,1,3}")), "list_reverse"), strictArrays(params(arrayParam), resultOfArg(0), func(args []vec.Value) (vec.Value, error) {
			out := vec.Value{List: make([]vec.Value, len(args[0].List))}
			for i, e := range args[0].List {
				out.List[len(out.List)-1-i] = e
			}
			return out, nil
		})),
		immutable(also(def("string_to_array", "Split a text at a separator; NULL splits into characters", ex("string_to_array('a,b', ',')", "{a,b}")), "string_split", "str_split"),
			arrays(optional(signature(textT, textT, textT), 1), resultOf(textArrayT), stringToArray)),
		stable(also(def("array_to_string", "Join the elements' texts with a separator", ex("array_to_string(ARRAY[1, 2, NULL], ',', '*')", "1,2,*")), "array_join"),
			arrays(optional(params(arrayParam, exact(textT), exact(textT)), 1), resultOf(textT), arrayToString)),
		immutable(also(def("array_fill", "Array of n equal elements", ex("array_fill(7, ARRAY[2])", "{7,7}"))), arrays(params(elementParam, exact(vec.ArrayType(int4))), func(args []extension.Argument) vec.Type { return vec.ArrayType(args[0].Type) }, func(_ *extension.Eval, args []vec.Value) (vec.Value, error) {
			if args[1].Null || len(args[1].List) != 1 || args[1].List[0].Null {
				return null(), sqlerr.New(sqlerr.FeatureNotSupported, "array_fill makes arrays of one dimension only")
			}
			out := vec.Value{List: []vec.Value{}}
			for range args[1].List[0].I {
				out.List = append(out.List, args[0])
			}
			return out, nil
		})),
	}
}

func stringToArray(_ *extension.Eval, args []vec.Value) (vec.Value, error) {
	if args[0].Null {
		return null(), nil
	}
	var parts []string
	switch s := args[0].S; {
	case s == "":
	case args[1].Null:
		for _, r := range s {
			parts = append(parts, string(r))
		}
	case args[1].S == "":
		parts = []string{s}
	default:
		parts = strings.Split(s, args[1].S)
	}
	out := vec.Value{List: []vec.Value{}}
	for _, p := range parts {
		v := vec.StringValue(textT, p)
		if len(args) == 3 && !args[2].Null && p == args[2].S {
			v = vec.NullValue(textT)
		}
		out.List = append(out.List, v)
	}
	return out, nil
}

func arrayToString(ev *extension.Eval, args []vec.Value) (vec.Value, error) {
	if args[0].Null || args[1].Null {
		return null(), nil
	}
	var parts []string
	var walk func(list []vec.Value)
	walk = func(list []vec.Value) {
		for _, e := range list {
			switch {
			case e.Type.ID == vec.Array && !e.Null:
				walk(e.List)
			case !e.Null:
				parts = append(parts, string(vec.AppendValue(nil, e, ev.Zone)))
			case len(args) == 3 && !args[2].Null:
				parts = append(parts, args[2].S)
			}
		}
	}
	walk(args[0].List)
	return vec.StringValue(textT, strings.Join(parts, args[1].S)), nil
}
