package exec

import "testing"

// BenchmarkWindow runs windows over a lineitem of many small partitions, over one partition, and over partitions of
// strings.
func BenchmarkWindow(b *testing.B) {
	db := lineitem()
	s := newSuppliers(30_000, 300_000, 40, false)
	for _, t := range []string{"part", "ps"} {
		db.tables[t] = s.tables[t]
	}
	const strings = " from ps join part on p = id"
	for _, q := range []struct {
		name, sql string
		rows      int
	}{
		{"runningSum", "select sum(l_quantity) over (partition by l_orderkey order by l_shipdate rows unbounded preceding) from lineitem", lineRows},
		{"runningMaxOne", "select max(l_extendedprice) over (order by l_shipdate) from lineitem", lineRows},
		{"sum", "select sum(l_quantity) over (partition by l_big) from lineitem", lineRows},
		{"lag", "select lag(l_quantity) over (partition by l_big order by l_shipdate) from lineitem", lineRows},
		{"stringKeys", "select rank() over (partition by brand, kind order by supp), sum(p) over (partition by brand, kind)" + strings, 300_000},
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
			b.ReportMetric(float64(cpuNanos(b)-before)/float64(b.N)/float64(q.rows), "cpu-ns/row")
		})
	}
}
