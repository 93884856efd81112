package exec

import (
	"github.com/tidemarkdb/tidemark/extension"
	"github.com/tidemarkdb/tidemark/plan"
	"github.com/tidemarkdb/tidemark/vec"
)

// treeFan is how many nodes of a level one of the next stands for.
const treeFan = 8

// tree computes an aggregate over any frames with a tree of states: a node of level k stands for treeFan^k rows, and a
// frame is few nodes of each level. (V. Leis et al., "Efficient Processing of Window Functions in Analytical SQL
// Queries", VLDB 2015.) Rows are computed together, level by level, so that states merge in batches.
func (s *windowShare) tree(c *windowCall, f frames) (*vec.Vector, error) {
	kept := s.kept(c)
	levels, err := s.treeLevels(c, kept)
	if err != nil {
		return nil, err
	}
	out := newColBuf(c.Agg.Result, s.n)
	t := newTreeFold(s, c, kept, levels)
	for from := 0; from < s.n; from += vec.BatchRows {
		if err := s.w.check(); err != nil {
			return nil, err
		}
		n := min(vec.BatchRows, s.n-from)
		base, common, err := t.common(f, from, n)
		if err != nil {
			return nil, err
		}
		t.acc = c.Agg.New(s.w.ev)
		t.acc.Grow(n)
		if err := mergeRows(t.acc, common, base.rows, base.blocks); err != nil {
			return nil, err
		}
		if err := s.mergeCarried(t.acc, min(n, int(s.bounds[1])-from)); err != nil {
			return nil, err
		}
		for i := range int32(n) {
			row := int32(from) + i
			if c.Frame.Exclude == plan.ExcludeNoOthers {
				err = t.cover(uint32(i), 0, max(f.start[row], base.at[i/commonRows]), f.end[row])
			} else {
				for _, r := range s.ranges(c, f, row) {
					if err == nil {
						err = t.cover(uint32(i), 0, r[0], r[1])
					}
				}
			}
			if err != nil {
				return nil, err
			}
		}
		if err := t.flush(); err != nil {
			return nil, err
		}
		v, err := t.acc.Result(0, n)
		if err != nil {
			return nil, err
		}
		out.append(v, nil, n)
	}
	return out.finish(), nil
}

// commonRows is how many consecutive rows are looked at for what their frames have in common.
const commonRows = 64

// commonParts is what frames of blocks of commonRows rows have in common.
type commonParts struct {
	at     []int32  // by block: up to where it is folded already; 0: not at all
	rows   []uint32 // of the batch, those with a common part
	blocks []int32  // of each of them
}

// common folds what the frames of a block share, once for all its rows: frames that begin at the same row, as those do
// that begin with the partition, differ but in their ends. state is by block.
func (t *treeFold) common(f frames, from, n int) (parts commonParts, state []*vec.Vector, err error) {
	blocks := (n + commonRows - 1) / commonRows
	parts.at = make([]int32, blocks)
	if t.c.Frame.Exclude != plan.ExcludeNoOthers {
		return parts, nil, nil
	}
	t.acc = t.c.Agg.New(t.s.w.ev)
	t.acc.Grow(blocks)
	for k := range blocks {
		first, last := from+k*commonRows, from+min((k+1)*commonRows, n)
		start, end := f.start[first], f.end[first]
		for i := first; i < last && start >= 0; i++ {
			if end = min(end, f.end[i]); f.start[i] != start {
				start = -1
			}
		}
		if end -= end % commonRows; start < 0 || end-start < commonRows {
			continue
		}
		parts.at[k] = end
		if err := t.cover(uint32(k), 0, start, end); err != nil {
			return parts, nil, err
		}
		for i := first; i < last; i++ {
			parts.rows, parts.blocks = append(parts.rows, uint32(i-from)), append(parts.blocks, int32(k))
		}
	}
	if len(parts.rows) == 0 {
		return parts, nil, nil
	}
	if err := t.flush(); err != nil {
		return parts, nil, err
	}
	state, err = t.acc.SaveState(0, blocks)
	return parts, state, err
}

// mergeRows merges row from[i] of the state into group groups[i].
func mergeRows(acc extension.Accumulator, state []*vec.Vector, groups []uint32, from []int32) error {
	if len(groups) == 0 {
		return nil
	}
	some := make([]*vec.Vector, len(state))
	for i, v := range state {
		some[i] = vec.Gather(v, from, nil)
	}
	return acc.MergeState(groups, some, len(groups))
}

// mergeCarried begins the first n groups with the state carried.
func (s *windowShare) mergeCarried(acc extension.Accumulator, n int) error {
	if s.carried == nil || n <= 0 {
		return nil
	}
	groups, zeros := make([]uint32, n), make([]int32, n)
	for i := range groups {
		groups[i] = uint32(i)
	}
	return mergeRows(acc, s.carried, groups, zeros)
}

// treeLevels returns the states of each level above the rows.
func (s *windowShare) treeLevels(c *windowCall, kept vec.Bitmap) ([][]*vec.Vector, error) {
	return s.growTree(c, kept, nil, s.n)
}

// growTree adds the levels above the topmost, which has n nodes.
func (s *windowShare) growTree(c *windowCall, kept vec.Bitmap, levels [][]*vec.Vector, n int) ([][]*vec.Vector, error) {
	for n > treeFan {
		up := (n + treeFan - 1) / treeFan
		acc := c.Agg.New(s.w.ev)
		acc.Grow(up)
		for from := 0; from < n; from += vec.BatchRows {
			if err := s.w.check(); err != nil {
				return nil, err
			}
			if err := s.treeUp(c, acc, kept, levels, from, min(vec.BatchRows, n-from)); err != nil {
				return nil, err
			}
		}
		state, err := acc.SaveState(0, up)
		if err != nil {
			return nil, err
		}
		levels, n = append(levels, state), up
	}
	return levels, nil
}

// treeUp folds n nodes of the topmost level so far, from from on, into the next.
func (s *windowShare) treeUp(c *windowCall, acc extension.Accumulator, kept vec.Bitmap, levels [][]*vec.Vector, from, n int) error {
	groups := make([]uint32, 0, n)
	if len(levels) > 0 {
		top := levels[len(levels)-1]
		state := make([]*vec.Vector, len(top))
		for i, v := range top {
			state[i] = v.Slice(from, n)
		}
		for i := range n {
			groups = append(groups, uint32((from+i)/treeFan))
		}
		return acc.MergeState(groups, state, n)
	}
	rows := make([]int32, 0, n)
	for i := from; i < from+n; i++ {
		if kept == nil || kept.Get(i) {
			groups, rows = append(groups, uint32(i/treeFan)), append(rows, int32(i))
		}
	}
	if len(rows) == 0 {
		return nil
	}
	return s.fold(c, acc, groups, rows)
}

// treeFold collects which nodes make the frames of a batch of rows.
type treeFold struct {
	s      *windowShare
	c      *windowCall
	kept   vec.Bitmap
	levels [][]*vec.Vector
	acc    extension.Accumulator
	groups [][]uint32 // by level, 0 being rows
	nodes  [][]int32
}

func newTreeFold(s *windowShare, c *windowCall, kept vec.Bitmap, levels [][]*vec.Vector) *treeFold {
	return &treeFold{s: s, c: c, kept: kept, levels: levels, groups: make([][]uint32, len(levels)+1), nodes: make([][]int32, len(levels)+1)}
}

// cover notes the nodes that make up nodes [lo, hi) of a level, 0 being rows, for a group, and folds them when they
// are many.
func (t *treeFold) cover(group uint32, level int, lo, hi int32) error {
	bottom := level
	for ; lo < hi; level++ {
		if level == len(t.levels) || hi-lo < treeFan {
			for ; lo < hi; lo++ {
				t.note(level, group, lo)
			}
			break
		}
		for ; lo%treeFan != 0 && lo < hi; lo++ {
			t.note(level, group, lo)
		}
		for ; hi%treeFan != 0 && hi > lo; hi-- {
			t.note(level, group, hi-1)
		}
		lo, hi = lo/treeFan, hi/treeFan
	}
	if len(t.nodes[bottom]) >= vec.BatchRows {
		return t.flush()
	}
	return nil
}

func (t *treeFold) note(level int, group uint32, node int32) {
	if level == 0 && t.kept != nil && !t.kept.Get(int(node)) {
		return
	}
	t.groups[level], t.nodes[level] = append(t.groups[level], group), append(t.nodes[level], node)
}

// flush folds the nodes noted.
func (t *treeFold) flush() error {
	for level, nodes := range t.nodes {
		if len(nodes) == 0 {
			continue
		}
		if level == 0 {
			if err := t.s.fold(t.c, t.acc, t.groups[0], nodes); err != nil {
				return err
			}
		} else {
			state := make([]*vec.Vector, len(t.levels[level-1]))
			for i, v := range t.levels[level-1] {
				state[i] = vec.Gather(v, nodes, nil)
			}
			if err := t.acc.MergeState(t.groups[level], state, len(nodes)); err != nil {
				return err
			}
		}
		t.groups[level], t.nodes[level] = t.groups[level][:0], nodes[:0]
	}
	return nil
}
