package sql

import (
	"slices"

	"github.com/tidemarkdb/tidemark/sqlerr"
)

// atQuery reports whether a query begins n tokens ahead, parentheses not counted.
func (p *parser) atQuery(n int) bool {
	t := p.peek(n)
	if t.kind != tokenWord {
		return false
	}
	switch t.word {
	case "select", "with", "from", "table":
		return true
	case "values":
		return p.peekSymbol(n+1, "(")
	}
	return false
}

// query reads a query with all that may stand around it.
func (p *parser) query() QueryExpr {
	p.enter()
	defer p.leave()
	pos := p.pos()
	with := p.with()
	return p.queryTail(pos, with, p.setOperations(p.queryPrimary(), 0))
}

// queryTail reads ORDER BY, LIMIT and the like behind a body.
func (p *parser) queryTail(pos int, with *With, body QueryExpr) QueryExpr {
	q := &Query{With: with, Body: body, Pos: pos}
	if p.acceptAll("order", "by") {
		p.list(func() { q.OrderBy = append(q.OrderBy, p.orderItem(true)) }, p.atQueryEnd)
	}
	for {
		switch {
		case q.Limit == nil && p.accept("limit"):
			if !p.accept("all") {
				q.Limit = p.expr()
			}
			if p.atSymbol(",") {
				p.failAt(p.pos(), sqlerr.SyntaxError, "LIMIT #,# syntax is not supported", "use LIMIT count OFFSET start")
			}
		case q.Offset == nil && p.accept("offset"):
			q.Offset = p.expr()
			_ = p.accept("rows") || p.accept("row")
		case q.Limit == nil && p.at("fetch"):
			p.fetch(q)
		case p.at("for"):
			p.unsupported(p.pos(), "locking rows by FOR UPDATE or FOR SHARE",
				"leave the clause out: a query reads one snapshot, and of two writers of a row the second gets SQLSTATE 40001")
		default:
			if q.With == nil && q.OrderBy == nil && q.Limit == nil && q.Offset == nil {
				return body
			}
			if inner, ok := body.(*Query); ok {
				p.unwrap(q, inner)
			}
			return q
		}
	}
}

// unwrap takes what stands within the parentheses of (SELECT ... LIMIT 1) ORDER BY ... into the query around them, as
// PostgreSQL does: both make one query, which is ordered before it is limited.
func (p *parser) unwrap(q, inner *Query) {
	twice := func(both bool, clause string) {
		if both {
			p.failAt(q.Pos, sqlerr.SyntaxError, "multiple "+clause+" clauses not allowed", "put the inner query into FROM: SELECT * FROM (...) q")
		}
	}
	twice(q.With != nil && inner.With != nil, "WITH")
	twice(q.OrderBy != nil && inner.OrderBy != nil, "ORDER BY")
	twice(q.Limit != nil && inner.Limit != nil, "LIMIT")
	twice(q.Offset != nil && inner.Offset != nil, "OFFSET")
	q.Body = inner.Body
	if inner.With != nil {
		q.With = inner.With
	}
	if inner.OrderBy != nil {
		q.OrderBy = inner.OrderBy
	}
	if inner.Limit != nil {
		q.Limit, q.WithTies = inner.Limit, inner.WithTies
	}
	if inner.Offset != nil {
		q.Offset = inner.Offset
	}
}

// atQueryEnd allows a trailing comma before the end of a list that ends a clause.
func (p *parser) atQueryEnd() bool {
	t := p.tok()
	switch t.kind {
	case tokenEnd:
		return true
	case tokenSymbol:
		return t.word == ")" || t.word == ";"
	case tokenWord:
		switch t.word {
		case "from", "where", "group", "having", "window", "qualify", "order", "limit", "offset", "fetch", "union",
			"intersect", "except", "on", "returning", "with":
			return true
		}
	}
	return false
}

func (p *parser) fetch(q *Query) {
	p.expect("fetch")
	p.expectOneOf("first", "next")
	if p.at("row") || p.at("rows") {
		q.Limit = &Number{Text: "1", Pos: p.pos()}
	} else {
		q.Limit = p.expr()
	}
	p.expectOneOf("rows", "row")
	if p.expectOneOf("only", "with") == "with" {
		p.expect("ties")
		q.WithTies = true
	}
}

func (p *parser) with() *With {
	if !p.accept("with") {
		return nil
	}
	w := &With{Recursive: p.accept("recursive")}
	p.list(func() { w.CTEs = append(w.CTEs, p.cte(false)) }, nil)
	return w
}

// outerWith is with for a whole statement, within which others may change data.
func (p *parser) outerWith() *With {
	if !p.accept("with") {
		return nil
	}
	w := &With{Recursive: p.accept("recursive")}
	p.list(func() { w.CTEs = append(w.CTEs, p.cte(true)) }, nil)
	return w
}

func (p *parser) cte(changes bool) CTE {
	c := CTE{Name: p.ident()}
	if p.atSymbol("(") {
		c.Columns = p.idents()
	}
	p.expect("as")
	switch {
	case p.accept("materialized"):
		c.Materialize = MaterializeAlways
	case p.acceptAll("not", "materialized"):
		c.Materialize = MaterializeNever
	}
	at := p.open("(")
	if p.atChange(0) || p.at("with") && changes {
		if !changes {
			p.unsupported(p.pos(), "a statement that changes data in a WITH that is not at the top level", "name it in the WITH at the top of the statement")
		}
		p.enter()
		defer p.leave()
		pos := p.pos()
		c.Change = p.withData()
		if q, ok := c.Change.(QueryExpr); ok {
			c.Query, c.Change = q, nil
			if q, ok := q.(*Query); ok && q.With != nil && slices.ContainsFunc(q.With.CTEs, func(c CTE) bool { return c.Change != nil }) {
				p.unsupported(pos, "a statement that changes data in a WITH that is not at the top level", "name it in the WITH at the top of the statement")
			}
		}
	} else {
		c.Query = p.query()
	}
	p.close(")", at)
	return c
}

// atChange reports whether a statement that changes data is at hand.
func (p *parser) atChange(n int) bool {
	return p.peekIs(n, "insert") || p.peekIs(n, "update") || p.peekIs(n, "delete") || p.peekIs(n, "merge")
}

// setOperations reads UNION, EXCEPT (level 1) and INTERSECT (level 2) above min behind left.
func (p *parser) setOperations(left QueryExpr, min int) QueryExpr {
	for {
		s := &SetOp{Left: left, Pos: p.pos()}
		level := 1
		switch {
		case p.at("union"):
		case p.at("except"):
			s.Kind = Except
		case p.at("intersect"):
			s.Kind, level = Intersect, 2
		default:
			return left
		}
		if level <= min {
			return left
		}
		p.advance()
		if s.All = p.accept("all"); !s.All {
			p.accept("distinct")
		}
		s.ByName = s.Kind == Union && p.acceptAll("by", "name")
		s.Right = p.setOperations(p.queryPrimary(), level)
		p.links++
		left = s
	}
}

// queryPrimary reads one operand of a set operation.
func (p *parser) queryPrimary() QueryExpr {
	switch {
	case p.atSymbol("("):
		at := p.open("(")
		q := p.query()
		p.close(")", at)
		return q
	case p.at("select"), p.at("from"):
		return p.selectBlock()
	case p.at("values"):
		return p.values()
	case p.at("table"):
		pos := p.pos()
		p.advance()
		return starOver(pos, []TableExpr{&Table{Pos: p.pos(), Name: p.name()}})
	}
	p.failHere()
	return nil
}

func starOver(pos int, from []TableExpr) *Select {
	return &Select{Items: []SelectItem{{Expr: &Star{Pos: pos}}}, From: from, Pos: pos}
}

func (p *parser) values() *Values {
	v := &Values{Pos: p.pos()}
	p.expect("values")
	p.list(func() {
		at := p.open("(")
		v.Rows = append(v.Rows, p.exprs())
		p.close(")", at)
	}, func() bool { return !p.atSymbol("(") })
	return v
}
