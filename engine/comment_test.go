package engine_test

import (
	"testing"

	"github.com/tidemarkdb/tidemark/engine"
	"github.com/tidemarkdb/tidemark/sqlerr"
)

func TestCommentsAreKept(t *testing.T) {
	root := t.TempDir()
	e, s := open(t, engine.Options{Root: root})
	rows(t, s, "CREATE TABLE t (a INTEGER, b TEXT); CREATE VIEW v AS SELECT a FROM t; COMMENT ON TABLE t IS 'all of it'; COMMENT ON COLUMN t.b IS 'it''s b'; COMMENT ON VIEW v IS 'some'")
	e.Close()
	_, s = open(t, engine.Options{Root: root})
	expect(t, s, "SELECT obj_description('t'::regclass, 'pg_class'), col_description('t'::regclass, 2), obj_description('v'::regclass)", "all of it|it's b|some")
	expect(t, s, "SELECT objsubid, description FROM pg_description WHERE objoid = 't'::regclass ORDER BY 1", "0|all of it", "2|it's b")
	rows(t, s, "CREATE TABLE u (LIKE t INCLUDING COMMENTS); ALTER TABLE t RENAME COLUMN b TO c; ALTER TABLE t ADD COLUMN d INTEGER; COMMENT ON TABLE t IS NULL")
	expect(t, s, "SELECT obj_description('t'::regclass), col_description('t'::regclass, 2), col_description('t'::regclass, 1), col_description('u'::regclass, 2)", "NULL|it's b|NULL|it's b")
	refuses(t, s, "COMMENT ON TABLE v IS 'x'", sqlerr.WrongObjectType, `"v" is not a table`)
	refuses(t, s, "COMMENT ON COLUMN t.z IS 'x'", sqlerr.UndefinedColumn, `"z"`)
	refuses(t, s, "COMMENT ON TABLE missing IS 'x'", sqlerr.UndefinedTable, `"missing"`)
}

func TestCommentsOnOtherObjects(t *testing.T) {
	root := t.TempDir()
	e, s := open(t, engine.Options{Root: root})
	rows(t, s, "CREATE SEQUENCE q; CREATE TYPE mood AS ENUM ('sad'); CREATE SCHEMA sc; CREATE TABLE t (a INTEGER PRIMARY KEY, b INTEGER CHECK (b > 0)); CREATE INDEX i ON t (b); CREATE VIEW v AS SELECT b AS c FROM t")
	rows(t, s, "COMMENT ON SEQUENCE q IS 'numbers'; COMMENT ON TYPE mood IS 'moods'; COMMENT ON SCHEMA sc IS 'room'; COMMENT ON CONSTRAINT t_pkey ON t IS 'key'; COMMENT ON CONSTRAINT t_b_check ON t IS 'positive'; COMMENT ON INDEX i IS 'fast'; COMMENT ON COLUMN v.c IS 'was b'")
	refuses(t, s, "COMMENT ON CONSTRAINT missing ON t IS 'x'", sqlerr.UndefinedObject, `"missing"`)
	refuses(t, s, "COMMENT ON COLUMN v.b IS 'x'", sqlerr.UndefinedColumn, `"b"`)
	e.Close()
	_, s = open(t, engine.Options{Root: root})
	expect(t, s, "SELECT obj_description('q'::regclass), obj_description('mood'::regtype, 'pg_type'), obj_description('sc'::regnamespace, 'pg_namespace'), obj_description('i'::regclass), col_description('v'::regclass, 1)", "numbers|moods|room|fast|was b")
	expect(t, s, "SELECT c.conname, d.description FROM pg_constraint c JOIN pg_description d ON d.objoid = c.oid AND d.classoid = 'pg_constraint'::regclass ORDER BY 1", "t_b_check|positive", "t_pkey|key")
	rows(t, s, "COMMENT ON SEQUENCE q IS NULL; SELECT nextval('q'); COMMENT ON CONSTRAINT t_pkey ON t IS NULL")
	expect(t, s, "SELECT obj_description('q'::regclass), nextval('q'), (SELECT count(*) FROM pg_description WHERE classoid = 'pg_constraint'::regclass)", "NULL|2|1")
}

func TestTypesAreRenamed(t *testing.T) {
	root := t.TempDir()
	e, s := open(t, engine.Options{Root: root})
	rows(t, s, "CREATE TYPE mood AS ENUM ('sad', 'ok'); CREATE TABLE t (a mood DEFAULT 'ok'::mood, b mood[], CHECK (a <> 'sad'::mood)); CREATE VIEW v AS SELECT * FROM t WHERE a = 'ok'::mood; CREATE SCHEMA sc; CREATE TYPE other AS ENUM ('x')")
	refuses(t, s, "ALTER TYPE mood RENAME TO other", sqlerr.DuplicateObject, `"other" already exists`)
	rows(t, s, "ALTER TYPE mood RENAME TO feel; INSERT INTO t (b) VALUES ('{sad}'); ALTER TYPE feel SET SCHEMA sc; INSERT INTO t VALUES ('ok')")
	e.Close()
	_, s = open(t, engine.Options{Root: root})
	expect(t, s, "SELECT a, b, a = 'ok'::sc.feel FROM v ORDER BY b", "ok|{sad}|t", "ok|NULL|t")
	refuses(t, s, "INSERT INTO t VALUES ('sad')", sqlerr.CheckViolation, "t_a_check")
	refuses(t, s, "SELECT 'sad'::mood", sqlerr.UndefinedObject, `"mood"`)
}

func TestIndexesAndViewsAreRenamed(t *testing.T) {
	_, s := open(t, engine.Options{})
	rows(t, s, "CREATE TABLE t (a INTEGER, b INTEGER); CREATE UNIQUE INDEX i ON t (a); CREATE INDEX j ON t (b); CREATE VIEW v AS SELECT a FROM t")
	rows(t, s, "ALTER INDEX i RENAME TO k; ALTER TABLE v RENAME TO w; INSERT INTO t VALUES (1, 1)")
	refuses(t, s, "INSERT INTO t VALUES (1, 2)", sqlerr.UniqueViolation, `"k"`)
	refuses(t, s, "ALTER INDEX k RENAME TO j", sqlerr.DuplicateTable, `"j" already exists`)
	refuses(t, s, "ALTER INDEX i RENAME TO x", sqlerr.UndefinedObject, `"i" does not exist`)
	rows(t, s, "ALTER INDEX IF EXISTS i RENAME TO x; DROP INDEX k; INSERT INTO t VALUES (1, 2)")
	expect(t, s, "SELECT count(*) FROM w", "2")
	refuses(t, s, "ALTER TABLE w ADD COLUMN x INTEGER", sqlerr.WrongObjectType, `"w" is not a table`)
}

func TestLabelsAreRenamed(t *testing.T) {
	root := t.TempDir()
	e, s := open(t, engine.Options{Root: root})
	rows(t, s, "CREATE TYPE mood AS ENUM ('sad', 'ok', 'happy'); CREATE TABLE m (a INTEGER PRIMARY KEY, m mood DEFAULT 'ok', n mood); INSERT INTO m VALUES (1, 'ok', 'sad'), (2, 'happy', 'ok')")
	rows(t, s, "ALTER TYPE mood RENAME VALUE 'ok' TO 'fine'; INSERT INTO m (a) VALUES (3)")
	e.Close()
	_, s = open(t, engine.Options{Root: root})
	expect(t, s, "SELECT * FROM m ORDER BY m, a", "1|fine|sad", "3|fine|NULL", "2|happy|fine")
	expect(t, s, "SELECT enum_range(NULL::mood)", "{sad,fine,happy}")
	refuses(t, s, "INSERT INTO m (a, m) VALUES (4, 'ok')", sqlerr.InvalidText, `"ok"`)
	refuses(t, s, "ALTER TYPE mood RENAME VALUE 'ok' TO 'x'", sqlerr.InvalidParameterValue, `"ok" is not an existing enum label`)
	refuses(t, s, "ALTER TYPE mood RENAME VALUE 'sad' TO 'fine'", sqlerr.DuplicateObject, `"fine" already exists`)
	rows(t, s, "CREATE TABLE l (m mood[]); INSERT INTO l VALUES ('{sad}')")
	refuses(t, s, "ALTER TYPE mood RENAME VALUE 'sad' TO 'blue'", sqlerr.FeatureNotSupported, "within another type")
	expect(t, s, "SELECT enum_range(NULL::mood)", "{sad,fine,happy}")
}
