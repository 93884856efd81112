package plan

// joinConditions returns all conditions of a join as expressions.
func joinConditions(j *Join) []Expr {
	out := make([]Expr, 0, len(j.Equal)+len(j.Other))
	for _, c := range j.Equal {
		op := Eq
		if c.NullSafe {
			op = NotDistinct
		}
		out = append(out, &Compare{Op: op, Left: c.Left, Right: c.Right})
	}
	return append(out, j.Other...)
}

// normalizeJoin splits the conditions of a join into Equal and Other.
func normalizeJoin(j *Join) *Join {
	c := *j
	c.Equal, c.Other = nil, nil
	left, right := colsOf(j.Left), colsOf(j.Right)
	for _, cond := range joinConditions(j) {
		for _, cond := range conjuncts(nil, cond) {
			if e, ok := equiCond(cond, left, right); ok {
				c.Equal = append(c.Equal, e)
			} else {
				c.Other = append(c.Other, cond)
			}
		}
	}
	switch {
	case c.Kind == Cross && len(c.Equal)+len(c.Other) > 0:
		c.Kind = Inner
	case c.Kind == Inner && len(c.Equal)+len(c.Other) == 0:
		c.Kind = Cross
	}
	return &c
}

func equiCond(e Expr, left, right colSet) (EquiCond, bool) {
	cmp, ok := e.(*Compare)
	if !ok || cmp.Op != Eq && cmp.Op != NotDistinct || hasSubquery(e) {
		return EquiCond{}, false
	}
	l, r := refs(cmp.Left), refs(cmp.Right)
	if l.empty() || r.empty() {
		return EquiCond{}, false
	}
	switch {
	case l.within(left) && r.within(right):
		return EquiCond{Left: cmp.Left, Right: cmp.Right, NullSafe: cmp.Op == NotDistinct}, true
	case l.within(right) && r.within(left):
		return EquiCond{Left: cmp.Right, Right: cmp.Left, NullSafe: cmp.Op == NotDistinct}, true
	}
	return EquiCond{}, false
}
