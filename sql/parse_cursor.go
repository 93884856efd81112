package sql

import "strconv"

func (p *parser) declare() Statement {
	s := &DeclareCursor{Pos: p.pos()}
	p.advance()
	s.Name = p.ident()
	for !p.at("cursor") {
		switch {
		case p.at("binary"):
			p.unsupported(p.pos(), "a BINARY cursor", "leave the word out")
		case p.accept("insensitive"), p.accept("asensitive"): // every cursor reads its snapshot
		case p.acceptAll("no", "scroll"):
		case p.accept("scroll"):
			s.Scroll = true
		default:
			p.failHere()
		}
	}
	p.expect("cursor")
	if s.Hold = p.acceptAll("with", "hold"); !s.Hold {
		p.acceptAll("without", "hold")
	}
	p.expect("for")
	s.Query = p.query()
	return s
}

func (p *parser) fetchStatement() Statement {
	s := &Fetch{Pos: p.pos(), Count: 1, Move: p.at("move")}
	p.advance()
	p.direction(s)
	if !p.accept("from") {
		p.accept("in")
	}
	s.Cursor = p.ident()
	return s
}

// direction reads which rows to fetch: none said is the next.
func (p *parser) direction(s *Fetch) {
	switch {
	case p.accept("next"):
	case p.accept("prior"):
		s.Direction = FetchBackward
	case p.accept("first"):
		s.Direction = FetchAbsolute
	case p.accept("last"):
		s.Direction, s.Count = FetchAbsolute, -1
	case p.accept("absolute"):
		s.Direction, s.Count = FetchAbsolute, p.signedInteger()
	case p.accept("relative"):
		s.Direction, s.Count = FetchRelative, p.signedInteger()
	case p.accept("all"):
		s.All = true
	case p.accept("forward"):
		p.directionCount(s)
	case p.accept("backward"):
		s.Direction = FetchBackward
		p.directionCount(s)
	case p.atCount():
		p.directionCount(s)
	}
}

func (p *parser) directionCount(s *Fetch) {
	switch {
	case p.accept("all"):
		s.All = true
	case p.atCount():
		s.Count = p.signedInteger()
	}
}

func (p *parser) atCount() bool {
	return p.tok().kind == tokenNumber || p.atSymbol("-") || p.atSymbol("+")
}

func (p *parser) signedInteger() int64 {
	sign := ""
	if p.acceptSymbol("-") {
		sign = "-"
	} else {
		p.acceptSymbol("+")
	}
	n, err := strconv.ParseInt(sign+p.tok().word, 10, 64)
	if p.tok().kind != tokenNumber || err != nil {
		p.failHere()
	}
	p.advance()
	return n
}

func (p *parser) closeStatement() Statement {
	s := &CloseCursor{Pos: p.pos()}
	p.advance()
	if !p.accept("all") {
		s.Name = p.ident()
	}
	return s
}
