package function

import (
	"crypto/md5"
	"crypto/sha1"
	"crypto/sha256"
	"crypto/sha512"
	"encoding/base64"
	"encoding/hex"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/tidemarkdb/tidemark/extension"
	"github.com/tidemarkdb/tidemark/sqlerr"
	"github.com/tidemarkdb/tidemark/vec"
)

func encodeFunctions() []*extension.ScalarFunc {
	hexOf := func(f func(s []byte) []byte) body {
		return textToText(func(dst, s []byte) ([]byte, error) { return hex.AppendEncode(dst, f(s)), nil })
	}
	digest := func(f func(s []byte) []byte) extension.ScalarOverload {
		return on(signature(byteaT), byteaT, func(c *call) (*vec.Vector, error) {
			in := textsOf(c.args[0])
			return toText(byteaT, func(_ *call, dst []byte, i int) ([]byte, error) { return append(dst, f(in.at(i))...), nil })(c)
		})
	}
	md5Sum := func(s []byte) []byte { h := md5.Sum(s); return h[:] }
	return []*extension.ScalarFunc{
		immutable(def("md5", "MD5 of a text in hexadecimal", ex("md5('abc')", "900150983cd24fb0d6963f7d28e17f72")), on(signature(textT), textT, hexOf(md5Sum)), on(signature(byteaT), textT, hexOf(md5Sum))),
		immutable(def("sha1", "SHA-1 of bytes", ex("encode(sha1('abc'::bytea), 'hex')", "a9993e364706816aba3e25717850c26c9cd0d89d")), digest(func(s []byte) []byte { h := sha1.Sum(s); return h[:] })),
		immutable(def("sha224", "SHA-224 of bytes", ex("length(sha224('abc'::bytea))", "28")), digest(func(s []byte) []byte { h := sha256.Sum224(s); return h[:] })),
		immutable(def("sha256", "SHA-256 of bytes", ex("encode(sha256('abc'::bytea), 'hex')", "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad")), digest(func(s []byte) []byte { h := sha256.Sum256(s); return h[:] })),
		immutable(def("sha384", "SHA-384 of bytes", ex("length(sha384('abc'::bytea))", "48")), digest(func(s []byte) []byte { h := sha512.Sum384(s); return h[:] })),
		immutable(def("sha512", "SHA-512 of bytes", ex("length(sha512('abc'::bytea))", "64")), digest(func(s []byte) []byte { h := sha512.Sum512(s); return h[:] })),
		immutable(def("encode", "Bytes as text in base64, hex or escape", ex(`encode('\x1234'::bytea, 'base64')`, "EjQ=")), on(signature(byteaT, textT), textT, encode)),
		immutable(def("decode", "Bytes from text in base64, hex or escape", ex("decode('EjQ=', 'base64')", `\x1234`)), on(signature(textT, textT), byteaT, decode)),
		immutable(also(def("to_hex", "Hexadecimal digits of an integer", ex("to_hex(255)", "ff"))),
			on(signature(int4), textT, radix(func(x int64) string { return strconv.FormatUint(uint64(uint32(x)), 16) })),
			on(signature(int8), textT, radix(func(x int64) string { return strconv.FormatUint(uint64(x), 16) }))),
		immutable(def("to_bin", "Binary digits of an integer", ex("to_bin(5)", "101")),
			on(signature(int4), textT, radix(func(x int64) string { return strconv.FormatUint(uint64(uint32(x)), 2) })),
			on(signature(int8), textT, radix(func(x int64) string { return strconv.FormatUint(uint64(x), 2) }))),
		immutable(def("chr", "Character of a code point", ex("chr(65)", "A")), on(signature(int4), textT, func(c *call) (*vec.Vector, error) {
			codes, mask := fixed[int32](c.args[0])
			return toText(textT, func(_ *call, dst []byte, i int) ([]byte, error) {
				switch r := codes[i&mask]; {
				case r == 0:
					return nil, sqlerr.New(sqlerr.ProgramLimitExceeded, "null character not permitted")
				case r < 0 || !utf8.ValidRune(r):
					return nil, sqlerr.New(sqlerr.ProgramLimitExceeded, "requested character not valid for encoding: %d", r)
				default:
					return utf8.AppendRune(dst, r), nil
				}
			})(c)
		})),
		immutable(also(def("convert_from", "Text from bytes in an encoding; UTF8 and LATIN1 are known", ex(`convert_from('\x616263'::bytea, 'UTF8')`, "abc"))),
			on(signature(byteaT, textT), textT, convertFrom)),
		immutable(def("convert_to", "Bytes of a text in UTF8", ex("convert_to('abc', 'UTF8')", `\x616263`)), on(signature(textT, textT), byteaT, func(c *call) (*vec.Vector, error) {
			in, names := textsOf(c.args[0]), textsOf(c.args[1])
			return toText(byteaT, func(_ *call, dst []byte, i int) ([]byte, error) {
				if !isUTF8(names.str(i)) {
					return nil, unknownEncoding(names.str(i))
				}
				return append(dst, in.at(i)...), nil
			})(c)
		})),
	}
}

func isUTF8(name string) bool {
	return strings.EqualFold(name, "utf8") || strings.EqualFold(name, "utf-8")
}

func unknownEncoding(name string) error {
	return invalidParameter("unrecognized encoding: \"%s\"", name)
}

func convertFrom(c *call) (*vec.Vector, error) {
	in, names := textsOf(c.args[0]), textsOf(c.args[1])
	return toText(textT, func(_ *call, dst []byte, i int) ([]byte, error) {
		s, name := in.at(i), names.str(i)
		switch {
		case isUTF8(name):
			if !utf8.Valid(s) {
				return nil, sqlerr.New("22021", "invalid byte sequence for encoding \"UTF8\"")
			}
			return append(dst, s...), nil
		case strings.EqualFold(name, "latin1") || strings.EqualFold(name, "iso-8859-1"):
			for _, b := range s {
				dst = utf8.AppendRune(dst, rune(b))
			}
			return dst, nil
		}
		return nil, unknownEncoding(name)
	})(c)
}

func radix(f func(x int64) string) body {
	return func(c *call) (*vec.Vector, error) {
		at := wide(c.args[0])
		return toText(textT, func(_ *call, dst []byte, i int) ([]byte, error) {
			return append(dst, f(int64(at(i).Lo))...), nil
		})(c)
	}
}

func encode(c *call) (*vec.Vector, error) {
	in, formats := textsOf(c.args[0]), textsOf(c.args[1])
	return toText(textT, func(_ *call, dst []byte, i int) ([]byte, error) {
		s, format := in.at(i), formats.str(i)
		switch strings.ToLower(format) {
		case "hex":
			return hex.AppendEncode(dst, s), nil
		case "base64":
			text := base64.StdEncoding.EncodeToString(s)
			for len(text) > 76 { // lines as in RFC 2045
				dst, text = append(append(dst, text[:76]...), '\n'), text[76:]
			}
			return append(dst, text...), nil
		case "escape":
			for _, b := range s {
				switch {
				case b == 0 || b >= 0x80:
					dst = append(dst, '\\', '0'+b>>6, '0'+b>>3&7, '0'+b&7)
				case b == '\\':
					dst = append(dst, '\\', '\\')
				default:
					dst = append(dst, b)
				}
			}
			return dst, nil
		}
		return nil, invalidParameter("unrecognized encoding: \"%s\"", format)
	})(c)
}

func decode(c *call) (*vec.Vector, error) {
	in, formats := textsOf(c.args[0]), textsOf(c.args[1])
	return toText(byteaT, func(_ *call, dst []byte, i int) ([]byte, error) {
		s, format := in.str(i), formats.str(i)
		var raw []byte
		var err error
		switch strings.ToLower(format) {
		case "hex":
			raw, err = hex.DecodeString(strings.Join(strings.Fields(s), ""))
		case "base64":
			raw, err = base64.StdEncoding.DecodeString(strings.Join(strings.Fields(s), ""))
		case "escape":
			v, perr := vec.Parse(byteaT, s, nil)
			raw, err = []byte(v.S), perr
		default:
			return nil, invalidParameter("unrecognized encoding: \"%s\"", format)
		}
		if err != nil {
			return nil, invalidParameter("invalid %s data: %.40q", strings.ToLower(format), s)
		}
		return append(dst, raw...), nil
	})(c)
}
