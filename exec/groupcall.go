package exec

import "github.com/tidemarkdb/tidemark/vec"

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
