package function

import (
	"bytes"
	"regexp"
	"strings"
	"unicode/utf8"

	"github.com/tidemarkdb/tidemark/extension"
	"github.com/tidemarkdb/tidemark/sqlerr"
	"github.com/tidemarkdb/tidemark/vec"
)

// likeMatcher decides whether a string matches one LIKE pattern.
type likeMatcher func(s []byte) bool

// likePattern is a compiled pattern. An unfinished one ends with its escape character: it matches nothing, and match
// finds the strings that go on where it stops, for which it is an error.
type likePattern struct {
	match      likeMatcher
	unfinished bool
}

func (p likePattern) matches(s []byte) (bool, error) {
	switch ok := p.match(s); {
	case !p.unfinished:
		return ok, nil
	case ok:
		return false, sqlerr.New(sqlerr.InvalidEscape, "LIKE pattern must not end with escape character").
			Hintf("write the escape character twice to match it, or name another with ESCAPE")
	}
	return false, nil
}

// compileLike reads a pattern: % matches any string, _ any character, escape (0: none) makes the next character plain.
func compileLike(pattern string, escape rune, fold bool) likePattern {
	if fold {
		p := compileLike(strings.ToLower(pattern), escape, false)
		match := p.match
		p.match = func(s []byte) bool { return match(lowerBytes(s)) }
		return p
	}
	parts, single, unfinished := likeParts(pattern, escape)
	if single {
		return likePattern{likeGeneral(parts), unfinished}
	}
	return likePattern{likeLiteral(parts), unfinished}
}

// likePart is what lies between two %: characters, of which any is -1 for _.
type likePart struct {
	text []byte // the part without _
	any  []rune // the part, when it has _
}

// likeParts splits a pattern at its %; single says that some part has a _. In place of an escape character at the end,
// which unfinished reports, stands what matches one character or more.
func likeParts(pattern string, escape rune) (parts []likePart, single, unfinished bool) {
	var text []rune
	flush := func() {
		p := likePart{}
		for _, r := range text {
			if r < 0 {
				p.any = append([]rune(nil), text...)
				single = true
			}
			p.text = utf8.AppendRune(p.text, max(r, 0))
		}
		parts = append(parts, p)
		text = text[:0]
	}
	runes := []rune(pattern)
	for i := 0; i < len(runes); i++ {
		switch r := runes[i]; {
		case escape != 0 && r == escape:
			if i++; i == len(runes) {
				unfinished = true
				text = append(text, -1)
				flush()
				break
			}
			text = append(text, runes[i])
		case r == '%':
			flush()
		case r == '_':
			text = append(text, -1)
		default:
			text = append(text, r)
		}
	}
	flush()
	return parts, single, unfinished
}

// likeLiteral matches parts without _: the first is a prefix, the last a suffix, the others follow each other.
func likeLiteral(parts []likePart) likeMatcher {
	first, last := parts[0].text, parts[len(parts)-1].text
	switch {
	case len(parts) == 1:
		return func(s []byte) bool { return bytes.Equal(s, first) }
	case len(parts) == 2 && len(last) == 0:
		return func(s []byte) bool { return bytes.HasPrefix(s, first) }
	case len(parts) == 2 && len(first) == 0:
		return func(s []byte) bool { return bytes.HasSuffix(s, last) }
	case len(parts) == 3 && len(first) == 0 && len(last) == 0:
		middle := parts[1].text
		return func(s []byte) bool { return bytes.Contains(s, middle) }
	}
	return func(s []byte) bool {
		if len(s) < len(first)+len(last) || !bytes.HasPrefix(s, first) || !bytes.HasSuffix(s, last) {
			return false
		}
		s = s[len(first) : len(s)-len(last)]
		for _, p := range parts[1 : len(parts)-1] {
			at := bytes.Index(s, p.text)
			if at < 0 {
				return false
			}
			s = s[at+len(p.text):]
		}
		return true
	}
}

// likeGeneral matches parts with _, by characters: each part at its first place after the one before, the last at the
// end.
func likeGeneral(parts []likePart) likeMatcher {
	runes := make([][]rune, len(parts))
	for i, p := range parts {
		if runes[i] = p.any; p.any == nil {
			runes[i] = []rune(string(p.text))
		}
	}
	return func(b []byte) bool {
		s := b
		at, ok := matchHere(s, runes[0])
		if !ok || len(runes) == 1 {
			return ok && at == len(s)
		}
		s = s[at:]
		for _, p := range runes[1 : len(runes)-1] {
			for {
				if at, ok = matchHere(s, p); ok {
					s = s[at:]
					break
				}
				if len(s) == 0 {
					return false
				}
				_, size := utf8.DecodeRune(s)
				s = s[size:]
			}
		}
		last := runes[len(runes)-1]
		count := utf8.RuneCount(s)
		for ; count > len(last); count-- {
			_, size := utf8.DecodeRune(s)
			s = s[size:]
		}
		at, ok = matchHere(s, last)
		return ok && at == len(s)
	}
}

// matchHere matches a part at the start of s and returns the bytes it takes.
func matchHere(s []byte, part []rune) (int, bool) {
	at := 0
	for _, want := range part {
		if at == len(s) {
			return 0, false
		}
		r, size := utf8.DecodeRune(s[at:])
		if want >= 0 && r != want {
			return 0, false
		}
		at += size
	}
	return at, true
}

func lowerBytes(s []byte) []byte {
	for _, c := range s {
		if c >= utf8.RuneSelf || c >= 'A' && c <= 'Z' {
			return bytes.ToLower(s)
		}
	}
	return s
}

// matchers compiles patterns as they come and remembers the last ones.
type matchers struct {
	compile func(pattern, escape string) (likePattern, error)
	known   map[[2]string]likePattern
}

func (m *matchers) get(pattern, escape string) (likePattern, error) {
	if f, ok := m.known[[2]string{pattern, escape}]; ok {
		return f, nil
	}
	f, err := m.compile(pattern, escape)
	if err != nil {
		return f, err
	}
	if m.known == nil || len(m.known) >= 256 {
		m.known = map[[2]string]likePattern{}
	}
	m.known[[2]string{strings.Clone(pattern), strings.Clone(escape)}] = f
	return f, nil
}

// patternOverloads is text op pattern [with an escape character], by default a backslash.
func patternOverloads(compile func(pattern, escape string) (likePattern, error), negate bool) []extension.ScalarOverload {
	flip := bit(negate)
	return []extension.ScalarOverload{bound(optional(signature(textT, textT, textT), 1), func(args []extension.Argument) (vec.Type, body, error) {
		pattern, ok := constText(args, 1)
		escape, constEscape := `\`, true
		if len(args) == 3 {
			escape, constEscape = constText(args, 2)
		}
		if ok && constEscape {
			p, err := compile(pattern, escape)
			if err != nil {
				return vec.Type{}, nil, err
			}
			if !p.unfinished {
				return boolT, func(c *call) (*vec.Vector, error) {
					in, out := textsOf(c.args[0]), make([]byte, c.n)
					for i := range out {
						out[i] = bit(p.match(in.at(i))) ^ flip
					}
					return vec.FlatOf(boolT, out, nil), nil
				}, nil
			}
		}
		return boolT, func(c *call) (*vec.Vector, error) {
			in, patterns, out := textsOf(c.args[0]), textsOf(c.args[1]), make([]byte, c.n)
			known := matchers{compile: compile}
			for i := range out {
				if !c.ok(i) {
					continue
				}
				escape := `\`
				if len(c.args) == 3 {
					e := textsOf(c.args[2])
					escape = e.str(i)
				}
				p, err := known.get(patterns.str(i), escape)
				if err != nil {
					return nil, err
				}
				match, err := p.matches(in.at(i))
				if err != nil {
					return nil, err
				}
				out[i] = bit(match) ^ flip
			}
			return vec.FlatOf(boolT, out, nil), nil
		}, nil
	})}
}

func escapeRune(escape string) (rune, error) {
	if escape == "" {
		return 0, nil
	}
	r, size := utf8.DecodeRuneInString(escape)
	if size != len(escape) {
		return 0, sqlerr.New(sqlerr.InvalidEscape, "invalid escape string").Hintf("Escape string must be empty or one character.")
	}
	return r, nil
}

func likeCompiler(fold bool) func(pattern, escape string) (likePattern, error) {
	return func(pattern, escape string) (likePattern, error) {
		r, err := escapeRune(escape)
		if err != nil {
			return likePattern{}, err
		}
		return compileLike(pattern, r, fold), nil
	}
}

// similarRegex turns a pattern of SIMILAR TO into a regular expression of the whole string. The part between
// two escaped double quotes is its group, before which as little as can be is matched.
func similarRegex(pattern, escape string) (string, error) {
	esc, err := escapeRune(escape)
	if err != nil {
		return "", err
	}
	var b strings.Builder
	class, separators := false, 0
	runes := []rune(pattern)
	for i := 0; i < len(runes); i++ {
		r := runes[i]
		switch {
		case esc != 0 && r == esc:
			if i++; i < len(runes) {
				switch c := runes[i]; {
				case c == '"' && !class:
					if separators++; separators > 2 {
						return "", sqlerr.New("2200C", "SQL regular expression may not contain more than two escape-double-quote separators")
					}
					b.WriteString([]string{")(", ")(?:"}[separators-1])
				case esc == '\\' && strings.ContainsRune("wWdDsS", c): // a class of characters, as in PostgreSQL
					b.WriteString(`\` + string(c))
				default:
					b.WriteString(regexp.QuoteMeta(string(c)))
				}
			}
		case class:
			class = r != ']'
			if r == '\\' {
				b.WriteByte('\\')
			}
			b.WriteRune(r)
		case r == '%':
			b.WriteString(".*")
		case r == '_':
			b.WriteByte('.')
		case r == '(':
			b.WriteString("(?:")
		case strings.ContainsRune(`.^$\`, r):
			b.WriteString(`\` + string(r))
		default:
			class = r == '['
			b.WriteRune(r)
		}
	}
	if separators > 0 {
		return "^(?U:" + b.String() + ")$", nil
	}
	return "^(?:" + b.String() + ")$", nil
}

// likeEscape rewrites a LIKE pattern whose escape character is another to one with a backslash.
func likeEscape(pattern, escape string) (string, error) {
	esc, err := escapeRune(escape)
	if err != nil || esc == '\\' {
		return pattern, err
	}
	var b strings.Builder
	after := false
	for _, r := range pattern {
		switch {
		case !after && esc != 0 && r == esc:
			b.WriteByte('\\')
			after = true
			continue
		case r == '\\' && !after:
			b.WriteString(`\\`)
		default:
			b.WriteRune(r)
		}
		after = false
	}
	return b.String(), nil
}

// escaping is a function of a pattern and an escape character, by default a backslash.
func escaping(optionalEscape int, f func(pattern, escape string) (string, error)) extension.ScalarOverload {
	return on(optional(signature(textT, textT), optionalEscape), textT, func(c *call) (*vec.Vector, error) {
		in := textsOf(c.args[0])
		return toText(textT, func(c *call, dst []byte, i int) ([]byte, error) {
			p, err := f(in.str(i), textArg(c, 1, i, `\`))
			return append(dst, p...), err
		})(c)
	})
}

func patternFunctions() []*extension.ScalarFunc {
	return []*extension.ScalarFunc{
		immutable(def("~~", "Match a LIKE pattern", ex("'abc' LIKE 'a%'", "t")), append(patternOverloads(likeCompiler(false), false), likeBytes(false))...),
		immutable(def("!~~", "Not match a LIKE pattern", ex("'abc' NOT LIKE 'a%'", "f")), append(patternOverloads(likeCompiler(false), true), likeBytes(true))...),
		immutable(def("~~*", "Match a LIKE pattern, ignoring case", ex("'ABC' ILIKE 'a%'", "t")), patternOverloads(likeCompiler(true), false)...),
		immutable(def("!~~*", "Not match a LIKE pattern, ignoring case", ex("'ABC' NOT ILIKE 'a%'", "f")), patternOverloads(likeCompiler(true), true)...),
		globOperator(),
		immutable(def("similar_to_escape", "Regular expression of a SIMILAR TO pattern", ex("'abc' SIMILAR TO '(a|b)%'", "t")), escaping(1, similarRegex)),
		immutable(def("like_escape", "LIKE pattern with a backslash as its escape character", ex("'a%' LIKE 'a#%' ESCAPE '#'", "t")), escaping(0, likeEscape)),
		immutable(def("~*", "Match a regular expression, ignoring case", ex("'ABC' ~* 'b'", "t")), regexOperators(true, false)...),
		immutable(def("!~", "Not match a regular expression", ex("'abc' !~ 'x'", "t")), regexOperators(false, true)...),
		immutable(def("!~*", "Not match a regular expression, ignoring case", ex("'ABC' !~* 'b'", "f")), regexOperators(true, true)...),
	}
}
