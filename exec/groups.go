package exec

import (
	"github.com/tidemarkdb/tidemark/extension"
	"github.com/tidemarkdb/tidemark/vec"
)

// groups is a table of groups with their accumulators.
type groups struct {
	a     *aggregation
	keys  grouper // nil: one group without keys
	calls []groupCall
	ids   []uint32
}

// groupCall is one aggregate over the groups of a table.
type groupCall struct {
	spec    *aggCall
	acc     extension.Accumulator
	seen    grouper // DISTINCT: the (group, arguments) folded so far
	grouped bool    // there are groups, so that seen has their numbers in its keys
	ordered *store  // ORDER BY: rows that wait to be folded in order, as group, exprs
	sel     []int32
	ids     []uint32
	pick    []picker
	args    []*vec.Vector
	out     extension.SelectiveAccumulator // acc, when it leaves rows out by itself and may
}

// newGroups returns a table with room for about hint groups.
func newGroups(a *aggregation, ev *extension.Eval, hint int) *groups {
	g := &groups{a: a}
	if a.width > 0 {
		g.keys = newGrouper(a.types[:a.width], hint)
	}
	g.addCalls(ev)
	return g
}

// renew empties the table.
func (g *groups) renew(ev *extension.Eval) {
	if g.keys != nil {
		g.keys.reset()
	}
	g.calls = nil
	g.addCalls(ev)
}

func (g *groups) addCalls(ev *extension.Eval) {
	a := g.a
	for i := range a.calls {
		c := newGroupCall(ev, &a.calls[i], a.types, g.keys != nil)
		c.acc.Grow(g.len())
		g.calls = append(g.calls, *c)
	}
}

// newGroupCall returns an aggregate over rows of the types, of groups or of one.
func newGroupCall(ev *extension.Eval, spec *aggCall, types []vec.Type, grouped bool) *groupCall {
	c := &groupCall{spec: spec, acc: spec.bound.New(ev), pick: make([]picker, len(spec.args)), args: make([]*vec.Vector, len(spec.args)), grouped: grouped}
	if spec.distinct {
		var keys []vec.Type
		if grouped {
			keys = append(keys, vec.Int64Type)
		}
		for _, p := range spec.args {
			keys = append(keys, types[p])
		}
		c.seen = newGrouper(keys, 0)
	}
	if len(spec.order) > 0 {
		c.ordered = newStore(append([]vec.Type{vec.Int64Type}, types...))
	}
	if c.seen == nil && c.ordered == nil {
		c.out, _ = c.acc.(extension.SelectiveAccumulator)
	}
	return c
}

func (c *groupCall) memory() int64 {
	size := c.acc.MemoryBytes()
	if c.seen != nil {
		size += c.seen.memory()
	}
	if c.ordered != nil {
		size += c.ordered.memory()
	}
	return size
}

func (g *groups) len() int {
	if g.keys == nil {
		return 1
	}
	return g.keys.len()
}

func (g *groups) memory() int64 {
	var size int64
	if g.keys != nil {
		size = g.keys.memory()
	}
	for i := range g.calls {
		size += g.calls[i].memory()
	}
	return size
}

// number finds the group of each row that counts; nil stands for the one without keys.
func (g *groups) number(cols []*vec.Vector, rows *rowSet) []uint32 {
	if g.keys == nil {
		return nil
	}
	g.ids = resize(g.ids, rows.n)
	if len(rows.except) == 0 {
		g.keys.assign(cols[:g.a.width], rows.n, g.ids)
	} else {
		rows.assign(g.keys, cols[:g.a.width], g.ids)
	}
	return g.ids
}

// update folds rows, as computed by the aggregation's exprs.
func (g *groups) update(cols []*vec.Vector, rows *rowSet) error {
	ids := g.number(cols, rows)
	for i := range g.calls {
		c := &g.calls[i]
		c.acc.Grow(g.len())
		if err := c.update(cols, ids, rows); err != nil {
			return err
		}
	}
	return nil
}

// update folds rows into one aggregate.
func (c *groupCall) update(cols []*vec.Vector, ids []uint32, rows *rowSet) error {
	n := rows.n
	if except, ok := c.leftOut(cols, rows); ok && len(except) > 0 {
		if len(except) == n {
			return nil
		}
		for i, p := range c.spec.args {
			c.args[i] = cols[p]
		}
		return c.out.UpdateExcept(ids, c.args, n, except)
	}
	sel := c.wanted(cols, rows)
	if sel != nil && len(sel) == 0 {
		return nil
	}
	if len(rows.except) > 0 && sel == nil {
		sel = rows.live()
	}
	if c.ordered != nil {
		c.keep(cols, ids, sel, n)
		return nil
	}
	args := c.args
	for i, p := range c.spec.args {
		args[i] = cols[p]
	}
	if sel != nil {
		n = len(sel)
		for i, v := range args {
			args[i] = c.pick[i].gather(v, sel)
		}
		ids = c.gatherIDs(ids, sel)
	}
	return c.fold(args, ids, n)
}

// fold passes rows on to the accumulator, with DISTINCT those not seen before.
func (c *groupCall) fold(args []*vec.Vector, ids []uint32, n int) error {
	if c.seen != nil {
		fresh := c.unseen(args, ids, n)
		if len(fresh) == 0 {
			return nil
		}
		if len(fresh) < n {
			some := make([]*vec.Vector, len(args))
			for i, v := range args {
				some[i] = v.Select(fresh)
			}
			if ids != nil {
				left := make([]uint32, len(fresh))
				gatherTo(left, ids, fresh)
				ids = left
			}
			args, n = some, len(fresh)
		}
	}
	return c.acc.Update(ids, args, n)
}

func (c *groupCall) gatherIDs(ids []uint32, sel []int32) []uint32 {
	if ids == nil {
		return nil
	}
	c.ids = resize(c.ids, len(sel))
	gatherTo(c.ids, ids, sel)
	return c.ids
}

// leftOut returns the rows that do not count or have a NULL argument, where the accumulator leaves them out by itself
// and they are few.
func (c *groupCall) leftOut(cols []*vec.Vector, rows *rowSet) ([]int32, bool) {
	if c.out == nil || c.spec.filter >= 0 {
		return nil, false
	}
	if c.spec.bound.Func != nil && c.spec.bound.Func.KeepsNulls {
		return rows.except, true
	}
	except := rows.except
	for _, p := range c.spec.args {
		if v := cols[p]; v.MayHaveNulls() {
			if len(c.spec.args) > 1 {
				return nil, false
			}
			var few bool
			if c.sel, few = rows.without(v, except, c.sel); !few {
				return nil, false
			}
			except = c.sel
		}
	}
	return except, true
}

// wanted returns the rows that count, that the FILTER lets through and, unless the aggregate keeps NULLs, that have no
// NULL argument; nil when those are all that count.
func (c *groupCall) wanted(cols []*vec.Vector, rows *rowSet) []int32 {
	n := rows.n
	var sel []int32
	if c.spec.filter >= 0 {
		sel = dropRows(trueRows(c.sel[:0], cols[c.spec.filter], n), rows.except)
		c.sel = sel
		if sel == nil {
			sel = []int32{}
		}
	}
	if c.spec.bound.Func != nil && c.spec.bound.Func.KeepsNulls {
		return sel
	}
	for _, p := range c.spec.args {
		v := cols[p]
		if !v.MayHaveNulls() {
			continue
		}
		if sel == nil {
			c.sel = append(c.sel[:0], rows.live()...)
			sel = c.sel
		}
		if v.Form == vec.Flat && v.Type.ID != vec.Null {
			sel = sel[:dropNulls(v.Valid, sel, len(sel))]
			continue
		}
		kept := sel[:0]
		for _, r := range sel {
			if !v.IsNull(int(r)) {
				kept = append(kept, r)
			}
		}
		sel = kept
	}
	if len(sel) == n-len(rows.except) && n > 0 {
		return nil
	}
	return sel
}

// unseen returns the rows whose group and arguments come for the first time.
func (c *groupCall) unseen(args []*vec.Vector, ids []uint32, n int) []int32 {
	keys := make([]*vec.Vector, 0, len(args)+1)
	if c.grouped {
		keys = append(keys, idVector(ids, n))
	}
	keys = append(keys, args...)
	numbers := make([]uint32, n)
	c.seen.assign(keys, n, numbers)
	fresh := append([]int32(nil), c.seen.fresh()...)
	return fresh
}

func idVector(ids []uint32, n int) *vec.Vector {
	out := make([]int64, n)
	for i := range ids {
		out[i] = int64(ids[i])
	}
	return vec.FlatOf(vec.Int64Type, out, nil)
}

// keep stores rows until all of their group are there.
func (c *groupCall) keep(cols []*vec.Vector, ids []uint32, sel []int32, n int) {
	if sel != nil {
		rows := len(sel)
		c.ordered.append(append([]*vec.Vector{idVector(ids, n)}, cols...), sel, rows)
		return
	}
	c.ordered.append(append([]*vec.Vector{idVector(ids, n)}, cols...), nil, n)
}

// finishOrdered folds the rows kept, group by group in their order.
func (c *groupCall) finishOrdered(q *query) error {
	chunks := c.ordered.take()
	if len(chunks) == 0 {
		return nil
	}
	cols, rows := make([]*vec.Vector, len(c.ordered.types)), 0
	for i, t := range c.ordered.types {
		col, err := concat(q, t, chunks, i)
		if err != nil {
			return err
		}
		cols[i], rows = col, col.N
	}
	specs := []sortSpec{{place: 0, t: vec.Int64Type}}
	for _, s := range c.spec.order {
		s.place++
		specs = append(specs, s)
	}
	order := newOrdering(specs)
	entries, err := order.entries(q, nil, cols, rows)
	if err != nil {
		return err
	}
	if entries, _, err = order.sort(q, entries, nil, cols); err != nil {
		return err
	}
	index := make([]int32, 0, vec.BatchRows)
	for from := 0; from < len(entries); from += vec.BatchRows {
		if err := q.check(); err != nil {
			return err
		}
		index = index[:0]
		for _, e := range entries[from:min(from+vec.BatchRows, len(entries))] {
			index = append(index, e.row)
		}
		ids := make([]uint32, len(index))
		numbers := vec.Cast[int64](cols[0].Data)
		for i, r := range index {
			ids[i] = uint32(numbers[r])
		}
		args := make([]*vec.Vector, len(c.spec.args))
		for i, p := range c.spec.args {
			args[i] = vec.Gather(cols[p+1], index, nil)
		}
		if err := c.fold(args, ids, len(index)); err != nil {
			return err
		}
	}
	return nil
}

// merge folds states, as states gives them.
func (g *groups) merge(cols []*vec.Vector, n int) error {
	ids := g.number(cols, &rowSet{n: n})
	at := g.a.width
	for i := range g.calls {
		c := &g.calls[i]
		c.acc.Grow(g.len())
		width := len(c.spec.bound.State)
		if err := c.acc.MergeState(ids, cols[at:at+width], n); err != nil {
			return err
		}
		at += width
	}
	return nil
}

// states returns the keys and states of groups [from, from+n).
func (g *groups) states(from, n int) ([]*vec.Vector, error) {
	var cols []*vec.Vector
	if g.keys != nil {
		cols = g.keys.keys(from, n)
	}
	for i := range g.calls {
		c := &g.calls[i]
		if c.ordered != nil {
			if err := c.finishOrdered(g.a.q); err != nil {
				return nil, err
			}
		}
		s, err := c.acc.SaveState(from, n)
		if err != nil {
			return nil, err
		}
		cols = append(cols, s...)
	}
	return cols, nil
}

// yield passes every group's keys and results on.
func (g *groups) yield(w *worker, out consumer) error {
	for i := range g.calls {
		if c := &g.calls[i]; c.ordered != nil {
			if err := c.finishOrdered(g.a.q); err != nil {
				return err
			}
		}
	}
	for from := 0; from < g.len(); from += vec.BatchRows {
		if err := w.check(); err != nil {
			return err
		}
		n := min(vec.BatchRows, g.len()-from)
		if f, ok := out.(*finer); ok {
			if err := f.fold(g, from, n); err != nil {
				return err
			}
		}
		b, err := g.result(from, n)
		if err != nil {
			return err
		}
		if err := out.consume(b); err != nil {
			return err
		}
	}
	return nil
}

// result returns the output rows of groups [from, from+n): keys, aggregates, GROUPING.
func (g *groups) result(from, n int) (*vec.Batch, error) {
	b := &vec.Batch{N: n}
	var keys []*vec.Vector
	if g.keys != nil {
		keys = g.keys.keys(from, n)
	}
	for i, k := range g.a.outKeys {
		if k < 0 {
			b.Cols = append(b.Cols, vec.NullOf(g.a.outTypes[i], n))
		} else {
			b.Cols = append(b.Cols, keys[k])
		}
	}
	for i := range g.calls {
		v, err := g.calls[i].acc.Result(from, n)
		if err != nil {
			return nil, err
		}
		b.Cols = append(b.Cols, v)
	}
	if g.a.grouping != nil {
		b.Cols = append(b.Cols, vec.ConstantOf(vec.Int64Type, vec.IntValue(vec.Int64Type, *g.a.grouping), n))
	}
	return b, nil
}
