package parquetstore

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/tidemarkdb/tidemark/objstore"
	"github.com/tidemarkdb/tidemark/tablet"
	"github.com/tidemarkdb/tidemark/vec"
)

// reform returns v in another form with the same rows.
func reform(r *rand.Rand, v *vec.Vector) *vec.Vector {
	switch r.IntN(4) {
	case 0:
		index := make([]int32, v.N)
		for i := range index {
			index[i] = int32(i)
		}
		return vec.DictionaryOf(v, index, nil)
	case 1:
		return vec.ConstantOf(v.Type, v.Value(r.IntN(v.N)), v.N)
	case 2: // NULLs of the index, not of the entries
		index := make([]int32, v.N)
		for i := range index {
			index[i] = int32(r.IntN(v.N))
		}
		valid := vec.NewFullBitmap(v.N)
		valid.Clear(r.IntN(v.N))
		return vec.DictionaryOf(v, index, valid)
	}
	return v
}

func TestRoundTripOfEveryTypeAndForm(t *testing.T) {
	for seed := range uint64(12) {
		t.Run(fmt.Sprintf("seed %d", seed), func(t *testing.T) {
			r := rand.New(rand.NewPCG(seed, 1))
			nulls := []float64{0, 0.02, 0.5, 1}[r.IntN(4)]
			card := []int{0, 1, 3, 200}[r.IntN(4)]
			o := Options{
				Codec: Codec(seed % 3), RowGroupRows: []int{0, 1000, 20000}[r.IntN(3)], PageRows: []int{0, 64, 1000, 9000}[r.IntN(4)],
				PageBytes: []int{0, 2000, 100}[r.IntN(3)], Threads: 1 + r.IntN(3),
			}
			var columns []tablet.Column
			for i, typ := range flatTypes {
				columns = append(columns, column(i, typ, true))
			}
			var batches []*vec.Batch
			for range 5 {
				n := 1 + r.IntN(5000)
				b := &vec.Batch{N: n}
				for _, typ := range flatTypes {
					b.Cols = append(b.Cols, reform(r, randomVector(r, typ, n, card, nulls)))
				}
				if r.IntN(2) == 0 {
					for i := range n {
						if r.IntN(3) > 0 {
							b.Sel = append(b.Sel, int32(i))
						}
					}
				}
				batches = append(batches, b)
			}
			store := objstore.NewMem(nil)
			d := writeFile(t, store, "t.parquet", columns, o, batches...)
			f := openTest(t, store, "t.parquet", OpenOptions{Tablet: 1})
			want := boxed(batches...)
			if d.Rows != int64(len(want[0])) || f.Rows() != d.Rows || d.FileBytes != f.SizeBytes() {
				t.Fatalf("%d rows described, %d in the file, %d written", d.Rows, f.Rows(), len(want[0]))
			}
			for i, c := range f.Columns() {
				if !c.Type.Equal(flatTypes[i]) || c.FieldID != int32(i+1) || !c.Nullable {
					t.Errorf("column %d came back as %s, field %d", i, c.Type, c.FieldID)
				}
			}
			compareColumns(t, "round trip", readAll(t, f, &Scan{Columns: allColumns(f)}), want)
			checkStats(t, d, columns, want)
		})
	}
}

// checkStats compares a description with what the rows say.
func checkStats(t *testing.T, d *tablet.Desc, columns []tablet.Column, rows [][]vec.Value) {
	t.Helper()
	for i, c := range columns {
		s, ok := d.Stats.Column(c.FieldID)
		if !ok {
			t.Fatalf("column %q has no statistics", c.Name)
		}
		nulls, nans := int64(0), int64(0)
		distinct := map[string]bool{}
		for _, v := range rows[i] {
			switch {
			case v.Null:
				nulls++
				continue
			case v.F != v.F:
				nans++
				continue
			}
			distinct[fmt.Sprint(v.I, v.Hi, v.F, v.S, v.Span)] = true
			checkWithin(t, c, s, v)
		}
		if s.NullCount != nulls || s.NaNCount != nans {
			t.Errorf("column %q: %d NULL and %d NaN, statistics say %d and %d", c.Name, nulls, nans, s.NullCount, s.NaNCount)
		}
		sketch, err := ParseSketch(s.Distinct)
		if err != nil {
			t.Fatal(err)
		}
		if got, want := sketch.Estimate(), float64(len(distinct)); got < want*0.5-2 || got > want*1.6+2 {
			t.Errorf("column %q: about %.0f distinct values, there are %.0f", c.Name, got, want)
		}
	}
}

func checkWithin(t *testing.T, c tablet.Column, s tablet.ColumnStats, v vec.Value) {
	t.Helper()
	var b tablet.Bound
	switch s.Min.Kind {
	case tablet.IntBound:
		b = tablet.MakeInt(v.I, true)
	case tablet.FloatBound:
		b = tablet.MakeFloat(v.F, true)
	case tablet.Int128Bound:
		b = tablet.MakeInt128(v.Hi, uint64(v.I), true)
	case tablet.BytesBound:
		b = tablet.MakeBytes(v.S, true)
	case tablet.NoBound:
		if c.Type.ID != vec.Interval && c.Type.ID != vec.UUID && c.Type.ID != vec.JSON {
			t.Fatalf("column %q has values and no bounds", c.Name)
		}
		return
	}
	low, _ := s.Min.Compare(b)
	high := -1
	if s.Max.Known() {
		high, _ = b.Compare(s.Max)
	}
	if low > 0 || high > 0 {
		t.Fatalf("column %q: %+v lies outside %+v to %+v", c.Name, v, s.Min, s.Max)
	}
}
