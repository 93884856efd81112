package exec

import (
	"github.com/tidemarkdb/tidemark/extension"
	"github.com/tidemarkdb/tidemark/vec"
)

// windowTotals holds the results of calls over whole partitions.
type windowTotals struct {
	x       *window
	parts   grouper // nil without PARTITION BY
	results []*vec.Vector
	sizes   []int64 // rows of each partition, where a call asks for them
}

// total computes the calls over whole partitions, ahead of everything else.
func (x *window) total(w *worker, list *chunkList, kinds []stretchKind) (*windowTotals, error) {
	t := &windowTotals{x: x, results: make([]*vec.Vector, len(kinds))}
	accs := make([]extension.Accumulator, len(kinds))
	any := false
	for i, kind := range kinds {
		switch kind {
		case overall:
			accs[i], any = x.calls[i].Agg.New(w.ev), true
			accs[i].Grow(1)
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
	if err := list.each(w, func(b *vec.Batch) error { return t.fold(w, accs, b) }); err != nil {
		return nil, err
	}
	for i, acc := range accs {
		if acc == nil {
			continue
		}
		var err error
		if t.results[i], err = acc.Result(0, t.count()); err != nil {
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

func (t *windowTotals) fold(w *worker, accs []extension.Accumulator, b *vec.Batch) error {
	ids := t.number(b.Cols, b.N)
	if t.sizes != nil {
		t.sizes = append(t.sizes, make([]int64, max(t.count()-len(t.sizes), 0))...)
		for _, id := range ids {
			t.sizes[id]++
		}
	}
	share := &windowShare{x: t.x, w: w, cols: b.Cols, n: b.N}
	for i, acc := range accs {
		if acc == nil {
			continue
		}
		c := &t.x.calls[i]
		acc.Grow(t.count())
		kept := share.kept(c)
		groups, rows := make([]uint32, 0, b.N), make([]int32, 0, b.N)
		for r := range b.N {
			if kept == nil || kept.Get(r) {
				groups, rows = append(groups, ids[r]), append(rows, int32(r))
			}
		}
		if len(rows) == 0 {
			continue
		}
		if err := share.fold(c, acc, groups, rows); err != nil {
			return err
		}
	}
	return nil
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
