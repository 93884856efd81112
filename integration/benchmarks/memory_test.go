package benchmarks

import (
	"slices"
	"strconv"
	"testing"

	"github.com/tidemarkdb/tidemark/engine"
)

// littleMemory is what a query may hold in the tests here: far less than the larger ones need.
const littleMemory = "SET execution.memory_limit = '1MiB'"

// TestTPCHInLittleMemory gives the queries too little memory: the answers stay, and the larger queries spill.
func TestTPCHInLittleMemory(t *testing.T) {
	folder, tables, list := dataOf(t, "tpch", "0.1", 22)
	s := session(t, folder)
	create(t, s, "CREATE VIEW %s AS SELECT * FROM read_parquet('%s')", folder, tables)
	must(t, s, littleMemory)
	spilling := 0
	for _, q := range list {
		t.Run("q"+q.Name, func(t *testing.T) { q.check(t, s) })
		if spilled(t, s) > 0 {
			spilling++
		}
	}
	if spilling < 8 {
		t.Errorf("%d queries spilled, want 8 at least", spilling)
	}
	t.Run("others", func(t *testing.T) { checkSpilling(t, folder, tables, s) })
}

// spillingQueries must use temporary files in little memory, each in another operator.
var spillingQueries = []string{
	"SELECT l_orderkey, l_linenumber, l_comment FROM lineitem ORDER BY l_comment, l_orderkey, l_linenumber",
	"SELECT l_comment, count(*), sum(l_quantity), min(l_shipdate) FROM lineitem GROUP BY l_comment",
	"SELECT count(DISTINCT l_comment), count(DISTINCT l_partkey * 10 + l_linenumber), sum(l_quantity) FROM lineitem",
	"SELECT l_returnflag, count(DISTINCT l_comment), count(DISTINCT l_orderkey), sum(l_quantity) FROM lineitem GROUP BY l_returnflag",
	"SELECT DISTINCT ON (l_partkey, l_suppkey) l_partkey, l_suppkey, l_shipdate, l_orderkey FROM lineitem ORDER BY l_partkey, l_suppkey, l_shipdate, l_orderkey",
	"SELECT count(*), sum(k) FROM (SELECT DISTINCT ON (l_orderkey) l_orderkey AS k FROM lineitem) x",
	"SELECT o_orderkey, sum(o_totalprice) OVER (PARTITION BY o_custkey ORDER BY o_orderkey), rank() OVER (PARTITION BY o_custkey ORDER BY o_orderdate) FROM orders",
	"SELECT o_orderkey, sum(o_totalprice) OVER (ORDER BY o_orderkey), lag(o_comment) OVER (ORDER BY o_orderkey), count(*) OVER () FROM orders",
	"SELECT o_orderkey, avg(o_totalprice) OVER (ORDER BY o_orderkey ROWS BETWEEN 5 PRECEDING AND 5 FOLLOWING) FROM orders",
	"SELECT count(*), sum(length(o_comment) + length(c_comment)) FROM orders FULL JOIN customer ON o_custkey = c_custkey AND o_totalprice > c_acctbal * 20",
	"SELECT count(*), sum(p_size) FROM part, (SELECT ps_supplycost AS c, ps_comment AS x FROM partsupp WHERE ps_availqty < 2000) y WHERE p_retailprice BETWEEN c AND c + 50 AND x > p_name",
	"SELECT count(*) FROM orders WHERE o_orderkey NOT IN (SELECT l_orderkey FROM lineitem WHERE l_quantity > 5)",
	"SELECT count(*), sum(a) FROM (SELECT l_orderkey AS a, l_partkey FROM lineitem INTERSECT SELECT ps_partkey, ps_suppkey FROM partsupp) x",
	"WITH RECURSIVE r AS (SELECT o_orderkey AS k, o_custkey AS n FROM orders UNION SELECT k, n / 3 FROM r WHERE n > 1000) SELECT count(*), sum(n) FROM r",
}

func checkSpilling(t *testing.T, folder string, tables []string, little *engine.Session) {
	ample := session(t, folder)
	create(t, ample, "CREATE VIEW %s AS SELECT * FROM read_parquet('%s')", folder, tables)
	for _, sql := range spillingQueries {
		want := lines(t, ample, sql)
		if spilled(t, ample) > 0 {
			t.Errorf("%s: spilled without need", sql)
		}
		got := lines(t, little, sql)
		if spilled(t, little) == 0 {
			t.Errorf("%s: nothing was spilled", sql)
		}
		if !slices.Equal(got, want) {
			t.Errorf("%s: %d rows, want %d, or other ones", sql, len(got), len(want))
		}
	}
}

// spilled returns what the latest statement wrote to temporary files.
func spilled(t *testing.T, s *engine.Session) int64 {
	t.Helper()
	rows, _, err := run(t.Context(), s, `SELECT spilled_bytes FROM information_schema.query_history
		WHERE query NOT LIKE '%query_history%' ORDER BY query_id DESC LIMIT 1`)
	if err != nil {
		t.Fatal(err)
	}
	n, err := strconv.ParseInt(*rows[0][0], 10, 64)
	if err != nil {
		t.Fatal(err)
	}
	return n
}

func must(t *testing.T, s *engine.Session, sql string) {
	t.Helper()
	if _, _, err := run(t.Context(), s, sql); err != nil {
		t.Fatal(err)
	}
}

// lines returns the rows of a query as text, sorted.
func lines(t *testing.T, s *engine.Session, sql string) []string {
	t.Helper()
	rows, _, err := run(t.Context(), s, sql)
	if err != nil {
		t.Fatalf("%v\n%s", err, sql)
	}
	out := make([]string, len(rows))
	for i, r := range rows {
		for _, v := range r {
			if v == nil {
				out[i] += "NULL|"
			} else {
				out[i] += *v + "|"
			}
		}
	}
	slices.Sort(out)
	return out
}
