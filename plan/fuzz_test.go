package plan

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/tidemarkdb/tidemark/sql"
	"github.com/tidemarkdb/tidemark/sqlerr"
)

// checkPlanning binds and optimises text, if it is a query. Errors must be the user's.
func checkPlanning(t *testing.T, c Catalog, text string) {
	statements, err := sql.Parse(text)
	if err != nil {
		return
	}
	for _, s := range statements {
		tree, ok := s.(sql.QueryExpr)
		if !ok {
			continue
		}
		q, err := Bind(context.Background(), tree, c, Options{})
		if err != nil {
			notInternal(t, text, err)
			continue
		}
		out, err := Optimize(q)
		if err != nil {
			notInternal(t, text, err)
			continue
		}
		if err := Verify(out.Plan); err != nil {
			t.Errorf("%s\n%v", text, err)
		}
		sameSchema(t, q, out)
		if _, err := Explain(out.Plan, ExplainOptions{}); err != nil {
			t.Errorf("%s\n%v", text, err)
		}
	}
}

func notInternal(t *testing.T, text string, err error) {
	if e := sqlerr.From(err); e.Code == sqlerr.Internal {
		t.Errorf("%s\n%v", text, err)
	}
}

// corpus returns the statements of the golden files here and of the parser's corpus.
func corpus(t testing.TB) []string {
	var out []string
	own, _ := filepath.Glob("testdata/*/*.txt")
	for _, path := range own {
		for _, g := range readGolden(t, path) {
			out = append(out, g.query)
		}
	}
	for _, e := range errorCases {
		out = append(out, e.query)
	}
	parsers, _ := filepath.Glob("../sql/testdata/*")
	for _, path := range parsers {
		text, err := os.ReadFile(path)
		if err != nil {
			continue
		}
		out = append(out, strings.Split(string(text), "\n")...)
	}
	return out
}

// TestCorpus plans everything the parser's tests parse, over the tables of these tests.
func TestCorpus(t *testing.T) {
	c := newTestCatalog()
	for _, text := range corpus(t) {
		checkPlanning(t, c, text)
	}
}

func FuzzPlanning(f *testing.F) {
	for _, text := range corpus(f) {
		f.Add(text)
	}
	c := newTestCatalog()
	f.Fuzz(func(t *testing.T, text string) { checkPlanning(t, c, text) })
}
