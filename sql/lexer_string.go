package sql

import (
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/tidemarkdb/tidemark/sqlerr"
)

// quoted reads a literal or identifier whose opening quote is at body-1. Quotes inside are doubled; with escapes a
// backslash escapes as well. Strings parted only by white space with a line break are one string, as the standard has it.
func (l *lexer) quoted(start, body int, kind tokenKind, escapes bool) token {
	quote := l.text[body-1]
	word, end, ok := l.quotedBody(body, quote, escapes)
	if !ok {
		return l.unterminated(start, kind)
	}
	for kind == tokenString {
		next, continued := l.continuation(end)
		if !continued {
			break
		}
		more, moreEnd, ok := l.quotedBody(next, quote, escapes)
		if !ok {
			return l.unterminated(next-1, kind)
		}
		word, end = word+more, moreEnd
	}
	if escapes {
		decoded, at, err := unescape(word)
		if err != nil {
			return l.fail(body+at, err)
		}
		word = decoded
	}
	l.pos = end
	if kind == tokenQuoted && word == "" {
		return l.fail(start, sqlerr.New(sqlerr.SyntaxError, `zero-length delimited identifier at or near """"`).
			Hintf("text goes in single quotes; double quotes hold names"))
	}
	return l.textToken(kind, start, word)
}

// textToken is the token of a string or quoted name, which must not hold the zero byte.
func (l *lexer) textToken(kind tokenKind, start int, word string) token {
	if strings.IndexByte(word, 0) >= 0 {
		return l.fail(start, sqlerr.New(sqlerr.InvalidText, "text must not hold the zero byte").Hintf("remove it, or use BYTEA"))
	}
	return l.token(kind, start, word)
}

func (l *lexer) unterminated(start int, kind tokenKind) token {
	if kind == tokenQuoted {
		return l.fail(start, sqlerr.New(sqlerr.SyntaxError, "unterminated quoted identifier").Hintf(`close it with "`))
	}
	return l.fail(start, sqlerr.New(sqlerr.SyntaxError, "unterminated quoted string").
		Hintf("close it with '; a quote inside text is written twice"))
}

// quotedBody is the text from body to the closing quote with doubled quotes made single, and the offset behind it.
func (l *lexer) quotedBody(body int, quote byte, escapes bool) (word string, end int, ok bool) {
	doubled := false
	for i := body; i < len(l.text); i++ {
		switch c := l.text[i]; {
		case c == '\\' && escapes:
			i++
		case c == quote && l.at(i+1) == quote:
			doubled = true
			i++
		case c == quote:
			word = l.text[body:i]
			if doubled {
				word = strings.ReplaceAll(word, string([]byte{quote, quote}), string([]byte{quote}))
			}
			return word, i + 1, true
		}
	}
	return "", 0, false
}

// continuation finds the next part of a literal that goes on in another line, behind white space and -- comments.
func (l *lexer) continuation(end int) (body int, ok bool) {
	lineBreak := false
	for i := end; i < len(l.text); i++ {
		switch l.text[i] {
		case '\n', '\r':
			lineBreak = true
		case ' ', '\t', '\f', '\v':
		case '-':
			if l.at(i+1) != '-' {
				return 0, false
			}
			length := strings.IndexByte(l.text[i:], '\n')
			if length < 0 {
				return 0, false
			}
			i, lineBreak = i+length, true
		case '\'':
			return i + 1, lineBreak
		default:
			return 0, false
		}
	}
	return 0, false
}

func (l *lexer) bits(start int) token {
	t := l.quoted(start, start+2, tokenBits, false)
	if t.kind == tokenError {
		return t
	}
	hex := l.text[start]|0x20 == 'x'
	for i := range len(t.word) {
		if c := t.word[i]; hex && !isHex(c) || !hex && c != '0' && c != '1' {
			return l.fail(start, sqlerr.New(sqlerr.InvalidText, "%q is not a valid digit of a bit string", t.word[i:i+1]).
				Hintf("B'' holds 0 and 1, X'' holds hexadecimal digits"))
		}
	}
	return t
}

// unicode reads U&'...' and U&"..." with the escape character \ or the one that UESCAPE names.
func (l *lexer) unicode(start int) token {
	kind := tokenString
	if l.text[start+2] == '"' {
		kind = tokenQuoted
	}
	t := l.quoted(start, start+3, kind, false)
	if t.kind == tokenError {
		return t
	}
	escape, at := l.uescape()
	if escape == 0 {
		return l.fail(at, sqlerr.New(sqlerr.SyntaxError, "invalid Unicode escape character").
			Hintf("write one character that is no hexadecimal digit, plus sign, quote or space"))
	}
	var b strings.Builder
	for i := 0; i < len(t.word); {
		if t.word[i] != escape {
			b.WriteByte(t.word[i])
			i++
			continue
		}
		r, width, ok := unicodeEscape(t.word[i:])
		if !ok {
			return l.fail(start, sqlerr.New(sqlerr.SyntaxError, "invalid Unicode escape").
				Hintf("write %[1]cXXXX or %[1]c+XXXXXX with hexadecimal digits, %[1]c%[1]c for %[1]c", escape))
		}
		b.WriteRune(r)
		i += width
	}
	t.word = b.String()
	return t
}

// uescape reads UESCAPE 'x' behind a literal: the character x, 0 for one that cannot be, or \ where UESCAPE is not
// written; at is where it stands.
func (l *lexer) uescape() (escape byte, at int) {
	end := l.pos
	if _, bad := l.skipSpace(); bad || len(l.text)-l.pos < len("uescape") || !strings.EqualFold(l.text[l.pos:l.pos+len("uescape")], "uescape") {
		l.pos = end
		return '\\', end
	}
	at = l.pos
	l.pos += len("uescape")
	t := l.next()
	if t.kind != tokenString || len(t.word) != 1 || isHex(t.word[0]) || strings.IndexByte("+'\" \t\r\n", t.word[0]) >= 0 {
		return 0, at
	}
	return t.word[0], at
}

// unicodeEscape decodes the escape that s begins with; its first byte is the escape character.
func unicodeEscape(s string) (r rune, width int, ok bool) {
	if len(s) > 1 && s[1] == s[0] {
		return rune(s[0]), 2, true
	}
	from, to := 1, 5
	if len(s) > 1 && s[1] == '+' {
		from, to = 2, 8
	}
	if len(s) < to {
		return 0, 0, false
	}
	n, err := strconv.ParseUint(s[from:to], 16, 32)
	if err != nil || n == 0 || !utf8.ValidRune(rune(n)) {
		return 0, 0, false
	}
	return rune(n), to, true
}

// unescape decodes the backslash escapes of E'...'; at is the offset of a fault.
func unescape(s string) (decoded string, at int, err *sqlerr.Error) {
	if strings.IndexByte(s, '\\') < 0 {
		return s, 0, nil
	}
	out := make([]byte, 0, len(s))
	for i := 0; i < len(s); {
		if s[i] != '\\' || i+1 == len(s) {
			out = append(out, s[i])
			i++
			continue
		}
		var width int
		if out, width = appendEscape(out, s[i+1:]); width == 0 {
			return "", i, sqlerr.New(sqlerr.InvalidEscape, "invalid escape in an E'' string").
				Hintf(`write \uXXXX or \UXXXXXXXX with hexadecimal digits of a character`)
		}
		i += 1 + width
	}
	if !utf8.Valid(out) {
		return "", 0, sqlerr.New(sqlerr.InvalidText, "the escapes of an E'' string do not make valid UTF-8").
			Hintf("write characters as such or as \\uXXXX")
	}
	return string(out), 0, nil
}

// appendEscape appends what the escape at the beginning of s, its backslash left off, stands for; width 0 is a fault.
func appendEscape(out []byte, s string) (result []byte, width int) {
	switch c := s[0]; c {
	case 'b':
		return append(out, '\b'), 1
	case 'f':
		return append(out, '\f'), 1
	case 'n':
		return append(out, '\n'), 1
	case 'r':
		return append(out, '\r'), 1
	case 't':
		return append(out, '\t'), 1
	case 'x':
		if n, digits := leadingDigits(s[1:], 16, 2); digits > 0 {
			return append(out, byte(n)), 1 + digits
		}
		return append(out, c), 1
	case 'u', 'U':
		want := 4
		if c == 'U' {
			want = 8
		}
		n, digits := leadingDigits(s[1:], 16, want)
		if digits != want || !utf8.ValidRune(rune(n)) || n > utf8.MaxRune {
			return out, 0
		}
		return utf8.AppendRune(out, rune(n)), 1 + want
	case '0', '1', '2', '3', '4', '5', '6', '7':
		n, digits := leadingDigits(s, 8, 3)
		return append(out, byte(n)), digits
	default:
		return append(out, c), 1
	}
}

func leadingDigits(s string, radix, limit int) (value uint32, digits int) {
	for digits < limit && digits < len(s) {
		n, err := strconv.ParseUint(s[digits:digits+1], radix, 8)
		if err != nil {
			break
		}
		value = value*uint32(radix) + uint32(n)
		digits++
	}
	return value, digits
}
