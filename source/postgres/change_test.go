package postgres

import (
	"fmt"
	"testing"

	"github.com/tidemarkdb/tidemark/integration/pgtest"
	"github.com/tidemarkdb/tidemark/vec"
)

const remake = "create a new stream and a new CDC table"

// TestSourceTableChanges alters the source table while it is streamed.
func TestSourceTableChanges(t *testing.T) {
	const setup = `CREATE TABLE t (id int PRIMARY KEY, note varchar(10), price numeric(8,2), extra text); INSERT INTO t VALUES (1, 'a', 1.5, 'x')`
	const row = "; INSERT INTO t (id) VALUES (2)"
	cases := map[string]struct {
		sql  string
		want []string // of the error; nil: none
	}{
		"column added":                    {"ALTER TABLE t ADD more int DEFAULT 5" + row, nil},
		"other column dropped":            {"ALTER TABLE t DROP extra" + row, nil},
		"other column's type changed":     {"ALTER TABLE t ALTER extra TYPE bytea USING NULL" + row, nil},
		"table renamed":                   {"ALTER TABLE t RENAME TO t2; INSERT INTO t2 (id) VALUES (2); ALTER TABLE t2 RENAME TO t", nil},
		"longer varchar":                  {"ALTER TABLE t ALTER note TYPE varchar(99); INSERT INTO t (id, note) VALUES (2, repeat('x', 50))", nil},
		"more digits that fit":            {"ALTER TABLE t ALTER price TYPE numeric(10,2); INSERT INTO t (id, price) VALUES (2, 12345678.25)", nil},
		"full identity":                   {"ALTER TABLE t REPLICA IDENTITY FULL; UPDATE t SET id = id + 50" + row, nil},
		"column dropped":                  {"ALTER TABLE t DROP note" + row, []string{"column note of public.t was dropped", remake}},
		"column renamed":                  {"ALTER TABLE t RENAME note TO text" + row, []string{"column note of public.t was dropped, renamed", remake}},
		"type changed":                    {"ALTER TABLE t ALTER note TYPE text" + row, []string{"column note of public.t was character varying(10)", remake}},
		"shorter varchar":                 {"ALTER TABLE t ALTER note TYPE varchar(5)" + row, []string{"the type of column note", remake}},
		"scale changed":                   {"ALTER TABLE t ALTER price TYPE numeric(8,1)" + row, []string{"the type of column price", remake}},
		"more digits than fit":            {"ALTER TABLE t ALTER price TYPE numeric(12,2)" + row, []string{"the type of column price", remake}},
		"primary key dropped":             {"ALTER TABLE t DROP CONSTRAINT t_pkey" + row, []string{"replica identity", remake}},
		"other primary key":               {"UPDATE t SET extra = ''; ALTER TABLE t ALTER extra SET NOT NULL, DROP CONSTRAINT t_pkey, ADD PRIMARY KEY (id, extra); INSERT INTO t (id, extra) VALUES (2, '')", []string{"replica identity", "(id, extra)"}},
		"made anew":                       {"DROP TABLE t; " + setup + "; ALTER PUBLICATION tidemark ADD TABLE t" + row, []string{"dropped and made anew", remake}},
		"dropped":                         {"DROP TABLE t", []string{"has no table"}},
		"taken out of the publication":    {"ALTER PUBLICATION tidemark DROP TABLE t", []string{"does not contain public.t", "ALTER PUBLICATION tidemark ADD TABLE public.t"}},
		"publication dropped":             {"DROP PUBLICATION tidemark", []string{"no publication tidemark", "CREATE PUBLICATION"}},
		"publication dropped before rows": {"DROP PUBLICATION tidemark" + row, []string{"ublication"}},
		"deletes no longer published":     {"ALTER PUBLICATION tidemark SET (publish = 'insert, update')", []string{"leaves out some kinds", "publish = 'insert, update, delete, truncate'"}},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			server := pgtest.Database(t)
			server.Exec(setup)
			publish(server)
			interval := "50ms"
			if c.want == nil {
				interval = "1h"
			}
			m := newMirror(t, server, target("*id", vec.Int32Type, "note", vec.TextType, "price", vec.DecimalType(10, 2)), "check_interval", interval)
			m.load()
			m.follow()
			server.Exec("INSERT INTO t (id) VALUES (10)")
			m.catchUp()
			server.Exec("INSERT INTO t (id) VALUES (11)")
			server.Exec(c.sql)
			if c.want == nil {
				m.catchUp()
				if m.spec.Columns[2].Type.Scale == 2 {
					m.equalTo(server.Exec("SELECT id, note, price FROM t"))
				}
				return
			}
			wantError(t, m.fail(), true, c.want...)
			if _, have := m.rows["11"]; !have && name != "publication dropped before rows" {
				t.Errorf("what came before the fault is missing: %v", m.rows)
			}
		})
	}
}

func TestAlteredWhileATransactionIsStreamed(t *testing.T) {
	server := pgtest.Database(t)
	server.Exec(`CREATE TABLE t (id int PRIMARY KEY, extra int, note text)`)
	publish(server)
	m := newMirror(t, server, target("*id", vec.Int32Type, "note", vec.TextType), "connection", server.DSN+" options='-c logical_decoding_work_mem=64kB'")
	m.load()
	m.follow()
	fill := func(from int) string {
		return fmt.Sprintf("INSERT INTO t (id, note) SELECT i, repeat(md5(i::text), 4) FROM generate_series(%d, %d) i; ", from, from+4000)
	}
	server.Exec("BEGIN; " + fill(1) + "ALTER TABLE t DROP extra; " + fill(10000) + "COMMIT")
	server.Exec("INSERT INTO t (id, note) VALUES (0, 'after')")
	server.Exec("BEGIN; " + fill(20000) + "ALTER TABLE t ADD extra int; " + fill(30000) + "ROLLBACK")
	server.Exec("BEGIN; SAVEPOINT x; ALTER TABLE t DROP note; INSERT INTO t SELECT generate_series(50000, 60000); ROLLBACK TO x; " + fill(60000) +
		"SAVEPOINT x; " + fill(70000) + "ROLLBACK TO x; " + fill(80000) + "COMMIT")
	server.Exec("BEGIN; " + fill(40000) + "COMMIT; UPDATE t SET note = 'z' WHERE id = 5")
	m.catchUp()
	m.equal()
}

func TestTableMadeAnewWhileTheStreamIsClosed(t *testing.T) {
	server := pgtest.Database(t)
	m := simpleTable(t, server)
	m.close()
	server.Exec("DROP TABLE t; CREATE TABLE t (id int PRIMARY KEY, n int); ALTER PUBLICATION tidemark ADD TABLE t; INSERT INTO t VALUES (1, 1)")
	wantError(t, m.tryFollow(), true, "made anew", remake)
}

func TestRowFilterChanged(t *testing.T) {
	server := pgtest.Database(t)
	m := simpleTable(t, server, "check_interval", "50ms")
	server.Exec("ALTER PUBLICATION tidemark SET TABLE t WHERE (id < 5)")
	wantError(t, m.fail(), true, "row filter", remake)
}

// TestValuesThatDoNotFit checks that such a value stops the load and the stream with its column and what to do.
func TestValuesThatDoNotFit(t *testing.T) {
	cases := []struct {
		source string
		target vec.Type
		value  string
		want   []string
	}{
		{"numeric", vec.DecimalType(10, 2), "'NaN'", []string{"NaN", "TEXT"}},
		{"numeric", vec.DecimalType(38, 2), "'-Infinity'", []string{"infinity", "TEXT"}},
		{"numeric", vec.DecimalType(10, 2), "1.005", []string{"not rounded", "larger scale"}},
		{"numeric", vec.DecimalType(38, 2), "1.00000000001", []string{"not rounded"}},
		{"numeric", vec.DecimalType(10, 2), "100000000", []string{"more digits", "wider NUMERIC"}},
		{"numeric", vec.DecimalType(38, 10), "1e28", []string{"more digits"}},
		{"numeric", vec.DecimalType(38, 0), "1e300", []string{"more digits"}},
		{"numeric[]", vec.ArrayType(vec.DecimalType(10, 2)), "'{1,2.555}'", []string{"an element", "not rounded"}},
		{"integer[]", vec.ArrayType(vec.Int32Type), "'{{1,2}}'", []string{"2 dimensions"}},
		{"timestamp", vec.TimestampType, "'294276-12-31'", []string{"beyond the last TIMESTAMP"}},
	}
	for i, c := range cases {
		for _, mode := range []string{"binary", "text"} {
			if mode == "text" && i > 7 {
				continue
			}
			t.Run(fmt.Sprint(mode, " ", c.source, " ", c.value), func(t *testing.T) {
				t.Parallel()
				server := pgtest.Database(t)
				server.Exec(fmt.Sprintf("CREATE TABLE t (id int PRIMARY KEY, v %s, ip inet)", c.source))
				publish(server)
				spec := target("*id", vec.Int32Type, "v", c.target)
				if mode == "text" {
					spec = target("*id", vec.Int32Type, "v", c.target, "ip", vec.TextType)
				}
				m := newMirror(t, server, spec)
				m.load()
				m.follow()
				server.Exec("INSERT INTO t VALUES (1)")
				server.Exec("BEGIN; INSERT INTO t VALUES (2); INSERT INTO t VALUES (3, " + c.value + "); COMMIT")
				server.Exec("INSERT INTO t VALUES (4)")
				want := append([]string{"column v", c.source, "in an insert"}, c.want...)
				wantError(t, m.fail(), true, want...)
				if len(m.rows) != 1 {
					t.Errorf("rows %v are there, not 1 alone", m.rows)
				}
				m.close()
				snap, err := m.source.Snapshot(t.Context())
				if err != nil {
					t.Fatal(err)
				}
				defer snap.Close()
				want[2] = "in the snapshot"
				wantError(t, snap.Read(t.Context(), 0, func(*vec.Batch) error { return nil }), true, want...)
			})
		}
	}
}

func TestNullInANotNullColumn(t *testing.T) {
	server := pgtest.Database(t)
	server.Exec("CREATE TABLE t (id int PRIMARY KEY, v int)")
	publish(server)
	spec := target("*id", vec.Int32Type, "v", vec.Int32Type)
	spec.Columns[1].Nullable = false
	m := newMirror(t, server, spec)
	m.load()
	m.follow()
	server.Exec("INSERT INTO t VALUES (1, NULL)")
	wantError(t, m.fail(), true, "column v is NULL in an insert", "NOT NULL")
}

func TestUnconstrainedNumericIsKeptExactly(t *testing.T) {
	server := pgtest.Database(t)
	server.Exec("CREATE TABLE t (id int PRIMARY KEY, v numeric); INSERT INTO t VALUES (1, 1.5), (2, 2), (3, 3.140), (4, -0.001), (5, 12345678901234567890.125)")
	publish(server)
	m := newMirror(t, server, target("*id", vec.Int32Type, "v", vec.DecimalType(38, 3)))
	m.load()
	m.follow()
	server.Exec("INSERT INTO t SELECT id + 10, v FROM t")
	m.catchUp()
	m.equalTo(server.Exec("SELECT id, v::numeric(38,3) FROM t"))
}

func TestRowFilterAndColumnList(t *testing.T) {
	server := pgtest.Database(t)
	server.Exec(`CREATE TABLE t (id int PRIMARY KEY, kind text NOT NULL, secret text); ALTER TABLE t REPLICA IDENTITY FULL;
		INSERT INTO t SELECT i, CASE i % 2 WHEN 0 THEN 'a' ELSE 'it''s' END, 's' FROM generate_series(1, 20) i;
		CREATE PUBLICATION tidemark FOR TABLE t WHERE (kind = 'it''s')`)
	m := newMirror(t, server, target("*id", vec.Int32Type, "kind", vec.TextType))
	m.load()
	m.follow()
	server.Exec("UPDATE t SET kind = 'it''s' WHERE id = 2; UPDATE t SET kind = 'a' WHERE id = 3; INSERT INTO t VALUES (30, 'a'), (31, 'it''s')")
	m.catchUp()
	m.equalTo(server.Exec("SELECT id, kind FROM t WHERE kind <> 'a'"))
	m.close()
	server.Exec("ALTER TABLE t REPLICA IDENTITY DEFAULT; DROP PUBLICATION tidemark; CREATE PUBLICATION tidemark FOR TABLE t (id, kind)")
	m.load()
	m.follow()
	server.Exec("INSERT INTO t VALUES (40, 'x', 'hidden'); UPDATE t SET secret = 'y'; DELETE FROM t WHERE id = 5")
	m.catchUp()
	m.equal()
	m.close()
	m.spec = target("*id", vec.Int32Type, "secret", vec.TextType)
	m.open()
	wantError(t, m.source.Check(t.Context()), true, "column list that leaves out secret")
}
