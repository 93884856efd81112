package engine_test

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/tidemarkdb/tidemark/engine"
)

// TestFootersAnswer checks that counts, minima and maxima of whole files come from their footers where these tell, and
// are right where they do not.
func TestFootersAnswer(t *testing.T) {
	folder := t.TempDir()
	_, s := open(t, engine.Options{AllowPaths: []string{folder}})
	write := func(name, query string) string {
		path := filepath.Join(folder, name)
		rows(t, s, "COPY ("+query+") TO '"+path+"' (FORMAT parquet)")
		return path
	}
	const values = `SELECT x AS i, CASE WHEN x % 3 = 0 THEN x END AS holes, NULL::date AS never, DATE '2024-01-01' + x AS d,
		x::numeric(9,2) / 4 AS n, CASE WHEN x = 50 THEN 'NaN' ELSE x::float8 END AS f, 'text ' || x AS s, x % 2 = 0 AS b FROM generate_series(1::integer, 100) AS g(x)`
	one := write("one.parquet", values)
	write("two.parquet", "SELECT x + 100 AS i, NULL::integer AS holes, NULL::date AS never, DATE '2020-02-29' AS d, 0.25::numeric(9,2) / 1 AS n, -1::float8 AS f, 'a' AS s, true AS b FROM generate_series(1::integer, 7) AS g(x)")
	write("none.parquet", values+" LIMIT 0")
	all := "read_parquet(['" + one + "', '" + filepath.Join(folder, "two.parquet") + "', '" + filepath.Join(folder, "none.parquet") + "'])"
	expect(t, s, "SELECT count(*), count(i), count(holes), count(never) FROM "+all, "107|107|33|0")
	expect(t, s, "SELECT min(i), max(i), min(holes), max(holes), min(never), max(never), min(d), max(d), min(b), max(b) FROM "+all,
		"1|107|3|99|NULL|NULL|2020-02-29|2024-04-10|f|t")
	expect(t, s, "SELECT min(n), max(n) FROM "+all, "0.2500000000000000|25.0000000000000000")
	expect(t, s, "SELECT min(f), max(f), min(s), max(s) FROM "+all, "-1|NaN|a|text 99")
	expect(t, s, "SELECT min(i), max(i), count(i), count(*) FROM read_parquet('"+filepath.Join(folder, "none.parquet")+"')", "NULL|NULL|0|0")
	expect(t, s, "SELECT min(i), max(i), count(i), count(*) FROM "+all+" WHERE i > 1000", "NULL|NULL|0|0")

	// With its pages gone a file still tells what its footer knows, and nothing else.
	blind := write("blind.parquet", values)
	content, err := os.ReadFile(blind)
	if err != nil {
		t.Fatal(err)
	}
	clear(content[4:200])
	if err := os.WriteFile(blind, content, 0o600); err != nil {
		t.Fatal(err)
	}
	expect(t, s, "SELECT min(i), max(i), min(d), max(b), count(*) FROM read_parquet('"+blind+"')", "1|100|2024-01-02|t|100")
	if _, err := tryRows(t.Context(), s, "SELECT sum(i) FROM read_parquet('"+blind+"')"); err == nil {
		t.Error("the pages are gone and no one noticed")
	}
}
