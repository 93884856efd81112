package cascade

import (
	"context"
	"time"

	"github.com/tidemarkdb/tidemark/tablestore"
)

const (
	// firstPace is how many rows a second are taken to be rewritten before a step has shown it: few, so that the first
	// step is rather too small.
	firstPace = 250_000
	// firstKeyPace is the same of the keys that a merge of the key index reads: a tenth of what one core does.
	firstKeyPace = 2_000_000
	// leastStep is the fewest rows that a step of maintenance is cut to, whatever the budget: smaller ones would leave
	// too many tablets.
	leastStep = tablestore.TargetRows / 8
)

// pace is how many rows or keys a second maintenance rewrites, as its steps have shown. The zero value is ready.
type pace struct{ perSecond float64 }

// rowsIn returns how many rows a step may have that is to end within d. first is the pace before any step.
func (p *pace) rowsIn(d time.Duration, first float64) int64 {
	if p.perSecond == 0 {
		p.perSecond = first
	}
	return max(leastStep, int64(p.perSecond*max(0, d.Seconds())))
}

// ended notes a step. Slower than thought counts at once, faster by half.
func (p *pace) ended(rows int64, took time.Duration) {
	now := float64(rows) / max(took.Seconds(), 1e-6)
	if now > p.perSecond {
		now = (now + p.perSecond) / 2
	}
	p.perSecond = now
}

// abandoned notes that a step did not end in time.
func (p *pace) abandoned() { p.perSecond /= 2 }

// unused notes that no step fitted: the pace that says so may be of a bad day, and is doubted a little more each time.
func (p *pace) unused() { p.perSecond *= 1.05 }

// longestWay bounds how long one piece of work lets appends pass: they may follow each other without a pause.
const longestWay = 50 * time.Millisecond

// makeWay waits while an append is under way, so that it has the cores, the disk and the log to itself.
func (c *Cascade) makeWay(ctx context.Context) {
	if c.Busy == nil || !c.Busy() {
		return
	}
	ctx, cancel := context.WithTimeout(ctx, longestWay)
	defer cancel()
	tick := time.NewTicker(time.Millisecond)
	defer tick.Stop()
	for c.Busy() {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
	}
}
