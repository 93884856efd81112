package plan

import (
	"math"
	"math/bits"
	"slices"
)

// orderJoins chooses the order of joins by cost, region by region. A region is a tree of inner joins and filters
// together with the outer, semi, anti, mark and single joins whose kept side is in it: those join as soon as the
// relations their conditions need are there.
func orderJoins(o *optimizer, n Node) Node {
	switch m := n.(type) {
	case *Join:
		if reorders(m) {
			return orderRegion(o, n)
		}
	case *Filter:
		if j, ok := m.Input.(*Join); ok && reorders(j) && !slices.ContainsFunc(m.Conditions, isVolatile) {
			return orderRegion(o, n)
		}
	}
	return mapInputs(n, func(in Node) Node { return orderJoins(o, in) })
}

func reorders(j *Join) bool { return j.Kind != Full && j.Kind != Right }

// maxExhaustive is the number of relations up to which every order is weighed; maxPairs bounds the work for dense join
// graphs, beyond which the order is found greedily.
const (
	maxExhaustive = 12
	maxPairs      = 20_000
)

// relSet is a set of a region's relations.
type relSet uint64

func (s relSet) has(i int) bool { return s>>uint(i)&1 != 0 }

// joinItem is one relation of a region. A dependent one is the right side of a join that is not inner: conds are that
// join's, needs the relations they use.
type joinItem struct {
	node  Node
	cols  colSet
	rows  float64
	base  float64 // rows before filters, which bounds distinct key combinations
	kind  JoinKind
	conds []Expr
	mark  Col
	needs relSet
}

// joinClass is a set of expressions that equalities make equal, each over one relation.
type joinClass struct{ members []classMember }

type classMember struct {
	expr     Expr
	rel      int
	distinct float64
}

// joinFilter is a condition that is not an equality of two relations.
type joinFilter struct {
	cond        Expr
	rels        relSet
	selectivity float64
}

type region struct {
	o       *optimizer
	est     *estimator
	items   []joinItem
	classes []joinClass
	filters []joinFilter
	edges   []relSet // neighbours of each relation
	plans   map[relSet]*joinPlan
	pairs   int
	owner   map[ColID]int
}

// joinPlan is the best way found to join a set of relations.
type joinPlan struct {
	set         relSet
	left, right *joinPlan // nil for a single relation
	rows, cost  float64
}

func orderRegion(o *optimizer, n Node) Node {
	r := &region{o: o, est: newEstimator(), plans: map[relSet]*joinPlan{}, owner: map[ColID]int{}}
	var conds []Expr
	r.flatten(n, &conds)
	if len(r.items) > 64 { // beyond what a set holds: keep the order written
		return mapInputs(n, func(in Node) Node { return orderJoins(o, in) })
	}
	r.prepare(conds)
	best := r.search()
	built := r.build(best)
	if missing := r.unapplied(best); len(missing) > 0 {
		built = &Filter{Input: built, Conditions: missing}
	}
	return built
}

// flatten collects the relations and conditions of the region below n.
func (r *region) flatten(n Node, conds *[]Expr) {
	switch m := n.(type) {
	case *Filter:
		if j, ok := m.Input.(*Join); ok && reorders(j) && !slices.ContainsFunc(m.Conditions, isVolatile) {
			*conds = append(*conds, m.Conditions...)
			r.flatten(m.Input, conds)
			return
		}
	case *Join:
		switch m.Kind {
		case Inner, Cross:
			on := joinConditions(m)
			if slices.ContainsFunc(on, isVolatile) {
				break
			}
			*conds = append(*conds, on...)
			r.flatten(m.Left, conds)
			r.flatten(m.Right, conds)
			return
		case Left, Semi, Anti, Mark, Single:
			r.flatten(m.Left, conds)
			r.add(joinItem{node: m.Right, kind: m.Kind, conds: joinConditions(m), mark: m.MarkCol})
			return
		}
	}
	r.add(joinItem{node: n, kind: Inner})
}

func (r *region) add(it joinItem) {
	if j, ok := it.node.(*Join); ok && it.kind == Inner && (j.Kind == Inner || j.Kind == Cross) { // kept for its volatile condition
		it.node = mapInputs(j, func(in Node) Node { return orderJoins(r.o, in) })
	} else {
		it.node = orderJoins(r.o, it.node)
	}
	for _, c := range it.node.Cols() {
		if it.kind != Semi && it.kind != Anti && it.kind != Mark {
			it.cols.add(c.ID)
			r.owner[c.ID] = len(r.items)
		}
	}
	if it.kind == Mark {
		it.cols.add(it.mark.ID)
		r.owner[it.mark.ID] = len(r.items)
	}
	it.rows = math.Max(r.est.rows(it.node), 1)
	it.base = math.Max(baseRows(it.node), it.rows)
	r.items = append(r.items, it)
}

// baseRows is the row count of the stored table that n filters, 0 for anything else.
func baseRows(n Node) float64 {
	switch n := n.(type) {
	case *Scan:
		if n.Table.Stats != nil {
			return float64(n.Table.Stats.Rows())
		}
	case *Filter:
		return baseRows(n.Input)
	case *Project:
		return baseRows(n.Input)
	}
	return 0
}

// rels returns the relations whose columns e uses.
func (r *region) rels(e Expr) relSet {
	var s relSet
	walkExpr(e, func(e Expr) bool {
		if c, ok := e.(*ColumnRef); ok {
			if i, ok := r.owner[c.ID]; ok {
				s |= 1 << uint(i)
			}
		}
		return true
	})
	return s
}

// prepare sorts conditions into classes and filters and finds which relations each dependent one needs.
func (r *region) prepare(conds []Expr) {
	for _, c := range conds {
		for _, c := range conjuncts(nil, c) {
			if !r.addEquality(c) {
				r.filters = append(r.filters, joinFilter{cond: c, rels: r.rels(c), selectivity: r.est.selectivity([]Expr{c}, 1e6)})
			}
		}
	}
	for i := range r.items {
		it := &r.items[i]
		if it.kind == Inner {
			continue
		}
		for _, c := range it.conds {
			it.needs |= r.rels(c)
		}
		it.needs &^= 1 << uint(i)
	}
	r.equalWithinRelations()
	r.connect()
}

// addEquality notes a = b over two relations, merging the classes it joins.
func (r *region) addEquality(e Expr) bool {
	cmp, ok := e.(*Compare)
	if !ok || cmp.Op != Eq {
		return false
	}
	a, b := r.rels(cmp.Left), r.rels(cmp.Right)
	if bits.OnesCount64(uint64(a)) != 1 || bits.OnesCount64(uint64(b)) != 1 || a == b {
		return false
	}
	left, right := r.member(cmp.Left, a), r.member(cmp.Right, b)
	i, j := r.classOf(left), r.classOf(right)
	switch {
	case i < 0 && j < 0:
		r.classes = append(r.classes, joinClass{members: []classMember{left, right}})
	case j < 0:
		r.classes[i].members = append(r.classes[i].members, right)
	case i < 0:
		r.classes[j].members = append(r.classes[j].members, left)
	case i != j:
		r.classes[i].members = append(r.classes[i].members, r.classes[j].members...)
		r.classes = slices.Delete(r.classes, j, j+1)
	}
	return true
}

func (r *region) member(e Expr, s relSet) classMember {
	rel := bits.TrailingZeros64(uint64(s))
	return classMember{expr: e, rel: rel, distinct: r.est.distinct(e, r.items[rel].rows)}
}

func (r *region) classOf(m classMember) int {
	return slices.IndexFunc(r.classes, func(c joinClass) bool {
		return slices.ContainsFunc(c.members, func(o classMember) bool { return equalExpr(o.expr, m.expr) })
	})
}

// equalWithinRelations turns two members of one class in one relation into a filter of it, since joins compare only one
// pair of each class.
func (r *region) equalWithinRelations() {
	for _, c := range r.classes {
		for i, m := range c.members {
			for _, other := range c.members[:i] {
				if other.rel == m.rel {
					cond := &Compare{Op: Eq, Left: other.expr, Right: m.expr}
					r.filters = append(r.filters, joinFilter{cond: cond, rels: 1 << uint(m.rel), selectivity: guessMatch})
					break
				}
			}
		}
	}
}

// connect makes the join graph: an edge where a condition or a need relates two relations, and edges between the parts
// that nothing relates, for a cross product.
func (r *region) connect() {
	n := len(r.items)
	r.edges = make([]relSet, n)
	link := func(s relSet) {
		for i := range n {
			if s.has(i) {
				r.edges[i] |= s &^ (1 << uint(i))
			}
		}
	}
	for _, c := range r.classes {
		var s relSet
		for _, m := range c.members {
			s |= 1 << uint(m.rel)
		}
		link(s)
	}
	for _, f := range r.filters {
		link(f.rels)
	}
	for i, it := range r.items {
		for j := range n {
			if it.needs.has(j) {
				link(1<<uint(i) | 1<<uint(j))
			}
		}
	}
	parts := r.components()
	for i := range parts {
		for j := range i {
			link(1<<uint(r.smallest(parts[i])) | 1<<uint(r.smallest(parts[j])))
		}
	}
}

func (r *region) components() []relSet {
	var out []relSet
	var seen relSet
	for i := range r.items {
		if seen.has(i) {
			continue
		}
		part := relSet(1) << uint(i)
		for {
			next := part
			for j := range r.items {
				if part.has(j) {
					next |= r.edges[j]
				}
			}
			if next == part {
				break
			}
			part = next
		}
		seen |= part
		out = append(out, part)
	}
	return out
}

// smallest prefers relations that stand for themselves, so that a dependent one does not carry a cross product.
func (r *region) smallest(s relSet) int {
	best := -1
	for i, it := range r.items {
		if !s.has(i) {
			continue
		}
		if best < 0 || r.items[best].kind != Inner && it.kind == Inner ||
			(r.items[best].kind == Inner) == (it.kind == Inner) && it.rows < r.items[best].rows {
			best = i
		}
	}
	return best
}
