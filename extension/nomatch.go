package extension

import (
	"strings"

	"github.com/tidemarkdb/tidemark/sqlerr"
)

func callKind(operator bool) string {
	if operator {
		return "operator"
	}
	return "function"
}

func callText(name string, args []Argument) string {
	names := make([]string, len(args))
	for i, a := range args {
		names[i] = argName(a)
	}
	switch {
	case len(name) > 0 && isWord(name[0]):
		return name + "(" + strings.Join(names, ", ") + ")"
	case len(args) == 1:
		return name + " " + names[0]
	}
	return strings.Join(names, " "+name+" ")
}

func noMatch(name string, sigs []Signature, args []Argument) error {
	operator := len(name) > 0 && !isWord(name[0])
	if operator {
		return sqlerr.New(sqlerr.UndefinedFunction, "operator does not exist: %s", callText(name, args)).
			Hintf("No operator matches these types. Add explicit casts.")
	}
	return sqlerr.New(sqlerr.UndefinedFunction, "function %s does not exist", callText(name, args)).
		Hintf("Known: %s. Add explicit casts or change the arguments.", signatureList(name, sigs))
}

// signatureList shows at most four overloads.
func signatureList(name string, sigs []Signature) string {
	var b strings.Builder
	for i, s := range sigs {
		if i == 4 {
			b.WriteString(", ...")
			break
		}
		if i > 0 {
			b.WriteString(", ")
		}
		b.WriteString(name + s.String())
	}
	return b.String()
}

// String shows the parameters: (numeric, integer).
func (s Signature) String() string {
	var b strings.Builder
	b.WriteByte('(')
	for i, p := range s.Params {
		if i >= len(s.Params)-s.Optional {
			b.WriteByte('[')
		}
		if i > 0 {
			b.WriteString(", ")
		}
		b.WriteString(p.TypeName())
		if i >= len(s.Params)-s.Optional {
			b.WriteByte(']')
		}
	}
	if s.Variadic {
		b.WriteString(", ...")
	}
	return b.String() + ")"
}

// TypeName is the parameter's type as the documentation shows it.
func (p Param) TypeName() string {
	switch p.Kind {
	case AnyType:
		return "any"
	case AnyElement:
		return "anyelement"
	case AnyArray:
		return "anyarray"
	case AnyDecimal:
		return "numeric"
	case AnyStruct:
		return "record"
	case AnyNonArray:
		return "anynonarray"
	}
	return typeName(p.Type)
}

func (r *Registry) unknownFunction(name string, args []Argument) error {
	operator := len(name) > 0 && !isWord(name[0])
	if operator {
		return noMatch(name, nil, args)
	}
	err := sqlerr.New(sqlerr.UndefinedFunction, "function %s does not exist", callText(name, args))
	if near := sqlerr.Nearest(name, r.FunctionNames()); near != "" {
		return err.Hintf("Did you mean %s?", near)
	}
	return err.Hintf("SELECT name FROM information_schema.functions lists the functions there are.")
}
