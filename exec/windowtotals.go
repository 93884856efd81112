package exec

import "github.com/tidemarkdb/tidemark/vec"

// windowTotals holds the results of calls over whole partitions.
type windowTotals struct {
	x       *window
	parts   grouper // nil without PARTITION BY
	results []*vec.Vector
	sizes   []int64 // rows of each partition, where a call asks for them
	res     *reservation
}

// total computes the calls over whole partitions, ahead of everything else.
func (x *window) total(w *worker, list *chunkList, kinds []stretchKind) (*windowTotals, error) {
	t := &windowTotals{x: x, results: make([]*vec.Vector, len(kinds)), res: x.q.budget.open("Window", x.m)}
	calls := make([]*groupCall, len(kinds))
	any := false
	for i, kind := range kinds {
		switch kind {
		case overall:
			c := &x.calls[i]
			calls[i], any = newGroupCall(w.ev, &aggCall{bound: c.Agg, args: c.args, filter: c.filter, distinct: c.Distinct}, x.types, true), true
		case sized:
			t.sizes, any = make([]int64, 1), true
		}
	}
	if !any {
		return t, nil
	}
	if x.keys > 0 {
		var types []vec.Type
		for _, at := range x.keyAt {
			types = append(types, x.types[at])
		}
		t.parts = newGrouper(types, 0)
	}
	if err := list.each(w, func(b *vec.Batch) error { return t.fold(calls, b) }); err != nil {
		return nil, err
	}
	for i, c := range calls {
		if c == nil {
			continue
		}
		c.acc.Grow(t.count())
		var err error
		if t.results[i], err = c.acc.Result(0, t.count()); err != nil {
			return nil, err
		}
	}
	return t, nil
}

func (t *windowTotals) count() int {
	if t.parts == nil {
		return 1
	}
	return t.parts.len()
}

// number returns the number of each row's partition.
func (t *windowTotals) number(cols []*vec.Vector, n int) []uint32 {
	ids := make([]uint32, n)
	if t.parts != nil {
		t.parts.assign(pickColumns(cols, t.x.keyAt), n, ids)
	}
	return ids
}

func (t *windowTotals) fold(calls []*groupCall, b *vec.Batch) error {
	ids := t.number(b.Cols, b.N)
	if t.sizes != nil {
		t.sizes = append(t.sizes, make([]int64, max(t.count()-len(t.sizes), 0))...)
		for _, id := range ids {
			t.sizes[id]++
		}
	}
	size := int64(cap(t.sizes)) * 8
	if t.parts != nil {
		size += t.parts.memory()
	}
	for _, c := range calls {
		if c == nil {
			continue
		}
		c.acc.Grow(t.count())
		if err := c.update(b.Cols, ids, &rowSet{n: b.N}); err != nil {
			return err
		}
		size += c.memory()
	}
	return t.x.require(t.res, size)
}

// of returns the result of call i for every row of a share.
func (t *windowTotals) of(s *windowShare, i int) (*vec.Vector, error) {
	ids := t.number(s.cols, s.n)
	index := make([]int32, s.n)
	for k, id := range ids {
		index[k] = int32(id)
	}
	return vec.DictionaryOf(t.results[i], index, nil), nil
}

// count tells a share how many rows its first and last partitions have elsewhere.
func (s *windowStream) count(share *windowShare) {
	if share.rowsBefore != nil {
		return
	}
	share.rowsBefore = func(row int32) int64 {
		if row > 0 || !s.began {
			return 0
		}
		return s.before.rows
	}
	ids := s.totals.number(share.cols, share.n)
	last := share.bounds[share.parts()-1]
	share.rowsAfter = func(row int32) int64 {
		if row < last {
			return 0
		}
		return s.totals.sizes[ids[row]] - share.rowsBefore(last) - int64(share.n) + int64(last)
	}
}
