package sql

import "testing"

// tpch are queries in the manner of TPC-H.
var tpch = []string{
	`select l_returnflag, l_linestatus, sum(l_quantity) as sum_qty, sum(l_extendedprice * (1 - l_discount) * (1 + l_tax)) as sum_charge,
	avg(l_quantity) as avg_qty, count(*) as count_order from lineitem where l_shipdate <= date '1998-12-01' - interval '90' day
	group by l_returnflag, l_linestatus order by l_returnflag, l_linestatus`,
	`select s_acctbal, s_name, n_name, p_partkey from part, supplier, partsupp, nation, region
	where p_partkey = ps_partkey and s_suppkey = ps_suppkey and p_size = 15 and p_type like '%BRASS' and r_name = 'EUROPE'
	and ps_supplycost = (select min(ps_supplycost) from partsupp, supplier, nation where p_partkey = ps_partkey and s_nationkey = n_nationkey)
	order by s_acctbal desc, n_name limit 100`,
	`select o_orderpriority, count(*) from orders where o_orderdate >= date '1993-07-01' and o_orderdate < date '1993-07-01' + interval '3' month
	and exists (select * from lineitem where l_orderkey = o_orderkey and l_commitdate < l_receiptdate) group by o_orderpriority order by 1`,
	`select o_year, sum(case when nation = 'BRAZIL' then volume else 0 end) / sum(volume) as mkt_share from (
	select extract(year from o_orderdate) as o_year, l_extendedprice * (1 - l_discount) as volume, n2.n_name as nation
	from part, lineitem, orders, nation n1, nation n2 where p_partkey = l_partkey and o_orderdate between date '1995-01-01' and date '1996-12-31'
	) as all_nations group by o_year order by o_year`,
	`select c_count, count(*) as custdist from (select c_custkey, count(o_orderkey) from customer left outer join orders
	on c_custkey = o_custkey and o_comment not like '%special%requests%' group by c_custkey) as c_orders (c_custkey, c_count)
	group by c_count order by custdist desc, c_count desc`,
	`with revenue (supplier_no, total_revenue) as (select l_suppkey, sum(l_extendedprice) from lineitem group by l_suppkey)
	select s_suppkey from supplier, revenue where s_suppkey = supplier_no and total_revenue = (select max(total_revenue) from revenue)`,
	`select cntrycode, count(*) as numcust from (select substring(c_phone from 1 for 2) as cntrycode, c_acctbal from customer
	where substring(c_phone from 1 for 2) in ('13', '31', '23') and not exists (select * from orders where o_custkey = c_custkey)) as custsale
	group by cntrycode order by cntrycode`,
}

func BenchmarkParseTPCH(b *testing.B) {
	bytes := 0
	for _, text := range tpch {
		bytes += len(text)
	}
	b.SetBytes(int64(bytes / len(tpch)))
	b.ReportAllocs()
	for i := 0; b.Loop(); i++ {
		if _, err := Parse(tpch[i%len(tpch)]); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkLexTPCH(b *testing.B) {
	b.ReportAllocs()
	for b.Loop() {
		l := lexer{text: tpch[0]}
		l.tokens()
	}
}
