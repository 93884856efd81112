package engine_test

import (
	"strings"
	"testing"

	"github.com/tidemarkdb/tidemark/engine"
	"github.com/tidemarkdb/tidemark/sqlerr"
)

// TestOidsLast looks an oid up before and after what must not change it.
func TestOidsLast(t *testing.T) {
	root := t.TempDir()
	e, s := open(t, engine.Options{Root: root})
	rows(t, s, "CREATE TABLE a (id BIGINT PRIMARY KEY, n NUMERIC(10, 2))")
	rows(t, s, "CREATE TYPE mood AS ENUM ('sad', 'ok')")
	before := rows(t, s, "SELECT 'a'::regclass, (SELECT indexrelid FROM pg_index WHERE indrelid = 'a'::regclass), 'mood'::regtype")[0]
	rows(t, s, "CREATE TABLE aa (id BIGINT PRIMARY KEY)")
	rows(t, s, "ALTER TABLE a RENAME TO b")
	rows(t, s, "ALTER TABLE b ADD COLUMN m mood")
	after := "SELECT 'b'::regclass, (SELECT indexrelid FROM pg_index WHERE indrelid = 'b'::regclass), 'mood'::regtype"
	expect(t, s, after, before)
	s.Close()
	if err := e.Close(); err != nil {
		t.Fatal(err)
	}
	_, s = open(t, engine.Options{Root: root})
	expect(t, s, after, before)
	expect(t, s, "SELECT count(*) FROM (SELECT oid FROM pg_class GROUP BY oid HAVING count(*) > 1)", "0")
	expect(t, s, "SELECT count(*) FROM pg_attribute a WHERE NOT EXISTS (SELECT FROM pg_class c WHERE c.oid = a.attrelid) OR NOT EXISTS (SELECT FROM pg_type y WHERE y.oid = a.atttypid)", "0")
}

// TestSizesAreTrue compares sizes with those of the tablets.
func TestSizesAreTrue(t *testing.T) {
	_, s := open(t, engine.Options{})
	rows(t, s, "CREATE TABLE a AS SELECT g AS id, g::text AS note FROM generate_series(1, 1000) g(g)")
	rows(t, s, "CREATE TABLE k (id BIGINT PRIMARY KEY)")
	rows(t, s, "INSERT INTO k SELECT * FROM generate_series(1, 1000)")
	expect(t, s, "SELECT pg_relation_size('a') = sum(bytes), pg_total_relation_size('a') = sum(bytes + index_bytes) FROM information_schema.tablets WHERE table_name = 'a'", "t|t")
	expect(t, s, "SELECT pg_relation_size('k') > 0, pg_indexes_size('k') = sum(index_bytes), pg_relation_size('k_pkey') = sum(index_bytes) FROM information_schema.tablets WHERE table_name = 'k'", "t|t|t")
	expect(t, s, "SELECT pg_database_size(current_database()) = sum(bytes + index_bytes) FROM information_schema.tablets", "t")
	expect(t, s, "SELECT reltuples, relkind FROM pg_class WHERE relname = 'a'", "1000|r")
	expect(t, s, "SELECT n_live_tup FROM pg_stat_user_tables WHERE relname = 'k'", "1000")
}

// TestCatalogOfAReader looks at what a session sees that may not change anything, and at another's temporary tables.
func TestCatalogOfAReader(t *testing.T) {
	e, s := open(t, engine.Options{})
	rows(t, s, "CREATE TABLE a (id BIGINT)")
	rows(t, s, "CREATE TEMP TABLE mine (id BIGINT)")
	expect(t, s, "SELECT relpersistence FROM pg_class WHERE relname = 'mine'", "t")
	reader, err := e.NewSession(engine.SessionOptions{User: "eve", ReadOnly: true})
	if err != nil {
		t.Fatal(err)
	}
	defer reader.Close()
	expect(t, reader, "SELECT has_table_privilege('a', 'SELECT'), has_table_privilege('a', 'INSERT'), has_schema_privilege('public', 'CREATE')", "t|f|f")
	expect(t, reader, "SELECT rolname, rolsuper FROM pg_roles", "eve|f")
	expect(t, reader, "SELECT count(*) FROM pg_class WHERE relname = 'mine'", "0")
	refuses(t, reader, "SELECT 'mine'::regclass", sqlerr.UndefinedTable, "mine")
}

// TestEveryRelationOfTheCatalogReads reads each of them whole, with objects of every kind there.
func TestEveryRelationOfTheCatalogReads(t *testing.T) {
	_, s := open(t, engine.Options{})
	for _, statement := range []string{
		"CREATE TYPE mood AS ENUM ('sad', 'ok')", "CREATE SEQUENCE q",
		"CREATE TABLE p (a BIGINT PRIMARY KEY, b TEXT UNIQUE, c mood[] DEFAULT '{sad}', d STRUCT(x INTEGER, y TEXT), CHECK (a > 0))",
		"CREATE TABLE c (id SERIAL, p BIGINT REFERENCES p)", "CREATE UNIQUE INDEX i ON p ((a + 1), b) WHERE a > 5",
		"CREATE VIEW v AS SELECT * FROM p", "CREATE VIEW broken AS SELECT * FROM c", "DROP TABLE c CASCADE",
	} {
		rows(t, s, statement)
	}
	n := 0
	for _, name := range rows(t, s, "SELECT table_schema || '.' || table_name FROM information_schema.tables WHERE table_type = 'SYSTEM VIEW'") {
		rows(t, s, "SELECT * FROM "+name)
		if strings.HasPrefix(name, "pg_catalog.") {
			n++
		}
	}
	if n < 30 {
		t.Errorf("%d relations of pg_catalog", n)
	}
}
