package function

import (
	"fmt"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/tidemarkdb/tidemark/extension"
	"github.com/tidemarkdb/tidemark/sqlerr"
	"github.com/tidemarkdb/tidemark/vec"
)

// TestScalars runs the calls of testdata/scalar.txt, whose results are those of PostgreSQL 15 in time zone UTC. A
// line is "call => result": name(args) or an operator between or before arguments, each an untyped literal 'text',
// a typed one (int4 'text'), or NULL. The result is a text, NULL, or ERROR with an SQLSTATE.
//
// Every call is made four ways: on constants, on flat columns, on a dictionary and beside a NULL row. All must agree.
func TestScalars(t *testing.T) {
	data, err := os.ReadFile("testdata/scalar.txt")
	if err != nil {
		t.Fatal(err)
	}
	r := extension.NewRegistry()
	RegisterAll(r)
	for i, line := range strings.Split(string(data), "\n") {
		if line == "" || strings.HasPrefix(line, "#") {
			continue
		}
		text, want, ok := strings.Cut(line, " => ")
		if !ok {
			t.Fatalf("line %d: no result", i+1)
		}
		for _, form := range []string{"constant", "flat", "dictionary", "null"} {
			if got := runCall(r, text, form); got != want {
				t.Errorf("line %d, %s: %s\n got %s\nwant %s", i+1, form, text, got, want)
				break
			}
		}
	}
}

func runCall(r *extension.Registry, text, form string) string {
	name, args, err := parseCall(text)
	if err != nil {
		return "TEST ERROR " + err.Error()
	}
	got, err := evaluateForm(r, name, args, form)
	if err != nil {
		return "ERROR " + sqlerr.Code(err)
	}
	return got
}

func evaluateForm(r *extension.Registry, name string, args []extension.Argument, form string) (string, error) {
	ev := &extension.Eval{Zone: time.UTC, Now: time.Date(2024, 5, 6, 7, 8, 9, 0, time.UTC)}
	given := args
	if form != "constant" {
		given = make([]extension.Argument, len(args)) // constants unknown at bind time
		for i, a := range args {
			given[i] = extension.Argument{Type: a.Type, Literal: a.Literal}
			// The scale of a rounded NUMERIC follows from a constant number of digits.
			if a.Literal || i > 0 && (name == "round" || name == "trunc") {
				given[i].Const = a.Const
			}
		}
	}
	b, err := r.ResolveScalar(name, given)
	if err != nil {
		return "", err
	}
	if form == "null" && !b.Strict {
		form = "flat" // a row with NULL is a case of its own there
	}
	cols := make([]*vec.Vector, len(args))
	for i, a := range args {
		v, err := CastValue(ev, *a.Const, b.Args[i])
		if err != nil {
			return "", err
		}
		v.Type = b.Args[i]
		cols[i] = inForm(v, form)
	}
	out, err := b.Kernel(ev, cols, 3)
	if err != nil {
		return "", err
	}
	if !out.Type.Equal(b.Result) || out.N != 3 {
		return "", fmt.Errorf("bound to %s, returned %d rows of %s", b.Result, out.N, out.Type)
	}
	if form == "null" && b.Strict && len(args) > 0 && !out.IsNull(1) {
		return "", fmt.Errorf("a row with NULL gave %s", vec.Format(out.Value(1)))
	}
	return vec.Format(out.Value(2)), nil
}

func inForm(v vec.Value, form string) *vec.Vector {
	three := vec.NewBuilder(v.Type, 3)
	for i := range 3 {
		if form == "null" && i == 1 {
			three.AppendNull()
		} else {
			three.Append(v)
		}
	}
	switch form {
	case "constant":
		return vec.ConstantOf(v.Type, v, 3)
	case "dictionary":
		one := vec.NewBuilder(v.Type, 1)
		one.Append(v)
		return vec.DictionaryOf(one.Finish(), []int32{0, 0, 0}, nil)
	}
	return three.Finish()
}

var typeNames = map[string]vec.Type{
	"bool": boolT, "int2": int2, "int4": int4, "int8": int8, "float4": float4, "float8": float8, "text": textT, "bytea": byteaT,
	"date": dateT, "time": timeT, "timestamp": stampT, "timestamptz": stampTZ, "interval": intervalT, "uuid": uuidT, "json": jsonT, "jsonb": jsonT,
}

// parseCall reads name(args), a op b and op a.
func parseCall(text string) (name string, args []extension.Argument, err error) {
	rest := text
	if open := strings.IndexByte(rest, '('); open > 0 && !strings.ContainsAny(rest[:open], " '") {
		name, rest = rest[:open], strings.TrimSuffix(rest[open+1:], ")")
	}
	for rest = strings.TrimSpace(rest); rest != ""; rest = strings.TrimLeft(rest, " ,") {
		if strings.ContainsRune("+-*/%^|&#~<>=!@?", rune(rest[0])) {
			name, rest, _ = strings.Cut(rest, " ")
			continue
		}
		var a extension.Argument
		if a, rest, err = parseArgument(rest); err != nil {
			return "", nil, err
		}
		args = append(args, a)
	}
	return name, args, nil
}

func parseArgument(s string) (extension.Argument, string, error) {
	if rest, ok := strings.CutPrefix(s, "NULL"); ok {
		null := vec.NullValue(vec.NullType)
		return extension.Argument{Type: vec.NullType, Literal: true, Const: &null}, rest, nil
	}
	quote := strings.IndexByte(s, '\'')
	if quote < 0 {
		return extension.Argument{}, "", fmt.Errorf("no literal in %q", s)
	}
	name, rest := strings.TrimSpace(s[:quote]), s[quote+1:]
	end := 0
	for end < len(rest) && (rest[end] != '\'' || strings.HasPrefix(rest[end:], "''")) {
		if rest[end] == '\'' {
			end++
		}
		end++
	}
	text := strings.ReplaceAll(rest[:end], "''", "'")
	rest = rest[end+1:]
	if name == "" {
		v := vec.StringValue(textT, text)
		return extension.Argument{Type: textT, Literal: true, Const: &v}, rest, nil
	}
	t, err := typeNamed(name, text)
	if err != nil {
		return extension.Argument{}, "", err
	}
	v, err := vec.Parse(t, text, time.UTC)
	return extension.Argument{Type: t, Const: &v}, rest, err
}

func typeNamed(name, text string) (vec.Type, error) {
	if elem, ok := strings.CutPrefix(name, "_"); ok {
		t, err := typeNamed(elem, "1")
		return vec.ArrayType(t), err
	}
	if name == "numeric" {
		_, t, ok := vec.ParseDecimal(text)
		if !ok {
			t = vec.DecimalType(vec.MaxPrecision, 9)
		}
		return t, nil
	}
	t, ok := typeNames[name]
	if !ok {
		return t, fmt.Errorf("no type %q", name)
	}
	return t, nil
}
