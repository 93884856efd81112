package plan

import (
	"slices"

	"github.com/tidemarkdb/tidemark/extension"
	"github.com/tidemarkdb/tidemark/vec"
)

// domain pushes the join with the distinct values of outer columns down one right side.
type domain struct {
	u      *unnester
	left   Node
	outer  []Col
	set    colSet
	shared *CTERef // the left side as a CTE, when it cannot be computed twice
	// carriers are CTEs on the right side whose rows already carry the outer columns, by id; the values are columns of
	// the definition.
	carriers map[int][]Col
}

// carried is the column of a rewritten node that holds an outer column's value. strict means that it comes from an
// equality with the outer column and so is never NULL.
type carried struct {
	col    Col
	strict bool
}

type carriedCols map[ColID]carried

// equals compares the outer column with what carries it. twoValued asks that the comparison never be unknown.
func (c carried) equals(outer Col, twoValued bool) Expr {
	op := NotDistinct
	if (c.strict || !outer.Nullable) && (!twoValued || !outer.Nullable && !c.col.Nullable) {
		op = Eq
	}
	return &Compare{Op: op, Left: refTo(outer), Right: refTo(c.col)}
}

func (v carriedCols) expr(e Expr) Expr {
	by := make(map[ColID]Expr, len(v))
	for id, c := range v {
		by[id] = refTo(c.col)
	}
	return substitute(e, by)
}

func (v carriedCols) list(es []Expr) []Expr {
	out := make([]Expr, len(es))
	for i, e := range es {
		out[i] = v.expr(e)
	}
	return out
}

// dependent reports whether n needs the outer columns.
func (d *domain) dependent(n Node) bool {
	if freeCols(n).intersects(d.set) {
		return true
	}
	found := false
	walkNode(n, func(n Node) bool {
		if r, ok := n.(*CTERef); ok && d.carriers[r.ID] != nil {
			found = true
		}
		return !found
	})
	return found
}

// values returns a fresh relation of the distinct values of cols, a subset of the outer columns.
func (d *domain) values(cols []Col) (Node, carriedCols) {
	if !freeCols(d.left).empty() {
		d.u.blocked = true
	}
	var source Node
	var from []Col
	if d.shared == nil && repeatable(d.left) {
		source, from = copyPlan(d.left, d.u.o.ids)
	} else {
		d.share()
		from = d.u.o.freshCols(d.shared.Columns)
		source = &CTERef{ID: d.shared.ID, Name: d.shared.Name, Columns: from}
	}
	have := d.left.Cols()
	if d.shared != nil {
		have = d.shared.Columns
	}
	agg := &Aggregate{Input: source}
	out := carriedCols{}
	for _, c := range cols {
		at := slices.IndexFunc(have, func(h Col) bool { return h.ID == c.ID })
		g := d.u.o.ids.fresh(c)
		agg.Groups, agg.GroupCols = append(agg.Groups, refTo(from[at])), append(agg.GroupCols, g)
		out[c.ID] = carried{col: g}
	}
	return agg, out
}

// share makes the left side a CTE, read here and by every domain.
func (d *domain) share() {
	if d.shared != nil {
		return
	}
	d.shared = &CTERef{ID: d.u.o.ids.nextCTE(), Name: "domain", Columns: d.left.Cols()}
	d.left = d.shared
}

// repeatable reports whether reading n twice is cheap and gives the same rows.
func repeatable(n Node) bool {
	ok := true
	walkNode(n, func(n Node) bool {
		switch n := n.(type) {
		case *Scan, *Filter, *Project, *Values:
		case *Join:
			ok = ok && n.Kind != Full && n.Kind != Single
		default:
			ok = false
		}
		visitExprs(n, func(e Expr) { ok = ok && !isVolatile(e) })
		return ok
	})
	return ok
}

// push returns a node that makes n's columns for every row of the domain, and what carries each outer column.
func (d *domain) push(n Node) (Node, carriedCols) {
	if !d.dependent(n) {
		dom, v := d.values(d.outer)
		return &Join{Kind: Cross, Left: n, Right: dom}, v
	}
	switch n := n.(type) {
	case *Filter:
		return d.pushFilter(n)
	case *Project:
		in, v := d.push(n.Input)
		cols, exprs := slices.Clone(n.Columns), v.list(n.Exprs)
		for _, c := range d.outer {
			cols, exprs = append(cols, v[c.ID].col), append(exprs, refTo(v[c.ID].col))
		}
		return dedupProject(in, cols, exprs), v
	case *Join:
		return d.pushJoin(n)
	case *Apply:
		left, v := d.push(n.Left)
		by := v.substitution()
		return &Apply{Kind: n.Kind, Left: left, Right: substituteNode(n.Right, by), On: v.list(n.On), MarkCol: n.MarkCol}, v
	case *Expand:
		in, v := d.push(n.Input)
		c := *n
		c.Input, c.Args = in, v.list(n.Args)
		return &c, v
	case *Aggregate:
		return d.pushAggregate(n)
	case *Window:
		in, v := d.push(n.Input)
		c := *mapExprs(n, v.expr).(*Window)
		c.Input, c.Partition = in, append(d.refs(v), c.Partition...)
		return &c, v
	case *Sort:
		if n.Limit >= 0 {
			return d.pushLimit(n.Input, n.Keys, intConst(n.Limit), intConst(n.Offset))
		}
		return d.push(n.Input)
	case *Limit:
		if s, ok := n.Input.(*Sort); ok && s.Limit < 0 {
			return d.pushLimit(s.Input, s.Keys, n.Count, n.Offset)
		}
		return d.pushLimit(n.Input, nil, n.Count, n.Offset)
	case *DistinctOn:
		in := n.Input
		var order []SortKey
		if s, ok := in.(*Sort); ok && s.Limit < 0 {
			in, order = s.Input, s.Keys
		}
		in, v := d.push(in)
		if order != nil {
			in = mapExprs(&Sort{Input: in, Keys: order, Limit: -1}, v.expr)
		}
		return &DistinctOn{Input: in, Keys: append(d.refs(v), v.list(n.Keys)...)}, v
	case *SetOp:
		return d.pushSetOp(n)
	case *Values:
		return d.pushValues(n)
	case *CTE, *RecursiveCTE, *CTERef:
		return d.pushCTE(n)
	}
	panic(internalf("cannot unnest a %T", n))
}

func (v carriedCols) substitution() map[ColID]Expr {
	by := make(map[ColID]Expr, len(v))
	for id, c := range v {
		by[id] = refTo(c.col)
	}
	return by
}

// dedupProject projects, leaving out a column that is already there under its own id.
func dedupProject(in Node, cols []Col, exprs []Expr) Node {
	var seen colSet
	p := &Project{Input: in}
	for i, c := range cols {
		if seen.has(c.ID) {
			continue
		}
		seen.add(c.ID)
		p.Columns, p.Exprs = append(p.Columns, c), append(p.Exprs, exprs[i])
	}
	return p
}

func (d *domain) refs(v carriedCols) []Expr {
	out := make([]Expr, len(d.outer))
	for i, c := range d.outer {
		out[i] = refTo(v[c.ID].col)
	}
	return out
}

// pushFilter lets equalities with the filter's own input carry outer columns, so that no domain is needed for those.
func (d *domain) pushFilter(n *Filter) (Node, carriedCols) {
	conds := conjuncts(nil, allOf(n.Conditions))
	if d.dependent(n.Input) {
		in, v := d.push(n.Input)
		return &Filter{Input: in, Conditions: v.list(conds)}, v
	}
	in := n.Input
	v := carriedCols{}
	var rest []Expr
	project := &Project{Input: in, Columns: slices.Clone(in.Cols()), Exprs: refsTo(in.Cols())}
	for _, c := range conds {
		outer, inner, ok := d.equality(c)
		if _, have := v[outer.ID]; !ok || have {
			rest = append(rest, c)
			continue
		}
		col, isRef := inner.(*ColumnRef)
		out := Col{}
		if isRef {
			out = in.Cols()[slices.IndexFunc(in.Cols(), func(c Col) bool { return c.ID == col.ID })]
		} else {
			out = d.u.o.newCol(outer.Name, inner.Type(), true)
			project.Columns, project.Exprs = append(project.Columns, out), append(project.Exprs, inner)
		}
		if out.Nullable {
			rest = append(rest, &IsNull{Arg: refTo(out), Negate: true})
		}
		v[outer.ID] = carried{col: out, strict: true}
	}
	if len(project.Columns) > len(in.Cols()) {
		in = project
	}
	var missing []Col
	for _, c := range d.outer {
		if _, ok := v[c.ID]; !ok {
			missing = append(missing, c)
		}
	}
	if len(missing) > 0 {
		dom, more := d.values(missing)
		in = &Join{Kind: Cross, Left: in, Right: dom}
		for id, c := range more {
			v[id] = c
		}
	}
	if len(rest) > 0 {
		in = &Filter{Input: in, Conditions: v.list(rest)}
	}
	return in, v
}

// equality splits outer column = inner expression.
func (d *domain) equality(c Expr) (Col, Expr, bool) {
	cmp, ok := c.(*Compare)
	if !ok || cmp.Op != Eq {
		return Col{}, nil, false
	}
	for _, sides := range [][2]Expr{{cmp.Left, cmp.Right}, {cmp.Right, cmp.Left}} {
		ref, ok := sides[0].(*ColumnRef)
		if !ok || !d.set.has(ref.ID) {
			continue
		}
		if inner := refs(sides[1]); inner.empty() || inner.intersects(d.set) || isVolatile(sides[1]) {
			continue
		}
		return d.outer[slices.IndexFunc(d.outer, func(c Col) bool { return c.ID == ref.ID })], sides[1], true
	}
	return Col{}, nil, false
}

func intConst(i int64) Expr { return &Const{Value: vec.IntValue(vec.Int64Type, i)} }

// pushLimit numbers the rows within each row of the domain and keeps those asked for.
func (d *domain) pushLimit(in Node, keys []SortKey, count, offset Expr) (Node, carriedCols) {
	in, v := d.push(in)
	bound, err := d.u.o.functions.ResolveWindow("row_number", nil)
	if err != nil {
		panic(fault{err})
	}
	number := d.u.o.newCol("row_number", bound.Result, false)
	w := &Window{Input: in, Partition: d.refs(v), Calls: []WindowCall{{Out: number, Name: "row_number", Bound: &bound,
		Frame: Frame{Mode: Range, Start: Bound{Kind: UnboundedPreceding}, End: Bound{Kind: CurrentRow}}}}}
	for _, k := range keys {
		k.Expr = v.expr(k.Expr)
		w.Order = append(w.Order, k)
	}
	var conds []Expr
	row := Expr(refTo(number))
	if offset != nil && !isZero(offset) {
		offset = &Coalesce{Args: []Expr{v.expr(offset), intConst(0)}, T: vec.Int64Type}
		conds = append(conds, &Compare{Op: Gt, Left: row, Right: offset})
		minus, err := d.u.o.functions.ResolveScalar("-", []extension.Argument{{Type: vec.Int64Type}, {Type: vec.Int64Type}})
		if err != nil {
			panic(fault{err})
		}
		row = &Call{Bound: minus, Name: "-", Args: []Expr{row, offset}}
	}
	if count != nil {
		le := &Compare{Op: Le, Left: row, Right: v.expr(count)}
		conds = append(conds, &Or{Args: []Expr{&IsNull{Arg: v.expr(count)}, le}})
		if c, ok := count.(*Const); ok && !c.Value.Null {
			conds[len(conds)-1] = le
		}
	}
	if len(conds) == 0 {
		return w, v
	}
	return &Filter{Input: w, Conditions: conds}, v
}

func isZero(e Expr) bool {
	c, ok := e.(*Const)
	return ok && !c.Value.Null && c.Value.I == 0
}

func (d *domain) pushSetOp(n *SetOp) (Node, carriedCols) {
	c := *n
	c.Args = make([]Node, len(n.Args))
	out := carriedCols{}
	c.Columns = slices.Clone(n.Columns)
	for _, o := range d.outer {
		key := d.u.o.ids.fresh(o)
		c.Columns = append(c.Columns, key)
		out[o.ID] = carried{col: key}
	}
	for i, arg := range n.Args {
		in, v := d.push(arg)
		cols := slices.Clone(arg.Cols())
		exprs := refsTo(cols)
		for _, o := range d.outer {
			cols = append(cols, d.u.o.ids.fresh(v[o.ID].col))
			exprs = append(exprs, refTo(v[o.ID].col))
		}
		c.Args[i] = &Project{Input: in, Columns: cols, Exprs: exprs}
	}
	return &c, out
}

func (d *domain) pushValues(n *Values) (Node, carriedCols) {
	set := &SetOp{Kind: Union, All: true, Columns: n.Columns}
	for _, row := range n.Rows {
		cols := n.Columns
		if len(n.Rows) > 1 {
			cols = d.u.o.freshCols(n.Columns)
		}
		set.Args = append(set.Args, &Project{Input: oneRow(), Columns: cols, Exprs: row})
	}
	if len(set.Args) == 1 {
		return d.push(set.Args[0])
	}
	return d.push(set)
}
