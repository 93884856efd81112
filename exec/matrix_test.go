package exec

import (
	"context"
	"fmt"
	"math/rand/v2"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/tidemarkdb/tidemark/plan"
	"github.com/tidemarkdb/tidemark/sqlerr"
	"github.com/tidemarkdb/tidemark/vec"
)

// randomDB makes two tables of n and m random rows, with duplicates and a share of NULLs.
func randomDB(seed uint64, n, m int, nulls float64) *memDB {
	db := newMemDB()
	rng := rand.New(rand.NewPCG(seed, 7))
	cell := func(s string) string {
		if rng.Float64() < nulls {
			return "NULL"
		}
		return s
	}
	names := []string{"", "a", "ab", "abc", "customer#0000000001", "customer#0000000002", "customer#0000000003", "zz"}
	row := func(id int) []string {
		return []string{
			strconv.Itoa(id), cell(strconv.Itoa(rng.IntN(9))), cell(strconv.FormatInt(int64(rng.IntN(5))<<40, 10)), cell(names[rng.IntN(len(names))]),
			cell(fmt.Sprintf("%d.%02d", rng.IntN(20)-10, rng.IntN(100))), cell([]string{"0", "1.5", "NaN", "Infinity", "-2"}[rng.IntN(5)]),
			cell(fmt.Sprintf("2024-01-%02d", 1+rng.IntN(28))), cell([]string{"t", "f"}[rng.IntN(2)]),
		}
	}
	schema := vec.Schema{column("id", vec.Int64Type), column("k", vec.Int32Type), column("big", vec.Int64Type), column("s", vec.TextType),
		column("d", vec.DecimalType(12, 2)), column("f", vec.Float64Type), column("day", vec.DateType), column("b", vec.BoolType)}
	for name, size := range map[string]int{"t": n, "u": m} {
		var rows [][]string
		for i := range size {
			rows = append(rows, row(i))
		}
		db.add(name, schema, rows...)
	}
	return db
}

// matrixQueries reach every operator. Those whose text ends in "-- ordered" have one order of rows only.
var matrixQueries = []string{
	"select * from t where k > 3 and d < 5.5 and s <> 'a'",
	"select id, k + 1, d * 2, s > 'a', case when k > 4 then s when k is null then 'none' end, coalesce(s, day::text, 'x') from t where b or k < 2",
	"select id from t where s in ('a', 'zz') or k in (1, 2, 3) or day between date '2024-01-05' and date '2024-01-09'",
	"select id from t where s >= 'customer' and not b and f > 0",
	"select id from t where k <> 0 and 100 / k > 20",
	"select count(*), sum(k), avg(d), min(s), max(f), bool_and(b), count(distinct s), sum(distinct k) from t",
	"select k, count(*), sum(d), min(day) from t group by k",
	"select s, b, count(*), sum(big), max(id) from t group by s, b",
	"select f, big, day, count(s) from t group by f, big, day",
	"select k, count(distinct s), count(*), sum(d) filter (where b), string_agg(id::text, ',' order by d desc, id) from t group by k",
	"select string_agg(s, ',' order by id) from t",
	"select count(distinct s), sum(d) from t",
	"select k, s, grouping(k, s), count(*), sum(id) from t group by rollup (k, s)",
	"select k, b, count(*) from t group by cube (k, b)",
	"select t.id, u.id from t join u on t.k = u.k and t.s = u.s",
	"select t.id, u.id, u.s from t join u on t.id = u.id where t.d < u.d",
	"select t.id, u.s from t left join u on t.big = u.big and t.id < u.id",
	"select t.id, u.id from t right join u on t.s = u.s and t.b",
	"select t.id, u.id from t full join u on t.k = u.k and t.day = u.day",
	"select t.id, u.id from t full join u on t.f = u.f and t.day > u.day",
	"select t.id, u.id from t join u on t.day < u.day and t.k > u.k",
	"select t.id, u.id from t cross join u where t.k + u.k = 5",
	"select id from t where k in (select k from u where b)",
	"select id from t where k not in (select k from u where day > date '2024-01-10')",
	"select id, k in (select k from u where u.s = t.s), s not in (select s from u where s is not null) from t",
	"select id from t where exists (select 1 from u where u.k = t.k and u.d > t.d)",
	"select id from t where not exists (select 1 from u where u.s = t.s and u.b)",
	"select id, (select max(d) from u where u.k = t.k) from t",
	"select id, d > all (select d from u where u.k = t.k) from t",
	"select id, s, f, d from t order by s desc nulls last, f, d nulls first, id -- ordered",
	"select id, day, big from t order by day, big desc, id limit 17 offset 5 -- ordered",
	"select id from t order by f desc, id limit 3 -- ordered",
	"select * from (select id from t order by s, id limit 20) x order by id -- ordered",
	"select k, s from t union select k, s from u",
	"select k, b from t union all select k, b from u",
	"select k, b from t intersect select k, b from u",
	"select k, b from t intersect all select k, b from u",
	"select k, s from t except select k, s from u",
	"select k from t except all select k from u",
	"select distinct on (k) k, id from t order by k, id desc",
	// What the build side's keys may filter, and what they must not: a limit, a window over other rows, an outer join.
	"select t.id, x.n from t join (select k, count(*) n, sum(d) s from u group by k) x on x.k = t.k where t.id < 4",
	"select t.id, x.n from t join (select k, count(distinct s) n from u group by k) x on x.k = t.k where t.id < 4",
	"select t.id, x.id from t join (select id, k from u order by id limit 9) x on x.k = t.k where t.id < 4",
	"select t.id, x.r from t join (select k, sum(id) over (order by id) r from u) x on x.k = t.k where t.id < 4",
	"select t.id, x.r from t join (select k, sum(id) over (partition by k order by id) r from u) x on x.k = t.k where t.id < 4",
	"select t.id, x.n from t join (select k, k + 1 n from u union all select k, id::int from t) x on x.k = t.k where t.id < 4",
	"select t.id, x.k from t join (select k from u except select k from t where b) x on x.k = t.k where t.id < 4",
	"select t.id, x.s from t join (select u.k, v.s from u left join t v on u.id = v.k) x on x.k = t.k where t.id < 4",
	"select t.id, x.k from t join (select v.k from u left join t v on u.id = v.id and v.b) x on x.k = t.k where t.id < 4",
	"with x as (select k, count(*) n from t group by k) select a.k, a.n, b.n from x a join x b on a.n = b.n",
	"select id, sum(d) over (partition by k order by id), count(*) over (partition by k), min(s) over (order by id rows between 3 preceding and 1 following) from t",
	"select id, sum(id) over (partition by b order by k, s groups between 1 preceding and current row exclude ties) from t",
	"select id, count(*) over (order by big, k range between unbounded preceding and current row exclude group) from t",
	"select id, sum(id) over (partition by s order by k desc range between 2 preceding and 1 following) from t",
	"select id, count(distinct s) over (partition by k), count(s) filter (where b) over (partition by k order by id rows unbounded preceding) from t",
	"select id, string_agg(s, '') over (partition by k order by id rows between 2 preceding and current row exclude current row) from t",
}

func isOrdered(text string) bool { return strings.HasSuffix(text, "-- ordered") }

// expected returns the reference's rows of each query.
func expected(tb testing.TB, db *memDB, text string) (plan.Node, []string) {
	root := db.plan(tb, text)
	want := textRows(newReference(db).rows(root))
	if !isOrdered(text) {
		slices.Sort(want)
	}
	return root, want
}

func textRows(rows [][]vec.Value) []string { return text(rows) }

func check(t *testing.T, what string, root plan.Node, env *Env, sql string, want []string) {
	t.Helper()
	got, err := collect(root, env)
	if err != nil {
		t.Errorf("%s: %s: %v", what, sql, err)
		return
	}
	if !isOrdered(sql) {
		slices.Sort(got)
	}
	if !slices.Equal(got, want) {
		t.Errorf("%s: %s\ngot  %s\nwant %s", what, sql, sprint(firstDifferent(got, want)), sprint(firstDifferent(want, got)))
	}
}

// firstDifferent returns a few rows of a from where it departs from b.
func firstDifferent(a, b []string) []string {
	i := 0
	for i < len(a) && i < len(b) && a[i] == b[i] {
		i++
	}
	return a[i:min(len(a), i+5)]
}

// TestMatrix runs every query over every shape of input and compares with the reference.
func TestMatrix(t *testing.T) {
	for _, share := range []float64{0, 0.2, 1} {
		db := randomDB(uint64(share*10)+1, 60, 40, share)
		for _, sql := range matrixQueries {
			root, want := expected(t, db, sql)
			for _, s := range []shape{
				{batch: 1}, {batch: 2, selected: true, seed: 1}, {batch: 3, forms: true, seed: 2}, {batch: 7, selected: true, forms: true, applies: true, seed: 3},
				{batch: 1024}, {batch: 1024, selected: true, forms: true, seed: 4}, {batch: 16, applies: true},
			} {
				db.shape = s
				for _, threads := range []int{1, 3} {
					check(t, fmt.Sprintf("nulls %v, %+v, %d threads", share, s, threads), root, db.env(threads), sql, want)
				}
			}
			if t.Failed() {
				return
			}
		}
	}
}

// TestEmpty runs every query over tables without rows.
func TestEmpty(t *testing.T) {
	for _, sizes := range [][2]int{{0, 0}, {30, 0}, {0, 30}} {
		db := randomDB(5, sizes[0], sizes[1], 0.1)
		for _, sql := range matrixQueries {
			root, want := expected(t, db, sql)
			check(t, fmt.Sprint(sizes), root, db.env(2), sql, want)
		}
	}
}

// refusing runs a plan with a budget that refuses one reservation, after so many grants.
func refusing(root plan.Node, env *Env, grants int64) (out []string, asks int64, err error) {
	var asked atomic.Int64
	b := &budget{refuse: func(string, int64) bool {
		return asked.Add(1) == grants+1
	}}
	q := &query{env: env, threads: env.Threads, budget: b}
	rows, err := q.run(context.Background(), root)
	if err != nil {
		return nil, asked.Load(), err
	}
	defer rows.Close()
	out, err = readAll(rows)
	return out, asked.Load(), err
}

// TestRefusedMemory refuses memory at every step in turn, without and with files to spill to: the result is the
// right one or an error that names the operator.
func TestRefusedMemory(t *testing.T) {
	db := randomDB(11, 60, 40, 0.1)
	db.shape = shape{batch: 16}
	for _, sql := range matrixQueries {
		root, want := expected(t, db, sql)
		for _, spill := range []bool{false, true} {
			env := db.env(2)
			if spill {
				env.SpillDir = t.TempDir()
			}
			spilled, asked := 0, int64(1)
			for grants := int64(0); grants < min(asked, 24); grants++ {
				got, n, err := refusing(root, env, grants)
				asked = max(asked, n)
				if err != nil {
					if sqlerr.Code(err) != sqlerr.OutOfMemory {
						t.Fatalf("%s: refusal %d: %v", sql, grants, err)
					}
					continue
				}
				spilled++
				if !isOrdered(sql) {
					slices.Sort(got)
				}
				if !slices.Equal(got, want) {
					t.Fatalf("%s: refusal %d, spill %v\ngot  %s\nwant %s", sql, grants, spill, sprint(firstDifferent(got, want)), sprint(firstDifferent(want, got)))
				}
			}
			if spill && asked > 1 && spilled == 0 {
				t.Logf("%s: never spilled", sql)
			}
		}
	}
}

// TestSpill runs queries over more rows than the budget holds.
func TestSpill(t *testing.T) {
	db := randomDB(12, 20000, 3000, 0.05)
	for _, sql := range []string{
		"select id, s, d from t order by s, d, id -- ordered",
		"select id, count(*), sum(d) from t group by id",
		"select id % 5000 k, count(distinct s), sum(d) from t group by 1",
		"select count(distinct id) from t",
		"select t.id, u.d from t join u on t.id = u.id",
		"select t.id, u.d from u right join t on t.id = u.id and t.s = u.s",
		"select t.id, u.d from t full join u on t.id = u.id + 100",
		"select id from t where id in (select id + 1 from u)",
		"select id, sum(d) over (partition by id % 1000 order by id) from t",
		"select id from t except select id from u",
	} {
		root := db.plan(t, sql)
		want, err := collect(root, db.env(2))
		if err != nil {
			t.Fatal(err)
		}
		if !isOrdered(sql) {
			slices.Sort(want)
		}
		env := db.env(2)
		env.SpillDir, env.MemoryBytes = t.TempDir(), 1<<18
		if strings.Contains(sql, "join") || strings.Contains(sql, " in ") {
			env.MemoryBytes = 1 << 16 // the smaller side is what is held
		}
		rows, err := Run(context.Background(), root, env)
		if err != nil {
			t.Fatal(err)
		}
		got, err := readAll(rows)
		if err != nil {
			t.Errorf("%s: %v", sql, err)
			continue
		}
		if !isOrdered(sql) {
			slices.Sort(got)
		}
		if !slices.Equal(got, want) {
			t.Errorf("%s: %d rows, want %d", sql, len(got), len(want))
		}
		if spillOf(rows.Metrics()) == 0 {
			t.Errorf("%s: nothing was spilled", sql)
		}
		rows.Close()
	}
}

func spillOf(m *Metrics) int64 {
	total := m.SpillBytes
	for _, in := range m.Inputs {
		total += spillOf(in)
	}
	return total
}

// TestCancel cancels queries at every batch in turn: they end with the reason, and nothing of them stays.
func TestCancel(t *testing.T) {
	before := runtime.NumGoroutine()
	db := randomDB(13, 400, 300, 0.1)
	db.shape = shape{batch: 8}
	for _, sql := range matrixQueries {
		root := db.plan(t, sql)
		for steps := int64(1); steps < 60; steps += 7 {
			ctx, cancel := context.WithCancel(context.Background())
			env := db.env(2)
			env.Storage = &cancelling{memDB: db, after: steps, cancel: cancel}
			rows, err := Run(ctx, root, env)
			if err == nil {
				_, err = readAll(rows)
				rows.Close()
				rows.Close()
			}
			cancel()
			if err != nil && sqlerr.Code(err) != sqlerr.QueryCanceled {
				t.Fatalf("%s: cancelled at %d: %v", sql, steps, err)
			}
		}
	}
	waitForGoroutines(t, before)
}

// cancelling cancels the query at the n-th batch it hands out.
type cancelling struct {
	*memDB
	after  int64
	n      atomic.Int64
	cancel func()
}

func (c *cancelling) Scan(ctx context.Context, req *ScanRequest) (ScanSource, error) {
	s, err := c.memDB.Scan(ctx, req)
	return &cancellingScan{s, c}, err
}

type cancellingScan struct {
	ScanSource
	c *cancelling
}

func (s *cancellingScan) Next(ctx context.Context, worker int) (*vec.Batch, error) {
	if s.c.n.Add(1) == s.c.after {
		s.c.cancel()
	}
	return s.ScanSource.Next(ctx, worker)
}

func waitForGoroutines(t *testing.T, want int) {
	t.Helper()
	for range 200 {
		if runtime.NumGoroutine() <= want {
			return
		}
		time.Sleep(5 * time.Millisecond)
	}
	buf := make([]byte, 1<<16)
	t.Fatalf("%d goroutines, want %d\n%s", runtime.NumGoroutine(), want, buf[:runtime.Stack(buf, true)])
}

// TestCloseEarly closes results before their end, read and unread.
func TestCloseEarly(t *testing.T) {
	before := runtime.NumGoroutine()
	db := randomDB(14, 5000, 100, 0)
	db.shape = shape{batch: 8}
	for _, sql := range matrixQueries[:5] {
		for _, reads := range []int{0, 1, 3} {
			rows, err := Run(context.Background(), db.plan(t, sql), db.env(3))
			if err != nil {
				t.Fatal(err)
			}
			for range reads {
				if _, err := rows.Next(context.Background()); err != nil {
					t.Fatal(err)
				}
			}
			if err := rows.Close(); err != nil {
				t.Fatal(err)
			}
		}
	}
	waitForGoroutines(t, before)
}

// TestErrors checks that errors of rows that count surface, with their code, and those of others do not.
func TestErrors(t *testing.T) {
	db := randomDB(15, 100, 10, 0)
	for _, c := range []struct{ sql, code string }{
		{"select 1 / (k - k) from t", sqlerr.DivisionByZero},
		{"select sum(1 / (id - 50)) from t", sqlerr.DivisionByZero},
		{"select id from t order by 1 / (id - 50)", sqlerr.DivisionByZero},
		{"select (select id from t where id < 5) from u", sqlerr.CardinalityViolation},
		{"select k + 2147483647 from t where k > 0", sqlerr.NumericOutOfRange},
		{"select big * 9223372036854775807 from t where big > 0", sqlerr.NumericOutOfRange},
	} {
		got, err := collect(db.plan(t, c.sql), db.env(2))
		if sqlerr.Code(err) != c.code {
			t.Errorf("%s: %v, %d rows; want SQLSTATE %s", c.sql, err, len(got), c.code)
		}
	}
}

// TestMetrics checks that operators report what they did.
func TestMetrics(t *testing.T) {
	db := randomDB(16, 1000, 10, 0)
	rows, err := Run(context.Background(), db.plan(t, "select k, count(*) from t where id < 500 group by k"), db.env(2))
	if err != nil {
		t.Fatal(err)
	}
	defer rows.Close()
	if _, err := readAll(rows); err != nil {
		t.Fatal(err)
	}
	var scan *Metrics
	var walk func(m *Metrics)
	walk = func(m *Metrics) {
		if m.Name == "Scan" {
			scan = m
		}
		for _, in := range m.Inputs {
			walk(in)
		}
	}
	m := rows.Metrics()
	walk(m)
	if m.Rows != 9 || scan == nil || scan.Rows < 500 || scan.Time <= 0 || len(scan.Counters) != 1 {
		t.Errorf("root %+v, scan %+v", m, scan)
	}
}
