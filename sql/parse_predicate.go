package sql

func (p *parser) is(left Expr, pos int) Expr {
	switch {
	case p.accept("isnull"):
		return &IsTest{Operand: left, Pos: pos}
	case p.accept("notnull"):
		return &IsTest{Operand: left, Not: true, Pos: pos}
	}
	p.expect("is")
	not := p.accept("not")
	test := IsNull
	switch {
	case p.accept("null"):
	case p.accept("true"):
		test = IsTrue
	case p.accept("false"):
		test = IsFalse
	case p.accept("unknown"):
		test = IsUnknown
	case p.accept("distinct"):
		p.expect("from")
		return &IsDistinct{Left: left, Right: p.exprAt(precIs + 1), Not: not, Pos: pos}
	default:
		p.failHere()
	}
	return &IsTest{Operand: left, Test: test, Not: not, Pos: pos}
}

// rangeTest reads [NOT] BETWEEN, IN, LIKE, ILIKE, SIMILAR TO, and OVERLAPS.
func (p *parser) rangeTest(left Expr, pos int) Expr {
	not := p.accept("not")
	switch {
	case p.accept("between"):
		b := &Between{Operand: left, Not: not, Pos: pos, Symmetric: p.accept("symmetric")}
		p.accept("asymmetric")
		b.Low = p.exprAt(precRange + 1)
		p.expect("and")
		b.High = p.exprAt(precRange + 1)
		return b
	case p.accept("in"):
		return p.in(left, not, pos)
	case p.accept("glob"):
		e := Expr(&Binary{Op: "~~~", Left: left, Right: p.exprAt(precRange + 1), Pos: pos})
		if not {
			e = &Unary{Op: "NOT", Operand: e, Pos: pos}
		}
		return e
	case p.accept("overlaps"):
		return &FuncCall{Name: Name{{Name: "overlaps", Pos: pos}}, Args: []Arg{{Value: left}, {Value: p.exprAt(precRange + 1)}}, Pos: pos}
	}
	l := &Like{Operand: left, Not: not, Pos: pos}
	op := "LIKE"
	switch {
	case p.accept("like"):
	case p.accept("ilike"):
		l.Kind, op = LikeNoCase, "ILIKE"
	default:
		p.expect("similar", "to")
		l.Kind = LikeSimilar
	}
	if l.Kind != LikeSimilar && p.atQuantifier() {
		if not {
			op = "NOT " + op
		}
		return p.quantified(left, op, pos)
	}
	l.Pattern = p.exprAt(precRange + 1)
	if p.accept("escape") {
		l.Escape = p.exprAt(precRange + 1)
	}
	return l
}

func (p *parser) in(left Expr, not bool, pos int) Expr {
	if !p.atSymbol("(") {
		// x IN array, as in DuckDB, is x = ANY(array).
		array := p.exprAt(precRange + 1)
		e := Expr(&Quantified{Op: "=", Left: left, Array: array, Pos: pos})
		if not {
			e = &Unary{Op: "NOT", Operand: e, Pos: pos}
		}
		return e
	}
	at := p.open("(")
	if p.atQuery(0) {
		q := p.query()
		p.close(")", at)
		return &InQuery{Operand: left, Query: q, Not: not, Pos: pos}
	}
	list := p.exprs()
	if sub, ok := list[0].(*Subquery); ok && len(list) == 1 {
		q := sub.Query
		if p.queryContinues() {
			q = p.queryTail(sub.Pos, nil, p.setOperations(q, 0))
		}
		p.close(")", at)
		return &InQuery{Operand: left, Query: q, Not: not, Pos: pos}
	}
	p.close(")", at)
	return &InList{Operand: left, List: list, Not: not, Pos: pos}
}

func (p *parser) atQuantifier() bool {
	return (p.at("any") || p.at("all") || p.at("some")) && p.peekSymbol(1, "(")
}

func (p *parser) quantified(left Expr, op string, pos int) Expr {
	q := &Quantified{Op: op, Left: left, All: p.at("all"), Pos: pos}
	p.advance()
	at := p.open("(")
	if p.parenQueryAhead(0) {
		e := p.subqueryOrExpr()
		if sub, ok := e.(*Subquery); ok {
			q.Query = sub.Query
		} else {
			q.Array = e
		}
	} else {
		q.Array = p.expr()
	}
	p.close(")", at)
	return q
}

// subqueryOrExpr reads what parentheses hold when the first word in it, behind any further parentheses, begins a query.
// ((SELECT 1) + 1) is an expression, ((SELECT 1) UNION SELECT 2) a query: that shows behind the inner parenthesis.
func (p *parser) subqueryOrExpr() Expr {
	pos := p.pos()
	if p.atQuery(0) {
		return &Subquery{Query: p.query(), Pos: pos}
	}
	e := p.expr()
	if sub, ok := e.(*Subquery); ok && p.queryContinues() {
		return &Subquery{Query: p.queryTail(pos, nil, p.setOperations(sub.Query, 0)), Pos: pos}
	}
	return e
}
