package sql

func (p *parser) ifExists() bool { return p.acceptAll("if", "exists") }

func (p *parser) cascade() bool {
	if p.accept("cascade") {
		return true
	}
	p.accept("restrict")
	return false
}

func (p *parser) objectKind() ObjectKind {
	switch p.expectOneOf("table", "view", "schema", "stream", "index", "sequence", "type") {
	case "view":
		return ViewObject
	case "schema":
		return SchemaObject
	case "stream":
		return StreamObject
	case "index":
		return IndexObject
	case "sequence":
		return SequenceObject
	case "type":
		return TypeObject
	}
	return TableObject
}

func (p *parser) drop() Statement {
	s := &Drop{Pos: p.pos()}
	p.advance()
	if p.at("cdc") && p.peekIs(1, "table") {
		p.advance()
	}
	s.Kind = p.objectKind()
	s.IfExists = p.ifExists()
	s.Names = p.names()
	s.Cascade = p.cascade()
	return s
}

func (p *parser) comment() Statement {
	s := &Comment{Pos: p.pos()}
	p.advance()
	p.expect("on")
	switch {
	case p.accept("column"):
		s.Kind = ColumnObject
	case p.accept("constraint"):
		s.Kind = ConstraintObject
	case p.accept("database"):
		s.Kind = DatabaseObject
	default:
		s.Kind = p.objectKind()
	}
	s.Name = p.name()
	if s.Kind == ConstraintObject {
		p.expect("on")
		s.On = p.name()
	}
	p.expect("is")
	if !p.accept("null") {
		text := p.stringLiteral()
		s.Text = &text
	}
	return s
}

func (p *parser) alter() Statement {
	pos := p.pos()
	p.advance()
	if p.accept("cdc") {
		p.expect("table")
		return p.alterCDC(pos)
	}
	s := &Alter{Pos: pos, Kind: p.objectKind(), IfExists: p.ifExists()}
	p.accept("only")
	if s.Kind == TypeObject && !s.IfExists {
		return p.alterType(pos)
	}
	s.Name = p.name()
	if s.Kind == SequenceObject && !p.at("rename") && !(p.at("set") && p.peekIs(1, "schema")) {
		return &AlterSequence{Name: s.Name, IfExists: s.IfExists, Options: p.someSequenceOptions(), Pos: pos}
	}
	if s.Kind != TableObject {
		s.Actions = []AlterAction{p.alterObject(s.Kind)}
		return s
	}
	p.list(func() { s.Actions = append(s.Actions, p.alterTable()) }, nil)
	return s
}

func (p *parser) alterCDC(pos int) Statement {
	s := &AlterCDCTable{Pos: pos, IfExists: p.ifExists(), Table: p.name()}
	switch p.expectOneOf("attach", "detach", "resume", "suspend") {
	case "attach":
		p.expect("stream")
		s.Stream = p.name()
	case "detach":
		p.expect("stream")
		s.Action = DetachStream
	case "resume":
		s.Action = Resume
	default:
		s.Action = Suspend
	}
	return s
}

// alterObject reads the action of ALTER on anything but a table.
func (p *parser) alterObject(kind ObjectKind) AlterAction {
	a := AlterAction{Pos: p.pos()}
	if (kind == ViewObject || kind == SequenceObject) && p.acceptAll("set", "schema") {
		a.Kind, a.NewName = SetSchema, p.ident()
		return a
	}
	p.expect("rename")
	if kind == ViewObject && !p.at("to") {
		p.accept("column")
		a.Kind, a.Column = RenameColumn, p.ident()
	}
	p.expect("to")
	a.NewName = p.ident()
	return a
}

func (p *parser) alterTable() AlterAction {
	a := AlterAction{Pos: p.pos()}
	switch p.expectOneOf("rename", "add", "drop", "alter", "set") {
	case "rename":
		if p.accept("to") {
			a.NewName = p.ident()
			return a
		}
		p.accept("column")
		a.Kind, a.Column = RenameColumn, p.ident()
		p.expect("to")
		a.NewName = p.ident()
	case "add":
		p.alterAdd(&a)
	case "drop":
		a.Kind = DropColumn
		if p.accept("constraint") {
			a.Kind = DropConstraint
		} else {
			p.accept("column")
		}
		a.IfExists = p.ifExists()
		a.Column = p.ident()
		a.Cascade = p.cascade()
	case "alter":
		p.accept("column")
		a.Column = p.ident()
		p.alterColumn(&a)
	default:
		p.alterSet(&a)
	}
	return a
}

func (p *parser) alterAdd(a *AlterAction) {
	for _, w := range [...]string{"constraint", "primary", "unique", "check", "foreign"} {
		if p.at(w) {
			c := p.tableConstraint()
			a.Kind, a.Constraint = AddConstraint, &c
			return
		}
	}
	p.accept("column")
	a.Kind, a.IfExists = AddColumn, p.ifNotExists()
	def := p.columnDef()
	a.Def = &def
}

func (p *parser) alterColumn(a *AlterAction) {
	switch {
	case p.acceptAll("set", "data", "type"), p.accept("type"):
		a.Kind, a.Type = AlterType, p.typeName()
		if p.accept("using") {
			a.Using = p.expr()
		}
	case p.acceptAll("set", "default"):
		a.Kind, a.Default = SetDefault, p.expr()
	case p.acceptAll("drop", "default"):
		a.Kind = DropDefault
	case p.acceptAll("set", "not", "null"):
		a.Kind = SetNotNull
	case p.acceptAll("drop", "not", "null"):
		a.Kind = DropNotNull
	case p.acceptAll("drop", "expression"):
		a.Kind, a.IfExists = DropExpression, p.ifExists()
	default:
		p.failHere()
	}
}

func (p *parser) alterSet(a *AlterAction) {
	switch {
	case p.acceptAll("primary", "index"):
		a.Kind, a.Columns = SetPrimaryIndex, p.indexColumns()
	case p.accept("schema"):
		a.Kind, a.NewName = SetSchema, p.ident()
	default:
		a.Kind, a.Options = SetOptions, p.options()
	}
}
