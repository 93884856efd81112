package engine_test

import (
	"fmt"
	"strconv"
	"strings"
	"testing"

	"github.com/tidemarkdb/tidemark/engine"
	"github.com/tidemarkdb/tidemark/sqlerr"
)

// tablets returns the number of tablets of table t, and of rows stored in them.
func tablets(t *testing.T, s *engine.Session) (n, stored int) {
	t.Helper()
	got := rows(t, s, "SELECT count(*), coalesce(sum(rows), 0) FROM information_schema.tablets WHERE table_name = 't'")
	a, b, _ := strings.Cut(got[0], "|")
	n, _ = strconv.Atoi(a)
	stored, _ = strconv.Atoi(b)
	return n, stored
}

func TestManagedTablesAreMaintained(t *testing.T) {
	_, s := open(t, engine.Options{Settings: map[string]string{"execution.maintenance_delay": "20ms"}})
	rows(t, s, "CREATE TABLE t (id BIGINT PRIMARY KEY, n INTEGER)")
	for i := range 40 {
		rows(t, s, fmt.Sprintf("INSERT INTO t VALUES (%d, 0), (%d, 0)", 2*i, 2*i+1))
	}
	rows(t, s, "UPDATE t SET n = 1 WHERE id % 2 = 0")
	until(t, "small tablets to be merged and dead rows to leave", func() bool {
		n, stored := tablets(t, s)
		return n <= 8 && stored <= 80*100/79
	})
	expect(t, s, "SELECT count(*), sum(n), count(DISTINCT id) FROM t", "80|40|80")
}

func TestVacuum(t *testing.T) {
	e, s := open(t, engine.Options{Settings: map[string]string{"execution.maintenance_delay": "10m"}})
	rows(t, s, "CREATE TABLE t (id BIGINT PRIMARY KEY, n INTEGER); INSERT INTO t SELECT i, 0 FROM generate_series(1, 1000) AS g (i)")
	rows(t, s, "DELETE FROM t WHERE id > 500")
	if n, stored := tablets(t, s); n != 1 || stored != 1000 {
		t.Fatalf("%d tablets with %d rows before", n, stored)
	}
	refuses(t, s, "BEGIN; VACUUM t", sqlerr.ActiveTransaction, "transaction block")
	rows(t, s, "ROLLBACK; BEGIN; UPDATE t SET n = 1 WHERE id = 1")
	// What maintenance rewrites under an open transaction fails it, but never loses a change.
	other := session(t, e)
	rows(t, other, "VACUUM t")
	if n, stored := tablets(t, other); n != 1 || stored != 500 {
		t.Errorf("%d tablets with %d rows after VACUUM", n, stored)
	}
	refuses(t, s, "COMMIT", sqlerr.SerializationFailure, "rewritten meanwhile")
	expect(t, s, "SELECT count(*), sum(n) FROM t", "500|0")
	rows(t, s, "VACUUM; VACUUM ANALYZE t; ANALYZE")
}
