package engine_test

import (
	"strings"
	"sync"
	"testing"

	"github.com/tidemarkdb/tidemark/engine"
	"github.com/tidemarkdb/tidemark/objstore/crashstore"
	"github.com/tidemarkdb/tidemark/objstore/errstore"
	"github.com/tidemarkdb/tidemark/sqlerr"
)

const version = "SELECT version FROM information_schema.snapshot"

func TestTableChanges(t *testing.T) {
	_, s := open(t, engine.Options{})
	rows(t, s, "CREATE TABLE t (id BIGINT PRIMARY KEY, n INTEGER); INSERT INTO t VALUES (1, 1), (2, 2), (3, 3)") // versions 1 and 2
	rows(t, s, "UPDATE t SET n = n * 10 WHERE id = 1; DELETE FROM t WHERE id = 2")                               // 3 and 4
	rows(t, s, "INSERT INTO t VALUES (1, 7), (4, 4) ON CONFLICT (id) DO UPDATE SET n = excluded.n")              // 5
	expect(t, s, version, "5")
	const all = "SELECT id, n, _change_type, _commit_version FROM table_changes('t', 1) ORDER BY _commit_version, id, _change_type DESC"
	want := []string{"1|1|insert|2", "2|2|insert|2", "3|3|insert|2", "1|1|update_preimage|3", "1|10|update_postimage|3", "2|2|delete|4",
		"1|10|update_preimage|5", "1|7|update_postimage|5", "4|4|insert|5"}
	expect(t, s, all, want...)
	expect(t, s, "SELECT _change_type, n FROM table_changes('public.t', 2, 3)", "update_preimage|1", "update_postimage|10")
	expect(t, s, "SELECT count(*) FROM table_changes('t', 3, 3)", "0")
	expect(t, s, "SELECT count(*) FROM table_changes('t', 1, 1)", "0")

	rows(t, s, "UPDATE t SET n = n; VACUUM; CREATE TABLE other (a INTEGER); INSERT INTO other VALUES (1)")
	expect(t, s, "SELECT count(*) FROM table_changes('t', 5)", "0")
	rows(t, s, "ALTER TABLE t ADD COLUMN note TEXT DEFAULT 'none'; TRUNCATE t")
	expect(t, s, "SELECT id, note, _change_type FROM table_changes('t', 5) ORDER BY id", "1|none|delete", "3|none|delete", "4|none|delete")
	expect(t, s, "SELECT count(DISTINCT _commit_timestamp) FROM table_changes('t', 1) WHERE _commit_timestamp <= now()", "5")

	rows(t, s, "BEGIN; INSERT INTO t VALUES (9, 9)")
	expect(t, s, "SELECT count(*) FROM table_changes('t', 5) WHERE id = 9", "0")
	rows(t, s, "ROLLBACK")
}

func TestTableChangesByTime(t *testing.T) {
	_, s := open(t, engine.Options{})
	rows(t, s, "CREATE TABLE t (id BIGINT PRIMARY KEY, n INTEGER); INSERT INTO t VALUES (1, 1)")
	at := rows(t, s, "SELECT now()")[0]
	rows(t, s, "INSERT INTO t VALUES (2, 2)")
	then := rows(t, s, "SELECT now()")[0]
	rows(t, s, "INSERT INTO t VALUES (3, 3)")
	expect(t, s, "SELECT id FROM table_changes('t', TIMESTAMPTZ '"+at+"') ORDER BY id", "2", "3")
	expect(t, s, "SELECT id FROM table_changes('t', TIMESTAMPTZ '"+at+"', TIMESTAMPTZ '"+then+"')", "2")
}

// TestTableChangesWithoutAKey pairs no rows: what a statement replaces is deleted and inserted.
func TestTableChangesWithoutAKey(t *testing.T) {
	_, s := open(t, engine.Options{})
	rows(t, s, "CREATE TABLE t (id BIGINT, n DOUBLE PRECISION); INSERT INTO t VALUES (1, 1), (1, 1), (2, 'NaN'); UPDATE t SET n = 5 WHERE id = 2")
	expect(t, s, "SELECT id, n, _change_type FROM table_changes('t', 2) ORDER BY _change_type", "2|NaN|delete", "2|5|insert")
	expect(t, s, "SELECT count(*), sum(id) FROM table_changes('t', 1, 2)", "3|4")
}

func TestTableChangesRefuses(t *testing.T) {
	_, s := open(t, engine.Options{})
	rows(t, s, `CREATE TABLE t (id BIGINT, n INTEGER); CREATE VIEW v AS SELECT * FROM t; CREATE TABLE u ("_change_type" TEXT)`)
	for _, c := range []struct{ call, code, contains string }{
		{"table_changes('t', 3, 2)", sqlerr.InvalidParameterValue, "older state first"},
		{"table_changes('t', 1, 1000)", sqlerr.InvalidParameterValue, "does not exist yet"},
		{"table_changes('t', 0)", sqlerr.InvalidParameterValue, "versions count from 1"},
		{"table_changes('t', NULL::BIGINT)", sqlerr.NullNotAllowed, "a version or a time"},
		{"table_changes(NULL, 1)", sqlerr.NullNotAllowed, "name of the table"},
		{"table_changes('t', TIMESTAMPTZ '2001-01-01')", sqlerr.InvalidParameterValue, "older than the data root keeps"},
		{"table_changes('nowhere', 1)", sqlerr.UndefinedTable, "nowhere"},
		{"table_changes('t, u', 1)", sqlerr.InvalidName, "not the name of a table"},
		{"table_changes('v', 3)", sqlerr.WrongObjectType, "it is a view"},
		{"table_changes('u', 3)", sqlerr.DuplicateColumn, "rename the column"},
	} {
		refuses(t, s, "SELECT * FROM "+c.call, c.code, c.contains)
	}
}

// TestTableChangesReadsWhatDiffers changes a row of one of four tablets: no other is opened.
func TestTableChangesReadsWhatDiffers(t *testing.T) {
	store := errstore.Wrap(crashstore.New(1), nil) // no local files, which would be read past the store
	quiet := map[string]string{"execution.maintenance_delay": "1 hour"}
	e, s := open(t, engine.Options{Store: store, Settings: quiet})
	rows(t, s, "CREATE TABLE t (id BIGINT PRIMARY KEY, n INTEGER)")
	for _, id := range []string{"1", "2", "3", "4"} {
		rows(t, s, "INSERT INTO t VALUES ("+id+", 0)")
	}
	from := rows(t, s, version)[0]
	rows(t, s, "UPDATE t SET n = 1 WHERE id = 3")
	s.Close()
	if err := e.Close(); err != nil {
		t.Fatal(err)
	}
	var mu sync.Mutex
	opened := map[string]bool{}
	store.SetRule(func(c errstore.Call) errstore.Verdict {
		if strings.HasSuffix(c.Path, ".parquet") {
			mu.Lock()
			opened[c.Path] = true
			mu.Unlock()
		}
		return errstore.Verdict{}
	})
	_, s = open(t, engine.Options{Store: store, Settings: quiet})
	expect(t, s, "SELECT id, n, _change_type FROM table_changes('t', "+from+")", "3|0|update_preimage", "3|1|update_postimage")
	mu.Lock()
	defer mu.Unlock()
	if len(opened) != 2 {
		t.Errorf("%d tablets were opened, want the one that held the row and the one that holds it: %v", len(opened), opened)
	}
}

// TestTableChangesOfACDCTable follows a stream over cascades and vacuums, which change nothing.
func TestTableChangesOfACDCTable(t *testing.T) {
	_, s := open(t, engine.Options{Settings: fastIngest})
	rows(t, s, cdcSetup+"; ALTER CDC TABLE orders RESUME; CALL cdc_wait('orders', '5000')")
	from := rows(t, s, version)[0]
	before := rows(t, s, "SELECT count(*), sum(amount), count(DISTINCT status) FROM orders AT (VERSION => "+from+")")
	rows(t, s, "CALL cdc_wait('orders', '40000')")
	to := rows(t, s, version)[0]
	after := rows(t, s, "SELECT count(*), sum(amount), count(DISTINCT status) FROM orders AT (VERSION => "+to+")")
	changed := "FROM table_changes('orders', " + from + ", " + to + ")"
	expect(t, s, "SELECT count(*), sum(amount), count(DISTINCT status) FROM (SELECT * FROM orders AT (VERSION => "+from+`) o
		WHERE NOT EXISTS (SELECT 1 `+changed+` c WHERE c.id = o.id)
		UNION ALL SELECT * EXCLUDE (_change_type, _commit_version, _commit_timestamp) FROM (SELECT * `+changed+`
		  WHERE _change_type <> 'update_preimage' QUALIFY row_number() OVER (PARTITION BY id ORDER BY _commit_version DESC) = 1) c WHERE _change_type <> 'delete') all_rows`, after...)
	if strings.Join(before, "") == strings.Join(after, "") {
		t.Error("nothing changed")
	}
	if got := rows(t, s, "SELECT count(*) > 0, count(DISTINCT _commit_version) > 1 "+changed); got[0] != "t|t" {
		t.Errorf("changes, of several versions: %v", got)
	}
	rows(t, s, "ALTER CDC TABLE orders SUSPEND")
	settled := rows(t, s, version)[0]
	rows(t, s, "VACUUM")
	expect(t, s, "SELECT count(*) FROM table_changes('orders', "+settled+")", "0")
}
