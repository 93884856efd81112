package ingest

import (
	"testing"
	"time"
)

func TestBudgetNeedsAttemptsAndTime(t *testing.T) {
	start := time.Unix(0, 0)
	b := Budget{MinFailures: 3, MinWindow: time.Hour}
	for i, step := range []struct {
		after     time.Duration
		exhausted bool
	}{{0, false}, {time.Minute, false}, {2 * time.Minute, false}, {59 * time.Minute, false}, {time.Hour, true}} {
		if got := b.Fail(start.Add(step.after)); got != step.exhausted {
			t.Errorf("failure %d after %v: exhausted = %v", i+1, step.after, got)
		}
	}
	b.Succeed()
	if b.Fail(start.Add(3 * time.Hour)) {
		t.Error("a success must reset the budget")
	}
	if b.Fail(start.Add(5 * time.Hour)) {
		t.Error("two failures are too few however long they last")
	}
}

func TestBackoffGrowsAndStaysBounded(t *testing.T) {
	b := Budget{MinFailures: 1000, MinWindow: time.Hour}
	for i := range 100 {
		b.Fail(time.Unix(int64(i), 0))
		if wait := b.Backoff(); wait <= 0 || wait > maxBackoff {
			t.Fatalf("backoff after %d failures: %v", i+1, wait)
		}
	}
	b.Succeed()
	b.Fail(time.Unix(0, 0))
	if wait := b.Backoff(); wait > firstBackoff {
		t.Errorf("first backoff is %v, want at most %v", wait, firstBackoff)
	}
}
