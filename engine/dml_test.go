package engine_test

import (
	"strings"
	"testing"

	"github.com/tidemarkdb/tidemark/engine"
	"github.com/tidemarkdb/tidemark/sqlerr"
)

// tag runs a statement and compares its command tag.
func tag(t *testing.T, s *engine.Session, query, want string) {
	t.Helper()
	r, err := s.Query(t.Context(), query)
	if err != nil {
		t.Fatalf("%s: %v", query, err)
	}
	defer r.Close()
	if r.Tag != want {
		t.Errorf("%s: tag %q, want %q", query, r.Tag, want)
	}
}

func TestUpdateAndDelete(t *testing.T) {
	_, s := open(t, engine.Options{})
	rows(t, s, "CREATE TABLE t (id BIGINT PRIMARY KEY, a INTEGER, b TEXT DEFAULT 'none')")
	tag(t, s, "INSERT INTO t SELECT i, i % 10, 'x' || i FROM generate_series(1, 1000) AS g (i)", "INSERT 0 1000")
	tag(t, s, "UPDATE t SET a = a + 100, b = DEFAULT WHERE id <= 10", "UPDATE 10")
	expect(t, s, "SELECT id, a, b FROM t WHERE id BETWEEN 9 AND 12 ORDER BY id", "9|109|none", "10|100|none", "11|1|x11", "12|2|x12")
	tag(t, s, "DELETE FROM t WHERE a = 5", "DELETE 99")
	expect(t, s, "SELECT count(*), count(DISTINCT id), sum(a) FROM t", "901|901|5005")
	expect(t, s, "UPDATE t AS x SET (a, b) = (x.a * 2, upper(b)) WHERE id = 12 RETURNING id, x.a, b || '!' AS c", "12|4|X12!")
	expect(t, s, "DELETE FROM t WHERE id = 12 RETURNING *", "12|4|X12")
	tag(t, s, "UPDATE t SET a = 1 WHERE false", "UPDATE 0")
	tag(t, s, "WITH few AS (SELECT id FROM t ORDER BY id LIMIT 3) DELETE FROM t WHERE id IN (SELECT id FROM few)", "DELETE 3")
	expect(t, s, "SELECT min(id) FROM t", "4")
	tag(t, s, "UPDATE t SET (a, b) = (SELECT max(o.a), min(o.b) FROM t o WHERE o.id < t.id) WHERE id IN (4, 6)", "UPDATE 2")
	expect(t, s, "SELECT id, a, b FROM t WHERE id <= 6 ORDER BY id", "4|NULL|NULL", "5|105|none", "6|105|none")
	tag(t, s, "DELETE FROM t", "DELETE 897")
	expect(t, s, "SELECT count(*) FROM t", "0")
	refuses(t, s, "UPDATE t SET nothing = 1", sqlerr.UndefinedColumn, `column "nothing" of relation "t" does not exist`)
	refuses(t, s, "UPDATE t SET a = 1, a = 2", sqlerr.SyntaxError, `multiple assignments to same column "a"`)
	refuses(t, s, "UPDATE t SET a = 'x' || 1", sqlerr.DatatypeMismatch, `column "a" is of type`)
	refuses(t, s, "DELETE FROM t WHERE ida = 1", sqlerr.UndefinedColumn, `did you mean "id"?`)
	refuses(t, s, "DELETE FROM t RETURNING count(*)", sqlerr.Grouping, "not allowed in RETURNING")
}

func TestExplainOfChanges(t *testing.T) {
	_, s := open(t, engine.Options{})
	rows(t, s, "CREATE TABLE t (id BIGINT PRIMARY KEY, a INTEGER)")
	for _, statement := range []string{
		"INSERT INTO t SELECT id + 1, a FROM t", "UPDATE t SET a = 1 WHERE id = 5", "DELETE FROM t WHERE id = 5",
		"MERGE INTO t USING (VALUES (1)) AS v (id) ON v.id = t.id WHEN MATCHED THEN DELETE",
	} {
		if got := strings.Join(rows(t, s, "EXPLAIN "+statement), "\n"); !strings.Contains(got, "Scan") {
			t.Errorf("EXPLAIN %s:\n%s", statement, got)
		}
	}
	refuses(t, s, "EXPLAIN ANALYZE DELETE FROM t", sqlerr.FeatureNotSupported, "with ANALYZE a query")
	refuses(t, s, "EXPLAIN TRUNCATE t", sqlerr.FeatureNotSupported, "EXPLAIN takes a query")
}

func TestUpdateFromAndDeleteUsing(t *testing.T) {
	_, s := open(t, engine.Options{})
	rows(t, s, `CREATE TABLE t (id BIGINT, v INTEGER); INSERT INTO t VALUES (1, 10), (2, 20), (3, 30), (4, 40);
		CREATE TABLE u (id BIGINT, w INTEGER); INSERT INTO u VALUES (1, 1), (2, 2), (2, 2), (9, 9)`)
	tag(t, s, "UPDATE t SET v = v + w FROM u WHERE t.id = u.id", "UPDATE 2") // a row that matches twice changes once
	expect(t, s, "SELECT * FROM t ORDER BY id", "1|11", "2|22", "3|30", "4|40")
	expect(t, s, "UPDATE t SET v = 0 FROM u WHERE t.id = u.id AND w = 1 RETURNING t.id, v, u.w", "1|0|1")
	expect(t, s, "DELETE FROM t USING u WHERE t.id = u.id AND w = 2 RETURNING t.id, w", "2|2")
	tag(t, s, "DELETE FROM t USING u WHERE t.id = u.id", "DELETE 1")
	expect(t, s, "SELECT * FROM t ORDER BY id", "3|30", "4|40")
	tag(t, s, "UPDATE t SET v = n FROM (SELECT id, row_number() OVER (ORDER BY id DESC) AS n FROM t) r WHERE r.id = t.id", "UPDATE 2")
	expect(t, s, "SELECT * FROM t ORDER BY id", "3|2", "4|1")
	refuses(t, s, "UPDATE t SET v = 1 FROM t WHERE t.id = 1", sqlerr.DuplicateAlias, "specified more than once")
}

func TestConstraints(t *testing.T) {
	_, s := open(t, engine.Options{})
	rows(t, s, "CREATE TABLE t (a BIGINT, b TEXT, c INTEGER NOT NULL DEFAULT 7, PRIMARY KEY (a, b))")
	rows(t, s, "INSERT INTO t VALUES (1, 'x'), (1, 'y')")
	refuses(t, s, "INSERT INTO t VALUES (2, 'x'), (1, 'y')", sqlerr.UniqueViolation, "Key (a, b)=(1, y) already exists.")
	refuses(t, s, "INSERT INTO t VALUES (2, 'x'), (3, 'y'), (2, 'x')", sqlerr.UniqueViolation, "Key (a, b)=(2, x) already exists.")
	refuses(t, s, "INSERT INTO t VALUES (2, NULL)", sqlerr.NotNullViolation, `null value in column "b" of relation "t"`)
	refuses(t, s, "INSERT INTO t VALUES (2, 'z', NULL)", sqlerr.NotNullViolation, `Failing row contains (2, z, null).`)
	refuses(t, s, "UPDATE t SET c = NULL", sqlerr.NotNullViolation, `null value in column "c"`)
	refuses(t, s, "UPDATE t SET b = 'x'", sqlerr.UniqueViolation, "Key (a, b)=(1, x) already exists.")
	rows(t, s, "UPDATE t SET a = a + 1") // onto keys that the statement frees
	rows(t, s, "INSERT INTO t (b, a) VALUES ('x', 1), ('x', 3)")
	rows(t, s, "UPDATE t SET a = a + 1")
	expect(t, s, "SELECT a, b, c FROM t ORDER BY a, b", "2|x|7", "3|x|7", "3|y|7", "4|x|7")
	rows(t, s, "DELETE FROM t WHERE a = 4; INSERT INTO t VALUES (4, 'x', 8)")
	expect(t, s, "SELECT c FROM t WHERE a = 4", "8")
	refuses(t, s, "INSERT INTO t VALUES (5, 'x', 1), (5, 'y', 2), (4, 'x', 3)", sqlerr.UniqueViolation, "Key (a, b)=(4, x)")
	expect(t, s, "SELECT count(*) FROM t", "4") // the whole statement failed
}

func TestOnConflict(t *testing.T) {
	_, s := open(t, engine.Options{})
	rows(t, s, "CREATE TABLE t (id BIGINT PRIMARY KEY, n INTEGER, s TEXT DEFAULT 'd'); INSERT INTO t VALUES (1, 10, 'one'), (2, 20, 'two')")
	tag(t, s, "INSERT INTO t VALUES (2, 0), (3, 30), (3, 31) ON CONFLICT DO NOTHING", "INSERT 0 1")
	expect(t, s, "SELECT * FROM t ORDER BY id", "1|10|one", "2|20|two", "3|30|d")
	expect(t, s, `INSERT INTO t AS old VALUES (1, 5, 'a'), (4, 40, 'b') ON CONFLICT (id)
		DO UPDATE SET n = old.n + excluded.n, s = old.s || excluded.s RETURNING id, n, s`, "4|40|b", "1|15|onea")
	tag(t, s, "INSERT INTO t VALUES (1, 1), (2, 1) ON CONFLICT (id) DO UPDATE SET n = excluded.n WHERE t.n > 15", "INSERT 0 1")
	expect(t, s, "SELECT id, n FROM t ORDER BY id", "1|15", "2|1", "3|30", "4|40")
	tag(t, s, "INSERT INTO t SELECT id, n FROM t ON CONFLICT (id) DO UPDATE SET id = t.id + 10", "INSERT 0 4")
	expect(t, s, "SELECT id, n FROM t ORDER BY id", "11|15", "12|1", "13|30", "14|40")
	refuses(t, s, "INSERT INTO t VALUES (11), (12) ON CONFLICT (id) DO UPDATE SET id = 13", sqlerr.UniqueViolation, "Key (id)=(13)")
	refuses(t, s, "INSERT INTO t VALUES (50), (50) ON CONFLICT (id) DO UPDATE SET n = 1", sqlerr.CardinalityViolation, "second time")
	refuses(t, s, "INSERT INTO t VALUES (1) ON CONFLICT (n) DO NOTHING", sqlerr.InvalidColumnReference, "PRIMARY KEY")
	refuses(t, s, "INSERT INTO t VALUES (1) ON CONFLICT DO UPDATE SET n = 1", sqlerr.SyntaxError, "ON CONFLICT (column_name)")
	p, err := s.Prepare(t.Context(), "INSERT INTO t VALUES ($1, $2) ON CONFLICT (id) DO UPDATE SET s = $3 RETURNING n, s")
	if err != nil {
		t.Fatal(err)
	}
	if len(p.Schema) != 2 || p.Schema[1].Name != "s" || len(p.Params) != 3 {
		t.Errorf("prepared: %v with parameters %v", p.Schema, p.Params)
	}
}

func TestMerge(t *testing.T) {
	_, s := open(t, engine.Options{})
	rows(t, s, `CREATE TABLE t (id BIGINT PRIMARY KEY, n INTEGER); INSERT INTO t VALUES (1, 10), (2, 20), (3, 30), (4, 40);
		CREATE TABLE u (id BIGINT, n INTEGER); INSERT INTO u VALUES (1, 1), (2, -1), (5, 5), (6, -6), (3, NULL)`)
	tag(t, s, `MERGE INTO t USING u ON t.id = u.id
		WHEN MATCHED AND u.n < 0 THEN DELETE
		WHEN MATCHED AND u.n IS NULL THEN DO NOTHING
		WHEN MATCHED THEN UPDATE SET n = t.n + u.n
		WHEN NOT MATCHED AND u.n > 0 THEN INSERT (n, id) VALUES (u.n * 100, u.id)
		WHEN NOT MATCHED BY SOURCE THEN UPDATE SET n = 0`, "MERGE 4")
	expect(t, s, "SELECT * FROM t ORDER BY id", "1|11", "3|30", "4|0", "5|500")
	expect(t, s, `MERGE INTO t AS target USING (VALUES (1, 7), (9, 9)) AS source (id, n) ON target.id = source.id
		WHEN MATCHED THEN DELETE WHEN NOT MATCHED THEN INSERT VALUES (source.id, DEFAULT) RETURNING target.id, target.n, source.n`,
		"1|11|7", "9|NULL|9")
	rows(t, s, "INSERT INTO u VALUES (3, 1), (3, 2)")
	refuses(t, s, "MERGE INTO t USING u ON t.id = u.id WHEN MATCHED THEN UPDATE SET n = u.n", sqlerr.CardinalityViolation, "second time")
	refuses(t, s, "MERGE INTO t USING u ON t.id = u.id WHEN NOT MATCHED THEN INSERT VALUES (4, 4)", sqlerr.UniqueViolation, "Key (id)=(4)")
	refuses(t, s, "MERGE INTO t USING u ON t.id = u.id WHEN NOT MATCHED THEN INSERT VALUES (t.id, 4)", sqlerr.UndefinedTable, "missing FROM-clause entry")
	expect(t, s, "SELECT * FROM t ORDER BY id", "3|30", "4|0", "5|500", "9|NULL")
}

func TestConcurrentWriters(t *testing.T) {
	e, a := open(t, engine.Options{})
	b := session(t, e)
	rows(t, a, "CREATE TABLE t (id BIGINT PRIMARY KEY, n INTEGER); INSERT INTO t SELECT i, 0 FROM generate_series(1, 100) AS g (i)")
	// Different rows of one tablet unite.
	rows(t, a, "BEGIN; UPDATE t SET n = 1 WHERE id = 1; DELETE FROM t WHERE id = 3; UPDATE t SET n = n + 1 WHERE id = 1")
	rows(t, b, "BEGIN; UPDATE t SET n = 5 WHERE id = 2; INSERT INTO t VALUES (200, 1); COMMIT")
	expect(t, a, "SELECT id, n FROM t WHERE id <= 3 OR id > 100 ORDER BY id", "1|2", "2|0")
	rows(t, a, "COMMIT")
	expect(t, a, "SELECT id, n FROM t WHERE id <= 3 OR id > 100 ORDER BY id", "1|2", "2|5", "200|1")
	// Of two writers of a row the first to commit wins.
	rows(t, a, "BEGIN; UPDATE t SET n = 10 WHERE id = 7")
	rows(t, b, "UPDATE t SET n = 20 WHERE id = 7")
	refuses(t, a, "COMMIT", sqlerr.SerializationFailure, "concurrent update")
	expect(t, a, "SELECT n FROM t WHERE id = 7", "20")
	rows(t, a, "BEGIN; DELETE FROM t")
	rows(t, b, "UPDATE t SET n = 20 WHERE id = 8")
	refuses(t, a, "COMMIT", sqlerr.SerializationFailure, "concurrent update")
	// And of two that insert a key.
	rows(t, a, "BEGIN; DELETE FROM t WHERE id = 50; INSERT INTO t VALUES (300, 1), (301, 1)")
	rows(t, b, "INSERT INTO t VALUES (301, 2)")
	refuses(t, a, "COMMIT", sqlerr.UniqueViolation, "Key (id)=(301)")
	rows(t, a, "BEGIN; INSERT INTO t VALUES (302, 1)")
	rows(t, b, "INSERT INTO t VALUES (303, 1)")
	rows(t, a, "INSERT INTO t VALUES (304, 1); COMMIT")
	expect(t, a, "SELECT count(*) FROM t WHERE id > 301", "3")
	rows(t, a, "BEGIN; INSERT INTO t VALUES (400, 1)")
	rows(t, b, "TRUNCATE t")
	rows(t, a, "COMMIT")
	expect(t, a, "SELECT * FROM t", "400|1")
	rows(t, a, "BEGIN; TRUNCATE t; INSERT INTO t VALUES (400, 2)")
	expect(t, a, "SELECT * FROM t", "400|2")
	rows(t, a, "COMMIT")
	expect(t, b, "SELECT * FROM t", "400|2")
}
