package cdc

import (
	"fmt"
	"testing"

	. "github.com/tidemarkdb/tidemark/integration/enginetest"
	"github.com/tidemarkdb/tidemark/integration/scripted"
)

// TestTheKeyIsTrusted declares a key that does not identify the rows of the source: those of one key are versions of one
// row, within a tablet of the load (one thread) and among several (one for each thread), and stay so as changes follow.
func TestTheKeyIsTrusted(t *testing.T) {
	for _, threads := range []int{1, 4} {
		t.Run(fmt.Sprint(threads), func(t *testing.T) {
			h := newHouse(t)
			var changes []scripted.Change
			for id := range int64(4000) {
				changes = append(changes, insert(id, id%700, fmt.Sprint(id%700, " of ", id)))
			}
			h.source.Commit(changes...)
			Rows(t, h.s, fmt.Sprintf(`SET execution.cdc.append_max_threads = %d;
				CREATE STREAM changes FROM SCRIPTED WITH ("table" = 'orders');
				CREATE CDC TABLE orders (id BIGINT, n BIGINT, note TEXT, PRIMARY KEY (n) NOT ENFORCED) WITH (cascade_interval = '5 milliseconds');
				ALTER CDC TABLE orders ATTACH STREAM changes`, threads))
			h.resume()
			h.caughtUp(h.s)
			oneEach := func(when string) {
				t.Helper()
				if got := One(t, h.s, "SELECT count(*), count(DISTINCT n), count(*) FILTER (WHERE note = n || ' of ' || id) FROM orders"); got != "700|700|700" {
					t.Fatalf("%s: %s", when, got)
				}
			}
			oneEach("after the load")
			Until(t, "the load to be counted", func() bool { return series(t, h.engine)["initial_load_rows"] == 700 })
			for round := range int64(12) { // each a part of the keys, so that tablets gather and their key files are merged
				changes = nil
				for n := round; n < 700; n += 9 {
					changes = append(changes, insert(10_000+n, n, fmt.Sprint(n, " of ", 10_000+n)))
				}
				h.source.Commit(changes...)
				h.caughtUp(h.s)
				oneEach("after a change")
				UntilRow(t, h.s, "SELECT staging_tablets FROM information_schema.tables WHERE table_name = 'orders'", "0")
			}
			Rows(t, h.s, "VACUUM orders")
			oneEach("after maintenance")
			Expect(t, h.s, "SELECT count(*) FROM orders WHERE id >= 10000", "700")
			Expect(t, h.s, "SELECT state, error_count FROM information_schema.cdc_ingests", "enabled|0")
		})
	}
}
