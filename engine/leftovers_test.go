package engine_test

import (
	"strings"
	"testing"

	"github.com/tidemarkdb/tidemark/catalog"
	"github.com/tidemarkdb/tidemark/engine"
	"github.com/tidemarkdb/tidemark/objstore"
	"github.com/tidemarkdb/tidemark/sqlerr"
	"github.com/tidemarkdb/tidemark/tablestore"
)

// tidy fails when the root has files that no version names, or lacks some that one does.
func tidy(t *testing.T, root, when string) {
	t.Helper()
	store, err := objstore.OpenLocal(root)
	if err != nil {
		t.Fatal(err)
	}
	report, err := catalog.Check(t.Context(), store, catalog.CheckOptions{Verify: tablestore.Verifier(store)})
	if err != nil || len(report.Problems) > 0 || len(report.Orphans) > 0 {
		t.Errorf("%s: problems %v, files left behind %v, %v", when, report.Problems, report.Orphans, err)
	}
}

// TestWorkThatIsNotCommittedLeavesNoFiles fails statements and rolls transactions back, whole and in part.
func TestWorkThatIsNotCommittedLeavesNoFiles(t *testing.T) {
	root := t.TempDir()
	e, s := open(t, engine.Options{Root: root})
	files := func() int {
		store, err := objstore.OpenLocal(root)
		if err != nil {
			t.Fatal(err)
		}
		n := 0
		for _, err := range store.List(t.Context(), "tables/", "") {
			if err != nil {
				t.Fatal(err)
			}
			n++
		}
		return n
	}
	rows(t, s, "CREATE TABLE t (id BIGINT PRIMARY KEY, n BIGINT); INSERT INTO t SELECT i, i FROM generate_series(1, 1000) AS g (i)")
	before := files()

	// A statement that fails after it has written its first million rows.
	_, err := tryRows(t.Context(), s, "CREATE TABLE u AS SELECT 100000 / (1200000 - i) AS n FROM generate_series(1, 1200000) AS g (i)")
	if sqlerr.Code(err) != sqlerr.DivisionByZero {
		t.Fatal(err)
	}
	tidy(t, root, "a failed statement")
	if n := files(); n != before {
		t.Errorf("%d files, %d before", n, before)
	}

	rows(t, s, "BEGIN; INSERT INTO t SELECT i, i FROM generate_series(2001, 3000) AS g (i); UPDATE t SET n = 0 WHERE id = 2500")
	if n := files(); n <= before {
		t.Fatalf("%d files amid the transaction, %d before", n, before)
	}
	r, err := s.Query(t.Context(), "SELECT id FROM t WHERE id > 2000")
	if err != nil {
		t.Fatal(err)
	}
	rows(t, s, "ROLLBACK")
	got := 0
	for { // a result of the transaction is read to its end
		b, err := r.Next(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		if b == nil {
			break
		}
		got += b.N
	}
	if got != 1000 {
		t.Errorf("the result had %d rows, want 1000", got)
	}
	r.Close()
	tidy(t, root, "ROLLBACK")
	if n := files(); n != before {
		t.Errorf("%d files after ROLLBACK, %d before", n, before)
	}

	rows(t, s, `BEGIN; INSERT INTO t VALUES (5001, 1); SAVEPOINT a; INSERT INTO t VALUES (5002, 2); DELETE FROM t WHERE id < 10;
		ROLLBACK TO a; INSERT INTO t VALUES (5003, 3); COMMIT`)
	tidy(t, root, "ROLLBACK TO")
	expect(t, s, "SELECT count(*), max(id) FROM t", "1002|5003")

	rows(t, s, "BEGIN; INSERT INTO t VALUES (6001, 1)")
	if _, err := tryRows(t.Context(), s, "SELECT 1 / (id - 6001) FROM t"); err == nil { // met while the result is read
		t.Fatal("no error")
	}
	rows(t, s, "COMMIT") // of a failed transaction: a rollback
	tidy(t, root, "a failed transaction")

	// Two masks of one tablet are united by who comes second; a conflict ends the other.
	other := session(t, e)
	rows(t, s, "BEGIN; DELETE FROM t WHERE id = 11")
	rows(t, other, "BEGIN; DELETE FROM t WHERE id = 12")
	rows(t, s, "COMMIT")
	rows(t, other, "COMMIT")
	tidy(t, root, "masks united")
	rows(t, s, "BEGIN; UPDATE t SET n = 1 WHERE id = 13")
	rows(t, other, "BEGIN; UPDATE t SET n = 2 WHERE id = 13; INSERT INTO t VALUES (7000, 0)")
	rows(t, s, "COMMIT")
	if _, err := tryRows(t.Context(), other, "COMMIT"); sqlerr.Code(err) != sqlerr.SerializationFailure {
		t.Fatal(err)
	}
	tidy(t, root, "a conflict")
	expect(t, s, "SELECT count(*), sum(n) FILTER (WHERE id = 13) FROM t", "1000|1")

	rows(t, s, "ALTER TABLE t ADD COLUMN note TEXT; UPDATE t SET note = 'x' || id")
	if _, err := tryRows(t.Context(), s, "ALTER TABLE t ALTER COLUMN note TYPE BIGINT USING note::BIGINT"); err == nil {
		t.Fatal("no error")
	}
	tidy(t, root, "a failed ALTER")
	rows(t, other, "BEGIN; INSERT INTO t (id) VALUES (8000)")
	other.Close()
	tidy(t, root, "a session that was closed")
	if got := strings.Join(rows(t, s, "SELECT count(*) FROM t"), " "); got != "1000" {
		t.Errorf("%s rows", got)
	}
}
