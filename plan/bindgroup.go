package plan

import (
	"slices"

	"github.com/tidemarkdb/tidemark/sql"
	"github.com/tidemarkdb/tidemark/sqlerr"
	"github.com/tidemarkdb/tidemark/vec"
)

// grouper holds the groups of a block and rewrites expressions over them.
type grouper struct {
	s      *selectBinder
	groups []Expr
	cols   []Col
	sets   [][]int // nil: one set of all groups
	own    colSet  // columns of the block's FROM
	mask   *Col
}

// maxGroupingSets bounds what CUBE and ROLLUP multiply out to, as PostgreSQL does.
const maxGroupingSets = 4096

// bindGroups binds GROUP BY. An integer is a place in the select list, a name first a column of FROM, then an alias.
func (s *selectBinder) bindGroups() {
	g := s.sel.GroupBy
	if g == nil {
		return
	}
	s.grouper = &grouper{s: s, own: s.scope.allCols()}
	if g.All {
		s.groupByAll()
		return
	}
	sets := [][]int{{}}
	plain := true
	for i := range g.Items {
		plain = plain && g.Items[i].Kind == sql.GroupExprs && len(g.Items[i].Exprs) > 0
		sets = crossSets(sets, s.grouper.item(&g.Items[i]), g.Pos)
	}
	if g.Distinct {
		sets = distinctSets(sets)
	}
	if !plain {
		s.grouper.sets = sets
	}
}

func crossSets(a, b [][]int, pos int) [][]int {
	var out [][]int
	for _, x := range a {
		for _, y := range b {
			set := slices.Clone(x)
			for _, i := range y {
				if !slices.Contains(set, i) {
					set = append(set, i)
				}
			}
			out = append(out, set)
		}
	}
	if len(out) > maxGroupingSets {
		fail(pos, sqlerr.StatementTooComplex, "too many grouping sets present (maximum %d)", maxGroupingSets)
	}
	return out
}

func distinctSets(sets [][]int) [][]int {
	var out [][]int
	seen := map[string]bool{}
	for _, s := range sets {
		sorted := slices.Sorted(slices.Values(s))
		key := ""
		for _, i := range sorted {
			key += itoa(i) + ","
		}
		if !seen[key] {
			seen[key] = true
			out = append(out, s)
		}
	}
	return out
}

// item returns the grouping sets one element stands for.
func (g *grouper) item(item *sql.GroupItem) [][]int {
	switch item.Kind {
	case sql.GroupExprs:
		var set []int
		for _, e := range item.Exprs {
			set = append(set, g.expr(e)...)
		}
		return [][]int{set}
	case sql.GroupSets:
		var out [][]int
		for i := range item.Sets {
			out = append(out, g.item(&item.Sets[i])...)
		}
		return out
	}
	parts := make([][]int, len(item.Sets))
	for i := range item.Sets {
		parts[i] = g.item(&item.Sets[i])[0]
	}
	if item.Kind == sql.GroupRollup {
		out := [][]int{slices.Concat(parts...)}
		for n := len(parts) - 1; n >= 0; n-- {
			out = append(out, slices.Concat(parts[:n]...))
		}
		return out
	}
	if len(parts) > 12 {
		fail(item.Pos, sqlerr.StatementTooComplex, "CUBE is limited to 12 elements")
	}
	var out [][]int
	for bits := 1<<len(parts) - 1; bits >= 0; bits-- {
		var set []int
		for i := range parts {
			if bits>>(len(parts)-1-i)&1 == 1 {
				set = append(set, parts[i]...)
			}
		}
		out = append(out, set)
	}
	return out
}

// expr binds one GROUP BY expression and returns its places among the groups.
func (g *grouper) expr(e sql.Expr) []int {
	if row, ok := e.(*sql.Row); ok {
		var out []int
		for _, el := range row.Elems {
			out = append(out, g.expr(el)...)
		}
		return out
	}
	s := g.s
	if i, ok := ordinal(e, len(s.items), "GROUP BY"); ok {
		return []int{g.add(s.items[i].expr, e.Position())}
	}
	if c, ok := e.(*sql.Column); ok && len(c.Name) == 1 {
		if _, at, found := s.scope.lookup(c.Name[0], c.Pos); !found || at != s.scope {
			for i := range s.items {
				if s.items[i].name == c.Name[0].Name {
					return []int{g.add(s.items[i].expr, e.Position())}
				}
			}
		}
	}
	x := s.binder("GROUP BY")
	x.block = nil
	return []int{g.add(x.value(e), e.Position())}
}

func (g *grouper) add(e Expr, pos int) int {
	e = g.s.b.settle(e)
	if used := refs(e); used.intersects(g.s.block.made) {
		failHint(pos, sqlerr.Grouping, "group by what the function is computed from",
			"aggregate functions are not allowed in GROUP BY")
	}
	for i, have := range g.groups {
		if g.s.b.sameExpr(have, e) {
			return i
		}
	}
	name := "group"
	if c, ok := e.(*ColumnRef); ok {
		name = c.Name
	}
	g.groups = append(g.groups, e)
	g.cols = append(g.cols, g.s.b.newCol(name, e.Type(), true))
	return len(g.groups) - 1
}

// groupByAll groups by every select item that contains no aggregate.
func (s *selectBinder) groupByAll() {
	var aggs, others colSet
	for i := range s.block.aggs {
		aggs.add(s.block.aggs[i].Out.ID)
	}
	others = s.block.made.minus(aggs)
	for _, item := range s.items {
		if used := refs(item.expr); !used.intersects(aggs) && !used.intersects(others) {
			s.grouper.add(item.expr, s.sel.Pos)
		}
	}
}

// group puts the Aggregate and HAVING on top of FROM and rewrites what is evaluated above.
func (s *selectBinder) group() {
	grouped := s.grouper != nil || len(s.block.aggs) > 0 || len(s.having) > 0 || s.sel.Having != nil
	if !grouped {
		if len(s.block.groupings) > 0 {
			fail(s.block.groupings[0].pos, sqlerr.Grouping, "arguments to GROUPING must be grouping expressions of the associated query level")
		}
		return
	}
	if s.grouper == nil {
		s.grouper = &grouper{s: s, own: s.scope.allCols()}
	}
	g := s.grouper
	by := g.groupingValues()
	rewrite := func(e Expr) Expr { return g.replace(substitute(e, by)) }
	within := func(e Expr) Expr { return g.replaceWithin(substitute(e, by), false) }
	for i := range s.items {
		s.items[i].expr = rewrite(s.items[i].expr)
	}
	s.having, s.qualify = mapList(s.having, within), mapList(s.qualify, within)
	s.distOn = mapList(s.distOn, rewrite)
	for i := range s.keys {
		s.keys[i].Expr = rewrite(s.keys[i].Expr)
	}
	for i := range s.block.windows {
		w := &s.block.windows[i]
		w.partition = mapList(w.partition, rewrite)
		for k := range w.order {
			w.order[k].Expr = rewrite(w.order[k].Expr)
		}
		w.call.Args = mapList(w.call.Args, within)
		if w.call.Filter != nil {
			w.call.Filter = within(w.call.Filter)
		}
	}
	for i := range s.block.expands {
		s.block.expands[i].args = mapList(s.block.expands[i].args, within)
	}
	for _, a := range s.block.aggs {
		if a.Bound.Func.OrderedSet && len(a.OrderBy) > 0 { // what comes before is one value a group
			mapList(a.Args[:len(a.Args)-len(a.OrderBy)], rewrite)
		}
	}
	agg := &Aggregate{Input: s.node, Groups: g.groups, GroupCols: g.cols, Aggregates: s.block.aggs, Sets: g.sets, Grouping: g.mask}
	nulls := nullsOf(s.node)
	for i := range agg.GroupCols {
		agg.GroupCols[i].Nullable = g.sets != nil || nulls.mayBeNull(agg.Groups[i])
	}
	s.node = agg
	if len(s.having) > 0 {
		s.node = &Filter{Input: s.node, Conditions: s.having}
	}
}

func mapList(es []Expr, f func(Expr) Expr) []Expr {
	out := make([]Expr, len(es))
	for i, e := range es {
		out[i] = f(e)
	}
	return out
}

// replace rewrites e, an expression of its own, over the groups: one that equals a group becomes its column.
func (g *grouper) replace(e Expr) Expr {
	if _, ok := e.(*Const); ok {
		return g.replaceWhole(e)
	}
	return g.replaceWithin(e, false)
}

func (g *grouper) replaceWhole(e Expr) Expr {
	for i, have := range g.groups {
		if g.s.b.sameExpr(have, e) {
			return refTo(g.cols[i])
		}
	}
	return e
}

// replaceWithin rewrites e, a part of an expression, over the groups: a subexpression equal to a group becomes its
// column, but a constant remains itself, as in PostgreSQL. A column that is in no group is an error, unless the groups
// determine it.
func (g *grouper) replaceWithin(e Expr, inSubquery bool) Expr {
	if _, ok := e.(*Const); ok {
		return e
	}
	if whole := g.replaceWhole(e); whole != e {
		return whole
	}
	within := func(e Expr) Expr { return g.replaceWithin(e, inSubquery) }
	switch e := e.(type) {
	case *ColumnRef:
		if !g.own.has(e.ID) {
			return e
		}
		if i, ok := g.determined(e); ok {
			return refTo(g.cols[i])
		}
		g.ungrouped(e, inSubquery)
	case *Subquery:
		n := *e
		n.Args = mapList(e.Args, within)
		if freeCols(e.Plan).intersects(g.own) {
			n.Plan = mapNode(e.Plan, func(p Node) Node {
				return mapExprs(p, func(e Expr) Expr { return g.replaceWithin(e, true) })
			})
		}
		return &n
	}
	return mapChildren(e, within)
}

// determined adds the column as a group when the groups hold the whole key of its table.
func (g *grouper) determined(e *ColumnRef) (int, bool) {
	if g.sets != nil {
		return 0, false
	}
	for _, r := range g.s.scope.ns.relations {
		if r.table == nil || len(r.table.Key) == 0 || !slices.ContainsFunc(r.cols, func(c Col) bool { return c.ID == e.ID }) {
			continue
		}
		for _, k := range r.table.Key {
			if !slices.ContainsFunc(g.groups, func(have Expr) bool {
				ref, ok := have.(*ColumnRef)
				return ok && ref.ID == r.cols[k].ID
			}) {
				return 0, false
			}
		}
		return g.add(e, 0), true
	}
	return 0, false
}

func (g *grouper) ungrouped(e *ColumnRef, inSubquery bool) {
	name := e.Name
	for _, r := range g.s.scope.ns.relations {
		if slices.ContainsFunc(r.cols, func(c Col) bool { return c.ID == e.ID }) && r.name != "" {
			name = r.name + "." + e.Name
			break
		}
	}
	pos := g.s.b.positions[e]
	if inSubquery {
		failHint(pos, sqlerr.Grouping, "add it to GROUP BY", "subquery uses ungrouped column %q from outer query", name)
	}
	failHint(pos, sqlerr.Grouping, "add it to GROUP BY, or aggregate it, as in max("+e.Name+")",
		"column %q must appear in the GROUP BY clause or be used in an aggregate function", name)
}

// groupingValues computes GROUPING(...) calls from the mask of the grouping set.
func (g *grouper) groupingValues() map[ColID]Expr {
	by := map[ColID]Expr{}
	for _, p := range g.s.block.groupings {
		places := make([]int, len(p.args))
		for i, a := range p.args {
			places[i] = slices.IndexFunc(g.groups, func(have Expr) bool { return g.s.b.sameExpr(have, a) })
			if places[i] < 0 {
				fail(p.pos, sqlerr.Grouping, "arguments to GROUPING must be grouping expressions of the associated query level")
			}
		}
		if g.sets == nil {
			by[p.out.ID] = &Const{Value: vec.IntValue(vec.Int32Type, 0)}
			continue
		}
		if g.mask == nil {
			mask := g.s.b.newCol("grouping", vec.Int64Type, false)
			g.mask = &mask
		}
		c := &Case{T: vec.Int32Type}
		for _, set := range distinctSets(g.sets) {
			mask, value := int64(0), int64(0)
			for i := range g.groups {
				if !slices.Contains(set, i) {
					mask |= 1 << (len(g.groups) - 1 - i)
				}
			}
			for _, at := range places {
				value <<= 1
				if !slices.Contains(set, at) {
					value |= 1
				}
			}
			c.When = append(c.When, &Compare{Op: Eq, Left: refTo(*g.mask), Right: intConst(mask)})
			c.Then = append(c.Then, &Const{Value: vec.IntValue(vec.Int32Type, value)})
		}
		by[p.out.ID] = c
	}
	return by
}
