package function

import (
	"bytes"
	"slices"
	"unicode"
	"unicode/utf8"

	"github.com/tidemarkdb/tidemark/extension"
	"github.com/tidemarkdb/tidemark/sqlerr"
	"github.com/tidemarkdb/tidemark/vec"
)

func stringFamily() family {
	f := family{category: "string"}
	for _, part := range [][]*extension.ScalarFunc{
		lengthFunctions(), caseFunctions(), sliceFunctions(), padFunctions(), searchFunctions(), patternFunctions(),
		regexFunctions(), encodeFunctions(), byteFunctions(), concatFunctions(), quoteFunctions(),
	} {
		f.scalars = append(f.scalars, part...)
	}
	return f
}

func lengthFunctions() []*extension.ScalarFunc {
	chars := textToFixed(int4, func(s []byte) (int32, error) { return int32(utf8.RuneCount(s)), nil })
	octets := func(c *call) (*vec.Vector, error) {
		in, out := textsOf(c.args[0]), make([]int32, c.n)
		for i := range out {
			k := i & in.mask
			out[i] = in.offsets[k+1] - in.offsets[k]
		}
		return vec.FlatOf(int4, out, nil), nil
	}
	octetBits := textToFixed(int4, func(s []byte) (int32, error) {
		if len(s) > 1<<28 {
			return 0, outOfRange(int4)
		}
		return int32(len(s) * 8), nil
	})
	return []*extension.ScalarFunc{
		immutable(also(def("length", "Number of characters, or bytes of BYTEA", ex("length('Grüße')", "5")), "len"), on(signature(textT), int4, chars), on(signature(byteaT), int4, octets), on(params(arrayParam), int4, listLength)),
		immutable(also(def("char_length", "Number of characters", ex("char_length('abc')", "3")), "character_length"), on(signature(textT), int4, chars)),
		immutable(also(def("octet_length", "Number of bytes", ex("octet_length('Grüße')", "7")), "strlen"), on(signature(textT), int4, octets), on(signature(byteaT), int4, octets)),
		immutable(def("bit_length", "Number of bits", ex("bit_length('ab')", "16")), on(signature(textT), int4, octetBits), on(signature(byteaT), int4, octetBits)),
		immutable(def("ascii", "Code point of the first character", ex("ascii('A')", "65")), on(signature(textT), int4, textToFixed(int4, func(s []byte) (int32, error) {
			if len(s) == 0 {
				return 0, nil
			}
			r, _ := utf8.DecodeRune(s)
			return r, nil
		}))),
	}
}

// textFn is a function from text to text.
func textFn(d extension.Def, f func(dst, s []byte) ([]byte, error)) *extension.ScalarFunc {
	return immutable(d, on(signature(textT), textT, textToText(f)))
}

func caseFunctions() []*extension.ScalarFunc {
	return []*extension.ScalarFunc{
		textFn(also(def("lower", "Lower case", ex("lower('ABC')", "abc")), "lcase"), func(dst, s []byte) ([]byte, error) { return appendCase(dst, s, false), nil }),
		textFn(also(def("upper", "Upper case", ex("upper('abc')", "ABC")), "ucase"), func(dst, s []byte) ([]byte, error) { return appendCase(dst, s, true), nil }),
		textFn(def("initcap", "First letter of each word in upper, the others in lower case", ex("initcap('hi THOMAS')", "Hi Thomas")), func(dst, s []byte) ([]byte, error) {
			inWord := false
			for _, r := range string(s) {
				if inWord {
					dst = utf8.AppendRune(dst, unicode.ToLower(r))
				} else {
					dst = utf8.AppendRune(dst, unicode.ToUpper(r))
				}
				inWord = unicode.IsLetter(r) || unicode.IsDigit(r)
			}
			return dst, nil
		}),
		textFn(def("reverse", "Characters in reverse order", ex("reverse('abc')", "cba")), func(dst, s []byte) ([]byte, error) {
			for len(s) > 0 {
				_, size := utf8.DecodeLastRune(s)
				dst = append(dst, s[len(s)-size:]...)
				s = s[:len(s)-size]
			}
			return dst, nil
		}),
	}
}

// appendCase appends s in one case, ASCII without decoding.
func appendCase(dst, s []byte, upper bool) []byte {
	start := len(dst)
	low, high := byte('A'), byte('Z')
	if upper {
		low, high = 'a', 'z'
	}
	for _, c := range s {
		if c >= utf8.RuneSelf {
			dst = dst[:start]
			if upper {
				return append(dst, bytes.ToUpper(s)...)
			}
			return append(dst, bytes.ToLower(s)...)
		}
		dst = append(dst, c^bit(c >= low && c <= high)<<5)
	}
	return dst
}

// runePlace returns the byte offset of the character number n of s, len(s) past the end.
func runePlace(s []byte, n int) int {
	at := 0
	for ; n > 0 && at < len(s); n-- {
		if s[at] < utf8.RuneSelf {
			at++
			continue
		}
		_, size := utf8.DecodeRune(s[at:])
		at += size
	}
	return at
}

// slice returns the characters [start, start+count) of s, counted from 1, as SUBSTRING does; count below 0 is to the
// end when open.
func slice(s []byte, start, count int64, open bool) ([]byte, error) {
	end := start + count
	switch {
	case open:
		end = int64(len(s)) + 1
	case count < 0:
		return nil, sqlerr.New("22011", "negative substring length not allowed")
	case end < start:
		end = int64(len(s)) + 1
	}
	start = max(start, 1)
	if end <= start || start > int64(len(s)) {
		return nil, nil
	}
	s = s[runePlace(s, int(start-1)):]
	return s[:runePlace(s, int(min(end-start, int64(len(s)))))], nil
}

// sliceBytes is slice counted in bytes.
func sliceBytes(s []byte, start, count int64, open bool) ([]byte, error) {
	end := start + count
	switch {
	case open:
		end = int64(len(s)) + 1
	case count < 0:
		return nil, sqlerr.New("22011", "negative substring length not allowed")
	}
	start, end = max(start, 1), min(end, int64(len(s))+1)
	if end <= start {
		return nil, nil
	}
	return s[start-1 : end-1], nil
}

func substrings(t vec.Type, cut func(s []byte, start, count int64, open bool) ([]byte, error)) []extension.ScalarOverload {
	return []extension.ScalarOverload{
		on(signature(t, int4), t, func(c *call) (*vec.Vector, error) {
			in := textsOf(c.args[0])
			starts, sm := fixed[int32](c.args[1])
			return toText(t, func(_ *call, dst []byte, i int) ([]byte, error) {
				part, err := cut(in.at(i), int64(starts[i&sm]), 0, true)
				return append(dst, part...), err
			})(c)
		}),
		on(signature(t, int4, int4), t, func(c *call) (*vec.Vector, error) {
			in := textsOf(c.args[0])
			starts, sm := fixed[int32](c.args[1])
			counts, cm := fixed[int32](c.args[2])
			return toText(t, func(_ *call, dst []byte, i int) ([]byte, error) {
				part, err := cut(in.at(i), int64(starts[i&sm]), int64(counts[i&cm]), false)
				return append(dst, part...), err
			})(c)
		}),
	}
}

// textInt is a function of a text and an integer.
func textInt(f func(dst, s []byte, n int64) ([]byte, error)) extension.ScalarOverload {
	return on(signature(textT, int4), textT, func(c *call) (*vec.Vector, error) {
		in := textsOf(c.args[0])
		ns, mask := fixed[int32](c.args[1])
		return toText(textT, func(_ *call, dst []byte, i int) ([]byte, error) { return f(dst, in.at(i), int64(ns[i&mask])) })(c)
	})
}

func sliceFunctions() []*extension.ScalarFunc {
	return []*extension.ScalarFunc{
		immutable(def("substring", "Characters from a place on, or the part that a regular expression matches, or a pattern of SIMILAR TO between escaped double quotes",
			ex("substring('Thomas' FROM 2 FOR 3)", "hom"), ex("substring('Thomas', '...$')", "mas"), ex(`substring('Thomas' SIMILAR '%#"o_a#"_' ESCAPE '#')`, "oma")),
			append(append(substrings(textT, slice), substrings(byteaT, sliceBytes)...), regexSubstring(), similarSubstring())...),
		immutable(def("substr", "Characters from a place on", ex("substr('alphabet', 3, 2)", "ph")), append(substrings(textT, slice), substrings(byteaT, sliceBytes)...)...),
		immutable(def("left", "First n characters; with negative n all but the last", ex("left('abcde', 2)", "ab")), textInt(func(dst, s []byte, n int64) ([]byte, error) {
			if n < 0 {
				n = max(int64(utf8.RuneCount(s))+n, 0)
			}
			return append(dst, s[:runePlace(s, int(n))]...), nil
		})),
		immutable(def("right", "Last n characters; with negative n all but the first", ex("right('abcde', 2)", "de")), textInt(func(dst, s []byte, n int64) ([]byte, error) {
			if n < 0 {
				return append(dst, s[runePlace(s, int(-n)):]...), nil
			}
			return append(dst, s[runePlace(s, int(max(int64(utf8.RuneCount(s))-n, 0))):]...), nil
		})),
		immutable(def("repeat", "Repeat a string", ex("repeat('ab', 3)", "ababab")), textInt(repeat)),
		immutable(def("overlay", "Replace characters from a place on", ex("overlay('Txxxxas' PLACING 'hom' FROM 2 FOR 4)", "Thomas")),
			on(optional(signature(textT, textT, int4, int4), 1), textT, overlay)),
		immutable(def("split_part", "The n-th field between separators, from the end when n is negative", ex("split_part('a,b,c', ',', 2)", "b")),
			on(signature(textT, textT, int4), textT, splitPart)),
	}
}

// maxRepeated bounds what one call of repeat makes: 256 MiB.
const maxRepeated = 256 << 20

func repeat(dst, s []byte, n int64) ([]byte, error) {
	n = max(n, 0)
	if int64(len(s))*n > maxRepeated {
		return nil, sqlerr.New(sqlerr.ProgramLimitExceeded, "requested length too large").
			Hintf("repeat makes at most %d bytes", maxRepeated)
	}
	start, end := len(dst), len(dst)+len(s)*int(n)
	if end > vec.MaxBytes {
		return nil, sqlerr.New(sqlerr.ProgramLimitExceeded, "the strings of one batch are longer than %d bytes together", vec.MaxBytes).
			Hintf("repeat fewer times")
	}
	if start == end {
		return dst, nil
	}
	dst = append(slices.Grow(dst, end-start), s...)
	for len(dst) < end { // twice as much each time
		dst = append(dst, dst[start:min(len(dst), start+end-len(dst))]...)
	}
	return dst, nil
}

func overlay(c *call) (*vec.Vector, error) {
	in, put := textsOf(c.args[0]), textsOf(c.args[1])
	starts, sm := fixed[int32](c.args[2])
	return toText(textT, func(c *call, dst []byte, i int) ([]byte, error) {
		s, p, start := in.at(i), put.at(i), int64(starts[i&sm])
		count := int64(utf8.RuneCount(p))
		if len(c.args) == 4 {
			counts, cm := fixed[int32](c.args[3])
			count = int64(counts[i&cm])
		}
		if start <= 0 {
			return nil, sqlerr.New("22011", "negative substring length not allowed")
		}
		dst = append(dst, s[:runePlace(s, int(start-1))]...)
		dst = append(dst, p...)
		return append(dst, s[runePlace(s, int(max(start-1+count, 0))):]...), nil
	})(c)
}

func splitPart(c *call) (*vec.Vector, error) {
	in, separators := textsOf(c.args[0]), textsOf(c.args[1])
	ns, mask := fixed[int32](c.args[2])
	return toText(textT, func(_ *call, dst []byte, i int) ([]byte, error) {
		s, sep, n := in.at(i), separators.at(i), int(ns[i&mask])
		switch {
		case n == 0:
			return nil, invalidParameter("field position must not be zero")
		case len(sep) == 0:
			if n == 1 || n == -1 {
				dst = append(dst, s...)
			}
			return dst, nil
		case n < 0:
			if n += bytes.Count(s, sep) + 2; n <= 0 {
				return dst, nil
			}
		}
		for ; n > 1; n-- {
			at := bytes.Index(s, sep)
			if at < 0 {
				return dst, nil
			}
			s = s[at+len(sep):]
		}
		if at := bytes.Index(s, sep); at >= 0 {
			s = s[:at]
		}
		return append(dst, s...), nil
	})(c)
}

func padFunctions() []*extension.ScalarFunc {
	trims := func(left, right bool) []extension.ScalarOverload {
		trim := func(s []byte, set string) []byte {
			if left {
				s = bytes.TrimLeft(s, set)
			}
			if right {
				s = bytes.TrimRight(s, set)
			}
			return s
		}
		return []extension.ScalarOverload{
			on(signature(textT), textT, textToText(func(dst, s []byte) ([]byte, error) { return append(dst, trim(s, " ")...), nil })),
			on(signature(textT, textT), textT, func(c *call) (*vec.Vector, error) {
				in, sets := textsOf(c.args[0]), textsOf(c.args[1])
				return toText(textT, func(_ *call, dst []byte, i int) ([]byte, error) {
					return append(dst, trim(in.at(i), sets.str(i))...), nil
				})(c)
			}),
			trimBytes(left, right),
		}
	}
	return []*extension.ScalarFunc{
		immutable(also(def("btrim", "Remove characters from both ends, by default spaces", ex("btrim('xyxtrimyyx', 'xyz')", "trim")), "trim"), trims(true, true)...),
		immutable(def("ltrim", "Remove characters from the start", ex("ltrim('  a')", "a")), trims(true, false)...),
		immutable(def("rtrim", "Remove characters from the end", ex("rtrim('testxxzx', 'xyz')", "test")), trims(false, true)...),
		immutable(def("lpad", "Fill up or cut to a length, at the start", ex("lpad('hi', 5, 'xy')", "xyxhi")), pads(true)...),
		immutable(def("rpad", "Fill up or cut to a length, at the end", ex("rpad('hi', 5, 'xy')", "hixyx")), pads(false)...),
	}
}

func pads(left bool) []extension.ScalarOverload {
	return []extension.ScalarOverload{on(optional(signature(textT, int4, textT), 1), textT, func(c *call) (*vec.Vector, error) {
		in := textsOf(c.args[0])
		lengths, mask := fixed[int32](c.args[1])
		return toText(textT, func(c *call, dst []byte, i int) ([]byte, error) {
			fill := []byte{' '}
			if len(c.args) == 3 {
				f := textsOf(c.args[2])
				fill = f.at(i)
			}
			return pad(dst, in.at(i), fill, int(lengths[i&mask]), left)
		})(c)
	})}
}

func pad(dst, s, fill []byte, length int, left bool) ([]byte, error) {
	if length > vec.MaxBytes/8 {
		return nil, sqlerr.New(sqlerr.ProgramLimitExceeded, "requested length too large")
	}
	have := utf8.RuneCount(s)
	if have >= length || len(fill) == 0 {
		return append(dst, s[:runePlace(s, max(length, 0))]...), nil
	}
	if !left {
		dst = append(dst, s...)
	}
	need, per := length-have, utf8.RuneCount(fill)
	for ; need >= per; need -= per {
		dst = append(dst, fill...)
	}
	dst = append(dst, fill[:runePlace(fill, need)]...)
	if left {
		dst = append(dst, s...)
	}
	return dst, nil
}
