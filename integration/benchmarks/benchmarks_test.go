package benchmarks

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/tidemarkdb/tidemark/engine"
	"github.com/tidemarkdb/tidemark/integration/pyvenv"
	"github.com/tidemarkdb/tidemark/vec"
)

// scale returns the scale factor of a benchmark: TIDEMARK_SCALE where it is set, as make tpc does.
func scale(usual string) string {
	if s := os.Getenv("TIDEMARK_SCALE"); s != "" {
		return s
	}
	return usual
}

func TestTPCH(t *testing.T) { check(t, "tpch", scale("0.1"), 22) }

func TestTPCDS(t *testing.T) { check(t, "tpcds", scale("0.1"), 99) }

func TestHits(t *testing.T) { check(t, "hits", scale("0.2"), 43) }

// query is one query with DuckDB's answer.
type query struct {
	Name  string
	SQL   string
	Types []string
	Rows  [][]*string // nil is NULL
}

// dataOf makes the data of a benchmark and returns its folder, the tables and the queries with their answers.
func dataOf(t *testing.T, kind, scale string, queries int) (folder string, tables []string, list []query) {
	t.Helper()
	folder = t.TempDir()
	make := exec.Command(pyvenv.Python(t), "data.py", kind, scale, folder)
	if out, err := make.CombinedOutput(); err != nil {
		t.Fatalf("making the data of %s: %v\n%s", kind, err, out)
	}
	readJSON(t, filepath.Join(folder, "queries.json"), &list)
	readJSON(t, filepath.Join(folder, "tables.json"), &tables)
	if len(list) != queries {
		t.Fatalf("%d queries of %s, want %d", len(list), kind, queries)
	}
	return folder, tables, list
}

func check(t *testing.T, kind, scale string, queries int) {
	folder, tables, list := dataOf(t, kind, scale, queries)
	for _, storage := range []struct{ name, create string }{
		{"parquet", "CREATE VIEW %s AS SELECT * FROM read_parquet('%s')"},
		{"tablets", "CREATE TABLE %s AS SELECT * FROM read_parquet('%s')"},
	} {
		t.Run(storage.name, func(t *testing.T) {
			s := session(t, folder)
			create(t, s, storage.create, folder, tables)
			for _, q := range list {
				t.Run("q"+q.Name, func(t *testing.T) { q.check(t, s) })
			}
		})
	}
}

// create makes tables or views of the files in the folder.
func create(t *testing.T, s *engine.Session, statement, folder string, tables []string) {
	t.Helper()
	for _, table := range tables {
		file := filepath.Join(folder, table+".parquet")
		if _, _, err := run(t.Context(), s, fmt.Sprintf(statement, table, file)); err != nil {
			t.Fatalf("%s: %v", table, err)
		}
	}
}

func readJSON(t *testing.T, path string, into any) {
	t.Helper()
	content, err := os.ReadFile(path)
	if err == nil {
		err = json.Unmarshal(content, into)
	}
	if err != nil {
		t.Fatal(err)
	}
}

func session(t *testing.T, folder string) *engine.Session {
	e, err := engine.Open(t.Context(), engine.Options{Root: t.TempDir(), AllowPaths: []string{folder}})
	if err != nil {
		t.Fatal(err)
	}
	s, err := e.NewSession(engine.SessionOptions{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		s.Close()
		if err := e.Close(); err != nil {
			t.Error(err)
		}
	})
	return s
}

func (q *query) check(t *testing.T, s *engine.Session) {
	got, schema, err := run(t.Context(), s, q.SQL)
	if err != nil {
		t.Fatalf("%v\n%s", err, q.SQL)
	}
	if len(schema) != len(q.Types) {
		t.Fatalf("%d columns, want %d", len(schema), len(q.Types))
	}
	if fault := q.compare(got, schema); fault != "" {
		t.Errorf("%s\n%s", fault, strings.TrimSpace(q.SQL))
	}
}

// run returns the rows of a query as text, nil for NULL.
func run(ctx context.Context, s *engine.Session, text string) (rows [][]*string, schema vec.Schema, err error) {
	result, err := s.Query(ctx, text)
	if err != nil {
		return nil, nil, err
	}
	defer result.Close()
	for {
		b, err := result.Next(ctx)
		if err != nil || b == nil {
			return rows, result.Schema, err
		}
		for i := range b.N {
			row := make([]*string, len(b.Cols))
			for c, v := range b.Cols {
				if x := v.Value(i); !x.Null {
					text := vec.Format(x)
					row[c] = &text
				}
			}
			rows = append(rows, row)
		}
	}
}
