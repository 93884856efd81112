package exec

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/tidemarkdb/tidemark/vec"
)

// TestPackedKeys numbers keys of integer columns whose spans grow batch by batch, in the end past a word, and checks
// every number and every key against a map.
func TestPackedKeys(t *testing.T) {
	for _, types := range [][]vec.Type{
		{vec.Int64Type, vec.DateType},
		{vec.Int16Type, vec.BoolType, vec.Int64Type},
		{vec.Int64Type, vec.Int64Type, vec.Int32Type, vec.BoolType},
		{vec.BoolType},
	} {
		random := rand.New(rand.NewPCG(3, uint64(len(types))))
		g := newGrouper(types, 0).(*keyGrouper)
		for round := range 2 {
			packed, unpacked := checkSpans(t, g, types, random)
			if round == 0 && !packed {
				t.Fatalf("%v: no keys were packed", types)
			}
			if wide := len(types) > 2 || types[0].ID == vec.Int64; round == 0 && unpacked != wide {
				t.Fatalf("%v: keys left their words: %t", types, unpacked)
			}
			g.reset()
		}
	}
}

// checkSpans reports whether keys were packed and whether some were, and no longer are.
func checkSpans(t *testing.T, g *keyGrouper, types []vec.Type, random *rand.Rand) (packed, unpacked bool) {
	seen := map[string]uint32{}
	for batch := range 64 {
		n := 1 + random.IntN(600)
		keys := make([]*vec.Vector, len(types))
		for k, typ := range types {
			keys[k] = spanned(typ, n, batch, random)
		}
		numbers, before := make([]uint32, n), g.len()
		g.assign(keys, n, numbers)
		if len(g.fresh()) != g.len()-before {
			t.Fatalf("batch %d: %d fresh rows for %d new keys", batch, len(g.fresh()), g.len()-before)
		}
		for i := range n {
			text := rowText(&vec.Batch{N: n, Cols: keys}, i)
			if want, known := seen[text]; known && numbers[i] != want {
				t.Fatalf("batch %d, row %d: %s has the numbers %d and %d", batch, i, text, want, numbers[i])
			}
			seen[text] = numbers[i]
		}
		packed = packed || g.packed != nil
	}
	checkKeys(t, g, seen)
	return packed, packed && g.packed == nil
}

// spanned returns n values, some NULL, of about bits bits and the ends of their range, in any form.
func spanned(typ vec.Type, n, bits int, random *rand.Rand) *vec.Vector {
	b := vec.NewBuilder(typ, n)
	for range n {
		x := int64(random.Uint64()>>(64-bits)) - 1<<max(bits-2, 0)
		if bits == 63 && random.IntN(4) == 0 {
			x = [2]int64{math.MinInt64, math.MaxInt64}[random.IntN(2)]
		}
		switch {
		case random.IntN(20) == 0:
			b.AppendNull()
		case typ.ID == vec.Bool:
			vec.AppendFixed(b, byte(x&1))
		case typ.Phys() == vec.PhysInt16:
			vec.AppendFixed(b, int16(x))
		case typ.Phys() == vec.PhysInt32:
			vec.AppendFixed(b, int32(x))
		default:
			vec.AppendFixed(b, x)
		}
	}
	v := b.Finish()
	switch random.IntN(4) {
	case 0:
		index := make([]int32, n)
		for i := range index {
			index[i] = int32(random.IntN(n))
		}
		return vec.DictionaryOf(v, index, nil)
	case 1:
		return vec.ConstantOf(typ, v.Value(0), n)
	}
	return v
}
