package sql

import (
	"slices"
	"strings"

	"github.com/tidemarkdb/tidemark/sqlerr"
)

func (p *parser) fail(err *sqlerr.Error) { panic(bailout{err}) }

// failHere fails at the token at hand.
func (p *parser) failHere() { p.fail(p.errorHere()) }

// failAt fails at a position with a message of its own.
func (p *parser) failAt(pos int, code, message, hint string) {
	p.fail(sqlerr.New(code, "%s", message).Hintf("%s", hint).At(pos))
}

// unsupported fails by name on syntax that is understood but not offered.
func (p *parser) unsupported(pos int, what, hint string) {
	p.failAt(pos, sqlerr.FeatureNotSupported, what+" is not supported", hint)
}

// failName fails where a name should stand.
func (p *parser) failName() {
	err := p.errorHere()
	if t := p.tok(); t.kind == tokenWord && isReserved(t.word) && err.Hint == "" {
		err = err.Hintf(`%s is a reserved word; to use it as a name, write "%s"`, strings.ToUpper(t.word), t.word)
	}
	p.fail(err)
}

// clauseWords are the words that may follow an alias in a query or DML statement: an alias close to one of them is
// more likely a misspelling, when the token behind it makes no sense.
var clauseWords = []string{
	"from", "where", "group", "having", "window", "qualify", "order", "limit", "offset", "fetch", "union", "intersect",
	"except", "join", "left", "right", "full", "inner", "cross", "natural", "on", "using", "returning", "set", "values",
}

// errorHere is the syntax error at the token at hand, with a hint where a misspelling is likely.
func (p *parser) errorHere() *sqlerr.Error {
	t := p.tok()
	if t.kind == tokenError {
		return p.lexer.err
	}
	if p.aliasAt >= 0 && p.aliasAt == p.i-1 {
		alias := &p.tokens[p.aliasAt]
		if word := misspelled(alias, clauseWords); word != "" {
			return p.near(alias).Hintf("did you mean %s?", strings.ToUpper(word))
		}
	}
	err := p.near(t)
	if p.triedAt == p.i {
		if word := misspelled(t, p.tried[:p.nTried]); word != "" {
			return err.Hintf("did you mean %s?", strings.ToUpper(word))
		}
	}
	if t.kind == tokenQuoted {
		return err.Hintf("double quotes hold names; text goes in single quotes")
	}
	return err
}

func (p *parser) near(t *token) *sqlerr.Error {
	if t.kind == tokenEnd {
		return sqlerr.New(sqlerr.SyntaxError, "syntax error at end of input").At(int(t.start) + 1)
	}
	return sqlerr.New(sqlerr.SyntaxError, `syntax error at or near "%s"`, p.lexer.text[t.start:t.end]).At(int(t.start) + 1)
}

// misspelled is the word that t was probably meant to be, "" for none.
func misspelled(t *token, words []string) string {
	if t.kind != tokenWord || len(t.word) < 3 || slices.Contains(words, t.word) || wordClasses[t.word] == reserved {
		return ""
	}
	near := make([]string, 0, len(words))
	for _, w := range words {
		// One edit in a short word already makes another word: in and is, of and on.
		if len(w) >= 3 {
			near = append(near, w)
		}
		if len(w) == len(t.word) && sameLetters(w, t.word) {
			return w
		}
	}
	return sqlerr.Nearest(t.word, near)
}

// sameLetters reports whether two words of equal length differ only in the order of their letters.
func sameLetters(a, b string) bool {
	for i := range len(a) {
		if strings.Count(a, a[i:i+1]) != strings.Count(b, a[i:i+1]) {
			return false
		}
	}
	return true
}
