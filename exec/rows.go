package exec

import (
	"context"
	"runtime"
	"sync"

	"github.com/tidemarkdb/tidemark/plan"
	"github.com/tidemarkdb/tidemark/sqlerr"
	"github.com/tidemarkdb/tidemark/vec"
)

// Rows is the result of a query, produced while it is read. One goroutine calls Next; any may call Close and Metrics.
type Rows struct {
	schema vec.Schema
	q      *query
	root   *nodeMetrics
	out    chan *vec.Batch
	done   chan struct{}
	err    error // set before out is closed
	close  sync.Once
}

// Run starts the query whose optimised plan is root. Its result must be closed. ctx bounds the whole query.
func Run(ctx context.Context, root plan.Node, env *Env) (*Rows, error) {
	q := &query{env: env, threads: env.Threads, budget: &budget{limit: env.MemoryBytes, usage: env.Usage}}
	if q.threads <= 0 {
		q.threads = runtime.GOMAXPROCS(0)
	}
	if plan.InOrder(root) {
		q.threads = 1
	}
	return q.run(ctx, root)
}

func (q *query) run(ctx context.Context, root plan.Node) (*Rows, error) {
	q.ctx, q.cancel = context.WithCancelCause(ctx)
	if q.spill == nil { // tests bring their own
		q.spill = newSpillFolder(q.env.SpillDir, q.env.Usage)
	}
	q.onClose(q.budget.forget)
	q.onClose(q.spill.remove)
	r := &Rows{q: q, schema: schemaOf(root), root: &nodeMetrics{name: "Result"}, done: make(chan struct{})}
	c := &compiler{q: q, current: r.root, ctes: map[int]*sharedRows{}}
	var s *stream
	err := guard(func() (err error) { s, err = c.compile(root); return err })
	if err != nil {
		q.cancel(err)
		q.close()
		return nil, err
	}
	r.out = make(chan *vec.Batch, q.threads)
	r.done = q.start(func() error { return r.produce(s) }, r.ended)
	return r, nil
}

func schemaOf(root plan.Node) vec.Schema {
	var schema vec.Schema
	for _, c := range root.Cols() {
		schema = append(schema, vec.Column{Name: c.Name, Type: c.Type, Nullable: c.Nullable})
	}
	return schema
}

func (r *Rows) produce(s *stream) error {
	return r.q.drain(s, r.root, func(w *worker) (consumer, error) {
		return &delivery{w: w, r: r, copies: newDetacher(typesOf(s.cols))}, nil
	})
}

// ended records how the query went and releases what it holds.
func (r *Rows) ended(err error) {
	if err == nil {
		err = r.q.check() // cancelled after the last batch was queued: the reader may not have it all
	}
	if cerr := guard(r.q.close); cerr != nil && err == nil {
		err = cerr
	}
	r.err = err
	close(r.out)
}

// Schema returns the columns of the result.
func (r *Rows) Schema() vec.Schema { return r.schema }

// Next returns the next batch, which is the caller's, nil at the end of a complete result. After an error it returns
// the same error again.
func (r *Rows) Next(ctx context.Context) (*vec.Batch, error) {
	select {
	case b, ok := <-r.out:
		if ok {
			return b, nil
		}
		return nil, r.err
	case <-ctx.Done():
		return nil, sqlerr.New(sqlerr.QueryCanceled, "canceling statement due to user request: %w", context.Cause(ctx))
	}
}

// Close stops the query, waits until nothing of it runs and removes its temporary files. It is idempotent.
func (r *Rows) Close() error {
	r.close.Do(func() {
		r.q.cancel(context.Canceled)
		for range r.out { // let workers that wait to deliver see that the query is over
		}
		<-r.done
	})
	return nil
}

// Metrics returns what every operator has done so far, the root first.
func (r *Rows) Metrics() *Metrics {
	s := r.root.snapshot()
	if len(s.Inputs) == 1 {
		return s.Inputs[0]
	}
	return s
}

// delivery copies a worker's batches into the result's queue.
type delivery struct {
	w      *worker
	r      *Rows
	copies *detacher
}

func (d *delivery) consume(b *vec.Batch) error {
	if b.Rows() == 0 {
		return nil
	}
	owned := d.copies.batch(b)
	select {
	case d.r.out <- owned:
		return nil
	case <-d.w.q.ctx.Done():
		return d.w.q.reason()
	}
}

func (d *delivery) flush() error { return nil }
