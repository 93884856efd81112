package postgres

import (
	"context"
	"strings"
	"testing"

	"github.com/tidemarkdb/tidemark/extension"
	"github.com/tidemarkdb/tidemark/integration/pgtest"
	"github.com/tidemarkdb/tidemark/vec"
)

// TestCheckSaysWhatToDo sets up what cannot be streamed, reads the error, applies its fix and checks again.
func TestCheckSaysWhatToDo(t *testing.T) {
	const good = "CREATE TABLE t (id int PRIMARY KEY, v text); CREATE PUBLICATION tidemark FOR TABLE t; "
	key := target("*id", vec.Int32Type, "v", vec.TextType)
	cases := []struct {
		name, sql string
		spec      extension.TableSpec
		want      []string
		fix       string // nil error after it
	}{
		{"nothing wrong", good, key, nil, ""},
		{"no table", "", key, []string{"has no table public.t", "quote a name with capitals"}, good},
		{"partitioned", "CREATE TABLE t (id int PRIMARY KEY, v text) PARTITION BY RANGE (id)", key, []string{"partitioned", "cannot be streamed", "each partition"}, ""},
		{"view", "CREATE VIEW t AS SELECT 1 AS id, 'x' AS v", key, []string{"is a view"}, ""},
		{"materialized view", "CREATE MATERIALIZED VIEW t AS SELECT 1 AS id, 'x' AS v", key, []string{"is a materialized view"}, ""},
		{"unlogged", "CREATE UNLOGGED TABLE t (id int PRIMARY KEY, v text)", key, []string{"unlogged", "ALTER TABLE public.t SET LOGGED"},
			"ALTER TABLE public.t SET LOGGED; CREATE PUBLICATION tidemark FOR TABLE t"},
		{"no publication", "CREATE TABLE t (id int PRIMARY KEY, v text)", key, []string{"no publication tidemark", "CREATE PUBLICATION tidemark FOR TABLE public.t"},
			"CREATE PUBLICATION tidemark FOR TABLE public.t"},
		{"not published", "CREATE TABLE t (id int PRIMARY KEY, v text); CREATE PUBLICATION tidemark", key, []string{"ALTER PUBLICATION tidemark ADD TABLE public.t"},
			"ALTER PUBLICATION tidemark ADD TABLE public.t"},
		{"publication of all tables", "CREATE TABLE t (id int PRIMARY KEY, v text); CREATE PUBLICATION tidemark FOR ALL TABLES", key, nil, ""},
		{"publication of a schema", "CREATE TABLE t (id int PRIMARY KEY, v text); CREATE PUBLICATION tidemark FOR TABLES IN SCHEMA public", key, nil, ""},
		{"no truncates", good + "ALTER PUBLICATION tidemark SET (publish = 'insert, update, delete')", key,
			[]string{"ALTER PUBLICATION tidemark SET (publish = 'insert, update, delete, truncate')"}, "ALTER PUBLICATION tidemark SET (publish = 'insert, update, delete, truncate')"},
		{"no primary key", "CREATE TABLE t (id int, v text); CREATE PUBLICATION tidemark FOR TABLE t", key,
			[]string{"no primary key", "ALTER TABLE public.t ADD PRIMARY KEY (id)"}, "ALTER TABLE public.t ADD PRIMARY KEY (id)"},
		{"deferrable primary key", "CREATE TABLE t (id int PRIMARY KEY DEFERRABLE, v text); CREATE PUBLICATION tidemark FOR TABLE t", key, []string{"no primary key that can serve"}, ""},
		{"identity nothing", good + "ALTER TABLE t REPLICA IDENTITY NOTHING", key, []string{"REPLICA IDENTITY NOTHING", "ALTER TABLE public.t REPLICA IDENTITY DEFAULT"},
			"ALTER TABLE public.t REPLICA IDENTITY DEFAULT"},
		{"full without a key", "CREATE TABLE t (id int, v text); ALTER TABLE t REPLICA IDENTITY FULL; CREATE PUBLICATION tidemark FOR TABLE t", key,
			[]string{"nothing identifies its rows"}, "ALTER TABLE public.t ADD PRIMARY KEY (id)"},
		{"full with a unique index", "CREATE TABLE t (id int NOT NULL UNIQUE, v text); ALTER TABLE t REPLICA IDENTITY FULL; CREATE PUBLICATION tidemark FOR TABLE t", key, nil, ""},
		{"identity by index", good + "CREATE UNIQUE INDEX i ON t (v); ALTER TABLE t ALTER v SET NOT NULL; ALTER TABLE t REPLICA IDENTITY USING INDEX i", key,
			[]string{"merge key (id)", "(v)", "PRIMARY KEY (v) NOT ENFORCED"}, "ALTER TABLE t REPLICA IDENTITY DEFAULT"},
		{"other merge key", good, target("id", vec.Int32Type, "*v", vec.TextType), []string{"merge key (v)", "PRIMARY KEY (id) NOT ENFORCED"}, ""},
		{"part of the key", "CREATE TABLE t (id int, v text, PRIMARY KEY (id, v)); CREATE PUBLICATION tidemark FOR TABLE t", key, []string{"PRIMARY KEY (id, v)"}, ""},
		{"key in another order", "CREATE TABLE t (id int, v text, PRIMARY KEY (v, id)); CREATE PUBLICATION tidemark FOR TABLE t", target("*id", vec.Int32Type, "*v", vec.TextType), nil, ""},
		{"missing column", good, target("*id", vec.Int32Type, "V", vec.TextType), []string{`no column "V"`, "did you mean v?"}, ""},
		{"misfit", good, target("*id", vec.Int16Type, "v", vec.TextType), []string{"column id is integer at the source", "does not fit SMALLINT", "declare it INTEGER"}, ""},
		{"generated", "CREATE TABLE t (id int PRIMARY KEY, v text GENERATED ALWAYS AS ('x') STORED); CREATE PUBLICATION tidemark FOR TABLE t", key, []string{"column v of public.t is generated"}, ""},
		{"narrow numeric", "CREATE TABLE t (id int PRIMARY KEY, v numeric(12,4)); CREATE PUBLICATION tidemark FOR TABLE t", target("*id", vec.Int32Type, "v", vec.DecimalType(12, 2)),
			[]string{"numeric(12,4)", "declare it NUMERIC(12,4)"}, "ALTER TABLE t ALTER v TYPE numeric(12,2)"},
		{"numeric as double", "CREATE TABLE t (id int PRIMARY KEY, v numeric); CREATE PUBLICATION tidemark FOR TABLE t", target("*id", vec.Int32Type, "v", vec.Float64Type),
			[]string{"DOUBLE PRECISION", "NUMERIC(38, s)", "TEXT"}, ""},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			server := pgtest.Database(t)
			server.Exec(c.sql)
			m := newMirror(t, server, c.spec)
			err := m.source.Check(t.Context())
			if c.want == nil {
				if err != nil {
					t.Fatal(err)
				}
				return
			}
			wantError(t, err, true, c.want...)
			_, err = m.source.Snapshot(t.Context())
			wantError(t, err, true, c.want...)
			if got := server.Exec("SELECT count(*) FROM pg_replication_slots WHERE database = current_database()"); got[0][0] != "0" {
				t.Error("a refused source has a slot")
			}
			if c.fix != "" {
				server.Exec(c.fix)
				if err := m.source.Check(t.Context()); err != nil {
					t.Errorf("after the fix: %v", err)
				}
			}
		})
	}
}

func TestCheckOfTheServer(t *testing.T) {
	server := pgtest.Start(t, "wal_level=replica")
	server.Exec("CREATE TABLE t (id int PRIMARY KEY); CREATE ROLE plain LOGIN; CREATE ROLE reader LOGIN REPLICATION; CREATE PUBLICATION tidemark FOR TABLE t")
	m := newMirror(t, server, target("*id", vec.Int32Type))
	wantError(t, m.source.Check(t.Context()), true, "wal_level = replica", "ALTER SYSTEM SET wal_level = logical")
	server.Restart("wal_level=logical")
	if err := m.source.Check(t.Context()); err != nil {
		t.Fatal(err)
	}
	as := func(role string) {
		m.options["connection"] = strings.Replace(server.DSN, "user=postgres", "user="+role, 1)
		m.open()
	}
	as("plain")
	wantError(t, m.source.Check(t.Context()), true, "may not read public.t", "GRANT SELECT ON public.t")
	server.Exec("GRANT SELECT ON t TO plain, reader")
	wantError(t, m.source.Check(t.Context()), false, "ALTER ROLE plain REPLICATION")
	as("reader")
	server.Exec("INSERT INTO t VALUES (1)")
	m.load()
	m.follow()
	server.Exec("INSERT INTO t VALUES (2)")
	m.catchUp()
	m.equal()
	m.close()
	server.Exec("ALTER TABLE t ENABLE ROW LEVEL SECURITY")
	snap, err := m.source.Snapshot(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	wantError(t, snap.Read(t.Context(), 0, func(*vec.Batch) error { return nil }), true, "row-level security")
	_ = snap.Close()
	as("nobody")
	wantError(t, m.source.Check(t.Context()), false, "cannot connect", `"nobody"`, "pg_hba.conf")
}

func TestOptions(t *testing.T) {
	cases := []struct {
		options map[string]string
		want    string
	}{
		{map[string]string{"table": "t"}, "needs the option connection"},
		{map[string]string{"connection": "host=x"}, "needs the option table"},
		{map[string]string{"connection": "host=x", "table": "t", "slot": "No"}, "lower-case letters"},
		{map[string]string{"connection": "host=x", "table": "t", "snapshot_threads": "0"}, "from 1 to 64"},
		{map[string]string{"connection": "host=x", "table": "t", "slot_timeout": "5"}, "a duration"},
		{map[string]string{"connection": "host=x", "table": "t", "streaming": "maybe"}, "on or off"},
	}
	for _, c := range cases {
		if _, err := Source().Open(context.Background(), extension.OpenRequest{Options: c.options}); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%v: %v, want %q", c.options, err, c.want)
		}
	}
	src, err := open(extension.OpenRequest{Options: map[string]string{"connection": "postgres://u:sesame@127.0.0.1:1/d?sslmode=disable", "table": "t"}})
	if err != nil {
		t.Fatal(err)
	}
	if err := src.Check(context.Background()); err == nil || strings.Contains(err.Error(), "sesame") {
		t.Errorf("%v", err)
	}
	src.connection = "postgres://u:sesame@:bad:/"
	if err := src.Check(context.Background()); err == nil || strings.Contains(err.Error(), "sesame") || !extension.IsPermanent(err) {
		t.Errorf("%v", err)
	}
}

func TestSlotNames(t *testing.T) {
	seen := map[string]string{}
	for _, stream := range []string{"orders", "Orders", "orders_", "order-s", "order_s", strings.Repeat("x", 80), strings.Repeat("x", 81)} {
		name := slotName(stream)
		if err := checkSlotName(name); err != nil {
			t.Error(err)
		}
		if other, taken := seen[name]; taken {
			t.Errorf("%q and %q both have the slot %s", stream, other, name)
		}
		seen[name] = stream
	}
	if got := slotName("orders"); got != "tidemark_orders" {
		t.Error(got)
	}
}
