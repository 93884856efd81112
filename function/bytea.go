package function

import (
	"bytes"
	"unicode/utf8"

	"github.com/tidemarkdb/tidemark/extension"
	"github.com/tidemarkdb/tidemark/sqlerr"
	"github.com/tidemarkdb/tidemark/vec"
)

// byteFunctions take single bytes and bits of BYTEA; bits are counted from the lowest of the first byte.
func byteFunctions() []*extension.ScalarFunc {
	return []*extension.ScalarFunc{
		immutable(def("get_byte", "Byte at a place from 0", ex(`get_byte('\x1234'::bytea, 1)`, "52")),
			on(signature(byteaT, int4), int4, bytePlace(1, func(b byte, _ int) int32 { return int32(b) }))),
		immutable(def("get_bit", "Bit at a place from 0, counted from the lowest bit of the first byte", ex(`get_bit('\x1234'::bytea, 12)`, "1")),
			on(signature(byteaT, int8), int4, bytePlace(8, func(b byte, at int) int32 { return int32(b >> at & 1) }))),
		immutable(def("set_byte", "Bytes with the one at a place from 0 replaced", ex(`set_byte('\x1234'::bytea, 1, 64)`, `\x1240`)),
			on(signature(byteaT, int4, int4), byteaT, replaceAt(1, func(_ byte, _ int, value int64) (byte, error) { return byte(value), nil }))),
		immutable(def("set_bit", "Bytes with the bit at a place from 0 set to 0 or 1", ex(`set_bit('\x1234'::bytea, 12, 0)`, `\x1224`)),
			on(signature(byteaT, int8, int4), byteaT, replaceAt(8, func(b byte, at int, value int64) (byte, error) {
				if value != 0 && value != 1 {
					return 0, invalidParameter("new bit must be 0 or 1")
				}
				return b&^(1<<at) | byte(value)<<at, nil
			}))),
	}
}

// placeIn checks a place among the bytes of s (units 1) or their bits (units 8) and divides it: the byte, and what of it.
func placeIn(s []byte, place int64, units int) (index, within int, err error) {
	if last := int64(len(s))*int64(units) - 1; place < 0 || place > last {
		return 0, 0, sqlerr.New("2202E", "index %d out of valid range, 0..%d", place, last)
	}
	return int(place / int64(units)), int(place % int64(units)), nil
}

func bytePlace(units int, f func(b byte, within int) int32) body {
	return func(c *call) (*vec.Vector, error) {
		in, place, out := textsOf(c.args[0]), wide(c.args[1]), make([]int32, c.n)
		for i := range out {
			if !c.ok(i) {
				continue
			}
			at, within, err := placeIn(in.at(i), int64(place(i).Lo), units)
			if err != nil {
				return nil, err
			}
			out[i] = f(in.at(i)[at], within)
		}
		return vec.FlatOf(int4, out, nil), nil
	}
}

func replaceAt(units int, f func(b byte, within int, value int64) (byte, error)) body {
	return func(c *call) (*vec.Vector, error) {
		in, place, value := textsOf(c.args[0]), wide(c.args[1]), wide(c.args[2])
		return toText(byteaT, func(_ *call, dst []byte, i int) ([]byte, error) {
			at, within, err := placeIn(in.at(i), int64(place(i).Lo), units)
			if err != nil {
				return nil, err
			}
			start := len(dst)
			dst = append(dst, in.at(i)...)
			dst[start+at], err = f(dst[start+at], within, int64(value(i).Lo))
			return dst, err
		})(c)
	}
}

// trimBytes takes bytes of a set from the ends of BYTEA.
func trimBytes(left, right bool) extension.ScalarOverload {
	return on(signature(byteaT, byteaT), byteaT, func(c *call) (*vec.Vector, error) {
		in, sets := textsOf(c.args[0]), textsOf(c.args[1])
		return toText(byteaT, func(_ *call, dst []byte, i int) ([]byte, error) {
			s, set := in.at(i), sets.at(i)
			for left && len(s) > 0 && bytes.IndexByte(set, s[0]) >= 0 {
				s = s[1:]
			}
			for right && len(s) > 0 && bytes.IndexByte(set, s[len(s)-1]) >= 0 {
				s = s[:len(s)-1]
			}
			return append(dst, s...), nil
		})(c)
	})
}

// likeBytes is LIKE of BYTEA, where _ is one byte: text and pattern are matched with a character for each byte.
func likeBytes(negate bool) extension.ScalarOverload {
	flip := bit(negate)
	return on(signature(byteaT, byteaT), boolT, func(c *call) (*vec.Vector, error) {
		in, patterns, out := textsOf(c.args[0]), textsOf(c.args[1]), make([]byte, c.n)
		known := matchers{compile: func(pattern, _ string) (likePattern, error) {
			return compileLike(string(byteRunes(nil, vec.StringBytes(pattern))), '\\', false), nil
		}}
		var s []byte
		for i := range out {
			if !c.ok(i) {
				continue
			}
			p, err := known.get(patterns.str(i), "")
			if err != nil {
				return nil, err
			}
			s = byteRunes(s[:0], in.at(i))
			match, err := p.matches(s)
			if err != nil {
				return nil, err
			}
			out[i] = bit(match) ^ flip
		}
		return vec.FlatOf(boolT, out, nil), nil
	})
}

// byteRunes appends each byte as the character of that number.
func byteRunes(dst, s []byte) []byte {
	for _, b := range s {
		dst = utf8.AppendRune(dst, rune(b))
	}
	return dst
}
