package sql

import ()

// selectBlock reads SELECT ... or FROM ... [SELECT ...].
func (p *parser) selectBlock() *Select {
	s := &Select{Pos: p.pos()}
	if p.accept("from") {
		s.From = p.fromList()
		if !p.at("select") {
			s.Items = starOver(s.Pos, nil).Items
		}
	}
	if p.accept("select") {
		p.selectList(s)
		if p.at("into") {
			p.unsupported(p.pos(), "SELECT INTO", "use CREATE TABLE name AS SELECT ...")
		}
		if s.From == nil && p.accept("from") {
			s.From = p.fromList()
		}
	}
	if p.accept("where") {
		s.Where = p.expr()
	}
	if p.at("group") {
		s.GroupBy = p.groupBy()
	}
	if p.accept("having") {
		s.Having = p.expr()
	}
	if p.accept("window") {
		p.list(func() {
			w := NamedWindow{Name: p.ident()}
			p.expect("as")
			w.Window = p.window()
			s.Windows = append(s.Windows, w)
		}, nil)
	}
	if p.accept("qualify") {
		s.Qualify = p.expr()
	}
	return s
}

func (p *parser) selectList(s *Select) {
	if !p.accept("all") && p.accept("distinct") {
		s.Distinct = true
		if p.accept("on") {
			at := p.open("(")
			s.DistinctOn = p.exprs()
			p.close(")", at)
		}
	}
	if p.atQueryEnd() {
		return
	}
	s.Items = p.selectItems()
}

func (p *parser) selectItems() []SelectItem {
	var items []SelectItem
	p.list(func() { items = append(items, p.selectItem()) }, p.atQueryEnd)
	return items
}

func (p *parser) selectItem() SelectItem {
	if p.atSymbol("*") {
		star := &Star{Pos: p.pos()}
		p.advance()
		p.starModifiers(star)
		return SelectItem{Expr: p.starPattern(star)}
	}
	if k := p.tok().kind; (k == tokenWord || k == tokenQuoted) && p.peekSymbol(1, ":") { // name: expr, as DuckDB has it
		alias := p.label()
		p.advance()
		return SelectItem{Expr: p.expr(), Alias: alias}
	}
	item := SelectItem{Expr: p.expr()}
	if star, ok := item.Expr.(*Star); ok {
		p.starModifiers(star)
		return item
	}
	switch {
	case p.accept("as"):
		item.Alias = p.label()
	case p.atBareAlias():
		p.aliasAt = p.i
		item.Alias = p.label()
	}
	return item
}

// atBareAlias reports whether an alias without AS is at hand.
func (p *parser) atBareAlias() bool {
	t := p.tok()
	if t.kind == tokenQuoted {
		return true
	}
	if t.kind != tokenWord {
		return false
	}
	class := wordClasses[t.word]
	return class == ordinary || class == statement
}

func (p *parser) starModifiers(s *Star) {
	if p.at("exclude") || p.at("except") && (p.peekSymbol(1, "(") && !p.parenQueryAhead(1)) {
		p.advance()
		if p.atSymbol("(") {
			at := p.open("(")
			p.list(func() { s.Exclude = append(s.Exclude, p.name()) }, p.atClose)
			p.close(")", at)
		} else {
			s.Exclude = []Name{p.name()}
		}
	}
	if p.at("replace") {
		p.advance()
		at := p.open("(")
		p.list(func() {
			item := SelectItem{Expr: p.expr()}
			p.expect("as")
			item.Alias = p.label()
			s.Replace = append(s.Replace, item)
		}, p.atClose)
		p.close(")", at)
	}
	if p.at("rename") {
		p.advance()
		at := p.open("(")
		p.list(func() {
			r := Rename{Column: p.name()}
			p.expect("as")
			r.To = p.label()
			s.Rename = append(s.Rename, r)
		}, p.atClose)
		p.close(")", at)
	}
}

// parenQueryAhead reports whether the parentheses n tokens ahead, however many, open a query.
func (p *parser) parenQueryAhead(n int) bool {
	for p.peekSymbol(n, "(") {
		n++
	}
	return p.atQuery(n)
}

func (p *parser) groupBy() *GroupBy {
	g := &GroupBy{Pos: p.pos()}
	p.expect("group", "by")
	if p.accept("all") {
		if p.atQueryEnd() {
			g.All = true
			return g
		}
	} else {
		g.Distinct = p.accept("distinct")
	}
	p.list(func() { g.Items = append(g.Items, p.groupItem()) }, p.atQueryEnd)
	return g
}

func (p *parser) groupItem() GroupItem {
	p.enter()
	defer p.leave()
	g := GroupItem{Pos: p.pos()}
	switch {
	case p.acceptAll("grouping", "sets"):
		g.Kind = GroupSets
	case p.at("rollup") && p.peekSymbol(1, "("):
		g.Kind = GroupRollup
		p.advance()
	case p.at("cube") && p.peekSymbol(1, "("):
		g.Kind = GroupCube
		p.advance()
	case p.atSymbol("(") && p.peekSymbol(1, ")"):
		p.i += 2
		return g
	default:
		g.Exprs = []Expr{p.expr()}
		for len(g.Exprs) == 1 { // a row in brackets of its own is no other than the row
			row, ok := g.Exprs[0].(*Row)
			if !ok || len(row.Elems) == 0 {
				break
			}
			g.Exprs = row.Elems
		}
		return g
	}
	at := p.open("(")
	p.list(func() { g.Sets = append(g.Sets, p.groupItem()) }, p.atClose)
	p.close(")", at)
	return g
}

// orderItem reads one item of ORDER BY; ALL is an item of a query's ORDER BY only.
func (p *parser) orderItem(allowAll bool) OrderItem {
	var o OrderItem
	if allowAll && p.accept("all") {
		o.All = true
	} else {
		o.Expr = p.expr()
	}
	switch {
	case p.accept("desc"):
		o.Desc = true
	case p.accept("using"):
		if o.Desc = p.acceptSymbol(">"); !o.Desc {
			p.expectSymbol("<")
		}
	default:
		p.accept("asc")
	}
	if p.accept("nulls") {
		o.Nulls = NullsFirst
		if p.expectOneOf("first", "last") == "last" {
			o.Nulls = NullsLast
		}
	}
	return o
}

func (p *parser) orderBy() []OrderItem {
	var out []OrderItem
	if p.accept("order") {
		p.expect("by")
		p.list(func() { out = append(out, p.orderItem(false)) }, p.atClose)
	}
	return out
}
