package catalog

import (
	"math"
	"sync"
	"sync/atomic"
)

// Pin is a snapshot whose files stay: no sweep of this process deletes them before Release. Sweeps of other processes
// know only the retention.
type Pin struct {
	*Snapshot
	pins     *pins
	released atomic.Bool
}

// Release gives the files up. It is idempotent.
func (p *Pin) Release() {
	if !p.released.Swap(true) {
		p.pins.release(p.version)
	}
}

// pins counts the pins of each version, and keeps sweeps behind the oldest.
type pins struct {
	mu      sync.Mutex
	counts  map[uint64]int
	horizon uint64 // versions below it may have lost files
}

// take pins a version, unless a sweep has passed it.
func (p *pins) take(version uint64) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	if version < p.horizon {
		return false
	}
	if p.counts == nil {
		p.counts = make(map[uint64]int)
	}
	p.counts[version]++
	return true
}

func (p *pins) release(version uint64) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.counts[version]--; p.counts[version] == 0 {
		delete(p.counts, version)
	}
}

// advance moves the horizon up to wanted or the oldest pin, and returns where it is.
func (p *pins) advance(wanted uint64) uint64 {
	p.mu.Lock()
	defer p.mu.Unlock()
	oldest := uint64(math.MaxUint64)
	for version := range p.counts {
		oldest = min(oldest, version)
	}
	p.horizon = max(p.horizon, min(wanted, oldest))
	return p.horizon
}

// Pin returns the newest snapshot and keeps its files from being swept by this process until Release.
func (c *Catalog) Pin() *Pin {
	for {
		s := c.current.Load()
		if c.pins.take(s.version) {
			return &Pin{Snapshot: s, pins: &c.pins}
		}
		// A newer snapshot came and was swept up to between the two lines above.
	}
}

// atomicCounter counts up from 1.
type atomicCounter struct{ n atomic.Uint64 }

func (c *atomicCounter) next() uint64 { return c.n.Add(1) }
