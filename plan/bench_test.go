package plan

import (
	"strings"
	"testing"

	"context"
	"github.com/tidemarkdb/tidemark/sql"
)

// BenchmarkTPCH plans each TPC-H query, parsed before.
func BenchmarkTPCH(b *testing.B) {
	c := newTestCatalog()
	for _, g := range readGolden(b, "testdata/optimize/tpch.txt") {
		name, text, _ := strings.Cut(strings.TrimPrefix(g.query, "-- "), "\n")
		tree := mustParse(text)
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				planOnce(b, c, tree)
			}
		})
	}
}

func planOnce(b *testing.B, c Catalog, tree sql.QueryExpr) {
	q, err := Bind(context.Background(), tree, c, Options{})
	if err != nil {
		b.Fatal(err)
	}
	if _, err := Optimize(q); err != nil {
		b.Fatal(err)
	}
}
