package function

import (
	"regexp"
	"strings"

	"github.com/tidemarkdb/tidemark/extension"
	"github.com/tidemarkdb/tidemark/sqlerr"
	"github.com/tidemarkdb/tidemark/vec"
)

// compileRegex compiles a PostgreSQL regular expression with its one-letter flags. The syntax is that of package
// regexp (RE2), which has no back references and look-around; of PostgreSQL's escapes, \m \M \y \Y \A \Z are
// translated. Matching is leftmost-first.
func compileRegex(pattern, flags string) (*regex, error) {
	mode := "s"
	for _, f := range flags {
		switch f {
		case 'i':
			mode += "i"
		case 'n', 'm':
			mode = strings.Replace(mode, "s", "", 1) + "m"
		case 'q':
			pattern = regexp.QuoteMeta(pattern)
		case 'g', 'c', 's', 'x', 'e':
			if f == 'x' {
				pattern = stripExpanded(pattern)
			}
		default:
			return nil, invalidParameter("invalid regular expression option: \"%c\"", f)
		}
	}
	for _, prefix := range []string{"***:", "(?e)"} {
		pattern = strings.TrimPrefix(pattern, prefix)
	}
	text := translateRegex(pattern)
	if mode != "" {
		text = "(?" + mode + ")" + text
	}
	re, err := regexp.Compile(text)
	if err != nil {
		return nil, sqlerr.New(sqlerr.InvalidRegex, "invalid regular expression: %s", strings.TrimPrefix(err.Error(), "error parsing regexp: ")).
			Hintf("The syntax is RE2's: no back references and no look-around.")
	}
	return &regex{Regexp: re, sequence: newSequence(text)}, nil
}

// regex is a regular expression whose first match is found by a sequence where it is one.
type regex struct {
	*regexp.Regexp
	sequence *sequence // nil: it is none
}

// Match reports whether there is a match.
func (re *regex) Match(b []byte) bool { return re.MatchString(vec.String(b)) }

// MatchString reports whether there is a match.
func (re *regex) MatchString(s string) bool {
	if re.sequence != nil {
		var t trial
		if found, known := re.sequence.find(s, &t); known {
			return found
		}
	}
	return re.Regexp.MatchString(s)
}

// FindStringSubmatchIndex returns the ends of the first match and its groups, nil when there is none.
func (re *regex) FindStringSubmatchIndex(s string) []int { return re.first(s, nil) }

// first is FindStringSubmatchIndex in the memory of at.
func (re *regex) first(s string, at []int) []int {
	if re.sequence != nil {
		var t trial
		if found, known := re.sequence.find(s, &t); known {
			if !found {
				return nil
			}
			return append(at[:0], t.at[:re.sequence.slots]...)
		}
	}
	return re.Regexp.FindStringSubmatchIndex(s)
}

// translateRegex turns the escapes that differ into those of package regexp.
func translateRegex(p string) string {
	if !strings.Contains(p, `\`) {
		return p
	}
	var b strings.Builder
	for i := 0; i < len(p); i++ {
		if p[i] != '\\' || i+1 == len(p) {
			b.WriteByte(p[i])
			continue
		}
		i++
		switch p[i] {
		case 'm', 'M', 'y':
			b.WriteString(`\b`)
		case 'Y':
			b.WriteString(`\B`)
		case 'Z':
			b.WriteString(`\z`)
		default:
			b.WriteByte('\\')
			b.WriteByte(p[i])
		}
	}
	return b.String()
}

// stripExpanded removes white space and comments of the expanded syntax.
func stripExpanded(p string) string {
	var b strings.Builder
	class := false
	for i := 0; i < len(p); i++ {
		switch c := p[i]; {
		case c == '\\' && i+1 < len(p):
			b.WriteString(p[i : i+2])
			i++
		case !class && (c == ' ' || c == '\t' || c == '\n' || c == '\r'):
		case !class && c == '#':
			for i < len(p) && p[i] != '\n' {
				i++
			}
		default:
			class = c == '[' || class && c != ']'
			b.WriteByte(c)
		}
	}
	return b.String()
}

// regexes compiles patterns as they come and remembers the last ones.
type regexes struct {
	known map[[2]string]*regex
	key   [2]string // of the last one
	last  *regex
}

func (r *regexes) get(pattern, flags string) (*regex, error) {
	if r.last != nil && r.key[0] == pattern && r.key[1] == flags {
		return r.last, nil
	}
	key := [2]string{pattern, flags}
	if re := r.known[key]; re != nil {
		r.key, r.last = [2]string{strings.Clone(pattern), strings.Clone(flags)}, re
		return re, nil
	}
	re, err := compileRegex(pattern, flags)
	if err != nil {
		return nil, err
	}
	if r.known == nil || len(r.known) >= 256 {
		r.known = map[[2]string]*regex{}
	}
	r.key, r.last = [2]string{strings.Clone(pattern), strings.Clone(flags)}, re
	r.known[r.key] = re
	return re, nil
}

// constText returns the text of a constant argument, "" and false when it is not one.
func constText(args []extension.Argument, i int) (string, bool) {
	if i >= len(args) || args[i].Const == nil || args[i].Const.Null {
		return "", false
	}
	return args[i].Const.S, true
}

// regexOperators is text ~ pattern and its negated and case-blind variants.
func regexOperators(fold, negate bool) []extension.ScalarOverload {
	flags, flip := "", bit(negate)
	if fold {
		flags = "i"
	}
	return []extension.ScalarOverload{bound(signature(textT, textT), func(args []extension.Argument) (vec.Type, body, error) {
		if pattern, ok := constText(args, 1); ok {
			re, err := compileRegex(pattern, flags)
			if err != nil {
				return vec.Type{}, nil, err
			}
			return boolT, func(c *call) (*vec.Vector, error) {
				in, out := textsOf(c.args[0]), make([]byte, c.n)
				for i := range out {
					if c.ok(i) {
						out[i] = bit(re.Match(in.at(i))) ^ flip
					}
				}
				return vec.FlatOf(boolT, out, nil), nil
			}, nil
		}
		return boolT, func(c *call) (*vec.Vector, error) {
			in, patterns, out := textsOf(c.args[0]), textsOf(c.args[1]), make([]byte, c.n)
			var known regexes
			for i := range out {
				if !c.ok(i) {
					continue
				}
				re, err := known.get(patterns.str(i), flags)
				if err != nil {
					return nil, err
				}
				out[i] = bit(re.Match(in.at(i))) ^ flip
			}
			return vec.FlatOf(boolT, out, nil), nil
		}, nil
	})}
}
