package function

import (
	"github.com/tidemarkdb/tidemark/extension"
	"github.com/tidemarkdb/tidemark/vec"
)

// family is the functions of one section of the documentation.
type family struct {
	category   string
	scalars    []*extension.ScalarFunc
	aggregates []*extension.AggregateFunc
	windows    []*extension.WindowFunc
	tables     []*extension.TableFunc
}

// ex is one executed example.
func ex(sql, result string) extension.Example { return extension.Example{SQL: sql, Result: result} }

// def documents a registration; other names are added with also.
func def(name, description string, examples ...extension.Example) extension.Def {
	return extension.Def{Name: name, Description: description, Examples: examples}
}

func also(d extension.Def, aliases ...string) extension.Def {
	d.Aliases = aliases
	return d
}

// immutable, stable and volatile make scalar functions of that volatility.
func immutable(d extension.Def, overloads ...extension.ScalarOverload) *extension.ScalarFunc {
	return &extension.ScalarFunc{Def: d, Volatility: extension.Immutable, Overloads: overloads}
}

func stable(d extension.Def, overloads ...extension.ScalarOverload) *extension.ScalarFunc {
	return &extension.ScalarFunc{Def: d, Volatility: extension.Stable, Overloads: overloads}
}

func volatile(d extension.Def, overloads ...extension.ScalarOverload) *extension.ScalarFunc {
	return &extension.ScalarFunc{Def: d, Volatility: extension.Volatile, Overloads: overloads}
}

// The polymorphic parameters.
var (
	anyParam     = extension.Param{Kind: extension.AnyType}
	elementParam = extension.Param{Kind: extension.AnyElement}
	arrayParam   = extension.Param{Kind: extension.AnyArray}
	decimalParam = extension.Param{Kind: extension.AnyDecimal}
)

func exact(t vec.Type) extension.Param { return extension.Param{Type: t} }

// signature makes parameters of types.
func signature(types ...vec.Type) extension.Signature {
	s := extension.Signature{}
	for _, t := range types {
		s.Params = append(s.Params, exact(t))
	}
	return s
}

func params(p ...extension.Param) extension.Signature { return extension.Signature{Params: p} }

func variadic(s extension.Signature) extension.Signature {
	s.Variadic = true
	return s
}

// optional lets the last n parameters be left out.
func optional(s extension.Signature, n int) extension.Signature {
	s.Optional = n
	return s
}

// on is a strict overload with parameters and a result of fixed types.
func on(s extension.Signature, result vec.Type, b body) extension.ScalarOverload {
	kernel := strict(result, b)
	return extension.ScalarOverload{Signature: s, Strict: true, Bind: func([]extension.Argument) (vec.Type, extension.Kernel, error) {
		return result, kernel, nil
	}}
}

// bound is a strict overload whose result type or body depend on the arguments.
func bound(s extension.Signature, bind func(args []extension.Argument) (vec.Type, body, error)) extension.ScalarOverload {
	return extension.ScalarOverload{Signature: s, Strict: true, Bind: func(args []extension.Argument) (vec.Type, extension.Kernel, error) {
		t, b, err := bind(args)
		if err != nil {
			return vec.Type{}, nil, err
		}
		return t, strict(t, b), nil
	}}
}

// lenient is an overload that sees NULLs: its kernel gets arguments in any form.
func lenient(s extension.Signature, bind func(args []extension.Argument) (vec.Type, extension.Kernel, error)) extension.ScalarOverload {
	return extension.ScalarOverload{Signature: s, Bind: bind}
}

// map1 makes a body of a function of one fixed-width value that cannot fail.
func map1[A, R vec.Fixed](result vec.Type, f func(A) R) body {
	return func(c *call) (*vec.Vector, error) {
		a, mask := fixed[A](c.args[0])
		out := make([]R, c.n)
		for i := range out {
			out[i] = f(a[i&mask])
		}
		return vec.FlatOf(result, out, nil), nil
	}
}

// try1 is map1 of a function that can fail; it is not called for NULL rows.
func try1[A, R vec.Fixed](result vec.Type, f func(A) (R, error)) body {
	return func(c *call) (*vec.Vector, error) {
		a, mask := fixed[A](c.args[0])
		out := make([]R, c.n)
		for i := range out {
			if !c.ok(i) {
				continue
			}
			r, err := f(a[i&mask])
			if err != nil {
				return nil, err
			}
			out[i] = r
		}
		return vec.FlatOf(result, out, nil), nil
	}
}

// try2 is try1 for two arguments.
func try2[A, B, R vec.Fixed](result vec.Type, f func(A, B) (R, error)) body {
	return func(c *call) (*vec.Vector, error) {
		a, am := fixed[A](c.args[0])
		b, bm := fixed[B](c.args[1])
		out := make([]R, c.n)
		for i := range out {
			if !c.ok(i) {
				continue
			}
			r, err := f(a[i&am], b[i&bm])
			if err != nil {
				return nil, err
			}
			out[i] = r
		}
		return vec.FlatOf(result, out, nil), nil
	}
}

// textToFixed makes a body of a function of one string with a fixed-width result.
func textToFixed[R vec.Fixed](result vec.Type, f func(s []byte) (R, error)) body {
	return func(c *call) (*vec.Vector, error) {
		in, out := textsOf(c.args[0]), make([]R, c.n)
		for i := range out {
			if !c.ok(i) {
				continue
			}
			r, err := f(in.at(i))
			if err != nil {
				return nil, err
			}
			out[i] = r
		}
		return vec.FlatOf(result, out, nil), nil
	}
}

// toText makes a body with string results: f appends row i's to dst.
func toText(result vec.Type, f func(c *call, dst []byte, i int) ([]byte, error)) body {
	return func(c *call) (*vec.Vector, error) {
		out := newTextOut(c.n, c.n*8)
		for i := range c.n {
			if c.ok(i) {
				data, err := f(c, out.data, i)
				if err != nil {
					return nil, err
				}
				out.data = data
			}
			if err := out.end(); err != nil {
				return nil, err
			}
		}
		return out.vector(result), nil
	}
}

// textToText makes a body of a function from string to string: f appends its result to dst.
func textToText(f func(dst, s []byte) ([]byte, error)) body {
	return func(c *call) (*vec.Vector, error) {
		in := textsOf(c.args[0])
		return toText(vec.TextType, func(_ *call, dst []byte, i int) ([]byte, error) { return f(dst, in.at(i)) })(c)
	}
}

// boxed makes a body of a function of boxed values, for what is rare or nested.
func boxed(result vec.Type, f func(c *call, args []vec.Value) (vec.Value, error)) body {
	return func(c *call) (*vec.Vector, error) {
		out, values := vec.NewBuilder(result, c.n), make([]vec.Value, len(c.args))
		for i := range c.n {
			if !c.ok(i) {
				out.AppendNull()
				continue
			}
			for k, a := range c.args {
				values[k] = a.Value(i)
			}
			v, err := f(c, values)
			if err != nil {
				return nil, err
			}
			out.Append(v)
		}
		return out.Finish(), nil
	}
}
