package function

import (
	"regexp"
	"strings"

	"github.com/tidemarkdb/tidemark/extension"
	"github.com/tidemarkdb/tidemark/vec"
)

// globOperator is GLOB: patterns of a shell over the whole text. A constant pattern is compiled once.
func globOperator() *extension.ScalarFunc {
	return immutable(def("~~~", "Match a pattern of a shell: * any characters, ? one, [...] one of some", ex("'abc' GLOB 'a*'", "t"), ex("'abc' GLOB '[!a]??'", "f")),
		bound(signature(textT, textT), func(args []extension.Argument) (vec.Type, body, error) {
			var constant *regexp.Regexp
			if text, ok := constText(args, 1); ok {
				re, err := globRegex(text)
				if err != nil {
					return vec.Type{}, nil, err
				}
				constant = re
			}
			return boolT, boxed(boolT, func(_ *call, args []vec.Value) (vec.Value, error) {
				re := constant
				if re == nil {
					var err error
					if re, err = globRegex(args[1].S); err != nil {
						return vec.Value{}, err
					}
				}
				return vec.BoolValue(re.MatchString(args[0].S)), nil
			}), nil
		}))
}

// globRegex turns a pattern of a shell into a regular expression of the whole text.
func globRegex(pattern string) (*regexp.Regexp, error) {
	var b strings.Builder
	b.WriteString("(?s)^")
	for runes, i := []rune(pattern), 0; i < len(runes); i++ {
		switch r := runes[i]; r {
		case '*':
			b.WriteString(".*")
		case '?':
			b.WriteByte('.')
		case '[':
			end := classEnd(runes, i)
			if end < 0 {
				b.WriteString(`\[`)
				continue
			}
			class := strings.ReplaceAll(string(runes[i+1:end]), `\`, `\\`)
			if strings.HasPrefix(class, "!") {
				class = "^" + class[1:]
			}
			b.WriteString("[" + strings.ReplaceAll(class, "[", `\[`) + "]")
			i = end
		case '\\':
			if i+1 < len(runes) {
				i++
			}
			b.WriteString(regexp.QuoteMeta(string(runes[i])))
		default:
			b.WriteString(regexp.QuoteMeta(string(r)))
		}
	}
	b.WriteByte('$')
	re, err := regexp.Compile(b.String())
	if err != nil {
		return nil, invalidParameter("invalid pattern %q", pattern)
	}
	return re, nil
}

// classEnd is the place of the ] that ends the class that begins at from, -1 when none does.
func classEnd(runes []rune, from int) int {
	i := from + 1
	if i < len(runes) && runes[i] == '!' {
		i++
	}
	for i++; i < len(runes); i++ { // a ] that comes first is one of the characters
		if runes[i] == ']' {
			return i
		}
	}
	return -1
}
