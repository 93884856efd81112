package plan

import "slices"

// pushFilters moves every condition as far down as it can go, turns outer joins into inner ones where a condition drops
// the padded rows, and hands equality with a constant on to equal columns.
func pushFilters(o *optimizer, n Node) Node {
	p := &pusher{s: o.simplifier()}
	return p.push(n, nil)
}

type pusher struct{ s *simplifier }

// above keeps conds in a filter on top of n.
func (p *pusher) above(n Node, conds []Expr) Node {
	if len(conds) == 0 {
		return n
	}
	return p.s.filter(&Filter{Input: n, Conditions: conds})
}

// below pushes nothing into the inputs of n and keeps conds above it.
func (p *pusher) below(n Node, conds []Expr) Node {
	return p.above(mapInputs(n, func(in Node) Node { return p.push(in, nil) }), conds)
}

// push returns n filtered by conds.
func (p *pusher) push(n Node, conds []Expr) Node {
	conds, volatile := partition(conds, func(c Expr) bool { return !isVolatile(c) })
	if len(volatile) > 0 {
		return p.above(p.push(n, conds), volatile)
	}
	switch n := n.(type) {
	case *Filter:
		all := slices.Clone(conds)
		for _, c := range n.Conditions {
			all = conjuncts(all, c)
		}
		return p.push(n.Input, all)
	case *Project:
		return p.project(n, conds)
	case *Join:
		return p.join(n, conds)
	case *Aggregate:
		return p.aggregate(n, conds)
	case *Window:
		return p.throughKeys(n, n.Partition, conds)
	case *DistinctOn:
		return p.distinctOn(n, conds)
	case *Sort:
		if n.Limit < 0 {
			return mapInputs(n, func(in Node) Node { return p.push(in, conds) })
		}
	case *Expand:
		in, rest := split(conds, colsOf(n.Input))
		out := mapInputs(n, func(child Node) Node { return p.push(child, in) })
		return p.above(out, rest)
	case *SetOp:
		return p.setOp(n, conds)
	case *CTE:
		c := *n
		c.Body = p.push(n.Body, conds)
		c.Def = keepCols(p.push(n.Def, wantedByAll(n, c.Body)), n.Def.Cols())
		return &c
	case *Scan:
		if len(conds) > 0 {
			return p.scan(n, conds)
		}
	case *Values:
		if isEmpty(n) {
			return n
		}
	}
	return p.below(n, conds)
}

func partition(es []Expr, keep func(Expr) bool) (yes, no []Expr) {
	for _, e := range es {
		if keep(e) {
			yes = append(yes, e)
		} else {
			no = append(no, e)
		}
	}
	return yes, no
}

// split separates the conditions that are over cols alone.
func split(conds []Expr, cols colSet) (inside, outside []Expr) {
	return partition(conds, func(c Expr) bool { return refs(c).within(cols) })
}

func (p *pusher) scan(n *Scan, conds []Expr) Node {
	f := p.s.filter(&Filter{Input: n, Conditions: append(slices.Clone(n.Filters), conds...)})
	filter, ok := f.(*Filter)
	if !ok {
		if f == Node(n) {
			c := *n
			c.Filters = nil
			return &c
		}
		return f
	}
	c := *n
	c.Filters = filter.Conditions
	return &c
}

// project lets conditions through, rewritten over what the projection computes them from.
func (p *pusher) project(n *Project, conds []Expr) Node {
	by := make(map[ColID]Expr, len(n.Columns))
	var fixed colSet // columns that must not be computed twice or before other conditions
	for i, c := range n.Columns {
		by[c.ID] = n.Exprs[i]
		if isVolatile(n.Exprs[i]) {
			fixed.add(c.ID)
		}
	}
	through, stay := partition(conds, func(c Expr) bool { return !refs(c).intersects(fixed) })
	for i, c := range through {
		through[i] = p.s.expr(substitute(c, by))
	}
	out := mapInputs(n, func(in Node) Node { return p.push(in, through) })
	return p.above(out, stay)
}

// throughKeys lets conditions through that are over keys alone: they drop or keep whole partitions.
func (p *pusher) throughKeys(n Node, keys []Expr, conds []Expr) Node {
	var cols colSet
	for _, k := range keys {
		if r, ok := k.(*ColumnRef); ok {
			cols.add(r.ID)
		}
	}
	in, rest := split(conds, cols)
	in, constant := partition(in, func(c Expr) bool { r := refs(c); return !r.empty() })
	out := mapInputs(n, func(child Node) Node { return p.push(child, in) })
	return p.above(out, append(rest, constant...))
}

func (p *pusher) distinctOn(n *DistinctOn, conds []Expr) Node { return p.throughKeys(n, n.Keys, conds) }

// aggregate lets conditions on groups through.
func (p *pusher) aggregate(n *Aggregate, conds []Expr) Node {
	by := map[ColID]Expr{}
	var groups colSet
	for i, c := range n.GroupCols {
		inAll := true
		for _, s := range n.Sets {
			inAll = inAll && slices.Contains(s, i)
		}
		if inAll && !isVolatile(n.Groups[i]) {
			groups.add(c.ID)
			by[c.ID] = n.Groups[i]
		}
	}
	through, stay := partition(conds, func(c Expr) bool {
		r := refs(c)
		return !r.empty() && r.within(groups)
	})
	for i, c := range through {
		through[i] = p.s.expr(substitute(c, by))
	}
	out := mapInputs(n, func(in Node) Node { return p.push(in, through) })
	return p.above(out, stay)
}

// setOp filters every input by the conditions, rewritten over its columns.
func (p *pusher) setOp(n *SetOp, conds []Expr) Node {
	c := *n
	c.Args = nil
	for _, arg := range n.Args {
		by := map[ColID]Expr{}
		cols := arg.Cols()
		for i, col := range n.Columns {
			by[col.ID] = refTo(cols[i])
		}
		in := keepCols(p.push(arg, substituteList(conds, by)), cols)
		if n.Kind == Union && isEmptyProjection(in) && len(n.Args) > 1 {
			continue
		}
		c.Args = append(c.Args, in)
	}
	if len(c.Args) == 0 {
		return empty(n.Columns)
	}
	if len(c.Args) == 1 && n.All && n.Kind == Union {
		return &Project{Input: c.Args[0], Columns: n.Columns, Exprs: refsTo(c.Args[0].Cols())}
	}
	return &c
}

func isEmptyProjection(n Node) bool {
	if p, ok := n.(*Project); ok {
		return isEmptyProjection(p.Input)
	}
	return isEmpty(n)
}
