package exec

import (
	"context"
	"os"
	"regexp"
	"runtime"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/tidemarkdb/tidemark/plan"
	"github.com/tidemarkdb/tidemark/sqlerr"
	"github.com/tidemarkdb/tidemark/vec"
)

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
		"select count(distinct id), sum(distinct id % 9000), sum(k), count(distinct s || id) from t",
		"select id % 2, count(distinct id), sum(distinct id % 9000), sum(k), count(distinct s) filter (where b) from t group by 1",
		"select t.id, u.d from t join u on t.id = u.id",
		"select t.id, u.d from u right join t on t.id = u.id and t.s = u.s",
		"select t.id, u.d from t full join u on t.id = u.id + 100",
		"select id from t where id in (select id + 1 from u)",
		"select id, sum(d) over (partition by id % 1000 order by id) from t",
		"select id from t except select id from u",
		"select distinct on (id) id, k, s from t",
		"select distinct on (id, s) id, k, s from t order by id",
		"select distinct on (k, s, d) k, s, d, id from t order by k, s, d, id",
		"with recursive r as (select id, k from t union select id + 7, k from r where id < 20000) select count(*), sum(id) from r",
		"with recursive r as (select id % 977 a, 0 b from t union select a, b + 1 from r where b < 20) select a, count(*) from r group by a",
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
		if strings.Contains(sql, "join") || strings.Contains(sql, " in ") || strings.Contains(sql, "recursive") {
			env.MemoryBytes = 1 << 16 // the smaller side is what is held
		}
		spills(t, sql, root, env, want)
	}
}

// TestCancelWhileSpilling cancels queries as they make their first, second and third temporary file: they end with the
// reason and leave no file and nothing running.
func TestCancelWhileSpilling(t *testing.T) {
	before := runtime.NumGoroutine()
	db := randomDB(18, 20000, 9000, 0.05)
	for _, sql := range []string{
		"select id, s, d from t order by s, d, id",
		"select id, count(*), sum(d) from t group by id",
		"select id % 2, count(distinct id), sum(distinct id % 9000) from t group by 1",
		"select t.id, u.d from t full join u on t.id = u.id",
		"select t.id, u.id from t join u on t.id < u.id - 8900 and t.s <> u.s",
		"select id, sum(d) over (partition by id % 1000 order by id) from t",
		"select id, sum(d) over (order by id) from t",
		"select distinct on (id) id, s from t",
		"with recursive r as (select id, k from t union select id + 7, k from r where id < 20000) select count(*) from r",
	} {
		for file := int64(1); file <= 3; file++ {
			env, dir := db.env(2), t.TempDir()
			env.SpillDir, env.MemoryBytes = dir, 1<<16
			ctx, cancel := context.WithCancel(context.Background())
			q := &query{env: env, threads: 2, budget: &budget{limit: env.MemoryBytes}, spill: newSpillFolder(dir, nil)}
			kept, made := q.spill.open, int64(0)
			q.spill.open = func(name string) (*os.File, error) {
				if made++; made == file {
					cancel()
				}
				return kept(name)
			}
			rows, err := q.run(ctx, db.plan(t, sql))
			if err == nil {
				_, err = readAll(rows)
				rows.Close()
			}
			cancel()
			if made < file {
				if made == 0 {
					t.Errorf("%s: nothing was spilled", sql)
				}
				break // it needs no more files
			}
			if sqlerr.Code(err) != sqlerr.QueryCanceled {
				t.Errorf("%s: cancelled at file %d: %v", sql, file, err)
			}
			if left, _ := os.ReadDir(dir); len(left) > 0 {
				t.Errorf("%s: cancelled at file %d: %v is left", sql, file, left)
			}
		}
	}
	waitForGoroutines(t, before)
}

// TestFullDisk lets every write of a temporary file fail for want of space: the query says so and leaves no file.
func TestFullDisk(t *testing.T) {
	db := randomDB(15, 20000, 3000, 0.05)
	for _, sql := range []string{
		"select id, s, d from t order by s, d, id",
		"select id, count(*), sum(d) from t group by id",
		"select t.id, u.d from t join u on t.id = u.id",
		"select id, sum(d) over (partition by id % 1000 order by id) from t",
	} {
		env, dir := db.env(2), t.TempDir()
		env.SpillDir, env.MemoryBytes = dir, 1<<16
		q := &query{env: env, threads: 2, budget: &budget{limit: env.MemoryBytes}, spill: newSpillFolder(dir, nil)}
		kept := q.spill.open
		q.spill.open = func(name string) (*os.File, error) {
			if f, err := kept(name); err != nil {
				return f, err
			} else if err := f.Close(); err != nil {
				return nil, err
			}
			return os.OpenFile("/dev/full", os.O_RDWR, 0)
		}
		rows, err := q.run(context.Background(), db.plan(t, sql))
		if err == nil {
			_, err = readAll(rows)
			rows.Close()
		}
		if sqlerr.Code(err) != sqlerr.DiskFull {
			t.Errorf("%s: %v, want SQLSTATE %s", sql, err, sqlerr.DiskFull)
		}
		if left, _ := os.ReadDir(dir); len(left) > 0 {
			t.Errorf("%s: %v is left in the folder for temporary files", sql, left)
		}
		if held := q.budget.used.Load(); held != 0 {
			t.Errorf("%s: %d bytes are still reserved", sql, held)
		}
	}
}

// TestLargeWindows computes windows one partition of which is larger than the budget.
func TestLargeWindows(t *testing.T) {
	db := randomDB(17, 50000, 1, 0.05)
	for _, calls := range []string{
		"row_number() over (order by id)",
		"sum(d) over (), count(*) filter (where b) over (), max(s) over ()",
		"sum(d) over (order by id), count(s) over (order by id rows unbounded preceding), min(s) filter (where b) over (order by id)",
		"rank() over (order by big, day, k), dense_rank() over (order by big, day, k), sum(k) over (order by big, day, k)",
		"lag(s, 3) over (order by id), lead(d, 2, 0.5) over (order by id), lead(k, -1) over (order by id)",
		"avg(d) over (order by id rows between 3 preceding and 2 following), count(distinct s) over (order by id rows between 5 preceding and current row)",
		"string_agg(s, '') over (order by id rows between 2 preceding and current row exclude current row)",
		"first_value(s) over (order by id rows between 70 preceding and 60 preceding), nth_value(d, 2) over (order by id rows between 1 following and 4 following)",
		"sum(k) over (order by id rows between unbounded preceding and 9 following), sum(k) over (order by id rows between unbounded preceding and 9 preceding)",
		"sum(id) over (partition by id < 40000 order by id), row_number() over (partition by id < 40000 order by id), count(k) over (partition by id < 40000)",
		"ntile(7) over (order by id), ntile(60000) over (order by id), percent_rank() over (order by big, day), cume_dist() over (order by big, day)",
		"ntile(3) over (partition by id < 40000 order by id), percent_rank() over (partition by id < 40000 order by k, day), cume_dist() over (partition by id < 40000 order by k, day)",
		"dense_rank() over (partition by id % 2, id > 13000 order by id / 3), max(day) over (partition by id % 2, id > 13000 order by id / 3)",
		"sum(id) over (order by id rows between current row and unbounded following), count(s) filter (where b) over (order by id desc range between current row and unbounded following)",
		"min(s) over (order by id rows between 20000 preceding and 100 preceding), max(d) over (order by id rows between 9 following and 30000 following exclude current row)",
		"sum(k) over (order by id rows between unbounded preceding and 70000 following), sum(k) over (partition by id < 40000 order by id rows between 80000 preceding and 3 following)",
		"sum(id) over (order by k range between 2 preceding and 1 following), count(*) over (order by k range between 2 preceding and 1 following exclude ties), sum(id) over (order by k desc nulls last range between 3 following and unbounded following)",
		"count(*) over (order by day range between interval '3 days' preceding and interval '2 days' following exclude group), max(id) over (order by day range between unbounded preceding and interval '1 day' preceding)",
		"sum(id) over (partition by b order by k, day groups between 3 preceding and 2 preceding), min(id) over (partition by b order by k, day groups between 1 following and 4000000000 following), avg(d) over (partition by b order by k, day groups between unbounded preceding and 1 preceding)",
		"sum(d) over (order by k, id range between unbounded preceding and current row exclude current row), sum(id) over (order by k rows between unbounded preceding and unbounded following exclude group)",
		"first_value(s) over (order by id rows between current row and unbounded following), last_value(d) over (order by k range between current row and unbounded following), nth_value(id, 30000) over (order by id rows between unbounded preceding and unbounded following exclude current row)",
		"nth_value(id, k + 1) over (order by id range between 40 preceding and 20 following), last_value(id) over (order by k, id range between unbounded preceding and current row)",
		"lag(s, 70000) over (order by id), lead(id, 66000, -1::bigint) over (order by id), lag(d, k) over (order by id), lead(k, k, 7) over (partition by id < 40000 order by id)",
		"ntile((k + 1)::int) over (partition by b order by id), ntile((id % 100 + 1)::int) over (partition by id < 40000 order by id desc)",
		"rank() over (order by b), dense_rank() over (order by b), percent_rank() over (order by b), cume_dist() over (order by b), sum(id) over (order by b), row_number() over (order by b, id)",
		"rank() over (partition by id < 3 order by id > 9000, b), count(*) over (partition by id < 3 order by id > 9000, b), ntile(5) over (partition by id < 3 order by id > 9000, b, id)",
		"count(distinct k) over (), sum(distinct k) filter (where b) over (partition by b)",
		"sum(id) over (order by id rows between (select 3) preceding and (select 2) following), sum(id) over (order by k range between (select 2) preceding and current row), count(*) over (partition by b order by k groups between (select 1) preceding and (select 4000) following)",
	} {
		sql := "select id, " + calls + " from t"
		root := db.plan(t, sql)
		want, err := collect(root, db.env(2))
		if err != nil {
			t.Fatal(err)
		}
		slices.Sort(want)
		env := db.env(2)
		env.SpillDir, env.MemoryBytes = t.TempDir(), 1<<17
		rows, err := Run(context.Background(), root, env)
		if err != nil {
			t.Fatal(err)
		}
		got, err := readAll(rows)
		rows.Close()
		if err != nil {
			t.Errorf("%s: %v", sql, err)
			continue
		}
		slices.Sort(got)
		if !slices.Equal(got, want) {
			t.Errorf("%s: %d rows, want %d\ngot  %s\nwant %s", sql, len(got), len(want), sprint(firstDifferent(got, want)), sprint(firstDifferent(want, got)))
		}
	}
	for _, sql := range []string{
		"select array_agg(id) over (order by id rows between current row and unbounded following) from t",
		"select last_value(id ignore nulls) over (order by b) from t",
		"select count(distinct id) over () from t",
	} {
		env := db.env(2)
		env.SpillDir, env.MemoryBytes = t.TempDir(), 1<<17
		if _, err := collect(db.plan(t, sql), env); sqlerr.Code(err) != sqlerr.OutOfMemory {
			t.Errorf("%s: %v, want SQLSTATE %s", sql, err, sqlerr.OutOfMemory)
		}
	}
}

// TestLongFrames compares aggregates over long frames with the same ones over joins.
func TestLongFrames(t *testing.T) {
	db := randomDB(19, 1500, 1, 0.1)
	for _, q := range []struct{ calls, join string }{
		{"sum(d), count(s), min(s), avg(f) filter (where f < 5), max(day), bool_or(b)", "u.id <= t.id"},
		{"sum(d), count(s), min(s), avg(f) filter (where f < 5), max(day), bool_or(b) -- rows between unbounded preceding and 70 following", "u.id <= t.id + 70"},
		{"sum(d), count(s), min(s), avg(f) filter (where f < 5), max(day), bool_or(b) -- range between 300 preceding and 200 preceding", "u.id between t.id - 300 and t.id - 200"},
		{"sum(d), count(s), min(s), avg(f) filter (where f < 5), max(day), bool_or(b) -- rows between current row and unbounded following", "u.id >= t.id"},
		{"sum(d), count(s), min(s), avg(f) filter (where f < 5), max(day), bool_or(b) -- partition", "u.id <= t.id and u.id / 400 = t.id / 400"},
	} {
		calls, frame, _ := strings.Cut(q.calls, " -- ")
		over := "(order by id " + frame + ")"
		if frame == "partition" {
			over = "(partition by id / 400 order by id)"
		}
		var windows, folds []string
		for _, c := range strings.Split(calls, ", ") {
			windows = append(windows, c+" over "+over)
			folds = append(folds, regexp.MustCompile(`\((\w+)\)`).ReplaceAllString(strings.ReplaceAll(c, "where f", "where u.f"), "(u.$1)"))
		}
		got := db.query(t, "select id, "+strings.Join(windows, ", ")+" from t", db.env(2), false)
		want := db.query(t, "select t.id, "+strings.Join(folds, ", ")+" from t left join t u on "+q.join+" group by t.id", db.env(2), false)
		if !slices.Equal(got, want) {
			t.Errorf("%s %s:\ngot  %s\nwant %s", calls, over, sprint(firstDifferent(got, want)), sprint(firstDifferent(want, got)))
		}
	}
}

// TestQuickWindows compares window functions with aggregates and calls that say the same.
func TestQuickWindows(t *testing.T) {
	db := randomDB(20, 700, 1, 0.1)
	for _, over := range [][2]string{ // and one text for the keys to order by
		{"order by k, s", "coalesce(k::text, '-') || coalesce(s, '-')"},
		{"partition by k order by day", "coalesce(day::text, '-')"},
		{"partition by k, b order by s desc, f", "coalesce(s, '-') || coalesce(f::text, '-')"},
	} {
		for _, q := range [][2]string{
			{"rank() over (%)", "1 + count(*) over (% range between unbounded preceding and current row exclude group)"},
			{"dense_rank() over (%)", "count(distinct key) over (%)"},
			{"row_number() over (%, id)", "count(*) over (%, id rows unbounded preceding)"},
			{"lag(s) over (%, id)", "lag(s, 1, null::text) over (%, id)"},
			{"lead(d, 3) over (%, id)", "lead(d, 3, null::numeric(12, 2)) over (%, id)"},
			{"lag(f, -2) over (%, id)", "lead(f, 2, null::float8) over (%, id)"},
			{"lead(k, 0) over (%, id)", "k"},
			{"lag(day, 100000) over (%, id)", "null::date"},
		} {
			sql := func(call string) string {
				return "select id, " + strings.NewReplacer("%", over[0], "key", over[1]).Replace(call) + " from t"
			}
			got, want := db.query(t, sql(q[0]), db.env(2), false), db.query(t, sql(q[1]), db.env(2), false)
			if !slices.Equal(got, want) {
				t.Errorf("%s:\ngot  %s\nwant %s", sql(q[0]), sprint(firstDifferent(got, want)), sprint(firstDifferent(want, got)))
			}
		}
	}
}

// TestBlockJoins joins more rows than the budget holds where hashing does not part them.
func TestBlockJoins(t *testing.T) {
	db := randomDB(16, 1500, 900, 0.05)
	for _, sql := range []string{
		"select t.id, u.id from t join u on t.d < u.d and t.k > u.k + 5",
		"select t.id, u.id from t left join u on t.d + 9 < u.d and t.id % 7 > u.k",
		"select t.id, u.id from t right join u on t.id + u.id < 300",
		"select t.id, u.id from t full join u on t.id > 1400 and u.id < 90 and t.f <> u.f",
		"select t.id from t where exists (select 1 from u where u.id > t.id + 100 and u.s <> t.s)",
		"select t.id from t where not exists (select 1 from u where u.d > t.d + 5 and u.k <> t.k)",
		"select id, s not in (select s from u where id > 3) from t",
		"select id, id in (select id + 700 from u) from t",
		"select id, k in (select k from u where u.id > t.id + 600) from t",
		"select id, (select u.id from u where u.id = t.id and u.id + t.id > 5) from t",
		"select count(*), sum(t.id * u.id) from t, u",
		// One key has more rows than fit.
		"select count(*), sum(t.id - u.id) from t join u on t.id / 5000 = u.id / 5000 and t.k = u.k",
		"select t.id, u.id from t full join u on t.id / 5000 = u.id / 5000 and t.id < u.id - 800",
	} {
		root := db.plan(t, sql)
		want, err := collect(root, db.env(2))
		if err != nil {
			t.Fatal(err)
		}
		slices.Sort(want)
		for _, threads := range []int{1, 3} {
			env := db.env(threads)
			env.SpillDir, env.MemoryBytes = t.TempDir(), 1<<14
			spills(t, sql, root, env, want)
		}
	}
}

// spills runs a plan that must give the wanted rows, sorted unless the query orders them, and use temporary files.
func spills(t *testing.T, sql string, root plan.Node, env *Env, want []string) {
	t.Helper()
	rows, err := Run(context.Background(), root, env)
	if err != nil {
		t.Fatal(err)
	}
	defer rows.Close()
	got, err := readAll(rows)
	if err != nil {
		t.Errorf("%s: %v", sql, err)
		return
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
