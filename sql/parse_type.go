package sql

// typeName reads a type.
func (p *parser) typeName() TypeName {
	p.enter()
	defer p.leave()
	t := TypeName{Pos: p.pos()}
	first := p.ident()
	if p.acceptSymbol(".") {
		t.Schema, first = first, p.label()
	}
	t.Name = first.Name
	p.typeWords(&t)
	for p.atSymbol("[") {
		at := p.open("[")
		size := 0
		if !p.atSymbol("]") {
			size = p.integer()
		}
		p.close("]", at)
		t.Dims = append(t.Dims, size)
	}
	if p.accept("array") {
		size := 0
		if p.atSymbol("[") {
			at := p.open("[")
			size = p.integer()
			p.close("]", at)
		}
		t.Dims = append(t.Dims, size)
	}
	return t
}

// typeWords reads the further words of a type and its arguments.
func (p *parser) typeWords(t *TypeName) {
	switch t.Name {
	case "double":
		if p.accept("precision") {
			t.Name = "double precision"
		}
	case "national":
		if p.accept("char") || p.accept("character") {
			t.Name = "char"
		}
		if p.accept("varying") {
			t.Name = "varchar"
		}
	case "character", "char", "nchar":
		t.Name = "char"
		if p.accept("varying") {
			t.Name = "varchar"
		}
	case "bit":
		if p.accept("varying") {
			t.Name = "varbit"
		}
	case "interval":
		p.intervalFields(t)
		if t.Interval == "" && p.atSymbol("(") {
			t.Args = p.typeArgs()
		}
		return
	case "struct", "row":
		if p.atSymbol("(") {
			t.Name = "struct"
			t.Fields = p.structFields()
			return
		}
	}
	if p.atSymbol("(") {
		t.Args = p.typeArgs()
	}
	if t.Name != "timestamp" && t.Name != "time" {
		return
	}
	switch {
	case p.acceptAll("with", "time", "zone"):
		t.Name += "tz"
	case p.acceptAll("without", "time", "zone"):
	}
}

func (p *parser) typeArgs() []int {
	var out []int
	at := p.open("(")
	p.list(func() {
		sign := 1
		if p.acceptSymbol("-") {
			sign = -1
		}
		out = append(out, sign*p.integer())
	}, p.atClose)
	p.close(")", at)
	return out
}
