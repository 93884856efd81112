package plan

import "slices"

// pushCTE lets the rows of a CTE that depends on the outer query carry the outer columns to where they are read.
func (d *domain) pushCTE(n Node) (Node, carriedCols) {
	switch n := n.(type) {
	case *CTE:
		def := n.Def
		if d.dependent(def) {
			def = d.carry(n.ID, def)
		}
		body, v := d.push(n.Body)
		return &CTE{ID: n.ID, Name: n.Name, Def: def, Body: body}, v
	case *RecursiveCTE:
		return d.pushRecursive(n)
	case *CTERef:
		c := *n
		v := carriedCols{}
		c.Columns = slices.Clone(n.Columns)
		for i, outer := range d.outer {
			col := d.u.o.ids.fresh(d.carriers[n.ID][i])
			c.Columns = append(c.Columns, col)
			v[outer.ID] = carried{col: col}
		}
		return &c, v
	}
	panic(internalf("pushCTE of a %T", n))
}

// carry returns def with the outer columns behind its own and notes the CTE as a carrier.
func (d *domain) carry(id int, def Node) Node {
	pushed, v := d.push(def)
	cols := slices.Clone(def.Cols())
	exprs := refsTo(cols)
	for _, c := range d.outer {
		col := d.u.o.ids.fresh(v[c.ID].col)
		cols, exprs = append(cols, col), append(exprs, refTo(v[c.ID].col))
		d.carriers[id] = append(d.carriers[id], col)
	}
	return &Project{Input: pushed, Columns: cols, Exprs: exprs}
}

func (d *domain) pushRecursive(n *RecursiveCTE) (Node, carriedCols) {
	base := d.carry(n.ID, n.Base)
	pushed, v := d.push(n.Step)
	cols := slices.Clone(n.Step.Cols())
	exprs := refsTo(cols)
	out := carriedCols{}
	columns := slices.Clone(n.Columns)
	for _, c := range d.outer {
		cols, exprs = append(cols, d.u.o.ids.fresh(v[c.ID].col)), append(exprs, refTo(v[c.ID].col))
		col := d.u.o.ids.fresh(c)
		columns = append(columns, col)
		out[c.ID] = carried{col: col}
	}
	step := &Project{Input: pushed, Columns: cols, Exprs: exprs}
	return &RecursiveCTE{ID: n.ID, Name: n.Name, Base: base, Step: step, Distinct: n.Distinct, Columns: columns}, out
}
