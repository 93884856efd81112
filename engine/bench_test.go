package engine_test

import (
	"testing"

	"github.com/tidemarkdb/tidemark/engine"
)

// BenchmarkQuery runs small queries from their text to the last row, as an embedder does.
func BenchmarkQuery(b *testing.B) {
	e, err := engine.Open(b.Context(), engine.Options{Root: b.TempDir()})
	if err != nil {
		b.Fatal(err)
	}
	defer e.Close()
	s, err := e.NewSession(engine.SessionOptions{})
	if err != nil {
		b.Fatal(err)
	}
	defer s.Close()
	if _, err := tryRows(b.Context(), s, "CREATE TABLE small AS SELECT x, x % 10 AS y FROM generate_series(1, 1000) AS g(x)"); err != nil {
		b.Fatal(err)
	}
	for _, c := range []struct{ name, query string }{
		{"one", "SELECT 1"},
		{"point", "SELECT y FROM small WHERE x = 500"},
		{"group", "SELECT y, count(*) FROM small GROUP BY y"},
	} {
		b.Run(c.name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				if _, err := tryRows(b.Context(), s, c.query); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
