package engine_test

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/tidemarkdb/tidemark/engine"
	"github.com/tidemarkdb/tidemark/sqlerr"
)

const copySetup = `CREATE TABLE t (id BIGINT PRIMARY KEY, name TEXT, price NUMERIC(8, 2), at TIMESTAMPTZ, ok BOOLEAN, d DATE);
	INSERT INTO t VALUES (1, 'plain', 1.5, '2024-02-29 12:00:00+00', true, '2024-01-01'), (2, 'with, comma', NULL, NULL, false, NULL),
	(3, 'say "hi"', 0, NULL, NULL, NULL), (4, '', -2.25, NULL, NULL, '1999-12-31'), (5, NULL, NULL, NULL, NULL, NULL), (6, E'two\nlines', 1, NULL, NULL, NULL)`

func TestCopyRoundTrips(t *testing.T) {
	folder := t.TempDir()
	_, s := open(t, engine.Options{AllowPaths: []string{folder}})
	rows(t, s, copySetup)
	want := rows(t, s, "SELECT * FROM t ORDER BY id")
	for _, c := range []struct{ file, options string }{
		{"a.csv", ""}, {"b.txt", " WITH (FORMAT csv, HEADER false, DELIMITER '|', NULL '\\N', QUOTE '''')"}, {"c.tsv", " CSV HEADER DELIMITER E'\\t'"},
		{"d.json", ""}, {"e.parquet", ""}, {"f.bin", " (FORMAT parquet, COMPRESSION zstd)"},
	} {
		path := filepath.Join(folder, c.file)
		tag(t, s, "COPY t TO '"+path+"'"+c.options, "COPY 6")
		rows(t, s, "CREATE OR REPLACE TABLE u (id BIGINT PRIMARY KEY, name TEXT, price NUMERIC(8, 2), at TIMESTAMPTZ, ok BOOLEAN, d DATE)")
		tag(t, s, "COPY u FROM '"+path+"'"+c.options, "COPY 6")
		expect(t, s, "SELECT * FROM u ORDER BY id", want...)
		refuses(t, s, "COPY u FROM '"+path+"'"+c.options, sqlerr.UniqueViolation, "already exists")
	}
	entries, err := os.ReadDir(folder)
	if err != nil || len(entries) != 6 {
		t.Errorf("%d files in the folder, want the 6 written: %v", len(entries), err)
	}
}

// TestCopyOfTypesWithoutAFileForm writes values as text where a format knows nothing like them, and reads them back.
func TestCopyOfTypesWithoutAFileForm(t *testing.T) {
	folder := t.TempDir()
	_, s := open(t, engine.Options{AllowPaths: []string{folder}})
	rows(t, s, `CREATE TABLE t (id BIGINT, at TIMETZ, list TIMETZ[]);
		INSERT INTO t VALUES (1, '12:00+02', '{24:00-03,NULL}'), (2, NULL, NULL), (3, '00:00:00.5-15:59:59', '{}')`)
	for file, columns := range map[string]string{"a.csv": "id, at", "b.json": "id, at", "c.parquet": "id, at, list"} {
		path := filepath.Join(folder, file)
		want := rows(t, s, "SELECT "+columns+" FROM t ORDER BY id")
		tag(t, s, "COPY t ("+columns+") TO '"+path+"'", "COPY 3")
		rows(t, s, "CREATE OR REPLACE TABLE u (id BIGINT, at TIMETZ, list TIMETZ[])")
		tag(t, s, "COPY u ("+columns+") FROM '"+path+"'", "COPY 3")
		expect(t, s, "SELECT "+columns+" FROM u ORDER BY id", want...)
	}
	expect(t, s, "SELECT pg_typeof(at), at FROM '"+filepath.Join(folder, "c.parquet")+"' WHERE id = 1", "text|12:00:00+02")
}

func TestCopyOfColumnsAndQueries(t *testing.T) {
	folder := t.TempDir()
	_, s := open(t, engine.Options{AllowPaths: []string{folder}})
	rows(t, s, copySetup)
	path := filepath.Join(folder, "out.csv")
	rows(t, s, "COPY (SELECT id * 10 AS ten, name FROM t WHERE id < 3 ORDER BY id) TO '"+path+"'")
	got, err := os.ReadFile(path)
	if want := "ten,name\n10,plain\n20,\"with, comma\"\n"; err != nil || string(got) != want {
		t.Errorf("wrote %q, want %q (%v)", got, want, err)
	}
	rows(t, s, "CREATE TABLE u (a INTEGER DEFAULT 5, id BIGINT, name TEXT); COPY u (id, name) FROM '"+path+"' (HEADER)")
	expect(t, s, "SELECT * FROM u ORDER BY id", "5|10|plain", "5|20|with, comma")
	rows(t, s, "COPY t (id, name) TO '"+path+"' (HEADER false)")
	refuses(t, s, "COPY u (id, nome) FROM '"+path+"'", sqlerr.UndefinedColumn, `did you mean "name"?`)
	refuses(t, s, "COPY t TO '/elsewhere.csv'", sqlerr.InsufficientPrivilege, "--allow-path")
	refuses(t, s, "COPY t FROM '"+folder+"/../x.csv'", sqlerr.InsufficientPrivilege, "not allowed")
	refuses(t, s, "COPY t FROM '"+folder+"/missing.csv'", sqlerr.UndefinedFile, "missing.csv")
	refuses(t, s, "COPY t FROM STDIN", sqlerr.FeatureNotSupported, "bulk ingest")
	refuses(t, s, "COPY t TO '"+path+"' (FORMATT csv)", sqlerr.SyntaxError, "did you mean format?")
	refuses(t, s, "COPY (SELECT 1 / 0) TO '"+filepath.Join(folder, "none.csv")+"'", sqlerr.DivisionByZero, "division")
	if _, err := os.Stat(filepath.Join(folder, "none.csv")); err == nil {
		t.Error("a COPY that failed left a file")
	}
}
