package engine_test

import (
	"fmt"
	"testing"

	"github.com/tidemarkdb/tidemark/engine"
	"github.com/tidemarkdb/tidemark/sqlerr"
)

func TestConstraintsAreKept(t *testing.T) {
	root := t.TempDir()
	e, s := open(t, engine.Options{Root: root})
	rows(t, s, "CREATE TABLE p (id INTEGER PRIMARY KEY, code TEXT, CONSTRAINT codes UNIQUE (code))")
	rows(t, s, "CREATE TABLE c (id INTEGER, p INTEGER REFERENCES p, code TEXT REFERENCES p (code), n INTEGER CHECK (n > 0 AND c.n < 10))")
	rows(t, s, "CREATE UNIQUE INDEX low ON c (lower(code)) WHERE n > 5; CREATE INDEX plain ON c (id)")
	rows(t, s, "INSERT INTO p VALUES (1, 'a'), (2, 'b'), (3, NULL), (4, NULL); INSERT INTO c VALUES (1, 1, 'a', 1), (2, NULL, NULL, NULL)")
	e.Close()
	_, s = open(t, engine.Options{Root: root})
	refuses(t, s, "INSERT INTO p VALUES (5, 'a')", sqlerr.UniqueViolation, `unique constraint "codes"`)
	refuses(t, s, "INSERT INTO c (p) VALUES (9)", sqlerr.ForeignKeyViolation, `"c_p_fkey"`)
	refuses(t, s, "INSERT INTO c (n) VALUES (10)", sqlerr.CheckViolation, `"c_n_check"`)
	refuses(t, s, "DELETE FROM p WHERE id = 1", sqlerr.ForeignKeyViolation, `on table "c"`)
	refuses(t, s, "UPDATE p SET code = 'z' WHERE id = 1", sqlerr.ForeignKeyViolation, `"c_code_fkey"`)
	rows(t, s, "INSERT INTO c (code, n) VALUES ('a', 7), ('b', 6), ('a', 2)")
	refuses(t, s, "INSERT INTO c (code, n) VALUES ('b', 8)", sqlerr.UniqueViolation, `"low"`)
	refuses(t, s, "DROP TABLE p", sqlerr.DependentObjects, "other objects depend on it")
	refuses(t, s, "TRUNCATE p", sqlerr.FeatureNotSupported, "referenced in a foreign key")
	rows(t, s, "ALTER TABLE c RENAME COLUMN n TO m; ALTER TABLE p RENAME TO parents")
	refuses(t, s, "INSERT INTO c (m) VALUES (0)", sqlerr.CheckViolation, `"c_n_check"`)
	refuses(t, s, "INSERT INTO c (p) VALUES (9)", sqlerr.ForeignKeyViolation, `not present in table "parents"`)
	expect(t, s, "SELECT constraint_name, constraint_type FROM information_schema.table_constraints ORDER BY table_name, 1",
		"c_code_fkey|FOREIGN KEY", "c_n_check|CHECK", "c_p_fkey|FOREIGN KEY", "codes|UNIQUE", "p_pkey|PRIMARY KEY", "parents_id_not_null|CHECK")
	rows(t, s, "DROP TABLE parents CASCADE; INSERT INTO c (p) VALUES (9); DROP INDEX low, plain")
	refuses(t, s, "DROP INDEX low", sqlerr.UndefinedObject, `index "low" does not exist`)
	rows(t, s, "INSERT INTO c (code, m) VALUES ('b', 8)")
}

func TestConstraintsAreAddedAndDropped(t *testing.T) {
	_, s := open(t, engine.Options{})
	rows(t, s, "CREATE TABLE t (a INTEGER, b TEXT); INSERT INTO t VALUES (1, 'x'), (2, 'y'), (2, 'z')")
	refuses(t, s, "ALTER TABLE t ADD UNIQUE (a)", sqlerr.UniqueViolation, `could not create unique index "t_a_key"`)
	refuses(t, s, "ALTER TABLE t ADD CONSTRAINT small CHECK (a < 2)", sqlerr.CheckViolation, `"small" of relation "t" is violated`)
	refuses(t, s, "CREATE UNIQUE INDEX i ON t (a)", sqlerr.UniqueViolation, `"i"`)
	rows(t, s, "DELETE FROM t WHERE b = 'z'; ALTER TABLE t ADD PRIMARY KEY (a), ADD CONSTRAINT small CHECK (a < 5)")
	refuses(t, s, "INSERT INTO t VALUES (2, 'q')", sqlerr.UniqueViolation, `"t_pkey"`)
	refuses(t, s, "INSERT INTO t VALUES (NULL, 'q')", sqlerr.NotNullViolation, `"a"`)
	refuses(t, s, "INSERT INTO t VALUES (5, 'q')", sqlerr.CheckViolation, `"small"`)
	refuses(t, s, "ALTER TABLE t ADD PRIMARY KEY (b)", sqlerr.InvalidTableDefinition, "multiple primary keys")
	rows(t, s, "ALTER TABLE t ALTER COLUMN a TYPE BIGINT USING a + 1")
	refuses(t, s, "INSERT INTO t VALUES (3, 'q')", sqlerr.UniqueViolation, `"t_pkey"`)
	refuses(t, s, "ALTER TABLE t ALTER COLUMN a TYPE INTEGER USING a * 10", sqlerr.CheckViolation, `"small"`)
	rows(t, s, "ALTER TABLE t DROP CONSTRAINT small, DROP CONSTRAINT t_pkey; INSERT INTO t VALUES (3, 'q'), (50, 'r')")
	refuses(t, s, "ALTER TABLE t DROP CONSTRAINT small", sqlerr.UndefinedObject, `constraint "small" of relation "t"`)
	rows(t, s, "ALTER TABLE t ADD COLUMN c INTEGER UNIQUE CHECK (c > 0)")
	refuses(t, s, "UPDATE t SET c = 1", sqlerr.UniqueViolation, `"t_c_key"`)
	refuses(t, s, "UPDATE t SET c = -1", sqlerr.CheckViolation, `"t_c_check"`)
	rows(t, s, "ALTER TABLE t DROP COLUMN c; ALTER TABLE t ADD COLUMN c INTEGER; UPDATE t SET c = -1")
}

// Two transactions that each see the constraint kept must not break it together.
func TestConstraintsUnderConcurrency(t *testing.T) {
	e, s := open(t, engine.Options{})
	rows(t, s, "CREATE TABLE p (id INTEGER PRIMARY KEY, u INTEGER UNIQUE); INSERT INTO p VALUES (1, 1), (2, 2)")
	rows(t, s, "CREATE TABLE c (p INTEGER REFERENCES p)")
	other, err := e.NewSession(engine.SessionOptions{})
	if err != nil {
		t.Fatal(err)
	}
	defer other.Close()
	rows(t, s, "BEGIN; INSERT INTO p VALUES (3, 30)")
	rows(t, other, "INSERT INTO p VALUES (4, 30)")
	refuses(t, s, "COMMIT", sqlerr.UniqueViolation, `"p_u_key"`)
	rows(t, s, "BEGIN; INSERT INTO p VALUES (5, 50)")
	rows(t, other, "INSERT INTO p VALUES (6, 60); DELETE FROM p WHERE id = 6")
	rows(t, s, "INSERT INTO p VALUES (6, 61); UPDATE p SET u = 51 WHERE id = 5; COMMIT; DELETE FROM p WHERE id IN (5, 6)")
	rows(t, s, "CREATE TABLE q (a INTEGER, b TEXT); CREATE UNIQUE INDEX low ON q (lower(b)) WHERE a > 0; BEGIN; INSERT INTO q VALUES (1, 'x'), (0, 'y')")
	rows(t, other, "INSERT INTO q VALUES (1, 'Y'), (1, 'z')")
	rows(t, s, "COMMIT; BEGIN; INSERT INTO q VALUES (1, 'n')")
	rows(t, other, "INSERT INTO q VALUES (2, 'N')")
	refuses(t, s, "COMMIT", sqlerr.UniqueViolation, `"low"`)

	rows(t, s, "BEGIN; INSERT INTO c VALUES (1)")
	rows(t, other, "DELETE FROM p WHERE id = 1")
	refuses(t, s, "COMMIT", sqlerr.SerializationFailure, "run the transaction again")

	rows(t, s, "BEGIN; DELETE FROM p WHERE id = 2")
	rows(t, other, "INSERT INTO c VALUES (2)")
	refuses(t, s, "COMMIT", sqlerr.SerializationFailure, "run the transaction again")

	rows(t, s, "BEGIN; INSERT INTO p VALUES (7, 7); INSERT INTO c VALUES (7); COMMIT") // a key of its own
	expect(t, s, "SELECT (SELECT string_agg(id::text, ',' ORDER BY id) FROM p), (SELECT string_agg(p::text, ',' ORDER BY p) FROM c)", "2,4,7|2,7")
}

func TestOnConflictWithUniqueKeys(t *testing.T) {
	_, s := open(t, engine.Options{})
	rows(t, s, "CREATE TABLE t (id INTEGER PRIMARY KEY, a INTEGER, b TEXT, CONSTRAINT ab UNIQUE (a, b)); CREATE UNIQUE INDEX lb ON t (lower(b))")
	rows(t, s, "INSERT INTO t VALUES (1, 1, 'x'), (2, 2, 'y'), (3, NULL, NULL)")
	tag(t, s, "INSERT INTO t VALUES (9, 1, 'x'), (2, 7, 'q'), (4, 4, 'X'), (5, 5, 'z'), (6, 5, 'z') ON CONFLICT DO NOTHING", "INSERT 0 1")
	tag(t, s, "INSERT INTO t VALUES (9, 2, 'y') ON CONFLICT (b, a) DO UPDATE SET id = excluded.id", "INSERT 0 1")
	tag(t, s, "INSERT INTO t VALUES (10, 1, 'x') ON CONFLICT ON CONSTRAINT ab DO UPDATE SET id = t.id + 100", "INSERT 0 1")
	expect(t, s, "SELECT * FROM t ORDER BY id", "3|NULL|NULL", "5|5|z", "9|2|y", "101|1|x")
	refuses(t, s, "INSERT INTO t VALUES (9, 3, 'new') ON CONFLICT (a, b) DO NOTHING", sqlerr.UniqueViolation, `"t_pkey"`)
	refuses(t, s, "INSERT INTO t VALUES (20, 1, 'x'), (21, 1, 'x') ON CONFLICT (a, b) DO UPDATE SET id = 0", sqlerr.CardinalityViolation, "second time")
	refuses(t, s, "INSERT INTO t VALUES (20, 1, 'x') ON CONFLICT (a) DO NOTHING", sqlerr.InvalidColumnReference, "no unique or exclusion constraint")
	refuses(t, s, "INSERT INTO t VALUES (20, 1, 'x') ON CONFLICT ON CONSTRAINT nothing DO NOTHING", sqlerr.UndefinedObject, `"nothing"`)
}

func TestSequences(t *testing.T) {
	root := t.TempDir()
	e, s := open(t, engine.Options{Root: root})
	rows(t, s, "CREATE SEQUENCE q; CREATE TABLE t (id BIGINT DEFAULT nextval('q'), v TEXT)")
	rows(t, s, "INSERT INTO t (v) VALUES ('a'), ('b'); BEGIN; INSERT INTO t (v) VALUES ('gone'); ROLLBACK; INSERT INTO t (v) VALUES ('c')")
	expect(t, s, "SELECT * FROM t ORDER BY id", "1|a", "2|b", "4|c")
	refuses(t, s, "DROP SEQUENCE q", sqlerr.DependentObjects, "other objects depend on it")
	e.Close()
	e, s = open(t, engine.Options{Root: root})
	refuses(t, s, "SELECT currval('q')", sqlerr.ObjectNotInPrerequisite, "not yet defined in this session")
	expect(t, s, "SELECT nextval('q'), currval('q'), lastval()", "5|5|5") // what was left of the block came back
	rows(t, s, "ALTER SEQUENCE q RENAME TO r; INSERT INTO t (v) VALUES ('d')")
	expect(t, s, "SELECT max(id) FROM t", "6")
	expect(t, s, "SELECT setval('r', 100), nextval('r'), setval('r', 7, false), nextval('r')", "100|101|7|7")
	rows(t, s, "ALTER SEQUENCE r INCREMENT BY 10 RESTART WITH 3")
	expect(t, s, "SELECT nextval('r') FROM generate_series(1, 3)", "3", "13", "23")
	rows(t, s, "BEGIN; CREATE SEQUENCE mine; SELECT nextval('mine'), nextval('mine'); COMMIT")
	expect(t, s, "SELECT nextval('mine')", "3")
	rows(t, s, "CREATE SEQUENCE small AS SMALLINT START 32766; SELECT nextval('small'), nextval('small')")
	refuses(t, s, "SELECT nextval('small')", sqlerr.SequenceLimit, "reached maximum value of sequence \"small\" (32767)")
	rows(t, s, "CREATE SEQUENCE round MINVALUE -1 MAXVALUE 1 CYCLE INCREMENT -1")
	expect(t, s, "SELECT nextval('round') FROM generate_series(1, 5)", "1", "0", "-1", "1", "0")
	expect(t, s, "SELECT count(DISTINCT nextval('r')) FROM generate_series(1, 100000)", "100000")
	reader, err := e.NewSession(engine.SessionOptions{User: "eve", ReadOnly: true})
	if err != nil {
		t.Fatal(err)
	}
	defer reader.Close()
	refuses(t, reader, "SELECT nextval('r')", sqlerr.InsufficientPrivilege, "eve")
}

func TestEnumerations(t *testing.T) {
	root := t.TempDir()
	e, s := open(t, engine.Options{Root: root})
	rows(t, s, "CREATE TYPE size AS ENUM ('small', 'large'); CREATE TABLE t (id INTEGER, s size, a size[])")
	rows(t, s, "INSERT INTO t VALUES (1, 'large', ARRAY['small']::size[]), (2, 'small', NULL), (3, NULL, NULL)")
	rows(t, s, "ALTER TYPE size ADD VALUE 'medium' BEFORE 'large'; INSERT INTO t (id, s) VALUES (4, 'medium')")
	e.Close()
	_, s = open(t, engine.Options{Root: root})
	expect(t, s, "SELECT id, s FROM t ORDER BY s NULLS FIRST", "3|NULL", "2|small", "4|medium", "1|large")
	expect(t, s, "SELECT min(s), max(s), enum_range(NULL::size)::text FROM t WHERE s > 'small'", "medium|large|{small,medium,large}")
	expect(t, s, "SELECT id, max(s) OVER (ORDER BY id) FROM t ORDER BY id", "1|large", "2|large", "3|large", "4|large")
	expect(t, s, "SELECT string_agg(s::text, ',' ORDER BY s DESC) FROM t", "large,medium,small")
	refuses(t, s, "INSERT INTO t (s) VALUES ('huge')", sqlerr.InvalidText, `invalid input value for enum size: "huge"`)
	refuses(t, s, "SELECT s FROM t WHERE s = 'huge'", sqlerr.InvalidText, `"huge"`)
	refuses(t, s, "ALTER TYPE size ADD VALUE 'small'", sqlerr.DuplicateObject, `"small"`)
	refuses(t, s, "DROP TYPE size", sqlerr.DependentObjects, "depend on it")
	rows(t, s, "DROP TYPE size CASCADE")
	expect(t, s, "SELECT * FROM t ORDER BY id", "1", "2", "3", "4")
	refuses(t, s, "SELECT 'small'::size", sqlerr.UndefinedObject, `type "size" does not exist`)
}

func TestSerialColumns(t *testing.T) {
	_, s := open(t, engine.Options{})
	rows(t, s, "CREATE TABLE t (id SERIAL PRIMARY KEY, n BIGINT GENERATED BY DEFAULT AS IDENTITY (START WITH 10 INCREMENT BY 5), v TEXT)")
	expect(t, s, "INSERT INTO t (v) VALUES ('a'), ('b') RETURNING id, n", "1|10", "2|15")
	expect(t, s, "INSERT INTO t VALUES (DEFAULT, 7, 'c') RETURNING id, n", "3|7")
	expect(t, s, "SELECT sequence_name, data_type FROM information_schema.sequences ORDER BY 1", "t_id_seq|integer", "t_n_seq|bigint")
	rows(t, s, "ALTER TABLE t DROP COLUMN n; ALTER TABLE t ADD COLUMN m SMALLSERIAL")
	expect(t, s, "SELECT id, m FROM t ORDER BY m", "1|1", "2|2", "3|3")
	refuses(t, s, "INSERT INTO t (id) VALUES (NULL)", sqlerr.NotNullViolation, `"id"`)
	rows(t, s, "CREATE SEQUENCE places; CREATE TABLE scattered (id BIGINT)")
	for i := range 12 {
		rows(t, s, fmt.Sprintf("INSERT INTO scattered VALUES (%d)", i+1))
	}
	expect(t, s, "SELECT count(*), count(*) FILTER (WHERE id = place) FROM (SELECT id, nextval('places') AS place FROM scattered) q", "12|12")
	rows(t, s, "DROP SEQUENCE places")
	rows(t, s, "TRUNCATE t RESTART IDENTITY; INSERT INTO t (v) VALUES ('d')")
	expect(t, s, "SELECT id, m FROM t", "1|1")
	rows(t, s, "CREATE OR REPLACE TABLE t (id SERIAL); DROP TABLE t")
	expect(t, s, "SELECT count(*) FROM information_schema.sequences", "0")
}

func TestKeysOfColumnsWithOddNames(t *testing.T) {
	_, s := open(t, engine.Options{})
	rows(t, s, `CREATE TABLE t ("Order" INTEGER UNIQUE, "select" INTEGER, x INTEGER, UNIQUE ("select", x)); INSERT INTO t VALUES (1, 1, 1)`)
	refuses(t, s, "INSERT INTO t VALUES (1, 2, 2)", sqlerr.UniqueViolation, `"t_Order_key"`)
	rows(t, s, `CREATE UNIQUE INDEX i ON t (x); ALTER TABLE t RENAME COLUMN x TO "from"`)
	refuses(t, s, "INSERT INTO t VALUES (2, 1, 1)", sqlerr.UniqueViolation, `"t_select_x_key"`)
	tag(t, s, `INSERT INTO t VALUES (2, 2, 1) ON CONFLICT ("from") DO NOTHING`, "INSERT 0 0")
	tag(t, s, `INSERT INTO t VALUES (2, 1, 1) ON CONFLICT ("from", "select") DO UPDATE SET "Order" = 7`, "INSERT 0 1")
	expect(t, s, `SELECT "Order" FROM t`, "7")
}
