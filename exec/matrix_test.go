package exec

import (
	"context"
	"fmt"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"
	"testing"

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
	// Rows that few conditions leave out must neither fail nor make a group.
	"select sum(100 / k), max(100 / k) from t where k <> 0",
	"select sum(100 / (id - 7)), count(d) from t where id <> 7",
	"select s, count(*), sum(d), min(day), sum(f), count(*) filter (where b) from t where id <> 7 group by s",
	"select id, count(*), avg(big), max(f) from t where id <> 7 group by id",
	"select k, count(*), avg(big), max(f), count(day) from t where k <> 0 group by k",
	"select s, count(*), sum(d), min(day), max(k), sum(f), count(*) filter (where b) from t where s <> 'a' group by s",
	"select string_agg(s, ',' order by id) from t",
	"select count(distinct s), sum(d) from t",
	"select k, s, grouping(k, s), count(*), sum(id) from t group by rollup (k, s)",
	"select k, b, count(*) from t group by cube (k, b)",
	"select s, k, f, grouping(s, k, f), count(*), avg(d), max(day), min(f), count(b) filter (where b) from t group by rollup (f, s, k)",
	"select s, k, b, day, sum(big), count(*) from t group by grouping sets ((s, k), (b, day), (s), (day, b, k), (), (s))",
	"select k, s, count(distinct b), sum(id) from t group by rollup (k, s)",
	"select t.id, u.id from t join u on t.k = u.k and t.s = u.s",
	"select t.id, u.id, u.s from t join u on t.id = u.id where t.d < u.d",
	"select t.id, u.s from t left join u on t.big = u.big and t.id < u.id",
	"select t.id, u.id from t right join u on t.s = u.s and t.b",
	"select t.id, u.id from t full join u on t.k = u.k and t.day = u.day",
	"select t.id, u.id from t full join u on t.f = u.f and t.day > u.day",
	"select t.id, u.s, u.day from t join u on t.id = u.id and t.k = u.k",
	"select t.id, u.s from t left join u on t.id = u.id and t.big = u.big and t.k = u.k",
	"select t.id, t.s from t where exists (select 1 from u where u.k = t.k and u.day = t.day)",
	"select t.id, u.id from t join u on t.day < u.day and t.k > u.k",
	"select t.id, u.id from t cross join u where t.k + u.k = 5",
	"select t.id, u.id from t join u on t.d between u.d - 1 and u.d + 1",
	"select t.id, u.id from t left join u on t.d > u.d and t.f <= u.f and t.s <> u.s",
	"select t.id, u.id from t full join u on u.s < t.s and u.big >= t.big",
	"select t.id, u.id from t right join u on t.f >= u.f and t.f < u.d",
	"select id from t where exists (select 1 from u where u.day > t.day and u.f < t.f)",
	"select id from t where not exists (select 1 from u where u.d > t.d and u.k <= t.k)",
	"select t.id, u.id from t join u on t.k <> 0 and 100 / t.k > u.k and u.s >= t.s",
	"select t.id, u.id from t join u on u.k <> 0 and t.k > 100 / u.k",
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
	"select distinct on (k, s) k, s, id from t order by s desc, k, id",
	"select distinct on (k, s) k, s from t order by s",
	"select count(*) from (select distinct on (f, s) id from t) x",
	// What the build side's keys may filter, and what they must not: a limit, a window over other rows, an outer join.
	"select t.id, x.n from t join (select k, count(*) n, sum(d) s from u group by k) x on x.k = t.k where t.id < 4",
	"select t.id, x.n from t join (select k, count(distinct s) n from u group by k) x on x.k = t.k where t.id < 4",
	"select t.id, x.id from t join (select id, k from u order by id limit 9) x on x.k = t.k where t.id < 4",
	// Strings of a table that was joined before.
	"select t.id, x.a, x.b from t left join (select u.id, u.s a, v.s b from u join u v on u.k = v.id) x on t.k = x.id",
	"select t.id, x.a, x.b from (select u.id, u.s a, v.s b from u left join u v on u.k = v.id) x full join t on t.k = x.id",
	"select x.a, x.b, count(*) from t join (select u.id, u.s a, v.s b from u join u v on u.k = v.id) x on t.k = x.id group by x.a, x.b",
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
				{batch: 20, selected: true, few: true, seed: 5}, {batch: 1024, selected: true, few: true, forms: true, seed: 6},
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
