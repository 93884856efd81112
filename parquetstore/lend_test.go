package parquetstore

import (
	"context"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/tidemarkdb/tidemark/tablet"
	"github.com/tidemarkdb/tidemark/vec"
)

// TestHybridPieces reads hybrid data in pieces of any length, some passed over, and compares with reading it at once.
func TestHybridPieces(t *testing.T) {
	for seed := range uint64(40) {
		r := rand.New(rand.NewPCG(seed, 31))
		width := uint(r.IntN(18))
		values := make([]int32, 1+r.IntN(5000))
		for i := range values {
			if i > 0 && r.IntN(10) > 0 && seed%2 == 0 {
				values[i] = values[i-1]
				continue
			}
			values[i] = r.Int32N(1 << width)
		}
		h := hybridReader{src: appendHybrid(nil, values, width), width: width, left: len(values)}
		for at := 0; at < len(values); {
			n := min(1+r.IntN(700), len(values)-at)
			if r.IntN(3) == 0 {
				if err := h.skip(n); err != nil {
					t.Fatal(err)
				}
			} else {
				got := make([]int32, n)
				if err := h.read(got); err != nil {
					t.Fatal(err)
				}
				if !slices.Equal(got, values[at:at+n]) {
					t.Fatalf("seed %d, width %d: values from %d on differ", seed, width, at)
				}
			}
			at += n
		}
		if err := h.read(make([]int32, 1)); err == nil {
			t.Fatal("a value behind the last was read")
		}
	}
}

// TestLentRowsAskedForAgain reads rows that a filter has seen in part, then whole, as dead rows said in Except ask for.
func TestLentRowsAskedForAgain(t *testing.T) {
	columns := []tablet.Column{column(0, vec.Int64Type, false), column(1, vec.TextType, false), column(2, vec.TextType, false)}
	b := &vec.Batch{N: 2000}
	for i, c := range columns {
		x := vec.NewBuilder(c.Type, b.N)
		for row := range b.N {
			switch i {
			case 0:
				vec.AppendFixed(x, int64(row%7)*1_000_003)
			case 1:
				x.AppendString([]string{"few", "different", "texts"}[row%3])
			case 2:
				x.AppendString(fmt.Sprint("text ", row*7919))
			}
		}
		b.Cols = append(b.Cols, x.Finish())
	}
	store := localStore(t)
	writeFile(t, store, "l.parquet", columns, Options{}, b)
	f := openTest(t, store, "l.parquet", OpenOptions{})
	r, err := f.NewReader(&Scan{Columns: []int{0, 1, 2}, Borrow: true}, f.Morsels()[0])
	if err != nil {
		t.Fatal(err)
	}
	for c, cursor := range r.columns {
		for _, sel := range []vec.Selection{{3, 150, 299}, {150}, nil} {
			v, err := cursor.slice(context.Background(), r, 1000, 300, sel)
			if err != nil {
				t.Fatal(err)
			}
			if sel == nil {
				sel = vec.Sequence(300)
			}
			for _, row := range sel {
				sameRow(t, v.Value(int(row)), b.Cols[c].Value(1000+int(row)))
			}
		}
		if _, err := cursor.slice(context.Background(), r, 900, 10, nil); err == nil {
			t.Errorf("column %d: rows that were passed could be read", c)
		}
	}
}
