package exec

import (
	"context"
	"errors"
	"math/rand/v2"
	"runtime/debug"
	"sync"
	"sync/atomic"
	"time"

	"github.com/tidemarkdb/tidemark/extension"
	"github.com/tidemarkdb/tidemark/sqlerr"
)

// errStop is returned by a consumer that wants no more rows. It ends the pipeline without being a failure.
var errStop = errors.New("exec: no more rows wanted")

// query is one running statement.
type query struct {
	env     *Env
	threads int
	ctx     context.Context
	cancel  context.CancelCauseFunc
	budget  *budget
	spill   *spillFolder
	random  sync.Mutex // guards env.Eval.Random while workers are seeded
	lasting sync.Map   // vectors whose buffers are never written again
	closers []func() error
	closing sync.Mutex
}

// worker is one thread of one pipeline: what its operators share.
type worker struct {
	id    int
	q     *query
	ev    *extension.Eval
	stop  *atomic.Bool // set when the pipeline wants no more rows
	clock clock
}

func (q *query) newWorker(id int, stop *atomic.Bool) *worker {
	w := &worker{id: id, q: q, stop: stop}
	ev := extension.Eval{}
	if q.env.Eval != nil {
		ev = *q.env.Eval
	}
	ev.Ctx = q.ctx
	if ev.Zone == nil {
		ev.Zone = time.UTC
	}
	if ev.Random != nil {
		q.random.Lock()
		pcg := rand.NewPCG(ev.Random(), ev.Random())
		q.random.Unlock()
		ev.Random = pcg.Uint64
	}
	w.ev = &ev
	return w
}

// check returns the reason to stop: a cancelled query, or errStop when no more rows are wanted.
func (w *worker) check() error {
	if w.stop != nil && w.stop.Load() {
		return errStop
	}
	return w.q.check()
}

// check returns the reason the query was cancelled, nil while it runs.
func (q *query) check() error {
	select {
	case <-q.ctx.Done():
		return q.reason()
	default:
		return nil
	}
}

// reason returns why the query's context ended.
func (q *query) reason() error {
	cause := context.Cause(q.ctx)
	switch {
	case errors.Is(cause, context.DeadlineExceeded):
		return sqlerr.New(sqlerr.QueryCanceled, "canceling statement due to statement timeout: %w", cause)
	case errors.Is(cause, context.Canceled):
		return sqlerr.New(sqlerr.QueryCanceled, "canceling statement due to user request: %w", cause)
	}
	return cause
}

// fail records the first failure and stops everything else.
func (q *query) fail(err error) { q.cancel(err) }

// parallel runs fn(0) to fn(n-1) side by side, waits for all and returns the first failure. A failure cancels the
// query, so that the others end soon. errStop does not count as one.
func (q *query) parallel(n int, fn func(i int) error) error {
	if n == 1 {
		err := guard(func() error { return fn(0) })
		if err != nil && err != errStop {
			q.fail(err)
			return err
		}
		return nil
	}
	var wg sync.WaitGroup
	var once sync.Once
	var first error
	for i := range n {
		wg.Add(1)
		go func() {
			defer wg.Done()
			if err := guard(func() error { return fn(i) }); err != nil && err != errStop {
				once.Do(func() { first = err })
				q.fail(err)
			}
		}()
	}
	wg.Wait()
	return first
}

// start runs fn in a goroutine; done is closed when it has ended.
func (q *query) start(fn func() error, ended func(error)) (done chan struct{}) {
	done = make(chan struct{})
	go func() {
		defer close(done)
		ended(guard(fn))
	}()
	return done
}

// guard runs fn and turns a panic into an error that carries the stack.
func guard(fn func() error) (err error) {
	defer func() {
		if r := recover(); r != nil {
			err = sqlerr.New(sqlerr.Internal, "internal error while executing the query: %v", r).
				Detailf("%s", debug.Stack()).
				Hintf("this is a bug: report it together with the query and this stack")
		}
	}()
	return fn()
}

// onClose registers what to release when the query ends.
func (q *query) onClose(fn func() error) {
	q.closing.Lock()
	defer q.closing.Unlock()
	q.closers = append(q.closers, fn)
}

// close releases everything registered, the latest first, and returns the first failure.
func (q *query) close() error {
	q.closing.Lock()
	defer q.closing.Unlock()
	var first error
	for i := len(q.closers) - 1; i >= 0; i-- {
		if err := q.closers[i](); err != nil && first == nil {
			first = err
		}
	}
	q.closers = nil
	return first
}

// rowsStep is how many rows a loop over all of them does between two looks at the context.
const rowsStep = 1 << 18

// steps runs f over pieces of [0, n).
func steps(q *query, n int, f func(from, to int)) error {
	for from := 0; from < n; from += rowsStep {
		if err := q.check(); err != nil {
			return err
		}
		f(from, min(from+rowsStep, n))
	}
	return nil
}
