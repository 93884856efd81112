package sql

import "github.com/tidemarkdb/tidemark/sqlerr"

// targetAlias reads [AS] alias behind the table a statement changes.
func (p *parser) targetAlias() Ident {
	as := p.accept("as")
	if as || p.atTableAlias() && !p.at("values") {
		return p.aliasName(as)
	}
	return Ident{}
}

func (p *parser) returning() []SelectItem {
	if !p.accept("returning") {
		return nil
	}
	return p.selectItems()
}

func (p *parser) insert(pos int, with *With) Statement {
	s := &Insert{With: with, Pos: pos}
	p.expect("insert")
	ignore := p.acceptAll("or", "ignore") // SQLite's and DuckDB's spelling
	replace := !ignore && p.acceptAll("or", "replace")
	p.expect("into")
	s.Table = p.name()
	if p.accept("as") {
		s.Alias = p.ident()
	}
	if p.atSymbol("(") && !p.parenQueryAhead(0) {
		s.Columns = p.idents()
	}
	if s.ByName = len(s.Columns) == 0 && p.acceptAll("by", "name"); !s.ByName {
		p.acceptAll("by", "position")
	}
	if p.accept("overriding") {
		s.Overriding = p.expectOneOf("system", "user")
		p.expect("value")
	}
	if !p.acceptAll("default", "values") {
		_ = p.at("values") // for the hint
		s.Source = p.query()
	}
	if ignore || replace {
		s.OnConflict = &OnConflict{Replace: replace, Pos: pos}
	} else if p.at("on") {
		s.OnConflict = p.onConflict()
	}
	s.Returning = p.returning()
	return s
}

func (p *parser) onConflict() *OnConflict {
	c := &OnConflict{Pos: p.pos()}
	p.expect("on", "conflict")
	if p.atSymbol("(") {
		c.Columns = p.idents()
		if p.accept("where") {
			c.Predicate = p.expr()
		}
	} else if p.acceptAll("on", "constraint") {
		c.Constraint = p.ident()
	}
	p.expect("do")
	if p.accept("nothing") {
		return c
	}
	p.expect("update", "set")
	c.Update = p.assignments(Ident{})
	if p.accept("where") {
		c.Where = p.expr()
	}
	return c
}

// targetIdent is the name by which the columns of the table of a statement are qualified.
func targetIdent(table Name, alias Ident) Ident {
	if alias.Name != "" {
		return alias
	}
	return table[len(table)-1]
}

// assignments reads what SET lists. A part of a column, c[i], is assigned by assigning the whole of it, which target
// qualifies when it is given: c = array_assign(c, i, value).
func (p *parser) assignments(target Ident) []Assignment {
	var out []Assignment
	parts := map[string]int{} // places in out of columns whose parts are assigned
	p.list(func() {
		a := Assignment{Pos: p.pos()}
		var index Expr
		if a.Multi = p.atSymbol("("); a.Multi {
			a.Columns = p.idents()
		} else {
			a.Columns = []Ident{p.ident()}
			index = p.assignedPlace()
		}
		p.expectSymbol("=")
		a.Value = p.expr()
		if index != nil {
			name := a.Columns[0].Name
			at, again := parts[name]
			whole := Expr(&Column{Name: qualified(target, a.Columns[0]), Pos: a.Pos})
			if again {
				whole = out[at].Value
			}
			a.Value = &FuncCall{Name: Name{{Name: "array_assign"}}, Args: []Arg{{Value: whole}, {Value: index}, {Value: a.Value}}, Pos: a.Pos}
			if again {
				out[at] = a
				return
			}
			parts[name] = len(out)
		}
		if a.Multi {
			a.Value = multiValue(a)
		}
		switch a.Value.(type) {
		case *Row, *Subquery:
		default:
			if a.Multi {
				p.failAt(a.Value.Position(), sqlerr.SyntaxError, "a list of columns takes a row or a query",
					"write (a, b) = (x, y) or (a, b) = (SELECT ...)")
			}
		}
		out = append(out, a)
	}, p.atQueryEnd)
	return out
}

// assignedPlace reads [i] behind a column that is assigned to, nil where it is not there.
func (p *parser) assignedPlace() Expr {
	const whole = "name the column alone and assign a whole value"
	if p.atSymbol(".") {
		p.unsupported(p.pos(), "assigning to a field of a column", whole)
	}
	if !p.atSymbol("[") {
		return nil
	}
	at := p.open("[")
	index := p.expr()
	if p.atSymbol(":") {
		p.unsupported(p.pos(), "assigning to a slice of a column", whole)
	}
	p.close("]", at)
	if p.atSymbol("[") {
		p.unsupported(p.pos(), "assigning to an element of an element", whole)
	}
	return index
}

func qualified(table, column Ident) Name {
	if table.Name == "" {
		return Name{column}
	}
	return Name{table, column}
}

// multiValue makes a row of the single value in (a) = (x), whose parentheses are no row by themselves.
func multiValue(a Assignment) Expr {
	if len(a.Columns) != 1 {
		return a.Value
	}
	switch a.Value.(type) {
	case *Row, *Subquery:
		return a.Value
	}
	return &Row{Elems: []Expr{a.Value}, Pos: a.Value.Position()}
}

func (p *parser) update(pos int, with *With) Statement {
	s := &Update{With: with, Pos: pos}
	p.expect("update")
	p.accept("only")
	s.Table = p.name()
	s.Alias = p.targetAlias()
	p.expect("set")
	s.Set = p.assignments(targetIdent(s.Table, s.Alias))
	if p.accept("from") {
		s.From = p.fromList()
	}
	if p.accept("where") {
		s.Where = p.expr()
	}
	s.Returning = p.returning()
	return s
}

func (p *parser) delete(pos int, with *With) Statement {
	s := &Delete{With: with, Pos: pos}
	p.expect("delete", "from")
	p.accept("only")
	s.Table = p.name()
	s.Alias = p.targetAlias()
	if p.accept("using") {
		s.Using = p.fromList()
	}
	if p.accept("where") {
		s.Where = p.expr()
	}
	s.Returning = p.returning()
	return s
}

func (p *parser) merge(pos int, with *With) Statement {
	s := &Merge{With: with, Pos: pos}
	p.expect("merge", "into")
	p.accept("only")
	s.Table = p.name()
	s.Alias = p.targetAlias()
	p.expect("using")
	s.Source = p.tableExpr()
	p.expect("on")
	s.On = p.expr()
	for p.at("when") {
		s.Whens = append(s.Whens, p.mergeWhen(targetIdent(s.Table, s.Alias)))
	}
	if len(s.Whens) == 0 {
		p.failHere()
	}
	s.Returning = p.returning()
	return s
}

func (p *parser) mergeWhen(target Ident) MergeWhen {
	w := MergeWhen{Pos: p.pos()}
	p.expect("when")
	if p.accept("not") {
		w.Match = NotMatched
	}
	p.expect("matched")
	if w.Match == NotMatched && p.accept("by") {
		if p.expectOneOf("source", "target") == "source" {
			w.Match = NotMatchedBySource
		}
	}
	if p.accept("and") {
		w.And = p.expr()
	}
	p.expect("then")
	actionPos := p.pos()
	switch p.expectOneOf("insert", "update", "delete", "do") {
	case "insert":
		w.Action = MergeInsert
		p.mergeInsert(&w)
	case "update":
		w.Action = MergeUpdate
		p.expect("set")
		w.Set = p.assignments(target)
	case "delete":
		w.Action = MergeDelete
	default:
		p.expect("nothing")
	}
	if inserts := w.Action == MergeInsert; w.Action != MergeNothing && inserts != (w.Match == NotMatched) {
		p.failAt(actionPos, sqlerr.SyntaxError, "the action does not fit its WHEN clause",
			"WHEN NOT MATCHED inserts; WHEN MATCHED and WHEN NOT MATCHED BY SOURCE update or delete")
	}
	return w
}

func (p *parser) mergeInsert(w *MergeWhen) {
	if p.atSymbol("(") {
		w.Columns = p.idents()
	}
	if p.acceptAll("default", "values") {
		return
	}
	p.expect("values")
	at := p.open("(")
	w.Values = p.exprs()
	p.close(")", at)
}

func (p *parser) truncate() Statement {
	s := &Truncate{Pos: p.pos()}
	p.advance()
	p.accept("table")
	s.Tables = p.names()
	if s.Restart = p.acceptAll("restart", "identity"); !s.Restart {
		p.acceptAll("continue", "identity")
	}
	s.Cascade = p.cascade()
	return s
}

func (p *parser) copyStatement() Statement {
	s := &Copy{Pos: p.pos()}
	p.advance()
	if p.atSymbol("(") {
		at := p.open("(")
		s.Query = p.query()
		p.close(")", at)
	} else {
		s.Table = p.name()
		if p.atSymbol("(") {
			s.Columns = p.idents()
		}
	}
	s.From = s.Query == nil && p.accept("from")
	if !s.From {
		p.expect("to")
	}
	switch {
	case s.From && p.accept("stdin"), !s.From && p.accept("stdout"):
	default:
		if s.Path = p.stringLiteral(); s.Path == "" {
			p.i--
			p.failAt(p.pos(), sqlerr.InvalidParameterValue, "the path of COPY is empty", "name a file, or STDIN or STDOUT")
		}
	}
	with := p.accept("with")
	switch {
	case p.atSymbol("("):
		s.Options = p.options()
	case with || p.at("csv") || p.at("header"):
		s.Options = p.oldCopyOptions()
	}
	return s
}

// oldCopyOptions reads the options of COPY as they were before PostgreSQL 9: CSV HEADER DELIMITER ','.
func (p *parser) oldCopyOptions() []Option {
	var out []Option
	for {
		name := Ident{Name: p.tok().word, Pos: p.pos()}
		switch {
		case p.at("csv"), p.at("binary"):
			out = append(out, Option{Name: Ident{Name: "format", Pos: p.pos()}, Value: &String{Value: name.Name, Pos: p.pos()}})
			p.advance()
		case p.accept("header"):
			out = append(out, Option{Name: name})
		case p.accept("delimiter"), p.accept("null"), p.accept("quote"), p.accept("escape"):
			p.accept("as")
			pos := p.pos()
			out = append(out, Option{Name: name, Value: &String{Value: p.stringLiteral(), Pos: pos}})
		default:
			return out
		}
	}
}
