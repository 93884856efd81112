package sql

import "github.com/tidemarkdb/tidemark/sqlerr"

// precedence orders operators by how tightly they bind: PostgreSQL's table, section 4.1.6 of its documentation.
type precedence int

const (
	precLowest precedence = iota
	precOr
	precAnd
	precNot
	precIs         // IS, ISNULL, NOTNULL
	precComparison // = <> < > <= >=, not associative
	precRange      // BETWEEN IN LIKE ILIKE SIMILAR, not associative
	precOperator   // every other symbol, also as a prefix
	precAdd        // + -
	precMultiply   // * / % //
	precPower      // ^ **, from the left
	precAt         // AT TIME ZONE
	precCollate
	precSign    // prefix + -
	precPostfix // :: [] .field
	precPrimary
)

// symbolPrecedence is the precedence of an infix symbol, precLowest for one that is none.
func symbolPrecedence(symbol string) precedence {
	switch symbol {
	case "=", "<>", "<", ">", "<=", ">=":
		return precComparison
	case "+", "-":
		return precAdd
	case "*", "/", "%", "//":
		return precMultiply
	case "^", "**":
		return precPower
	case "=>", ":=", ":", "::", ".", ",", ";", "(", ")", "[", "]", "{", "}":
		return precLowest
	}
	return precOperator
}

func (p *parser) expr() Expr { return p.exprAt(precLowest) }

// exprs reads expressions up to a closing bracket; a comma may follow the last.
func (p *parser) exprs() []Expr {
	var out []Expr
	p.list(func() { out = append(out, p.expr()) }, p.atClose)
	return out
}

// exprAt reads an expression of operators that bind at least as tightly as min.
func (p *parser) exprAt(min precedence) Expr {
	p.enter()
	defer p.leave()
	left := p.prefix()
	built := precPrimary // of the operator left was made by
	for {
		prec := p.infixPrecedence()
		if prec == precLowest || prec < min {
			return left
		}
		if prec == built && (prec == precComparison || prec == precRange) {
			err := p.errorHere()
			p.fail(err.Hintf("comparisons do not chain: combine two of them with AND, or use parentheses"))
		}
		left = p.infix(left, prec)
		built = prec
		p.links++
	}
}

// infixPrecedence is the precedence of the infix or postfix operator at hand, precLowest for none.
func (p *parser) infixPrecedence() precedence {
	t := p.tok()
	if t.kind == tokenSymbol {
		if t.word == "%" && p.peekSymbol(1, ")") {
			return precLowest
		}
		return symbolPrecedence(t.word)
	}
	if t.kind == tokenParam && t.word == "" { // behind an operand, ? is JSON's operator
		return precOperator
	}
	if t.kind != tokenWord {
		return precLowest
	}
	switch t.word {
	case "or":
		return precOr
	case "and":
		return precAnd
	case "is", "isnull", "notnull":
		return precIs
	case "between", "in", "like", "ilike", "overlaps":
		return precRange
	case "similar":
		if p.peekIs(1, "to") { // substring(x SIMILAR pattern ESCAPE e) has it bare
			return precRange
		}
	case "not":
		switch next := p.peek(1); next.word {
		case "between", "in", "like", "ilike", "similar", "glob":
			if next.kind == tokenWord {
				return precRange
			}
		}
	case "glob":
		if k := p.peek(1).kind; k == tokenString || k == tokenParam {
			return precRange
		}
	case "at":
		if p.peekIs(1, "time") || p.peekIs(1, "local") {
			return precAt
		}
	case "collate":
		return precCollate
	case "operator":
		if p.peekSymbol(1, "(") {
			return precOperator
		}
	}
	return precLowest
}

// infix reads the operator at hand and its right side.
func (p *parser) infix(left Expr, prec precedence) Expr {
	pos := p.pos()
	switch prec {
	case precOr, precAnd:
		return p.logic(left, prec, pos)
	case precIs:
		return p.is(left, pos)
	case precRange:
		return p.rangeTest(left, pos)
	case precAt:
		return p.atZone(left, pos)
	case precCollate:
		p.advance()
		return &Collate{Operand: left, Collation: p.name(), Pos: pos}
	}
	op := p.operatorSymbol()
	if p.atQuantifier() {
		return p.quantified(left, op, pos)
	}
	return &Binary{Op: op, Left: left, Right: p.exprAt(prec + 1), Pos: pos}
}

// operatorSymbol reads a symbol or OPERATOR(pg_catalog.symbol).
func (p *parser) operatorSymbol() string {
	if t := p.tok(); t.kind == tokenParam {
		p.advance()
		if next := p.tok(); next.start == t.end && (p.atSymbol("|") || p.atSymbol("&")) {
			p.advance()
			return "?" + next.word
		}
		return "?"
	}
	if !p.at("operator") {
		op := p.tok().word
		p.advance()
		return op
	}
	p.advance()
	at := p.open("(")
	if p.tok().kind == tokenWord && p.peekSymbol(1, ".") {
		if !p.at("pg_catalog") {
			p.unsupported(p.pos(), "an operator of a schema other than pg_catalog", "write the operator alone")
		}
		p.i += 2
	}
	op := p.tok().word
	if p.tok().kind != tokenSymbol || symbolPrecedence(op) == precLowest {
		p.failHere()
	}
	p.advance()
	p.close(")", at)
	return op
}

// logic joins operands into one flat conjunction or disjunction, so that long chains do not make deep trees.
func (p *parser) logic(left Expr, prec precedence, pos int) Expr {
	p.advance()
	right := p.exprAt(prec + 1)
	or := prec == precOr
	out, ok := left.(*Logic)
	if !ok || out.Or != or {
		out = &Logic{Or: or, Args: []Expr{left}, Pos: pos}
	} else {
		p.links--
	}
	if r, ok := right.(*Logic); ok && r.Or == or {
		out.Args = append(out.Args, r.Args...)
	} else {
		out.Args = append(out.Args, right)
	}
	return out
}

func (p *parser) atZone(left Expr, pos int) Expr {
	p.expect("at")
	call := &FuncCall{Name: Name{{Name: "timezone", Pos: pos}}, Pos: pos}
	if p.accept("local") {
		call.Args = []Arg{{Value: left}}
		return call
	}
	p.expect("time", "zone")
	call.Args = []Arg{{Value: p.exprAt(precAt + 1)}, {Value: left}}
	return call
}

// prefix reads prefix operators and an operand with its postfix operators.
func (p *parser) prefix() Expr {
	t, pos := p.tok(), p.pos()
	if t.kind == tokenWord && t.word == "not" {
		p.advance()
		return &Unary{Op: "NOT", Operand: p.exprAt(precNot), Pos: pos}
	}
	if t.kind != tokenSymbol {
		return p.postfix(p.primary())
	}
	switch symbolPrecedence(t.word) {
	case precAdd:
		p.advance()
		return &Unary{Op: t.word, Operand: p.exprAt(precSign), Pos: pos}
	case precOperator:
		p.advance()
		return &Unary{Op: t.word, Operand: p.exprAt(precOperator + 1), Pos: pos}
	}
	return p.postfix(p.primary())
}

// postfix reads ::type, [index], [low:high] and .field behind an operand.
func (p *parser) postfix(e Expr) Expr {
	for {
		pos := p.pos()
		switch {
		case p.acceptSymbol("::"):
			e = &Cast{Operand: e, Type: p.typeName(), Pos: pos}
		case p.atSymbol("["):
			e = p.subscript(e, pos)
		case p.atSymbol("."):
			p.advance()
			if p.acceptSymbol("*") {
				return &Star{Operand: e, Pos: pos}
			}
			e = &Field{Operand: e, Name: p.label(), Pos: pos}
		default:
			return e
		}
		p.links++
	}
}

func (p *parser) subscript(e Expr, pos int) Expr {
	at := p.open("[")
	var low Expr
	if !p.atSymbol(":") {
		low = p.expr()
		if p.acceptSymbol("]") {
			return &Subscript{Operand: e, Index: low, Pos: pos}
		}
	}
	if !p.acceptSymbol(":") {
		p.close("]", at)
	}
	s := &Slice{Operand: e, Low: low, Pos: pos}
	if !p.atSymbol("]") {
		s.High = p.expr()
	}
	p.close("]", at)
	return s
}

func (p *parser) param() Expr {
	t, pos := p.tok(), p.pos()
	p.advance()
	index := 0
	if t.word == "" {
		p.questions++
		index = p.questions
	} else {
		p.numbered = true
		for i := 0; i < len(t.word) && index < 1<<17; i++ {
			index = index*10 + int(t.word[i]-'0')
		}
	}
	if p.numbered && p.questions > 0 {
		p.failAt(pos, sqlerr.SyntaxError, "the statement mixes ? and numbered parameters", "use one of the two styles")
	}
	if index < 1 || index > 65535 {
		p.failAt(pos, sqlerr.UndefinedParameter, "there is no parameter $"+t.word, "parameters are $1 to $65535")
	}
	return &Param{Index: index, Pos: pos}
}
