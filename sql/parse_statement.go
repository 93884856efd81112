package sql

import (
	"maps"
	"slices"
	"strings"

	"github.com/tidemarkdb/tidemark/sqlerr"
)

// statementReaders holds the reader of each statement by its first word, which is at hand when it is called.
var statementReaders map[string]func(*parser) Statement

func init() { // the readers refer back to the map through EXPLAIN and PREPARE
	statementReaders = map[string]func(*parser) Statement{
		"abort": (*parser).rollback, "alter": (*parser).alter, "analyze": (*parser).maintain, "begin": (*parser).begin,
		"call": (*parser).callProc, "close": (*parser).closeStatement, "checkpoint": (*parser).maintain, "comment": (*parser).comment,
		"commit": (*parser).commit, "copy": (*parser).copyStatement, "create": (*parser).create,
		"deallocate": (*parser).deallocate, "declare": (*parser).declare, "fetch": (*parser).fetchStatement, "move": (*parser).fetchStatement,
		"delete": (*parser).withData, "desc": (*parser).describe,
		"describe": (*parser).describe, "discard": (*parser).discard, "drop": (*parser).drop, "end": (*parser).commit,
		"execute": (*parser).execute, "explain": (*parser).explain, "insert": (*parser).withData,
		"load": (*parser).load, "merge": (*parser).withData, "pragma": (*parser).pragma, "prepare": (*parser).prepare, "release": (*parser).release,
		"reset": (*parser).reset, "rollback": (*parser).rollback, "savepoint": (*parser).savepoint, "set": (*parser).set,
		"show": (*parser).show, "start": (*parser).begin, "summarize": (*parser).describe, "truncate": (*parser).truncate, "update": (*parser).withData,
		"use": (*parser).use, "vacuum": (*parser).maintain, "with": (*parser).withData,
	}
}

// statement reads one statement.
func (p *parser) statement() Statement {
	p.enter()
	defer p.leave()
	if t := p.tok(); t.kind == tokenWord {
		if read := statementReaders[t.word]; read != nil {
			return read(p)
		}
	}
	if p.atSymbol("(") || p.atQuery(0) {
		return p.query()
	}
	p.fail(p.misspelledStatement())
	return nil
}

// withData reads a statement that may begin with WITH: a query or one that changes data.
func (p *parser) withData() Statement {
	pos := p.pos()
	with := p.outerWith()
	switch {
	case p.at("insert"):
		return p.insert(pos, with)
	case p.at("update"):
		return p.update(pos, with)
	case p.at("delete"):
		return p.delete(pos, with)
	case p.at("merge"):
		return p.merge(pos, with)
	}
	return p.queryTail(pos, with, p.setOperations(p.queryPrimary(), 0))
}

// misspelledStatement is the error of a text that begins with no statement's word.
func (p *parser) misspelledStatement() *sqlerr.Error {
	words := slices.Sorted(maps.Keys(statementReaders))
	err := p.errorHere()
	if word := misspelled(p.tok(), append(words, "select", "values", "table")); word != "" && err.Code == sqlerr.SyntaxError {
		return err.Hintf("did you mean %s?", strings.ToUpper(word))
	}
	return err
}

func (p *parser) explain() Statement {
	e := &Explain{Pos: p.pos()}
	p.advance()
	if p.atSymbol("(") && !p.parenQueryAhead(0) {
		for _, o := range p.options() {
			if o.Name.Name != "analyze" {
				e.Options = append(e.Options, o)
				continue
			}
			e.Analyze = optionIsOn(o)
		}
	} else {
		e.Analyze = p.accept("analyze")
		if p.accept("verbose") {
			e.Options = append(e.Options, Option{Name: Ident{Name: "verbose"}})
		}
	}
	e.Statement = p.statement()
	return e
}

func optionIsOn(o Option) bool {
	switch v := o.Value.(type) {
	case *Bool:
		return v.Value
	case *String:
		return v.Value != "off"
	case *Number:
		return v.Text != "0"
	}
	return true
}

func (p *parser) prepare() Statement {
	s := &Prepare{Pos: p.pos()}
	p.advance()
	s.Name = p.ident()
	if p.atSymbol("(") {
		at := p.open("(")
		p.list(func() { s.Types = append(s.Types, p.typeName()) }, p.atClose)
		p.close(")", at)
	}
	p.expect("as")
	pos := p.pos()
	s.Statement = p.statement()
	switch s.Statement.(type) {
	case QueryExpr, *Insert, *Update, *Delete, *Merge:
	default:
		p.failAt(pos, sqlerr.SyntaxError, "this kind of statement cannot be prepared", "PREPARE takes a query, INSERT, UPDATE, DELETE or MERGE")
	}
	return s
}

func (p *parser) execute() Statement {
	s := &Execute{Pos: p.pos()}
	p.advance()
	s.Name = p.ident()
	if p.atSymbol("(") {
		at := p.open("(")
		s.Args = p.exprs()
		p.close(")", at)
	}
	return s
}

func (p *parser) deallocate() Statement {
	s := &Deallocate{Pos: p.pos()}
	p.advance()
	p.accept("prepare")
	if !p.accept("all") {
		s.Name = p.ident()
	}
	return s
}

func (p *parser) use() Statement {
	s := &Use{Pos: p.pos()}
	p.advance()
	s.Name = p.name()
	return s
}

func (p *parser) callProc() Statement {
	pos := p.pos()
	p.advance()
	callPos := p.pos()
	return &CallProc{Call: p.call(callPos, p.name()), Pos: pos}
}

func (p *parser) load() Statement {
	s := &Load{Pos: p.pos()}
	p.advance()
	if p.tok().kind == tokenString {
		s.Source = p.stringLiteral()
	} else {
		s.Source = p.ident().Name
	}
	if p.accept("as") {
		s.Name = p.ident()
	}
	return s
}

func (p *parser) describe() Statement {
	s := &Describe{Pos: p.pos(), Summarize: p.at("summarize")}
	p.advance()
	if p.atQuery(0) && !p.at("table") || p.atSymbol("(") {
		s.Query = p.query()
		return s
	}
	p.accept("table")
	s.Table = p.name()
	return s
}

func (p *parser) pragma() Statement {
	s := &Pragma{Pos: p.pos()}
	p.advance()
	s.Name = p.settingName()
	switch {
	case p.acceptSymbol("="):
		s.Values = []Expr{p.setting()}
	case p.atSymbol("("):
		at := p.open("(")
		p.list(func() { s.Values = append(s.Values, p.setting()) }, p.atClose)
		p.close(")", at)
	}
	return s
}

func (p *parser) maintain() Statement {
	s := &Maintain{Pos: p.pos()}
	switch p.expectOneOf("vacuum", "analyze", "checkpoint") {
	case "analyze":
		s.Kind = Analyze
	case "checkpoint":
		s.Kind = Checkpoint
	}
	if p.atSymbol("(") {
		s.Options = p.options()
	}
	for _, w := range [...]string{"full", "freeze", "verbose", "analyze"} {
		if p.accept(w) {
			s.Options = append(s.Options, Option{Name: Ident{Name: w}})
		}
	}
	if t := p.tok(); t.kind == tokenWord || t.kind == tokenQuoted {
		s.Tables = p.names()
	}
	return s
}

func (p *parser) discard() Statement {
	s := &Discard{Pos: p.pos()}
	p.advance()
	s.What = p.expectOneOf("all", "plans", "sequences", "temp", "temporary")
	return s
}

// options reads (name [=] value, ...).
func (p *parser) options() []Option {
	var out []Option
	at := p.open("(")
	p.list(func() {
		o := Option{Name: Ident{Pos: p.pos()}}
		o.Name.Name = p.settingName()
		switch {
		case p.acceptSymbol("="):
			o.Value = p.setting()
		case !p.atSymbol(",") && !p.atSymbol(")"):
			o.Value = p.setting()
		}
		out = append(out, o)
	}, p.atClose)
	p.close(")", at)
	return out
}

// setting reads the value of an option or a setting.
func (p *parser) setting() Expr {
	t, pos := p.tok(), p.pos()
	sign := ""
	if t.kind == tokenSymbol && (t.word == "-" || t.word == "+") && p.peek(1).kind == tokenNumber {
		if t.word == "-" {
			sign = "-"
		}
		p.advance()
		t = p.tok()
	}
	switch {
	case t.kind == tokenNumber:
		p.advance()
		return &Number{Text: sign + t.word, Pos: pos}
	case t.kind == tokenString, t.kind == tokenQuoted:
		p.advance()
		return &String{Value: t.word, Pos: pos}
	case t.kind == tokenParam:
		return p.param()
	case t.kind == tokenWord:
		p.advance()
		if t.word == "true" || t.word == "false" {
			return &Bool{Value: t.word == "true", Pos: pos}
		}
		return &String{Value: t.word, Pos: pos}
	case p.acceptSymbol("*"):
		return &String{Value: "*", Pos: pos}
	case p.atSymbol("("):
		p.enter()
		defer p.leave()
		row := &Row{Pos: pos}
		at := p.open("(")
		p.list(func() { row.Elems = append(row.Elems, p.setting()) }, p.atClose)
		p.close(")", at)
		return row
	}
	p.failHere()
	return nil
}
