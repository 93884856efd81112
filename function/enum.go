package function

import (
	"github.com/tidemarkdb/tidemark/extension"
	"github.com/tidemarkdb/tidemark/sqlerr"
	"github.com/tidemarkdb/tidemark/vec"
)

// EnumCode and EnumLabel are the functions by which the planner orders an enumeration: from a label to its place and
// back.
const (
	EnumCode  = "enum_code"
	EnumLabel = "enum_label"
)

func enumFamily() family {
	noEnum := func(name string) extension.Example {
		return ex("(SELECT count(*) > 0 FROM information_schema.functions WHERE name = '"+name+"')", "t")
	}
	return family{category: "enumeration", scalars: []*extension.ScalarFunc{
		immutable(def("enum_first", "First label of an enumeration type, of which the argument is any value or NULL", noEnum("enum_first")),
			ofEnum(params(anyParam), func(e *vec.Enum, t vec.Type, _ []*vec.Vector, n int) *vec.Vector {
				return vec.ConstantOf(t, labelAt(e, t, 0), n)
			})),
		immutable(def("enum_last", "Last label of an enumeration type, of which the argument is any value or NULL", noEnum("enum_last")),
			ofEnum(params(anyParam), func(e *vec.Enum, t vec.Type, _ []*vec.Vector, n int) *vec.Vector {
				return vec.ConstantOf(t, labelAt(e, t, len(e.Labels)-1), n)
			})),
		immutable(def("enum_range", "Labels of an enumeration type in order; with two values those from the one to the other, NULL for no bound", noEnum("enum_range")),
			enumRange(1), enumRange(2)),
		immutable(def(EnumCode, "Place of a label in its enumeration type, from 0", noEnum(EnumCode)), enumCode()),
		immutable(def(EnumLabel, "Label at a place, from 0, of the enumeration type that the second argument is of", noEnum(EnumLabel)), enumLabel()),
	}}
}

func labelAt(e *vec.Enum, t vec.Type, place int) vec.Value {
	if place < 0 || place >= len(e.Labels) {
		return vec.NullValue(t)
	}
	return vec.StringValue(t, e.Labels[place])
}

// enumOf returns the enumeration that an argument is of.
func enumOf(a extension.Argument) (*vec.Enum, error) {
	if a.Type.Enum == nil {
		return nil, sqlerr.New(sqlerr.DatatypeMismatch, "the argument is of no enumeration type").Hintf("cast it: NULL::the_type")
	}
	return a.Type.Enum, nil
}

// ofEnum is an overload whose result is of the enumeration that the first argument is of.
func ofEnum(s extension.Signature, f func(e *vec.Enum, t vec.Type, args []*vec.Vector, n int) *vec.Vector) extension.ScalarOverload {
	return lenient(s, func(args []extension.Argument) (vec.Type, extension.Kernel, error) {
		e, err := enumOf(args[0])
		if err != nil {
			return vec.Type{}, nil, err
		}
		t := vec.EnumType(e)
		return t, func(_ *extension.Eval, args []*vec.Vector, n int) (*vec.Vector, error) { return f(e, t, args, n), nil }, nil
	})
}

// enumRange is enum_range of one or two arguments.
func enumRange(arguments int) extension.ScalarOverload {
	s := params(anyParam)
	if arguments == 2 {
		s = params(anyParam, anyParam)
	}
	return lenient(s, func(args []extension.Argument) (vec.Type, extension.Kernel, error) {
		e, err := enumOf(args[0])
		if err != nil {
			return vec.Type{}, nil, err
		}
		t := vec.EnumType(e)
		list := vec.ArrayType(t)
		return list, func(_ *extension.Eval, args []*vec.Vector, n int) (*vec.Vector, error) {
			out := vec.NewBuilder(list, n)
			for i := range n {
				from, to := 0, len(e.Labels)-1
				if arguments == 2 {
					if v := args[0].Value(i); !v.Null {
						from = e.Place(v.S)
					}
					if v := args[1].Value(i); !v.Null {
						to = e.Place(v.S)
					}
				}
				value := vec.Value{Type: list}
				for place := from; place <= to; place++ {
					value.List = append(value.List, labelAt(e, t, place))
				}
				out.Append(value)
			}
			return out.Finish(), nil
		}, nil
	})
}

func enumCode() extension.ScalarOverload {
	return bound(params(anyParam), func(args []extension.Argument) (vec.Type, body, error) {
		e, err := enumOf(args[0])
		if err != nil {
			return vec.Type{}, nil, err
		}
		places := make(map[string]int32, len(e.Labels))
		for i, label := range e.Labels {
			places[label] = int32(i)
		}
		return int4, func(c *call) (*vec.Vector, error) {
			in, out := textsOf(c.args[0]), make([]int32, c.n)
			for i := range out {
				out[i] = places[string(in.at(i))]
			}
			return vec.FlatOf(int4, out, nil), nil
		}, nil
	})
}

func enumLabel() extension.ScalarOverload {
	return lenient(params(exact(int4), anyParam), func(args []extension.Argument) (vec.Type, extension.Kernel, error) {
		e, err := enumOf(args[1])
		if err != nil {
			return vec.Type{}, nil, err
		}
		t := vec.EnumType(e)
		return t, func(_ *extension.Eval, args []*vec.Vector, n int) (*vec.Vector, error) {
			out := vec.NewBuilder(t, n)
			for i := range n {
				if v := args[0].Value(i); v.Null {
					out.AppendNull()
				} else {
					out.Append(labelAt(e, t, int(v.I)))
				}
			}
			return out.Finish(), nil
		}, nil
	})
}

// castToEnum checks that texts are labels.
func castToEnum(x *conversion) (*vec.Vector, error) {
	in := textsOf(x.args[0])
	for i := range x.n {
		if !x.ok(i) {
			continue
		}
		if _, err := vec.ParseAt(x.to, string(in.at(i)), x.ev.Zone, x.ev.Now); err != nil {
			if err = x.fail(i, err); err != nil {
				return nil, err
			}
		}
	}
	return relabel(x)
}
