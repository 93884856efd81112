package functions

import (
	"regexp"
	"strings"
	"testing"

	"github.com/tidemarkdb/tidemark/engine"
	"github.com/tidemarkdb/tidemark/extension"
	"github.com/tidemarkdb/tidemark/function"
	"github.com/tidemarkdb/tidemark/integration/enginetest"
)

var query = regexp.MustCompile(`(?i)^\s*(SELECT|WITH|VALUES|FROM|TABLE)\b`)

// setUp makes what examples refer to: a table in version 1 of the root, a row in version 2.
const setUp = "CREATE TABLE orders (id BIGINT PRIMARY KEY, amount NUMERIC(12, 2)); INSERT INTO orders VALUES (1, 10)"

func TestExamples(t *testing.T) {
	r := extension.NewRegistry()
	function.RegisterAll(r)
	s := enginetest.Session(t, enginetest.Open(t, engine.Options{}))
	if _, err := enginetest.Try(s, setUp); err != nil {
		t.Fatal(err)
	}
	examples := 0
	for _, name := range r.FunctionNames() {
		for _, d := range r.Defs(name) {
			if d.Def.Name != name {
				continue
			}
			if len(d.Def.Examples) == 0 {
				t.Errorf("%s %s has no example", d.Kind, name)
			}
			for _, e := range d.Def.Examples {
				examples++
				text := e.SQL
				if !query.MatchString(text) {
					text = "SELECT " + text
				}
				rows, err := enginetest.Try(s, text)
				switch {
				case err != nil:
					t.Errorf("%s %s: %s: %v", d.Kind, name, text, err)
				case len(rows) == 0:
					t.Errorf("%s %s: %s: no row", d.Kind, name, text)
				case rows[0] != e.Result && !strings.HasPrefix(rows[0], e.Result+"|"):
					t.Errorf("%s %s: %s: %q, not %q", d.Kind, name, text, rows[0], e.Result)
				}
			}
		}
	}
	t.Logf("%d examples", examples)
}
