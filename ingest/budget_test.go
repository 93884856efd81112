package ingest_test

import (
	"context"
	"errors"
	"log/slog"
	"sync/atomic"
	"testing"
	"time"

	"github.com/tidemarkdb/tidemark/catalog"
	"github.com/tidemarkdb/tidemark/ingest"
	"github.com/tidemarkdb/tidemark/metrics"
)

// TestTheDefaultBudgetByAClock runs a worker whose source always fails with the budget of the specification, by a clock
// that moves on with each wait: the attachment ends when both limits are reached, not before.
func TestTheDefaultBudgetByAClock(t *testing.T) {
	for _, c := range []struct {
		step     time.Duration
		attempts int64
	}{
		{time.Minute, 241},          // ten attempts are long over when four hours are
		{10 * time.Minute, 25},      //
		{time.Hour, 10},             // four hours are over when ten attempts are
		{24 * time.Hour, 10},        //
		{4 * time.Hour / 9, 10},     // both at once
		{4*time.Hour/9 - 1, 10 + 1}, // a little less than four hours after the tenth
	} {
		h := newHouse(t, options())
		var on atomic.Bool
		on.Store(true)
		failure := errors.New("the source is not to be reached")
		_, err := h.catalog.Commit(t.Context(), &catalog.AcquireWorker{Table: h.table, Engine: "e", FromEpoch: h.current().Ingest.Epoch})
		if err != nil {
			t.Fatal(err)
		}
		now, attempts := time.Unix(0, 0), int64(0)
		w := ingest.NewWorker(ingest.Config{
			Catalog: h.catalog, Store: h.store, Table: h.table, Epoch: h.current().Ingest.Epoch, Def: failing(&on, failure), Stream: h.stream,
			SpillDir: t.TempDir(), Log: slog.New(slog.DiscardHandler), Metrics: metrics.NewCDC("x").Start(metrics.Labels{}),
			Pacing: func() ingest.Pacing {
				return ingest.Pacing{MaxRead: time.Millisecond, MaxRows: 10, Threads: 1, MemoryBytes: 1 << 20}
			},
			Budget: func() ingest.Budget {
				return ingest.Budget{MinFailures: ingest.DefaultRetryMinFailures, MinWindow: ingest.DefaultRetryMinWindow}
			},
			Drain: func(context.Context) (bool, error) { return false, nil },
			Now:   func() time.Time { return now },
			Wait: func(_ context.Context, d time.Duration) bool {
				if d <= 0 || d > time.Minute {
					t.Errorf("waits %v between attempts", d)
				}
				attempts++
				now = now.Add(c.step)
				return true
			},
		})
		if err := w.Run(t.Context()); !errors.Is(err, failure) {
			t.Fatalf("Run = %v", err)
		}
		if got := attempts + 1; got != c.attempts { // the last is not waited for
			t.Errorf("failures %v apart: ended after %d, want %d", c.step, got, c.attempts)
		}
		if s := w.Status(); s.ErrorCount != c.attempts || h.current().Ingest.State != catalog.Failed {
			t.Errorf("status %+v, state %s", s, h.current().Ingest.State)
		}
	}
}
