package mongodb

import (
	"bytes"
	"context"
	"sync"
	"time"

	"github.com/tidemarkdb/tidemark/extension"
)

// ackPatience bounds how long a permanent error is held back.
const ackPatience = time.Minute

// acks holds a permanent error back until what was delivered before it is durable: whoever reads may keep what it read
// in a window, which an error would end before it is written, and after a permanent error nothing is read again.
type acks struct {
	mu      sync.Mutex
	owed    extension.Position // the last position delivered, nil when it has been acknowledged
	changed chan struct{}      // closed when owed becomes nil
	since   time.Time          // when the error was first held back
}

func newAcks() *acks { return &acks{changed: make(chan struct{})} }

// delivered notes a position given to the reader.
func (a *acks) delivered(p extension.Position) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.owed == nil {
		a.changed = make(chan struct{})
	}
	a.owed = p
}

// ack notes that everything up to p is durable.
func (a *acks) ack(p extension.Position) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.owed != nil && bytes.Equal(a.owed, p) {
		a.settle()
	}
}

// end gives up waiting.
func (a *acks) end() {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.owed != nil {
		a.settle()
	}
}

func (a *acks) settle() {
	a.owed = nil
	close(a.changed)
}

// pending waits until what was delivered is durable, wait has passed or ctx ends, and reports whether it is still not.
func (a *acks) pending(ctx context.Context, wait time.Duration) bool {
	a.mu.Lock()
	owed, changed := a.owed != nil, a.changed
	if a.since.IsZero() {
		a.since = time.Now()
	}
	patient := time.Since(a.since) < ackPatience
	a.mu.Unlock()
	if !owed || !patient {
		return false
	}
	timer := time.NewTimer(max(wait, time.Millisecond))
	defer timer.Stop()
	select {
	case <-changed:
		return false
	case <-ctx.Done():
	case <-timer.C:
	}
	return true
}
