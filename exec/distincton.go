package exec

import (
	"github.com/tidemarkdb/tidemark/plan"
	"github.com/tidemarkdb/tidemark/vec"
)

// distinctOn compiles DISTINCT ON: one worker keeps the rows that bring a new key, in the input's order. Where the input
// is ordered by the keys first, as ORDER BY must be in most cases, those are the rows that differ from the one before;
// otherwise the keys seen are remembered.
func (c *compiler) distinctOn(n *plan.DistinctOn, m *nodeMetrics) (*stream, error) {
	s, err := c.input(n, 0)
	if err != nil {
		return nil, err
	}
	l, types := layoutOf(s.cols), typesOf(s.cols)
	s.ordered = true
	if orderedBy(n.Input, n.Keys) {
		s.add(func(w *worker, next consumer) (consumer, error) {
			prog, err := newProgram(w, l, n.Keys)
			return &changeStage{next: next, prog: prog, order: keyOrdering(n.Keys)}, err
		})
		return s, nil
	}
	width := len(types)
	places := make([]int, len(n.Keys))
	for i := range places {
		places[i] = width + i
	}
	first := newFirstRows(c.q, m, "DistinctOn", append(types, keyTypes(n.Keys)...), places)
	first.once = true
	s.add(func(w *worker, next consumer) (consumer, error) {
		prog, err := newProgram(w, l, n.Keys)
		return &firstStage{next: next, prog: prog, first: first}, err
	})
	s.branches = append(s.branches, &branch{source: &firstRest{first: first, width: width}})
	return s, nil
}

// orderedBy reports whether rows of n with equal keys lie side by side, because n sorts by the keys before all else.
func orderedBy(n plan.Node, keys []plan.Expr) bool {
	sorted, ok := n.(*plan.Sort)
	if !ok {
		return false
	}
	met := map[string]bool{}
	for _, k := range keys {
		met[fingerprint(k)] = false
	}
	left := len(met)
	for _, k := range sorted.Keys {
		before, wanted := met[fingerprint(k.Expr)]
		if left == 0 {
			break
		}
		if !wanted {
			return false
		}
		if !before {
			met[fingerprint(k.Expr)] = true
			left--
		}
	}
	return left == 0
}

// keyOrdering tells equal keys from others; their order does not matter.
func keyOrdering(keys []plan.Expr) *ordering {
	specs := make([]sortSpec, len(keys))
	for i, k := range keys {
		specs[i] = sortSpec{place: i, t: k.Type()}
	}
	return newOrdering(specs)
}

// changeStage passes on the rows whose key is not that of the row before.
type changeStage struct {
	next  consumer
	prog  *program
	order *ordering
	last  []*vec.Vector // key of the last row of the batch before; nil: there was none
	sel   []int32
}

func (s *changeStage) consume(b *vec.Batch) error {
	keys, err := s.prog.eval(b)
	if err != nil {
		return err
	}
	n := b.Rows()
	s.sel = s.sel[:0]
	for i := range n {
		var same bool
		if i > 0 {
			same = s.order.rows(keys, i-1, keys, i) == 0
		} else {
			same = s.last != nil && s.order.rows(s.last, 0, keys, 0) == 0
		}
		if same {
			continue
		}
		row := int32(i)
		if b.Sel != nil {
			row = b.Sel[i]
		}
		s.sel = append(s.sel, row)
	}
	s.last = make([]*vec.Vector, len(keys))
	for i, k := range keys {
		buf := newColBuf(k.Type, 1)
		buf.append(k, vec.Selection{int32(n - 1)}, 1)
		s.last[i] = buf.finish()
	}
	if len(s.sel) == 0 {
		return nil
	}
	return s.next.consume(&vec.Batch{Cols: b.Cols, N: b.N, Sel: s.sel})
}

func (s *changeStage) flush() error { return nil }

// firstStage passes on the first row of each key, or puts rows aside once the keys are in files.
type firstStage struct {
	next  consumer
	prog  *program
	first *firstRows
	cols  []*vec.Vector
	sel   []int32
}

func (s *firstStage) consume(b *vec.Batch) error {
	keys, err := s.prog.eval(b)
	if err != nil {
		return err
	}
	if s.first.spilled() {
		s.cols = s.cols[:0]
		for i := range b.Cols {
			s.cols = append(s.cols, s.prog.in.col(i))
		}
		s.cols = append(s.cols, keys...)
		return s.first.putAside(s.cols, b.Rows())
	}
	fresh, err := s.first.see(keys, b.Rows())
	if err != nil || len(fresh) == 0 {
		return err
	}
	s.sel = append(s.sel[:0], fresh...)
	if b.Sel != nil {
		gatherTo(s.sel, b.Sel, fresh)
	}
	return s.next.consume(&vec.Batch{Cols: b.Cols, N: b.N, Sel: s.sel})
}

func (s *firstStage) flush() error { return nil }

// firstRest yields what firstStage put aside.
type firstRest struct {
	first *firstRows
	width int
}

func (s *firstRest) open(*query, int) error { return nil }

func (s *firstRest) run(w *worker, out consumer) error {
	return s.first.drain(w, func(b *vec.Batch, fresh []int32) error {
		return out.consume(&vec.Batch{Cols: b.Cols[:s.width], N: b.N, Sel: fresh})
	})
}

func (s *firstRest) close() error {
	s.first.release()
	return nil
}
