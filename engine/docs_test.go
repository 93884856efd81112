package engine_test

import (
	"os"
	"strings"
	"testing"

	"github.com/tidemarkdb/tidemark/sql"
)

// TestDocumentedStatementsParse reads every SQL block of the pages about statements.
func TestDocumentedStatementsParse(t *testing.T) {
	for _, page := range []string{"../docs/sql/statements.md", "../docs/sql/catalog.md", "../docs/cdc-tables.md"} {
		text, err := os.ReadFile(page)
		if err != nil {
			t.Fatal(err)
		}
		blocks := strings.Split(string(text), "```")
		found := 0
		for i := 1; i < len(blocks); i += 2 {
			block, isSQL := strings.CutPrefix(blocks[i], "sql\n")
			if !isSQL {
				continue
			}
			found++
			if _, err := sql.Parse(block); err != nil {
				t.Errorf("%s: %v in\n%s", page, err, block)
			}
		}
		if found == 0 {
			t.Errorf("%s has no SQL", page)
		}
	}
}
