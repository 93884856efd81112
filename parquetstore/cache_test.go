package parquetstore

import (
	"context"
	"errors"
	"sync"
	"testing"

	"github.com/tidemarkdb/tidemark/objstore"
	"github.com/tidemarkdb/tidemark/tablet"
	"github.com/tidemarkdb/tidemark/vec"
)

func TestParallelScansDecodeEveryPageOnce(t *testing.T) {
	cache := NewCache(CacheOptions{Bytes: 64 << 20})
	f := countingFile(t, OpenOptions{Tablet: 9, Cache: cache})
	var wg sync.WaitGroup
	counters := new(Counters)
	for range 4 {
		wg.Go(func() {
			got, err := scanAll(f, &Scan{Columns: []int{0, 1, 2}, Counters: counters})
			if err != nil {
				t.Error(err)
				return
			}
			for i, v := range got[0] {
				if v.I != int64(i) {
					t.Errorf("row %d reads %d", i, v.I)
					return
				}
			}
		})
	}
	wg.Wait()
	if n := counters.PagesDecoded.Load(); n != 300 {
		t.Errorf("%d pages decoded, want each of 300 once", n)
	}
	if st := cache.Stats(); st.Misses != 300 || st.Hits != 900 || st.Pages != 300 || st.Files != 1 {
		t.Errorf("%+v", st)
	}
}

func TestCacheKeepsItsBudget(t *testing.T) {
	cache := NewCache(CacheOptions{Bytes: 40_000})
	f := countingFile(t, OpenOptions{Tablet: 9, Cache: cache})
	for range 2 {
		readAll(t, f, &Scan{Columns: []int{0, 1, 2}})
		st := cache.Stats()
		if st.Bytes > 40_000 || st.Pages == 0 {
			t.Errorf("%+v", st)
		}
	}
	if st := cache.Stats(); st.Misses != 600 {
		t.Errorf("a cache of a few pages missed %d times in two scans of 300", st.Misses)
	}
}

func TestRetainForgetsTheOthers(t *testing.T) {
	cache := NewCache(CacheOptions{Bytes: 64 << 20})
	f := countingFile(t, OpenOptions{Tablet: 9, Cache: cache})
	other := countingFile(t, OpenOptions{Tablet: 10, Cache: cache})
	readAll(t, f, &Scan{Columns: []int{0}})
	readAll(t, other, &Scan{Columns: []int{0}})
	cache.Retain(func(id tablet.ID) bool { return id != 9 })
	if st := cache.Stats(); st.Pages != 100 || st.Files != 1 || st.Bytes <= 0 {
		t.Errorf("after dropping one of two tablets: %+v", st)
	}
	readAll(t, f, &Scan{Columns: []int{1}}) // still open: goes on
	cache.Retain(func(tablet.ID) bool { return false })
	if st := cache.Stats(); st.Pages != 0 || st.Bytes != 0 || st.Files != 0 {
		t.Errorf("after dropping all tablets: %+v", st)
	}
}

func TestFilesAreEvictedAndOpenedAgain(t *testing.T) {
	cache := NewCache(CacheOptions{Files: 4})
	store := localStore(t)
	columns := []tablet.Column{column(0, vec.Int64Type, false)}
	path := func(i int) string { return tablet.ParquetPath(1, tablet.ID(i)) }
	for i := 1; i <= 20; i++ {
		writeFile(t, store, path(i), columns, Options{}, vec.NewBatch(1, vec.FlatOf(vec.Int64Type, []int64{int64(i)}, nil)))
	}
	var wg sync.WaitGroup
	for worker := range 4 {
		wg.Go(func() {
			for k := range 100 {
				i := (k*7+worker*3)%20 + 1
				f, err := Open(context.Background(), store, path(i), OpenOptions{Tablet: tablet.ID(i), Cache: cache})
				if err != nil {
					t.Error(err)
					return
				}
				got, err := scanAll(f, &Scan{Columns: []int{0}})
				if err != nil || got[0][0].I != int64(i) {
					t.Errorf("tablet %d reads %v: %v", i, got, err)
				}
				f.Close()
			}
		})
	}
	wg.Wait()
	if st := cache.Stats(); st.Files > 5 {
		t.Errorf("%d files are open where 4 may be", st.Files)
	}
}

func TestCancelledLoadIsNotTheErrorOfOthers(t *testing.T) {
	cache := NewCache(CacheOptions{Bytes: 1 << 20})
	key := pageKey{tablet: 1}
	started, finish := make(chan struct{}), make(chan struct{})
	var wg sync.WaitGroup
	wg.Go(func() {
		_, _, err := cache.page(context.Background(), key, func() (*vec.Vector, int64, error) {
			close(started)
			<-finish
			return nil, 0, context.Canceled
		})
		if !errors.Is(err, context.Canceled) {
			t.Errorf("the cancelled load: %v", err)
		}
	})
	<-started
	wg.Go(func() {
		want := vec.FlatOf(vec.Int64Type, []int64{4}, nil)
		v, _, err := cache.page(context.Background(), key, func() (*vec.Vector, int64, error) { return want, 8, nil })
		if err != nil || v != want {
			t.Errorf("the load after it: %v, %v", v, err)
		}
	})
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if _, _, err := cache.page(ctx, key, nil); !errors.Is(err, context.Canceled) {
		t.Errorf("waiting when cancelled: %v", err)
	}
	close(finish)
	wg.Wait()
}

func TestWarmScanCopiesNothing(t *testing.T) {
	f := countingFile(t, OpenOptions{Tablet: 9, Cache: NewCache(CacheOptions{Bytes: 64 << 20})})
	first := func() *vec.Vector {
		r, err := f.NewReader(&Scan{Columns: []int{0}, Predicates: []Predicate{ints(Lt, 0, 100)}}, f.Morsels()[0])
		if err != nil {
			t.Fatal(err)
		}
		b, err := r.Next(context.Background())
		if err != nil {
			t.Fatal(err)
		}
		return b.Cols[0]
	}
	a, b := first(), first()
	if &a.Data[0] != &b.Data[0] {
		t.Error("two warm scans have different memory")
	}
}

func TestFileOutlivesItsObject(t *testing.T) {
	store := localStore(t)
	columns := []tablet.Column{column(0, vec.TextType, false)}
	x := vec.NewBuilder(vec.TextType, 1)
	x.AppendString("kept")
	writeFile(t, store, "a.parquet", columns, Options{Codec: Uncompressed}, vec.NewBatch(1, x.Finish()))
	f, err := Open(context.Background(), store, "a.parquet", OpenOptions{})
	if err != nil {
		t.Fatal(err)
	}
	if err := store.Delete(context.Background(), "a.parquet"); err != nil {
		t.Fatal(err)
	}
	b, err := ReadRows(context.Background(), f, []uint32{0}, []int{0})
	if err != nil {
		t.Fatal(err)
	}
	f.Close() // the vector must not lie in the mapping, which is gone now
	if got := b.Cols[0].Value(0).S; got != "kept" {
		t.Errorf("read %q", got)
	}
	if _, err := ReadRows(context.Background(), f, []uint32{0}, []int{0}); err == nil {
		t.Error("a closed file was read")
	}
}

func TestWriterRefuses(t *testing.T) {
	store := objstore.NewMem(nil)
	open := func(columns ...tablet.Column) (*Writer, error) {
		return NewWriter(context.Background(), store, "w.parquet", columns, Options{})
	}
	if _, err := open(); err == nil {
		t.Error("a file without columns was made")
	}
	if _, err := open(column(0, vec.NullType, true)); err == nil {
		t.Error("a column without a type was made")
	}
	if _, err := open(column(0, vec.StructType(), true)); err == nil {
		t.Error("an empty struct was made")
	}
	w, err := open(column(0, vec.Int64Type, false))
	if err != nil {
		t.Fatal(err)
	}
	if err := w.Write(vec.NewBatch(1, vec.NullOf(vec.Int64Type, 1))); err == nil {
		t.Error("NULL was written to a column that is not nullable")
	}
	if _, err := w.Close(); err == nil {
		t.Error("a writer closed well after an error")
	}
	if _, err := store.Stat(context.Background(), "w.parquet"); !errors.Is(err, objstore.ErrNotFound) {
		t.Errorf("a failed file is visible: %v", err)
	}
	w, _ = open(column(0, vec.Int64Type, false))
	if err := w.Write(vec.NewBatch(1, vec.ConstantOf(vec.TextType, vec.StringValue(vec.TextType, "x"), 1))); err == nil {
		t.Error("text was written to BIGINT")
	}
	w.Abort()
	w, _ = open(column(0, vec.Int64Type, true))
	if err := w.Write(vec.NewBatch(3, vec.NullOf(vec.NullType, 3))); err != nil {
		t.Errorf("an untyped NULL: %v", err)
	}
	if d, err := w.Close(); err != nil || d.Rows != 3 {
		t.Errorf("closing: %+v, %v", d, err)
	}
	if _, err := w.Close(); !errors.Is(err, objstore.ErrClosed) {
		t.Errorf("a second Close: %v", err)
	}
}

func TestEmptyFile(t *testing.T) {
	store := objstore.NewMem(nil)
	d := writeFile(t, store, "e.parquet", []tablet.Column{column(0, vec.TextType, true), column(1, vec.ArrayType(vec.TextType), true)}, Options{})
	f := openTest(t, store, "e.parquet", OpenOptions{Tablet: 1})
	if d.Rows != 0 || f.Rows() != 0 || len(f.Morsels()) != 0 || len(f.Columns()) != 2 {
		t.Errorf("%+v, %d morsels", d, len(f.Morsels()))
	}
}

func TestDescriptionOfACDCTablet(t *testing.T) {
	store := objstore.NewMem(nil)
	columns := append([]tablet.Column{column(0, vec.Int64Type, false)}, tablet.HiddenColumns()...)
	b := vec.NewBatch(4, vec.FlatOf(vec.Int64Type, []int64{1, 2, 3, 4}, nil),
		vec.FlatOf(vec.Int16Type, []int16{tablet.OpInsert, tablet.OpDelete, tablet.OpUpdate, tablet.OpDelete}, nil),
		vec.FlatOf(vec.Int64Type, []int64{70, 60, 90, 80}, nil))
	b.Sel = vec.Selection{0, 1, 3}
	d := writeFile(t, store, "x.parquet", columns, Options{Sorted: []int32{1}}, b)
	if d.Rows != 3 || d.Deletes != 2 || d.MinSeq != 60 || d.MaxSeq != 80 || len(d.Sorted) != 1 || d.Checksum == 0 {
		t.Errorf("%+v", d)
	}
}
