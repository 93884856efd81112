package exec

import (
	"github.com/tidemarkdb/tidemark/plan"
	"github.com/tidemarkdb/tidemark/vec"
)

// expandRows is how many rows a set-returning function gets at once: it may make many of each.
const expandRows = 512

// expandStage runs a set-returning function for each row.
type expandStage struct {
	n    *plan.Expand
	w    *worker
	next consumer
	prog *program
	pick []picker
	args []*vec.Vector
}

func newExpand(n *plan.Expand, l layout) stage {
	return func(w *worker, next consumer) (consumer, error) {
		prog, err := newProgram(w, l, n.Args)
		return &expandStage{n: n, w: w, next: next, prog: prog, args: make([]*vec.Vector, len(n.Args))}, err
	}
}

func (s *expandStage) flush() error { return nil }

func (s *expandStage) consume(b *vec.Batch) error {
	args, err := s.prog.eval(b)
	if err != nil {
		return err
	}
	if s.pick == nil {
		s.pick = make([]picker, len(b.Cols))
	}
	for at := 0; at < b.Rows(); at += expandRows {
		if err := s.w.check(); err != nil {
			return err
		}
		n := min(expandRows, b.Rows()-at)
		for i, a := range args {
			s.args[i] = a.Slice(at, n)
		}
		made, from, err := s.n.Bound.Rows(s.w.ev, s.args, n)
		if err != nil {
			return err
		}
		if err := s.emit(b, at, made.Compact(), from); err != nil {
			return err
		}
		if s.n.Outer {
			if err := s.emitEmpty(b, at, n, from); err != nil {
				return err
			}
		}
	}
	return nil
}

// base returns the place in b of its row i that counts.
func base(b *vec.Batch, i int) int32 {
	if b.Sel != nil {
		return b.Sel[i]
	}
	return int32(i)
}

// emit passes on the rows made, each beside the row it came from.
func (s *expandStage) emit(b *vec.Batch, at int, made *vec.Batch, from []int32) error {
	ordinal, last := int64(0), int32(-1)
	for k := 0; k < made.N; k += vec.BatchRows {
		n := min(vec.BatchRows, made.N-k)
		rows, numbers := make([]int32, n), make([]int64, n)
		for i, f := range from[k : k+n] {
			if f != last {
				last, ordinal = f, 0
			}
			ordinal++
			rows[i], numbers[i] = base(b, at+int(f)), ordinal
		}
		out := &vec.Batch{N: n}
		for i, c := range b.Cols {
			out.Cols = append(out.Cols, s.pick[i].take(c, rows))
		}
		out.Cols = append(out.Cols, made.Slice(k, n).Cols...)
		if s.n.Ordinality != nil {
			out.Cols = append(out.Cols, vec.FlatOf(vec.Int64Type, numbers, nil))
		}
		if err := s.next.consume(out); err != nil {
			return err
		}
	}
	return nil
}

// emitEmpty passes on the rows for which nothing was made, with NULLs.
func (s *expandStage) emitEmpty(b *vec.Batch, at, n int, from []int32) error {
	var rows []int32
	k := 0
	for i := range int32(n) {
		found := false
		for k < len(from) && from[k] == i {
			found = true
			k++
		}
		if !found {
			rows = append(rows, base(b, at+int(i)))
		}
	}
	if len(rows) == 0 {
		return nil
	}
	out := &vec.Batch{N: b.N, Sel: rows, Cols: append([]*vec.Vector(nil), b.Cols...)}
	for _, c := range s.n.Columns {
		out.Cols = append(out.Cols, vec.NullOf(c.Type, b.N))
	}
	if s.n.Ordinality != nil {
		out.Cols = append(out.Cols, vec.NullOf(vec.Int64Type, b.N))
	}
	return s.next.consume(out)
}
