package sql

import (
	"strconv"
	"unicode/utf8"

	"github.com/tidemarkdb/tidemark/sqlerr"
)

const (
	// maxNesting bounds the parser's own recursion.
	maxNesting = 1000
	// maxPath bounds the longest path in a tree: chains such as a || b || c are as deep as they are long.
	maxPath = 5000
)

// Parse reads statements separated by semicolons. Empty statements are dropped, so the result may be empty. The error
// is an [*sqlerr.Error] with SQLSTATE, position and mostly a hint.
func Parse(text string) ([]Statement, error) {
	var out []Statement
	err := run(text, func(p *parser) {
		for {
			for p.acceptSymbol(";") {
			}
			if p.tok().kind == tokenEnd {
				return
			}
			out = append(out, p.topStatement())
			if p.tok().kind != tokenEnd && !p.atSymbol(";") {
				p.failHere()
			}
		}
	})
	if err != nil {
		return nil, err
	}
	return out, nil
}

// ParseOne reads a text of exactly one statement; a semicolon may follow it.
func ParseOne(text string) (Statement, error) {
	statements, err := Parse(text)
	switch {
	case err != nil:
		return nil, err
	case len(statements) == 0:
		return nil, sqlerr.New(sqlerr.SyntaxError, "there is no statement in the text").Hintf("write one, such as SELECT 1")
	case len(statements) > 1:
		return nil, sqlerr.New(sqlerr.SyntaxError, "cannot insert multiple commands into a prepared statement").
			Hintf("send one statement at a time").At(statements[1].Position())
	}
	return statements[0], nil
}

// ParseExpr reads a text of one scalar expression.
func ParseExpr(text string) (Expr, error) {
	var out Expr
	err := run(text, func(p *parser) {
		out = p.expr()
		if p.tok().kind != tokenEnd {
			p.failHere()
		}
		p.checkPath(out)
	})
	if err != nil {
		return nil, err
	}
	return out, nil
}

// ParamCount is the number of parameters the node needs: the highest index of a [Param] in it.
func ParamCount(node Node) int {
	count := 0
	Walk(node, func(n Node) bool {
		if p, ok := n.(*Param); ok {
			count = max(count, p.Index)
		}
		return true
	})
	return count
}

// bailout carries an error out of the recursive descent; run turns it back into a result.
type bailout struct{ err *sqlerr.Error }

func run(text string, read func(*parser)) (err error) {
	if !utf8.ValidString(text) {
		return sqlerr.New(sqlerr.InvalidText, "the SQL text is not valid UTF-8").Hintf("send the text as UTF-8")
	}
	p := &parser{lexer: lexer{text: text}, aliasAt: -1}
	p.tokens = p.lexer.tokens()
	defer func() {
		if r := recover(); r != nil {
			b, ok := r.(bailout)
			if !ok {
				panic(r)
			}
			err = b.err
		}
	}()
	read(p)
	return nil
}

// parser reads tokens by recursive descent. Every method consumes what it returns, or leaves by fail.
type parser struct {
	lexer  lexer
	tokens []token
	i      int // the token at hand

	depth int // nesting of expr, query and the like, at most maxNesting
	links int // nodes built upon a left operand in this statement: only they make paths longer than depth

	questions int  // ? seen in this statement
	numbered  bool // $n seen in this statement

	// For hints: words that would have been accepted at token triedAt, and the last token taken as an alias without AS.
	tried   [64]string
	nTried  int
	triedAt int
	aliasAt int
}

func (p *parser) topStatement() Statement {
	p.links, p.questions, p.numbered = 0, 0, false
	s := p.statement()
	if p.tok().kind != tokenEnd && !p.atSymbol(";") {
		p.failHere()
	}
	p.checkPath(s)
	return s
}

// checkPath refuses trees deeper than maxPath. Without that many links there is no such path.
func (p *parser) checkPath(n Node) {
	if p.links > maxPath-maxNesting && deeperThan(n, maxPath) {
		p.fail(tooComplex(n.Position()))
	}
}

func tooComplex(pos int) *sqlerr.Error {
	return sqlerr.New(sqlerr.StatementTooComplex, "the statement is nested too deeply").
		Hintf("break it up, or replace long chains of operators by IN, VALUES or a table").At(pos)
}

// enter counts one level of nesting; leave ends it.
func (p *parser) enter() {
	if p.depth++; p.depth > maxNesting {
		p.fail(tooComplex(p.pos()))
	}
}

func (p *parser) leave() { p.depth-- }

func (p *parser) tok() *token { return &p.tokens[p.i] }

// peek is the token n after the one at hand; past the end it is the last.
func (p *parser) peek(n int) *token { return &p.tokens[min(p.i+n, len(p.tokens)-1)] }

// pos is the 1-based position of the token at hand.
func (p *parser) pos() int { return int(p.tok().start) + 1 }

func (p *parser) advance() {
	if p.i < len(p.tokens)-1 {
		p.i++
	}
}

// at reports whether the token at hand is the unquoted word.
func (p *parser) at(word string) bool {
	t := p.tok()
	if t.kind == tokenWord && t.word == word {
		return true
	}
	if p.triedAt != p.i {
		p.triedAt, p.nTried = p.i, 0
	}
	if p.nTried < len(p.tried) {
		p.tried[p.nTried] = word
		p.nTried++
	}
	return false
}

func (p *parser) peekIs(n int, word string) bool {
	t := p.peek(n)
	return t.kind == tokenWord && t.word == word
}

func (p *parser) peekSymbol(n int, symbol string) bool {
	t := p.peek(n)
	return t.kind == tokenSymbol && t.word == symbol
}

func (p *parser) atSymbol(symbol string) bool {
	t := p.tok()
	return t.kind == tokenSymbol && t.word == symbol
}

func (p *parser) accept(word string) bool {
	if !p.at(word) {
		return false
	}
	p.advance()
	return true
}

// acceptAll takes the words if all of them follow.
func (p *parser) acceptAll(words ...string) bool {
	if !p.at(words[0]) {
		return false
	}
	for n, w := range words[1:] {
		if !p.peekIs(n+1, w) {
			return false
		}
	}
	p.i += len(words)
	return true
}

func (p *parser) acceptSymbol(symbol string) bool {
	if !p.atSymbol(symbol) {
		return false
	}
	p.advance()
	return true
}

func (p *parser) expect(words ...string) {
	for _, w := range words {
		if !p.accept(w) {
			p.failHere()
		}
	}
}

func (p *parser) expectSymbol(symbol string) {
	if !p.acceptSymbol(symbol) {
		p.failHere()
	}
}

// expectOneOf takes one of the words and returns it.
func (p *parser) expectOneOf(words ...string) string {
	for _, w := range words {
		if p.accept(w) {
			return w
		}
	}
	p.failHere()
	return ""
}

// open takes an opening bracket; close the closing one, or says which bracket is open.
func (p *parser) open(symbol string) (at int) {
	at = p.pos()
	p.expectSymbol(symbol)
	return at
}

func (p *parser) close(symbol string, openedAt int) {
	if p.acceptSymbol(symbol) {
		return
	}
	err := p.errorHere()
	if err.Hint == "" {
		err = err.Hintf("expected %s to close the bracket at position %d", symbol, openedAt)
	}
	p.fail(err)
}

// list reads items separated by commas; a comma may follow the last one before a token that end accepts.
func (p *parser) list(item func(), end func() bool) {
	item()
	for p.acceptSymbol(",") {
		if end != nil && end() {
			return
		}
		item()
	}
}

func (p *parser) atClose() bool { return p.atSymbol(")") || p.atSymbol("]") || p.atSymbol("}") }

// name reads a qualified name.
func (p *parser) name() Name {
	n := Name{p.ident()}
	for p.acceptSymbol(".") {
		n = append(n, p.label())
	}
	return n
}

// ident reads a name: a quoted identifier or a word that is not reserved.
func (p *parser) ident() Ident {
	t := p.tok()
	if t.kind != tokenQuoted && (t.kind != tokenWord || isReserved(t.word)) {
		p.failName()
	}
	return p.label()
}

func isReserved(word string) bool {
	class := wordClasses[word]
	return class == reserved || class == funcWord
}

// label reads any word or quoted identifier, as after AS or a dot.
func (p *parser) label() Ident {
	t := p.tok()
	if t.kind != tokenQuoted && t.kind != tokenWord {
		p.failHere()
	}
	p.advance()
	return Ident{Name: t.word, Quoted: t.kind == tokenQuoted, Pos: int(t.start) + 1}
}

// idents reads (a, b, ...).
func (p *parser) idents() []Ident {
	var out []Ident
	at := p.open("(")
	p.list(func() { out = append(out, p.ident()) }, p.atClose)
	p.close(")", at)
	return out
}

func (p *parser) names() []Name {
	var out []Name
	p.list(func() { out = append(out, p.name()) }, nil)
	return out
}

// integer reads an unsigned integer that fits an int32.
func (p *parser) integer() int {
	t := p.tok()
	n, err := strconv.ParseInt(t.word, 10, 32)
	if t.kind != tokenNumber || err != nil {
		p.failHere()
	}
	p.advance()
	return int(n)
}

// stringLiteral reads a string.
func (p *parser) stringLiteral() string {
	t := p.tok()
	if t.kind != tokenString {
		err := p.errorHere()
		if t.kind == tokenQuoted {
			err = err.Hintf("text goes in single quotes; double quotes hold names")
		}
		p.fail(err)
	}
	p.advance()
	return t.word
}
