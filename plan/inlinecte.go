package plan

// inlineCTEs puts the definition of a CTE in the place of its only reference, or of all when it is cheap to repeat or
// said NOT MATERIALIZED. Unreferenced ones disappear. What may differ between two computations is computed once.
func inlineCTEs(o *optimizer, n Node) Node {
	refs := map[int]int{}
	countCTERefs(n, refs)
	return inlineNode(o, n, refs, map[int]Node{})
}

func countCTERefs(n Node, refs map[int]int) {
	walkNode(n, func(n Node) bool {
		switch n := n.(type) {
		case *CTERef:
			refs[n.ID]++
		case *RecursiveCTE:
			countCTERefs(n.Step, refs) // and once more below: what every round reads is not computed in every round
		}
		visitExprs(n, func(e Expr) {
			walkExpr(e, func(e Expr) bool {
				if s, ok := e.(*Subquery); ok {
					countCTERefs(s.Plan, refs)
				}
				return true
			})
		})
		return true
	})
}

func inlineNode(o *optimizer, n Node, refs map[int]int, defs map[int]Node) Node {
	switch m := n.(type) {
	case *CTE:
		if refs[m.ID] == 0 {
			return inlineNode(o, m.Body, refs, defs)
		}
		def := inlineNode(o, m.Def, refs, defs)
		once := refs[m.ID] == 1 && !m.Materialize && !hasVolatile(def)
		if once || m.Inline || !m.Materialize && trivial(def) {
			defs[m.ID] = def
			return inlineNode(o, m.Body, refs, defs)
		}
		c := *m
		c.Def, c.Body = def, inlineNode(o, m.Body, refs, defs)
		return &c
	case *CTERef:
		if def, ok := defs[m.ID]; ok {
			copied, cols := copyPlan(def, o.ids)
			return &Project{Input: copied, Columns: m.Columns, Exprs: refsTo(cols)}
		}
		return n
	}
	n = mapExprs(n, func(e Expr) Expr {
		return mapExpr(e, func(e Expr) Expr {
			s, ok := e.(*Subquery)
			if !ok {
				return e
			}
			plan := inlineNode(o, s.Plan, refs, defs)
			if plan == s.Plan {
				return e
			}
			c := *s
			c.Plan = plan
			return &c
		})
	})
	return mapInputs(n, func(in Node) Node { return inlineNode(o, in, refs, defs) })
}

// InOrder reports whether n calls a function whose values depend on the order in which rows come to it.
func InOrder(n Node) bool {
	found := false
	walkNode(n, func(n Node) bool {
		visitExprs(n, func(e Expr) {
			walkExpr(e, func(e Expr) bool {
				switch e := e.(type) {
				case *Call:
					found = found || e.Bound.Func != nil && e.Bound.Func.InOrder
				case *Subquery:
					found = found || InOrder(e.Plan)
				}
				return !found
			})
		})
		return !found
	})
	return found
}

// hasVolatile reports whether n may give other rows when computed again.
func hasVolatile(n Node) bool {
	found := false
	walkNode(n, func(n Node) bool {
		visitExprs(n, func(e Expr) { found = found || isVolatile(e) })
		return !found
	})
	return found
}

// trivial reports a plan that costs nothing to compute again.
func trivial(n Node) bool {
	switch n := n.(type) {
	case *Values:
		return len(n.Rows) <= 1 && !hasVolatile(n)
	case *Project:
		return trivial(n.Input) && !hasVolatile(n)
	}
	return false
}
