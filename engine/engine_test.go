package engine_test

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/tidemarkdb/tidemark/engine"
	"github.com/tidemarkdb/tidemark/extension"
	"github.com/tidemarkdb/tidemark/source/generator"
	"github.com/tidemarkdb/tidemark/sqlerr"
	"github.com/tidemarkdb/tidemark/vec"
)

// open returns an engine over a new root, and a session.
func open(t *testing.T, options engine.Options) (*engine.Engine, *engine.Session) {
	t.Helper()
	if options.Root == "" {
		options.Root = t.TempDir()
	}
	e, err := engine.Open(t.Context(), options)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { e.Close() })
	return e, session(t, e)
}

func session(t *testing.T, e *engine.Engine) *engine.Session {
	t.Helper()
	s, err := e.NewSession(engine.SessionOptions{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(s.Close)
	return s
}

// rows runs SQL and returns the result as lines of values with | between them.
func rows(t *testing.T, s *engine.Session, query string) []string {
	t.Helper()
	out, err := tryRows(t.Context(), s, query)
	if err != nil {
		t.Fatalf("%s: %v", query, err)
	}
	return out
}

func tryRows(ctx context.Context, s *engine.Session, query string) ([]string, error) {
	r, err := s.Query(ctx, query)
	if err != nil {
		return nil, err
	}
	defer r.Close()
	var out []string
	for {
		b, err := r.Next(ctx)
		if err != nil {
			return out, err
		}
		if b == nil {
			return out, nil
		}
		for row := range b.N {
			cells := make([]string, len(b.Cols))
			for i, c := range b.Cols {
				cells[i] = "NULL"
				if !c.IsNull(row) {
					cells[i] = string(vec.AppendText(nil, c, row))
				}
			}
			out = append(out, strings.Join(cells, "|"))
		}
	}
}

// expect runs SQL and compares its lines.
func expect(t *testing.T, s *engine.Session, query string, want ...string) {
	t.Helper()
	if got := rows(t, s, query); strings.Join(got, "\n") != strings.Join(want, "\n") {
		t.Errorf("%s:\ngot  %v\nwant %v", query, got, want)
	}
}

// refuses runs SQL that must fail with an SQLSTATE and a text in the error, hint included.
func refuses(t *testing.T, s *engine.Session, query, code, contains string) {
	t.Helper()
	_, err := tryRows(t.Context(), s, query)
	if sqlerr.Code(err) != code || !strings.Contains(fmt.Sprint(err), contains) {
		t.Errorf("%s: got %v, want SQLSTATE %s and %q", query, err, code, contains)
	}
}

func TestTablesAndQueries(t *testing.T) {
	_, s := open(t, engine.Options{})
	expect(t, s, "SELECT 1 + 1", "2")
	rows(t, s, "CREATE TABLE t (a INTEGER, b TEXT, c NUMERIC(10, 2) DEFAULT 1.5)")
	rows(t, s, "INSERT INTO t (a, b) VALUES (1, 'one'), (2, 'two'), (3, NULL)")
	rows(t, s, "INSERT INTO t SELECT a + 10, upper(b), c * 2 FROM t WHERE a < 3")
	expect(t, s, "SELECT * FROM t ORDER BY a", "1|one|1.50", "2|two|1.50", "3|NULL|1.50", "11|ONE|3.00", "12|TWO|3.00")
	expect(t, s, "SELECT b IS NULL, count(*), sum(c) FROM t GROUP BY 1 ORDER BY 1", "f|4|9.00", "t|1|1.50")
	rows(t, s, "CREATE TABLE u AS SELECT a, count(*) AS n FROM t GROUP BY a")
	expect(t, s, "SELECT t.a, u.n FROM t JOIN u USING (a) WHERE t.c > 2 ORDER BY 1 DESC LIMIT 1", "12|1")
	rows(t, s, "CREATE VIEW v AS SELECT a FROM t WHERE a > 2")
	expect(t, s, "SELECT count(*) FROM v", "3")
	expect(t, s, "SELECT table_name, table_type FROM information_schema.tables WHERE table_schema = 'public' ORDER BY 1",
		"t|BASE TABLE", "u|BASE TABLE", "v|VIEW")
	rows(t, s, "TRUNCATE t")
	expect(t, s, "SELECT count(*) FROM t", "0")
	rows(t, s, "DROP VIEW v; DROP TABLE t, u")
	refuses(t, s, "SELECT * FROM t", sqlerr.UndefinedTable, `relation "t" does not exist`)
}

func TestErrorsCarryPositionAndHint(t *testing.T) {
	_, s := open(t, engine.Options{})
	rows(t, s, "CREATE TABLE orders (id BIGINT, amount NUMERIC(12, 2))")
	refuses(t, s, "SELECT amout FROM orders", sqlerr.UndefinedColumn, `did you mean "amount"?`)
	refuses(t, s, "SELECT amout FROM orders", sqlerr.UndefinedColumn, "at position 8")
	refuses(t, s, "SELECT * FORM orders", sqlerr.SyntaxError, "position 10")
	refuses(t, s, "SELECT * FROM ordes", sqlerr.UndefinedTable, `did you mean "orders"?`)
	refuses(t, s, "SELECT 1 / 0", sqlerr.DivisionByZero, "division by zero")
	refuses(t, s, "SET execution.memry_limit = '1GB'", sqlerr.UndefinedObject, "execution.memory_limit")
	refuses(t, s, "SET execution.cdc.append_max_rows = 'many'", sqlerr.InvalidParameterValue, "whole number")
}

func TestTransactions(t *testing.T) {
	e, s := open(t, engine.Options{})
	other := session(t, e)
	rows(t, s, "CREATE TABLE t (a INTEGER)")
	rows(t, s, "BEGIN; INSERT INTO t VALUES (1); SAVEPOINT p; INSERT INTO t VALUES (2)")
	expect(t, s, "SELECT sum(a) FROM t", "3")
	expect(t, other, "SELECT count(*) FROM t", "0")
	rows(t, s, "ROLLBACK TO p")
	rows(t, other, "INSERT INTO t VALUES (10)")
	expect(t, s, "SELECT sum(a) FROM t", "1")
	rows(t, s, "COMMIT")
	expect(t, s, "SELECT sum(a) FROM t", "11")
	rows(t, s, "BEGIN")
	refuses(t, s, "SELECT nothing", sqlerr.UndefinedColumn, "nothing")
	refuses(t, s, "SELECT 1", sqlerr.FailedTransaction, "aborted")
	rows(t, s, "ROLLBACK")
	expect(t, s, "SELECT 1", "1")
}

const cdcSetup = `
CREATE STREAM changes FROM GENERATOR WITH (keys = 5000, rate = 0, seed = 3, "limit" = 40000, transaction_rows = 20);
CREATE CDC TABLE orders (id BIGINT, amount NUMERIC(12, 2), status TEXT, version BIGINT, PRIMARY KEY (id) NOT ENFORCED)
  WITH (merge_mode = 'read', cascade_interval = '20 milliseconds');
ALTER CDC TABLE orders ATTACH STREAM changes`

// until polls a condition that another part of the process brings about.
func until(t *testing.T, what string, condition func() bool) {
	t.Helper()
	deadline := time.Now().Add(time.Minute)
	for !condition() {
		if time.Now().After(deadline) {
			t.Fatalf("waited in vain for %s", what)
		}
		time.Sleep(5 * time.Millisecond)
	}
}

func TestCDCTableFollowsItsStream(t *testing.T) {
	e, s := open(t, engine.Options{Settings: map[string]string{"execution.cdc.append_max_read_ms": "5", "execution.cdc.append_max_rows": "700"}})
	rows(t, s, cdcSetup)
	expect(t, s, "SELECT stream_name, state, has_worker, apply_count FROM information_schema.cdc_ingests", "changes|paused|f|0")
	rows(t, s, "ALTER CDC TABLE orders RESUME")
	reader := session(t, e)
	until(t, "the stream's end", func() bool {
		// Every answer is a state the table was in: one live row a key.
		got := rows(t, reader, "SELECT count(*) - count(DISTINCT id), coalesce((SELECT position FROM information_schema.streams), '') FROM orders")
		dup, position, _ := strings.Cut(got[0], "|")
		if dup != "0" {
			t.Fatalf("%s keys have more than one live row", dup)
		}
		return position == "40000"
	})
	expect(t, s, "SELECT state, phase, has_worker, last_error FROM information_schema.cdc_ingests", "enabled|streaming|t|NULL")
	rows(t, s, "ALTER CDC TABLE orders SUSPEND")
	verify(t, s)
	expect(t, s, "SELECT state, phase, has_worker FROM information_schema.cdc_ingests", "paused|NULL|f")
}

// verify compares the table orders with the generator's model after all 40,000 changes.
func verify(t *testing.T, s *engine.Session) {
	t.Helper()
	r, err := s.Query(t.Context(), "SELECT id, amount, status, version FROM orders")
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	options := map[string]string{"keys": "5000", "rate": "0", "seed": "3", "limit": "40000", "transaction_rows": "20"}
	model, err := generator.NewModel(extension.TableSpec{Columns: r.Schema, Key: []int{0}}, options)
	if err != nil {
		t.Fatal(err)
	}
	if err := model.Apply(40000); err != nil {
		t.Fatal(err)
	}
	var got generator.Checksum
	for {
		b, err := r.Next(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		if b == nil {
			break
		}
		got.Add(b)
	}
	if want := model.Checksum(); got != want {
		t.Fatalf("%d rows, the model has %d, or they differ", got.Rows, want.Rows)
	}
}

func TestRestartContinuesAfterResume(t *testing.T) {
	root := t.TempDir()
	settings := map[string]string{"execution.cdc.append_max_read_ms": "5", "execution.cdc.append_max_rows": "300"}
	e, s := open(t, engine.Options{Root: root, Settings: settings})
	rows(t, s, cdcSetup+"; ALTER CDC TABLE orders RESUME")
	position := func(s *engine.Session) string {
		return rows(t, s, "SELECT coalesce(position, '') FROM information_schema.streams")[0]
	}
	until(t, "the load", func() bool { return position(s) != "" && position(s) != "0" })
	if err := e.Close(); err != nil {
		t.Fatal(err)
	}
	_, s = open(t, engine.Options{Root: root, Settings: settings})
	expect(t, s, "SELECT state, has_worker FROM information_schema.cdc_ingests", "enabled|f")
	rows(t, s, "ALTER CDC TABLE orders RESUME")
	until(t, "the stream's end", func() bool { return position(s) == "40000" })
	rows(t, s, "ALTER CDC TABLE orders SUSPEND")
	verify(t, s)
}

func TestResumeOnAnotherEngineTakesOver(t *testing.T) {
	root := t.TempDir()
	settings := map[string]string{"execution.cdc.append_max_read_ms": "5", "execution.cdc.append_max_rows": "300"}
	_, first := open(t, engine.Options{Root: root, Settings: settings})
	_, second := open(t, engine.Options{Root: root, Settings: settings})
	rows(t, first, cdcSetup+"; ALTER CDC TABLE orders RESUME")
	until(t, "the load", func() bool {
		return rows(t, second, "SELECT coalesce(max(phase), ''), count(*) FROM information_schema.cdc_ingests")[0] == "|1"
	})
	rows(t, second, "ALTER CDC TABLE orders RESUME")
	until(t, "the first worker's end", func() bool {
		return rows(t, first, "SELECT has_worker FROM information_schema.cdc_ingests")[0] == "f"
	})
	until(t, "the stream's end", func() bool {
		return rows(t, second, "SELECT coalesce(position, '') FROM information_schema.streams")[0] == "40000"
	})
	rows(t, second, "ALTER CDC TABLE orders SUSPEND")
	verify(t, second)
}

func TestReadModeRestrictions(t *testing.T) {
	_, s := open(t, engine.Options{})
	rows(t, s, cdcSetup)
	for _, dml := range []string{
		"INSERT INTO orders VALUES (1, 2, 'x', 3)", "UPDATE orders SET amount = 1", "DELETE FROM orders", "TRUNCATE orders",
		"MERGE INTO orders o USING (SELECT 1 AS id) x ON o.id = x.id WHEN MATCHED THEN DELETE",
	} {
		refuses(t, s, dml, sqlerr.WrongObjectType, "in read mode its state belongs to the ingest worker")
	}
	refuses(t, s, "ALTER TABLE orders ADD COLUMN x INTEGER", sqlerr.WrongObjectType, "columns cannot be changed")
	refuses(t, s, "ALTER TABLE orders SET PRIMARY INDEX (amount)", sqlerr.WrongObjectType, "PRIMARY INDEX cannot be changed")
	refuses(t, s, "CREATE AGGREGATING INDEX i ON orders (status)", sqlerr.FeatureNotSupported, "aggregating index")
	rows(t, s, "ALTER TABLE orders RENAME TO purchases")
	refuses(t, s, "BEGIN; ALTER CDC TABLE purchases RESUME", sqlerr.ActiveTransaction, "transaction block")
	rows(t, s, "ROLLBACK")
	refuses(t, s, "DROP STREAM changes", sqlerr.DependentObjects, "purchases")
	refuses(t, s, `CREATE CDC TABLE x (id BIGINT, __op TEXT, PRIMARY KEY (id) NOT ENFORCED)`, sqlerr.ReservedName, "__")
	refuses(t, s, `CREATE CDC TABLE x (id BIGINT, last_seq BIGINT, PRIMARY KEY (id) NOT ENFORCED)`, sqlerr.ReservedName, "last_seq")
	refuses(t, s, `CREATE CDC TABLE x (id DOUBLE PRECISION, PRIMARY KEY (id) NOT ENFORCED)`, sqlerr.FeatureNotSupported, "merge-key column")
	refuses(t, s, `CREATE CDC TABLE x (id BIGINT)`, sqlerr.InvalidTableDefinition, "PRIMARY KEY")
	refuses(t, s, `CREATE CDC TABLE x (id BIGINT, PRIMARY KEY (id))`, sqlerr.InvalidTableDefinition, "NOT ENFORCED")
	rows(t, s, `CREATE CDC TABLE second (id BIGINT, PRIMARY KEY (id) NOT ENFORCED)`)
	refuses(t, s, `ALTER CDC TABLE second ATTACH STREAM changes`, sqlerr.ObjectInUse, "one stream feeds one")
	refuses(t, s, `ALTER CDC TABLE second RESUME`, sqlerr.ObjectNotInPrerequisite, "no stream attached")
	refuses(t, s, `CREATE STREAM bad FROM GENERATOR WITH (kees = 5)`, sqlerr.InvalidParameterValue, "did you mean keys?")
	refuses(t, s, `CREATE STREAM bad FROM POSTGRESS WITH (x = 5)`, sqlerr.UndefinedObject, "POSTGRES")
}

func TestReadOnlyEngine(t *testing.T) {
	root := t.TempDir()
	_, s := open(t, engine.Options{Root: root})
	rows(t, s, cdcSetup)
	_, reader := open(t, engine.Options{Root: root, ReadOnly: true})
	expect(t, reader, "SELECT count(*) FROM orders", "0")
	refuses(t, reader, "ALTER CDC TABLE orders RESUME", sqlerr.ReadOnlyTransaction, "read-only")
	refuses(t, reader, "CREATE TABLE t (a INTEGER)", sqlerr.ReadOnlyTransaction, "read-only")
}

func TestRetentionOfAnEngine(t *testing.T) {
	if e, err := engine.Open(t.Context(), engine.Options{Root: t.TempDir(), Retention: time.Second}); sqlerr.Code(err) != sqlerr.InvalidParameterValue {
		if err == nil {
			e.Close()
		}
		t.Errorf("a retention of a second: %v, want 22023", err)
	}
	open(t, engine.Options{Retention: time.Minute})
}

func TestTemporaryRelationsBelongToTheSession(t *testing.T) {
	_, s := open(t, engine.Options{})
	for _, query := range []string{
		"CREATE TEMP TABLE public.t (a INT)", "CREATE TEMP VIEW public.v AS SELECT 1 AS a", "CREATE TEMP SEQUENCE public.q",
	} {
		refuses(t, s, query, sqlerr.InvalidTableDefinition, "non-temporary schema")
	}
	rows(t, s, "CREATE TEMP VIEW pg_temp.v AS SELECT 1 AS a; CREATE TEMP SEQUENCE q; CREATE TEMP TABLE t (a INT)")
	expect(t, s, "SELECT a, nextval('q'), (SELECT count(*) FROM t) FROM v", "1|1|0")
}
