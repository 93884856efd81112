package plan

import (
	"github.com/tidemarkdb/tidemark/extension"
	"github.com/tidemarkdb/tidemark/vec"
)

// registerMissing gives the registry the functions these tests call that it does not have: their signatures, since a
// plan needs no more.
func registerMissing(r *extension.Registry) {
	scalar := func(name string, result vec.Type, volatility extension.Volatility, params ...vec.Type) {
		if r.Scalar(name) != nil {
			return
		}
		r.RegisterScalar(&extension.ScalarFunc{Def: extension.Def{Name: name}, Volatility: volatility, Overloads: []extension.ScalarOverload{{
			Signature: signature(params...), Strict: true,
			Bind: func([]extension.Argument) (vec.Type, extension.Kernel, error) { return result, nil, nil },
		}}})
	}
	scalar("substring", vec.TextType, extension.Stable, vec.TextType, vec.Int32Type, vec.Int32Type)
	scalar("extract", vec.Int64Type, extension.Stable, vec.TextType, vec.DateType)
	scalar("~~", vec.BoolType, extension.Stable, vec.TextType, vec.TextType)
	scalar("~~*", vec.BoolType, extension.Stable, vec.TextType, vec.TextType)
	scalar("random", vec.Float64Type, extension.Volatile)
	scalar("upper", vec.TextType, extension.Stable, vec.TextType)
	scalar("left", vec.TextType, extension.Stable, vec.TextType, vec.Int32Type)
	scalar("coalesce", vec.TextType, extension.Stable, vec.TextType)
	if r.Scalar("array_get") == nil {
		r.RegisterScalar(&extension.ScalarFunc{Def: extension.Def{Name: "array_get"}, Volatility: extension.Stable, Overloads: []extension.ScalarOverload{{
			Signature: extension.Signature{Params: []extension.Param{{Kind: extension.AnyArray}, {Kind: extension.Exact, Type: vec.Int64Type}}}, Strict: true,
			Bind: func(a []extension.Argument) (vec.Type, extension.Kernel, error) { return *a[0].Type.Elem, nil, nil },
		}}})
	}
	for _, name := range []string{"row_number", "rank", "dense_rank", "ntile"} {
		if r.Window(name) == nil {
			registerRank(r, name)
		}
	}
	for _, name := range []string{"lag", "lead", "first_value", "last_value"} {
		if r.Window(name) == nil {
			registerOffset(r, name)
		}
	}
	if r.Table("unnest") == nil {
		r.RegisterTable(&extension.TableFunc{Def: extension.Def{Name: "unnest"}, Overloads: []extension.TableOverload{{
			Signature: extension.Signature{Params: []extension.Param{{Kind: extension.AnyArray}}},
			Expand: func(a []extension.Argument) (extension.BoundExpand, error) {
				return extension.BoundExpand{Schema: vec.Schema{{Name: "unnest", Type: *a[0].Type.Elem, Nullable: true}}}, nil
			},
		}}})
	}
	if r.Table("generate_series") == nil {
		r.RegisterTable(&extension.TableFunc{Def: extension.Def{Name: "generate_series"}, Overloads: []extension.TableOverload{{
			Signature: signature(vec.Int64Type, vec.Int64Type),
			Expand: func([]extension.Argument) (extension.BoundExpand, error) {
				return extension.BoundExpand{Schema: vec.Schema{{Name: "generate_series", Type: vec.Int64Type}}}, nil
			},
		}}})
	}
}

func signature(params ...vec.Type) extension.Signature {
	s := extension.Signature{}
	for _, p := range params {
		s.Params = append(s.Params, extension.Param{Kind: extension.Exact, Type: p})
	}
	return s
}

func registerRank(r *extension.Registry, name string) {
	s := signature()
	if name == "ntile" {
		s = signature(vec.Int32Type)
	}
	r.RegisterWindow(&extension.WindowFunc{Def: extension.Def{Name: name}, Overloads: []extension.WindowOverload{{
		Signature: s,
		Bind: func([]extension.Argument) (extension.BoundWindow, error) {
			return extension.BoundWindow{Result: vec.Int64Type}, nil
		},
	}}})
}

func registerOffset(r *extension.Registry, name string) {
	r.RegisterWindow(&extension.WindowFunc{Def: extension.Def{Name: name}, Overloads: []extension.WindowOverload{{
		Signature: extension.Signature{Params: []extension.Param{{Kind: extension.AnyElement}, {Kind: extension.Exact, Type: vec.Int32Type}}, Optional: 1},
		Bind: func(a []extension.Argument) (extension.BoundWindow, error) {
			return extension.BoundWindow{Result: a[0].Type}, nil
		},
	}}})
}
