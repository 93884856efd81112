package plan

import (
	"context"
	"testing"
)

// TestCapitalsAreFound checks that names without quotes find columns that a file wrote with capitals, unless one in
// lower case, an alias or a table goes by the name.
func TestCapitalsAreFound(t *testing.T) {
	c := newTestCatalog()
	from := ` FROM (SELECT DATE '2020-01-01' AS "ClientIP", TIME '12:00' AS "URL", 2 AS "Size", TRUE AS size) q`
	for query, want := range map[string]string{
		`SELECT ClientIP` + from:                     "date",
		`SELECT q.CLIENTIP` + from:                   "date",
		`SELECT "ClientIP"` + from:                   "date",
		`SELECT max(url)` + from + ` GROUP BY url`:   "time without time zone",
		`SELECT SIZE` + from:                         "boolean",
		`SELECT "Size"` + from:                       "integer",
		`SELECT 'x' AS url` + from + ` ORDER BY url`: "text",
		`SELECT coalesce(Url)` + from:                "time without time zone",
	} {
		q, err := Bind(context.Background(), parse(t, query), c, Options{})
		if err != nil {
			t.Errorf("%s: %v", query, err)
		} else if got := q.Schema[0].Type.String(); got != want {
			t.Errorf("%s: the column is %s, want %s", query, got, want)
		}
	}
	for _, query := range []string{`SELECT "clientip"` + from, `SELECT q."url"` + from} {
		if _, err := Bind(context.Background(), parse(t, query), c, Options{}); err == nil {
			t.Errorf("%s: quotes ask for the name to the letter", query)
		}
	}
}
