package parquetstore

import (
	"bytes"
	"context"
	"fmt"
	"testing"

	"github.com/apache/arrow-go/v18/parquet"
	"github.com/apache/arrow-go/v18/parquet/pqarrow"

	"github.com/tidemarkdb/tidemark/objstore"
	"github.com/tidemarkdb/tidemark/tablet"
	"github.com/tidemarkdb/tidemark/vec"
)

// TestBloomFiltersOfOthersPrune writes values that bounds cannot tell apart with arrow-go's bloom filters.
func TestBloomFiltersOfOthersPrune(t *testing.T) {
	types := []vec.Type{vec.Int16Type, vec.Int64Type, vec.TextType, vec.UUIDType, vec.DateType}
	value := func(typ vec.Type, i int) vec.Value {
		v := vec.Value{Type: typ, I: int64(i) * 3}
		switch typ.ID {
		case vec.Text:
			v.S = fmt.Sprint("value ", i*3)
		case vec.UUID:
			v.Hi = int64(i)
		}
		return v
	}
	var columns []tablet.Column
	b := &vec.Batch{N: 900}
	for i, typ := range types {
		columns = append(columns, column(i, typ, true))
		x := vec.NewBuilder(typ, b.N)
		for row := range b.N {
			x.Append(value(typ, row))
		}
		b.Cols = append(b.Cols, x.Finish())
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
	var out bytes.Buffer
	props := parquet.NewWriterProperties(parquet.WithBloomFilterEnabled(true), parquet.WithBloomFilterFPP(0.001), parquet.WithDictionaryDefault(false))
	if err := pqarrow.WriteTable(table, &out, 900, props, pqarrow.DefaultWriterProps()); err != nil {
		t.Fatal(err)
	}
	if err := store.Put(context.Background(), "b.parquet", out.Bytes()); err != nil {
		t.Fatal(err)
	}
	f := openTest(t, store, "b.parquet", OpenOptions{})
	for c, typ := range types {
		if f.groups[0].chunks[c].meta.MetaData.BloomFilterOffset == 0 {
			t.Fatalf("column %d has no filter", c)
		}
		if !f.Columns()[c].Type.Equal(typ) {
			t.Fatalf("column %d is %s", c, f.Columns()[c].Type)
		}
		excluded := 0
		for row := range 300 {
			present := value(typ, row*3)
			counters := new(Counters)
			s := &Scan{Columns: []int{c}, Counters: counters, Predicates: []Predicate{{Column: c, Op: In, Values: []vec.Value{present}}}}
			if got := readAll(t, f, s); len(got[0]) != 1 {
				t.Fatalf("%s %+v is found %d times", typ, present, len(got[0]))
			}
			absent := value(typ, row)
			absent.I++
			absent.S += " not"
			s.Predicates[0] = Predicate{Column: c, Op: Eq, Values: []vec.Value{absent}}
			s.Counters = new(Counters)
			if got := readAll(t, f, s); len(got[0]) != 0 {
				t.Fatalf("%s %+v is found", typ, absent)
			}
			if s.Counters.PagesDecoded.Load() == 0 {
				excluded++
			}
		}
		if excluded < 280 {
			t.Errorf("the filter of a %s column excluded %d of 300 absent values", typ, excluded)
		}
	}
}
