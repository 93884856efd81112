package sql

import "github.com/tidemarkdb/tidemark/sqlerr"

func (p *parser) ifNotExists() bool { return p.acceptAll("if", "not", "exists") }

func (p *parser) create() Statement {
	pos := p.pos()
	p.advance()
	replace := p.acceptAll("or", "replace")
	if (p.at("local") || p.at("global")) && (p.peekIs(1, "temp") || p.peekIs(1, "temporary")) {
		p.advance()
	}
	temp := p.accept("temp") || p.accept("temporary")
	switch {
	case !temp && !replace && p.accept("schema"):
		s := &CreateSchema{IfNotExists: p.ifNotExists(), Pos: pos}
		s.Name = p.name()
		return s
	case !temp && p.at("cdc"):
		p.expect("cdc", "table")
		return p.createTable(&CreateTable{CDC: true, OrReplace: replace, Pos: pos})
	case p.accept("table"):
		return p.createTable(&CreateTable{Temp: temp, OrReplace: replace, Pos: pos})
	case p.acceptAll("recursive", "view"):
		return p.createView(&CreateView{Recursive: true, Temp: temp, OrReplace: replace, Pos: pos})
	case p.accept("view"):
		return p.createView(&CreateView{Temp: temp, OrReplace: replace, Pos: pos})
	case p.accept("sequence"):
		return p.createSequence(&CreateSequence{Temp: temp, OrReplace: replace, Pos: pos})
	case !temp && !replace && p.accept("type"):
		return p.createType(pos)
	case !temp && p.accept("stream"):
		return p.createStream(&CreateStream{OrReplace: replace, Pos: pos})
	case p.acceptAll("materialized", "view"):
		p.unsupported(pos, "CREATE MATERIALIZED VIEW", "use CREATE TABLE name AS SELECT ..., or CREATE VIEW")
	}
	index := &CreateIndex{Pos: pos, Unique: p.accept("unique"), Aggregating: p.accept("aggregating")}
	p.expect("index")
	return p.createIndex(index)
}

func (p *parser) createTable(s *CreateTable) Statement {
	s.IfNotExists = p.ifNotExists()
	s.Name = p.name()
	if p.atSymbol("(") {
		at := p.open("(")
		if !p.atSymbol(")") {
			p.list(func() { p.tableElement(s) }, p.atClose)
		}
		p.close(")", at)
	}
	for {
		switch {
		case len(s.PrimaryIndex) == 0 && p.acceptAll("primary", "index"):
			s.PrimaryIndex = p.indexColumns()
		case s.Options == nil && p.at("with") && p.peekSymbol(1, "("):
			p.advance()
			s.Options = p.options()
		case s.Temp && p.at("on") && p.peekIs(1, "commit"):
			p.onCommit()
		case p.accept("as"):
			s.As = p.query()
			if p.acceptAll("with", "no", "data") {
				s.NoData = true
			} else {
				p.acceptAll("with", "data")
			}
			return s
		default:
			if len(s.Names) > 0 {
				// Names without types need a query to give the types.
				p.expect("as")
			}
			return s
		}
	}
}

// onCommit reads ON COMMIT of a temporary table, which keeps its rows.
func (p *parser) onCommit() {
	pos := p.pos()
	p.expect("on", "commit")
	if p.acceptAll("delete", "rows") || p.accept("drop") {
		p.unsupported(pos, "ON COMMIT DELETE ROWS and DROP", "TRUNCATE or DROP the table before COMMIT")
	}
	p.expect("preserve", "rows")
}

// indexColumns reads (a, b) or a, b.
func (p *parser) indexColumns() []Ident {
	if p.atSymbol("(") {
		return p.idents()
	}
	var out []Ident
	p.list(func() { out = append(out, p.ident()) }, nil)
	return out
}

func (p *parser) tableElement(s *CreateTable) {
	for _, w := range [...]string{"constraint", "primary", "unique", "check", "foreign"} {
		if p.at(w) {
			s.Constraints = append(s.Constraints, p.tableConstraint())
			return
		}
	}
	if p.at("like") {
		s.Likes = append(s.Likes, p.tableLike(len(s.Columns)))
		return
	}
	if p.peekSymbol(1, ",") || p.peekSymbol(1, ")") {
		s.Names = append(s.Names, p.ident())
	} else {
		s.Columns = append(s.Columns, p.columnDef())
	}
	if len(s.Names) > 0 && len(s.Columns) > 0 {
		p.failAt(p.pos(), sqlerr.SyntaxError, "some columns have a type and some have none",
			"give every column a type, or none and add AS SELECT ...")
	}
}

// tableLike reads LIKE in CREATE TABLE behind so many columns.
func (p *parser) tableLike(columns int) TableLike {
	p.expect("like")
	l := TableLike{Table: p.name(), At: columns}
	for p.at("including") || p.at("excluding") {
		o := LikeOption{Exclude: p.at("excluding")}
		p.advance()
		o.What = p.expectOneOf("all", "comments", "compression", "constraints", "defaults", "generated", "identity", "indexes", "statistics", "storage")
		l.Options = append(l.Options, o)
	}
	return l
}

func (p *parser) columnDef() ColumnDef {
	c := ColumnDef{Name: p.ident()}
	if !p.at("generated") && !(p.at("as") && p.peekSymbol(1, "(")) { // DuckDB's generated columns may go without
		c.Type = p.typeName()
	}
	for {
		pos := p.pos()
		var name Ident
		if p.accept("constraint") {
			name = p.ident()
		}
		switch {
		case p.acceptAll("not", "null"):
			c.NotNull = true
		case p.accept("null"):
			c.Null = true
		case p.accept("default"):
			if c.Default != nil {
				p.failAt(pos, sqlerr.SyntaxError, "multiple default values specified for column "+c.Name.Name, "give it one DEFAULT")
			}
			if p.at("not") { // of a condition, which needs brackets: NOT NULL may follow a default
				p.failHere()
			}
			c.Default = p.exprAt(precOperator)
		case p.accept("collate"):
			c.Collation = p.name()
		case p.at("generated"), p.at("as") && p.peekSymbol(1, "("):
			p.generated(&c)
		case p.at("primary"), p.at("unique"), p.at("check"), p.at("references"):
			c.Constraints = append(c.Constraints, p.constraint(Constraint{Name: name, Pos: pos}, false))
		default:
			if name.Name != "" {
				p.failHere()
			}
			if c.Null && c.NotNull {
				p.failAt(c.Name.Pos, sqlerr.SyntaxError, "column "+c.Name.Name+" is declared both NULL and NOT NULL", "keep one of them")
			}
			return c
		}
	}
}

func (p *parser) generated(c *ColumnDef) {
	pos, always := p.pos(), true
	if p.accept("generated") {
		if always = p.accept("always"); !always {
			p.expect("by", "default")
		}
	}
	p.expect("as")
	if p.accept("identity") {
		if c.Type.Name == "" {
			p.failAt(pos, sqlerr.SyntaxError, "an identity column needs a type", "write INTEGER or BIGINT before GENERATED")
		}
		c.Identity, c.Always = true, always
		if p.atSymbol("(") {
			at := p.open("(")
			c.Sequence = p.someSequenceOptions()
			p.close(")", at)
		}
		return
	}
	at := p.open("(")
	c.Generated = p.expr()
	p.close(")", at)
	_ = p.accept("stored") || p.accept("virtual")
}

func (p *parser) tableConstraint() Constraint {
	c := Constraint{Pos: p.pos()}
	if p.accept("constraint") {
		c.Name = p.ident()
	}
	return p.constraint(c, true)
}

// constraint reads a constraint of the table or of a column, and whether it is enforced.
func (p *parser) constraint(c Constraint, ofTable bool) Constraint {
	switch {
	case p.accept("primary"):
		p.expect("key")
		if ofTable {
			c.Columns = p.idents()
		}
	case p.accept("unique"):
		c.Kind = Unique
		if ofTable {
			c.Columns = p.idents()
		}
	case p.accept("check"):
		c.Kind = Check
		at := p.open("(")
		c.Check = p.expr()
		p.close(")", at)
	case ofTable && p.acceptAll("foreign", "key"):
		c.Columns = p.idents()
		p.references(&c)
	case !ofTable:
		p.references(&c)
	default:
		p.failHere()
	}
	for {
		pos := p.pos()
		switch {
		case p.acceptAll("not", "enforced"):
			c.NotEnforced = true
		case p.accept("enforced"), p.acceptAll("not", "deferrable"), p.accept("deferrable"), p.acceptAll("initially", "immediate"):
		case p.acceptAll("initially", "deferred"):
			p.unsupported(pos, "INITIALLY DEFERRED", "constraints are checked when the statement ends: change both tables in an order that keeps them")
		default:
			return c
		}
	}
}

func (p *parser) references(c *Constraint) {
	p.expect("references")
	c.Kind, c.References = ForeignKey, p.name()
	if p.atSymbol("(") {
		c.RefColumns = p.idents()
	}
	if p.accept("match") {
		pos := p.pos()
		switch p.expectOneOf("full", "simple", "partial") {
		case "full":
			c.MatchFull = true
		case "partial":
			p.unsupported(pos, "MATCH PARTIAL", "use MATCH SIMPLE or MATCH FULL")
		}
	}
	for p.at("on") && (p.peekIs(1, "delete") || p.peekIs(1, "update")) {
		p.advance()
		action := &c.OnUpdate
		if p.expectOneOf("delete", "update") == "delete" {
			action = &c.OnDelete
		}
		switch p.expectOneOf("no", "restrict", "cascade", "set") {
		case "no":
			p.expect("action")
		case "restrict":
			*action = "restrict"
		case "cascade":
			*action = "cascade"
		case "set":
			*action = "set " + p.expectOneOf("null", "default")
			if action == &c.OnDelete && p.atSymbol("(") {
				c.SetColumns = p.idents()
			}
		}
	}
}

func (p *parser) createView(s *CreateView) Statement {
	s.IfNotExists = p.ifNotExists()
	s.Name = p.name()
	if p.atSymbol("(") {
		s.Columns = p.idents()
	}
	p.expect("as")
	s.Query = p.query()
	return s
}

func (p *parser) createStream(s *CreateStream) Statement {
	s.IfNotExists = p.ifNotExists()
	s.Name = p.name()
	p.expect("from")
	s.Source = p.ident()
	if p.accept("with") {
		s.Options = p.options()
	}
	return s
}

func (p *parser) createIndex(s *CreateIndex) Statement {
	p.accept("concurrently")
	s.IfNotExists = p.ifNotExists()
	if !p.at("on") {
		s.Name = p.name()
	}
	p.expect("on")
	s.Table = p.name()
	if p.accept("using") {
		s.Method = p.ident()
	}
	at := p.open("(")
	p.list(func() { s.Exprs = append(s.Exprs, p.orderItem(false)) }, p.atClose)
	p.close(")", at)
	if p.accept("where") {
		s.Where = p.expr()
	}
	return s
}
