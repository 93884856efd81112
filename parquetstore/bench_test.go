package parquetstore

import (
	"context"
	"fmt"
	"math/rand/v2"
	"sync"
	"testing"

	"github.com/RoaringBitmap/roaring/v2"
	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/memory"
	"github.com/apache/arrow-go/v18/parquet"
	"github.com/apache/arrow-go/v18/parquet/file"
	"github.com/apache/arrow-go/v18/parquet/pqarrow"

	"github.com/tidemarkdb/tidemark/objstore"
	"github.com/tidemarkdb/tidemark/tablet"
	"github.com/tidemarkdb/tidemark/vec"
)

const benchRows = 1_000_000

// benchColumns is a table like TPC-H's lineitem: a sorted key, random integers, prices, a date, few-valued flags and
// free text.
var benchColumns = []tablet.Column{
	column(0, vec.Int64Type, false), column(1, vec.Int64Type, true), column(2, vec.DecimalType(12, 2), false),
	column(3, vec.DecimalType(12, 2), false), column(4, vec.DateType, false), column(5, vec.TextType, false),
	column(6, vec.TextType, true), column(7, vec.Int16Type, false), column(8, vec.Int64Type, false),
}

var benchWords = []string{"furiously", "ironic", "deposits", "carefully", "regular", "requests", "sleep", "quickly",
	"final", "accounts", "express", "packages", "bold", "theodolites", "pending", "silent"}

var benchData = sync.OnceValue(func() []*vec.Batch {
	r := rand.New(rand.NewPCG(1, 2))
	var out []*vec.Batch
	key := int64(0)
	for from := 0; from < benchRows; from += vec.BatchRows {
		n := min(vec.BatchRows, benchRows-from)
		b := &vec.Batch{N: n}
		for _, c := range benchColumns {
			x := vec.NewBuilder(c.Type, n)
			for i := range n {
				switch c.FieldID {
				case 1:
					key += r.Int64N(3)
					vec.AppendFixed(x, key)
				case 2:
					vec.AppendFixed(x, r.Int64())
				case 3:
					vec.AppendFixed(x, 90000+r.Int64N(10_000_000))
				case 4:
					vec.AppendFixed(x, r.Int64N(11))
				case 5:
					vec.AppendFixed(x, int32(8000+r.IntN(2500)))
				case 6:
					x.AppendString([]string{"A", "N", "R"}[r.IntN(3)])
				case 7:
					s := benchWords[r.IntN(16)] + " " + benchWords[r.IntN(16)] + " " + benchWords[r.IntN(16)] + " " + benchWords[r.IntN(16)]
					x.AppendString(s)
				case 8:
					vec.AppendFixed(x, int16(0))
				case 9:
					vec.AppendFixed(x, int64(from+i))
				}
			}
			b.Cols = append(b.Cols, x.Finish())
		}
		out = append(out, b)
	}
	return out
})

func localStore(b testing.TB) objstore.Store {
	s, err := objstore.OpenLocal(b.TempDir())
	if err != nil {
		b.Fatal(err)
	}
	return s
}

func perRow(b *testing.B, rows int) {
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/float64(rows), "ns/row")
	b.ReportMetric(float64(rows)*float64(b.N)/b.Elapsed().Seconds()/1e6, "Mrows/s")
}

func BenchmarkWrite(b *testing.B) {
	data := benchData()
	for _, threads := range []int{1, 2} {
		for _, codec := range []Codec{Snappy, Zstd, Uncompressed} {
			b.Run(fmt.Sprintf("threads=%d/codec=%d", threads, codec), func(b *testing.B) {
				store := objstore.NewMem(nil)
				var size int64
				for b.Loop() {
					size = writeFile(b, store, "t.parquet", benchColumns, Options{Threads: threads, Codec: codec}, data...).FileBytes
				}
				perRow(b, benchRows)
				b.ReportMetric(float64(size)/benchRows, "B/row")
			})
		}
	}
}

var benchScans = []struct {
	name    string
	columns []int
}{
	{"sortedInt", []int{0}}, {"randomInt", []int{1}}, {"decimal", []int{2}}, {"date", []int{4}}, {"flag", []int{5}},
	{"text", []int{6}}, {"all", []int{0, 1, 2, 3, 4, 5, 6, 7, 8}},
}

func drain(b *testing.B, f *File, s *Scan) int {
	rows := 0
	for _, m := range f.Morsels() {
		r, err := f.NewReader(s, m)
		if err != nil {
			b.Fatal(err)
		}
		for {
			batch, err := r.Next(context.Background())
			if err != nil {
				b.Fatal(err)
			}
			if batch == nil {
				break
			}
			rows += batch.Rows()
		}
	}
	return rows
}

func BenchmarkScan(b *testing.B) {
	store := localStore(b)
	writeFile(b, store, "t.parquet", benchColumns, Options{}, benchData()...)
	for _, kind := range []string{"cold", "borrowed", "warm"} {
		for _, s := range benchScans {
			b.Run(kind+"/"+s.name, func(b *testing.B) {
				o := OpenOptions{}
				if kind == "warm" {
					o = OpenOptions{Tablet: 1, Cache: NewCache(CacheOptions{Bytes: 1 << 30})}
				}
				f := openTest(b, store, "t.parquet", o)
				scan := &Scan{Columns: s.columns, Borrow: kind == "borrowed"}
				drain(b, f, scan)
				for b.Loop() {
					if n := drain(b, f, scan); n != benchRows {
						b.Fatal(n)
					}
				}
				perRow(b, benchRows)
			})
		}
	}
}

// roaringMask is the dead rows of a file in the form maskindex keeps them.
type roaringMask struct{ words []uint64 }

func newMask(dead *roaring.Bitmap, rows int) roaringMask {
	m := roaringMask{words: make([]uint64, (rows+63)/64)}
	for i := range m.words {
		m.words[i] = ^uint64(0)
	}
	for _, x := range dead.ToArray() {
		vec.Bitmap(m.words).Clear(int(x))
	}
	return m
}

func (m roaringMask) AllDead(from, n uint32) bool {
	return vec.Bitmap(m.LiveWords(nil, from, n)).Count(int(n)) == 0
}

func (m roaringMask) LiveWords(dst []uint64, from, n uint32) []uint64 {
	dst = append(dst[:0], vec.Bitmap(m.words).Slice(int(from), int(n))...)
	if rest := n % 64; rest != 0 {
		dst[len(dst)-1] &= 1<<rest - 1
	}
	return dst
}

func BenchmarkScanMasked(b *testing.B) {
	store := localStore(b)
	writeFile(b, store, "t.parquet", benchColumns, Options{}, benchData()...)
	for _, percent := range []int{0, 1, 10} {
		for _, warm := range []bool{false, true} {
			b.Run(fmt.Sprintf("dead=%d%%/warm=%v", percent, warm), func(b *testing.B) {
				r := rand.New(rand.NewPCG(3, 4))
				dead := roaring.New()
				for i := range uint32(benchRows) {
					if r.IntN(100) < percent {
						dead.Add(i)
					}
				}
				o := OpenOptions{}
				if warm {
					o = OpenOptions{Tablet: 1, Cache: NewCache(CacheOptions{Bytes: 1 << 30})}
				}
				f := openTest(b, store, "t.parquet", o)
				scan := &Scan{Columns: []int{0, 2, 4, 5}, Mask: newMask(dead, benchRows)}
				drain(b, f, scan)
				for b.Loop() {
					drain(b, f, scan)
				}
				perRow(b, benchRows)
			})
		}
	}
}

func BenchmarkScanFiltered(b *testing.B) {
	store := localStore(b)
	writeFile(b, store, "t.parquet", benchColumns, Options{}, benchData()...)
	date := func(op Op, days ...int64) Predicate {
		p := Predicate{Column: 4, Op: op}
		for _, d := range days {
			p.Values = append(p.Values, vec.IntValue(vec.DateType, d))
		}
		return p
	}
	for name, p := range map[string]Predicate{
		"date14%": date(Between, 8000, 8350), "flag": {Column: 5, Op: Eq, Values: []vec.Value{vec.StringValue(vec.TextType, "R")}},
		"key": {Column: 0, Op: Eq, Values: []vec.Value{vec.IntValue(vec.Int64Type, 5000)}},
	} {
		b.Run(name, func(b *testing.B) {
			f := openTest(b, store, "t.parquet", OpenOptions{Tablet: 1, Cache: NewCache(CacheOptions{Bytes: 1 << 30})})
			scan := &Scan{Columns: []int{2, 3, 6}, Predicates: []Predicate{p}}
			for b.Loop() {
				drain(b, f, scan)
			}
			perRow(b, benchRows)
		})
	}
}

// BenchmarkArrowGo is arrow-go over the same data, single-threaded.
func BenchmarkArrowGo(b *testing.B) {
	store := objstore.NewMem(nil)
	writeFile(b, store, "t.parquet", benchColumns, Options{}, benchData()...)
	raw, err := store.Get(context.Background(), "t.parquet")
	if err != nil {
		b.Fatal(err)
	}
	for _, s := range benchScans {
		b.Run("scan/"+s.name, func(b *testing.B) {
			for b.Loop() {
				if n := arrowScan(b, raw, s.columns); n != benchRows {
					b.Fatal(n)
				}
			}
			perRow(b, benchRows)
		})
	}
	b.Run("write", func(b *testing.B) {
		table := arrowTable(b, raw)
		defer table.Release()
		for b.Loop() {
			var out countingWriter
			props := parquet.NewWriterProperties(parquet.WithCompression(1), parquet.WithMaxRowGroupLength(DefaultRowGroupRows), parquet.WithStoreDecimalAsInteger(true))
			if err := pqarrow.WriteTable(table, &out, DefaultRowGroupRows, props, pqarrow.DefaultWriterProps()); err != nil {
				b.Fatal(err)
			}
		}
		perRow(b, benchRows)
	})
}

type countingWriter struct{ n int }

func (w *countingWriter) Write(b []byte) (int, error) { w.n += len(b); return len(b), nil }

func arrowReader(b testing.TB, raw []byte) *pqarrow.FileReader {
	b.Helper()
	r, err := file.NewParquetReader(newReaderAt(raw))
	if err != nil {
		b.Fatal(err)
	}
	fr, err := pqarrow.NewFileReader(r, pqarrow.ArrowReadProperties{BatchSize: 65536}, memory.DefaultAllocator)
	if err != nil {
		b.Fatal(err)
	}
	return fr
}

func arrowScan(b testing.TB, raw []byte, columns []int) int {
	rr, err := arrowReader(b, raw).GetRecordReader(context.Background(), columns, nil)
	if err != nil {
		b.Fatal(err)
	}
	defer rr.Release()
	n := 0
	for rr.Next() {
		n += int(rr.RecordBatch().NumRows())
	}
	return n
}

func arrowTable(b testing.TB, raw []byte) arrow.Table {
	b.Helper()
	table, err := arrowReader(b, raw).ReadTable(context.Background())
	if err != nil {
		b.Fatal(err)
	}
	return table
}
