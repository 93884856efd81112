package engine_test

import (
	"testing"

	"github.com/tidemarkdb/tidemark/engine"
	"github.com/tidemarkdb/tidemark/sqlerr"
)

func TestAlterColumns(t *testing.T) {
	root := t.TempDir()
	e, s := open(t, engine.Options{Root: root})
	rows(t, s, "CREATE TABLE t (id BIGINT PRIMARY KEY, a INTEGER); INSERT INTO t VALUES (1, 10), (2, 20)")
	rows(t, s, "ALTER TABLE t ADD COLUMN b TEXT, ADD COLUMN c NUMERIC(8, 2) NOT NULL DEFAULT 1.5, ADD d TEXT DEFAULT 'it''s'")
	rows(t, s, "INSERT INTO t (id, a, c) VALUES (3, 30, 9)")
	expect(t, s, "SELECT * FROM t ORDER BY id", "1|10|NULL|1.50|it's", "2|20|NULL|1.50|it's", "3|30|NULL|9.00|it's")
	// Predicates over rows written before the column was there.
	expect(t, s, "SELECT id FROM t WHERE c = 1.5 ORDER BY id", "1", "2")
	expect(t, s, "SELECT id FROM t WHERE c > 2", "3")
	expect(t, s, "SELECT id FROM t WHERE c IN (9, 1.5) AND d = 'it''s' AND b IS NULL ORDER BY id", "1", "2", "3")
	expect(t, s, "SELECT id FROM t WHERE d LIKE 'it%' AND id < 3 AND length(d) = 4 ORDER BY id", "1", "2")
	expect(t, s, "SELECT id FROM t WHERE d <> 'x' AND d IS NOT NULL AND c BETWEEN 1 AND 2 ORDER BY id", "1", "2")
	expect(t, s, "SELECT count(*) FROM t WHERE c IS NULL OR d = 'no'", "0")
	expect(t, s, "SELECT count(*) FROM t x JOIN (VALUES (1.5)) AS v (c) ON v.c = x.c", "2")
	rows(t, s, "ALTER TABLE t ALTER c SET DEFAULT 2, ALTER d DROP DEFAULT; INSERT INTO t (id) VALUES (4); UPDATE t SET b = 'x' WHERE id = 2")
	expect(t, s, "SELECT id, a, b, c, d FROM t WHERE id IN (2, 4) ORDER BY id", "2|20|x|1.50|it's", "4|NULL|NULL|2.00|NULL")
	rows(t, s, "ALTER TABLE t RENAME COLUMN b TO note; ALTER TABLE t DROP COLUMN a; ALTER TABLE t ADD COLUMN a TEXT")
	expect(t, s, "SELECT * FROM t WHERE id = 1", "1|NULL|1.50|it's|NULL") // not the values of the column dropped
	refuses(t, s, "ALTER TABLE t ALTER note SET NOT NULL", sqlerr.NotNullViolation, "contains null values")
	rows(t, s, "UPDATE t SET note = 'y' WHERE note IS NULL; ALTER TABLE t ALTER note SET NOT NULL")
	refuses(t, s, "INSERT INTO t (id) VALUES (9)", sqlerr.NotNullViolation, `"note"`)
	rows(t, s, "ALTER TABLE t ALTER note DROP NOT NULL; INSERT INTO t (id) VALUES (9)")
	refuses(t, s, "ALTER TABLE t ADD COLUMN n INTEGER NOT NULL", sqlerr.NotNullViolation, "contains null values")
	refuses(t, s, "ALTER TABLE t ADD COLUMN note TEXT", sqlerr.DuplicateColumn, "note")
	rows(t, s, "ALTER TABLE t ADD COLUMN IF NOT EXISTS note TEXT, DROP COLUMN IF EXISTS nothing")
	refuses(t, s, "ALTER TABLE t DROP COLUMN nothing", sqlerr.UndefinedColumn, `column "nothing" of relation "t"`)
	rows(t, s, "BEGIN; ALTER TABLE t DROP COLUMN id; INSERT INTO t (d) VALUES (1), (1); ROLLBACK")
	refuses(t, s, "ALTER TABLE t ALTER c SET DEFAULT 'x'", sqlerr.InvalidText, "invalid input syntax")
	refuses(t, s, "ALTER TABLE t ADD x INTEGER, DROP COLUMN nothing", sqlerr.UndefinedColumn, "nothing")
	refuses(t, s, "SELECT x FROM t", sqlerr.UndefinedColumn, "x") // the statement that failed added nothing
	e.Close()
	_, s = open(t, engine.Options{Root: root})
	expect(t, s, "SELECT * FROM t ORDER BY id", "1|y|1.50|it's|NULL", "2|x|1.50|it's|NULL", "3|y|9.00|it's|NULL", "4|y|2.00|NULL|NULL", "9|NULL|2.00|NULL|NULL")
}

func TestAddColumnWithVolatileDefault(t *testing.T) {
	_, s := open(t, engine.Options{})
	rows(t, s, "CREATE TABLE t (id BIGINT); INSERT INTO t SELECT i FROM generate_series(1, 200) AS g (i)")
	rows(t, s, "ALTER TABLE t ADD COLUMN r DOUBLE PRECISION NOT NULL DEFAULT random()")
	if got := rows(t, s, "SELECT count(DISTINCT r) > 190, count(r), count(*) FROM t"); got[0] != "t|200|200" {
		t.Errorf("got %v: a volatile default is computed for every row", got)
	}
}

func TestAlterType(t *testing.T) {
	_, s := open(t, engine.Options{})
	rows(t, s, "CREATE TABLE t (id INTEGER PRIMARY KEY, a INTEGER NOT NULL DEFAULT 1, b TEXT) PRIMARY INDEX (a)")
	rows(t, s, "INSERT INTO t SELECT i, i % 5, 'n' || i FROM generate_series(1, 100) AS g (i); DELETE FROM t WHERE id > 50; UPDATE t SET b = '7' WHERE id = 7")
	rows(t, s, "ALTER TABLE t ALTER COLUMN a TYPE BIGINT, ALTER b TYPE INTEGER USING CASE WHEN b = '7' THEN 7 ELSE length(b) END")
	expect(t, s, "DESCRIBE t", "id|integer|NO|KEY", "a|bigint|NO|", "b|integer|YES|")
	rows(t, s, "CREATE TABLE keyed_later (a INTEGER NOT NULL); ALTER TABLE keyed_later ADD PRIMARY KEY (a)")
	expect(t, s, "DESCRIBE keyed_later", "a|integer|NO|KEY")
	expect(t, s, "SELECT count(*), sum(a), sum(b), max(b) FROM t", "50|100|146|7")
	rows(t, s, "INSERT INTO t (id, a, b) VALUES (1000, 5000000000, 1)")
	expect(t, s, "SELECT b FROM t WHERE a = 5000000000", "1")
	refuses(t, s, "ALTER TABLE t ALTER a TYPE INTEGER", sqlerr.NumericOutOfRange, "out of range")
	rows(t, s, "ALTER TABLE t ALTER id TYPE BIGINT")
	refuses(t, s, "INSERT INTO t VALUES (1, 1)", sqlerr.UniqueViolation, `"t_pkey"`)
	refuses(t, s, "INSERT INTO t VALUES (2000, NULL)", sqlerr.NotNullViolation, `"a"`)
	rows(t, s, "BEGIN; ALTER TABLE t ADD COLUMN c TEXT DEFAULT 'c'; UPDATE t SET c = 'd' WHERE id = 1; ALTER TABLE t RENAME TO u; ROLLBACK")
	expect(t, s, "SELECT count(*) FROM t", "51")
	rows(t, s, "BEGIN; ALTER TABLE t ADD COLUMN c TEXT DEFAULT 'c'; UPDATE t SET c = 'd' WHERE id = 1; ALTER TABLE t RENAME TO u; COMMIT")
	expect(t, s, "SELECT c, count(*) FROM u GROUP BY c ORDER BY c", "c|50", "d|1")
}

func TestAlterIsFenced(t *testing.T) {
	e, a := open(t, engine.Options{})
	b := session(t, e)
	rows(t, a, "CREATE TABLE t (id BIGINT, n INTEGER); INSERT INTO t VALUES (1, 1)")
	rows(t, a, "BEGIN; ALTER TABLE t ALTER n SET NOT NULL")
	rows(t, b, "INSERT INTO t VALUES (2, NULL)")
	refuses(t, a, "COMMIT", sqlerr.SerializationFailure, "added or changed")
	rows(t, a, "BEGIN; ALTER TABLE t ALTER n TYPE TEXT")
	rows(t, b, "INSERT INTO t VALUES (3, 3)")
	refuses(t, a, "COMMIT", sqlerr.SerializationFailure, "added or changed")
	rows(t, a, "BEGIN; UPDATE t SET n = 5")
	rows(t, b, "ALTER TABLE t ADD COLUMN m INTEGER")
	refuses(t, a, "COMMIT", sqlerr.SerializationFailure, "columns")
	expect(t, a, "SELECT * FROM t ORDER BY id", "1|1|NULL", "2|NULL|NULL", "3|3|NULL")
}

func TestRenames(t *testing.T) {
	_, s := open(t, engine.Options{})
	rows(t, s, "CREATE SCHEMA one; CREATE TABLE one.t (id BIGINT); INSERT INTO one.t VALUES (1); CREATE VIEW one.v AS SELECT 5 AS five")
	rows(t, s, "ALTER VIEW one.v RENAME TO w; ALTER SCHEMA one RENAME TO two")
	expect(t, s, "SELECT id, five FROM two.t, two.w", "1|5")
	rows(t, s, "ALTER TABLE two.t SET SCHEMA public; ALTER TABLE t RENAME TO moved; ALTER VIEW two.w SET SCHEMA public")
	expect(t, s, "SELECT id, five FROM moved, w", "1|5")
	rows(t, s, "ALTER TABLE IF EXISTS nothing RENAME TO x; ALTER TABLE moved SET PRIMARY INDEX (id)")
	rows(t, s, "ALTER TABLE w RENAME TO x; ALTER TABLE x RENAME TO w")
	refuses(t, s, "ALTER VIEW moved RENAME TO x", sqlerr.WrongObjectType, "not a view")
	refuses(t, s, "SELECT * FROM one.t", sqlerr.InvalidSchema, "one")
}
