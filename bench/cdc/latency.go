package main

import (
	"context"
	"fmt"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"sync"
	"time"

	"github.com/tidemarkdb/tidemark/engine"
	"github.com/tidemarkdb/tidemark/objstore"
)

// stopwatch is a store that notes how old the newest change of each append is when its commit is durable.
type stopwatch struct {
	objstore.Store
	mu   sync.Mutex
	ages []time.Duration
}

var newestChange = regexp.MustCompile(`"kind":"append".*"source_micros":(\d+)`)

// PutIfAbsent implements objstore.Store.
func (s *stopwatch) PutIfAbsent(ctx context.Context, path string, data []byte) error {
	err := s.Store.PutIfAbsent(ctx, path, data)
	if found := newestChange.FindSubmatch(data); found != nil && err == nil {
		micros, _ := strconv.ParseInt(string(found[1]), 10, 64)
		s.mu.Lock()
		s.ages = append(s.ages, time.Since(time.UnixMicro(micros)))
		s.mu.Unlock()
	}
	return err
}

// take returns what was noted since the last call.
func (s *stopwatch) take() []time.Duration {
	s.mu.Lock()
	defer s.mu.Unlock()
	out := s.ages
	s.ages = nil
	return out
}

// measureLatency feeds a table of n rows at a rate and says how old changes are when they are committed, without
// cascades and with one a second that folds, consolidates and vacuums; in turn, rounds times.
func measureLatency(root string, n, rate, rounds int, every time.Duration) {
	local, err := objstore.OpenLocal(filepath.Join(root, "data"))
	check(err)
	watch := &stopwatch{Store: local}
	e, err := engine.Open(context.Background(), engine.Options{Store: watch, Settings: map[string]string{"execution.cdc.append_max_read_ms": "100"}})
	check(err)
	s, err := e.NewSession(engine.SessionOptions{})
	check(err)
	h := &house{e, s}
	defer h.close()
	for round := range rounds {
		for _, mode := range []struct{ name, interval string }{{"without cascades", "1 hour"}, {"with a cascade a second", "1 second"}} {
			table := fmt.Sprintf("t%d_%s", round, mode.interval[:1]+mode.interval[2:3])
			h.create(table, fmt.Sprintf("keys = %d, rate = %d, seed = 1, transaction_rows = 100, updates = 100, inserts = 0, deletes = 0", n, rate), mode.interval)
			h.value("ALTER CDC TABLE " + table + " RESUME")
			h.waitFor(func() bool {
				return h.value("SELECT coalesce(position, '') FROM information_schema.streams WHERE table_name = 'public."+table+"'") > "0"
			})
			time.Sleep(every / 10)
			watch.take()
			began := cpuTime()
			time.Sleep(every)
			ages := watch.take()
			used := cpuTime() - began
			h.value("ALTER CDC TABLE " + table + " SUSPEND")
			vacuumed := h.value("SELECT masked_rows::text || ' dead rows in ' || tablets::text || ' tablets' FROM information_schema.tables WHERE table_name = '" + table + "'")
			h.value("DROP TABLE " + table)
			slices.Sort(ages)
			at := func(share float64) float64 { return ms(ages[min(len(ages)-1, int(share*float64(len(ages))))]) }
			fmt.Printf("%-24s %4d commits at %d changes/s: p50 %6.1f, p90 %6.1f, p99 %6.1f, max %6.1f ms; %.0f %% of a core; %s at the end\n", mode.name,
				len(ages), rate, at(0.5), at(0.9), at(0.99), ms(ages[len(ages)-1]), 100*used.Seconds()/every.Seconds(), vacuumed)
		}
	}
}
