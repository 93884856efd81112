package plan

// dropPassthrough removes projections that only choose among their input's columns: since ids are unique, columns too
// many do no harm, and pruning removes them. Where places matter, withInputs keeps the projection. Projections of
// projections become one.
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
		return p
	})
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
