package exec

import (
	"fmt"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/tidemarkdb/tidemark/plan"
)

// Metrics is what one operator did, with those of its inputs. It may be read while the query runs.
type Metrics struct {
	Node        plan.Node // nil for operators that the executor added
	Name        string
	Rows        int64         // rows it passed on
	Batches     int64         // batches it passed on
	Time        time.Duration // summed over workers, without its inputs
	MemoryBytes int64         // the most it held at once
	SpillBytes  int64         // written to temporary files
	Counters    []Counter     // such as tablets pruned
	Inputs      []*Metrics
}

// nodeMetrics collects Metrics.
type nodeMetrics struct {
	node                 plan.Node
	name                 string
	parent               *nodeMetrics
	inputs               []*nodeMetrics
	rows, batches, nanos atomic.Int64
	memory, peak, spill  atomic.Int64
	mu                   sync.Mutex
	counters             []Counter
}

func (m *nodeMetrics) holds(delta int64) {
	now := m.memory.Add(delta)
	for peak := m.peak.Load(); now > peak && !m.peak.CompareAndSwap(peak, now); peak = m.peak.Load() {
	}
}

// count adds to the counters, by name.
func (m *nodeMetrics) count(counters ...Counter) {
	m.mu.Lock()
	defer m.mu.Unlock()
next:
	for _, c := range counters {
		for i := range m.counters {
			if m.counters[i].Name == c.Name {
				m.counters[i].Value += c.Value
				continue next
			}
		}
		m.counters = append(m.counters, c)
	}
}

func (m *nodeMetrics) snapshot() *Metrics {
	out := &Metrics{
		Node: m.node, Name: m.name, Rows: m.rows.Load(), Batches: m.batches.Load(), Time: time.Duration(m.nanos.Load()),
		MemoryBytes: m.peak.Load(), SpillBytes: m.spill.Load(),
	}
	m.mu.Lock()
	out.Counters = append(out.Counters, m.counters...)
	m.mu.Unlock()
	for _, in := range m.inputs {
		out.Inputs = append(out.Inputs, in.snapshot())
	}
	return out
}

// nodeName is the name of a node's type without its package: "Aggregate".
func nodeName(n plan.Node) string {
	name := fmt.Sprintf("%T", n)
	return name[strings.LastIndexByte(name, '.')+1:]
}

// clock credits a worker's time to the operator that is at work.
type clock struct {
	active *nodeMetrics
	since  time.Time
}

// enter makes m the operator at work and returns the one before, to enter again afterwards.
func (c *clock) enter(m *nodeMetrics) (before *nodeMetrics) {
	now := time.Now()
	before = c.active
	if before != nil {
		before.nanos.Add(int64(now.Sub(c.since)))
	}
	c.active, c.since = m, now
	return before
}
