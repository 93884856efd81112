package engine

import (
	"testing"

	"github.com/tidemarkdb/tidemark/vec"
)

// TestCachesLetGoOfFilesThatLeftTheSnapshot reads two tables and drops one: the pages and footers of the other stay.
func TestCachesLetGoOfFilesThatLeftTheSnapshot(t *testing.T) {
	e, err := Open(t.Context(), Options{Root: t.TempDir()})
	if err != nil {
		t.Fatal(err)
	}
	defer e.Close()
	s, err := e.NewSession(SessionOptions{})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	run := func(query string) {
		t.Helper()
		r, err := s.Query(t.Context(), query)
		if err != nil {
			t.Fatal(err)
		}
		defer r.Close()
		for b := (*vec.Batch)(nil); ; {
			if b, err = r.Next(t.Context()); err != nil {
				t.Fatal(err)
			}
			if b == nil {
				return
			}
		}
	}
	run("CREATE TABLE stays AS SELECT generate_series AS a FROM generate_series(1, 10000)")
	run("SELECT sum(a) FROM stays WHERE a > 1")
	alone := e.store.Pages.Stats()
	if alone.Pages == 0 || alone.Files == 0 {
		t.Fatalf("nothing is cached after a query: %+v", alone)
	}
	since := e.forget(0)
	run("CREATE TABLE goes AS SELECT generate_series AS a FROM generate_series(1, 10000)")
	run("SELECT sum(a) FROM goes WHERE a > 1")
	if both := e.store.Pages.Stats(); both.Pages <= alone.Pages || both.Files <= alone.Files {
		t.Fatalf("the second table is not cached: %+v after %+v", both, alone)
	}
	since = e.forget(since)
	run("DROP TABLE goes")
	e.forget(since)
	if left := e.store.Pages.Stats(); left.Pages != alone.Pages || left.Files != alone.Files || left.Bytes != alone.Bytes {
		t.Errorf("after the drop the cache holds %+v, want %+v", left, alone)
	}
}
