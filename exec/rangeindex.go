package exec

import (
	"sort"

	"github.com/tidemarkdb/tidemark/function"
	"github.com/tidemarkdb/tidemark/plan"
	"github.com/tidemarkdb/tidemark/vec"
)

// rangeSpec is what a join without equal keys can look rows of its build side up by: comparisons of an expression over
// one side with an expression over the other. The conditions are tested once more on the pairs found.
type rangeSpec struct {
	build  []plan.Expr // one or two: what the table is ordered by, and what it is searched for within the order
	probe  []plan.Expr // of each bound
	bounds []rangeBound
}

// rangeBound bounds build[of]: from below (build > or >= the probe side's value) or from above.
type rangeBound struct {
	of    int
	below bool
	equal bool
}

// newRangeSpec chooses among the conditions; nil when none will do. Best is an expression bounded from both sides, as
// by BETWEEN.
func newRangeSpec(conditions []plan.Expr, probe, build layout) *rangeSpec {
	type sided struct {
		bound        rangeBound
		build, probe plan.Expr
	}
	var found []sided
	for _, e := range conditions {
		c, ok := e.(*plan.Compare)
		if !ok || c.Op < plan.Lt || c.Op > plan.Ge {
			continue
		}
		switch s := (sided{build: c.Right, probe: c.Left, bound: rangeBound{below: c.Op == plan.Lt || c.Op == plan.Le, equal: c.Op == plan.Le || c.Op == plan.Ge}}); {
		case over(c.Left, probe) && over(c.Right, build):
			found = append(found, s)
		case over(c.Left, build) && over(c.Right, probe):
			s.build, s.probe, s.bound.below = c.Left, c.Right, !s.bound.below
			found = append(found, s)
		}
	}
	if len(found) == 0 {
		return nil
	}
	first := 0
	for i, a := range found {
		for _, b := range found[:i] {
			if a.bound.below != b.bound.below && sameExprs([]plan.Expr{a.build}, []plan.Expr{b.build}) {
				first = i
			}
		}
	}
	spec := &rangeSpec{build: []plan.Expr{found[first].build}}
	var sides [2]bool
	add := func(s sided, of int) {
		s.bound.of = of
		spec.bounds, spec.probe = append(spec.bounds, s.bound), append(spec.probe, s.probe)
	}
	for _, s := range found {
		if sameExprs([]plan.Expr{s.build}, spec.build) && !sides[b2i(s.bound.below)] {
			sides[b2i(s.bound.below)] = true
			add(s, 0)
		}
	}
	for _, s := range found {
		if !sameExprs([]plan.Expr{s.build}, spec.build[:1]) {
			spec.build = append(spec.build, s.build)
			add(s, 1)
			break
		}
	}
	return spec
}

// over reports whether e is computed from columns of l alone, of which it has some, and always with the same result.
func over(e plan.Expr, l layout) bool {
	refs := map[plan.ColID]*plan.ColumnRef{}
	collectColumns(e, refs)
	for id := range refs {
		if _, ok := l[id]; !ok {
			return false
		}
	}
	return len(refs) > 0 && deterministic(e)
}

// rangeFan is how many entries of a level one of the next stands for.
const rangeFan = 16

// rangeIndex finds rows of a table by bounds: rows in the order of one expression, over them a tree of the highest
// rank by another.
//
//	order      | 4 | 0 | 7 | 2 | ...   rows by build[0], without those where an expression is NULL
//	levels[0]  | 3 | 9 | 1 | 5 | ...   the rank of each by build[1]; negative where that is bounded from above
//	levels[1]  |       9       | ...   the highest of rangeFan
type rangeIndex struct {
	spec   *rangeSpec
	vals   []*vec.Vector // build, by row
	comp   []function.RowCompare
	order  []int32
	second []int32 // rows by build[1]
	levels [][]int32
}

// newRangeIndex indexes n rows with the columns cols.
func newRangeIndex(q *query, spec *rangeSpec, l layout, cols []*vec.Vector, n int) (*rangeIndex, error) {
	x := &rangeIndex{spec: spec}
	var err error
	if x.vals, err = evalColumns(q, spec.build, l, cols, n); err != nil {
		return nil, err
	}
	for _, v := range x.vals {
		x.comp = append(x.comp, function.CompareRows(v.Type))
	}
	if x.order, err = x.sorted(q, 0, n); err != nil || len(x.vals) == 1 {
		return x, err
	}
	if x.second, err = x.sorted(q, 1, n); err != nil {
		return nil, err
	}
	rank := make([]int32, n)
	sign := int32(1)
	if !spec.bounds[len(spec.bounds)-1].below {
		sign = -1
	}
	for i, r := range x.second {
		rank[r] = sign * int32(i)
	}
	level := make([]int32, len(x.order))
	gatherTo(level, rank, x.order)
	x.levels = [][]int32{level}
	for len(level) > rangeFan {
		up := make([]int32, 0, len(level)/rangeFan+1)
		for from := 0; from < len(level); from += rangeFan {
			highest := level[from]
			for _, r := range level[from:min(from+rangeFan, len(level))] {
				highest = max(highest, r)
			}
			up = append(up, highest)
		}
		x.levels, level = append(x.levels, up), up
	}
	return x, nil
}

// evalColumns computes expressions over n rows.
func evalColumns(q *query, exprs []plan.Expr, l layout, cols []*vec.Vector, n int) ([]*vec.Vector, error) {
	prog, err := newProgram(q.newWorker(0, nil), l, exprs)
	if err != nil {
		return nil, err
	}
	bufs := make([]*colBuf, len(exprs))
	for i, e := range exprs {
		bufs[i] = newColBuf(e.Type(), n)
	}
	rows := &vec.Batch{N: n, Cols: cols}
	for from := 0; from < n; from += vec.BatchRows {
		if err := q.check(); err != nil {
			return nil, err
		}
		part := rows.Slice(from, min(vec.BatchRows, n-from))
		vals, err := prog.eval(part)
		if err != nil {
			return nil, err
		}
		for i, v := range vals {
			bufs[i].append(v, nil, part.N)
		}
	}
	out := make([]*vec.Vector, len(exprs))
	for i, b := range bufs {
		out[i] = b.finish()
	}
	return out, nil
}

// sorted returns the rows that have all values, by value k.
func (x *rangeIndex) sorted(q *query, k, n int) ([]int32, error) {
	o := newOrdering([]sortSpec{{place: k, t: x.vals[k].Type}})
	entries, err := o.entries(q, nil, x.vals, n)
	if err != nil {
		return nil, err
	}
	if entries, _, err = o.sort(q, entries, nil, x.vals); err != nil {
		return nil, err
	}
	out := make([]int32, 0, n)
	for _, e := range entries {
		if !x.vals[0].IsNull(int(e.row)) && !x.vals[len(x.vals)-1].IsNull(int(e.row)) {
			out = append(out, e.row)
		}
	}
	return out, nil
}

func (x *rangeIndex) memory() int64 {
	size := int64(len(x.order)+len(x.second)) * 4
	for _, v := range x.vals {
		size += v.MemoryBytes()
	}
	for _, l := range x.levels {
		size += int64(len(l)) * 4
	}
	return size
}

// find appends the rows within the bounds that row i of the probe side's values sets.
func (x *rangeIndex) find(probe []*vec.Vector, i int, out []int32) []int32 {
	lo, hi := 0, len(x.order)
	for k, b := range x.spec.bounds {
		if probe[k].IsNull(i) {
			return out
		}
		if b.of == 1 {
			continue
		}
		at := x.edge(x.order, b, probe[k], i)
		if b.below {
			lo = max(lo, at)
		} else {
			hi = min(hi, at)
		}
	}
	if lo >= hi {
		return out
	}
	if x.levels == nil {
		return append(out, x.order[lo:hi]...)
	}
	last := len(x.spec.bounds) - 1
	least := int32(x.edge(x.second, x.spec.bounds[last], probe[last], i))
	if !x.spec.bounds[last].below {
		least = 1 - least
	}
	return x.descend(len(x.levels)-1, 0, len(x.levels[len(x.levels)-1]), lo, hi, least, out)
}

// edge returns the first place in rows at which the bound holds (from below) or no longer holds (from above).
func (x *rangeIndex) edge(rows []int32, b rangeBound, probe *vec.Vector, i int) int {
	compare, vals := x.comp[b.of], x.vals[b.of]
	past := b.below == b.equal // whether equal values lie past the edge
	return sort.Search(len(rows), func(at int) bool {
		c := compare(vals, int(rows[at]), probe, i)
		return c > 0 || c == 0 && past
	})
}

// descend appends the rows at places [lo, hi) whose rank is at least least, among entries [from, to) of a level.
func (x *rangeIndex) descend(level, from, to, lo, hi int, least int32, out []int32) []int32 {
	width := 1
	for range level {
		width *= rangeFan
	}
	from, to = max(from, lo/width), min(to, (hi+width-1)/width)
	for at := from; at < to; at++ {
		if x.levels[level][at] < least {
			continue
		}
		if level == 0 {
			out = append(out, x.order[at])
		} else {
			out = x.descend(level-1, at*rangeFan, min((at+1)*rangeFan, len(x.levels[level-1])), lo, hi, least, out)
		}
	}
	return out
}

// lookRange returns what gives the rows of the table to pair a probe row with: nil for the first n.
func (p *prober) lookRange() func(i int32) (rows []int32, n int) {
	all := func(int32) ([]int32, int) { return nil, p.t.n }
	if p.t.ranges == nil {
		return all
	}
	vals, err := p.rangeProg.eval(p.b)
	if err != nil { // it may be that of a row that other conditions leave out: only the pairs tell
		return all
	}
	return func(i int32) ([]int32, int) {
		p.found = p.t.ranges.find(vals, int(i), p.found[:0])
		return p.found, len(p.found)
	}
}
