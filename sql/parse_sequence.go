package sql

import (
	"strconv"

	"github.com/tidemarkdb/tidemark/sqlerr"
)

func (p *parser) createSequence(s *CreateSequence) Statement {
	s.IfNotExists = p.ifNotExists()
	s.Name = p.name()
	s.Options = p.sequenceOptions()
	return s
}

// sequenceOptions reads what follows the name of a sequence, in any order.
func (p *parser) sequenceOptions() SequenceOptions {
	var o SequenceOptions
	once := func(given bool) {
		if given {
			p.failAt(p.pos(), sqlerr.SyntaxError, "conflicting or redundant options", "give each option of the sequence once")
		}
	}
	for {
		switch {
		case p.at("as"):
			once(o.Type != nil)
			p.advance()
			t := p.typeName()
			o.Type = &t
		case p.at("increment"):
			once(o.Increment != nil)
			p.advance()
			p.accept("by")
			o.Increment = p.signed()
		case p.at("minvalue"):
			once(o.Min != nil || o.NoMin)
			p.advance()
			o.Min = p.signed()
		case p.at("maxvalue"):
			once(o.Max != nil || o.NoMax)
			p.advance()
			o.Max = p.signed()
		case p.at("start"):
			once(o.Start != nil)
			p.advance()
			p.accept("with")
			o.Start = p.signed()
		case p.at("restart"):
			once(o.Restart)
			p.advance()
			o.Restart = true
			if p.accept("with") || p.tok().kind == tokenNumber || p.atSymbol("-") {
				o.RestartAt = p.signed()
			}
		case p.at("cycle"), p.at("no"):
			p.sequenceFlag(&o, once)
		case p.accept("cache"): // numbers are taken in blocks anyway
			p.signed()
		case p.acceptAll("owned", "by"):
			if !p.accept("none") {
				o.OwnedBy = p.name()
			}
		default:
			return o
		}
	}
}

// someSequenceOptions reads at least one option.
func (p *parser) someSequenceOptions() SequenceOptions {
	from := p.i
	o := p.sequenceOptions()
	if p.i == from {
		p.failHere()
	}
	return o
}

// sequenceFlag reads CYCLE, NO CYCLE, NO MINVALUE or NO MAXVALUE.
func (p *parser) sequenceFlag(o *SequenceOptions, once func(bool)) {
	yes := !p.accept("no")
	switch {
	case p.at("cycle"):
		once(o.Cycle != nil)
		o.Cycle = &yes
	case p.at("minvalue"):
		once(o.Min != nil || o.NoMin)
		o.NoMin = true
	case p.at("maxvalue"):
		once(o.Max != nil || o.NoMax)
		o.NoMax = true
	default:
		p.failHere()
	}
	p.advance()
}

// signed reads a whole number that fits an int64.
func (p *parser) signed() *int64 {
	sign := ""
	if p.acceptSymbol("-") {
		sign = "-"
	} else {
		p.acceptSymbol("+")
	}
	t := p.tok()
	n, err := strconv.ParseInt(sign+t.word, 10, 64)
	if t.kind != tokenNumber || err != nil {
		p.failHere()
	}
	p.advance()
	return &n
}

func (p *parser) createType(pos int) Statement {
	s := &CreateType{Pos: pos, IfNotExists: p.ifNotExists(), Name: p.name()}
	p.expect("as")
	if !p.accept("enum") {
		p.unsupported(p.pos(), "CREATE TYPE of anything but an ENUM", "write CREATE TYPE name AS ENUM ('a', 'b'); STRUCT(...) needs no name")
	}
	at := p.open("(")
	if !p.atSymbol(")") {
		p.list(func() { s.Labels = append(s.Labels, p.stringLiteral()) }, nil)
	}
	p.close(")", at)
	return s
}

// alterType reads ALTER TYPE name ADD VALUE, RENAME VALUE, RENAME TO or SET SCHEMA.
func (p *parser) alterType(pos int) Statement {
	s := &AlterEnum{Pos: pos, Name: p.name()}
	if p.acceptAll("rename", "value") {
		s.Old = p.stringLiteral()
		p.expect("to")
		s.Label = p.stringLiteral()
		return s
	}
	switch {
	case p.acceptAll("rename", "to"):
		s.RenameTo = p.ident()
		return s
	case p.acceptAll("set", "schema"):
		s.SetSchema = p.ident()
		return s
	}
	p.expect("add", "value")
	s.IfNotExists = p.ifNotExists()
	s.Label = p.stringLiteral()
	if p.accept("before") {
		s.Before = p.stringLiteral()
	} else if p.accept("after") {
		s.After = p.stringLiteral()
	}
	return s
}
