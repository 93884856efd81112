package files_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/tidemarkdb/tidemark/engine"
	"github.com/tidemarkdb/tidemark/objstore"
	"github.com/tidemarkdb/tidemark/parquetstore"
	"github.com/tidemarkdb/tidemark/tablet"
	"github.com/tidemarkdb/tidemark/vec"
)

// writeParquet writes rows first to first+n-1 of the columns k (the row), s (text of seven values) and, where asked
// for, extra (ten times the row), in row groups of 1,000.
func writeParquet(t *testing.T, name string, first, n int, extra bool) {
	t.Helper()
	store, err := objstore.OpenLocal(filepath.Dir(name))
	if err != nil {
		t.Fatal(err)
	}
	columns := []tablet.Column{{FieldID: 1, Name: "k", Type: vec.Int64Type}, {FieldID: 2, Name: "s", Type: vec.TextType}}
	if extra {
		columns = append(columns, tablet.Column{FieldID: 3, Name: "extra", Type: vec.Int64Type})
	}
	w, err := parquetstore.NewWriter(t.Context(), store, filepath.Base(name), columns, parquetstore.Options{RowGroupRows: 1000, PageRows: 500})
	if err != nil {
		t.Fatal(err)
	}
	defer w.Abort()
	b := &vec.Batch{N: n}
	for _, c := range columns {
		out := vec.NewBuilder(c.Type, n)
		for i := first; i < first+n; i++ {
			switch c.Name {
			case "k":
				vec.AppendFixed(out, int64(i))
			case "s":
				out.AppendString(fmt.Sprintf("s%d", i%7))
			default:
				vec.AppendFixed(out, int64(i*10))
			}
		}
		b.Cols = append(b.Cols, out.Finish())
	}
	if err := w.Write(b); err != nil {
		t.Fatal(err)
	}
	if _, err := w.Close(); err != nil {
		t.Fatal(err)
	}
}

func expect(t *testing.T, s *engine.Session, text, want string) {
	t.Helper()
	got, err := query(t.Context(), s, text)
	if err != nil {
		t.Errorf("%s: %v", text, err)
		return
	}
	if _, rows, _ := strings.Cut(got, "\n"); rows != want {
		t.Errorf("%s:\ngot  %q\nwant %q", text, rows, want)
	}
}

func TestReadParquet(t *testing.T) {
	folder := t.TempDir()
	s := open(t, folder)
	writeParquet(t, folder+"/a.parquet", 0, 5000, false)
	writeParquet(t, folder+"/b.parquet", 5000, 5000, true)
	all := "read_parquet('" + folder + "/*.parquet')"
	expect(t, s, "SELECT count(*), sum(k), min(s), max(s) FROM "+all, "10000|49995000|s0|s6")
	expect(t, s, "SELECT count(*), min(k), max(k) FROM "+all+" WHERE k BETWEEN 4990 AND 5009 AND s <> 's3'", "17|4990|5009")
	expect(t, s, "SELECT count(*) FROM "+all+" WHERE s LIKE '%4' AND k % 2 = 0", "714")
	expect(t, s, "SELECT count(*) FROM "+all+" a JOIN (VALUES (17), (7001), (99999)) v(k) USING (k)", "2")
	expect(t, s, "SELECT k, s FROM '"+folder+"/b.parquet' ORDER BY k DESC LIMIT 2", "9999|s3\n9998|s2")
	if _, err := query(t.Context(), s, fmt.Sprintf("SELECT * FROM read_parquet(['%s/b.parquet', '%[1]s/a.parquet'])", folder)); err == nil ||
		!strings.Contains(err.Error(), `has no column "extra"`) {
		t.Errorf("a file lacks a column: %v", err)
	}
	united := "read_parquet('" + folder + "/*.parquet', union_by_name => true)"
	expect(t, s, "SELECT count(*), count(extra), sum(extra), count(*) FILTER (WHERE extra IS NULL) FROM "+united, "10000|5000|374975000|5000")
	expect(t, s, "SELECT count(*) FROM "+united+" WHERE extra IS NULL AND k < 10", "10")
	expect(t, s, "SELECT count(*) FROM "+united+" WHERE extra > 99900", "9")
	expect(t, s, "SELECT count(*) FROM "+united+" WHERE coalesce(extra, -1) = -1 OR k = 9000", "5001")
}

// TestParquetIsPruned looks at what a scan reports of the pages it read.
func TestParquetIsPruned(t *testing.T) {
	folder := t.TempDir()
	s := open(t, folder)
	writeParquet(t, folder+"/a.parquet", 0, 20000, false)
	got, err := query(t.Context(), s, "EXPLAIN ANALYZE SELECT s FROM '"+folder+"/a.parquet' WHERE k = 12345")
	if err != nil {
		t.Fatal(err)
	}
	for _, part := range []string{"row groups pruned=19", "pages decoded=2", "files=1"} {
		if !strings.Contains(got, part) {
			t.Errorf("no %q in\n%s", part, got)
		}
	}
	got, err = query(t.Context(), s, "EXPLAIN ANALYZE SELECT s FROM '"+folder+"/a.parquet' a, (VALUES (12345), (12346)) v(k) WHERE a.k = v.k")
	if err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(got, "row groups pruned=19") {
		t.Errorf("the keys of the join do not prune:\n%s", got)
	}
}

// TestChangedFileIsReadAnew replaces a file, to the same size, between two reads.
func TestChangedFileIsReadAnew(t *testing.T) {
	folder := t.TempDir()
	s := open(t, folder)
	name := folder + "/a.parquet"
	writeParquet(t, name, 0, 1000, false)
	expect(t, s, "SELECT sum(k) FROM '"+name+"'", "499500")
	writeParquet(t, name, 1, 1000, false)
	later := time.Now().Add(time.Second)
	if err := os.Chtimes(name, later, later); err != nil {
		t.Fatal(err)
	}
	expect(t, s, "SELECT sum(k) FROM '"+name+"'", "500500")
}

// TestParquetStatistics checks the estimates that footers give the optimizer.
func TestParquetStatistics(t *testing.T) {
	folder := t.TempDir()
	s := open(t, folder)
	writeParquet(t, folder+"/a.parquet", 0, 20000, false)
	for where, rows := range map[string]string{"k < 1000": "rows=1000", "s = 's1'": "rows=2857", "k = 5": "rows=1"} {
		got, err := query(t.Context(), s, "EXPLAIN SELECT * FROM '"+folder+"/a.parquet' WHERE "+where)
		if err != nil {
			t.Fatal(err)
		}
		if !strings.Contains(got, "("+rows+")") {
			t.Errorf("%s: no %s in\n%s", where, rows, got)
		}
	}
}

func TestDamagedParquet(t *testing.T) {
	folder := t.TempDir()
	s := open(t, folder)
	write(t, folder+"/x.parquet", "PAR1 but nothing else PAR1")
	_, err := query(t.Context(), s, "SELECT * FROM '"+folder+"/x.parquet'")
	if err == nil || !strings.Contains(err.Error(), "x.parquet") {
		t.Errorf("got %v, want an error that names the file", err)
	}
}
