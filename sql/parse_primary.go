package sql

import (
	"strings"

	"github.com/tidemarkdb/tidemark/sqlerr"
)

// primary reads an operand without its postfix operators.
func (p *parser) primary() Expr {
	t, pos := p.tok(), p.pos()
	switch t.kind {
	case tokenNumber:
		p.advance()
		return &Number{Text: t.word, Pos: pos}
	case tokenString:
		p.advance()
		return &String{Value: t.word, Pos: pos}
	case tokenBits:
		p.advance()
		return &BitString{Digits: t.word, Hex: p.lexer.text[t.start]|0x20 == 'x', Pos: pos}
	case tokenParam:
		return p.param()
	case tokenQuoted:
		return p.named()
	case tokenWord:
		return p.wordPrimary(t.word, pos)
	case tokenSymbol:
		switch t.word {
		case "(":
			return p.parenthesised()
		case "[":
			return p.array(pos)
		case "{":
			return p.structLiteral(pos)
		}
	}
	p.failHere()
	return nil
}

// parenthesised reads (expr), (a, b), () after ROW only, or (query).
func (p *parser) parenthesised() Expr {
	pos := p.open("(")
	var e Expr
	if p.parenQueryAhead(0) {
		e = p.subqueryOrExpr()
		if sub, ok := e.(*Subquery); ok {
			sub.Pos = pos
		}
	} else {
		e = p.expr()
	}
	if p.acceptSymbol(",") {
		row := &Row{Elems: []Expr{e}, Pos: pos}
		if !p.atSymbol(")") {
			row.Elems = append(row.Elems, p.exprs()...)
		}
		e = row
	}
	p.close(")", pos)
	return e
}

func (p *parser) array(pos int) Expr {
	a := &Array{Pos: pos}
	at := p.open("[")
	if !p.atSymbol("]") {
		a.Elems = p.exprs()
	}
	if p.at("for") && len(a.Elems) == 1 {
		e := p.comprehension(a.Elems[0], pos)
		p.close("]", at)
		return e
	}
	p.close("]", at)
	return a
}

func (p *parser) structLiteral(pos int) Expr {
	s := &Struct{Pos: pos}
	at := p.open("{")
	if !p.atSymbol("}") {
		p.list(func() {
			f := StructValue{}
			if t := p.tok(); t.kind == tokenString {
				if t.word == "" {
					p.failAt(p.pos(), sqlerr.InvalidName, "the name of a struct field is empty", "give the field a name")
				}
				f.Name = Ident{Name: t.word, Quoted: true, Pos: p.pos()}
				p.advance()
			} else {
				f.Name = p.label()
			}
			p.expectSymbol(":")
			f.Value = p.expr()
			s.Fields = append(s.Fields, f)
		}, p.atClose)
	}
	p.close("}", at)
	return s
}

// wordPrimary reads an operand that begins with an unquoted word.
func (p *parser) wordPrimary(word string, pos int) Expr {
	switch word {
	case "null":
		p.advance()
		return &Null{Pos: pos}
	case "true", "false":
		p.advance()
		return &Bool{Value: word == "true", Pos: pos}
	case "default":
		p.advance()
		return &Default{Pos: pos}
	case "case":
		return p.caseExpr(pos)
	case "array":
		if p.peekSymbol(1, "[") || p.peekSymbol(1, "(") {
			p.advance()
			return p.arrayWord(pos)
		}
	case "interval":
		if e := p.interval(pos); e != nil {
			return e
		}
	}
	if p.peekSymbol(1, "(") {
		if e := p.specialCall(word, pos); e != nil {
			return e
		}
	}
	if niladic[word] {
		return p.niladicCall(pos)
	}
	if e := p.typedString(pos); e != nil {
		return e
	}
	return p.named()
}

func (p *parser) arrayWord(pos int) Expr {
	if p.atSymbol("[") {
		return p.array(pos)
	}
	at := p.open("(")
	q := p.query()
	p.close(")", at)
	return &ArrayQuery{Query: q, Pos: pos}
}

func (p *parser) niladicCall(pos int) *FuncCall {
	call := &FuncCall{Name: Name{p.label()}, Pos: pos}
	if p.atSymbol("(") {
		at := p.open("(")
		if !p.atSymbol(")") {
			call.Args = []Arg{{Value: p.expr()}}
		}
		p.close(")", at)
	}
	return call
}

// typedString reads a constant with its type before it, or gives nil.
func (p *parser) typedString(pos int) Expr {
	t := p.tok()
	if isReserved(t.word) {
		return nil
	}
	n := 1
	switch t.word {
	case "double", "character", "char", "bit":
		if p.peekIs(1, "precision") || p.peekIs(1, "varying") {
			n = 2
		}
	}
	n = p.pastModifiers(n)
	if t.word == "timestamp" || t.word == "time" {
		if (p.peekIs(n, "with") || p.peekIs(n, "without")) && p.peekIs(n+1, "time") && p.peekIs(n+2, "zone") {
			n += 3
		}
	}
	if p.peek(n).kind != tokenString {
		return nil
	}
	typ := p.typeName()
	return &TypedString{Type: typ, Value: p.stringLiteral(), Pos: pos}
}

// pastModifiers returns the place behind one or two numbers in brackets at place n, as in NUMERIC(4, 2), or n.
func (p *parser) pastModifiers(n int) int {
	at := n
	if !p.peekSymbol(at, "(") || p.peek(at+1).kind != tokenNumber {
		return n
	}
	at += 2
	if p.peekSymbol(at, ",") && p.peek(at+1).kind == tokenNumber {
		at += 2
	}
	if !p.peekSymbol(at, ")") {
		return n
	}
	return at + 1
}

// interval reads INTERVAL '...' [fields], INTERVAL(p) '...', INTERVAL 1 DAY and INTERVAL (expr) DAY, or gives nil.
func (p *parser) interval(pos int) Expr {
	typ := TypeName{Name: "interval", Pos: pos}
	switch next := p.peek(1); {
	case next.kind == tokenString, next.kind == tokenNumber && intervalUnit(p.peek(2)) != "":
		p.advance()
		value := p.tok().word
		p.advance()
		p.intervalFields(&typ)
		return &TypedString{Type: typ, Value: value, Pos: pos}
	case p.peekSymbol(1, "(") && p.peek(2).kind == tokenNumber && p.peekSymbol(3, ")") && p.peek(4).kind == tokenString:
		typ = p.typeName()
		return &TypedString{Type: typ, Value: p.stringLiteral(), Pos: pos}
	case p.peekSymbol(1, "("):
		p.advance()
		at := p.open("(")
		e := p.expr()
		p.close(")", at)
		if intervalUnit(p.tok()) == "" {
			p.failHere()
		}
		p.intervalFields(&typ)
		return &Binary{Op: "*", Left: e, Right: &TypedString{Type: typ, Value: "1", Pos: pos}, Pos: pos}
	}
	return nil
}

// intervalUnit is the singular of the unit t names, "" for none.
func intervalUnit(t *token) string {
	if t.kind != tokenWord {
		return ""
	}
	switch unit := strings.TrimSuffix(t.word, "s"); unit {
	case "year", "month", "week", "day", "hour", "minute", "second", "millisecond", "microsecond", "quarter", "decade":
		return unit
	}
	return ""
}

func (p *parser) intervalFields(typ *TypeName) {
	unit := intervalUnit(p.tok())
	if unit == "" {
		return
	}
	p.advance()
	typ.Interval = unit
	if p.at("to") && intervalUnit(p.peek(1)) != "" {
		typ.Interval += " to " + intervalUnit(p.peek(1))
		p.i += 2
	}
	if strings.HasSuffix(typ.Interval, "second") && p.atSymbol("(") {
		typ.Args = p.typeArgs()
	}
}

// named reads a column reference, t.*, or a function call.
func (p *parser) named() Expr {
	pos := p.pos()
	var first Ident
	if t := p.tok(); t.kind == tokenWord && wordClasses[t.word] == funcWord && p.peekSymbol(1, "(") {
		first = p.label()
	} else {
		first = p.ident()
	}
	n := Name{first}
	for p.acceptSymbol(".") {
		if p.acceptSymbol("*") {
			return &Star{Qualifier: n, Pos: pos}
		}
		n = append(n, p.label())
	}
	if p.atSymbol("(") {
		return p.call(pos, n)
	}
	return &Column{Name: n, Pos: pos}
}

func (p *parser) caseExpr(pos int) Expr {
	c := &Case{Pos: pos}
	p.expect("case")
	if !p.at("when") {
		c.Operand = p.expr()
	}
	for p.accept("when") {
		w := When{Cond: p.expr()}
		p.expect("then")
		w.Result = p.expr()
		c.Whens = append(c.Whens, w)
	}
	if len(c.Whens) == 0 {
		p.failHere()
	}
	if p.accept("else") {
		c.Else = p.expr()
	}
	p.expect("end")
	return c
}
