package exec

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/tidemarkdb/tidemark/vec"
)

// buildSide returns n rows of a few texts with NULLs and an integer among them, as dictionaries' entries.
func buildSide(random *rand.Rand, n int) []*vec.Vector {
	texts, more, ints := vec.NewBuilder(vec.TextType, n), vec.NewBuilder(vec.TextType, n), vec.NewBuilder(vec.Int32Type, n)
	for range n {
		if random.IntN(5) == 0 {
			texts.AppendNull()
		} else {
			texts.AppendString(fmt.Sprint("t", random.IntN(40)))
		}
		more.AppendString(fmt.Sprint(random.IntN(3)))
		vec.AppendFixed(ints, int32(random.IntN(4)))
	}
	return []*vec.Vector{texts.Finish(), more.Finish(), ints.Finish()}
}

// TestFoldedKeys numbers keys that come from build sides, whose columns are folded, and checks every number against a
// map: over build sides that stay and change, batches whose codes fall apart, NULLs of outer joins and flat batches.
func TestFoldedKeys(t *testing.T) {
	random := rand.New(rand.NewPCG(7, 7))
	types := []vec.Type{vec.TextType, vec.Int64Type, vec.TextType, vec.Int32Type}
	g := newGrouper(types, 0).(*keyGrouper)
	seen := map[string]uint32{}
	entries := buildSide(random, 300)
	for batch := range 60 {
		n := 1 + random.IntN(2000)
		if batch == 0 {
			n = 500
		}
		if batch%9 == 8 {
			entries = buildSide(random, 100+random.IntN(5000))
		}
		index, other, year := make([]int32, n), make([]int32, n), make([]int64, n)
		valid := vec.NewFullBitmap(n)
		for i := range index {
			index[i], other[i], year[i] = int32(random.IntN(entries[0].N)), int32(random.IntN(entries[0].N)), int64(random.IntN(5))
			if random.IntN(10) == 0 {
				valid.Clear(i)
			}
		}
		second, outer := index, vec.Bitmap(nil)
		switch batch % 5 {
		case 3:
			second = other
		case 4:
			outer = valid
		}
		keys := []*vec.Vector{
			{Type: vec.TextType, Form: vec.Dictionary, N: n, Index: index, Dict: entries[0], Valid: outer},
			vec.FlatOf(vec.Int64Type, year, nil),
			{Type: vec.TextType, Form: vec.Dictionary, N: n, Index: second, Dict: entries[1], Valid: outer},
			{Type: vec.Int32Type, Form: vec.Dictionary, N: n, Index: index, Dict: entries[2], Valid: outer},
		}
		if batch%7 == 6 {
			for i, k := range keys {
				keys[i] = k.Flatten()
			}
		}
		numbers := make([]uint32, n)
		before := g.len()
		g.assign(keys, n, numbers)
		if len(g.fresh()) != g.len()-before {
			t.Fatalf("batch %d: %d fresh rows for %d new keys", batch, len(g.fresh()), g.len()-before)
		}
		for i := range n {
			text := rowText(&vec.Batch{N: n, Cols: keys}, i)
			want, known := seen[text]
			if !known {
				seen[text] = numbers[i]
			} else if numbers[i] != want {
				t.Fatalf("batch %d, row %d: %s has the numbers %d and %d", batch, i, text, want, numbers[i])
			}
		}
	}
	if g.folded == nil || len(g.folded.places) != 3 {
		t.Fatal("the columns of the build side were not folded")
	}
	checkKeys(t, g, seen)
}

// checkKeys checks that a grouper gives back the keys that were seen, by their texts and numbers.
func checkKeys(t *testing.T, g grouper, seen map[string]uint32) {
	t.Helper()
	if g.len() != len(seen) {
		t.Fatalf("%d keys numbered, %d seen", g.len(), len(seen))
	}
	for from := 0; from < g.len(); from += 100 {
		n := min(100, g.len()-from)
		keys := &vec.Batch{N: n, Cols: g.keys(from, n)}
		for i := range n {
			if text := rowText(keys, i); seen[text] != uint32(from+i) {
				t.Fatalf("key %d is %s, which has number %d", from+i, text, seen[text])
			}
		}
	}
}
