package exec

import (
	"sync/atomic"

	"github.com/tidemarkdb/tidemark/sqlerr"
)

// budget is the memory that the blocking operators of one query may hold together.
type budget struct {
	limit int64 // 0: none
	used  atomic.Int64
	usage *Usage // nil: nobody asks
	// refuse, when set, is asked before every reservation; tests use it to fail at a chosen step.
	refuse func(operator string, bytes int64) bool
}

// Usage is what a statement's queries hold and have spilled, summed over operators. Any goroutine may look at it.
type Usage struct{ held, peak, spilled atomic.Int64 }

// HeldBytes returns what blocking operators hold now of the memory limit.
func (u *Usage) HeldBytes() int64 { return u.held.Load() }

// PeakBytes returns the most they held at once.
func (u *Usage) PeakBytes() int64 { return u.peak.Load() }

// SpilledBytes returns what was written to temporary files so far.
func (u *Usage) SpilledBytes() int64 { return u.spilled.Load() }

func (u *Usage) hold(delta int64) {
	if u == nil {
		return
	}
	held := u.held.Add(delta)
	for peak := u.peak.Load(); held > peak && !u.peak.CompareAndSwap(peak, held); peak = u.peak.Load() {
	}
}

func (u *Usage) spill(bytes int64) {
	if u != nil {
		u.spilled.Add(bytes)
	}
}

// forget gives back what operators of an ended query still had reserved.
func (b *budget) forget() error {
	b.usage.hold(-b.used.Swap(0))
	return nil
}

// reservation is what one operator instance holds of a budget. One goroutine uses it at a time.
type reservation struct {
	b        *budget
	operator string
	held     int64
	m        *nodeMetrics
}

// open starts a reservation of nothing, named for the operator in messages.
func (b *budget) open(operator string, m *nodeMetrics) *reservation {
	return &reservation{b: b, operator: operator, m: m}
}

// resize makes the reservation hold n bytes and reports whether that was granted; a smaller n always is.
func (r *reservation) resize(n int64) bool {
	delta := n - r.held
	if delta > 0 {
		if r.b.refuse != nil && r.b.refuse(r.operator, delta) {
			return false
		}
		used := r.b.used.Add(delta)
		if r.b.limit > 0 && used > r.b.limit {
			r.b.used.Add(-delta)
			return false
		}
	} else {
		r.b.used.Add(delta)
	}
	r.held = n
	r.b.usage.hold(delta)
	if r.m != nil {
		r.m.holds(delta)
	}
	return true
}

// force makes the reservation hold n bytes, over the limit too: for what an operator cannot do without and is small.
func (r *reservation) force(n int64) {
	delta := n - r.held
	r.b.used.Add(delta)
	r.held = n
	r.b.usage.hold(delta)
	if r.m != nil {
		r.m.holds(delta)
	}
}

// require makes the reservation hold n bytes or fails.
func (r *reservation) require(n int64) error {
	if r.resize(n) {
		return nil
	}
	return r.exceeded(n - r.held)
}

// exceeded is the error of an operator that needs more memory and has nothing to spill.
func (r *reservation) exceeded(n int64) error {
	return sqlerr.New(sqlerr.OutOfMemory, "out of memory: %s needs %d more bytes, and %d of the %d bytes of execution.memory_limit are in use",
		r.operator, n, r.b.used.Load(), r.b.limit).
		Hintf("raise execution.memory_limit, lower execution.threads, or make the query hold fewer rows at once")
}

// release gives everything back.
func (r *reservation) release() { r.resize(0) }
