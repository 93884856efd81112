package cdc

import (
	"fmt"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/tidemarkdb/tidemark/engine"
	. "github.com/tidemarkdb/tidemark/integration/enginetest"
	"github.com/tidemarkdb/tidemark/integration/scripted"
)

const applied = "SELECT apply_count FROM information_schema.cdc_ingests"

func TestDefaultsOfTheSettings(t *testing.T) {
	s := Session(t, Open(t, engine.Options{}))
	for name, want := range map[string]string{
		"execution.cdc.append_max_read_ms": "2000", "execution.cdc.append_max_rows": "2000000", "execution.cdc.append_max_threads": "0",
		"execution.cdc.retry_budget_min_failures": "10", "execution.cdc.retry_budget_min_window": "4h0m0s",
	} {
		Expect(t, s, "SHOW "+name, want)
	}
}

// TestABacklogDoesNotStretchTheWindow reads a stream that never pauses and never reaches the limit of rows: only the
// window can end an append.
func TestABacklogDoesNotStretchTheWindow(t *testing.T) {
	h := newHouse(t)
	Rows(t, h.s, `SET execution.cdc.append_max_read_ms = 30; SET execution.cdc.append_max_rows = 2000000000;
		CREATE STREAM endless FROM GENERATOR WITH (keys = 100, rate = 0, seed = 1);
		CREATE CDC TABLE busy (id BIGINT, version BIGINT, PRIMARY KEY (id) NOT ENFORCED);
		ALTER CDC TABLE busy ATTACH STREAM endless; ALTER CDC TABLE busy RESUME`)
	UntilRow(t, h.s, "SELECT apply_count >= 4 FROM information_schema.cdc_ingests", "t")
	if n := series(t, h.engine)["staging_append_operations_total{outcome=empty}"]; n != 0 {
		t.Errorf("%v appends of an endless backlog were empty", n)
	}
	Rows(t, h.s, "ALTER CDC TABLE busy SUSPEND")
}

// TestAPauseDoesNotEndTheAppend commits twice within one window.
func TestAPauseDoesNotEndTheAppend(t *testing.T) {
	h := newHouse(t)
	h.table("")
	h.resume()
	UntilRow(t, h.s, ingests, "enabled|streaming|t")
	Rows(t, h.s, "SET execution.cdc.append_max_read_ms = 3000")
	h.source.Commit(insert(1, 1, "aligns the windows"))
	h.caughtUp(h.s)
	h.source.Commit(insert(2, 2, "x"))
	h.caughtUp(h.s)                // the first append with the long window ended: the next window has just begun
	UntilRow(t, h.s, applied, "2") // the count follows the commit in a moment
	h.source.Commit(insert(3, 3, "x"))
	time.Sleep(30 * time.Millisecond)
	h.source.Commit(insert(4, 4, "x"))
	h.caughtUp(h.s)
	const empty = "staging_append_operations_total{outcome=empty}"
	for idle := series(t, h.engine)[empty]; series(t, h.engine)[empty] == idle; {
		time.Sleep(20 * time.Millisecond) // an empty append follows: whatever came before it has been counted
	}
	Expect(t, h.s, applied, "3")
	h.same(h.s, "orders")
}

// TestAnAppendEndsAtABoundary lets the number of events end appends, never the window.
func TestAnAppendEndsAtABoundary(t *testing.T) {
	h := newHouse(t)
	h.table("")
	Rows(t, h.s, "SET execution.cdc.append_max_read_ms = 3600000; SET execution.cdc.append_max_rows = 10")
	h.resume()
	UntilRow(t, h.s, ingests, "enabled|streaming|t")
	rows := func(from, n int64) (changes []scripted.Change) {
		for id := from; id < from+n; id++ {
			changes = append(changes, insert(id, id, "x"))
		}
		return changes
	}
	h.source.Commit(rows(0, 7)...)
	h.source.Commit(rows(100, 7)...) // 14 events: the tenth lies in the middle of this transaction
	h.caughtUp(h.s)
	UntilRow(t, h.s, applied, "1") // the count follows the commit in a moment
	Expect(t, h.s, "SELECT count(*) FROM orders", "14")
	h.source.Commit(rows(200, 95)...) // longer than an append may be: applied whole
	h.caughtUp(h.s)
	UntilRow(t, h.s, applied, "2") // the count follows the commit in a moment
	h.source.Commit(rows(300, 3)...)
	Expect(t, h.s, "SELECT count(*) FROM orders", "109") // still within its window
	h.suspend()
	Expect(t, h.s, "SELECT count(*) FROM orders", "109")
	Rows(t, h.s, "SET execution.cdc.append_max_read_ms = 2")
	h.resume()
	h.caughtUp(h.s)
	h.same(h.s, "orders")
}

// TestPagesOfAnAppendAreReadyForTheQueriesThatComeBack queries a table between appends: the columns that it reads are
// decoded by the append, those that it does not read are not.
func TestPagesOfAnAppendAreReadyForTheQueriesThatComeBack(t *testing.T) {
	h := newHouse(t)
	h.source.Commit(insert(1, 10, "a"), insert(2, 20, "b"))
	h.table("cascade_interval = '1 hour'")
	h.resume()
	h.caughtUp(h.s)
	Expect(t, h.s, "SELECT sum(n) FROM orders", "30")
	h.source.Commit(insert(3, 30, "c"), update(1, 11, "d"))
	h.caughtUp(h.s)
	version := One(t, h.s, "SELECT version FROM information_schema.snapshot")
	h.source.Commit(insert(4, 40, "e")) // once it is there, the append before it is over
	h.caughtUp(h.s)
	plan := strings.Join(Rows(t, h.s, "EXPLAIN ANALYZE SELECT sum(n) FROM orders AT (VERSION => "+version+")"), "\n")
	if !strings.Contains(plan, "pages decoded=0 pages cached=2") {
		t.Errorf("a page was not ready:\n%s", plan)
	}
	plan = strings.Join(Rows(t, h.s, "EXPLAIN ANALYZE SELECT max(note) FROM orders AT (VERSION => "+version+")"), "\n")
	if !strings.Contains(plan, "pages decoded=2") {
		t.Errorf("a page that nobody read was decoded:\n%s", plan)
	}
}

// TestALoadUsesAsManyThreadsAsItMay copies the parts of a snapshot side by side, as many as append_max_threads says.
func TestALoadUsesAsManyThreadsAsItMay(t *testing.T) {
	for _, threads := range []int64{1, 3} {
		h := newHouse(t)
		var rows []scripted.Change // of five parts
		for id := range int64(2500) {
			rows = append(rows, insert(id, id, "new"))
		}
		h.source.Commit(rows...)
		var active, most atomic.Int64
		arrived, leave := make(chan struct{}, 10), make(chan struct{})
		h.database.SetFault(func(stage scripted.Stage) error {
			if stage != scripted.Copying {
				return nil
			}
			n := active.Add(1)
			for m := most.Load(); n > m && !most.CompareAndSwap(m, n); m = most.Load() {
			}
			arrived <- struct{}{}
			<-leave
			active.Add(-1)
			return nil
		})
		h.table("")
		Rows(t, h.s, fmt.Sprintf("SET execution.cdc.append_max_threads = %d", threads))
		h.resume()
		for range threads { // so many parts are being copied before one has ended
			<-arrived
		}
		close(leave)
		h.caughtUp(h.s)
		h.same(h.s, "orders")
		if n := most.Load(); n != threads {
			t.Errorf("%d parts were copied at once, want %d", n, threads)
		}
		h.suspend()
	}
}
