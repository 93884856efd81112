package exec

import (
	"context"
	"fmt"
	"math/rand/v2"
	"slices"
	"syscall"
	"testing"

	"github.com/tidemarkdb/tidemark/plan"
	"github.com/tidemarkdb/tidemark/vec"
)

// benchScan hands out slices of a table without copying, as a cache of decoded pages does.
type benchDB struct{ *memDB }

func (db benchDB) Scan(_ context.Context, req *ScanRequest) (ScanSource, error) {
	return &benchScan{t: req.Table.Handle.(*memTable), req: req}, nil
}

type benchScan struct {
	t    *memTable
	req  *ScanRequest
	next ticket
}

func (s *benchScan) Applied() []bool     { return make([]bool, len(s.req.Filters)) }
func (s *benchScan) Counters() []Counter { return nil }
func (s *benchScan) Close() error        { return nil }
func (s *benchScan) Next(context.Context, int) (*vec.Batch, error) {
	from := s.next.take() * vec.BatchRows
	if from >= s.t.rows {
		return nil, nil
	}
	b := &vec.Batch{N: min(vec.BatchRows, s.t.rows-from)}
	for _, o := range s.req.Ordinals {
		b.Cols = append(b.Cols, s.t.cols[o].Slice(from, b.N))
	}
	return b, nil
}

func randomInts(n int, t vec.Type, f func(i int) int64) *vec.Vector {
	if t.Phys() == vec.PhysInt32 {
		out := make([]int32, n)
		for i := range out {
			out[i] = int32(f(i))
		}
		return vec.FlatOf(t, out, nil)
	}
	out := make([]int64, n)
	for i := range out {
		out[i] = f(i)
	}
	return vec.FlatOf(t, out, nil)
}

func words(n int, list []string, rng *rand.Rand) *vec.Vector {
	b := vec.NewBuilder(vec.TextType, len(list))
	for _, w := range list {
		b.AppendString(w)
	}
	index := make([]int32, n)
	for i := range index {
		index[i] = rng.Int32N(int32(len(list)))
	}
	return vec.DictionaryOf(b.Finish(), index, nil)
}

const lineRows = 3_000_000

// lineitem makes a table like TPC-H's.
func lineitem() benchDB {
	db := newMemDB()
	rng := rand.New(rand.NewPCG(1, 1))
	money := vec.DecimalType(15, 2)
	names := vec.Schema{column("l_orderkey", vec.Int64Type), column("l_quantity", money), column("l_extendedprice", money), column("l_discount", money), column("l_tax", money),
		column("l_returnflag", vec.TextType), column("l_linestatus", vec.TextType), column("l_shipdate", vec.DateType), column("l_big", vec.Int64Type)}
	db.addCols("lineitem", names,
		randomInts(lineRows, vec.Int64Type, func(i int) int64 { return int64(i / 4) }),
		randomInts(lineRows, money, func(int) int64 { return 100 * (1 + rng.Int64N(50)) }),
		randomInts(lineRows, money, func(int) int64 { return 90000 + rng.Int64N(10_000_000) }),
		randomInts(lineRows, money, func(int) int64 { return rng.Int64N(11) }),
		randomInts(lineRows, money, func(int) int64 { return rng.Int64N(9) }),
		words(lineRows, []string{"A", "N", "R"}, rng), words(lineRows, []string{"F", "O"}, rng),
		randomInts(lineRows, vec.DateType, func(int) int64 { return 8035 + rng.Int64N(2526) }),
		randomInts(lineRows, vec.Int64Type, func(int) int64 { return rng.Int64N(1_000_000) * 7919 }))
	db.addCols("orders", vec.Schema{column("o_orderkey", vec.Int64Type), column("o_custkey", vec.Int64Type), column("o_priority", vec.TextType)},
		randomInts(lineRows/4, vec.Int64Type, func(i int) int64 { return int64(i) }),
		randomInts(lineRows/4, vec.Int64Type, func(int) int64 { return rng.Int64N(100_000) }),
		words(lineRows/4, []string{"1-URGENT", "2-HIGH", "3-MEDIUM"}, rng).Flatten())
	db.addCols("lots", vec.Schema{column("t_orderkey", vec.Int64Type), column("t_discount", money), column("t_cost", money)},
		randomInts(lineRows/4, vec.Int64Type, func(i int) int64 { return int64(i) }),
		randomInts(lineRows/4, money, func(int) int64 { return rng.Int64N(11) }),
		randomInts(lineRows/4, money, func(int) int64 { return rng.Int64N(1000) }))
	return benchDB{db}
}

func BenchmarkQueries(b *testing.B) {
	db := lineitem()
	for _, q := range []struct{ name, sql string }{
		{"Q1", `select l_returnflag, l_linestatus, sum(l_quantity), sum(l_extendedprice), sum(l_extendedprice * (1 - l_discount)),
			sum(l_extendedprice * (1 - l_discount) * (1 + l_tax)), avg(l_quantity), avg(l_extendedprice), avg(l_discount), count(*)
			from lineitem where l_shipdate <= date '1998-09-02' group by l_returnflag, l_linestatus order by 1, 2`},
		{"Q6", `select sum(l_extendedprice * l_discount) from lineitem where l_shipdate >= date '1994-01-01' and l_shipdate < date '1995-01-01'
			and l_discount between 0.05 and 0.07 and l_quantity < 24`},
		{"Group750K", "select count(*) from (select l_orderkey, sum(l_quantity), count(*) from lineitem group by l_orderkey) x"},
		{"Group1MRandom", "select count(*) from (select l_big, sum(l_quantity), count(*) from lineitem group by l_big) x"},
		{"Group2Keys", "select count(*) from (select l_shipdate, l_discount, sum(l_quantity) from lineitem group by l_shipdate, l_discount) x"},
		{"JoinUnique", "select sum(o_custkey), count(*) from lineitem join orders on l_orderkey = o_orderkey where o_custkey < 50000"},
		{"JoinFew", "select sum(l_tax * o_custkey) from lineitem join orders on l_orderkey = o_orderkey where o_custkey < 2000"},
		{"JoinTwoKeys", "select sum(t_cost), count(*) from lineitem join lots on l_orderkey = t_orderkey and l_discount = t_discount"},
		{"JoinGroup", "select o_priority, sum(l_extendedprice) from lineitem join orders on l_orderkey = o_orderkey group by o_priority"},
		{"SortLimit", "select l_orderkey, l_extendedprice from lineitem order by l_extendedprice desc limit 100"},
		{"SortAll", "select l_orderkey, l_extendedprice from lineitem order by l_extendedprice"},
		{"Running", "select sum(s) from (select sum(l_quantity) over (partition by l_orderkey order by l_shipdate) s from lineitem) x"},
	} {
		b.Run(q.name, func(b *testing.B) {
			root := db.plan(b, q.sql)
			b.ReportAllocs()
			before := cpuNanos(b)
			for b.Loop() {
				env := db.env(2)
				env.Storage = db
				drainAll(b, root, env)
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/lineRows, "ns/row")
			b.ReportMetric(float64(cpuNanos(b)-before)/float64(b.N)/lineRows, "cpu-ns/row")
		})
	}
}

func drainAll(b *testing.B, root plan.Node, env *Env) {
	rows, err := Run(context.Background(), root, env)
	if err != nil {
		b.Fatal(err)
	}
	defer rows.Close()
	for {
		batch, err := rows.Next(context.Background())
		if err != nil {
			b.Fatal(err)
		}
		if batch == nil {
			return
		}
	}
}

// maskedDB hands out batches of which some rows in 100 do not count, as a selection.
type maskedDB struct {
	benchDB
	percent int
}

func (db maskedDB) Scan(ctx context.Context, req *ScanRequest) (ScanSource, error) {
	src, err := db.benchDB.Scan(ctx, req)
	rng := rand.New(rand.NewPCG(7, 7))
	var sel vec.Selection
	for i := range int32(vec.BatchRows) {
		if rng.IntN(100) >= db.percent {
			sel = append(sel, i)
		}
	}
	return &maskedScan{src.(*benchScan), sel}, err
}

type maskedScan struct {
	*benchScan
	sel vec.Selection
}

func (s *maskedScan) Next(ctx context.Context, worker int) (*vec.Batch, error) {
	b, err := s.benchScan.Next(ctx, worker)
	if b != nil && len(s.sel) < vec.BatchRows {
		n, _ := slices.BinarySearch(s.sel, int32(b.N))
		b.Sel = s.sel[:n]
	}
	return b, err
}

func BenchmarkMasked(b *testing.B) {
	db := lineitem()
	for _, q := range []struct{ name, sql string }{
		{"sum", "select count(*), sum(l_extendedprice) from lineitem"},
		{"product", "select sum(l_extendedprice * l_discount) from lineitem"},
		{"group", "select l_returnflag, count(*), sum(l_extendedprice) from lineitem group by l_returnflag"},
		{"extremes", "select min(l_shipdate), max(l_extendedprice) from lineitem"},
	} {
		for _, percent := range []int{0, 1, 10} {
			b.Run(fmt.Sprintf("%s/%d%%", q.name, percent), func(b *testing.B) {
				root, env := db.plan(b, q.sql), db.env(1)
				env.Storage = maskedDB{db, percent}
				before := cpuNanos(b)
				for b.Loop() {
					drainAll(b, root, env)
				}
				b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/lineRows, "ns/row")
				b.ReportMetric(float64(cpuNanos(b)-before)/float64(b.N)/lineRows, "cpu-ns/row")
			})
		}
	}
}

// cpuNanos returns what the process has used of all cores, which says more than the clock where others use them too.
func cpuNanos(tb testing.TB) int64 {
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		tb.Fatal(err)
	}
	return u.Utime.Nano() + u.Stime.Nano()
}
