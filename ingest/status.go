package ingest

import (
	"sync"
	"time"
)

// Phase is what a worker is doing.
type Phase string

// The phases.
const (
	Backfilling Phase = "backfilling" // the initial load
	Streaming   Phase = "streaming"   // appends
)

// Status is what a worker shows of itself.
type Status struct {
	Phase       Phase
	ApplyCount  int64     // appends that advanced the position; the initial load is not counted
	LastApplied time.Time // when the newest of them committed, zero before
	LastError   string    // the failure being retried, "" when the last attempt succeeded
	ErrorCount  int64     // failures since the worker started
}

// board holds a Status that several goroutines write and read.
type board struct {
	mu sync.Mutex
	s  Status
}

func (b *board) update(change func(*Status)) {
	b.mu.Lock()
	defer b.mu.Unlock()
	change(&b.s)
}

func (b *board) get() Status {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.s
}
