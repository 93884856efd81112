package exec

import (
	"slices"
	"sync"

	"github.com/tidemarkdb/tidemark/extension"
	"github.com/tidemarkdb/tidemark/plan"
	"github.com/tidemarkdb/tidemark/vec"
)

func sortValues(values []vec.Value) { slices.SortFunc(values, vec.Compare) }

// valuesSource yields rows of expressions without column references.
type valuesSource struct{ node *plan.Values }

func (s *valuesSource) open(*query, int) error { return nil }
func (s *valuesSource) close() error           { return nil }

// run yields the rows on the first worker, each row's expressions computed once.
func (s *valuesSource) run(w *worker, out consumer) error {
	if w.id != 0 {
		return nil
	}
	rows := newStore(typesOf(s.node.Columns))
	one := &vec.Batch{N: 1}
	for i, row := range s.node.Rows {
		if i%vec.BatchRows == 0 {
			if err := w.check(); err != nil {
				return err
			}
		}
		prog, err := newProgram(w, layout{}, row)
		if err != nil {
			return err
		}
		vals, err := prog.eval(one)
		if err != nil {
			return err
		}
		cols := make([]*vec.Vector, len(vals))
		for j, v := range vals {
			if cols[j] = v; v.Type.ID == vec.Null {
				cols[j] = vec.NullOf(s.node.Columns[j].Type, 1)
			}
		}
		rows.append(cols, nil, 1)
	}
	if len(s.node.Columns) == 0 {
		return out.consume(&vec.Batch{N: len(s.node.Rows)})
	}
	for _, b := range rows.take() {
		if err := out.consume(b); err != nil {
			return err
		}
	}
	return nil
}

// tableSource reads a table function or a virtual table. Its reader serves one worker at a time and lends its batches
// until the next call, so that each worker copies its batch before it lets the next one in.
type tableSource struct {
	node   *plan.SourceScan
	reader extension.TableReader
	q      *query
	turn   sync.Mutex
	ended  bool
	single bool // one worker: nothing needs copying
}

func (s *tableSource) open(q *query, workers int) (err error) {
	s.q, s.single = q, workers == 1
	s.reader, err = s.node.Source.Open(q.ctx, q.newWorker(0, nil).ev, s.node.Ordinals)
	return err
}

func (s *tableSource) run(w *worker, out consumer) error {
	copies := newDetacher(typesOf(s.node.Columns))
	for {
		if err := w.check(); err != nil {
			return err
		}
		b, err := s.next(copies)
		if err != nil || b == nil {
			if err != nil && s.q.ctx.Err() != nil {
				return s.q.reason()
			}
			return err
		}
		if err := out.consume(b); err != nil {
			return err
		}
	}
}

// next takes a turn at the reader.
func (s *tableSource) next(copies *detacher) (*vec.Batch, error) {
	s.turn.Lock()
	defer s.turn.Unlock()
	if s.ended {
		return nil, nil
	}
	b, err := s.reader.Next(s.q.ctx)
	if b == nil || err != nil {
		s.ended = true
		return nil, err
	}
	if !s.single {
		b = copies.batch(b)
	}
	return b, nil
}

func (s *tableSource) close() error {
	if s.reader == nil {
		return nil
	}
	err := s.reader.Close()
	s.reader = nil
	return err
}

// chunkSource yields stored batches, shared out among the workers.
type chunkSource struct {
	chunks func() (*chunkList, error) // called by open
	list   *chunkList
	next   *ticket
}

func (s *chunkSource) open(*query, int) (err error) {
	s.list, err = s.chunks()
	s.next = &ticket{}
	return err
}

func (s *chunkSource) run(w *worker, out consumer) error {
	for {
		i := s.next.take()
		if i >= s.list.len() {
			return nil
		}
		if err := w.check(); err != nil {
			return err
		}
		b, err := s.list.read(i)
		if err != nil {
			return err
		}
		if err := consumeSlices(b, out); err != nil {
			return err
		}
	}
}

func (s *chunkSource) close() error { return nil }

// consumeSlices passes a batch of any size on in pieces of at most BatchRows rows.
func consumeSlices(b *vec.Batch, out consumer) error {
	if b.N <= vec.BatchRows {
		return out.consume(b)
	}
	for from := 0; from < b.N; from += vec.BatchRows {
		if err := out.consume(b.Slice(from, min(vec.BatchRows, b.N-from))); err != nil {
			return err
		}
	}
	return nil
}
