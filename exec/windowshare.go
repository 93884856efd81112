package exec

import (
	"github.com/tidemarkdb/tidemark/extension"
	"github.com/tidemarkdb/tidemark/plan"
	"github.com/tidemarkdb/tidemark/vec"
)

// windowShare is sorted rows of whole partitions.
type windowShare struct {
	x          *window
	w          *worker
	cols       []*vec.Vector
	n          int
	bounds     []int32 // partition p is rows [bounds[p], bounds[p+1])
	peerStart  []int32
	peerEnd    []int32
	groupOf    []int32 // peer group of each row
	groupStart []int32 // first row of each peer group, then n

	// carried, where set, is the state of the rows of the first partition that came before the share's first row: what
	// folds from the partition's start on continues it.
	carried []*vec.Vector
	// rowsBefore and rowsAfter, where set, are how many rows of its partition lie before row i, the first of them in
	// the share, and after row j, the last.
	rowsBefore, rowsAfter func(row int32) int64
}

func newWindowShare(x *window, w *worker, cols []*vec.Vector, n int) (*windowShare, error) {
	s := &windowShare{x: x, w: w, cols: cols, n: n}
	s.peerStart, s.peerEnd, s.groupOf = make([]int32, n), make([]int32, n), make([]int32, n)
	parts := newOrdering(x.order.specs[:x.keys])
	peers := newOrdering(x.order.specs[x.keys:])
	begins := make([]bool, n)
	parts.changes(cols, begins)
	if err := w.check(); err != nil {
		return nil, err
	}
	for i, begin := range begins {
		if begin || i == 0 {
			s.bounds = append(s.bounds, int32(i))
			begins[i] = true
		}
	}
	peers.changes(cols, begins)
	if err := w.check(); err != nil {
		return nil, err
	}
	for i, begin := range begins {
		if begin {
			s.groupStart = append(s.groupStart, int32(i))
		}
		s.groupOf[i] = int32(len(s.groupStart) - 1)
	}
	s.bounds = append(s.bounds, int32(n))
	s.groupStart = append(s.groupStart, int32(n))
	for i, g := range s.groupOf {
		s.peerStart[i], s.peerEnd[i] = s.groupStart[g], s.groupStart[g+1]
	}
	return s, nil
}

func (s *windowShare) parts() int { return len(s.bounds) - 1 }

// call computes one call for every row.
func (s *windowShare) call(c *windowCall) (*vec.Vector, error) {
	if c.Bound != nil {
		if v, ok := s.quick(c); ok {
			return v, nil
		}
		return s.function(c)
	}
	if wholePartition(c) && len(s.x.n.Order) == 0 || c.start.kind == plan.UnboundedPreceding && c.end.kind == plan.UnboundedFollowing && c.Frame.Exclude == plan.ExcludeNoOthers {
		return s.perPartition(c)
	}
	ordered := c.Distinct || c.ordered()
	if c.running() && !ordered {
		return s.running(c)
	}
	f, err := s.frame(c)
	if err != nil {
		return nil, err
	}
	if ordered {
		return s.rowByRow(c, f)
	}
	return s.tree(c, f)
}

// ordered reports whether the order of rows counts for an aggregate.
func (c *windowCall) ordered() bool { return c.Agg.Func != nil && c.Agg.Func.OrderSensitive }

// wholePartition reports whether a frame without ORDER BY is the partition: every row is a peer.
func wholePartition(c *windowCall) bool {
	return c.Frame.Mode == plan.Range && !c.start.seeks && !c.end.seeks && c.Frame.Exclude == plan.ExcludeNoOthers
}

// function runs a window function partition by partition.
func (s *windowShare) function(c *windowCall) (*vec.Vector, error) {
	f, err := s.frame(c)
	if err != nil {
		return nil, err
	}
	out := newColBuf(c.Bound.Result, s.n)
	local := func(from []int32, lo, hi int32) []int32 {
		part := make([]int32, hi-lo)
		for i := range part {
			part[i] = from[int(lo)+i] - lo
		}
		return part
	}
	args := make([]*vec.Vector, len(c.args))
	for p := range s.parts() {
		if err := s.w.check(); err != nil {
			return nil, err
		}
		lo, hi := s.bounds[p], s.bounds[p+1]
		part := &extension.Partition{
			N: int(hi - lo), PeerStart: local(s.peerStart, lo, hi), PeerEnd: local(s.peerEnd, lo, hi),
			FrameStart: local(f.start, lo, hi), FrameEnd: local(f.end, lo, hi), IgnoreNulls: c.IgnoreNulls,
		}
		part.Excluded = s.excluded(c, part)
		if s.rowsBefore != nil {
			part.Before, part.After = s.rowsBefore(lo), s.rowsAfter(hi-1)
		}
		for i, a := range c.args {
			args[i] = s.cols[a].Slice(int(lo), part.N)
		}
		v, err := c.Bound.Eval(s.w.ev, part, args)
		if err != nil {
			return nil, err
		}
		out.append(v, nil, part.N)
	}
	return out.finish(), nil
}

// excluded returns what EXCLUDE leaves out of the frames of a partition.
func (s *windowShare) excluded(c *windowCall, p *extension.Partition) func(i, j int) bool {
	switch c.Frame.Exclude {
	case plan.ExcludeCurrentRow:
		return func(i, j int) bool { return i == j }
	case plan.ExcludeGroup:
		return func(i, j int) bool { return j >= int(p.PeerStart[i]) && j < int(p.PeerEnd[i]) }
	case plan.ExcludeTies:
		return func(i, j int) bool { return i != j && j >= int(p.PeerStart[i]) && j < int(p.PeerEnd[i]) }
	}
	return nil
}

// kept returns which rows count for an aggregate: those that FILTER lets through and whose arguments are not NULL.
func (s *windowShare) kept(c *windowCall) vec.Bitmap {
	call := &groupCall{spec: &aggCall{bound: c.Agg, args: c.args, filter: c.filter}}
	sel := call.wanted(s.cols, &rowSet{n: s.n})
	if sel == nil {
		return nil
	}
	out := vec.NewBitmap(s.n)
	for _, r := range sel {
		out.Set(int(r))
	}
	return out
}

// fold passes rows on to an aggregate, row rows[i] to group groups[i].
func (s *windowShare) fold(c *windowCall, acc extension.Accumulator, groups []uint32, rows []int32) error {
	args := make([]*vec.Vector, len(c.args))
	for i, a := range c.args {
		args[i] = s.cols[a].Select(rows)
	}
	return acc.Update(groups, args, len(rows))
}

// perPartition computes an aggregate once a partition.
func (s *windowShare) perPartition(c *windowCall) (*vec.Vector, error) {
	acc := c.Agg.New(s.w.ev)
	acc.Grow(s.parts())
	index := make([]int32, s.n)
	groups, rows := make([]uint32, 0, s.n), make([]int32, 0, s.n)
	kept := s.kept(c)
	var seen grouper
	if c.Distinct {
		seen = newGrouper(append([]vec.Type{vec.Int64Type}, c.Agg.Args...), 0)
	}
	for p := range s.parts() {
		for i := s.bounds[p]; i < s.bounds[p+1]; i++ {
			index[i] = int32(p)
			if kept == nil || kept.Get(int(i)) {
				groups, rows = append(groups, uint32(p)), append(rows, i)
			}
		}
	}
	if seen != nil {
		keys := []*vec.Vector{idVector(groups, len(groups))}
		for _, a := range c.args {
			keys = append(keys, s.cols[a].Select(rows))
		}
		seen.assign(keys, len(rows), make([]uint32, len(rows)))
		var freshGroups []uint32
		var freshRows []int32
		for _, r := range seen.fresh() {
			freshGroups, freshRows = append(freshGroups, groups[r]), append(freshRows, rows[r])
		}
		groups, rows = freshGroups, freshRows
	}
	for from := 0; from < len(rows); from += vec.MaxBatchRows {
		if err := s.w.check(); err != nil {
			return nil, err
		}
		to := min(from+vec.MaxBatchRows, len(rows))
		if err := s.fold(c, acc, groups[from:to], rows[from:to]); err != nil {
			return nil, err
		}
	}
	v, err := acc.Result(0, s.parts())
	if err != nil {
		return nil, err
	}
	return vec.DictionaryOf(v, index, nil), nil
}

// rowByRow computes an aggregate whose order of rows counts, or that is DISTINCT: each frame anew, except that one
// which only grows is continued.
func (s *windowShare) rowByRow(c *windowCall, f frames) (*vec.Vector, error) {
	out := newColBuf(c.Agg.Result, s.n)
	kept := s.kept(c)
	var ids []uint32
	if c.Distinct {
		ids = make([]uint32, s.n)
		args := make([]*vec.Vector, len(c.args))
		for i, a := range c.args {
			args[i] = s.cols[a]
		}
		newGrouper(c.Agg.Args, 0).assign(args, s.n, ids)
	}
	var acc extension.Accumulator
	seen := map[uint32]bool{}
	from, to := int32(-1), int32(-1) // what acc has folded
	for i := range int32(s.n) {
		if i%1024 == 0 {
			if err := s.w.check(); err != nil {
				return nil, err
			}
		}
		grows := acc != nil && c.Frame.Exclude == plan.ExcludeNoOthers && f.start[i] == from && f.end[i] >= to
		if !grows {
			acc, from, to = c.Agg.New(s.w.ev), f.start[i], f.start[i]
			acc.Grow(1)
			clear(seen)
		}
		var rows []int32
		for _, r := range s.ranges(c, f, i) {
			for j := max(r[0], to); j < r[1]; j++ {
				if kept != nil && !kept.Get(int(j)) || ids != nil && seen[ids[j]] {
					continue
				}
				if ids != nil {
					seen[ids[j]] = true
				}
				rows = append(rows, j)
			}
		}
		to = max(to, f.end[i])
		if len(rows) > 0 {
			if err := s.fold(c, acc, nil, rows); err != nil {
				return nil, err
			}
		}
		v, err := acc.Result(0, 1)
		if err != nil {
			return nil, err
		}
		out.append(v, nil, 1)
	}
	return out.finish(), nil
}

// ranges returns the rows of row i's frame, EXCLUDE applied, as ascending ranges.
func (s *windowShare) ranges(c *windowCall, f frames, i int32) [][2]int32 {
	return frameRanges(c.Frame.Exclude, f.start[i], f.end[i], i, s.peerStart[i], s.peerEnd[i])
}

// frameRanges returns rows [lo, hi) without those that EXCLUDE leaves out for a row with such peers.
func frameRanges[T int32 | int64](exclude plan.Exclude, lo, hi, row, peers, peerEnd T) [][2]T {
	cut := func(from, to T) [][2]T {
		return [][2]T{{lo, min(hi, from)}, {max(lo, to), hi}}
	}
	switch exclude {
	case plan.ExcludeCurrentRow:
		return cut(row, row+1)
	case plan.ExcludeGroup:
		return cut(peers, peerEnd)
	case plan.ExcludeTies:
		out := cut(peers, peerEnd)
		if row >= lo && row < hi {
			return [][2]T{out[0], {row, row + 1}, out[1]}
		}
		return out
	}
	return [][2]T{{lo, hi}}
}
