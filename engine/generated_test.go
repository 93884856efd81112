package engine_test

import (
	"testing"

	"github.com/tidemarkdb/tidemark/engine"
	"github.com/tidemarkdb/tidemark/sqlerr"
)

func TestGeneratedColumns(t *testing.T) {
	root := t.TempDir()
	e, s := open(t, engine.Options{Root: root})
	rows(t, s, "CREATE TABLE g (a INTEGER, b INTEGER GENERATED ALWAYS AS (a * 2) STORED PRIMARY KEY, c AS (a || 'x'), d BIGINT AS (a + 1) VIRTUAL CHECK (d < 100))")
	rows(t, s, "INSERT INTO g (a) VALUES (1), (2)")
	e.Close()
	_, s = open(t, engine.Options{Root: root})
	refuses(t, s, "INSERT INTO g VALUES (1, 2)", sqlerr.GeneratedAlways, `cannot insert a non-DEFAULT value into column "b"`)
	refuses(t, s, "INSERT INTO g (a) VALUES (1)", sqlerr.UniqueViolation, `"g_pkey"`)
	refuses(t, s, "UPDATE g SET a = 99", sqlerr.CheckViolation, `"g_d_check"`)
	refuses(t, s, "UPDATE g SET a = 5", sqlerr.UniqueViolation, `"g_pkey"`)
	refuses(t, s, "UPDATE g SET a = 5, d = 3", sqlerr.GeneratedAlways, `column "d" can only be updated to DEFAULT`)
	rows(t, s, "UPDATE g SET a = a + 10, b = DEFAULT; INSERT INTO g (a) VALUES (11) ON CONFLICT (b) DO UPDATE SET a = 50")
	rows(t, s, "MERGE INTO g USING (VALUES (12), (70)) AS v (x) ON g.a = v.x WHEN MATCHED THEN UPDATE SET a = 60 WHEN NOT MATCHED THEN INSERT (a) VALUES (v.x)")
	expect(t, s, "SELECT * FROM g ORDER BY a", "50|100|50x|51", "60|120|60x|61", "70|140|70x|71")
	refuses(t, s, "MERGE INTO g USING (VALUES (1)) AS v (x) ON false WHEN NOT MATCHED THEN INSERT (a, b) VALUES (1, 2)", sqlerr.GeneratedAlways, `"b"`)
	refuses(t, s, "ALTER TABLE g ALTER COLUMN a TYPE BIGINT", sqlerr.FeatureNotSupported, "used by a generated column")
	refuses(t, s, "ALTER TABLE g DROP COLUMN a", sqlerr.DependentObjects, "other objects depend on it")
	rows(t, s, "ALTER TABLE g RENAME COLUMN a TO n; ALTER TABLE g ADD COLUMN e INTEGER GENERATED ALWAYS AS (n % 7) STORED NOT NULL")
	expect(t, s, "SELECT n, e FROM g ORDER BY n", "50|1", "60|4", "70|0")
	rows(t, s, "ALTER TABLE g ALTER COLUMN e DROP EXPRESSION; UPDATE g SET e = 9 WHERE n = 50")
	refuses(t, s, "CREATE TABLE h (a INTEGER, b AS (a + 1), c AS (b + 1))", sqlerr.InvalidObjectDefinition, `generated column "b"`)
	refuses(t, s, "CREATE TABLE h (a INTEGER, b TIMESTAMPTZ AS (now()))", sqlerr.InvalidObjectDefinition, "not immutable")
	refuses(t, s, "CREATE TABLE h (a INTEGER, b DATE AS (a))", sqlerr.DatatypeMismatch, `column "b"`)
	refuses(t, s, "CREATE TABLE h (a INTEGER, b INTEGER DEFAULT 1 AS (a))", sqlerr.SyntaxError, "both default and generation expression")
}

func TestIdentityColumnsTakeNoValues(t *testing.T) {
	_, s := open(t, engine.Options{})
	rows(t, s, "CREATE TABLE t (id INTEGER GENERATED ALWAYS AS IDENTITY (START WITH 5), v TEXT)")
	expect(t, s, "INSERT INTO t (v) VALUES ('a') RETURNING id", "5")
	refuses(t, s, "INSERT INTO t VALUES (1, 'b')", sqlerr.GeneratedAlways, `cannot insert a non-DEFAULT value into column "id"`)
	refuses(t, s, "INSERT INTO t SELECT 1, 'b'", sqlerr.GeneratedAlways, `"id"`)
	refuses(t, s, "UPDATE t SET id = 7", sqlerr.GeneratedAlways, `column "id" can only be updated to DEFAULT`)
	refuses(t, s, "ALTER TABLE t ALTER COLUMN id SET DEFAULT 4", sqlerr.SyntaxError, "is an identity column")
	refuses(t, s, "ALTER TABLE t ALTER COLUMN id DROP NOT NULL", sqlerr.SyntaxError, "is an identity column")
	expect(t, s, "INSERT INTO t OVERRIDING SYSTEM VALUE VALUES (1, 'b') RETURNING id", "1")
	expect(t, s, "INSERT INTO t OVERRIDING USER VALUE VALUES (1, 'b') RETURNING id", "6")
	expect(t, s, "INSERT INTO t VALUES (DEFAULT, 'c') RETURNING id", "7")
}

func TestInsertOrReplace(t *testing.T) {
	_, s := open(t, engine.Options{})
	rows(t, s, "CREATE TABLE r (a INTEGER PRIMARY KEY, b INTEGER UNIQUE, c TEXT DEFAULT 'd'); INSERT INTO r VALUES (1, 10, 'x'), (2, 20, 'y'), (3, 30, 'z')")
	expect(t, s, "INSERT OR REPLACE INTO r VALUES (1, 20, 'new') RETURNING *", "1|20|new")
	expect(t, s, "SELECT * FROM r ORDER BY a", "1|20|new", "3|30|z")
	tag(t, s, "INSERT OR REPLACE INTO r (a, b) VALUES (3, 5), (3, 6), (4, 7)", "INSERT 0 2")
	expect(t, s, "SELECT * FROM r ORDER BY a", "1|20|new", "3|6|d", "4|7|d")
	tag(t, s, "INSERT OR IGNORE INTO r VALUES (3, 9, 'no'), (9, 7, 'no'), (5, 8, 'yes')", "INSERT 0 1")
	rows(t, s, "CREATE TABLE child (r INTEGER REFERENCES r); INSERT INTO child VALUES (4)")
	refuses(t, s, "INSERT OR REPLACE INTO r VALUES (8, 7, 'gone')", sqlerr.ForeignKeyViolation, `on table "child"`)
	rows(t, s, "INSERT OR REPLACE INTO r VALUES (4, 7, 'again')")
	expect(t, s, "SELECT c FROM r WHERE a = 4", "again")
}

func TestInsertByName(t *testing.T) {
	_, s := open(t, engine.Options{})
	rows(t, s, "CREATE TABLE t (a INTEGER, b TEXT DEFAULT 'd', c INTEGER)")
	rows(t, s, "INSERT INTO t BY NAME SELECT 3 AS c, 1 AS a; INSERT INTO t BY POSITION SELECT 2, 'x', 4")
	rows(t, s, "WITH q AS (SELECT 'w' AS b) INSERT INTO t BY NAME SELECT * FROM q")
	expect(t, s, "SELECT * FROM t ORDER BY a", "1|d|3", "2|x|4", "NULL|w|NULL")
	refuses(t, s, "INSERT INTO t BY NAME SELECT 1 AS z", sqlerr.UndefinedColumn, `column "z" of relation "t"`)
	refuses(t, s, "INSERT INTO t BY NAME SELECT 1 AS a, 2 AS a", sqlerr.DuplicateColumn, `"a"`)
	refuses(t, s, "INSERT INTO t BY NAME VALUES (1)", sqlerr.SyntaxError, "BY NAME needs a query")
}
