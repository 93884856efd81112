package sql

import (
	"strings"

	"github.com/tidemarkdb/tidemark/sqlerr"
)

func (p *parser) transactionWord() { _ = p.accept("work") || p.accept("transaction") }

func (p *parser) begin() Statement {
	s := &Transaction{Kind: Begin, Pos: p.pos()}
	if p.accept("start") {
		p.expect("transaction")
	} else {
		p.advance()
		p.transactionWord()
	}
	s.Modes = p.transactionModes()
	return s
}

func (p *parser) transactionModes() TransactionModes {
	var m TransactionModes
	for {
		switch {
		case p.acceptAll("isolation", "level"):
			switch p.expectOneOf("serializable", "repeatable", "read") {
			case "serializable":
				m.Isolation = "serializable"
			case "repeatable":
				p.expect("read")
				m.Isolation = "repeatable read"
			default:
				m.Isolation = "read " + p.expectOneOf("committed", "uncommitted")
			}
		case p.accept("read"):
			m.Access = "read " + p.expectOneOf("only", "write")
		case p.acceptAll("not", "deferrable"), p.accept("deferrable"):
		default:
			return m
		}
		p.acceptSymbol(",")
	}
}

// chain reads AND [NO] CHAIN.
func (p *parser) chain() bool {
	if !p.accept("and") {
		return false
	}
	no := p.accept("no")
	p.expect("chain")
	return !no
}

func (p *parser) commit() Statement {
	s := &Transaction{Kind: Commit, Pos: p.pos()}
	p.advance()
	p.transactionWord()
	s.Chain = p.chain()
	return s
}

func (p *parser) rollback() Statement {
	s := &Transaction{Kind: Rollback, Pos: p.pos()}
	p.advance()
	p.transactionWord()
	if p.accept("to") {
		p.accept("savepoint")
		s.Kind, s.Savepoint = RollbackTo, p.ident()
		return s
	}
	s.Chain = p.chain()
	return s
}

func (p *parser) savepoint() Statement {
	s := &Transaction{Kind: Savepoint, Pos: p.pos()}
	p.advance()
	s.Savepoint = p.ident()
	return s
}

func (p *parser) release() Statement {
	s := &Transaction{Kind: Release, Pos: p.pos()}
	p.advance()
	p.accept("savepoint")
	s.Savepoint = p.ident()
	return s
}

func (p *parser) set() Statement {
	s := &Set{Pos: p.pos()}
	p.advance()
	if p.acceptAll("session", "characteristics", "as", "transaction") {
		return &SetTransaction{Modes: p.transactionModes(), Session: true, Pos: s.Pos}
	}
	if p.accept("transaction") {
		return &SetTransaction{Modes: p.transactionModes(), Pos: s.Pos}
	}
	// SET LOCAL x and SET SESSION x, but SET session = x sets a setting of that name.
	if next := p.peek(1).kind; next == tokenWord && !p.peekIs(1, "to") || next == tokenQuoted {
		if s.Local = p.accept("local"); !s.Local {
			p.accept("session")
		}
	}
	switch {
	case p.acceptAll("time", "zone"):
		s.Name = "timezone"
		if p.accept("local") || p.accept("default") {
			return s
		}
		s.Values = []Expr{p.setting()}
		return s
	case p.at("names") && p.peek(1).kind != tokenSymbol:
		return p.setAlias(s, "client_encoding")
	case p.at("schema") && p.peek(1).kind == tokenString:
		return p.setAlias(s, "search_path")
	case p.at("role") && p.peek(1).kind != tokenSymbol && !p.peekIs(1, "to"):
		return p.setAlias(s, "role")
	case p.at("authorization"):
		return p.setAlias(s, "session_authorization")
	}
	if s.Name = p.settingName(); s.Name == "schema" { // as DuckDB calls it
		s.Name = "search_path"
	}
	if !p.acceptSymbol("=") {
		p.expect("to")
	}
	if p.accept("default") {
		return s
	}
	p.list(func() { s.Values = append(s.Values, p.setting()) }, nil)
	return s
}

func (p *parser) setAlias(s *Set, name string) Statement {
	p.advance()
	s.Name = name
	if !p.accept("default") && p.tok().kind != tokenEnd && !p.atSymbol(";") {
		s.Values = []Expr{p.setting()}
	}
	return s
}

// settingName reads a dotted name in lower case.
func (p *parser) settingName() string {
	start := p.pos()
	name := p.label().Name
	for p.acceptSymbol(".") {
		name += "." + p.label().Name
	}
	for _, part := range strings.Split(name, ".") {
		if part == "" {
			p.failAt(start, sqlerr.InvalidName, "the name has an empty part", "write dotted names as a.b.c, each part not empty")
		}
	}
	return strings.ToLower(name)
}

func (p *parser) reset() Statement {
	s := &Reset{Pos: p.pos()}
	p.advance()
	switch {
	case p.accept("all"):
	case p.acceptAll("time", "zone"):
		s.Name = "timezone"
	default:
		s.Name = p.settingName()
	}
	return s
}

func (p *parser) show() Statement {
	s := &Show{Pos: p.pos()}
	p.advance()
	switch {
	case p.accept("all"):
		s.Kind = ShowAll
	case p.accept("tables"):
		s.Kind = ShowTables
	case p.accept("schemas"), p.accept("databases"):
		s.Kind = ShowSchemas
	case p.accept("views"):
		s.Kind = ShowViews
	case p.accept("streams"):
		s.Kind = ShowStreams
	case p.acceptAll("columns", "from"), p.acceptAll("columns", "in"):
		s.Kind, s.Table = ShowColumns, p.name()
	case p.acceptAll("time", "zone"):
		s.Name = "timezone"
	case p.acceptAll("transaction", "isolation", "level"):
		s.Name = "transaction_isolation"
	default:
		s.Name = p.settingName()
	}
	return s
}
