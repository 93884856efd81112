package parquetstore

import (
	"context"
	"sync/atomic"
	"testing"

	"github.com/tidemarkdb/tidemark/objstore"
)

// countingStore counts requests and bytes, as a bucket would charge them.
type countingStore struct {
	objstore.Store
	requests, bytes atomic.Int64
}

func (s *countingStore) ReadAt(ctx context.Context, path string, p []byte, off int64) (int, error) {
	s.requests.Add(1)
	s.bytes.Add(int64(len(p)))
	return s.Store.ReadAt(ctx, path, p, off)
}

func TestRemoteScansReadAhead(t *testing.T) {
	store := &countingStore{Store: objstore.NewMem(nil)}
	d := writeFile(t, store, "r.parquet", benchColumns, Options{}, benchData()[:30]...)
	f := openTest(t, store, "r.parquet", OpenOptions{})
	opened := store.requests.Load()
	if opened > 4 {
		t.Errorf("opening took %d requests", opened)
	}
	got, err := scanAll(f, &Scan{Columns: allColumns(f), Borrow: true})
	if err != nil {
		t.Fatal(err)
	}
	want := boxed(benchData()[:30]...)
	compareColumns(t, "remote", got, want)
	pages := 0
	for g := range f.groups {
		for leaf := range f.schema.leaves {
			pages += len(f.groups[g].chunks[leaf].peek().pages)
		}
	}
	// Each chunk takes its two indexes and its data, of which text takes two windows.
	if n := store.requests.Load() - opened; n >= int64(pages) || n > int64(4*len(f.groups)*len(f.schema.leaves)) {
		t.Errorf("%d requests for %d pages in %d row groups", n, pages, len(f.groups))
	}
	if n := store.bytes.Load(); n > d.FileBytes*5/4 {
		t.Errorf("%d bytes read of a file of %d", n, d.FileBytes)
	}
}

func TestRemoteFilteredScanReadsLess(t *testing.T) {
	store := &countingStore{Store: objstore.NewMem(nil)}
	d := writeFile(t, store, "r.parquet", benchColumns, Options{}, benchData()[:30]...)
	f := openTest(t, store, "r.parquet", OpenOptions{})
	before := store.bytes.Load()
	readAll(t, f, &Scan{Columns: []int{6}, Predicates: []Predicate{ints(Lt, 0, 100)}})
	if n := store.bytes.Load() - before; n > d.FileBytes/2 {
		t.Errorf("%d of %d bytes read for the first rows of one column", n, d.FileBytes)
	}
}
