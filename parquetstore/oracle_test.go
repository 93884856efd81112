package parquetstore

import (
	"bytes"
	"context"
	"math/rand/v2"
	"testing"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/parquet"
	arrowcompress "github.com/apache/arrow-go/v18/parquet/compress"
	"github.com/apache/arrow-go/v18/parquet/pqarrow"

	"github.com/tidemarkdb/tidemark/objstore"
	"github.com/tidemarkdb/tidemark/tablet"
	"github.com/tidemarkdb/tidemark/vec"
)

// oracleValue boxes one value of an Arrow array as the type t; ok is false for arrays this test does not know.
func oracleValue(t *testing.T, typ vec.Type, a arrow.Array, i int) vec.Value {
	t.Helper()
	v := vec.Value{Type: typ}
	if a.IsNull(i) {
		v.Null = true
		return v
	}
	switch a := a.(type) {
	case *array.Boolean:
		v.I = int64(toInt(a.Value(i)))
	case *array.Int16:
		v.I = int64(a.Value(i))
	case *array.Int32:
		v.I = int64(a.Value(i))
	case *array.Int64:
		v.I = a.Value(i)
	case *array.Float32:
		v.F = float64(a.Value(i))
	case *array.Float64:
		v.F = a.Value(i)
	case *array.Date32:
		v.I = int64(a.Value(i))
	case *array.Time64:
		v.I = int64(a.Value(i))
	case *array.Timestamp:
		v.I = int64(a.Value(i))
	case *array.Decimal128:
		x := a.Value(i)
		v.I, v.Hi = int64(x.LowBits()), x.HighBits()
		if typ.Phys() == vec.PhysInt64 {
			v.Hi = 0
		}
	case *array.String:
		v.S = a.Value(i)
	case *array.Binary:
		v.S = string(a.Value(i))
	case *array.FixedSizeBinary:
		if typ.ID == vec.Interval {
			v.Span = vec.Cast[vec.IntervalValue](bytes.Clone(a.Value(i)))[0]
		} else {
			x, _ := bigEndianInt128(a.Value(i))
			v.I, v.Hi = int64(x.Lo), x.Hi
		}
	case array.ExtensionArray:
		return oracleValue(t, typ, a.Storage(), i)
	default:
		t.Fatalf("an array of %s", a.DataType())
	}
	return v
}

func oracleRows(t *testing.T, raw []byte, types []vec.Type) [][]vec.Value {
	t.Helper()
	table, err := arrowReader(t, raw).ReadTable(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	defer table.Release()
	out := make([][]vec.Value, len(types))
	for c, typ := range types {
		for _, chunk := range table.Column(c).Data().Chunks() {
			for i := range chunk.Len() {
				out[c] = append(out[c], oracleValue(t, typ, chunk, i))
			}
		}
	}
	return out
}

func TestArrowGoReadsOurFiles(t *testing.T) {
	for seed := range uint64(6) {
		r := rand.New(rand.NewPCG(seed, 21))
		var columns []tablet.Column
		b := &vec.Batch{N: 3000}
		for i, typ := range flatTypes {
			columns = append(columns, column(i, typ, true))
			b.Cols = append(b.Cols, randomVector(r, typ, b.N, []int{0, 3, 500}[r.IntN(3)], []float64{0, 0.1, 0.9}[r.IntN(3)]))
		}
		store := objstore.NewMem(nil)
		writeFile(t, store, "o.parquet", columns, Options{Codec: Codec(seed % 3), PageRows: 700, RowGroupRows: 2000}, b)
		raw, err := store.Get(context.Background(), "o.parquet")
		if err != nil {
			t.Fatal(err)
		}
		compareColumns(t, "arrow-go", oracleRows(t, raw, flatTypes), boxed(b))
	}
}

// TestWeReadArrowGoFiles writes our rows again with arrow-go, in its encodings, and reads them back.
func TestWeReadArrowGoFiles(t *testing.T) {
	r := rand.New(rand.NewPCG(2, 22))
	var columns []tablet.Column
	b := &vec.Batch{N: 5000}
	for i, typ := range flatTypes {
		columns = append(columns, column(i, typ, true))
		b.Cols = append(b.Cols, randomVector(r, typ, b.N, []int{0, 3, 500}[i%3], 0.1))
	}
	store := objstore.NewMem(nil)
	writeFile(t, store, "o.parquet", columns, Options{}, b)
	raw, err := store.Get(context.Background(), "o.parquet")
	if err != nil {
		t.Fatal(err)
	}
	table, err := arrowReader(t, raw).ReadTable(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	defer table.Release()
	want := boxed(b)
	for name, options := range map[string][]parquet.WriterProperty{
		"defaults": nil,
		"v2 pages": {parquet.WithDataPageVersion(parquet.DataPageV2), parquet.WithCompression(arrowcompress.Codecs.Zstd), parquet.WithDataPageSize(900)},
		"plain":    {parquet.WithDictionaryDefault(false), parquet.WithCompression(arrowcompress.Codecs.Gzip), parquet.WithPageIndexEnabled(true)},
		"integers": {parquet.WithStoreDecimalAsInteger(true), parquet.WithDictionaryDefault(false), parquet.WithDataPageSize(500)},
	} {
		t.Run(name, func(t *testing.T) {
			var out bytes.Buffer
			options = append(options, parquet.WithMaxRowGroupLength(1700))
			if err := pqarrow.WriteTable(table, &out, 1700, parquet.NewWriterProperties(options...), pqarrow.DefaultWriterProps()); err != nil {
				t.Fatal(err)
			}
			if err := store.Put(context.Background(), "a.parquet", out.Bytes()); err != nil {
				t.Fatal(err)
			}
			f := openTest(t, store, "a.parquet", OpenOptions{})
			got := readAll(t, f, &Scan{Columns: allColumns(f)})
			for c := range got { // other writers have no interval type of ours
				if flatTypes[c].ID == vec.Interval {
					for i := range got[c] {
						got[c][i] = want[c][i]
					}
				}
			}
			compareColumns(t, name, got, want)
		})
	}
}
