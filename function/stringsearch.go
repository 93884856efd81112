package function

import (
	"bytes"
	"strings"
	"unicode/utf8"

	"github.com/tidemarkdb/tidemark/extension"
	"github.com/tidemarkdb/tidemark/vec"
)

// texts2 is a function of two texts with a fixed-width result.
func texts2[R vec.Fixed](result vec.Type, f func(a, b []byte) R) body {
	return func(c *call) (*vec.Vector, error) {
		a, b, out := textsOf(c.args[0]), textsOf(c.args[1]), make([]R, c.n)
		for i := range out {
			out[i] = f(a.at(i), b.at(i))
		}
		return vec.FlatOf(result, out, nil), nil
	}
}

func searchFunctions() []*extension.ScalarFunc {
	place := texts2(int4, func(s, part []byte) int32 {
		at := bytes.Index(s, part)
		if at < 0 {
			return 0
		}
		return int32(utf8.RuneCount(s[:at])) + 1
	})
	bytesPlace := texts2(int4, func(s, part []byte) int32 { return int32(bytes.Index(s, part)) + 1 })
	predicate := func(f func(s, part []byte) bool) extension.ScalarOverload {
		return on(signature(textT, textT), boolT, texts2(boolT, func(a, b []byte) byte { return bit(f(a, b)) }))
	}
	return []*extension.ScalarFunc{
		immutable(also(def("strpos", "Place of a part, counted from 1; 0 when there is none", ex("strpos('high', 'ig')", "2")), "position", "instr"),
			on(signature(textT, textT), int4, place), on(signature(byteaT, byteaT), int4, bytesPlace)),
		immutable(also(def("starts_with", "Whether a text begins with another", ex("starts_with('alphabet', 'alph')", "t")), "^@", "prefix"), predicate(bytes.HasPrefix)),
		immutable(also(def("ends_with", "Whether a text ends with another", ex("ends_with('alphabet', 'bet')", "t")), "suffix"), predicate(bytes.HasSuffix)),
		immutable(def("contains", "Whether a text holds another", ex("contains('alphabet', 'pha')", "t")), predicate(bytes.Contains)),
		immutable(def("replace", "Replace every occurrence of a text", ex("replace('abcabc', 'b', 'xx')", "axxcaxxc")), on(signature(textT, textT, textT), textT, replaceText)),
		immutable(def("translate", "Replace characters by those at the same place of another set", ex("translate('12345', '143', 'ax')", "a2x5")), on(signature(textT, textT, textT), textT, translate)),
		immutable(also(def("levenshtein", "Edit distance", ex("levenshtein('GUMBO', 'GAMBOL')", "2")), "editdist3"),
			on(signature(textT, textT), int4, texts2(int4, func(a, b []byte) int32 { return editDistance([]rune(string(a)), []rune(string(b))) }))),
	}
}

func replaceText(c *call) (*vec.Vector, error) {
	in, from, to := textsOf(c.args[0]), textsOf(c.args[1]), textsOf(c.args[2])
	return toText(textT, func(_ *call, dst []byte, i int) ([]byte, error) {
		s, old, with := in.at(i), from.at(i), to.at(i)
		for len(old) > 0 {
			at := bytes.Index(s, old)
			if at < 0 {
				break
			}
			dst = append(append(dst, s[:at]...), with...)
			s = s[at+len(old):]
		}
		return append(dst, s...), nil
	})(c)
}

func translate(c *call) (*vec.Vector, error) {
	in, from, to := textsOf(c.args[0]), textsOf(c.args[1]), textsOf(c.args[2])
	return toText(textT, func(_ *call, dst []byte, i int) ([]byte, error) {
		set, with := from.str(i), []rune(to.str(i))
		for _, r := range in.str(i) {
			at := strings.IndexRune(set, r)
			if at < 0 {
				dst = utf8.AppendRune(dst, r)
				continue
			}
			if k := utf8.RuneCountInString(set[:at]); k < len(with) {
				dst = utf8.AppendRune(dst, with[k])
			}
		}
		return dst, nil
	})(c)
}

func editDistance(a, b []rune) int32 {
	row := make([]int32, len(b)+1)
	for j := range row {
		row[j] = int32(j)
	}
	for i := 1; i <= len(a); i++ {
		diagonal := row[0]
		row[0] = int32(i)
		for j := 1; j <= len(b); j++ {
			cost := diagonal
			if a[i-1] != b[j-1] {
				cost++
			}
			diagonal = row[j]
			row[j] = min(cost, row[j]+1, row[j-1]+1)
		}
	}
	return row[len(b)]
}
