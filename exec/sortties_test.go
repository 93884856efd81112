package exec

import (
	"context"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/tidemarkdb/tidemark/vec"
)

// TestSortTies sorts rows that share long beginnings, of strings that differ late, in zero bytes or in nothing, and
// compares with sorting row by row.
func TestSortTies(t *testing.T) {
	rng := rand.New(rand.NewPCG(11, 3))
	const n = 9000
	strs, more := vec.NewBuilder(vec.TextType, n), vec.NewBuilder(vec.TextType, n)
	for range n {
		s := strings.Repeat("same-", rng.IntN(6)) + strings.Repeat("\x00", rng.IntN(3)) + strings.Repeat("z", rng.IntN(2))
		if rng.IntN(10) == 0 {
			strs.AppendNull()
		} else {
			strs.AppendString(s)
		}
		more.AppendString(strings.Repeat("b", 10+rng.IntN(10)))
	}
	few := randomInts(n, vec.Int64Type, func(int) int64 { return rng.Int64N(2) })
	day := randomInts(n, vec.DateType, func(int) int64 { return rng.Int64N(30) })
	wide := randomInts(n, vec.Int64Type, func(int) int64 { return rng.Int64N(3) })
	cols := []*vec.Vector{few, strs.Finish(), day, more.Finish(), wide}
	for k := range 32 {
		var specs []sortSpec
		for i, c := range cols {
			specs = append(specs, sortSpec{place: i, t: c.Type, desc: k>>i&1 != 0, nullsFirst: k%3 == 0})
		}
		rng.Shuffle(len(specs), func(i, j int) { specs[i], specs[j] = specs[j], specs[i] })
		o := newOrdering(specs[:2+k%4])
		q := (&query{ctx: context.Background()})
		entries, err := o.entries(q, nil, cols, n)
		if err != nil {
			t.Fatal(err)
		}
		before := slices.Clone(entries)
		got, _, err := o.sort(q, entries, nil, cols)
		if err != nil {
			t.Fatal(err)
		}
		want := vec.Sequence(n)
		slices.SortStableFunc(want, func(a, b int32) int { return o.rows(cols, int(a), cols, int(b)) })
		for i, e := range got {
			if e.row != want[i] || e != before[e.row] {
				t.Fatalf("%s: place %d has entry %+v of row %d, want row %d with %+v", fmt.Sprint(o.specs), i, e, e.row, want[i], before[want[i]])
			}
		}
	}
}
