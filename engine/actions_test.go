package engine_test

import (
	"testing"

	"github.com/tidemarkdb/tidemark/engine"
	"github.com/tidemarkdb/tidemark/sqlerr"
)

func TestForeignKeysAct(t *testing.T) {
	root := t.TempDir()
	e, s := open(t, engine.Options{Root: root})
	rows(t, s, "CREATE TABLE p (id INTEGER PRIMARY KEY, u INTEGER UNIQUE); CREATE TABLE c (id INTEGER PRIMARY KEY, p INTEGER REFERENCES p ON DELETE CASCADE ON UPDATE CASCADE)")
	rows(t, s, "CREATE TABLE g (c INTEGER REFERENCES c ON DELETE SET NULL, d INTEGER DEFAULT 1 REFERENCES p ON DELETE SET DEFAULT)")
	rows(t, s, "INSERT INTO p VALUES (1, 10), (2, 20), (3, 30); INSERT INTO c VALUES (11, 1), (12, 2), (13, 2); INSERT INTO g VALUES (11, 1), (12, 2), (13, 3)")
	e.Close()
	_, s = open(t, engine.Options{Root: root})
	tag(t, s, "DELETE FROM p WHERE id = 2", "DELETE 1")
	expect(t, s, "SELECT * FROM c", "11|1")
	expect(t, s, "SELECT * FROM g ORDER BY d, c", "11|1", "NULL|1", "NULL|3")
	refuses(t, s, "DELETE FROM p", sqlerr.ForeignKeyViolation, `"g_d_fkey"`)
	expect(t, s, "SELECT count(*) FROM c", "1")
	refuses(t, s, "UPDATE p SET id = id + 10", sqlerr.ForeignKeyViolation, `"g_d_fkey"`)
	rows(t, s, "DELETE FROM g; UPDATE p SET id = id + 1")
	expect(t, s, "SELECT * FROM c", "11|2")
	tag(t, s, "MERGE INTO p USING (VALUES (2)) AS v (x) ON p.id = v.x WHEN MATCHED THEN DELETE", "MERGE 1")
	expect(t, s, "SELECT count(*) FROM c", "0")
}

// A row that comes to refer to a key while a transaction takes the key away must not be left behind.
func TestActionsMissNoRow(t *testing.T) {
	e, a := open(t, engine.Options{})
	b := session(t, e)
	rows(t, a, "CREATE TABLE p (id INTEGER PRIMARY KEY); CREATE TABLE c (p INTEGER REFERENCES p ON DELETE CASCADE); INSERT INTO p VALUES (1), (2); INSERT INTO c VALUES (1)")
	rows(t, a, "BEGIN; DELETE FROM p WHERE id = 1")
	rows(t, b, "INSERT INTO c VALUES (1)")
	refuses(t, a, "COMMIT", sqlerr.SerializationFailure, "")
	rows(t, a, "DELETE FROM p WHERE id = 1")
	expect(t, a, "SELECT count(*) FROM c", "0")
}

func TestKeysComeAndGo(t *testing.T) {
	root := t.TempDir()
	e, s := open(t, engine.Options{Root: root})
	rows(t, s, "CREATE TABLE t (a INTEGER PRIMARY KEY, b INTEGER); CREATE TABLE r (a INTEGER REFERENCES t); INSERT INTO t VALUES (1, 1), (2, 2)")
	refuses(t, s, "ALTER TABLE t DROP CONSTRAINT t_pkey", sqlerr.DependentObjects, "cannot drop constraint t_pkey on table t")
	rows(t, s, "ALTER TABLE t DROP CONSTRAINT t_pkey CASCADE; INSERT INTO t VALUES (1, 3); INSERT INTO r VALUES (9)")
	e.Close()
	_, s = open(t, engine.Options{Root: root})
	expect(t, s, "SELECT * FROM t ORDER BY a, b", "1|1", "1|3", "2|2")
	refuses(t, s, "INSERT INTO t VALUES (NULL, 1)", sqlerr.NotNullViolation, `"a"`)
	rows(t, s, "UPDATE t SET a = 7 WHERE b = 3; ALTER TABLE t ADD PRIMARY KEY (a); VACUUM t")
	refuses(t, s, "INSERT INTO t VALUES (7, 1)", sqlerr.UniqueViolation, `"t_pkey"`)
	rows(t, s, "CREATE TABLE u (a INTEGER PRIMARY KEY, b TEXT); INSERT INTO u VALUES (1, 'x'); ALTER TABLE u ALTER COLUMN a TYPE TEXT")
	refuses(t, s, "INSERT INTO u VALUES ('1', 'y')", sqlerr.UniqueViolation, `"u_pkey"`)
	rows(t, s, "ALTER TABLE u DROP COLUMN a; INSERT INTO u VALUES ('x')")
	expect(t, s, "SELECT count(*) FROM u", "2")
	expect(t, s, "SELECT count(*) FROM information_schema.table_constraints WHERE table_name = 'u'", "0")
}

func TestViewsHoldTheirTables(t *testing.T) {
	_, s := open(t, engine.Options{})
	rows(t, s, "CREATE TABLE t (a INTEGER, b INTEGER); CREATE VIEW v AS SELECT * FROM t; CREATE VIEW w AS SELECT a + 1 AS n FROM v; CREATE VIEW other AS WITH t AS (SELECT 1 AS a) SELECT a FROM t")
	refuses(t, s, "DROP TABLE t", sqlerr.DependentObjects, "cannot drop table t because other objects depend on it")
	refuses(t, s, "DROP VIEW v", sqlerr.DependentObjects, "cannot drop view v")
	refuses(t, s, "ALTER TABLE t DROP COLUMN b", sqlerr.DependentObjects, "cannot drop column b of table t")
	rows(t, s, "ALTER TABLE t ADD COLUMN c INTEGER; INSERT INTO t VALUES (1, 2, 3)")
	expect(t, s, "SELECT * FROM v", "1|2")
	rows(t, s, "ALTER TABLE t DROP COLUMN b CASCADE")
	refuses(t, s, "SELECT * FROM v", sqlerr.UndefinedTable, `"v"`)
	rows(t, s, "CREATE OR REPLACE VIEW w AS SELECT a FROM t; DROP TABLE t CASCADE")
	refuses(t, s, "SELECT * FROM w", sqlerr.UndefinedTable, `"w"`)
	expect(t, s, "SELECT * FROM other", "1")
}

func TestCreateTableLike(t *testing.T) {
	_, s := open(t, engine.Options{})
	rows(t, s, "CREATE TYPE mood AS ENUM ('sad', 'ok'); CREATE TABLE p (id INTEGER GENERATED ALWAYS AS IDENTITY PRIMARY KEY, n TEXT NOT NULL DEFAULT 'x', k TINYINT CONSTRAINT pos CHECK (k > 0), m mood, l TEXT[], d NUMERIC(6, 2), g INTEGER GENERATED ALWAYS AS (k * 2) STORED)")
	rows(t, s, "CREATE TABLE bare (first INTEGER, LIKE p, last TEXT)")
	expect(t, s, "SELECT column_name, data_type, is_nullable FROM information_schema.columns WHERE table_name = 'bare' ORDER BY ordinal_position",
		"first|integer|YES", "id|integer|NO", "n|text|NO", "k|smallint|YES", "m|USER-DEFINED|YES", "l|ARRAY|YES", "d|numeric|YES", "g|integer|YES", "last|text|YES")
	refuses(t, s, "INSERT INTO bare (id) VALUES (1)", sqlerr.NotNullViolation, `"n"`)
	refuses(t, s, "INSERT INTO bare (id, n, k) VALUES (1, 'a', 200)", sqlerr.NumericOutOfRange, "")
	rows(t, s, "INSERT INTO bare (id, n, k, g) VALUES (1, 'a', -1, 7)")
	rows(t, s, "CREATE TABLE whole (LIKE p INCLUDING ALL)")
	expect(t, s, "INSERT INTO whole (k, m) VALUES (3, 'ok') RETURNING id, n, g", "1|x|6")
	refuses(t, s, "INSERT INTO whole (k) VALUES (-1)", sqlerr.CheckViolation, `"pos"`)
	refuses(t, s, "INSERT INTO whole (id, k) OVERRIDING SYSTEM VALUE VALUES (1, 4)", sqlerr.UniqueViolation, `"whole_pkey"`)
	rows(t, s, "CREATE TABLE part (LIKE p INCLUDING ALL EXCLUDING CONSTRAINTS EXCLUDING IDENTITY); INSERT INTO part (id, k) VALUES (5, -1)")
	refuses(t, s, "CREATE TABLE x (LIKE missing)", sqlerr.UndefinedTable, `"missing"`)
}

func TestWithThatChangesData(t *testing.T) {
	e, s := open(t, engine.Options{})
	rows(t, s, "CREATE TABLE t (a INTEGER PRIMARY KEY, b INTEGER); CREATE TABLE log (a INTEGER, what TEXT)")
	expect(t, s, "WITH x AS (INSERT INTO t VALUES (1, 2), (3, 4) RETURNING a) SELECT sum(a), (SELECT count(*) FROM t) FROM x", "4|0")
	rows(t, s, "WITH d AS (DELETE FROM t WHERE a = 1 RETURNING *) INSERT INTO log SELECT a, 'gone' FROM d")
	expect(t, s, "WITH u AS (UPDATE t SET b = b + 1 RETURNING a, b), i AS (INSERT INTO log SELECT a, 'up' FROM u RETURNING what) SELECT * FROM u, i", "3|5|up")
	expect(t, s, "WITH d AS (DELETE FROM t RETURNING a) INSERT INTO t SELECT a, 9 FROM d RETURNING *", "3|9")
	refuses(t, s, "WITH i AS (INSERT INTO log VALUES (7, 'lost')) INSERT INTO t VALUES (3, 3)", sqlerr.UniqueViolation, `"t_pkey"`)
	expect(t, s, "SELECT * FROM log ORDER BY a", "1|gone", "3|up")
	refuses(t, s, "CREATE VIEW v AS WITH d AS (DELETE FROM t RETURNING a) SELECT a FROM d", sqlerr.FeatureNotSupported, "not at the top level")
	rows(t, s, "PREPARE p AS WITH d AS (DELETE FROM t WHERE a = $1 RETURNING b) SELECT b + $2 FROM d")
	expect(t, s, "EXECUTE p (3, 10)", "19")
	reader, err := e.NewSession(engine.SessionOptions{ReadOnly: true})
	if err != nil {
		t.Fatal(err)
	}
	defer reader.Close()
	refuses(t, reader, "WITH d AS (DELETE FROM log RETURNING a) SELECT a FROM d", sqlerr.InsufficientPrivilege, "reader")
}
