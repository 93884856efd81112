package exec

import (
	"cmp"
	"slices"

	"github.com/tidemarkdb/tidemark/extension"
	"github.com/tidemarkdb/tidemark/plan"
	"github.com/tidemarkdb/tidemark/vec"
)

// running reports whether frames begin with the partition and end with the row or its peers, so that one's aggregate
// follows from the one before it.
func (c *windowCall) running() bool {
	return c.start.kind == plan.UnboundedPreceding && c.end.kind == plan.CurrentRow && c.Frame.Exclude == plan.ExcludeNoOthers
}

// windowRun is rows [from, to) of one partition; carries says that something came before them in it.
type windowRun struct {
	from, to int32
	carries  bool
}

func (r windowRun) rows() int32 { return r.to - r.from }

// How long runs may be: as long as there are some tens of them side by side.
const (
	leastRunRows = 16
	mostRunRows  = 256
	manyRuns     = 64
)

// running computes an aggregate over frames that begin with the partition, folding each row once. Partitions are cut
// into runs, each a group of one accumulator; in round k each takes its row k and gives its result:
//
//	run 0 | a a a a a a
//	run 1 | a a a a       what came before it in the partition is merged into it first
//	run 2 | b b b
//	        ^ round 0: groups 0 to 2; round 4: group 0
//
// Groups are numbered by falling length, so that the runs still going are the first.
func (s *windowShare) running(c *windowCall) (*vec.Vector, error) {
	kept, runs := s.kept(c), s.cutRuns()
	slices.SortStableFunc(runs, func(a, b windowRun) int { return cmp.Compare(b.rows(), a.rows()) })
	acc := c.Agg.New(s.w.ev)
	acc.Grow(len(runs))
	if err := s.carryInto(c, kept, acc, runs); err != nil {
		return nil, err
	}
	out := newColBuf(c.Agg.Result, s.n)
	place := make([]int32, s.n) // of each row's result in out
	groups, rows := make([]uint32, 0, len(runs)), make([]int32, 0, len(runs))
	for round, going := int32(0), len(runs); ; round++ {
		for going > 0 && runs[going-1].rows() <= round {
			going--
		}
		if going == 0 {
			break
		}
		if err := s.w.check(); err != nil {
			return nil, err
		}
		groups, rows = groups[:0], rows[:0]
		for g, r := range runs[:going] {
			row := r.from + round
			place[row] = int32(out.n + g)
			if kept == nil || kept.Get(int(row)) {
				groups, rows = append(groups, uint32(g)), append(rows, row)
			}
		}
		if len(rows) > 0 {
			if err := s.fold(c, acc, groups, rows); err != nil {
				return nil, err
			}
		}
		v, err := acc.Result(0, going)
		if err != nil {
			return nil, err
		}
		out.append(v, nil, going)
	}
	if c.Frame.Mode != plan.Rows { // what holds for the last peer holds for all
		last := make([]int32, s.n)
		for i, end := range s.peerEnd {
			last[i] = place[end-1]
		}
		place = last
	}
	return vec.Gather(out.finish(), place, nil), nil
}

// cutRuns cuts partitions into runs, in the order of rows.
func (s *windowShare) cutRuns() (runs []windowRun) {
	length := int32(min(max(s.n/manyRuns, leastRunRows), mostRunRows))
	for p := range s.parts() {
		lo, hi := s.bounds[p], s.bounds[p+1]
		for from := lo; from < hi; from += length {
			runs = append(runs, windowRun{from, min(from+length, hi), from > lo || p == 0 && s.carried != nil})
		}
	}
	return runs
}

// carryInto merges into the groups of runs what came before them in their partitions.
func (s *windowShare) carryInto(c *windowCall, kept vec.Bitmap, acc extension.Accumulator, runs []windowRun) error {
	var carrying []uint32 // groups, in the order of rows
	for g, r := range runs {
		if r.carries {
			carrying = append(carrying, uint32(g))
		}
	}
	slices.SortFunc(carrying, func(a, b uint32) int { return cmp.Compare(runs[a].from, runs[b].from) })
	var before extension.Accumulator // of rows [lo, at) and what the share carries
	p, at := -1, int32(0)
	for _, g := range carrying {
		from := runs[g].from
		if p < 0 || s.bounds[p+1] <= from {
			for p++; s.bounds[p+1] <= from; p++ {
			}
			at, before = s.bounds[p], c.Agg.New(s.w.ev)
			before.Grow(1)
			if p == 0 && s.carried != nil {
				if err := before.MergeState(nil, s.carried, 1); err != nil {
					return err
				}
			}
		}
		if err := s.foldAll(c, kept, before, at, from); err != nil {
			return err
		}
		at = from
		state, err := before.SaveState(0, 1)
		if err != nil {
			return err
		}
		if err := acc.MergeState([]uint32{g}, state, 1); err != nil {
			return err
		}
	}
	return s.w.check()
}

// foldAll folds the rows [from, to) that are kept into the only group.
func (s *windowShare) foldAll(c *windowCall, kept vec.Bitmap, acc extension.Accumulator, from, to int32) error {
	rows := make([]int32, 0, to-from)
	for i := from; i < to; i++ {
		if kept == nil || kept.Get(int(i)) {
			rows = append(rows, i)
		}
	}
	if len(rows) == 0 {
		return nil
	}
	return s.fold(c, acc, nil, rows)
}
