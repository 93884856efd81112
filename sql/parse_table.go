package sql

func (p *parser) fromList() []TableExpr {
	var from []TableExpr
	p.list(func() { from = append(from, p.tableExpr()) }, p.atQueryEnd)
	return from
}

// tableExpr reads a table reference with the joins behind it.
func (p *parser) tableExpr() TableExpr {
	p.enter()
	defer p.leave()
	return p.joins(p.tablePrimary())
}

// joins reads the joins behind left.
func (p *parser) joins(left TableExpr) TableExpr {
	for {
		j := p.join(left)
		if j == nil {
			return left
		}
		left = j
	}
}

// join reads one join behind left, nil when there is none. In a JOIN b JOIN c ON y ON x a join without its condition
// waits for it and takes the next join as its right side.
func (p *parser) join(left TableExpr) *Join {
	p.enter()
	defer p.leave()
	j := &Join{Left: left, Pos: p.pos()}
	if !p.joinWords(j) {
		return nil
	}
	p.links++
	j.Right = p.tablePrimary()
	if j.Kind == CrossJoin || j.Natural {
		return j
	}
	for !p.at("on") && !p.at("using") {
		inner := p.join(j.Right)
		if inner == nil {
			p.failHere()
		}
		j.Right = inner
	}
	p.joinCondition(j)
	return j
}

// joinWords reads the words up to and with JOIN.
func (p *parser) joinWords(j *Join) bool {
	start := p.i
	j.Natural = p.accept("natural")
	if p.at("asof") && !p.joinFollows(1) {
		return false
	}
	j.Asof = p.accept("asof")
	switch {
	case p.accept("inner"):
	case p.accept("cross"):
		j.Kind = CrossJoin
	case p.accept("left"):
		j.Kind = LeftJoin
		p.accept("outer")
	case p.accept("right"):
		j.Kind = RightJoin
		p.accept("outer")
	case p.accept("full"):
		j.Kind = FullJoin
		p.accept("outer")
	case p.at("semi") && p.peekIs(1, "join"):
		j.Kind = SemiJoin
		p.advance()
	case p.at("anti") && p.peekIs(1, "join"):
		j.Kind = AntiJoin
		p.advance()
	}
	if j.Kind == LeftJoin && (p.at("semi") || p.at("anti")) {
		j.Kind = SemiJoin
		if p.at("anti") {
			j.Kind = AntiJoin
		}
		p.advance()
	}
	if p.accept("join") {
		return true
	}
	if p.i != start {
		p.failHere()
	}
	return false
}

func (p *parser) joinFollows(n int) bool {
	switch t := p.peek(n); t.word {
	case "join", "left", "right", "inner", "full":
		return t.kind == tokenWord
	}
	return false
}

func (p *parser) joinCondition(j *Join) {
	if p.accept("on") {
		j.On = p.expr()
		return
	}
	p.expect("using")
	j.Using = p.idents()
	if p.accept("as") {
		j.UsingAlias = p.ident()
	}
}

func (p *parser) tablePrimary() TableExpr {
	pos := p.pos()
	if p.accept("lateral") {
		if p.atSymbol("(") {
			at := p.open("(")
			d := &Derived{Query: p.query(), Lateral: true, Pos: pos}
			p.close(")", at)
			d.Alias = p.tableAlias()
			return d
		}
		f := p.funcTable(pos, p.name()...)
		f.Lateral = true
		return f
	}
	switch {
	case p.atSymbol("("):
		return p.parenTable(pos)
	case p.tok().kind == tokenString:
		f := &FileTable{Path: p.stringLiteral(), Pos: pos}
		f.Alias = p.tableAlias()
		f.Sample = p.sample()
		return f
	case p.at("rows") && p.peekIs(1, "from") && p.peekSymbol(2, "("):
		return p.rowsFrom(pos)
	case p.at("values") && p.peekSymbol(1, "("):
		d := &Derived{Query: p.values(), Pos: pos}
		if d.Alias = p.tableAlias(); d.Alias.Name.Name == "" { // it needs one, as in DuckDB
			p.fail(p.errorHere().Hintf("give VALUES an alias, or put it into brackets"))
		}
		return d
	case p.tok().kind == tokenWord && wordClasses[p.tok().word] == funcWord && p.peekSymbol(1, "("):
		return p.funcTable(pos, p.label())
	case p.tok().kind == tokenWord && niladic[p.tok().word]:
		return p.funcTail(&FuncTable{Calls: []*FuncCall{p.niladicCall(pos)}, Pos: pos})
	}
	p.accept("only")
	return p.namedTable(pos)
}

func (p *parser) namedTable(pos int) TableExpr {
	name := Name{p.ident()}
	for p.acceptSymbol(".") {
		name = append(name, p.label())
	}
	if p.atSymbol("(") {
		return p.funcTable(pos, name...)
	}
	p.acceptSymbol("*")
	t := &Table{Name: name, Pos: pos}
	t.AsOf = p.asOf()
	t.Alias = p.tableAlias()
	if t.AsOf == nil {
		t.AsOf = p.asOf()
	}
	t.Sample = p.sample()
	return t
}

// parenTable reads a query or a join in parentheses. Whether ((... opens one or the other shows only behind the inner
// parenthesis: a query there may be the left operand of a set operation.
func (p *parser) parenTable(pos int) TableExpr {
	p.enter()
	defer p.leave()
	at := p.open("(")
	if p.atQuery(0) {
		d := &Derived{Query: p.query(), Pos: pos}
		p.close(")", at)
		return p.derivedTail(d)
	}
	innerPos := p.pos()
	inner := p.tablePrimary()
	if d, ok := inner.(*Derived); ok && !d.Lateral && d.Alias.Name.Name == "" && d.Sample == nil && p.queryContinues() {
		body := p.queryTail(innerPos, nil, p.setOperations(d.Query, 0))
		p.close(")", at)
		return p.derivedTail(&Derived{Query: body, Pos: pos})
	}
	inner = p.joins(inner)
	if !standsInParens(inner) {
		p.failHere()
	}
	p.close(")", at)
	alias := p.tableAlias()
	if alias.Name.Name == "" {
		return inner
	}
	switch inner := inner.(type) {
	case *Join:
		inner.Alias = alias
	case *Derived:
		inner.Alias = alias
	}
	return inner
}

// standsInParens reports whether a table may have parentheses around it: a join or a query without an alias.
func standsInParens(t TableExpr) bool {
	switch t := t.(type) {
	case *Join:
		return t.Alias.Name.Name == ""
	case *Derived:
		return !t.Lateral && t.Alias.Name.Name == "" && t.Sample == nil
	}
	return false
}

func (p *parser) queryContinues() bool {
	for _, w := range [...]string{"union", "except", "intersect", "order", "limit", "offset", "fetch"} {
		if p.at(w) {
			return true
		}
	}
	return false
}

func (p *parser) derivedTail(d *Derived) TableExpr {
	d.Alias = p.tableAlias()
	d.Sample = p.sample()
	return d
}

func (p *parser) rowsFrom(pos int) TableExpr {
	p.expect("rows", "from")
	f := &FuncTable{Pos: pos}
	at := p.open("(")
	p.list(func() {
		callPos := p.pos()
		f.Calls = append(f.Calls, p.call(callPos, p.name()))
	}, p.atClose)
	p.close(")", at)
	return p.funcTail(f)
}

func (p *parser) funcTable(pos int, name ...Ident) *FuncTable {
	f := &FuncTable{Pos: pos}
	f.Calls = []*FuncCall{p.call(pos, name)}
	return p.funcTail(f)
}

func (p *parser) funcTail(f *FuncTable) *FuncTable {
	f.Ordinality = p.acceptAll("with", "ordinality")
	if p.at("as") && p.peekSymbol(1, "(") {
		p.advance()
		f.ColumnDefs = p.structFields()
		return f
	}
	as := p.accept("as")
	if as || p.atTableAlias() {
		f.Alias.Name = p.aliasName(as)
		if p.atSymbol("(") {
			if p.peekSymbol(2, ",") || p.peekSymbol(2, ")") {
				f.Alias.Columns = p.idents()
			} else {
				f.ColumnDefs = p.structFields()
			}
		}
	}
	f.Sample = p.sample()
	return f
}

// structFields reads (name type, ...).
func (p *parser) structFields() []StructField {
	var out []StructField
	at := p.open("(")
	p.list(func() { out = append(out, StructField{Name: p.label(), Type: p.typeName()}) }, p.atClose)
	p.close(")", at)
	return out
}

func (p *parser) tableAlias() TableAlias {
	var a TableAlias
	as := p.accept("as")
	if !as && !p.atTableAlias() {
		return a
	}
	a.Name = p.aliasName(as)
	if p.atSymbol("(") {
		a.Columns = p.idents()
	}
	return a
}

func (p *parser) aliasName(as bool) Ident {
	if as {
		return p.ident()
	}
	p.aliasAt = p.i
	return p.label()
}

// atTableAlias reports whether a table alias without AS is at hand, and not a word of the grammar behind a table.
func (p *parser) atTableAlias() bool {
	if t := p.tok(); !p.atBareAlias() && !(t.kind == tokenWord && wordClasses[t.word] == needsAs && t.word != "escape") {
		return false
	}
	switch t := p.tok(); {
	case t.kind == tokenQuoted:
		return true
	case t.word == "semi", t.word == "anti":
		return !p.peekIs(1, "join")
	case t.word == "asof":
		return !p.joinFollows(1)
	case t.word == "at":
		return !p.peekSymbol(1, "(")
	case t.word == "set":
		return false
	}
	return true
}

func (p *parser) asOf() *AsOf {
	if p.at("for") && (p.peekIs(1, "system_time") || p.peekIs(1, "system_version") || p.peekIs(1, "version") || p.peekIs(1, "timestamp")) {
		p.advance()
		version := p.at("system_version") || p.at("version")
		p.advance()
		p.expect("as", "of")
		return &AsOf{Version: version, Value: p.exprAt(precOperator)}
	}
	if !p.at("at") || !p.peekSymbol(1, "(") {
		return nil
	}
	p.advance()
	at := p.open("(")
	a := &AsOf{Version: p.expectOneOf("version", "timestamp") == "version"}
	p.expectSymbol("=>")
	a.Value = p.expr()
	p.close(")", at)
	return a
}

func (p *parser) sample() *Sample {
	if !p.accept("tablesample") {
		return nil
	}
	s := &Sample{}
	if !p.atSymbol("(") {
		s.Method = p.ident().Name
	}
	at := p.open("(")
	s.Size = p.expr()
	switch {
	case p.accept("rows"):
		s.Rows = true
	case p.accept("percent"), p.acceptSymbol("%"):
		s.Percent = true
	}
	p.close(")", at)
	if p.accept("repeatable") {
		at := p.open("(")
		s.Repeat = p.expr()
		p.close(")", at)
	}
	return s
}
