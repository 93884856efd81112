package sql

import (
	"strings"

	"github.com/tidemarkdb/tidemark/sqlerr"
)

type tokenKind uint8

const (
	tokenEnd    tokenKind = iota
	tokenWord             // unquoted identifier or key word; word is its lower case
	tokenQuoted           // "identifier"
	tokenNumber
	tokenString
	tokenBits   // B'101', X'1F'
	tokenParam  // $1 or ?
	tokenSymbol // operator or punctuation
	tokenError  // what the lexer could not read; the lexer's err says why
)

// token is one token: text[start:end], with word its decoded content. For most tokens word shares the text's memory.
type token struct {
	word       string
	start, end int32
	kind       tokenKind
}

// lexer cuts text into tokens. A fault ends the tokens with a tokenError, so that an earlier syntax error is seen first.
type lexer struct {
	text string
	pos  int
	err  *sqlerr.Error
}

// maxTextBytes keeps offsets in 32 bits.
const maxTextBytes = 1 << 30

// tokens cuts all of the text; the last token is a tokenEnd or a tokenError.
func (l *lexer) tokens() []token {
	out := make([]token, 0, len(l.text)/5+8)
	if len(l.text) > maxTextBytes {
		l.fail(0, sqlerr.New(sqlerr.StatementTooComplex, "the SQL text has more than %d bytes", maxTextBytes).
			Hintf("load bulk data with COPY instead"))
		return append(out, token{kind: tokenError})
	}
	for {
		t := l.next()
		out = append(out, t)
		if t.kind == tokenEnd || t.kind == tokenError {
			return out
		}
	}
}

func (l *lexer) next() token {
	if t, bad := l.skipSpace(); bad {
		return t
	}
	start := l.pos
	if start >= len(l.text) {
		return token{kind: tokenEnd, start: int32(start), end: int32(start)}
	}
	c := l.text[start]
	switch {
	case isLetter(c):
		return l.wordOrPrefixed(start)
	case isDigit(c), c == '.' && isDigit(l.at(start+1)):
		return l.number(start)
	case c == '\'':
		return l.quoted(start, start+1, tokenString, false)
	case c == '"':
		return l.quoted(start, start+1, tokenQuoted, false)
	case c == '$':
		return l.dollar(start)
	case c == '?':
		l.pos++
		return l.token(tokenParam, start, "")
	case strings.IndexByte("()[]{},;", c) >= 0:
		l.pos++
		return l.token(tokenSymbol, start, l.text[start:l.pos])
	case c == '.', c == ':':
		return l.punctuation(start)
	case isOperator(c):
		return l.operator(start)
	}
	return l.fail(start, sqlerr.New(sqlerr.SyntaxError, "syntax error at or near %q", firstRune(l.text[start:])).
		Hintf("this character has no meaning in SQL; put text in single quotes and unusual names in double quotes"))
}

func (l *lexer) token(kind tokenKind, start int, word string) token {
	return token{word: word, start: int32(start), end: int32(l.pos), kind: kind}
}

func (l *lexer) fail(start int, err *sqlerr.Error) token {
	l.err = err.At(start + 1)
	l.pos = len(l.text)
	return token{kind: tokenError, start: int32(start), end: int32(start)}
}

// at is the byte at offset i, 0 past the end.
func (l *lexer) at(i int) byte {
	if i < len(l.text) {
		return l.text[i]
	}
	return 0
}

// skipSpace skips white space and comments; block comments nest.
func (l *lexer) skipSpace() (bad token, failed bool) {
	for l.pos < len(l.text) {
		c := l.text[l.pos]
		switch {
		case c == ' ', c == '\n', c == '\t', c == '\r', c == '\f', c == '\v':
			l.pos++
		case c == '-' && l.at(l.pos+1) == '-':
			end := strings.IndexByte(l.text[l.pos:], '\n')
			if end < 0 {
				end = len(l.text) - l.pos
			}
			l.pos += end
		case c == '/' && l.at(l.pos+1) == '*':
			if !l.skipBlockComment() {
				return l.fail(l.pos, sqlerr.New(sqlerr.SyntaxError, "unterminated /* comment").
					Hintf("close the comment with */")), true
			}
		default:
			return token{}, false
		}
	}
	return token{}, false
}

func (l *lexer) skipBlockComment() bool {
	depth := 0
	for i := l.pos; i+1 < len(l.text); {
		switch {
		case l.text[i] == '/' && l.text[i+1] == '*':
			depth++
			i += 2
		case l.text[i] == '*' && l.text[i+1] == '/':
			depth--
			i += 2
			if depth == 0 {
				l.pos = i
				return true
			}
		default:
			i++
		}
	}
	return false
}

// wordOrPrefixed reads a word, or a literal whose prefix looks like one: E”, B”, X”, N”, U&”.
func (l *lexer) wordOrPrefixed(start int) token {
	if l.at(start+1) == '\'' {
		switch l.text[start] | 0x20 {
		case 'e':
			return l.quoted(start, start+2, tokenString, true)
		case 'n':
			return l.quoted(start, start+2, tokenString, false)
		case 'b', 'x':
			return l.bits(start)
		}
	}
	if l.text[start]|0x20 == 'u' && l.at(start+1) == '&' && (l.at(start+2) == '\'' || l.at(start+2) == '"') {
		return l.unicode(start)
	}
	i := start
	for i < len(l.text) && (isLetter(l.text[i]) || isDigit(l.text[i]) || l.text[i] == '$') {
		i++
	}
	l.pos = i
	return l.token(tokenWord, start, fold(l.text[start:i]))
}

// fold is the lower case of ASCII letters, as PostgreSQL folds names. Key words cost no allocation.
func fold(word string) string {
	upper := false
	for i := range len(word) {
		if c := word[i]; 'A' <= c && c <= 'Z' {
			upper = true
			break
		}
	}
	if !upper {
		return word
	}
	var buffer [32]byte
	if len(word) > len(buffer) {
		return lowerASCII(make([]byte, 0, len(word)), word)
	}
	lower := buffer[:len(word)]
	for i := range lower {
		c := word[i]
		if 'A' <= c && c <= 'Z' {
			c |= 0x20
		}
		lower[i] = c
	}
	if known, ok := knownWords[string(lower)]; ok {
		return known
	}
	return string(lower)
}

func lowerASCII(into []byte, word string) string {
	for i := range len(word) {
		c := word[i]
		if 'A' <= c && c <= 'Z' {
			c |= 0x20
		}
		into = append(into, c)
	}
	return string(into)
}

// number reads 1, 1.5, .5, 1., 1e-3, 0x1F, 0o17, 0b11, with underscores between digits.
func (l *lexer) number(start int) token {
	i := start
	if l.text[i] == '0' && strings.IndexByte("xob", l.at(i+1)|0x20) >= 0 && isHex(l.at(i+2)) {
		i += 2
		for isHex(l.at(i)) || l.at(i) == '_' {
			i++
		}
	} else {
		i = l.digits(i)
		// 1..2 is not a number followed by .2, so that ranges fail at the dots.
		if l.at(i) == '.' && l.at(i+1) != '.' {
			i = l.digits(i + 1)
		}
		if l.at(i)|0x20 == 'e' {
			j := i + 1
			if l.at(j) == '+' || l.at(j) == '-' {
				j++
			}
			if isDigit(l.at(j)) {
				i = l.digits(j)
			}
		}
	}
	if isLetter(l.at(i)) {
		return l.fail(start, sqlerr.New(sqlerr.SyntaxError, "trailing junk after numeric literal at or near %q", l.text[start:i+1]).
			Hintf("put a space between the number and the word, or put a name that begins with a digit in double quotes"))
	}
	l.pos = i
	return l.token(tokenNumber, start, strings.ReplaceAll(l.text[start:i], "_", ""))
}

func (l *lexer) digits(i int) int {
	for isDigit(l.at(i)) || l.at(i) == '_' && isDigit(l.at(i+1)) {
		i++
	}
	return i
}

// dollar reads $1 or a dollar-quoted string.
func (l *lexer) dollar(start int) token {
	i := start + 1
	if isDigit(l.at(i)) {
		for isDigit(l.at(i)) {
			i++
		}
		l.pos = i
		return l.token(tokenParam, start, l.text[start+1:i])
	}
	for isLetter(l.at(i)) || i > start+1 && isDigit(l.at(i)) {
		i++
	}
	if l.at(i) != '$' {
		return l.fail(start, sqlerr.New(sqlerr.SyntaxError, `syntax error at or near "$"`).
			Hintf("a parameter is $1, $2, ...; a dollar-quoted string begins with $$ or $tag$"))
	}
	tag := l.text[start : i+1]
	body := l.text[i+1:]
	end := strings.Index(body, tag)
	if end < 0 {
		return l.fail(start, sqlerr.New(sqlerr.SyntaxError, "unterminated dollar-quoted string").Hintf("close it with %s", tag))
	}
	l.pos = i + 1 + end + len(tag)
	return l.textToken(tokenString, start, body[:end])
}

func (l *lexer) punctuation(start int) token {
	l.pos = start + 1
	if l.text[start] == ':' && (l.at(l.pos) == ':' || l.at(l.pos) == '=') {
		l.pos++
	}
	return l.token(tokenSymbol, start, l.text[start:l.pos])
}

// operator reads the longest operator by PostgreSQL's rule: it stops before a comment, and one of several characters
// ends in + or - only if it holds one of ~!@#%^&|`. The comparison != never takes a sign with it.
func (l *lexer) operator(start int) token {
	i := start
	special := false
	for i < len(l.text) && isOperator(l.text[i]) {
		if next := l.at(i + 1); l.text[i] == '-' && next == '-' || l.text[i] == '/' && next == '*' {
			break
		}
		special = special || strings.IndexByte("~!@#%^&|`", l.text[i]) >= 0
		i++
	}
	special = special && !strings.HasPrefix(l.text[start:i], "!=")
	for i > start+1 && !special && (l.text[i-1] == '-' || l.text[i-1] == '+') {
		i--
	}
	l.pos = i
	word := l.text[start:i]
	switch word {
	case "!=":
		word = "<>"
	case "==":
		word = "="
	}
	return l.token(tokenSymbol, start, word)
}

func isLetter(c byte) bool {
	return 'a' <= c|0x20 && c|0x20 <= 'z' || c == '_' || c >= 0x80
}

func isDigit(c byte) bool { return '0' <= c && c <= '9' }

func isHex(c byte) bool { return isDigit(c) || 'a' <= c|0x20 && c|0x20 <= 'f' }

func isOperator(c byte) bool { return strings.IndexByte("+-*/<>=~!@#%^&|`", c) >= 0 }

func firstRune(s string) string {
	for i := range s {
		if i > 0 {
			return s[:i]
		}
	}
	return s
}
