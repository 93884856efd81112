package ingest

import (
	"math/rand/v2"
	"time"
)

// Retry defaults of the specification: a failure is terminal once it persisted for at least this many attempts over
// at least this long.
const (
	DefaultRetryMinFailures = 10
	DefaultRetryMinWindow   = 4 * time.Hour
)

const (
	firstBackoff = 100 * time.Millisecond
	maxBackoff   = 30 * time.Second
)

// Budget counts consecutive failures of one activity. The zero value with both limits set is ready; one goroutine
// uses it.
type Budget struct {
	MinFailures int           // attempts, execution.cdc.retry_budget_min_failures
	MinWindow   time.Duration // execution.cdc.retry_budget_min_window

	failures int
	first    time.Time
}

// Fail counts a failure at now and reports whether the budget is exhausted.
func (b *Budget) Fail(now time.Time) bool {
	if b.failures == 0 {
		b.first = now
	}
	b.failures++
	return b.failures >= b.MinFailures && now.Sub(b.first) >= b.MinWindow
}

// Failures returns how many failures there were since the last success.
func (b *Budget) Failures() int { return b.failures }

// Succeed forgets the failures.
func (b *Budget) Succeed() { b.failures = 0 }

// Backoff returns how long to wait before the next attempt: doubling with each failure up to half a minute, of which
// a random half is kept so that workers do not retry in step.
func (b *Budget) Backoff() time.Duration {
	wait := maxBackoff
	if b.failures < 10 {
		wait = min(maxBackoff, firstBackoff<<max(0, b.failures-1))
	}
	return wait/2 + rand.N(wait/2)
}
