package plan

import (
	"math"
	"math/bits"
	"slices"
)

// search finds the cheapest plan: over all connected subgraph pairs (Moerkotte and Neumann, "Analysis of Two Existing
// and One New Dynamic Programming Algorithm", VLDB 2006) when there are few, greedily otherwise.
func (r *region) search() *joinPlan {
	n := len(r.items)
	all := relSet(1)<<uint(n) - 1
	for i := range n {
		s := relSet(1) << uint(i)
		rows := r.items[i].rows
		for _, f := range r.filters {
			if f.rels == s {
				rows *= f.selectivity
			}
		}
		r.plans[s] = &joinPlan{set: s, rows: math.Max(rows, 1)}
	}
	if n == 1 {
		return r.plans[all]
	}
	if n <= maxExhaustive {
		for i := n - 1; i >= 0; i-- {
			s := relSet(1) << uint(i)
			r.emitSubgraph(s)
			r.growSubgraph(s, below(i))
		}
		if best := r.plans[all]; best != nil && r.pairs <= maxPairs {
			return best
		}
	}
	return r.greedy()
}

// below is the set of relations up to i.
func below(i int) relSet { return relSet(2)<<uint(i) - 1 }

func (r *region) neighbours(s relSet) relSet {
	var out relSet
	for rest := s; rest != 0; rest &= rest - 1 {
		out |= r.edges[bits.TrailingZeros64(uint64(rest))]
	}
	return out &^ s
}

func (r *region) growSubgraph(s, excluded relSet) {
	if r.pairs > maxPairs {
		return
	}
	next := r.neighbours(s) &^ excluded
	for sub := next & -next; sub != 0; sub = (sub - next) & next {
		r.emitSubgraph(s | sub)
	}
	for sub := next & -next; sub != 0; sub = (sub - next) & next {
		r.growSubgraph(s|sub, excluded|next)
	}
}

// emitSubgraph pairs s with every connected complement that begins after it.
func (r *region) emitSubgraph(s relSet) {
	excluded := s | below(bits.TrailingZeros64(uint64(s)))
	next := r.neighbours(s) &^ excluded
	for i := len(r.items) - 1; i >= 0; i-- {
		if !next.has(i) {
			continue
		}
		other := relSet(1) << uint(i)
		r.weigh(s, other)
		r.growComplement(s, other, excluded|below(i)&next)
	}
}

func (r *region) growComplement(s, other, excluded relSet) {
	next := r.neighbours(other) &^ excluded &^ s
	for sub := next & -next; sub != 0; sub = (sub - next) & next {
		r.weigh(s, other|sub)
	}
	for sub := next & -next; sub != 0; sub = (sub - next) & next {
		r.growComplement(s, other|sub, excluded|next)
	}
}

// weigh keeps the join of two sets if it is the cheapest for their union so far.
func (r *region) weigh(a, b relSet) {
	r.pairs++
	left, right := r.plans[a], r.plans[b]
	if left == nil || right == nil {
		return
	}
	p := r.combine(left, right)
	if p == nil {
		return
	}
	if have := r.plans[p.set]; have == nil || p.cost < have.cost {
		r.plans[p.set] = p
	}
}

// combine joins two plans, the larger on the left, which probes; nil when a dependent relation would come too early.
func (r *region) combine(a, b *joinPlan) *joinPlan {
	if d := r.dependent(a); d >= 0 {
		if r.dependent(b) >= 0 {
			return nil
		}
		a, b = b, a
	}
	if d := r.dependent(b); d >= 0 {
		if r.items[d].needs&^a.set != 0 {
			return nil
		}
	} else if b.rows > a.rows {
		a, b = b, a
	}
	rows := r.joinRows(a, b)
	// What a join costs: the rows it reads, twice for those it builds a table of, and the rows it makes.
	cost := a.cost + b.cost + a.rows + 2*math.Min(b.rows, a.rows) + math.Max(b.rows-a.rows, 0) + rows
	if r.dependent(b) < 0 && !r.equated(a.set, b.set) && !r.hashable(a.set, b.set) {
		cost += a.rows * b.rows // pairs are looked at one by one
	}
	return &joinPlan{set: a.set | b.set, left: a, right: b, rows: rows, cost: cost}
}

// dependent returns the relation of a plan that is a single dependent one, else -1.
func (r *region) dependent(p *joinPlan) int {
	if p.left != nil {
		return -1
	}
	i := bits.TrailingZeros64(uint64(p.set))
	if r.items[i].kind == Inner {
		return -1
	}
	return i
}

// hashable reports an equality whose sides are over a and b alone, though over more than one relation.
func (r *region) hashable(a, b relSet) bool {
	for _, f := range r.crossing(a, b) {
		cmp, ok := f.cond.(*Compare)
		if !ok || cmp.Op != Eq && cmp.Op != NotDistinct {
			continue
		}
		left, right := r.rels(cmp.Left), r.rels(cmp.Right)
		if left != 0 && right != 0 && (left&^a|right&^b == 0 || left&^b|right&^a == 0) {
			return true
		}
	}
	return false
}

func (r *region) equated(a, b relSet) bool {
	for _, c := range r.classes {
		if _, _, ok := c.pair(a, b); ok {
			return true
		}
	}
	return false
}

// pair returns a member on each side.
func (c *joinClass) pair(a, b relSet) (l, m classMember, ok bool) {
	i := slices.IndexFunc(c.members, func(m classMember) bool { return a.has(m.rel) })
	j := slices.IndexFunc(c.members, func(m classMember) bool { return b.has(m.rel) })
	if i < 0 || j < 0 {
		return l, m, false
	}
	return c.members[i], c.members[j], true
}

// crossing returns the filters that can first be applied to the union of a and b.
func (r *region) crossing(a, b relSet) []*joinFilter {
	var out []*joinFilter
	for i := range r.filters {
		f := &r.filters[i]
		if f.rels&^(a|b) == 0 && f.rels&^a != 0 && f.rels&^b != 0 {
			out = append(out, f)
		}
	}
	return out
}

func (r *region) joinRows(a, b *joinPlan) float64 {
	filtered := 1.0
	for _, f := range r.crossing(a.set, b.set) {
		filtered *= f.selectivity
	}
	if d := r.dependent(b); d >= 0 {
		for i := range r.classes {
			if l, m, ok := r.classes[i].pair(a.set, b.set); ok {
				filtered /= math.Max(l.distinct, m.distinct)
			}
		}
		return math.Max(a.rows*r.dependentFactor(d, a)*filtered, 1)
	}
	selectivity := filtered
	var buffer [8]joinKeys
	for _, k := range r.keysBetween(a.set, b.set, buffer[:0]) {
		selectivity *= r.keySelectivity(&k, a.set, b.set)
	}
	return math.Max(a.rows*b.rows*selectivity, 1)
}

// joinKeys are the equalities between two relations. They count together, since there are no more combinations of keys
// than rows.
type joinKeys struct {
	leftRel, rightRel int
	left, right       float64 // distinct combinations, were the columns independent
}

func (r *region) keysBetween(a, b relSet, out []joinKeys) []joinKeys {
	for i := range r.classes {
		l, m, ok := r.classes[i].pair(a, b)
		if !ok {
			continue
		}
		at := slices.IndexFunc(out, func(k joinKeys) bool { return k.leftRel == l.rel && k.rightRel == m.rel })
		if at < 0 {
			at = len(out)
			out = append(out, joinKeys{leftRel: l.rel, rightRel: m.rel, left: 1, right: 1})
		}
		out[at].left *= l.distinct
		out[at].right *= m.distinct
	}
	return out
}

func (r *region) keySelectivity(k *joinKeys, a, b relSet) float64 {
	left, right := &r.items[k.leftRel], &r.items[k.rightRel]
	if k.left > left.base || k.right > right.base {
		var leftCols, rightCols colSet
		for i := range r.classes {
			if l, m, ok := r.classes[i].pair(a, b); ok && l.rel == k.leftRel && m.rel == k.rightRel {
				exprCols(l.expr, &leftCols)
				exprCols(m.expr, &rightCols)
			}
		}
		switch { // a row of the other side meets at most one row of a unique side
		case unique(left.node, leftCols):
			return 1 / left.base
		case unique(right.node, rightCols):
			return 1 / right.base
		}
	}
	return 1 / math.Max(math.Max(math.Min(k.left, left.base), math.Min(k.right, right.base)), 1)
}

// dependentFactor is by how much a dependent join changes the number of rows.
func (r *region) dependentFactor(d int, a *joinPlan) float64 {
	it := &r.items[d]
	switch it.kind {
	case Mark, Single:
		return 1
	}
	selectivity, match := 1.0, 1.0
	any := false
	for _, c := range it.conds {
		cmp, ok := c.(*Compare)
		if !ok || cmp.Op != Eq && cmp.Op != NotDistinct {
			match *= 0.8
			continue
		}
		any = true
		l, m := r.est.distinct(cmp.Left, a.rows), r.est.distinct(cmp.Right, it.rows)
		if r.rels(cmp.Left)&(1<<uint(d)) != 0 {
			l, m = m, l
		}
		selectivity /= math.Max(l, m)
		match = math.Min(match, m/l)
	}
	switch it.kind {
	case Left:
		return math.Max(1, it.rows*selectivity)
	case Semi:
		if !any {
			return guessSemi
		}
		return math.Min(1, match)
	}
	if !any {
		return guessSemi
	}
	return math.Max(1-match, 0.1)
}

// greedy joins the pair that gives the fewest rows, again and again.
func (r *region) greedy() *joinPlan {
	var plans []*joinPlan
	for i := range r.items {
		plans = append(plans, r.plans[1<<uint(i)])
	}
	for len(plans) > 1 {
		var best *joinPlan
		bi, bj := -1, -1
		for linked := range 2 { // first among related sets, then any
			for i := range plans {
				for j := range i {
					if linked == 0 && r.neighbours(plans[i].set)&plans[j].set == 0 {
						continue
					}
					if p := r.combine(plans[i], plans[j]); p != nil && (best == nil || p.rows < best.rows) {
						best, bi, bj = p, i, j
					}
				}
			}
			if best != nil {
				break
			}
		}
		if best == nil {
			panic(internalf("no order of joins satisfies their dependencies"))
		}
		plans[bj] = best
		plans = slices.Delete(plans, bi, bi+1)
	}
	return plans[0]
}

// build makes the nodes of a plan.
func (r *region) build(p *joinPlan) Node {
	if p.left == nil {
		i := bits.TrailingZeros64(uint64(p.set))
		if r.items[i].kind != Inner {
			return r.items[i].node // its filters apply once it is joined
		}
		return r.filtered(r.items[i].node, p.set, 0)
	}
	left, right := r.build(p.left), r.build(p.right)
	if d := r.dependent(p.right); d >= 0 {
		it := &r.items[d]
		var j Node = normalizeJoin(&Join{Kind: it.kind, Left: left, Right: right, Other: it.conds, MarkCol: it.mark})
		if equal := r.equalities(p.left.set, p.right.set); len(equal) > 0 {
			j = &Filter{Input: j, Conditions: equal}
		}
		return r.filtered(j, p.right.set, p.left.set)
	}
	j := &Join{Kind: Inner, Left: left, Right: right}
	j.Other = r.equalities(p.left.set, p.right.set)
	for _, f := range r.crossing(p.left.set, p.right.set) {
		j.Other = append(j.Other, f.cond)
	}
	return normalizeJoin(j)
}

// equalities returns one equality for each class that has members on both sides.
func (r *region) equalities(a, b relSet) []Expr {
	var out []Expr
	for i := range r.classes {
		if l, m, ok := r.classes[i].pair(a, b); ok {
			out = append(out, &Compare{Op: Eq, Left: l.expr, Right: m.expr})
		}
	}
	return out
}

// filtered applies the filters that own alone, or own with more, makes applicable.
func (r *region) filtered(n Node, own, more relSet) Node {
	var conds []Expr
	for _, f := range r.filters {
		if f.rels&own != 0 && f.rels&^(own|more) == 0 {
			conds = append(conds, f.cond)
		}
	}
	if len(conds) == 0 {
		return n
	}
	return (&pusher{s: r.o.simplifier()}).above(n, conds)
}

// unapplied returns the conditions that use no relation of the region: constants and outer parameters.
func (r *region) unapplied(*joinPlan) []Expr {
	var out []Expr
	for _, f := range r.filters {
		if f.rels == 0 {
			out = append(out, f.cond)
		}
	}
	return out
}
