package function

import (
	"strings"

	"github.com/tidemarkdb/tidemark/vec"
)

// replacement is what a match is replaced with: texts and groups in turn.
type replacement struct {
	of    string // what it was made of
	parts []replacementPart
}

type replacementPart struct {
	text  string
	group int // -1: none
}

// parse makes a replacement of PostgreSQL's notation: \1 to \9 stand for groups, \& for the match, \\ for a backslash.
func (r *replacement) parse(s string) {
	if r.parts != nil && r.of == s {
		return
	}
	r.of, r.parts = strings.Clone(s), []replacementPart{}
	text := ""
	group := func(g int) {
		r.parts = append(r.parts, replacementPart{text: text, group: g})
		text = ""
	}
	for i := 0; i < len(s); i++ {
		if s[i] != '\\' || i+1 == len(s) {
			text += s[i : i+1]
			continue
		}
		switch i++; {
		case s[i] >= '1' && s[i] <= '9':
			group(int(s[i] - '0'))
		case s[i] == '&':
			group(0)
		case s[i] == '\\':
			text += `\`
		default:
			text += s[i-1 : i+1]
		}
	}
	group(-1)
}

// append adds what stands for a match in s.
func (r *replacement) append(dst []byte, s string, at []int) []byte {
	for _, p := range r.parts {
		dst = append(dst, p.text...)
		if g := 2 * p.group; g >= 0 && g < len(at) && at[g] >= 0 {
			dst = append(dst, s[at[g]:at[g+1]]...)
		}
	}
	return dst
}

func regexReplace(c *call) (*vec.Vector, error) {
	in, patterns, withs := textsOf(c.args[0]), textsOf(c.args[1]), textsOf(c.args[2])
	var known regexes
	var with replacement
	var at []int
	return toText(textT, func(c *call, dst []byte, i int) ([]byte, error) {
		flags := textArg(c, 3, i, "")
		re, err := known.get(patterns.str(i), flags)
		if err != nil {
			return nil, err
		}
		with.parse(withs.str(i))
		if strings.Contains(flags, "g") {
			return appendReplaced(dst, re, in.str(i), &with, 0, 0), nil
		}
		s := in.str(i)
		if first := re.first(s, at); first != nil {
			at = first
			dst = append(dst, s[:at[0]]...)
			dst = with.append(dst, s, at)
			s = s[at[1]:]
		}
		return append(dst, s...), nil
	})(c)
}

// regexReplaceAt is regexp_replace with a start and the number of the match to replace, 0 for all.
func regexReplaceAt(c *call) (*vec.Vector, error) {
	in, patterns, withs := textsOf(c.args[0]), textsOf(c.args[1]), textsOf(c.args[2])
	var known regexes
	var with replacement
	return toText(textT, func(c *call, dst []byte, i int) ([]byte, error) {
		flags := textArg(c, 5, i, "")
		re, err := known.get(patterns.str(i), flags)
		if err != nil {
			return nil, err
		}
		start, n := intArg(c, 3, i, 1), intArg(c, 4, i, 1)
		if start < 1 || n < 0 {
			return nil, invalidParameter("invalid value for parameter \"%s\": %d", "start", start)
		}
		if strings.Contains(flags, "g") && len(c.args) < 5 {
			n = 0
		}
		with.parse(withs.str(i))
		return appendReplaced(dst, re, in.str(i), &with, start-1, n), nil
	})(c)
}

// appendReplaced replaces match number n (0: all) from the character start on.
func appendReplaced(dst []byte, re *regex, s string, with *replacement, start, n int) []byte {
	from := runePlace(vec.StringBytes(s), start)
	dst = append(dst, s[:from]...)
	s = s[from:]
	last, count := 0, 0
	limit := -1
	if n > 0 {
		limit = n
	}
	for _, at := range re.FindAllStringSubmatchIndex(s, limit) {
		if count++; n > 0 && count != n {
			continue
		}
		dst = append(dst, s[last:at[0]]...)
		dst = with.append(dst, s, at)
		last = at[1]
	}
	return append(dst, s[last:]...)
}
