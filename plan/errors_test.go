package plan

import (
	"context"
	"strings"
	"testing"

	"github.com/tidemarkdb/tidemark/sqlerr"
)

// errorCases are statements with the SQLSTATE, the message, a part of the hint ("" for none asked) and the text at the
// position the error names.
var errorCases = []struct{ query, code, message, hint, at string }{
	{"SELECT amout FROM (SELECT 1 AS amount) q", "42703", `column "amout" does not exist`, `did you mean "amount"?`, "amout"},
	{"SELECT 1 AS x WHERE y", "42703", `column "y" does not exist`, "no table in FROM", "y"},
	{"SELECT t.zzz FROM t", "42703", `column t.zzz does not exist`, "", "t.zzz"},
	{"SELECT x.a FROM t", "42P01", `missing FROM-clause entry for table "x"`, "", "x.a"},
	{"SELECT * FROM orderz", "42P01", `relation "orderz" does not exist`, `did you mean "orders"?`, "orderz"},
	{"SELECT a FROM t, u", "42702", `column reference "a" is ambiguous`, "", "a FROM"},
	{"SELECT 1 FROM t, t", "42712", `table name "t" specified more than once`, "alias", "t"},
	{"SELECT a, sum(n) FROM t", "42803", `column "t.a" must appear in the GROUP BY clause or be used in an aggregate function`, "GROUP BY", "a, sum"},
	{"SELECT a FROM t WHERE sum(n) > 1", "42803", "aggregate functions are not allowed in WHERE", "HAVING", "sum"},
	{"SELECT sum(sum(n)) FROM t", "42803", "aggregate function calls cannot be nested", "", "sum(n)"},
	{"SELECT a FROM t GROUP BY sum(n)", "42803", "aggregate functions are not allowed in GROUP BY", "", "sum"},
	{"SELECT (SELECT t.b) FROM t GROUP BY a", "42803", `subquery uses ungrouped column "t.b" from outer query`, "", "t.b"},
	{"SELECT a FROM t WHERE rank() OVER () = 1", "42P20", "window functions are not allowed in WHERE", "QUALIFY", "rank"},
	{"SELECT rank() OVER (ORDER BY rank() OVER ()) FROM t", "42P20", "window function calls cannot be nested", "", "rank() OVER ())"},
	{"SELECT rank() FROM t", "42809", "window function rank requires an OVER clause", "OVER", "rank"},
	{"SELECT sum(a) OVER w FROM t", "42704", `window "w" does not exist`, "WINDOW", "w FROM"},
	{"SELECT sum(a) OVER (RANGE 1 PRECEDING) FROM t", "42P20", "RANGE with offset PRECEDING/FOLLOWING requires exactly one ORDER BY column", "", ""},
	{"SELECT a FROM t ORDER BY 3", "42P10", "ORDER BY position 3 is not in select list", "1 columns", "3"},
	{"SELECT a FROM t GROUP BY 0", "42P10", "GROUP BY position 0 is not in select list", "", "0"},
	{"SELECT DISTINCT a FROM t ORDER BY b", "42P10", "for SELECT DISTINCT, ORDER BY expressions must appear in select list", "", ""},
	{"SELECT DISTINCT ON (a) a FROM t ORDER BY b", "42P10", "SELECT DISTINCT ON expressions must match initial ORDER BY expressions", "", ""},
	{"SELECT a FROM t LIMIT a", "42P10", "argument of LIMIT must not contain variables", "", "a"},
	{"SELECT a FROM t LIMIT (SELECT t.a)", "42P10", "argument of LIMIT must not contain variables", "query of its own", ""},
	{"SELECT a FROM t ORDER BY -1", "42P10", "ORDER BY position -1 is not in select list", "", "1"},
	{"SELECT a FROM t ORDER BY NULL", "42601", "non-integer constant in ORDER BY", "", "NULL"},
	{"SELECT 1 AS a UNION SELECT 2 ORDER BY a + 1", "0A000", "invalid UNION/INTERSECT/EXCEPT ORDER BY clause: only result column names can be used, not expressions", "every SELECT", "+ 1"},
	{"SELECT sum(a) OVER (ORDER BY a ROWS (SELECT t.a) PRECEDING) FROM t", "42P10", "argument of a frame must not contain variables", "constant", ""},
	{"SELECT TINYINT '128'", "22003", "tinyint out of range", "", "TINYINT"},
	{"SELECT a FROM t LIMIT -1", "2201W", "LIMIT must not be negative", "", ""},
	{"SELECT nosuch(1)", "42883", "function nosuch(integer) does not exist", "", "nosuch"},
	{"SELECT a FROM t WHERE s = 1", "42883", "operator does not exist: text = integer", "cast", "="},
	{"SELECT a FROM t WHERE a", "42804", "argument of WHERE must be type boolean, not type integer", "compare", "a"},
	{"SELECT a AND TRUE FROM t", "42804", "argument of AND must be type boolean, not type integer", "", "a AND"},
	{"SELECT CASE WHEN TRUE THEN 1 ELSE s END FROM t", "42804", "CASE types integer and text cannot be matched", "", "CASE"},
	{"SELECT a FROM t UNION SELECT s FROM u", "42804", "UNION types integer and text cannot be matched", "", "UNION"},
	{"SELECT a FROM t UNION SELECT a, c FROM u", "42601", "each UNION query must have the same number of columns", "", "UNION"},
	{"SELECT d::bigint FROM t", "42846", "cannot cast type date to bigint", "", "::"},
	{"SELECT 'abc'::int", "22P02", `invalid input syntax for type integer: "abc"`, "", ""},
	{"SELECT d FROM t WHERE d = 'tomorow'", "22007", `invalid input syntax for type date: "tomorow"`, "", ""},
	{"SELECT 1::nosuch", "42704", `type "nosuch" does not exist`, "", "nosuch"},
	{"SELECT 1::numeric(50)", "22023", "NUMERIC precision 50 must be between 1 and 38", "", ""},
	{"SELECT (SELECT 1, 2)", "42601", "subquery must return only one column", "", ""},
	{"SELECT a IN (SELECT 1, 2) FROM t", "42601", "subquery has too many columns", "", "IN"},
	{"SELECT * FROM t JOIN u USING (b)", "42703", `column "b" specified in USING clause does not exist in right table`, "", "b"},
	{"SELECT * FROM t RIGHT JOIN LATERAL (SELECT t.a) q ON TRUE", "42P10", "invalid reference to FROM-clause entry: the combining JOIN type must be INNER or LEFT for a LATERAL reference", "", ""},
	{"SELECT * FROM t, (SELECT t.a) q", "42P01", `missing FROM-clause entry for table "t"`, "", "t.a"},
	{"SELECT * FROM loop", "42P17", `infinite recursion detected in rules for relation "loop"`, "", ""},
	{"WITH RECURSIVE r AS (SELECT 1 FROM r) SELECT * FROM r", "42P19", `recursive query "r" does not have the form non-recursive-term UNION [ALL] recursive-term`, "", "r AS"},
	{"WITH RECURSIVE r(n) AS (SELECT 1 UNION ALL SELECT 1.5 FROM r) SELECT * FROM r", "42804", `recursive query "r" column 1 has type integer in non-recursive term but type numeric(2,1) overall`, "", ""},
	{"WITH x AS (SELECT 1), x AS (SELECT 2) SELECT 1", "42712", `WITH query name "x" specified more than once`, "", ""},
	{"SELECT * EXCLUDE (zz) FROM t", "42703", `column "zz" in EXCLUDE list not found`, "", "zz"},
	{"SELECT *", "42601", "SELECT * with no tables specified is not valid", "FROM", "*"},
	{"SELECT unnest(xs) + 1 FROM t WHERE unnest(xs) = 1", "0A000", "set-returning functions are not allowed in WHERE", "", "unnest"},
	{"SELECT ({'k': 1}).j", "42703", `field "j" does not exist in struct(k integer)`, "", "j"},
	{"SELECT (a).x FROM t", "42809", "column notation .x applied to type integer, which is not a composite type", "", "x FROM"},
	{`SELECT s COLLATE "de_DE" FROM t`, "42704", `collation "de_DE" does not exist`, "", ""},
	{"VALUES (1), (2, 3)", "42601", "VALUES lists must all be the same length", "", ""},
	{"SELECT upper(DISTINCT s) FROM t", "42809", "DISTINCT specified, but upper is not an aggregate function", "", "upper"},
	{"SELECT GROUPING(b) FROM t GROUP BY a", "42803", "arguments to GROUPING must be grouping expressions of the associated query level", "", "GROUPING"},
	{"SELECT (1, 2) = (1, 2, 3)", "42601", "unequal number of entries in row expressions", "", "="},
	{"SELECT count(*) FROM t TABLESAMPLE BERNOULLI (200)", "2202H", "sample percentage must be between 0 and 100", "", ""},
}

func TestErrors(t *testing.T) {
	c := newTestCatalog()
	for _, e := range errorCases {
		t.Run(e.query, func(t *testing.T) {
			_, err := Bind(context.Background(), parse(t, e.query), c, Options{})
			if err == nil {
				t.Fatalf("no error; want %s", e.message)
			}
			got := sqlerr.From(err)
			if got.Code != e.code || got.Message != e.message {
				t.Errorf("got  %s %s\nwant %s %s", got.Code, got.Message, e.code, e.message)
			}
			if !strings.Contains(got.Hint, e.hint) {
				t.Errorf("hint %q does not contain %q", got.Hint, e.hint)
			}
			if e.at != "" && (got.Pos < 1 || !strings.HasPrefix(e.query[got.Pos-1:], e.at)) {
				t.Errorf("position %d, want that of %q", got.Pos, e.at)
			}
		})
	}
}

// TestParameterTypes checks what is reported of parameters.
func TestParameterTypes(t *testing.T) {
	c := newTestCatalog()
	for query, want := range map[string]string{
		"SELECT $1": "text",
		"SELECT a FROM t WHERE a = $1 AND d < $2":            "integer, date",
		"SELECT $2 + 1, $1::bigint":                          "bigint, integer",
		"SELECT a FROM t WHERE n BETWEEN $1 AND $2 LIMIT $3": "numeric(12,2), numeric(12,2), bigint",
		"SELECT CASE WHEN $1 THEN $2 ELSE 2.5 END":           "boolean, numeric(2,1)",
		"SELECT a FROM t WHERE s LIKE $1 AND id IN ($2, $3)": "text, bigint, bigint",
		"SELECT a FROM t WHERE a = ANY($1)":                  "integer[]",
		"SELECT COALESCE($1, 5), $3":                         "integer, text, text",
	} {
		q := bindText(t, c, query)
		var names []string
		for _, p := range q.Params {
			names = append(names, p.String())
		}
		if got := strings.Join(names, ", "); got != want {
			t.Errorf("%s: parameters are %s, want %s", query, got, want)
		}
	}
}
