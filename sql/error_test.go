package sql

import (
	"strings"
	"testing"

	"github.com/tidemarkdb/tidemark/sqlerr"
)

func TestErrors(t *testing.T) {
	for _, c := range []struct {
		text, code string
		pos        int
		message    string
		hint       string // a part of it
	}{
		{"SELECT a FORM t", "42601", 10, `syntax error at or near "FORM"`, "did you mean FROM?"},
		{"SELECT * FORM t", "42601", 10, `syntax error at or near "FORM"`, "did you mean FROM?"},
		{"SELEC 1", "42601", 1, `syntax error at or near "SELEC"`, "did you mean SELECT?"},
		{"SELECT a FROM t WEHRE a = 1", "42601", 17, `syntax error at or near "WEHRE"`, "did you mean WHERE?"},
		{"SELECT a FROM t GRUOP BY a", "42601", 17, `syntax error at or near "GRUOP"`, "did you mean GROUP?"},
		{"CREATE TABEL t (a int)", "42601", 8, `syntax error at or near "TABEL"`, "did you mean TABLE?"},
		{"ALTER CDC TABLE t RESUEM", "42601", 19, `syntax error at or near "RESUEM"`, "did you mean RESUME?"},
		{"CREATE TABLE order (a int)", "42601", 14, `syntax error at or near "order"`, `write "order"`},
		{"SELECT 1 +", "42601", 11, "syntax error at end of input", ""},
		{"SELECT (1", "42601", 10, "syntax error at end of input", "the bracket at position 8"},
		{"SELECT 'abc", "42601", 8, "unterminated quoted string", "close it with '"},
		{`SELECT "abc`, "42601", 8, "unterminated quoted identifier", `close it with "`},
		{"SELECT 1 /* x", "42601", 10, "unterminated /* comment", "*/"},
		{"SELECT $$x", "42601", 8, "unterminated dollar-quoted string", "$$"},
		{"SELECT 12abc", "42601", 8, `trailing junk after numeric literal at or near "12a"`, "space"},
		{`SELECT E'\uZZZZ'`, "22025", 10, "invalid escape in an E'' string", "hexadecimal"},
		{"SELECT 1 < 2 < 3", "42601", 14, `syntax error at or near "<"`, "AND"},
		{"SELECT ?, $1", "42601", 11, "the statement mixes ? and numbered parameters", "one of the two"},
		{"SELECT $0", "42P02", 8, "there is no parameter $0", "$1"},
		{"SELECT 1 LIMIT 1, 2", "42601", 17, "LIMIT #,# syntax is not supported", "OFFSET"},
		{"(SELECT 1 ORDER BY 1) ORDER BY 1", "42601", 1, "multiple ORDER BY clauses not allowed", "FROM"},
		{"(SELECT 1 LIMIT 5) LIMIT 3", "42601", 1, "multiple LIMIT clauses not allowed", "FROM"},
		{"WITH a AS (SELECT 1) (WITH b AS (SELECT 2) SELECT 3)", "42601", 1, "multiple WITH clauses not allowed", "FROM"},
		{"SELECT 1 FOR UPDATE", "0A000", 10, "locking rows by FOR UPDATE or FOR SHARE is not supported", "40001"},
		{"SELECT (WITH x AS (DELETE FROM t RETURNING a) SELECT a FROM x)", "0A000", 20, "a statement that changes data in a WITH that is not at the top level is not supported", "top"},
		{"SELECT sum(a) OVER (ROWS BETWEEN CURRENT ROW AND 1 PRECEDING) FROM t", "42P20", 21, "the frame ends before it starts", "BETWEEN"},
		{"MERGE INTO t USING u ON true WHEN MATCHED THEN INSERT VALUES (1)", "42601", 48, "the action does not fit its WHEN clause", "WHEN NOT MATCHED inserts"},
		{`COPY t FROM "x.csv"`, "42601", 13, `syntax error at or near ""x.csv""`, "single quotes"},
		{"SELECT 1; SELECT FROM WHERE", "42601", 23, `syntax error at or near "WHERE"`, "reserved word"},
		{"SELECT \xff", "22P02", 0, "the SQL text is not valid UTF-8", "UTF-8"},
		{"SELECT €", "", 0, "", ""},
	} {
		_, err := Parse(c.text)
		if c.code == "" {
			if err != nil {
				t.Errorf("%s: %v", c.text, err)
			}
			continue
		}
		got := sqlerr.From(err)
		if got == nil {
			t.Errorf("%s: no error", c.text)
			continue
		}
		if got.Code != c.code || got.Pos != c.pos || got.Message != c.message || !strings.Contains(got.Hint, c.hint) {
			t.Errorf("%s:\n got %s %d %s; %s\nwant %s %d %s; %s", c.text, got.Code, got.Pos, got.Message, got.Hint, c.code, c.pos, c.message, c.hint)
		}
	}
}

func TestDepthIsLimited(t *testing.T) {
	const n = 200_000
	for name, text := range map[string]string{
		"parentheses": "SELECT " + strings.Repeat("(", n) + "1" + strings.Repeat(")", n),
		"operators":   "SELECT 1" + strings.Repeat(" + 1", n),
		"minus":       "SELECT " + strings.Repeat("- ", n) + "1",
		"not":         "SELECT " + strings.Repeat("NOT ", n) + "a",
		"casts":       "SELECT a" + strings.Repeat("::int", n),
		"unions":      "SELECT 1" + strings.Repeat(" UNION ALL SELECT 1", n),
		"joins":       "SELECT 1 FROM a" + strings.Repeat(" CROSS JOIN b", n),
		"nested join": "SELECT 1 FROM a" + strings.Repeat(" JOIN b", n),
		"types":       "SELECT a::" + strings.Repeat("struct(a ", n),
		"explain":     strings.Repeat("EXPLAIN ", n) + "SELECT 1",
		"rollup":      "SELECT 1 GROUP BY " + strings.Repeat("ROLLUP (", n),
		"options":     "CREATE TABLE t () WITH (a = " + strings.Repeat("(", n),
		"from":        "SELECT 1 FROM " + strings.Repeat("(", n),
	} {
		if _, err := Parse(text); sqlerr.Code(err) != sqlerr.StatementTooComplex {
			t.Errorf("%s: %.200v, want SQLSTATE %s", name, err, sqlerr.StatementTooComplex)
		}
	}
}

func TestLongFlatStatementsParse(t *testing.T) {
	const n = 50_000
	for name, text := range map[string]string{
		"and":    "SELECT a" + strings.Repeat(" AND a", n),
		"in":     "SELECT a IN (1" + strings.Repeat(", 1", n) + ")",
		"values": "INSERT INTO t VALUES (1)" + strings.Repeat(", (-1::int)", n),
		"concat": "SELECT a" + strings.Repeat(" || a", 3000),
	} {
		if _, err := Parse(text); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
}
