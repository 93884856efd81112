package cdc

import (
	"fmt"
	"testing"

	. "github.com/tidemarkdb/tidemark/integration/enginetest"
)

// TestOtherEnginesAreNeverBehind reads on a second engine right after the first has committed: an append of the worker
// and a statement. Nothing is waited for in between.
func TestOtherEnginesAreNeverBehind(t *testing.T) {
	h := newHouse(t)
	h.table("cascade_interval = '7 milliseconds'")
	h.resume()
	_, other := h.open("second")
	Rows(t, h.s, "CREATE TABLE plain (id BIGINT)")
	for i := range int64(40) {
		h.source.Commit(insert(i, i, "new"), update(i/2, i, "changed"))
		h.caughtUp(h.s)
		h.same(other, "orders")
		Rows(t, h.s, fmt.Sprintf("INSERT INTO plain VALUES (%d)", i))
		Expect(t, other, "SELECT count(*), max(id) FROM plain", fmt.Sprintf("%d|%d", i+1, i))
		Rows(t, h.s, fmt.Sprintf("INSERT INTO plain VALUES (%d); DELETE FROM plain WHERE id = %d", -i-1, -i-1))
		Rows(t, other, "BEGIN")
		Rows(t, h.s, fmt.Sprintf("CREATE TABLE t%d (id BIGINT)", i))
		Expect(t, other, fmt.Sprintf("SELECT count(*) FROM t%d", i), "0") // the first statement takes the snapshot
		Rows(t, h.s, "INSERT INTO plain VALUES (1000)")
		Expect(t, other, "SELECT count(*) FROM plain WHERE id = 1000", "0") // and the transaction keeps to it
		Rows(t, other, "COMMIT")
		Expect(t, other, "SELECT count(*) FROM plain WHERE id = 1000", "1")
		Rows(t, other, "DELETE FROM plain WHERE id = 1000")
		p, err := other.Prepare(t.Context(), "SELECT * FROM orders")
		if err != nil || len(p.Schema) != 3 {
			t.Fatalf("preparing: %v, %v", p, err)
		}
	}
}
