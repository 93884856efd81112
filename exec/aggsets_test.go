package exec

import (
	"fmt"
	"slices"
	"testing"

	"github.com/tidemarkdb/tidemark/vec"
)

// TestGroupingSetsOfManyGroups checks sets that are folded from the groups of finer ones, in tables that are partitioned
// and in keys that come from one side of a join, against each set grouped alone.
func TestGroupingSetsOfManyGroups(t *testing.T) {
	db := newMemDB()
	n := 3 * maxLocalGroups
	a, b, x := make([]int64, n), make([]int32, n), make([]int64, n)
	for i := range n {
		a[i], b[i], x[i] = int64(i*7919%(n-1000)), int32(i%700), int64(i)
	}
	db.addCols("t", vec.Schema{column("a", vec.Int64Type), column("b", vec.Int32Type), column("x", vec.Int64Type)},
		vec.FlatOf(vec.Int64Type, a, nil), vec.FlatOf(vec.Int32Type, b, nil), vec.FlatOf(vec.Int64Type, x, nil))
	names, kinds := vec.NewBuilder(vec.TextType, 700), vec.NewBuilder(vec.TextType, 700)
	ids := make([]int32, 700)
	for i := range ids {
		ids[i] = int32(i)
		names.AppendString(fmt.Sprintf("name %d", i%350))
		kinds.AppendString(fmt.Sprintf("kind %d", i%11))
	}
	db.addCols("d", vec.Schema{column("b", vec.Int32Type), column("name", vec.TextType), column("kind", vec.TextType)},
		vec.FlatOf(vec.Int32Type, ids, nil), names.Finish(), kinds.Finish())
	const from = " from t join d on t.b = d.b group by "
	const calls = ", count(*), sum(x), avg(x), min(x), max(name), count(x) filter (where x % 3 = 0)"
	for _, c := range []struct {
		sets string
		each [][2]string // what a set selects and groups by
	}{
		{"rollup (kind, name, a)", [][2]string{{"kind, name, a", "kind, name, a"}, {"kind, name, null", "kind, name"}, {"kind, null, null", "kind"}, {"null, null, null", "()"}}},
		{"grouping sets ((name), (kind, name), (a), (), (name, a), (name))", [][2]string{{"null, name, null", "name"}, {"kind, name, null", "kind, name"},
			{"null, null, a", "a"}, {"null, null, null", "()"}, {"null, name, a", "name, a"}, {"null, name, null", "name"}}},
	} {
		var want []string
		for _, set := range c.each {
			want = append(want, db.query(t, "select "+set[0]+calls+from+set[1], db.env(1), false)...)
		}
		slices.Sort(want)
		for _, threads := range []int{1, 2} {
			got := db.query(t, "select kind, name, a"+calls+from+c.sets, db.env(threads), false)
			slices.Sort(got)
			if !slices.Equal(got, want) {
				t.Errorf("%s, %d threads: %d rows, want %d\ngot  %s\nwant %s", c.sets, threads, len(got), len(want), sprint(firstDifferent(got, want)), sprint(firstDifferent(want, got)))
			}
		}
		limited := db.query(t, "select kind, name, a"+calls+from+c.sets+" limit 5", db.env(2), false)
		if len(limited) != 5 {
			t.Errorf("%s limit 5: %d rows", c.sets, len(limited))
		}
	}
}
