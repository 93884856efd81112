package sql

// Lambda is params -> body, or lambda params: body, as an argument of a function over lists, of COLUMNS, or inside
// [body FOR x IN list].
type Lambda struct {
	Params []Ident
	Body   Expr
	Pos    int
}

// Position returns the position of the node.
func (e *Lambda) Position() int { return e.Pos }

func (e *Lambda) expr() {}

// takesLambda are the functions whose arguments may be lambdas: elsewhere -> is an operator of JSON.
var takesLambda = map[string]bool{
	"list_transform": true, "array_transform": true, "list_apply": true, "array_apply": true, "apply": true,
	"list_filter": true, "array_filter": true, "filter": true, "list_reduce": true, "array_reduce": true, "reduce": true, "columns": true,
}

// lambda reads a lambda, or gives nil where none begins.
func (p *parser) lambda() *Lambda {
	pos, n := p.pos(), 1
	isName := func(n int) bool {
		t := p.peek(n)
		return t.kind == tokenQuoted || t.kind == tokenWord && !isReserved(t.word)
	}
	switch {
	case p.at("lambda") && isName(1) && (p.peekSymbol(2, ":") || p.peekSymbol(2, ",")):
		p.advance()
		l := &Lambda{Pos: pos}
		p.list(func() { l.Params = append(l.Params, p.ident()) }, nil)
		p.expectSymbol(":")
		l.Body = p.expr()
		return l
	case isName(0) && p.peekSymbol(1, "->"):
		l := &Lambda{Params: []Ident{p.ident()}, Pos: pos}
		p.advance()
		l.Body = p.expr()
		return l
	case p.atSymbol("("):
		for isName(n) && p.peekSymbol(n+1, ",") {
			n += 2
		}
		if !isName(n) || !p.peekSymbol(n+1, ")") || !p.peekSymbol(n+2, "->") {
			return nil
		}
		l := &Lambda{Params: p.idents(), Pos: pos}
		p.advance()
		l.Body = p.expr()
		return l
	}
	return nil
}

// comprehension reads FOR x [, i] IN list [IF condition] behind [body: list_transform of list_filter.
func (p *parser) comprehension(body Expr, pos int) Expr {
	p.expect("for")
	var params []Ident
	p.list(func() { params = append(params, p.ident()) }, nil)
	p.expect("in")
	call := func(name string, list, body Expr) Expr {
		return &FuncCall{Name: Name{{Name: name, Pos: pos}}, Args: []Arg{{Value: list}, {Value: &Lambda{Params: params, Body: body, Pos: pos}}}, Pos: pos}
	}
	list := p.expr()
	if p.accept("if") {
		list = call("list_filter", list, p.expr())
	}
	return call("list_transform", list, body)
}

// starPattern reads LIKE, ILIKE, SIMILAR TO or GLOB behind *: the columns whose names match.
func (p *parser) starPattern(star *Star) Expr {
	if p.infixPrecedence() != precRange || p.at("between") || p.at("in") || p.at("overlaps") || len(star.Exclude)+len(star.Replace)+len(star.Rename) > 0 {
		return star
	}
	column := Ident{Name: "column", Quoted: true, Pos: star.Pos}
	body := p.rangeTest(&Column{Name: Name{column}, Pos: star.Pos}, p.pos())
	return &FuncCall{Name: Name{{Name: "columns", Pos: star.Pos}}, Args: []Arg{{Value: &Lambda{Params: []Ident{column}, Body: body, Pos: star.Pos}}}, Pos: star.Pos}
}
