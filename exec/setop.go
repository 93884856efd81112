package exec

import (
	"github.com/tidemarkdb/tidemark/extension"
	"github.com/tidemarkdb/tidemark/plan"
	"github.com/tidemarkdb/tidemark/vec"
)

// setOp compiles UNION, INTERSECT and EXCEPT. UNION ALL is the branches of its arguments; the others group rows, and
// INTERSECT and EXCEPT count how often each occurs on either side.
func (c *compiler) setOp(n *plan.SetOp, m *nodeMetrics) (*stream, error) {
	out := &stream{cols: n.Columns}
	for i := range n.Args {
		s, err := c.input(n, i)
		if err != nil {
			return nil, err
		}
		if n.Kind != plan.Union {
			s.add(sideStage(min(i, 1)))
		}
		out.branches = append(out.branches, s.branches...)
	}
	if n.Kind == plan.Union && n.All {
		return out, nil
	}
	agg := &plan.Aggregate{GroupCols: n.Columns}
	for _, col := range n.Columns {
		agg.Groups = append(agg.Groups, &plan.ColumnRef{ID: col.ID, T: col.Type, Name: col.Name})
	}
	if n.Kind == plan.Union {
		return c.aggregateOver(agg, out, m)
	}
	side := plan.Col{ID: -1, Type: vec.Int64Type}
	copies := plan.Col{ID: -2, Type: vec.Int64Type}
	out.cols = append(out.cols[:len(out.cols):len(out.cols)], side)
	agg.Aggregates = []plan.AggCall{{Out: copies, Bound: copiesAggregate(n.Kind, n.All), Args: []plan.Expr{&plan.ColumnRef{ID: side.ID, T: side.Type}}}}
	s, err := c.aggregateOver(agg, out, m)
	if err != nil {
		return nil, err
	}
	s.add(func(_ *worker, next consumer) (consumer, error) { return &repeatStage{next: next}, nil })
	s.cols = n.Columns
	return s, nil
}

// sideStage adds the column that tells the sides of a set operation apart: 0 for the left.
func sideStage(side int) stage {
	value := vec.IntValue(vec.Int64Type, int64(side))
	return func(_ *worker, next consumer) (consumer, error) {
		return mapStage{next, func(b *vec.Batch) *vec.Batch {
			cols := append(b.Cols[:len(b.Cols):len(b.Cols)], vec.ConstantOf(vec.Int64Type, value, b.N))
			return &vec.Batch{Cols: cols, N: b.N, Sel: b.Sel}
		}}, nil
	}
}

// mapStage passes on what f makes of each batch.
type mapStage struct {
	next consumer
	f    func(*vec.Batch) *vec.Batch
}

func (s mapStage) consume(b *vec.Batch) error { return s.next.consume(s.f(b)) }
func (s mapStage) flush() error               { return nil }

// repeatStage yields each row as often as its last column says, without that column.
type repeatStage struct {
	next consumer
	rows []int32
	pick []picker
}

func (s *repeatStage) consume(b *vec.Batch) error {
	width := len(b.Cols) - 1
	counts := flatValues[int64](b.Cols[width], b.N)
	if s.pick == nil {
		s.pick = make([]picker, width)
	}
	for i := range b.Rows() {
		row := i
		if b.Sel != nil {
			row = int(b.Sel[i])
		}
		for range counts[row] {
			if s.rows = append(s.rows, int32(row)); len(s.rows) == vec.BatchRows {
				if err := s.emit(b); err != nil {
					return err
				}
			}
		}
	}
	return s.emit(b)
}

func (s *repeatStage) emit(b *vec.Batch) error {
	if len(s.rows) == 0 {
		return nil
	}
	out := &vec.Batch{N: len(s.rows)}
	for i := range s.pick {
		out.Cols = append(out.Cols, s.pick[i].take(b.Cols[i], s.rows))
	}
	s.rows = s.rows[:0]
	return s.next.consume(out)
}

func (s *repeatStage) flush() error { return nil }

// copiesAggregate counts the rows of a group on both sides and gives how many of them a set operation yields.
func copiesAggregate(kind plan.SetOpKind, all bool) extension.BoundAggregate {
	yield := func(left, right int64) int64 {
		if kind == plan.Intersect {
			return min(left, right)
		}
		return max(left-right, 0)
	}
	if !all {
		every := yield
		yield = func(left, right int64) int64 {
			if kind == plan.Except && right > 0 {
				return 0
			}
			return min(every(left, right), 1)
		}
	}
	return extension.BoundAggregate{
		Args: []vec.Type{vec.Int64Type}, Result: vec.Int64Type, State: []vec.Type{vec.Int64Type, vec.Int64Type},
		New: func(*extension.Eval) extension.Accumulator { return &sideCounts{yield: yield} },
	}
}

// sideCounts counts rows by side and group.
type sideCounts struct {
	n     [2][]int64
	yield func(left, right int64) int64
}

func (s *sideCounts) Grow(n int) {
	for i := range s.n {
		for len(s.n[i]) < n {
			s.n[i] = append(s.n[i], 0)
		}
	}
}

func (s *sideCounts) Update(groups []uint32, args []*vec.Vector, n int) error {
	for i, side := range flatValues[int64](args[0], n) {
		s.n[side][groupAt(groups, i)]++
	}
	return nil
}

func groupAt(groups []uint32, i int) uint32 {
	if groups == nil {
		return 0
	}
	return groups[i]
}

func (s *sideCounts) MergeState(groups []uint32, state []*vec.Vector, n int) error {
	for side := range s.n {
		for i, x := range flatValues[int64](state[side], n) {
			s.n[side][groupAt(groups, i)] += x
		}
	}
	return nil
}

func (s *sideCounts) SaveState(from, n int) ([]*vec.Vector, error) {
	return []*vec.Vector{vec.FlatOf(vec.Int64Type, s.n[0][from:from+n], nil), vec.FlatOf(vec.Int64Type, s.n[1][from:from+n], nil)}, nil
}

func (s *sideCounts) Result(from, n int) (*vec.Vector, error) {
	out := make([]int64, n)
	for i := range out {
		out[i] = s.yield(s.n[0][from+i], s.n[1][from+i])
	}
	return vec.FlatOf(vec.Int64Type, out, nil), nil
}

func (s *sideCounts) MemoryBytes() int64 { return int64(cap(s.n[0])+cap(s.n[1])) * 8 }
