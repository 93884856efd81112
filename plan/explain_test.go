package plan

import (
	"encoding/json"
	"strings"
	"testing"
	"time"

	"github.com/tidemarkdb/tidemark/sqlerr"
	"github.com/tidemarkdb/tidemark/vec"
)

func optimized(t *testing.T, c Catalog, text string) *Query {
	t.Helper()
	out, err := Optimize(bindText(t, c, text))
	if err != nil {
		t.Fatalf("%s\n%v", text, err)
	}
	return out
}

func TestExplainShowsEstimatesAndMeasurements(t *testing.T) {
	q := optimized(t, newTestCatalog(), "SELECT count(*) FROM orders WHERE o_orderstatus = 'F'")
	scan := q.Plan.Inputs()[0].Inputs()[0]
	text, err := Explain(q.Plan, ExplainOptions{Metrics: map[Node]*Metrics{
		scan: {Rows: 7, Time: 1500 * time.Microsecond, MemoryBytes: 2048, Extra: "tablets pruned: 3"}}})
	if err != nil {
		t.Fatal(err)
	}
	want := "Scan orders [o_orderstatus#3]  (rows=500000)  (actual rows=7 time=1.500ms memory=2.0KiB)  tablets pruned: 3"
	if !strings.Contains(text, want) {
		t.Errorf("got\n%s\nwant a line with %s", text, want)
	}
}

func TestExplainJSON(t *testing.T) {
	q := optimized(t, newTestCatalog(), "SELECT t.a FROM t JOIN u ON t.id = u.id")
	text, err := Explain(q.Plan, ExplainOptions{Format: "JSON"})
	if err != nil {
		t.Fatal(err)
	}
	var trees []struct {
		Operator string
		Inputs   []struct{ Operator string }
	}
	if err := json.Unmarshal([]byte(text), &trees); err != nil {
		t.Fatal(err)
	}
	if len(trees) != 1 || trees[0].Inputs[0].Operator != "Inner Join" {
		t.Errorf("got %+v", trees)
	}
	if _, err := Explain(q.Plan, ExplainOptions{Format: "xml"}); sqlerr.Code(err) != sqlerr.InvalidParameterValue {
		t.Errorf("an unknown format gives %v", err)
	}
}

// TestParametersFoldBeforeOptimizing checks that values given for parameters reach the scan as constants.
func TestParametersFoldBeforeOptimizing(t *testing.T) {
	q := bindText(t, newTestCatalog(), "SELECT a FROM t WHERE id = $1 + 1 AND a IN (SELECT c FROM u WHERE u.s = $2)")
	q, err := q.WithParams([]vec.Value{vec.IntValue(vec.Int64Type, 6), vec.StringValue(vec.TextType, "x")})
	if err != nil {
		t.Fatal(err)
	}
	out, err := Optimize(q)
	if err != nil {
		t.Fatal(err)
	}
	text := explainText(t, out.Plan)
	for _, want := range []string{"= 7", "= 'x'"} {
		if !strings.Contains(text, want) {
			t.Errorf("no %q in\n%s", want, text)
		}
	}
	if _, err := q.WithParams(nil); sqlerr.Code(err) != sqlerr.UndefinedParameter {
		t.Errorf("missing values give %v", err)
	}
}
