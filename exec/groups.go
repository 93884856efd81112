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
