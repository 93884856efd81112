package cdc

import (
	"errors"
	"math"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/tidemarkdb/tidemark/extension"
	. "github.com/tidemarkdb/tidemark/integration/enginetest"
	"github.com/tidemarkdb/tidemark/integration/scripted"
)

// names are the series of the specification, without the namespace.
var names = []string{
	"initial_load_state{state=running}", "initial_load_state{state=completed}", "initial_load_state{state=failed}",
	"initial_load_started_timestamp_seconds", "initial_load_duration_seconds", "initial_load_rows", "initial_load_tablets",
	"staging_appended_change_events_total{op=insert}", "staging_appended_change_events_total{op=update}", "staging_appended_change_events_total{op=delete}",
	"staging_append_operations_total{outcome=appended}", "staging_append_operations_total{outcome=empty}", "staging_append_operations_total{outcome=failed}",
	"staging_append_operation_duration_seconds_total{outcome=appended}", "staging_append_operation_duration_seconds_total{outcome=empty}",
	"staging_append_operation_duration_seconds_total{outcome=failed}", "staging_as_of_timestamp_seconds", "staging_tablets",
	"cascades_total{outcome=drained}", "cascades_total{outcome=empty}", "cascades_total{outcome=failed}",
	"cascade_duration_seconds_total{outcome=drained}", "cascade_duration_seconds_total{outcome=empty}", "cascade_duration_seconds_total{outcome=failed}",
	"cascade_tablets_total{fate=adopted}", "cascade_tablets_total{fate=retired}",
	"cascade_masked_staging_rows_total", "cascade_masked_base_rows_total", "base_as_of_timestamp_seconds", "base_tablets",
}

func TestTheSeriesAreExactlyThose(t *testing.T) {
	h := newHouse(t)
	h.table("cascade_interval = '1 hour'")
	if n := len(series(t, h.engine)); n != 0 {
		t.Errorf("%d series without a worker", n)
	}
	h.resume()
	UntilRow(t, h.s, ingests, "enabled|streaming|t")
	got := series(t, h.engine)
	for _, name := range names {
		if _, ok := got[name]; !ok {
			t.Errorf("series %s is missing", name)
		}
		delete(got, name)
	}
	for name := range got {
		t.Errorf("series %s is not of the specification", name)
	}
	for name := range labelled(t, h.engine) {
		for _, label := range []string{"database=tidemark", "table=public.orders", "table_id=", "stream=changes"} {
			if !strings.Contains(name, label) {
				t.Errorf("series %s has no label %s", name, label)
			}
		}
	}
}

// untilSeries waits for a value of one series.
func (h *house) untilSeries(name string, passes func(float64) bool) {
	h.t.Helper()
	Until(h.t, name, func() bool { return passes(series(h.t, h.engine)[name]) })
}

func is(want float64) func(float64) bool { return func(got float64) bool { return got == want } }

func TestSeriesCountCommittedWork(t *testing.T) {
	h := newHouse(t)
	for id := range int64(10) {
		h.source.Commit(insert(id, id, "x"))
	}
	h.table("cascade_interval = '1 hour'")
	before := float64(time.Now().Unix())
	h.resume()
	UntilRow(t, h.s, ingests, "enabled|streaming|t")
	got := series(t, h.engine)
	if got["initial_load_state{state=completed}"] != 1 || got["initial_load_rows"] != 10 || got["initial_load_tablets"] < 1 ||
		got["initial_load_started_timestamp_seconds"] < before || got["initial_load_duration_seconds"] <= 0 {
		t.Errorf("after the load: %v", got)
	}
	for _, name := range []string{"staging_as_of_timestamp_seconds", "base_as_of_timestamp_seconds", "staging_tablets", "base_tablets"} {
		if !math.IsNaN(got[name]) {
			t.Errorf("%s is %v before it has a value, want NaN", name, got[name])
		}
	}
	at := time.Now().Add(-time.Hour).Truncate(time.Microsecond)
	moved := scripted.Change{Op: extension.Update, Row: order(99, 9, "moved"), Moved: order(9, 9, "x")}
	h.source.CommitAt(at, insert(20, 1, "a"), update(1, 5, "b"), update(1, 6, "c"), moved, remove(2), remove(20))
	h.caughtUp(h.s)
	h.untilSeries("staging_append_operations_total{outcome=appended}", is(1))
	got = series(t, h.engine)
	for name, want := range map[string]float64{
		"staging_appended_change_events_total{op=insert}": 1, "staging_appended_change_events_total{op=update}": 3, // a moved key is one event
		"staging_appended_change_events_total{op=delete}": 2, "staging_append_operations_total{outcome=failed}": 0,
		"staging_as_of_timestamp_seconds": float64(at.UnixMicro()) / 1e6,
	} {
		if got[name] != want {
			t.Errorf("%s = %v, want %v", name, got[name], want)
		}
	}
	if !math.IsNaN(got["staging_tablets"]) {
		t.Errorf("staging_tablets = %v before the worker's first cascade, want NaN", got["staging_tablets"])
	}
	h.untilSeries("staging_append_operations_total{outcome=empty}", func(v float64) bool { return v > 2 }) // an idle source is polled

	// An append that advances the position without a change is no change of what is staged.
	h.source.Commit()
	h.caughtUp(h.s)
	h.untilSeries("staging_append_operations_total{outcome=appended}", is(2))
	h.untilSeries("staging_as_of_timestamp_seconds", is(float64(at.UnixMicro())/1e6))
	h.same(h.s, "orders")
}

func TestSeriesOfCascades(t *testing.T) {
	h := newHouse(t)
	for id := range int64(50) {
		h.source.Commit(insert(id, id, "x"))
	}
	h.table("cascade_interval = '10 milliseconds'")
	Rows(t, h.s, "SET execution.cdc.vacuum_budget_ms = 0")
	h.resume()
	h.untilSeries("base_tablets", is(1)) // counted by a cascade after the load
	got := series(t, h.engine)
	if got["staging_tablets"] != 0 || got["base_tablets"] != 1 || !math.IsNaN(got["base_as_of_timestamp_seconds"]) {
		t.Errorf("after a cascade of nothing: staging %v, base %v, as of %v", got["staging_tablets"], got["base_tablets"], got["base_as_of_timestamp_seconds"])
	}
	at := time.Now().Add(-time.Minute).Truncate(time.Microsecond)
	h.source.CommitAt(at, update(1, 100, "y"), remove(2), insert(200, 1, "z"))
	h.caughtUp(h.s)
	h.untilSeries("cascades_total{outcome=drained}", is(1))
	got = series(t, h.engine)
	for name, want := range map[string]float64{
		"cascade_masked_base_rows_total":      2, // of keys 1 and 2
		"cascade_masked_staging_rows_total":   1, // the delete
		"cascade_tablets_total{fate=adopted}": 1, "cascade_tablets_total{fate=retired}": 0,
		"staging_tablets": 0, "base_tablets": 2, "base_as_of_timestamp_seconds": float64(at.UnixMicro()) / 1e6,
	} {
		if got[name] != want {
			t.Errorf("%s = %v, want %v", name, got[name], want)
		}
	}
	// A tablet of deletes alone is retired.
	h.source.Commit(remove(5))
	h.caughtUp(h.s)
	h.untilSeries("cascade_tablets_total{fate=retired}", is(1))
	if got := series(t, h.engine); got["cascade_tablets_total{fate=adopted}"] != 1 || got["cascades_total{outcome=failed}"] != 0 {
		t.Errorf("adopted %v, failed %v", got["cascade_tablets_total{fate=adopted}"], got["cascades_total{outcome=failed}"])
	}
	h.same(h.s, "orders")
}

func TestSeriesLiveAsLongAsTheWorker(t *testing.T) {
	h := newHouse(t)
	h.source.Commit(insert(1, 1, "x"))
	h.table("cascade_interval = '10 milliseconds'")
	h.resume()
	h.untilSeries("staging_append_operations_total{outcome=empty}", func(v float64) bool { return v > 3 })
	h.suspend()
	if n := len(series(t, h.engine)); n != 0 {
		t.Errorf("%d series after SUSPEND", n)
	}
	h.resume()
	h.untilSeries("initial_load_state{state=completed}", is(1)) // found complete
	if got := series(t, h.engine); got["initial_load_rows"] != 0 || got["staging_appended_change_events_total{op=insert}"] != 0 {
		t.Errorf("after RESUME: %v rows loaded, %v inserts", got["initial_load_rows"], got["staging_appended_change_events_total{op=insert}"])
	}
	Rows(t, h.s, "ALTER CDC TABLE orders DETACH STREAM")
	Until(t, "no series after DETACH", func() bool { return len(series(t, h.engine)) == 0 })
}

func TestRenameMovesTheSeries(t *testing.T) {
	h := newHouse(t)
	h.source.Commit(insert(1, 1, "x"))
	h.table("cascade_interval = '10 milliseconds'")
	h.resume()
	UntilRow(t, h.s, ingests, "enabled|streaming|t")
	h.source.Commit(insert(2, 1, "x"))
	h.caughtUp(h.s)
	h.untilSeries("cascades_total{outcome=drained}", is(1))
	h.untilSeries("cascades_total{outcome=empty}", func(v float64) bool { return v > 20 }) // the engine has long seen the first name
	table := func(of string) string {                                                      // the table_id of the only table with that label
		for name := range labelled(t, h.engine) {
			if strings.Contains(name, ",table="+of+",") {
				_, after, _ := strings.Cut(name, "table_id=")
				id, _, _ := strings.Cut(after, ",")
				return strings.TrimSuffix(id, "}")
			}
		}
		return ""
	}
	id := table("public.orders")
	Rows(t, h.s, "ALTER TABLE orders RENAME TO purchases")
	Until(t, "the new label", func() bool { return table("public.orders") == "" && table("public.purchases") == id })
	got := series(t, h.engine)
	if got["staging_appended_change_events_total{op=insert}"] != 0 || got["base_tablets"] < 1 {
		t.Errorf("after a rename: %v inserts counted, %v base tablets", got["staging_appended_change_events_total{op=insert}"], got["base_tablets"])
	}
}

// TestAnEarlyRenameMovesTheSeries renames a table at once after its worker started.
func TestAnEarlyRenameMovesTheSeries(t *testing.T) {
	for range 5 {
		h := newHouse(t)
		h.table("")
		Rows(t, h.s, "ALTER CDC TABLE orders RESUME; ALTER TABLE orders RENAME TO purchases")
		Until(t, "the new label", func() bool {
			labels := labelled(t, h.engine)
			for name := range labels {
				if !strings.Contains(name, ",table=public.purchases,") {
					return false
				}
			}
			return len(labels) > 0
		})
		Rows(t, h.s, "ALTER CDC TABLE purchases SUSPEND")
	}
}

func TestAFailedAppendCountsOnceAndNothingElse(t *testing.T) {
	h := newHouse(t)
	h.source.Commit(insert(1, 1, "x"))
	h.table("cascade_interval = '1 hour'")
	h.resume()
	UntilRow(t, h.s, ingests, "enabled|streaming|t")
	var left atomic.Int64
	h.database.SetFault(func(stage scripted.Stage) error {
		if stage == scripted.Reading && left.Add(-1) >= 0 {
			return errors.New("the connection broke")
		}
		return nil
	})
	left.Store(2)
	h.source.Commit(insert(2, 2, "y"), insert(3, 3, "z"))
	h.caughtUp(h.s)
	h.untilSeries("staging_append_operations_total{outcome=appended}", is(1))
	got := series(t, h.engine)
	if got["staging_append_operations_total{outcome=failed}"] != 2 || got["staging_appended_change_events_total{op=insert}"] != 2 {
		t.Errorf("%v appends failed and %v inserts were counted, want 2 and 2", got["staging_append_operations_total{outcome=failed}"],
			got["staging_appended_change_events_total{op=insert}"])
	}
	if One(t, h.s, "SELECT error_count FROM information_schema.cdc_ingests") != "2" {
		t.Error("error_count is not 2")
	}
}

func TestASourceWithoutCommitTimesReadsNaN(t *testing.T) {
	h := newHouse(t)
	h.table("cascade_interval = '10 milliseconds'")
	h.resume()
	UntilRow(t, h.s, ingests, "enabled|streaming|t")
	h.source.CommitAt(time.Time{}, insert(1, 1, "x"))
	h.caughtUp(h.s)
	h.untilSeries("cascades_total{outcome=drained}", is(1))
	got := series(t, h.engine)
	if !math.IsNaN(got["staging_as_of_timestamp_seconds"]) || !math.IsNaN(got["base_as_of_timestamp_seconds"]) {
		t.Errorf("as of %v and %v, want NaN", got["staging_as_of_timestamp_seconds"], got["base_as_of_timestamp_seconds"])
	}
}
