package plan

import (
	"slices"
)

// pruneColumns drops what no one reads: columns of scans, projections, aggregates, window calls and marks, and joins
// that only repeat or number the rows of their kept side.
func pruneColumns(_ *optimizer, n Node) Node {
	p := &pruner{ctes: map[int]colPlaces{}}
	return p.prune(n, colsOf(n))
}

// narrowKept prunes once more and puts projections below what copies its input's rows, the build sides of joins, sorts
// and windows, where columns that only the input itself needed would be copied too.
func narrowKept(_ *optimizer, n Node) Node {
	p := &pruner{ctes: map[int]colPlaces{}, narrows: true}
	return p.prune(n, colsOf(n))
}

// colPlaces are places among a CTE's columns.
type colPlaces map[int]bool

type pruner struct {
	ctes    map[int]colPlaces
	narrows bool
}

// kept returns an input whose rows are copied, with no more columns than those wanted.
func (p *pruner) kept(n Node, want colSet) Node {
	if !p.narrows {
		return n
	}
	var cols []Col
	for _, c := range n.Cols() {
		if want.has(c.ID) {
			cols = append(cols, c)
		}
	}
	return keepCols(n, cols)
}

// need returns used with the columns of n's expressions added.
func need(n Node, used colSet) colSet {
	out := used.clone()
	visitExprs(n, func(e Expr) { exprCols(e, &out) })
	return out
}

// prune returns n with at least the columns used.
func (p *pruner) prune(n Node, used colSet) Node {
	switch n := n.(type) {
	case *Scan:
		return pruneScan(n, used)
	case *SourceScan:
		return pruneSource(n, used)
	case *Values:
		return pruneValues(n, used)
	case *CTERef:
		for i, c := range n.Columns {
			if used.has(c.ID) {
				p.read(n.ID)[i] = true
			}
		}
		return n
	case *Project:
		return p.project(n, used)
	case *Join:
		return p.join(n, used)
	case *Aggregate:
		return p.aggregate(n, used)
	case *Window:
		return p.window(n, used)
	case *SetOp:
		return p.setOp(n, used)
	case *Sort:
		want := need(n, used)
		c := *n
		c.Input = p.kept(p.prune(n.Input, want), want)
		return &c
	case *CTE:
		return p.cte(n, used)
	case *RecursiveCTE:
		for i := range n.Columns {
			p.read(n.ID)[i] = true
		}
		return mapInputs(n, func(in Node) Node { return p.prune(in, colsOf(in)) })
	}
	want := need(n, used)
	return mapInputs(n, func(in Node) Node { return p.prune(in, want) })
}

func (p *pruner) read(id int) colPlaces {
	if p.ctes[id] == nil {
		p.ctes[id] = colPlaces{}
	}
	return p.ctes[id]
}

func pruneScan(n *Scan, used colSet) Node {
	want := need(n, used)
	c := *n
	c.Columns, c.Ordinals = nil, nil
	for i, col := range n.Columns {
		if want.has(col.ID) {
			c.Columns, c.Ordinals = append(c.Columns, col), append(c.Ordinals, n.Ordinals[i])
		}
	}
	if len(c.Columns) == len(n.Columns) {
		return n
	}
	return &c
}

func pruneSource(n *SourceScan, used colSet) Node {
	c := *n
	c.Columns, c.Ordinals = nil, nil
	for i, col := range n.Columns {
		if used.has(col.ID) {
			c.Columns, c.Ordinals = append(c.Columns, col), append(c.Ordinals, n.Ordinals[i])
		}
	}
	return &c
}

func pruneValues(n *Values, used colSet) Node {
	var places []int
	for i, c := range n.Columns {
		if used.has(c.ID) {
			places = append(places, i)
		}
	}
	if len(places) == len(n.Columns) || len(n.Rows) > 0 && slices.ContainsFunc(n.Rows[0], isVolatile) {
		return n
	}
	c := &Values{Rows: make([][]Expr, len(n.Rows))}
	for _, at := range places {
		c.Columns = append(c.Columns, n.Columns[at])
		for r := range n.Rows {
			c.Rows[r] = append(c.Rows[r], n.Rows[r][at])
		}
	}
	return c
}

func (p *pruner) project(n *Project, used colSet) Node {
	c := &Project{}
	var want colSet
	for i, col := range n.Columns {
		if used.has(col.ID) {
			c.Columns, c.Exprs = append(c.Columns, col), append(c.Exprs, n.Exprs[i])
			exprCols(n.Exprs[i], &want)
		}
	}
	c.Input = p.prune(n.Input, want)
	if in, ok := c.Input.(*Project); ok {
		c = mergeProjects(c, in)
	}
	if passesThrough(c) && sameCols(c.Columns, c.Input.Cols()) {
		return c.Input
	}
	return c
}

func sameCols(a, b []Col) bool {
	return slices.EqualFunc(a, b, func(x, y Col) bool { return x.ID == y.ID })
}

func (p *pruner) join(n *Join, used colSet) Node {
	right := colsOf(n.Right)
	switch {
	case n.Kind == Mark && !used.has(n.MarkCol.ID):
		return p.prune(n.Left, used)
	case n.Kind == Left && !used.intersects(right) && uniqueOn(n.Right, n.Equal):
		return p.prune(n.Left, used)
	}
	want := need(n, used)
	c := *n
	c.Left, c.Right = p.prune(n.Left, want), p.prune(n.Right, want)
	if n.BuildLeft {
		c.Left = p.kept(c.Left, want)
	} else {
		c.Right = p.kept(c.Right, want)
	}
	return &c
}

// uniqueOn reports that no two rows of n agree on the right sides of the equalities.
func uniqueOn(n Node, equal []EquiCond) bool {
	var keys colSet
	for _, c := range equal {
		if r, ok := c.Right.(*ColumnRef); ok {
			keys.add(r.ID)
		}
	}
	return unique(n, keys)
}

// unique reports that cols hold a key of n.
func unique(n Node, cols colSet) bool {
	switch n := n.(type) {
	case *Scan:
		if len(n.Table.Key) == 0 {
			return false
		}
		for _, k := range n.Table.Key {
			at := slices.Index(n.Ordinals, k)
			if at < 0 || !cols.has(n.Columns[at].ID) {
				return false
			}
		}
		return true
	case *Filter:
		return unique(n.Input, cols)
	case *Project:
		var in colSet
		for i, c := range n.Columns {
			if r, ok := n.Exprs[i].(*ColumnRef); ok && cols.has(c.ID) {
				in.add(r.ID)
			}
		}
		return unique(n.Input, in)
	case *Aggregate:
		if len(n.Sets) > 0 {
			return false
		}
		for _, c := range n.GroupCols {
			if !cols.has(c.ID) {
				return false
			}
		}
		return true
	case *Join:
		switch n.Kind {
		case Semi, Anti, Mark, Single:
			return unique(n.Left, cols)
		case Left:
			return unique(n.Left, cols) && uniqueOn(n.Right, n.Equal)
		}
	case *Sort:
		return unique(n.Input, cols)
	case *Limit:
		return unique(n.Input, cols)
	}
	return atMostOneRow(n)
}

func (p *pruner) aggregate(n *Aggregate, used colSet) Node {
	c := *n
	c.Aggregates = nil
	for _, a := range n.Aggregates {
		if used.has(a.Out.ID) {
			c.Aggregates = append(c.Aggregates, a)
		}
	}
	if c.Grouping != nil && !used.has(c.Grouping.ID) {
		c.Grouping = nil
	}
	want := need(&c, colSet{})
	c.Input = p.prune(n.Input, want)
	return &c
}

func (p *pruner) window(n *Window, used colSet) Node {
	c := *n
	c.Calls = nil
	for _, w := range n.Calls {
		if used.has(w.Out.ID) {
			c.Calls = append(c.Calls, w)
		}
	}
	if len(c.Calls) == 0 {
		return p.prune(n.Input, used)
	}
	want := need(&c, used)
	c.Input = p.kept(p.prune(n.Input, want), want)
	return &c
}

// setOp drops columns of UNION ALL; the others compare whole rows.
func (p *pruner) setOp(n *SetOp, used colSet) Node {
	c := *n
	c.Args = nil
	var places []int
	for i, col := range n.Columns {
		if !n.All || n.Kind != Union || used.has(col.ID) {
			places = append(places, i)
		}
	}
	c.Columns = pick(n.Columns, places)
	for _, arg := range n.Args {
		cols := pick(arg.Cols(), places)
		var want colSet
		want.addCols(cols)
		c.Args = append(c.Args, keepCols(p.prune(arg, want), cols))
	}
	return &c
}

func pick(cols []Col, places []int) []Col {
	out := make([]Col, len(places))
	for i, at := range places {
		out[i] = cols[at]
	}
	return out
}

// cte keeps the columns of the definition that some reference reads, and renumbers the references' columns.
func (p *pruner) cte(n *CTE, used colSet) Node {
	body := p.prune(n.Body, used)
	var places []int
	for i := range n.Def.Cols() {
		if p.ctes[n.ID][i] {
			places = append(places, i)
		}
	}
	cols := pick(n.Def.Cols(), places)
	var want colSet
	want.addCols(cols)
	c := *n
	c.Def = keepCols(p.prune(n.Def, want), cols)
	c.Body = mapNode(body, func(r Node) Node {
		ref, ok := r.(*CTERef)
		if !ok || ref.ID != n.ID {
			return r
		}
		narrow := *ref
		narrow.Columns = pick(ref.Columns, places)
		return &narrow
	})
	return &c
}
