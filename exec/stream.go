package exec

import (
	"sync/atomic"

	"github.com/tidemarkdb/tidemark/plan"
	"github.com/tidemarkdb/tidemark/vec"
)

// consumer takes the batches of one worker. A batch is borrowed for the call.
type consumer interface {
	consume(b *vec.Batch) error
	// flush passes on what is held back; called once after the last consume of a branch, unless that failed. The
	// driver flushes the stages of a chain in order, so a stage does not flush the next.
	flush() error
}

// stage makes a worker's instance of a streaming operator, which passes batches to next.
type stage func(w *worker, next consumer) (consumer, error)

// source produces batches. open is called once, then run once by each worker at the same time, then close.
type source interface {
	open(q *query, workers int) error
	run(w *worker, out consumer) error
	close() error
}

// branch is a source and the stages its batches pass.
type branch struct {
	before []func() error // what must have run before the source opens: builds of joins, sinks of blocking operators
	source source
	stages []stage
	m      *nodeMetrics // of the operator that the source is part of
}

// stream is a relation in the making: the rows of its branches, one branch after the other.
type stream struct {
	cols     []plan.Col
	branches []*branch
	ordered  bool // the order of rows means something: one worker runs it
}

// layout maps the ids of columns to their places in the batches of a stream.
type layout map[plan.ColID]int

func layoutOf(cols []plan.Col) layout {
	l := make(layout, len(cols))
	for i, c := range cols {
		l[c.ID] = i
	}
	return l
}

func typesOf(cols []plan.Col) []vec.Type {
	out := make([]vec.Type, len(cols))
	for i, c := range cols {
		out[i] = c.Type
	}
	return out
}

// single returns a stream of one branch.
func single(cols []plan.Col, src source, before ...func() error) *stream {
	return &stream{cols: cols, branches: []*branch{{source: src, before: before}}}
}

// add appends a stage to every branch.
func (s *stream) add(st stage) {
	for _, b := range s.branches {
		b.stages = append(b.stages, st)
	}
}

// sink makes the consumer at the end of a worker's chains. It is flushed after the worker's last branch.
type sink func(w *worker) (consumer, error)

// drain runs the stream into sinks, one a worker, branch after branch, each to its end before the next begins.
func (q *query) drain(s *stream, m *nodeMetrics, to sink) error {
	n := q.threads
	if s.ordered {
		n = 1
	}
	var stop atomic.Bool
	workers, sinks := make([]*worker, n), make([]consumer, n)
	for i := range n {
		workers[i] = q.newWorker(i, nil)
		c, err := to(workers[i])
		if err != nil {
			return err
		}
		sinks[i] = &end{c, &stop}
	}
	for _, b := range s.branches {
		if err := q.runBranch(b, workers, sinks); err != nil {
			return err
		}
		if stop.Load() {
			break
		}
	}
	return q.parallel(n, func(i int) error {
		workers[i].clock.enter(m)
		defer workers[i].clock.enter(nil)
		return sinks[i].flush()
	})
}

func (q *query) runBranch(b *branch, workers []*worker, sinks []consumer) (err error) {
	for _, f := range b.before {
		if err := f(); err != nil {
			return err
		}
	}
	if err := q.check(); err != nil {
		return err
	}
	defer func() {
		if cerr := b.source.close(); cerr != nil && err == nil {
			err = cerr
		}
	}()
	if err := guard(func() error { return b.source.open(q, len(workers)) }); err != nil {
		q.fail(err)
		return err
	}
	var stop atomic.Bool
	return q.parallel(len(workers), func(i int) error {
		w := workers[i]
		w.stop = &stop
		w.clock.enter(b.m)
		defer w.clock.enter(nil)
		err := b.runWorker(w, sinks[i])
		if err == errStop {
			w.stop.Store(true)
		}
		return err
	})
}

func (b *branch) runWorker(w *worker, end consumer) error {
	chain := make([]consumer, len(b.stages))
	head := end
	for i := len(b.stages) - 1; i >= 0; i-- {
		c, err := b.stages[i](w, head)
		if err != nil {
			return err
		}
		chain[i], head = c, c
	}
	if err := b.source.run(w, head); err != nil {
		return err
	}
	for _, c := range chain {
		if err := c.flush(); err != nil {
			return err
		}
	}
	return nil
}

// end passes on to a sink and remembers that it wants no more rows: then no further branch runs, whereas a LIMIT within
// a branch ends that branch alone.
type end struct {
	sink consumer
	stop *atomic.Bool
}

func (e *end) consume(b *vec.Batch) error {
	err := e.sink.consume(b)
	if err == errStop {
		e.stop.Store(true)
	}
	return err
}

func (e *end) flush() error { return e.sink.flush() }

// meter counts what an operator passes on and hands the worker's clock to the operator after it.
type meter struct {
	w    *worker
	m    *nodeMetrics
	next consumer
}

func metered(m *nodeMetrics) stage {
	return func(w *worker, next consumer) (consumer, error) { return &meter{w: w, m: m, next: next}, nil }
}

func (c *meter) consume(b *vec.Batch) error {
	rows := b.Rows()
	if rows == 0 {
		return nil
	}
	c.m.rows.Add(int64(rows))
	c.m.batches.Add(1)
	before := c.w.clock.enter(c.m.parent)
	err := c.next.consume(b)
	c.w.clock.enter(before)
	return err
}

func (c *meter) flush() error { return nil }
