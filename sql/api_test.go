package sql

import (
	"strings"
	"testing"
)

func TestParamCount(t *testing.T) {
	for text, want := range map[string]int{
		"SELECT 1": 0, "SELECT ?, ? LIMIT ?": 3, "SELECT $2": 2, "INSERT INTO t VALUES (?, (SELECT ?))": 2,
		"SELECT sum(a) OVER (ORDER BY b ROWS $1 PRECEDING) FROM f($2) JOIN u ON $3": 3,
	} {
		s, err := ParseOne(text)
		if err != nil {
			t.Fatal(err)
		}
		if got := ParamCount(s); got != want {
			t.Errorf("%s: %d, want %d", text, got, want)
		}
	}
}

func TestExprText(t *testing.T) {
	for text, want := range map[string]string{
		"a+b*c":                        "a + b * c",
		"(a+b)*c":                      "(a + b) * c",
		"a-(b-c)":                      "a - (b - c)",
		"-A^2":                         "-a ^ 2",
		"not a = b":                    "NOT a = b",
		"a or b and c":                 "a OR b AND c",
		"(a or b) and c":               "(a OR b) AND c",
		"x::int::text":                 "CAST(CAST(x AS int) AS text)",
		"ts at time zone 'UTC'":        "timezone('UTC', ts)",
		"extract(year from d)":         "extract('year', d)",
		`"Mixed"."order"`:              `"Mixed"."order"`,
		"a!=-1":                        "a <> -1",
		"a <@ b || c":                  "a <@ b || c",
		"a || b <@ c":                  "a || b <@ c",
		"x between 1 and 2 and y":      "x BETWEEN 1 AND 2 AND y",
		"a is null = b":                "(a IS NULL) = b",
		"a IN (1) IS TRUE":             "a IN (1) IS TRUE",
		"a < b IS NOT NULL":            "a < b IS NOT NULL",
		"timestamp with time zone 'x'": "timestamptz 'x'",
	} {
		e, err := ParseExpr(text)
		if err != nil {
			t.Errorf("%s: %v", text, err)
			continue
		}
		if got := Text(e); got != want {
			t.Errorf("%s: %s, want %s", text, got, want)
		}
	}
}

func TestParseSplitsStatements(t *testing.T) {
	text := ";; SELECT 1; -- comment\n SELECT ';' ;/* a /* nested */ ; */ COMMIT"
	got, err := Parse(text)
	if err != nil || len(got) != 3 {
		t.Fatalf("got %d statements, %v; want 3", len(got), err)
	}
	if want := strings.Index(text, "COMMIT") + 1; got[2].Position() != want {
		t.Errorf("third statement at %d, want %d", got[2].Position(), want)
	}
	if _, err := ParseOne("SELECT 1; SELECT 2"); err == nil {
		t.Error("ParseOne must refuse two statements")
	}
	if _, err := ParseOne(" ; "); err == nil {
		t.Error("ParseOne must refuse none")
	}
}

func TestPrintingNestedGroupingIsLinear(t *testing.T) {
	const depth = 60 // printing each level twice would not end
	text := strings.Repeat("SELECT 1 GROUP BY (", depth) + "SELECT 1" + strings.Repeat(")", depth)
	s, err := ParseOne(text)
	if err != nil {
		t.Fatal(err)
	}
	if got := Text(s); got != text {
		t.Errorf("got %.100s...", got)
	}
}
