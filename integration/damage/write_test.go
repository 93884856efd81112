package damage

import (
	"context"
	"fmt"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/tidemarkdb/tidemark/catalog"
	"github.com/tidemarkdb/tidemark/extension"
	. "github.com/tidemarkdb/tidemark/integration/enginetest"
	"github.com/tidemarkdb/tidemark/integration/scripted"
	"github.com/tidemarkdb/tidemark/objstore"
	"github.com/tidemarkdb/tidemark/objstore/errstore"
	"github.com/tidemarkdb/tidemark/sqlerr"
	"github.com/tidemarkdb/tidemark/tablestore"
)

// failing returns a store on disk whose matching calls fail while on is set, and counts them.
func failing(t *testing.T, match func(errstore.Call) bool) (store *errstore.Store, on *atomic.Bool, hits *atomic.Int64) {
	local, err := objstore.OpenLocal(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	on, hits = new(atomic.Bool), new(atomic.Int64)
	return errstore.Wrap(local, func(c errstore.Call) errstore.Verdict {
		if !on.Load() || !match(c) {
			return errstore.Verdict{}
		}
		hits.Add(1)
		return errstore.Verdict{Before: errDisk}
	}), on, hits
}

func TestAFullDiskLosesNothing(t *testing.T) {
	anywhere := func(prefix, suffix string) func(errstore.Call) bool {
		write := errstore.Matching(prefix, errstore.OpCreate, errstore.OpWrite, errstore.OpClose, errstore.OpPut, errstore.OpPutIfAbsent)
		return func(c errstore.Call) bool { return write(c) && strings.HasSuffix(c.Path, suffix) }
	}
	for name, match := range map[string]func(errstore.Call) bool{
		"everything": anywhere("", ""), "tablets": anywhere("tables/", ".parquet"), "sidecars": anywhere("tables/", ".keys"),
		"masks": anywhere("masks/", ""), "log": anywhere("log/", ""),
	} {
		t.Run(name, func(t *testing.T) {
			store, on, hits := failing(t, match)
			h := newHouse(t, store)
			for id := range int64(500) {
				h.source.Commit(put(extension.Insert, id, id))
			}
			Rows(t, h.s, fmt.Sprintf(setUp, "5 milliseconds"))
			h.caughtUp()
			on.Store(true)
			for id := range int64(50) {
				h.source.Commit(put(extension.Update, id*2, 9), put(extension.Delete, id*2+1, 0), put(extension.Insert, 1000+id, id))
			}
			Until(t, "several failures", func() bool { return hits.Load() > 3 })
			if name != "masks" {
				UntilRow(t, h.s, "SELECT state, has_worker, last_error LIKE '%no space left on device%' FROM information_schema.cdc_ingests", "enabled|t|t")
			}
			// What was readable stays readable: the table is at the position it shows.
			if got := Rows(t, h.s, "SELECT count(*) - count(DISTINCT id) FROM orders"); got[0] != "0" {
				t.Errorf("%s keys have more than one live row", got[0])
			}
			on.Store(false)
			h.caughtUp()
			h.same()
			UntilRow(t, h.s, "SELECT staging_tablets FROM information_schema.tables WHERE table_name = 'orders'", "0")
			h.same()
			UntilRow(t, h.s, "SELECT state, last_error FROM information_schema.cdc_ingests", "enabled|NULL")
			if err := h.engine.Close(); err != nil {
				t.Fatal(err)
			}
			h.open()
			h.same()
			report, err := catalog.Check(context.Background(), store, catalog.CheckOptions{Verify: tablestore.Verifier(store)})
			if err != nil || len(report.Problems) > 0 {
				t.Errorf("check after the disk had room again: %v, %v", report.Problems, err)
			}
			// What failed before its commit was removed. Of a commit that could not be written nobody knows.
			if name != "log" && name != "everything" && len(report.Orphans) > 0 {
				t.Errorf("left behind: %v", report.Orphans)
			}
		})
	}
}

// TestFailedLoadsLeaveNoTablets fails a load again and again after it has written tablets: a disk that is full must not
// be filled further with what each attempt wrote.
func TestFailedLoadsLeaveNoTablets(t *testing.T) {
	store, on, hits := failing(t, func(c errstore.Call) bool {
		return c.Op == errstore.OpClose && strings.HasSuffix(c.Path, ".keys")
	})
	h := newHouse(t, store)
	for id := range int64(2000) {
		h.source.Commit(put(extension.Insert, id, id))
	}
	on.Store(true)
	Rows(t, h.s, fmt.Sprintf(setUp, "5 milliseconds"))
	Until(t, "several failures", func() bool { return hits.Load() > 3 })
	Rows(t, h.s, "ALTER CDC TABLE orders SUSPEND")
	for info, err := range store.List(context.Background(), "tables/", "") {
		t.Errorf("a failed load left %s (%v)", info.Path, err)
	}
	on.Store(false)
	Rows(t, h.s, "ALTER CDC TABLE orders RESUME")
	h.caughtUp()
	h.same()
}

func TestAKeyThatIsNullStopsIngestion(t *testing.T) {
	store, _, _ := failing(t, func(errstore.Call) bool { return false })
	h := newHouse(t, store)
	Rows(t, h.s, fmt.Sprintf(setUp, "5 milliseconds"))
	h.source.Commit(put(extension.Insert, 1, 1))
	h.caughtUp()
	null := put(extension.Insert, 2, 2)
	null.Row[0].Null = true
	h.source.Commit(null)
	UntilRow(t, h.s, `SELECT state, last_error LIKE '%merge key column "id" is NULL%' FROM information_schema.cdc_ingests`, "error|t")
	Refuses(t, h.s, "ALTER CDC TABLE orders RESUME", sqlerr.ObjectNotInPrerequisite, "NULL")
	Expect(t, h.s, "SELECT * FROM orders", "1|1|note 1")
}

func TestATableThatDoesNotFitItsSource(t *testing.T) {
	store, _, _ := failing(t, func(errstore.Call) bool { return false })
	h := newHouse(t, store)
	for name, definition := range map[string]string{"type": "id BIGINT, n TEXT, note TEXT", "name": "id BIGINT, m BIGINT, note TEXT"} {
		Rows(t, h.s, fmt.Sprintf(`CREATE STREAM %[1]s FROM SCRIPTED WITH ("table" = 'orders');
			CREATE CDC TABLE %[1]s_table (%[2]s, PRIMARY KEY (id) NOT ENFORCED); ALTER CDC TABLE %[1]s_table ATTACH STREAM %[1]s;
			ALTER CDC TABLE %[1]s_table RESUME`, "bad_"+name, definition))
		UntilRow(t, h.s, fmt.Sprintf("SELECT state, last_error LIKE '%%does not match the source%%' FROM information_schema.cdc_ingests WHERE stream_name = 'bad_%s'", name), "error|t")
	}
	Rows(t, h.s, `CREATE STREAM none FROM SCRIPTED WITH ("table" = 'nothing'); CREATE CDC TABLE t (id BIGINT, PRIMARY KEY (id) NOT ENFORCED);
		ALTER CDC TABLE t ATTACH STREAM none; ALTER CDC TABLE t RESUME`)
	UntilRow(t, h.s, "SELECT state, last_error FROM information_schema.cdc_ingests WHERE stream_name = 'none'", `error|the source has no table "nothing"`)
}

func TestWrongStatements(t *testing.T) {
	store, _, _ := failing(t, func(errstore.Call) bool { return false })
	h := newHouse(t, store)
	Rows(t, h.s, "CREATE TABLE plain (id BIGINT)")
	for statement, want := range map[string][2]string{
		"ALTER CDC TABLE orders RESUM":                                                               {sqlerr.SyntaxError, "RESUME"},
		"ALTER CDC TABLE nothing RESUME":                                                             {sqlerr.UndefinedTable, "nothing"},
		"ALTER CDC TABLE plain RESUME":                                                               {sqlerr.WrongObjectType, "CDC"},
		"CREATE CDC TABLE t (id BIGINT, PRIMARY KEY (nr) NOT ENFORCED)":                              {sqlerr.UndefinedColumn, "nr"},
		"CREATE CDC TABLE t (id BIGINT, PRIMARY KEY (id, id) NOT ENFORCED)":                          {sqlerr.DuplicateColumn, "id"},
		"CREATE CDC TABLE t (id BIGINT, id TEXT, PRIMARY KEY (id) NOT ENFORCED)":                     {sqlerr.DuplicateColumn, "id"},
		"CREATE CDC TABLE t (id BIGINTT, PRIMARY KEY (id) NOT ENFORCED)":                             {sqlerr.UndefinedObject, "bigint"},
		"CREATE CDC TABLE t (id BIGINT, PRIMARY KEY (id) NOT ENFORCED) PRIMARY INDEX (x)":            {sqlerr.UndefinedColumn, "x"},
		"CREATE CDC TABLE t (id BIGINT, PRIMARY KEY (id) NOT ENFORCED) WITH (cascade_interval = '')": {sqlerr.InvalidParameterValue, "60 seconds"},
		"CREATE CDC TABLE t (id BIGINT, PRIMARY KEY (id) NOT ENFORCED) WITH (merge_modus = 'read')":  {sqlerr.InvalidParameterValue, "merge_mode"},
		"CREATE STREAM s FROM SCRIPTED":                                                              {sqlerr.InvalidParameterValue, "table"},
		"SET execution.cdc.append_max_read_ms = 0":                                                   {sqlerr.InvalidParameterValue, "1 or more"},
		"SET execution.cdc.retry_budget_min_window = 'soon'":                                         {sqlerr.InvalidParameterValue, "length of time"},
	} {
		Refuses(t, h.s, statement, want[0], want[1])
	}
}

// shortBudget lets three failures end an attachment.
const shortBudget = "SET execution.cdc.retry_budget_min_failures = 3; SET execution.cdc.retry_budget_min_window = '1 millisecond'"

func TestWritesThatKeepFailingEndTheAttachment(t *testing.T) {
	store, on, _ := failing(t, func(c errstore.Call) bool {
		return c.Op == errstore.OpCreate && strings.HasSuffix(c.Path, ".parquet")
	})
	h := newHouse(t, store)
	h.source.Commit(put(extension.Insert, 1, 1))
	Rows(t, h.s, shortBudget+";"+fmt.Sprintf(setUp, "1 hour"))
	h.caughtUp()
	h.source.Commit(put(extension.Insert, 2, 2))
	h.caughtUp()
	at := h.source.End()
	on.Store(true)
	h.source.Commit(put(extension.Insert, 3, 3))
	UntilRow(t, h.s, "SELECT state, has_worker, last_error LIKE '%no space left on device%' FROM information_schema.cdc_ingests", "error|f|t")
	Refuses(t, h.s, "ALTER CDC TABLE orders RESUME", sqlerr.ObjectNotInPrerequisite, "no space left on device")
	Expect(t, h.s, "SELECT count(*) FROM orders", fmt.Sprint(at))
	on.Store(false)
	Rows(t, h.s, "ALTER CDC TABLE orders DETACH STREAM; ALTER CDC TABLE orders ATTACH STREAM changes; ALTER CDC TABLE orders RESUME")
	h.caughtUp()
	h.same()
}

func TestCascadesThatKeepFailingEndTheAttachmentWithoutADrain(t *testing.T) {
	store, on, hits := failing(t, errstore.Matching("masks/", errstore.OpCreate))
	h := newHouse(t, store)
	for id := range int64(100) {
		h.source.Commit(put(extension.Insert, id, id))
	}
	Rows(t, h.s, shortBudget+";"+fmt.Sprintf(setUp, "20 milliseconds"))
	h.caughtUp()
	on.Store(true)
	h.source.Commit(put(extension.Update, 1, 2), put(extension.Delete, 2, 0))
	UntilRow(t, h.s, "SELECT state, has_worker, last_error LIKE '%staging maintenance%no space left on device%' FROM information_schema.cdc_ingests", "error|f|t")
	if n := hits.Load(); n != 3 {
		t.Errorf("%d attempts, want 3: applying is what failed, so there is no final drain", n)
	}
	UntilRow(t, h.s, "SELECT staging_tablets > 0 FROM information_schema.tables WHERE table_name = 'orders'", "t")
	h.same() // reads resolve what is staged
	on.Store(false)
	Rows(t, h.s, "ALTER CDC TABLE orders DETACH STREAM; ALTER CDC TABLE orders ATTACH STREAM changes; ALTER CDC TABLE orders RESUME")
	UntilRow(t, h.s, "SELECT staging_tablets FROM information_schema.tables WHERE table_name = 'orders'", "0")
	h.same()
}

func TestTheFinalDrainGivesUp(t *testing.T) {
	store, on, hits := failing(t, errstore.Matching("masks/", errstore.OpCreate))
	h := newHouse(t, store)
	for id := range int64(100) {
		h.source.Commit(put(extension.Insert, id, id))
	}
	Rows(t, h.s, shortBudget+";"+fmt.Sprintf(setUp, "1 hour"))
	h.caughtUp()
	h.source.Commit(put(extension.Update, 1, 2), put(extension.Delete, 2, 0))
	h.caughtUp()
	on.Store(true)
	h.database.SetFault(func(stage scripted.Stage) error {
		if stage == scripted.Reading {
			return extension.Permanent(sqlerr.New(sqlerr.DatatypeMismatch, "the source changed"))
		}
		return nil
	})
	UntilRow(t, h.s, "SELECT state, has_worker, last_error FROM information_schema.cdc_ingests", "error|f|the source changed")
	if n := hits.Load(); n != 3 {
		t.Errorf("%d attempts to drain, want those of the budget, 3", n)
	}
	on.Store(false)
	if err := h.engine.Close(); err != nil {
		t.Fatal(err)
	}
	h.open() // the drain does not resume after a restart
	Expect(t, h.s, "SELECT staging_tablets > 0 FROM information_schema.tables WHERE table_name = 'orders'", "t")
	h.same()
}

// TestSuspendLetsTheFinalDrainGoOn suspends a table in error whose drain is being retried: it goes on and ends its work.
func TestSuspendLetsTheFinalDrainGoOn(t *testing.T) {
	store, on, hits := failing(t, errstore.Matching("masks/", errstore.OpCreate))
	h := newHouse(t, store)
	for id := range int64(100) {
		h.source.Commit(put(extension.Insert, id, id))
	}
	Rows(t, h.s, fmt.Sprintf(setUp, "1 hour"))
	h.caughtUp()
	h.source.Commit(put(extension.Update, 1, 2), put(extension.Delete, 2, 0))
	h.caughtUp()
	on.Store(true)
	h.database.SetFault(func(stage scripted.Stage) error {
		if stage == scripted.Reading {
			return extension.Permanent(sqlerr.New(sqlerr.DatatypeMismatch, "the source changed"))
		}
		return nil
	})
	UntilRow(t, h.s, "SELECT state, last_error FROM information_schema.cdc_ingests", "error|the source changed")
	Until(t, "an attempt to drain", func() bool { return hits.Load() > 0 })
	Rows(t, h.s, "ALTER CDC TABLE orders SUSPEND")
	Expect(t, h.s, "SELECT state, has_worker FROM information_schema.cdc_ingests", "error|t")
	on.Store(false)
	UntilRow(t, h.s, "SELECT staging_tablets FROM information_schema.tables WHERE table_name = 'orders'", "0")
	UntilRow(t, h.s, "SELECT state, has_worker, last_error FROM information_schema.cdc_ingests", "error|f|the source changed")
	h.same()
}

// TestACascadeThatFailsShows has its failure in last_error until one succeeds.
func TestACascadeThatFailsShows(t *testing.T) {
	store, on, _ := failing(t, errstore.Matching("masks/", errstore.OpCreate))
	h := newHouse(t, store)
	h.source.Commit(put(extension.Insert, 1, 1), put(extension.Insert, 2, 2))
	Rows(t, h.s, fmt.Sprintf(setUp, "5 milliseconds"))
	h.caughtUp()
	on.Store(true)
	h.source.Commit(put(extension.Update, 1, 3))
	h.caughtUp()
	UntilRow(t, h.s, "SELECT state, phase, last_error LIKE 'cascade: %no space left on device%' FROM information_schema.cdc_ingests", "enabled|streaming|t")
	on.Store(false)
	UntilRow(t, h.s, "SELECT state, last_error FROM information_schema.cdc_ingests", "enabled|NULL")
	h.same()
}
