package plan

import (
	"math"
	"testing"
)

// TestEstimates checks row counts against what uniform, independent columns would give.
func TestEstimates(t *testing.T) {
	c := newTestCatalog()
	for query, want := range map[string]float64{
		"SELECT 1 FROM orders WHERE o_orderdate < DATE '1993-04-25'":                                                 300_000,
		"SELECT 1 FROM lineitem WHERE l_quantity BETWEEN 10 AND 20":                                                  6_001_215 * 10.0 / 49,
		"SELECT 1 FROM orders WHERE o_orderkey = 5":                                                                  1,
		"SELECT 1 FROM orders, customer WHERE o_custkey = c_custkey":                                                 1_500_000,
		"SELECT 1 FROM lineitem, partsupp WHERE l_partkey = ps_partkey AND l_suppkey = ps_suppkey":                   6_001_215,
		"SELECT o_orderstatus FROM orders GROUP BY o_orderstatus":                                                    3,
		"SELECT 1 FROM nation WHERE n_name IN ('A', 'B')":                                                            2,
		"SELECT 1 FROM orders WHERE EXISTS (SELECT 1 FROM customer WHERE c_custkey = o_custkey AND c_nationkey = 3)": 60_000,
		"SELECT 1 FROM region LIMIT 3":                                                                               3,
	} {
		q := optimized(t, c, query)
		got := newEstimator().rows(q.Plan)
		if r := got / want; math.IsNaN(r) || r < 0.5 || r > 2 {
			t.Errorf("%s: estimated %.0f rows, want about %.0f", query, got, want)
		}
	}
}
