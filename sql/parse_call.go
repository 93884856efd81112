package sql

import "github.com/tidemarkdb/tidemark/sqlerr"

// call reads the parentheses of a call and the clauses behind them.
func (p *parser) call(pos int, name Name) *FuncCall {
	c := &FuncCall{Name: name, Pos: pos}
	at := p.open("(")
	switch {
	case p.atSymbol("*") && name.Last().Name == "columns":
		star := &Star{Pos: p.pos()}
		p.advance()
		p.starModifiers(star)
		c.Args = []Arg{{Value: star}}
	case p.acceptSymbol("*"):
		c.Star = true
	case !p.atSymbol(")"):
		if !p.accept("all") {
			c.Distinct = p.accept("distinct")
		}
		p.list(func() {
			if takesLambda[name.Last().Name] {
				if l := p.lambda(); l != nil {
					c.Args = append(c.Args, Arg{Value: l})
					return
				}
			}
			c.Args = append(c.Args, p.arg())
		}, p.atClose)
		c.OrderBy = p.orderBy()
		c.NullsMode = p.nullsMode()
	}
	p.close(")", at)
	p.callClauses(c)
	return c
}

func (p *parser) arg() Arg {
	var a Arg
	a.Variadic = p.accept("variadic")
	if k := p.tok().kind; (k == tokenWord || k == tokenQuoted) && (p.peekSymbol(1, "=>") || p.peekSymbol(1, ":=")) {
		a.Name = p.label()
		p.advance()
	}
	if p.parenQueryAhead(0) && !p.atSymbol("(") {
		a.Value = &Subquery{Pos: p.pos(), Query: p.query()}
		return a
	}
	a.Value = p.expr()
	return a
}

func (p *parser) nullsMode() NullsMode {
	switch {
	case p.acceptAll("ignore", "nulls"):
		return IgnoreNulls
	case p.acceptAll("respect", "nulls"):
		return RespectNulls
	}
	return NullsUnspecified
}

func (p *parser) callClauses(c *FuncCall) {
	if p.at("within") && p.peekIs(1, "group") {
		if len(c.OrderBy) > 0 {
			p.failAt(p.pos(), sqlerr.SyntaxError, "cannot use multiple ORDER BY clauses with WITHIN GROUP", "keep the one of WITHIN GROUP")
		}
		p.i += 2
		at := p.open("(")
		if !p.at("order") {
			p.failHere()
		}
		c.OrderBy = p.orderBy()
		c.WithinGroup = true
		p.close(")", at)
	}
	if p.at("filter") && p.peekSymbol(1, "(") {
		p.advance()
		at := p.open("(")
		p.accept("where")
		c.Filter = p.expr()
		p.close(")", at)
	}
	if at := p.pos(); p.nullsMode() != NullsUnspecified {
		p.failAt(at, sqlerr.SyntaxError, "IGNORE NULLS and RESPECT NULLS stand inside the parentheses of a call",
			"for example, lag(x IGNORE NULLS) OVER (ORDER BY y)")
	}
	if !p.at("over") || !p.peekSymbol(1, "(") && p.peek(1).kind != tokenWord && p.peek(1).kind != tokenQuoted {
		return
	}
	p.advance()
	if p.atSymbol("(") {
		c.Over = p.window()
		return
	}
	c.Over = &Window{Reference: true, Pos: p.pos(), Base: p.ident()}
}

// window reads ([base] [PARTITION BY ...] [ORDER BY ...] [frame]).
func (p *parser) window() *Window {
	w := &Window{Pos: p.pos()}
	at := p.open("(")
	if t := p.tok(); t.kind == tokenQuoted || t.kind == tokenWord && !isReserved(t.word) && !p.atWindowClause() {
		w.Base = p.ident()
	}
	if p.accept("partition") {
		p.expect("by")
		w.PartitionBy = p.exprsUntil(func() bool { return p.atSymbol(")") || p.at("order") })
	}
	w.OrderBy = p.orderBy()
	w.Frame = p.frame()
	p.close(")", at)
	return w
}

func (p *parser) exprsUntil(end func() bool) []Expr {
	var out []Expr
	p.list(func() { out = append(out, p.expr()) }, end)
	return out
}

func (p *parser) atWindowClause() bool {
	if p.at("partition") {
		return p.peekIs(1, "by")
	}
	if p.at("rows") || p.at("range") || p.at("groups") {
		return !p.peekSymbol(1, ")")
	}
	return false
}

func (p *parser) frame() *Frame {
	f := &Frame{Pos: p.pos(), End: FrameBound{Kind: CurrentRow}}
	switch {
	case p.accept("rows"):
		f.Mode = FrameRows
	case p.accept("groups"):
		f.Mode = FrameGroups
	case p.accept("range"):
	default:
		return nil
	}
	if p.accept("between") {
		f.Start = p.frameBound()
		p.expect("and")
		f.End = p.frameBound()
	} else {
		f.Start = p.frameBound()
	}
	p.checkFrame(f)
	if p.accept("exclude") {
		switch {
		case p.acceptAll("current", "row"):
			f.Exclude = ExcludeCurrentRow
		case p.accept("group"):
			f.Exclude = ExcludeGroup
		case p.accept("ties"):
			f.Exclude = ExcludeTies
		default:
			p.expect("no", "others")
		}
	}
	return f
}

func (p *parser) checkFrame(f *Frame) {
	message := ""
	switch {
	case f.Start.Kind == UnboundedFollowing:
		message = "frame start cannot be UNBOUNDED FOLLOWING"
	case f.End.Kind == UnboundedPreceding:
		message = "frame end cannot be UNBOUNDED PRECEDING"
	case f.Start.Kind > f.End.Kind:
		message = "the frame ends before it starts"
	default:
		return
	}
	p.failAt(f.Pos, sqlerr.Windowing, message, "write BETWEEN the earlier bound AND the later one")
}

func (p *parser) frameBound() FrameBound {
	switch {
	case p.acceptAll("current", "row"):
		return FrameBound{Kind: CurrentRow}
	case p.accept("unbounded"):
		if p.expectOneOf("preceding", "following") == "preceding" {
			return FrameBound{Kind: UnboundedPreceding}
		}
		return FrameBound{Kind: UnboundedFollowing}
	}
	b := FrameBound{Kind: OffsetPreceding, Offset: p.expr()}
	if p.expectOneOf("preceding", "following") == "following" {
		b.Kind = OffsetFollowing
	}
	return b
}

// specialCall reads the functions with a syntax of their own, or gives nil. The word is at hand, ( behind it.
func (p *parser) specialCall(word string, pos int) Expr {
	var read func(*FuncCall)
	switch word {
	case "cast", "try_cast":
		return p.cast(word == "try_cast", pos)
	case "exists":
		p.advance()
		at := p.open("(")
		q := p.query()
		p.close(")", at)
		return &Exists{Query: q, Pos: pos}
	case "row":
		return p.row(pos)
	case "extract":
		read = p.extract
	case "substring":
		read = p.substring
	case "position":
		read = p.position
	case "trim":
		read = p.trim
	case "overlay":
		read = p.overlay
	default:
		return nil
	}
	call := &FuncCall{Name: Name{p.label()}, Pos: pos}
	at := p.open("(")
	if !p.atSymbol(")") {
		read(call)
	}
	p.close(")", at)
	return call
}

func (p *parser) cast(try bool, pos int) Expr {
	p.advance()
	at := p.open("(")
	c := &Cast{Operand: p.expr(), Try: try, Pos: pos}
	p.expect("as")
	c.Type = p.typeName()
	p.close(")", at)
	return c
}

func (p *parser) row(pos int) Expr {
	p.advance()
	r := &Row{Pos: pos}
	at := p.open("(")
	if !p.atSymbol(")") {
		r.Elems = p.exprs()
	}
	p.close(")", at)
	return r
}

// restArgs reads further arguments after a comma.
func (p *parser) restArgs(c *FuncCall) {
	for p.acceptSymbol(",") {
		if p.atSymbol(")") {
			return
		}
		c.Args = append(c.Args, p.arg())
	}
}

func (p *parser) extract(c *FuncCall) {
	if t := p.tok(); p.peekIs(1, "from") && (t.kind == tokenWord || t.kind == tokenQuoted || t.kind == tokenString) {
		c.Args = []Arg{{Value: &String{Value: t.word, Pos: p.pos()}}}
		p.i += 2
		c.Args = append(c.Args, Arg{Value: p.expr()})
		return
	}
	c.Args = []Arg{p.arg()}
	p.restArgs(c)
}

func (p *parser) substring(c *FuncCall) {
	c.Args = []Arg{p.arg()}
	var from, length Expr
	switch {
	case p.accept("similar"):
		from = p.expr()
		p.expect("escape")
		length = p.expr()
	case p.at("from"), p.at("for"):
		for p.at("from") && from == nil || p.at("for") && length == nil {
			if p.accept("from") {
				from = p.expr()
			} else {
				p.expect("for")
				length = p.expr()
			}
		}
		if from == nil {
			from = &Number{Text: "1", Pos: c.Pos}
		}
	default:
		p.restArgs(c)
		return
	}
	c.Args = append(c.Args, Arg{Value: from})
	if length != nil {
		c.Args = append(c.Args, Arg{Value: length})
	}
}

func (p *parser) position(c *FuncCall) {
	// The first operand must stop before IN.
	first := p.exprAt(precRange + 1)
	if p.accept("in") {
		c.Args = []Arg{{Value: p.exprAt(precRange + 1)}, {Value: first}}
		return
	}
	if !p.atSymbol(",") {
		p.failHere()
	}
	p.fail(p.errorHere().Hintf("write POSITION(part IN text), or strpos(text, part)"))
}

func (p *parser) trim(c *FuncCall) {
	c.Name[0].Name = "btrim"
	switch {
	case p.accept("leading"):
		c.Name[0].Name = "ltrim"
	case p.accept("trailing"):
		c.Name[0].Name = "rtrim"
	default:
		p.accept("both")
	}
	if p.accept("from") {
		c.Args = []Arg{p.arg()}
		p.restArgs(c)
		return
	}
	c.Args = []Arg{p.arg()}
	if p.accept("from") {
		c.Args = []Arg{p.arg(), c.Args[0]}
		return
	}
	p.restArgs(c)
}

func (p *parser) overlay(c *FuncCall) {
	c.Args = []Arg{p.arg()}
	if !p.accept("placing") {
		p.restArgs(c)
		return
	}
	c.Args = append(c.Args, p.arg())
	p.expect("from")
	c.Args = append(c.Args, p.arg())
	if p.accept("for") {
		c.Args = append(c.Args, p.arg())
	}
}
