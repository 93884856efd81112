package parquetstore

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/tidemarkdb/tidemark/objstore"
	"github.com/tidemarkdb/tidemark/tablet"
	"github.com/tidemarkdb/tidemark/vec"
)

var nestedTypes = []vec.Type{
	vec.ArrayType(vec.Int64Type),
	vec.ArrayType(vec.ArrayType(vec.TextType)),
	vec.StructType(vec.Field{Name: "a", Type: vec.Int16Type}, vec.Field{Name: "b", Type: vec.IntervalType}),
	vec.StructType(vec.Field{Name: "a", Type: vec.ArrayType(vec.DateType)},
		vec.Field{Name: "b", Type: vec.StructType(vec.Field{Name: "c", Type: vec.TextType}, vec.Field{Name: "d", Type: vec.DecimalType(30, 3)})}),
	vec.ArrayType(vec.StructType(vec.Field{Name: "x", Type: vec.BoolType}, vec.Field{Name: "y", Type: vec.ArrayType(vec.Float64Type)})),
}

func nestedValue(r *rand.Rand, t vec.Type) vec.Value {
	if r.IntN(6) == 0 {
		return vec.NullValue(t)
	}
	switch t.ID {
	case vec.Array:
		v := vec.Value{Type: t, List: []vec.Value{}}
		for range r.IntN(4) {
			v.List = append(v.List, nestedValue(r, *t.Elem))
		}
		return v
	case vec.Struct:
		v := vec.Value{Type: t}
		for _, f := range t.Fields {
			v.List = append(v.List, nestedValue(r, f.Type))
		}
		return v
	}
	return randomValue(r, t, 9)
}

func TestNestedRoundTrip(t *testing.T) {
	for seed := range uint64(6) {
		t.Run(fmt.Sprintf("seed %d", seed), func(t *testing.T) {
			r := rand.New(rand.NewPCG(seed, 3))
			columns := []tablet.Column{column(0, vec.Int64Type, false)}
			for i, typ := range nestedTypes {
				columns = append(columns, column(i+1, typ, true))
			}
			var batches []*vec.Batch
			for range 3 {
				n := 1 + r.IntN(700)
				b := &vec.Batch{N: n}
				for _, c := range columns {
					x := vec.NewBuilder(c.Type, n)
					for range n {
						v := nestedValue(r, c.Type)
						if !c.Nullable {
							v = randomValue(r, c.Type, 0)
						}
						x.Append(v)
					}
					b.Cols = append(b.Cols, x.Finish())
				}
				if r.IntN(2) == 0 {
					for i := 0; i < n; i += 1 + r.IntN(3) {
						b.Sel = append(b.Sel, int32(i))
					}
				}
				batches = append(batches, b)
			}
			store := objstore.NewMem(nil)
			o := Options{PageRows: 1 + r.IntN(300), RowGroupRows: 100 + r.IntN(900), PageBytes: 50 + r.IntN(5000)}
			writeFile(t, store, "n.parquet", columns, o, batches...)
			f := openTest(t, store, "n.parquet", OpenOptions{Tablet: 5, Cache: NewCache(CacheOptions{Bytes: 1 << 20})})
			for i, c := range f.Columns() {
				if !c.Type.Equal(columns[i].Type) {
					t.Errorf("column %d came back as %s, want %s", i, c.Type, columns[i].Type)
				}
			}
			want := boxed(batches...)
			for range 2 { // decoded, then from the cache
				compareColumns(t, "nested", readAll(t, f, &Scan{Columns: allColumns(f)}), want)
			}
		})
	}
}
