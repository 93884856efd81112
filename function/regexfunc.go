package function

import (
	"strconv"
	"unicode/utf8"

	"github.com/tidemarkdb/tidemark/extension"
	"github.com/tidemarkdb/tidemark/vec"
)

func regexFunctions() []*extension.ScalarFunc {
	t2, t3 := signature(textT, textT), signature(textT, textT, textT)
	return []*extension.ScalarFunc{
		immutable(def("regexp_replace", "Replace the first match of a regular expression, with flag g all", ex("regexp_replace('foobarbaz', 'b..', 'X', 'g')", "fooXX")),
			on(t3, textT, regexReplace), on(signature(textT, textT, textT, textT), textT, regexReplace),
			on(optional(signature(textT, textT, textT, int4, int4, textT), 2), textT, regexReplaceAt)),
		immutable(def("regexp_like", "Whether a regular expression matches", ex("regexp_like('Hello', 'l+')", "t")), on(optional(t3, 1), boolT, regexRow(boolT, 2, func(out *vec.Builder, re *regex, s string, _ string) {
			out.AppendBool(re.MatchString(s))
		}))),
		immutable(def("regexp_full_match", "Whether a regular expression matches the whole text", ex("regexp_full_match('abc', 'a.c')", "t")), on(optional(t3, 1), boolT, fullMatch)),
		immutable(def("regexp_match", "Groups of the first match of a regular expression as an array", ex("regexp_match('foobarbequebaz', '(bar)(beque)')", "{bar,beque}")), on(optional(t3, 1), textArrayT, regexRow(textArrayT, 2, func(out *vec.Builder, re *regex, s string, _ string) {
			at := re.FindStringSubmatchIndex(s)
			if at == nil {
				out.AppendNull()
				return
			}
			appendGroups(out, s, at)
		}))),
		immutable(def("regexp_split_to_array", "Split a text at the matches of a regular expression", ex("regexp_split_to_array('hello world', '\\s+')", "{hello,world}")), on(optional(t3, 1), textArrayT, regexRow(textArrayT, 2, func(out *vec.Builder, re *regex, s string, _ string) {
			for _, part := range splitRegex(re, s) {
				out.Elements().AppendString(part)
			}
			out.EndList()
		}))),
		immutable(def("regexp_extract_all", "All matches of a regular expression as an array", ex("regexp_extract_all('a1b22', '[0-9]+')", "{1,22}")), on(t2, textArrayT, regexRow(textArrayT, 2, func(out *vec.Builder, re *regex, s string, _ string) {
			for _, part := range re.FindAllString(s, -1) {
				out.Elements().AppendString(part)
			}
			out.EndList()
		}))),
		immutable(def("regexp_extract", "First match of a regular expression, or a group of it; empty when there is none", ex("regexp_extract('foobarbaz', 'b(..)', 1)", "ar")), on(optional(signature(textT, textT, int4), 1), textT, regexExtract)),
		immutable(def("regexp_count", "Number of matches of a regular expression", ex("regexp_count('123456789012', '\\d{3}')", "4")), on(optional(signature(textT, textT, int4, textT), 2), int4, regexCount)),
		immutable(def("regexp_instr", "Place of the n-th match of a regular expression, 0 when there is none", ex("regexp_instr('number of your street, town', '[^,]+', 1, 2)", "23")), on(optional(signature(textT, textT, int4, int4, int4, textT, int4), 5), int4, regexInstr)),
		immutable(def("regexp_substr", "The n-th match of a regular expression, NULL when there is none", ex("regexp_substr('number of your street, town', '[^,]+', 1, 2)", " town")), on(optional(signature(textT, textT, int4, int4, textT, int4), 4), textT, regexSubstr)),
	}
}

// regexRow runs f for each row with the regular expression of argument 1 and the flags of argument flags, if given.
func regexRow(t vec.Type, flags int, f func(out *vec.Builder, re *regex, s, flags string)) body {
	return func(c *call) (*vec.Vector, error) {
		in, patterns, out := textsOf(c.args[0]), textsOf(c.args[1]), vec.NewBuilder(t, c.n)
		var known regexes
		for i := range c.n {
			if !c.ok(i) {
				out.AppendNull()
				continue
			}
			mode := textArg(c, flags, i, "")
			re, err := known.get(patterns.str(i), mode)
			if err != nil {
				return nil, err
			}
			f(out, re, in.str(i), mode)
		}
		return out.Finish(), nil
	}
}

func fullMatch(c *call) (*vec.Vector, error) {
	in, patterns, out := textsOf(c.args[0]), textsOf(c.args[1]), make([]byte, c.n)
	var known regexes
	for i := range out {
		if !c.ok(i) {
			continue
		}
		re, err := known.get(`\A(?:`+patterns.str(i)+`)\z`, textArg(c, 2, i, ""))
		if err != nil {
			return nil, err
		}
		out[i] = bit(re.Match(in.at(i)))
	}
	return vec.FlatOf(boolT, out, nil), nil
}

// textArg is argument k of row i, otherwise when it was left out.
func textArg(c *call, k, i int, otherwise string) string {
	if k >= len(c.args) {
		return otherwise
	}
	t := textsOf(c.args[k])
	return t.str(i)
}

// intArg is argument k of row i, an INTEGER, otherwise when it was left out.
func intArg(c *call, k, i int, otherwise int) int {
	if k >= len(c.args) {
		return otherwise
	}
	v, mask := fixed[int32](c.args[k])
	return int(v[i&mask])
}

// appendGroups appends the groups of a match as an array of texts, the whole match where there are none.
func appendGroups(out *vec.Builder, s string, at []int) {
	if len(at) > 2 {
		at = at[2:]
	}
	for g := 0; g < len(at); g += 2 {
		if at[g] < 0 {
			out.Elements().AppendNull()
		} else {
			out.Elements().AppendString(s[at[g]:at[g+1]])
		}
	}
	out.EndList()
}

// splitRegex splits as PostgreSQL does: empty matches at the ends and after a match do not split.
func splitRegex(re *regex, s string) []string {
	var parts []string
	start := 0
	for _, at := range re.FindAllStringIndex(s, -1) {
		if at[0] == at[1] && (at[0] == 0 || at[0] == len(s)) {
			continue
		}
		parts = append(parts, s[start:at[0]])
		start = at[1]
	}
	return append(parts, s[start:])
}

// regexSubstring is substring(text, pattern): the first group, or the match when there is none; NULL without a match.
func regexSubstring() extension.ScalarOverload {
	return on(signature(textT, textT), textT, regexRow(textT, 99, func(out *vec.Builder, re *regex, s, _ string) {
		at := re.FindStringSubmatchIndex(s)
		if at == nil {
			out.AppendNull()
			return
		}
		if len(at) > 2 {
			at = at[2:]
		}
		if at[0] < 0 {
			out.AppendNull()
			return
		}
		out.AppendString(s[at[0]:at[1]])
	}))
}

// similarSubstring is substring(text, pattern, escape): what lies between the escaped double quotes of a pattern of
// SIMILAR TO, the whole text when it has none; NULL without a match.
func similarSubstring() extension.ScalarOverload {
	return on(signature(textT, textT, textT), textT, func(c *call) (*vec.Vector, error) {
		in, patterns, escapes, out := textsOf(c.args[0]), textsOf(c.args[1]), textsOf(c.args[2]), newTextOut(c.n, 0)
		known := map[[2]string]string{}
		var compiled regexes
		for i := range c.n {
			if !c.ok(i) {
				out.null(c.n)
				continue
			}
			key := [2]string{patterns.str(i), escapes.str(i)}
			text, ok := known[key]
			if !ok {
				var err error
				if text, err = similarRegex(key[0], key[1]); err != nil {
					return nil, err
				}
				known[key] = text
			}
			re, err := compiled.get(text, "")
			if err != nil {
				return nil, err
			}
			s := in.str(i)
			switch at := re.FindStringSubmatchIndex(s); {
			case at == nil || at[len(at)-2] < 0:
				out.null(c.n)
				continue
			default:
				out.data = append(out.data, s[at[len(at)-2]:at[len(at)-1]]...)
			}
			if err := out.end(); err != nil {
				return nil, err
			}
		}
		return out.vector(textT), nil
	})
}

func regexExtract(c *call) (*vec.Vector, error) {
	in, patterns := textsOf(c.args[0]), textsOf(c.args[1])
	var known regexes
	return toText(textT, func(c *call, dst []byte, i int) ([]byte, error) {
		re, err := known.get(patterns.str(i), "")
		if err != nil {
			return nil, err
		}
		g := intArg(c, 2, i, 0)
		if g < 0 || g > re.NumSubexp() {
			return nil, invalidParameter("the regular expression has no group %d", g)
		}
		at := re.FindStringSubmatchIndex(in.str(i))
		if at == nil || at[2*g] < 0 {
			return dst, nil
		}
		return append(dst, in.str(i)[at[2*g]:at[2*g+1]]...), nil
	})(c)
}

// regexFrom returns the text from the character start (from 1) on, with how many characters come before.
func regexFrom(s string, start int) (string, int, error) {
	if start < 1 {
		return "", 0, invalidParameter("invalid value for parameter \"start\": %s", strconv.Itoa(start))
	}
	return s[runePlace(vec.StringBytes(s), start-1):], min(start-1, utf8.RuneCountInString(s)), nil
}

func regexCount(c *call) (*vec.Vector, error) {
	in, patterns, out := textsOf(c.args[0]), textsOf(c.args[1]), make([]int32, c.n)
	var known regexes
	for i := range out {
		if !c.ok(i) {
			continue
		}
		re, err := known.get(patterns.str(i), textArg(c, 3, i, ""))
		if err != nil {
			return nil, err
		}
		s, _, err := regexFrom(in.str(i), intArg(c, 2, i, 1))
		if err != nil {
			return nil, err
		}
		out[i] = int32(len(re.FindAllStringIndex(s, -1)))
	}
	return vec.FlatOf(int4, out, nil), nil
}

// nthMatch finds match number n and in it group g; nil when there is none.
func nthMatch(re *regex, s string, n, g int) []int {
	all := re.FindAllStringSubmatchIndex(s, n)
	if len(all) < n || g > re.NumSubexp() || all[n-1][2*g] < 0 {
		return nil
	}
	return all[n-1][2*g : 2*g+2]
}

func regexInstr(c *call) (*vec.Vector, error) {
	in, patterns, out := textsOf(c.args[0]), textsOf(c.args[1]), make([]int32, c.n)
	var known regexes
	for i := range out {
		if !c.ok(i) {
			continue
		}
		re, err := known.get(patterns.str(i), textArg(c, 5, i, ""))
		if err != nil {
			return nil, err
		}
		s, before, err := regexFrom(in.str(i), intArg(c, 2, i, 1))
		if err != nil {
			return nil, err
		}
		n, end, g := intArg(c, 3, i, 1), intArg(c, 4, i, 0), intArg(c, 6, i, 0)
		if n < 1 || end < 0 || end > 1 || g < 0 {
			return nil, invalidParameter("invalid value for a parameter of regexp_instr")
		}
		if at := nthMatch(re, s, n, g); at != nil {
			out[i] = int32(before + utf8.RuneCountInString(s[:at[end]]) + 1)
		}
	}
	return vec.FlatOf(int4, out, nil), nil
}

func regexSubstr(c *call) (*vec.Vector, error) {
	in, patterns, out := textsOf(c.args[0]), textsOf(c.args[1]), vec.NewBuilder(textT, c.n)
	var known regexes
	for i := range c.n {
		if !c.ok(i) {
			out.AppendNull()
			continue
		}
		re, err := known.get(patterns.str(i), textArg(c, 4, i, ""))
		if err != nil {
			return nil, err
		}
		s, _, err := regexFrom(in.str(i), intArg(c, 2, i, 1))
		if err != nil {
			return nil, err
		}
		n, g := intArg(c, 3, i, 1), intArg(c, 5, i, 0)
		if n < 1 || g < 0 {
			return nil, invalidParameter("invalid value for a parameter of regexp_substr")
		}
		if at := nthMatch(re, s, n, g); at != nil {
			out.AppendString(s[at[0]:at[1]])
		} else {
			out.AppendNull()
		}
	}
	return out.Finish(), nil
}
