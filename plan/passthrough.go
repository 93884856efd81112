package plan

import "slices"

// dropPassthrough removes projections that only choose among their input's columns: since ids are unique, columns too
// many do no harm, and pruning removes them. Where places matter, withInputs keeps the projection. Projections of
// projections become one, and a scan whose columns are given other ids, as by a view, reads them under these.
func dropPassthrough(_ *optimizer, n Node) Node {
	return mapNode(n, func(n Node) Node {
		p, ok := n.(*Project)
		if !ok {
			return n
		}
		if in, ok := p.Input.(*Project); ok {
			p = mergeProjects(p, in)
		}
		if passesThrough(p) {
			return p.Input
		}
		if s := renameScan(p); s != nil {
			return s
		}
		return p
	})
}

// renameScan returns the scan below a projection that only gives its columns other ids, with these; nil for another.
func renameScan(p *Project) *Scan {
	s, ok := p.Input.(*Scan)
	if !ok {
		return nil
	}
	to, refs := map[ColID]Col{}, map[ColID]Expr{}
	for i, e := range p.Exprs {
		r, ok := e.(*ColumnRef)
		if !ok || refs[r.ID] != nil {
			return nil
		}
		to[r.ID], refs[r.ID] = p.Columns[i], refTo(p.Columns[i])
	}
	c := *s
	c.Columns = slices.Clone(s.Columns)
	for i, col := range c.Columns {
		if renamed, ok := to[col.ID]; ok {
			c.Columns[i] = renamed
		}
	}
	c.Filters = substituteList(s.Filters, refs)
	return &c
}

func passesThrough(p *Project) bool {
	for i, c := range p.Columns {
		if r, ok := p.Exprs[i].(*ColumnRef); !ok || r.ID != c.ID {
			return false
		}
	}
	return true
}

// mergeProjects computes above straight from the input of in, unless that would compute something twice that is
// volatile or not cheap.
func mergeProjects(above, in *Project) *Project {
	uses := map[ColID]int{}
	for _, e := range above.Exprs {
		walkExpr(e, func(e Expr) bool {
			if r, ok := e.(*ColumnRef); ok {
				uses[r.ID]++
			}
			return true
		})
	}
	by := make(map[ColID]Expr, len(in.Columns))
	for i, c := range in.Columns {
		switch in.Exprs[i].(type) {
		case *ColumnRef, *Const, *Param:
		default:
			if uses[c.ID] > 1 || uses[c.ID] > 0 && isVolatile(in.Exprs[i]) {
				return above
			}
		}
		by[c.ID] = in.Exprs[i]
	}
	return &Project{Input: in.Input, Columns: above.Columns, Exprs: substituteList(above.Exprs, by)}
}
