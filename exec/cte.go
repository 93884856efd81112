package exec

import (
	"sync"

	"github.com/tidemarkdb/tidemark/plan"
	"github.com/tidemarkdb/tidemark/sqlerr"
	"github.com/tidemarkdb/tidemark/vec"
)

// sharedRows are rows computed once and read any number of times: those of a common table expression.
type sharedRows struct {
	types []vec.Type
	once  sync.Once
	fill  func() error
	err   error
	list  *chunkList
	def   plan.Node // set instead of fill when the rows are read once: the reference computes them itself
}

// rows returns the rows, computing them when first asked.
func (s *sharedRows) rows() (*chunkList, error) {
	s.once.Do(func() { s.err = s.fill() })
	return s.list, s.err
}

// cte compiles WITH: the definition runs when the first reference is read, or, where there is one, within it.
func (c *compiler) cte(n *plan.CTE, m *nodeMetrics) (*stream, error) {
	if references(n.Body, n.ID) == 1 {
		c.ctes[n.ID] = &sharedRows{def: n.Def}
		defer delete(c.ctes, n.ID)
		return c.compile(n.Body)
	}
	def, err := c.alone(n.Def)
	if err != nil {
		return nil, err
	}
	rows := &sharedRows{types: typesOf(def.cols)}
	k := &rowsSink{q: c.q, m: m, types: rows.types, operator: "CTE " + n.Name}
	rows.fill = func() (err error) {
		rows.list, err = k.collect(def)
		return err
	}
	c.ctes[n.ID] = rows
	defer delete(c.ctes, n.ID)
	return c.compile(n.Body)
}

// references counts how often a common table expression is read, one that rounds of a recursion read as several.
func references(n plan.Node, id int) (count int) {
	if ref, ok := n.(*plan.CTERef); ok && ref.ID == id {
		return 1
	}
	for _, in := range n.Inputs() {
		count += references(in, id)
	}
	if r, ok := n.(*plan.RecursiveCTE); ok {
		count += references(r.Step, id)
	}
	return count
}

// cteRef compiles a reference to a common table expression.
func (c *compiler) cteRef(n *plan.CTERef) (*stream, error) {
	rows, ok := c.ctes[n.ID]
	if !ok {
		return nil, sqlerr.New(sqlerr.Internal, "common table expression %q (#%d) is not in scope", n.Name, n.ID).
			Hintf("this is a bug in the planner: report it together with the query")
	}
	if rows.def != nil {
		s, err := c.alone(rows.def)
		if err != nil {
			return nil, err
		}
		s.cols = n.Columns
		return s, nil
	}
	return single(n.Columns, &chunkSource{chunks: rows.rows}), nil
}

// rowsSink collects the rows of a stream, spilling what the budget does not allow.
type rowsSink struct {
	q        *query
	m        *nodeMetrics
	types    []vec.Type
	operator string
	mu       sync.Mutex
	workers  []*rowsWorker
}

// rowsWorker collects one worker's rows.
type rowsWorker struct {
	s    *rowsSink
	rows *store
	done chunkList
	res  *reservation
	file *spillFile
}

func (s *rowsSink) local(w *worker) (consumer, error) {
	k := &rowsWorker{s: s, rows: newStore(s.types), res: s.q.budget.open(s.operator, s.m)}
	s.mu.Lock()
	s.workers = append(s.workers, k)
	s.mu.Unlock()
	return k, nil
}

func (k *rowsWorker) consume(b *vec.Batch) error {
	k.rows.append(b.Cols, b.Sel, b.Rows())
	size := k.rows.memory()
	if k.res.resize(size) {
		return nil
	}
	if !k.s.q.spill.enabled() {
		return k.res.exceeded(size - k.res.held)
	}
	return k.spill()
}

func (k *rowsWorker) spill() (err error) {
	if k.file == nil {
		if k.file, err = k.s.q.spill.create(k.s.m); err != nil {
			return err
		}
	}
	for _, b := range k.rows.take() {
		k.done.add(b)
	}
	if err := k.done.spill(k.s.q, k.file); err != nil {
		return err
	}
	k.res.resize(0)
	return nil
}

func (k *rowsWorker) flush() error { return nil }

// collect runs the stream and returns its rows, those of an ordered one in order.
func (s *rowsSink) collect(in *stream) (*chunkList, error) {
	if err := s.q.drain(in, s.m, s.local); err != nil {
		return nil, err
	}
	out := &chunkList{types: s.types}
	for _, k := range s.workers {
		out.join(k.rowsOf())
	}
	return out, nil
}

// rowsOf returns the worker's rows.
func (k *rowsWorker) rowsOf() *chunkList {
	for _, b := range k.rows.take() {
		k.done.add(b)
	}
	out := k.done
	out.types = k.s.types
	return &out
}

// discard releases the rows and removes their files, ahead of the query's end.
func (s *rowsSink) discard() error {
	for _, k := range s.workers {
		if k.file != nil {
			if err := k.file.remove(); err != nil {
				return err
			}
		}
	}
	s.release()
	return nil
}

// release gives back the memory of the rows collected.
func (s *rowsSink) release() {
	for _, k := range s.workers {
		k.res.release()
	}
	s.workers = nil
}
