package exec

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/tidemarkdb/tidemark/vec"
)

// TestResidentJoins joins where part of the build side stays in memory and part goes to files.
func TestResidentJoins(t *testing.T) {
	db := newMemDB()
	rng := rand.New(rand.NewPCG(21, 1))
	schema := vec.Schema{column("k", vec.Int64Type), column("j", vec.Int64Type), column("v", vec.Int64Type)}
	for name, n := range map[string]int{"t": 420_000, "u": 400_000} {
		valid := vec.NewFullBitmap(n)
		k := randomInts(n, vec.Int64Type, func(i int) int64 {
			if rng.IntN(50) == 0 {
				valid.Clear(i)
			}
			return rng.Int64N(500_000) * 1_000_003
		})
		k.Valid = valid
		db.addCols(name, schema, k, randomInts(n, vec.Int64Type, func(int) int64 { return rng.Int64N(3) }), randomInts(n, vec.Int64Type, func(int) int64 { return rng.Int64N(1000) }))
	}
	const sums = "select count(*), count(t.v), sum(t.v), count(u.v), sum(u.v), sum(t.v * u.v), sum(t.k % 1009 + u.k % 1013)"
	for _, sql := range []string{
		sums + " from t join u on t.k = u.k",
		sums + " from t left join u on t.k = u.k and t.j = u.j",
		sums + " from t right join u on t.k = u.k and t.v < u.v",
		sums + " from t full join u on t.k = u.k",
		"select count(*), sum(v), sum(k % 1009) from t where exists (select 1 from u where u.k = t.k and u.v > t.v)",
		"select count(*), sum(v), sum(k % 1009) from t where not exists (select 1 from u where u.k = t.k)",
		"select count(*), sum(v), sum(k % 1009) from u where exists (select 1 from t where u.k = t.k and j < 2 and t.v <> u.v + 5000)",
		"select count(*), sum(v), sum(k % 1009) from u where not exists (select 1 from t where u.k = t.k)",
	} {
		root := db.plan(t, sql)
		want, err := collect(root, db.env(2))
		if err != nil {
			t.Fatal(err)
		}
		for _, threads := range []int{1, 2} {
			var spilled [2]int64
			for i, limit := range []int64{1 << 20, 12 << 20} {
				env := db.env(threads)
				env.MemoryBytes, env.SpillDir, env.Usage = limit, t.TempDir(), new(Usage)
				check(t, fmt.Sprintf("%d threads, %d bytes", threads, limit), root, env, sql, want)
				spilled[i] = env.Usage.SpilledBytes()
			}
			if spilled[1] == 0 || spilled[1] > spilled[0]*9/10 {
				t.Errorf("%d threads: %s: spilled %d bytes with little memory and %d with more", threads, sql, spilled[0], spilled[1])
			}
		}
	}
}
