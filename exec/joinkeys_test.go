package exec

import (
	"math"
	"testing"

	"github.com/tidemarkdb/tidemark/vec"
)

// TestPackedJoinKeys packs the keys of a build side and of a probe side: what is equal must be, what the build side
// cannot have must match nothing, and spans that do not fit into one integer are left alone.
func TestPackedJoinKeys(t *testing.T) {
	ints := func(vals ...int64) *vec.Vector { return vec.FlatOf(vec.Int64Type, vals, nil) }
	days := func(vals ...int32) *vec.Vector { return vec.FlatOf(vec.DateType, vals, nil) }
	plain := []bool{false, false}
	build := []*vec.Vector{ints(-5, 1<<40, 7, 7), days(3, math.MinInt32, -1, math.MaxInt32)}
	all := &joinTable{n: 4}
	if _, ok := all.integerKey(build, plain, nil); ok {
		t.Fatal("41 and 32 bits were packed into 63")
	}
	valid := vec.NewFullBitmap(4)
	valid.Clear(1)
	some := &joinTable{n: 4}
	keys, ok := some.integerKey(build, plain, valid)
	if !ok || some.packed == nil {
		t.Fatal("keys that fit were not packed")
	}
	probe := []*vec.Vector{ints(7, 7, -5, -6, 8, 1<<40, math.MaxInt64, -5), days(-1, math.MaxInt32, 3, 3, 3, math.MinInt32, -1, -2)}
	got, wide := make([]int64, 8), make([]int64, 8)
	some.packed.pack(probe, got, wide)
	none := int64(noJoinKey)
	for i, want := range []int64{keys[2], keys[3], keys[0], none, none, none, none, none} {
		if got[i] != want {
			t.Errorf("probe row %d is packed as %d, want %d", i, got[i], want)
		}
	}
	for i, x := range keys {
		for k := range i {
			if valid.Get(i) && valid.Get(k) && x == keys[k] {
				t.Errorf("rows %d and %d are packed alike", i, k)
			}
		}
	}
	if _, ok := (&joinTable{n: 4}).integerKey(build, []bool{false, true}, valid); ok {
		t.Error("a key that NULL matches was packed")
	}
}
