package function

import (
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/tidemarkdb/tidemark/extension"
	"github.com/tidemarkdb/tidemark/sqlerr"
	"github.com/tidemarkdb/tidemark/vec"
)

// textual is an overload that takes any arguments, NULL included, and makes strings; f reports false for NULL.
func textual(s extension.Signature, f func(ev *extension.Eval, args []*vec.Vector, dst []byte, i int) ([]byte, bool, error)) extension.ScalarOverload {
	return lenient(s, func([]extension.Argument) (vec.Type, extension.Kernel, error) {
		return textT, func(ev *extension.Eval, args []*vec.Vector, n int) (*vec.Vector, error) {
			if ev == nil {
				ev = &extension.Eval{}
			}
			out := newTextOut(n, n*8)
			for i := range n {
				data, ok, err := f(ev, args, out.data, i)
				switch {
				case err != nil:
					return nil, err
				case !ok:
					out.null(n)
					continue
				}
				out.data = data
				if err := out.end(); err != nil {
					return nil, err
				}
			}
			return out.vector(textT), nil
		}, nil
	})
}

func concatFunctions() []*extension.ScalarFunc {
	return []*extension.ScalarFunc{
		stable(def("concat", "Join the texts of all arguments, leaving out NULL", ex("concat('a', NULL, 22)", "a22")),
			textual(variadic(params(anyParam)), func(ev *extension.Eval, args []*vec.Vector, dst []byte, i int) ([]byte, bool, error) {
				for _, a := range args {
					if !a.IsNull(i) {
						dst = vec.AppendTextIn(dst, a, i, ev.Zone)
					}
				}
				return dst, true, nil
			})),
		stable(def("concat_ws", "Join the texts of all arguments but the first with it between, leaving out NULL", ex("concat_ws(',', 'a', NULL, 'b')", "a,b")),
			textual(variadic(params(exact(textT), anyParam)), func(ev *extension.Eval, args []*vec.Vector, dst []byte, i int) ([]byte, bool, error) {
				if args[0].IsNull(i) {
					return dst, false, nil
				}
				first := true
				for _, a := range args[1:] {
					if a.IsNull(i) {
						continue
					}
					if !first {
						dst = append(dst, args[0].Bytes(i)...)
					}
					dst, first = vec.AppendTextIn(dst, a, i, ev.Zone), false
				}
				return dst, true, nil
			})),
		stable(also(def("format", "Fill %s, %I and %L of a format with arguments", ex("format('Hello %s, %1$s', 'World')", "Hello World, World"))),
			textual(optional(variadic(params(exact(textT), anyParam)), 1), formatText)),
		stable(also(def("||", "Join texts, arrays or JSON", ex("'a' || 'b'", "ab"), ex("ARRAY[1] || ARRAY[2, 3]", "{1,2,3}"), ex(`'{"a": 1}'::jsonb || '{"b": 2}'::jsonb`, `{"a": 1, "b": 2}`))),
			append([]extension.ScalarOverload{
				on(signature(textT, textT), textT, joinTexts(textT)),
				on(signature(byteaT, byteaT), byteaT, joinTexts(byteaT)),
				on(params(exact(textT), anyNonArray), textT, joinAsText),
				on(params(anyNonArray, exact(textT)), textT, joinAsText),
				jsonbConcat(),
			}, arrayConcat()...)...),
	}
}

// anyNonArray is the parameter of || that takes what has a text form.
var anyNonArray = extension.Param{Kind: extension.AnyNonArray}

func joinTexts(t vec.Type) body {
	return func(c *call) (*vec.Vector, error) {
		a, b := textsOf(c.args[0]), textsOf(c.args[1])
		return toText(t, func(_ *call, dst []byte, i int) ([]byte, error) {
			return append(append(dst, a.at(i)...), b.at(i)...), nil
		})(c)
	}
}

func joinAsText(c *call) (*vec.Vector, error) {
	return toText(textT, func(c *call, dst []byte, i int) ([]byte, error) {
		for _, a := range c.args {
			if a.Type.ID == vec.Bool {
				dst = append(dst, boolWord(a, i)...)
			} else {
				dst = vec.AppendTextIn(dst, a, i, c.ev.Zone)
			}
		}
		return dst, nil
	})(c)
}

// formatText fills %[position$][-][width](s|I|L|%).
func formatText(ev *extension.Eval, args []*vec.Vector, dst []byte, row int) ([]byte, bool, error) {
	if args[0].IsNull(row) {
		return dst, false, nil
	}
	f, next := string(args[0].Bytes(row)), 1
	for i := 0; i < len(f); i++ {
		if f[i] != '%' {
			dst = append(dst, f[i])
			continue
		}
		if i++; i == len(f) {
			return dst, false, invalidParameter("unterminated format() type specifier")
		}
		if f[i] == '%' {
			dst = append(dst, '%')
			continue
		}
		place, left, width := 0, false, 0
		if n := digits(f[i:]); n > 0 && i+n < len(f) && f[i+n] == '$' {
			place, _ = strconv.Atoi(f[i : i+n])
			if i += n + 1; place == 0 {
				return dst, false, invalidParameter("format specifies argument 0, but arguments are numbered from 1")
			}
		}
		for i < len(f) && f[i] == '-' {
			left, i = true, i+1
		}
		if n := digits(f[i:]); n > 0 {
			width, _ = strconv.Atoi(f[i : i+n])
			i += n
		}
		if i == len(f) {
			return dst, false, invalidParameter("unterminated format() type specifier")
		}
		if place == 0 {
			place = next
		}
		if next = place + 1; place >= len(args) {
			return dst, false, invalidParameter("too few arguments for format()")
		}
		text, err := formatArgument(ev, args[place], row, f[i])
		if err != nil {
			return dst, false, err
		}
		if dst, err = padTo(dst, text, width, left); err != nil {
			return dst, false, err
		}
	}
	return dst, true, nil
}

func digits(s string) int {
	n := 0
	for n < len(s) && s[n] >= '0' && s[n] <= '9' {
		n++
	}
	return n
}

func padTo(dst []byte, text string, width int, left bool) ([]byte, error) {
	if have := utf8.RuneCountInString(text); have > width {
		width = have
	}
	return pad(dst, []byte(text), []byte{' '}, width, !left)
}

func formatArgument(ev *extension.Eval, v *vec.Vector, row int, kind byte) (string, error) {
	text, null := "", v.IsNull(row)
	if !null {
		text = string(vec.AppendTextIn(nil, v, row, ev.Zone))
	}
	switch kind {
	case 's':
		return text, nil
	case 'I':
		if null {
			return "", sqlerr.New(sqlerr.NullNotAllowed, "null values cannot be formatted as an SQL identifier")
		}
		return quoteIdent(text), nil
	case 'L':
		if null {
			return "NULL", nil
		}
		return quoteLiteral(text), nil
	}
	return "", invalidParameter("unrecognized format() type specifier \"%c\"", kind).(*sqlerr.Error).
		Hintf("For a single \"%%\" use \"%%%%\".")
}

func quoteFunctions() []*extension.ScalarFunc {
	return []*extension.ScalarFunc{
		textFn(def("quote_ident", "Quote as an SQL identifier where needed", ex("quote_ident('Foo bar')", `"Foo bar"`)), func(dst, s []byte) ([]byte, error) {
			return append(dst, quoteIdent(string(s))...), nil
		}),
		textFn(def("quote_literal", "Quote as an SQL string", ex("quote_literal('O''Reilly')", "'O''Reilly'")), func(dst, s []byte) ([]byte, error) {
			return append(dst, quoteLiteral(string(s))...), nil
		}),
		stable(def("quote_nullable", "Quote as an SQL string, NULL as NULL", ex("quote_nullable(NULL)", "NULL")),
			textual(params(anyParam), func(ev *extension.Eval, args []*vec.Vector, dst []byte, i int) ([]byte, bool, error) {
				if args[0].IsNull(i) {
					return append(dst, "NULL"...), true, nil
				}
				return append(dst, quoteLiteral(string(vec.AppendTextIn(nil, args[0], i, ev.Zone)))...), true, nil
			})),
	}
}

func quoteIdent(s string) string {
	plain := s != "" && !(s[0] >= '0' && s[0] <= '9')
	for _, c := range []byte(s) {
		plain = plain && (c >= 'a' && c <= 'z' || c >= '0' && c <= '9' || c == '_')
	}
	if plain && !reservedWords[s] {
		return s
	}
	return `"` + strings.ReplaceAll(s, `"`, `""`) + `"`
}

// reservedWords are the words that cannot be identifiers without quotes.
var reservedWords = func() map[string]bool {
	words := map[string]bool{}
	for _, w := range strings.Fields(`all analyse analyze and any array as asc asymmetric between both case cast check
		collate column constraint create current_date current_role current_time current_timestamp current_user default
		deferrable desc distinct do else end except false fetch for foreign from grant group having in initially
		intersect into lateral leading limit localtime localtimestamp not null offset on only or order placing primary
		references returning select session_user some symmetric table then to trailing true union unique user using
		variadic when where window with`) {
		words[w] = true
	}
	return words
}()

func quoteLiteral(s string) string {
	quoted := "'" + strings.ReplaceAll(s, "'", "''") + "'"
	if strings.Contains(s, `\`) {
		return "E" + strings.ReplaceAll(quoted, `\`, `\\`)
	}
	return quoted
}
