package exec

import (
	"context"
	"fmt"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/tidemarkdb/tidemark/sqlerr"
	"github.com/tidemarkdb/tidemark/vec"
)

// spillingQueries work on a lineitem in a memory too small for it.
var spillingQueries = []struct{ name, sql string }{
	{"sort", "select l_orderkey, l_extendedprice from lineitem order by l_extendedprice desc, l_orderkey"},
	{"group", "select l_orderkey, sum(l_quantity), max(l_shipdate) from lineitem group by l_orderkey"},
	{"join", "select count(*), sum(a.l_quantity) from lineitem a join lineitem b on a.l_orderkey = b.l_orderkey and a.l_shipdate < b.l_shipdate"},
	{"range", "select count(*) from lineitem a join lineitem b on a.l_orderkey < b.l_orderkey - 700000"},
	{"window", "select l_orderkey, sum(l_quantity) over (partition by l_orderkey order by l_shipdate) from lineitem"},
	{"far", "select l_orderkey, sum(l_quantity) over (order by l_orderkey, l_shipdate rows between current row and unbounded following) from lineitem"},
	{"farRange", "select l_orderkey, sum(l_quantity) over (order by l_orderkey range between 1000 preceding and 100000 following) from lineitem"},
	{"stretches", "select l_orderkey, sum(l_quantity) over (order by l_orderkey, l_shipdate) from lineitem"},
}

// BenchmarkSpill compares queries with ample memory and with 32 MiB.
func BenchmarkSpill(b *testing.B) {
	db := lineitem()
	for _, q := range spillingQueries {
		if q.name == "range" {
			continue // billions of pairs
		}
		root := db.plan(b, q.sql)
		for _, limit := range []int64{0, 32 << 20} {
			b.Run(fmt.Sprintf("%s/%dMiB", q.name, limit>>20), func(b *testing.B) {
				env := db.env(2)
				env.Storage, env.MemoryBytes, env.SpillDir, env.Usage = db, limit, b.TempDir(), new(Usage)
				before := cpuNanos(b)
				for b.Loop() {
					drainAll(b, root, env)
				}
				b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/lineRows, "ns/row")
				b.ReportMetric(float64(cpuNanos(b)-before)/float64(b.N)/lineRows, "cpu-ns/row")
				b.ReportMetric(float64(env.Usage.SpilledBytes())/float64(b.N)/(1<<20), "spilled-MiB")
			})
		}
	}
}

// BenchmarkCancelSpill cancels queries that spill, at random moments, and reports how long they go on.
func BenchmarkCancelSpill(b *testing.B) {
	db := lineitem()
	rng := rand.New(rand.NewPCG(3, 3))
	for _, q := range spillingQueries {
		root := db.plan(b, q.sql)
		b.Run(q.name, func(b *testing.B) {
			var longest time.Duration
			for b.Loop() {
				env := db.env(2)
				env.Storage, env.MemoryBytes, env.SpillDir, env.Usage = db, 32<<20, b.TempDir(), new(Usage)
				rows, err := Run(context.Background(), root, env)
				if err != nil {
					b.Fatal(err)
				}
				read := make(chan error, 1)
				go func() {
					_, err := readCount(rows)
					read <- err
				}()
				for env.Usage.SpilledBytes() == 0 && len(read) == 0 {
					time.Sleep(time.Millisecond)
				}
				time.Sleep(time.Duration(rng.IntN(1000)) * time.Millisecond)
				begin := time.Now()
				rows.Close()
				longest = max(longest, time.Since(begin))
				if err := <-read; err != nil && sqlerr.Code(err) != sqlerr.QueryCanceled {
					b.Fatal(err)
				}
			}
			b.ReportMetric(float64(longest.Microseconds())/1000, "ms-longest")
		})
	}
}

func readCount(rows *Rows) (n int, err error) {
	for {
		b, err := rows.Next(context.Background())
		if err != nil || b == nil {
			return n, err
		}
		n += b.N
	}
}

// BenchmarkRangeJoin joins n points with n intervals that hold some ten of them each.
func BenchmarkRangeJoin(b *testing.B) {
	for _, n := range []int{1_000, 100_000} {
		db := newMemDB()
		rng := rand.New(rand.NewPCG(5, 5))
		ints := vec.Schema{column("a", vec.Int64Type), column("b", vec.Int64Type)}
		start := randomInts(n, vec.Int64Type, func(int) int64 { return rng.Int64N(int64(n) * 10) })
		lo := vec.Cast[int64](start.Data)
		db.addCols("points", ints, randomInts(n, vec.Int64Type, func(int) int64 { return rng.Int64N(int64(n) * 10) }), start)
		db.addCols("ranges", ints, start, randomInts(n, vec.Int64Type, func(i int) int64 { return lo[i] + rng.Int64N(200) }))
		root := db.plan(b, "select count(*), sum(p.b) from points p join ranges r on p.a between r.a and r.b")
		b.Run(fmt.Sprint(n), func(b *testing.B) {
			env := db.env(2)
			for b.Loop() {
				drainAll(b, root, env)
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/float64(n), "ns/row")
		})
	}
}
