package cdc

import (
	"errors"
	"fmt"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/tidemarkdb/tidemark/extension"
	. "github.com/tidemarkdb/tidemark/integration/enginetest"
	"github.com/tidemarkdb/tidemark/integration/scripted"
	"github.com/tidemarkdb/tidemark/sqlerr"
)

// fill commits n rows, some of which change and some of which go again.
func fill(source *scripted.Table, from, n int64) {
	var changes []scripted.Change
	for id := from; id < from+n; id++ {
		changes = append(changes, insert(id, id, "new"))
	}
	source.Commit(changes...)
	for id := from; id < from+n; id += 3 {
		source.Commit(update(id, id*10, "changed"))
	}
	for id := from; id < from+n; id += 7 {
		source.Commit(remove(id))
	}
}

func TestTheFirstResumeLoadsASnapshotThenStreams(t *testing.T) {
	h := newHouse(t)
	fill(h.source, 0, 2000)
	h.table("")
	Expect(t, h.s, ingests, "paused|-|f") // CREATE and ATTACH only record metadata
	Expect(t, h.s, "SELECT count(*) FROM orders", "0")
	if h.source.Readers() != 0 {
		t.Error("the source is read before RESUME")
	}
	gate := make(chan struct{})
	h.database.SetFault(func(stage scripted.Stage) error {
		if stage == scripted.Copying {
			<-gate
		}
		return nil
	})
	h.resume()
	UntilRow(t, h.s, ingests, "enabled|backfilling|t")
	fill(h.source, 10_000, 100) // while the load runs: the stream brings it
	Expect(t, h.s, "SELECT count(*) FROM orders", "0")
	close(gate)
	UntilRow(t, h.s, ingests, "enabled|streaming|t")
	h.caughtUp(h.s)
	h.same(h.s, "orders")
}

func TestADeletedKeyIsGoneUntilALaterInsert(t *testing.T) {
	h := newHouse(t)
	h.table("cascade_interval = '1 hour'")
	h.resume()
	for _, step := range []struct {
		change scripted.Change
		want   []string
	}{
		{insert(1, 1, "a"), []string{"1|1|a"}}, {update(1, 2, "b"), []string{"1|2|b"}}, {remove(1), nil},
		{insert(1, 3, "c"), []string{"1|3|c"}}, {insert(1, 4, "d"), []string{"1|4|d"}}, {remove(2), []string{"1|4|d"}},
		{update(2, 9, "e"), []string{"1|4|d", "2|9|e"}},
	} {
		h.source.Commit(step.change)
		h.caughtUp(h.s)
		Expect(t, h.s, "SELECT * FROM orders ORDER BY id", step.want...)
	}
	h.source.Commit(insert(5, 1, "x"), update(5, 2, "y"), remove(5), insert(5, 3, "z"), remove(1))
	h.caughtUp(h.s)
	Expect(t, h.s, "SELECT * FROM orders ORDER BY id", "2|9|e", "5|3|z")
}

func TestSuspendKeepsTheTableQueryableAndResumeContinues(t *testing.T) {
	h := newHouse(t)
	h.loaded(100, "")
	h.suspend()
	Expect(t, h.s, ingests, "paused|-|f")
	if n := h.source.Readers(); n != 0 {
		t.Errorf("%d readers of the source after SUSPEND", n)
	}
	at := h.source.End()
	fill(h.source, 1000, 100)
	compare(t, h.s, "orders", h.source.At(at))
	h.resume()
	h.caughtUp(h.s)
	h.same(h.s, "orders")
	if n := series(t, h.engine)["initial_load_rows"]; n != 0 {
		t.Errorf("the worker loaded %v rows again", n)
	}
}

func TestDetachKeepsRowsAndTheSameStreamContinues(t *testing.T) {
	h := newHouse(t)
	h.loaded(100, "")
	Rows(t, h.s, "ALTER CDC TABLE orders DETACH STREAM")
	Until(t, "the worker's end", func() bool { return h.source.Readers() == 0 })
	Expect(t, h.s, "SELECT count(*) FROM information_schema.cdc_ingests", "0")
	h.same(h.s, "orders")
	Refuses(t, h.s, "ALTER CDC TABLE orders RESUME", sqlerr.ObjectNotInPrerequisite, "no stream attached")
	Refuses(t, h.s, "ALTER CDC TABLE orders SUSPEND", sqlerr.ObjectNotInPrerequisite, "no stream attached")
	fill(h.source, 1000, 100)
	Rows(t, h.s, "ALTER CDC TABLE orders ATTACH STREAM changes")
	Expect(t, h.s, ingests, "paused|-|f")
	var copied atomic.Bool
	h.database.SetFault(func(stage scripted.Stage) error {
		if stage == scripted.Snapping {
			copied.Store(true)
		}
		return nil
	})
	h.resume()
	h.caughtUp(h.s)
	h.same(h.s, "orders")
	if copied.Load() {
		t.Error("the stream that had loaded the table loaded it again")
	}
}

func TestAnotherStreamReseeds(t *testing.T) {
	h := newHouse(t)
	h.loaded(200, "")
	other := h.database.Create("others", orderColumns, 0)
	fill(other, 150, 200) // some keys in common
	Rows(t, h.s, `ALTER CDC TABLE orders DETACH STREAM; CREATE STREAM second FROM SCRIPTED WITH ("table" = 'others');
		ALTER CDC TABLE orders ATTACH STREAM second`)
	h.same(h.s, "orders") // until the load after RESUME replaces them
	h.resume()
	UntilRow(t, h.s, "SELECT coalesce(position, '') FROM information_schema.streams WHERE stream_name = 'second'", fmt.Sprint(other.End()))
	compare(t, h.s, "orders", other.At(other.End()))

	// The first stream has not loaded the table as it is now: it reseeds too.
	Rows(t, h.s, "ALTER CDC TABLE orders DETACH STREAM; ALTER CDC TABLE orders ATTACH STREAM changes")
	h.resume()
	h.caughtUp(h.s)
	h.same(h.s, "orders")
}

func TestDropStopsTheWorkerAndFreesTheStream(t *testing.T) {
	h := newHouse(t)
	h.loaded(100, "")
	Refuses(t, h.s, "DROP STREAM changes", sqlerr.DependentObjects, "DETACH STREAM")
	Rows(t, h.s, "DROP TABLE orders")
	Until(t, "the worker's end", func() bool { return h.source.Readers() == 0 })
	Refuses(t, h.s, "SELECT * FROM orders", sqlerr.UndefinedTable, "orders")
	Expect(t, h.s, "SELECT count(*) FROM information_schema.cdc_ingests", "0")
	Until(t, "the end of the table's series", func() bool { return len(series(t, h.engine)) == 0 })
	Expect(t, h.s, "SELECT count(*) FROM information_schema.tablets", "0")
	Rows(t, h.s, "DROP STREAM changes")
	h.table("")
	h.resume()
	h.caughtUp(h.s)
	h.same(h.s, "orders")
}

func TestOneStreamFeedsOneTable(t *testing.T) {
	h := newHouse(t)
	h.table("")
	Rows(t, h.s, "CREATE CDC TABLE more (id BIGINT, PRIMARY KEY (id) NOT ENFORCED)")
	Refuses(t, h.s, "ALTER CDC TABLE more ATTACH STREAM changes", sqlerr.ObjectInUse, "one stream feeds one table")
	Refuses(t, h.s, "ALTER CDC TABLE more ATTACH STREAM nothing", sqlerr.UndefinedObject, "nothing")
	Rows(t, h.s, `CREATE STREAM second FROM SCRIPTED WITH ("table" = 'orders')`)
	Refuses(t, h.s, "ALTER CDC TABLE orders ATTACH STREAM second", sqlerr.ObjectNotInPrerequisite, "DETACH STREAM first")
}

func TestRenameKeepsIngesting(t *testing.T) {
	h := newHouse(t)
	h.loaded(50, "cascade_interval = '10 milliseconds'")
	Rows(t, h.s, "ALTER TABLE orders RENAME TO purchases")
	fill(h.source, 100, 50)
	h.caughtUp(h.s)
	h.same(h.s, "purchases")
	Expect(t, h.s, "SELECT table_name, stream_name, state, has_worker FROM information_schema.cdc_ingests", "purchases|changes|enabled|t")
	Rows(t, h.s, "ALTER CDC TABLE purchases SUSPEND; ALTER CDC TABLE purchases RESUME")
	fill(h.source, 200, 50)
	h.caughtUp(h.s)
	h.same(h.s, "purchases")
}

func TestAfterARestartResumeIsNeededAndContinues(t *testing.T) {
	h := newHouse(t)
	h.loaded(300, "")
	at := h.source.End()
	h.engine.Close()
	fill(h.source, 1000, 300)
	h.engine, h.s = h.open("first")
	Expect(t, h.s, ingests, "enabled|-|f") // the intent is kept, the worker is not
	if h.source.Readers() != 0 {
		t.Error("ingestion started by itself")
	}
	compare(t, h.s, "orders", h.source.At(at))
	h.resume()
	h.caughtUp(h.s)
	h.same(h.s, "orders")
}

func TestResumeIsRefusedInsideATransaction(t *testing.T) {
	h := newHouse(t)
	h.table("")
	Rows(t, h.s, "BEGIN")
	Refuses(t, h.s, "ALTER CDC TABLE orders RESUME", sqlerr.ActiveTransaction, "single statement")
	Rows(t, h.s, "ROLLBACK")
	Expect(t, h.s, ingests, "paused|-|f")
	h.resume()
	UntilRow(t, h.s, ingests, "enabled|streaming|t")
}

func TestAPermanentFailureStopsInErrorAndNamesTheReason(t *testing.T) {
	h := newHouse(t)
	fill(h.source, 0, 100)
	h.table("cascade_interval = '1 hour'") // so that only the final drain can apply what is staged
	h.resume()
	h.caughtUp(h.s)
	fill(h.source, 500, 50)
	h.caughtUp(h.s)
	if n := One(t, h.s, "SELECT staging_tablets FROM information_schema.tables WHERE table_name = 'orders'"); n == "0" {
		t.Fatal("nothing is staged: the drain would have nothing to do")
	}
	reason := extension.Permanent(sqlerr.New(sqlerr.DatatypeMismatch, "column n of the source became TEXT").Hintf("make a new table"))
	h.database.SetFault(func(stage scripted.Stage) error {
		if stage == scripted.Reading {
			return reason
		}
		return nil
	})
	UntilRow(t, h.s, "SELECT state, has_worker, last_error FROM information_schema.cdc_ingests",
		"error|f|column n of the source became TEXT; hint: make a new table")
	UntilRow(t, h.s, "SELECT staging_tablets FROM information_schema.tables WHERE table_name = 'orders'", "0")
	h.same(h.s, "orders")
	if n := len(series(t, h.engine)); n != 0 {
		t.Errorf("%d series after a permanent stop", n)
	}
	Refuses(t, h.s, "ALTER CDC TABLE orders RESUME", sqlerr.ObjectNotInPrerequisite, "column n of the source became TEXT")
	h.suspend() // is no error, and changes nothing
	Expect(t, h.s, "SELECT state FROM information_schema.cdc_ingests", "error")

	// Another engine, and one after a restart, refuse as well.
	_, second := h.open("second")
	Refuses(t, second, "ALTER CDC TABLE orders RESUME", sqlerr.ObjectNotInPrerequisite, "column n of the source became TEXT")

	// After the cause is repaired, detaching and attaching again continues.
	h.database.SetFault(nil)
	fill(h.source, 900, 20)
	Rows(t, h.s, "ALTER CDC TABLE orders DETACH STREAM; ALTER CDC TABLE orders ATTACH STREAM changes")
	h.resume()
	h.caughtUp(h.s)
	h.same(h.s, "orders")
}

func TestPassingFailuresAreShownAndRetried(t *testing.T) {
	h := newHouse(t)
	fill(h.source, 0, 20)
	h.table("")
	var failing atomic.Bool
	h.database.SetFault(func(stage scripted.Stage) error {
		if failing.Load() && stage == scripted.Checking {
			return errors.New("the source is not to be reached")
		}
		if failing.Load() && stage == scripted.Reading {
			return errors.New("the connection broke")
		}
		return nil
	})
	failing.Store(true)
	h.resume()
	UntilRow(t, h.s, "SELECT state, has_worker, last_error, error_count > 1 FROM information_schema.cdc_ingests",
		"enabled|t|the source is not to be reached|t")
	failing.Store(false)
	h.caughtUp(h.s)
	h.same(h.s, "orders")
	UntilRow(t, h.s, "SELECT state, phase, last_error, error_count > 1 FROM information_schema.cdc_ingests", "enabled|streaming|NULL|t")
	failing.Store(true)
	fill(h.source, 100, 20)
	UntilRow(t, h.s, "SELECT last_error IS NULL FROM information_schema.cdc_ingests", "f")
	h.suspend()
	Expect(t, h.s, ingests, "paused|-|f")
	failing.Store(false)
	h.resume()
	h.caughtUp(h.s)
	h.same(h.s, "orders")
}

func TestTheRetryBudgetEndsTheAttachment(t *testing.T) {
	for _, stage := range []scripted.Stage{scripted.Checking, scripted.Copying, scripted.Reading} {
		t.Run(string(stage), func(t *testing.T) {
			h := newHouse(t)
			fill(h.source, 0, 20)
			h.table("")
			Rows(t, h.s, "SET execution.cdc.retry_budget_min_failures = 3; SET execution.cdc.retry_budget_min_window = '1 millisecond'")
			h.database.SetFault(func(at scripted.Stage) error {
				if at == stage {
					return fmt.Errorf("%s fails", stage)
				}
				return nil
			})
			h.resume()
			UntilRow(t, h.s, "SELECT state, has_worker, last_error FROM information_schema.cdc_ingests", fmt.Sprintf("error|f|%s fails", stage))
			Refuses(t, h.s, "ALTER CDC TABLE orders RESUME", sqlerr.ObjectNotInPrerequisite, fmt.Sprintf("%s fails", stage))
		})
	}
}

func TestIngestsHasExactlyTheColumnsAndTheirMeaning(t *testing.T) {
	h := newHouse(t)
	fill(h.source, 0, 20)
	h.table("")
	Rows(t, h.s, "CREATE CDC TABLE unattached (id BIGINT, PRIMARY KEY (id) NOT ENFORCED); CREATE TABLE plain (id BIGINT)")
	Expect(t, h.s, `SELECT string_agg(column_name, ',' ORDER BY ordinal_position) FROM information_schema.columns
		WHERE table_schema = 'information_schema' AND table_name = 'cdc_ingests'`,
		"table_name,stream_name,state,phase,has_worker,apply_count,last_commit_time,live_lag_ms,last_error,error_count")
	Expect(t, h.s, "SELECT * FROM information_schema.cdc_ingests", "orders|changes|paused|NULL|f|0|NULL|NULL|NULL|0")
	h.resume()
	h.caughtUp(h.s)
	Expect(t, h.s, "SELECT apply_count, last_commit_time IS NULL FROM information_schema.cdc_ingests", "0|f") // the load is not counted
	h.source.Commit(insert(1000, 1, "x"))
	h.caughtUp(h.s)
	UntilRow(t, h.s, "SELECT apply_count, live_lag_ms >= 0, now() - last_commit_time < INTERVAL '1 minute' FROM information_schema.cdc_ingests", "1|t|t")
	Until(t, "a lag that grows while the source is idle", func() bool {
		return One(t, h.s, "SELECT live_lag_ms > 20 FROM information_schema.cdc_ingests") == "t"
	})
	_, second := h.open("second")
	Expect(t, second, "SELECT state, phase, has_worker, apply_count, last_commit_time IS NULL FROM information_schema.cdc_ingests", "enabled|NULL|f|0|f")
}

func TestResumeOnAnotherEngineMovesIngestion(t *testing.T) {
	h := newHouse(t)
	h.loaded(200, "cascade_interval = '5 milliseconds'")
	_, second := h.open("second")
	fill(h.source, 1000, 200)
	Rows(t, second, "ALTER CDC TABLE orders RESUME")
	UntilRow(t, second, ingests, "enabled|streaming|t")
	UntilRow(t, h.s, ingests, "enabled|-|f")
	Until(t, "one reader", func() bool { return h.source.Readers() == 1 })
	fill(h.source, 2000, 200)
	h.caughtUp(second)
	h.same(second, "orders")
	h.caughtUp(h.s) // every engine sees the same table
	h.same(h.s, "orders")
	if n := len(series(t, h.engine)); n != 0 {
		t.Errorf("the engine that lost ingestion still has %d series", n)
	}
	h.suspend() // from any engine
	UntilRow(t, second, ingests, "paused|-|f")
	Until(t, "no reader", func() bool { return h.source.Readers() == 0 })
}

func TestTwoResumesAtOnceLeaveOneWorker(t *testing.T) {
	h := newHouse(t)
	fill(h.source, 0, 50)
	h.table("cascade_interval = '5 milliseconds'")
	_, second := h.open("second")
	done := make(chan error, 2)
	for range 3 {
		go func() { _, err := Try(h.s, "ALTER CDC TABLE orders RESUME"); done <- err }()
		go func() { _, err := Try(second, "ALTER CDC TABLE orders RESUME"); done <- err }()
		for range 2 {
			if err := <-done; err != nil && sqlerr.Code(err) != sqlerr.SerializationFailure {
				t.Fatal(err)
			}
		}
		fill(h.source, int64(h.source.End())*100, 50)
		Until(t, "one worker", func() bool {
			return One(t, h.s, "SELECT has_worker FROM information_schema.cdc_ingests") != One(t, second, "SELECT has_worker FROM information_schema.cdc_ingests")
		})
		h.caughtUp(h.s)
		h.same(h.s, "orders")
	}
}

// TestDefinitionsOfAnotherEngineCountAtOnce defines on two engines in turn, each at once on what the other did.
func TestDefinitionsOfAnotherEngineCountAtOnce(t *testing.T) {
	h := newHouse(t)
	_, second := h.open("second")
	for range 10 {
		Rows(t, h.s, `CREATE STREAM changes FROM SCRIPTED WITH ("table" = 'orders')`)
		Rows(t, second, "CREATE CDC TABLE orders (id BIGINT, n BIGINT, note TEXT, PRIMARY KEY (id) NOT ENFORCED)")
		Rows(t, h.s, "ALTER CDC TABLE orders ATTACH STREAM changes")
		Rows(t, second, "ALTER CDC TABLE orders RESUME")
		Rows(t, h.s, "ALTER TABLE orders RENAME TO renamed")
		Rows(t, second, "ALTER CDC TABLE renamed DETACH STREAM")
		Rows(t, h.s, "DROP TABLE renamed; DROP STREAM changes")
		Rows(t, second, "CREATE TABLE renamed (a INTEGER); DROP TABLE renamed")
	}
}

func TestRestrictionsOfReadMode(t *testing.T) {
	h := newHouse(t)
	h.table("")
	Expect(t, h.s, "SELECT merge_mode FROM information_schema.tables WHERE table_name = 'orders'", "read")
	for _, statement := range []string{
		"INSERT INTO orders VALUES (1, 2, 'x')", "UPDATE orders SET n = 1", "DELETE FROM orders", "TRUNCATE orders",
		"MERGE INTO orders o USING (SELECT 1 AS id) x ON o.id = x.id WHEN MATCHED THEN DELETE",
		"ALTER TABLE orders ADD COLUMN x BIGINT", "ALTER TABLE orders DROP COLUMN n", "ALTER TABLE orders RENAME COLUMN n TO m",
		"ALTER TABLE orders SET PRIMARY INDEX (n)", "CREATE AGGREGATING INDEX i ON orders (n)",
	} {
		if _, err := Try(h.s, statement); err == nil || !strings.Contains("42809 0A000", sqlerr.Code(err)) {
			t.Errorf("%s: %v, want it refused", statement, err)
		}
	}
	if _, err := Try(h.s, "ALTER TABLE orders SET (merge_mode = 'write')"); err == nil {
		t.Error("merge_mode was changed after creation")
	}
	Refuses(t, h.s, "CREATE CDC TABLE x (id BIGINT, PRIMARY KEY (id) NOT ENFORCED) WITH (merge_mode = 'both')", sqlerr.InvalidParameterValue, "'write'")
	Rows(t, h.s, "ALTER TABLE orders RENAME TO purchases")
}

func TestNamesReservedForBookkeeping(t *testing.T) {
	h := newHouse(t)
	for _, name := range []string{"__op", "__anything", "last_seq"} {
		Refuses(t, h.s, fmt.Sprintf("CREATE CDC TABLE x (id BIGINT, %s BIGINT, PRIMARY KEY (id) NOT ENFORCED)", name), sqlerr.ReservedName, name)
	}
	Rows(t, h.s, "CREATE CDC TABLE x (id BIGINT, _op BIGINT, last_seq2 BIGINT, PRIMARY KEY (id) NOT ENFORCED)")
	Refuses(t, h.s, "SELECT __op FROM x", sqlerr.UndefinedColumn, "__op")
	Refuses(t, h.s, "SELECT last_seq FROM x", sqlerr.UndefinedColumn, "last_seq")
}
