package sql

func (p *parser) statement() Statement {
	p.enter()
	defer p.leave()
	if p.atSymbol("(") || p.atQuery(0) {
		return p.query()
	}
	p.failHere()
	return nil
}
