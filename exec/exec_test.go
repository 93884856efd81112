package exec

import (
	"slices"
	"testing"

	"github.com/tidemarkdb/tidemark/vec"
)

// shop is a small database with NULLs, duplicates and rows without partners.
func shop() *memDB {
	db := newMemDB()
	db.add("o", vec.Schema{column("id", vec.Int64Type), column("cust", vec.Int32Type), column("amount", vec.DecimalType(12, 2)), column("day", vec.DateType), column("note", vec.TextType)},
		[]string{"1", "10", "5.00", "2024-01-01", "red"},
		[]string{"2", "10", "7.50", "2024-01-02", "blue"},
		[]string{"3", "11", "NULL", "2024-01-02", "red"},
		[]string{"4", "NULL", "1.25", "NULL", "NULL"},
		[]string{"5", "12", "9.99", "2024-02-01", "green"},
		[]string{"6", "99", "0.01", "2024-02-01", "blue"},
		[]string{"7", "11", "5.00", "2024-01-01", ""})
	db.add("c", vec.Schema{column("id", vec.Int32Type), column("name", vec.TextType), column("area", vec.TextType)},
		[]string{"10", "ann", "north"},
		[]string{"11", "bob", "south"},
		[]string{"12", "cid", "north"},
		[]string{"13", "dot", "NULL"},
		[]string{"NULL", "eve", "south"})
	return db
}

func TestQueries(t *testing.T) {
	db := shop()
	for _, c := range []struct {
		sql  string
		want []string
	}{
		{"select id, amount from o where amount > 5 order by id", []string{"2|7.50", "5|9.99"}},
		{"select note, count(*), sum(amount) from o group by note order by note", []string{"|1|5.00", "blue|2|7.51", "green|1|9.99", "red|2|5.00", "NULL|1|1.25"}},
		{"select count(*), count(amount), min(day), max(note) from o", []string{"7|6|2024-01-01|red"}},
		{"select count(*) from o where id > 100", []string{"0"}},
		{"select o.id, c.name from o join c on o.cust = c.id order by o.id", []string{"1|ann", "2|ann", "3|bob", "5|cid", "7|bob"}},
		{"select o.id, c.name from o left join c on o.cust = c.id order by o.id", []string{"1|ann", "2|ann", "3|bob", "4|NULL", "5|cid", "6|NULL", "7|bob"}},
		{"select c.name, o.id from o right join c on o.cust = c.id order by 1, 2", []string{"ann|1", "ann|2", "bob|3", "bob|7", "cid|5", "dot|NULL", "eve|NULL"}},
		{"select o.id, c.name from o full join c on o.cust = c.id order by 1, 2", []string{"1|ann", "2|ann", "3|bob", "4|NULL", "5|cid", "6|NULL", "7|bob", "NULL|dot", "NULL|eve"}},
		{"select id from o where cust in (select id from c where area = 'north') order by id", []string{"1", "2", "5"}},
		{"select id from o where cust not in (select id from c where id is not null) order by id", []string{"6"}},
		{"select id from o where cust not in (select id from c) order by id", nil},
		{"select id from o where not exists (select 1 from c where c.id = o.cust) order by id", []string{"4", "6"}},
		{"select id, (select name from c where c.id = o.cust) from o order by id desc limit 3", []string{"7|bob", "6|NULL", "5|cid"}},
		{"select o.id, c.id from o join c on o.cust < c.id order by 1, 2 limit 3 offset 1", []string{"1|12", "1|13", "2|11"}},
		{"select case when amount > 5 then 'big' when amount is null then 'none' else 'small' end k, count(*) from o group by k order by k", []string{"big|2", "none|1", "small|4"}},
		{"select area, count(distinct note), count(*) from o join c on o.cust = c.id group by area order by area", []string{"north|3|3", "south|2|2"}},
		{"select count(*) from (values (0::float8), (-0::float8), ('NaN'::float8), ('NaN'::float8)) v(x) group by x order by 1", []string{"2", "2"}},
		{"values (1, 'a'), (2, null)", []string{"1|a", "2|NULL"}},
		{"select count(distinct cust), sum(distinct amount) from o", []string{"4|23.75"}},
		{"select cust from o union select id from c order by 1", []string{"10", "11", "12", "13", "99", "NULL"}},
		{"select cust from o union all select id from c order by 1", []string{"10", "10", "10", "11", "11", "11", "12", "12", "13", "99", "NULL", "NULL"}},
		{"select cust from o intersect select id from c order by 1", []string{"10", "11", "12", "NULL"}},
		{"select cust from o except select id from c order by 1", []string{"99"}},
		{"select cust from o except all select id from c order by 1", []string{"10", "11", "99"}},
		{"select cust from o intersect all select cust from o order by 1", []string{"10", "10", "11", "11", "12", "99", "NULL"}},
		{"with t as materialized (select cust, count(*) n from o group by cust) select a.cust, b.n from t a join t b on a.cust = b.cust order by 1", []string{"10|2", "11|2", "12|1", "99|1"}},
		{"with recursive t(n) as (select 1 union all select n + 1 from t where n < 5) select n from t order by n", []string{"1", "2", "3", "4", "5"}},
		{"with recursive t(n) as (select 1 union all select n + 1 from t) select n from t limit 3", []string{"1", "2", "3"}},
		{"with recursive t(n) as (select 1 union select (n + 1) % 4 from t) select n from t order by n", []string{"0", "1", "2", "3"}},
		{"select distinct on (note) note, id from o order by note, id desc", []string{"|7", "blue|6", "green|5", "red|3", "NULL|4"}},
		{"select cust, area, grouping(cust, area), count(*) from (select o.cust, c.area from o left join c on o.cust = c.id) x group by grouping sets ((cust), (area), ()) order by 3, 1, 2",
			[]string{"10|NULL|1|2", "11|NULL|1|2", "12|NULL|1|1", "99|NULL|1|1", "NULL|NULL|1|1", "NULL|north|2|3", "NULL|south|2|2", "NULL|NULL|2|2", "NULL|NULL|3|7"}},
		{"select id, sum(id) over (order by id) s, count(*) over (partition by cust) n from o order by id", []string{"1|1|2", "2|3|2", "3|6|2", "4|10|1", "5|15|1", "6|21|1", "7|28|2"}},
		{"select id, sum(id) over (order by id rows between 1 preceding and 1 following exclude current row) from o order by id", []string{"1|2", "2|4", "3|6", "4|8", "5|10", "6|12", "7|6"}},
		{"select id, count(*) over (order by id range between 2 preceding and 1 preceding) from o order by id", []string{"1|0", "2|1", "3|2", "4|2", "5|2", "6|2", "7|2"}},
		{"select day, count(*) over (order by day range between interval '1 day' preceding and current row) from o order by 1", []string{"2024-01-01|2", "2024-01-01|2", "2024-01-02|4", "2024-01-02|4", "2024-02-01|2", "2024-02-01|2", "NULL|1"}},
		{"select note, string_agg(id::text, ',' order by id desc) from o group by note order by note", []string{"|7", "blue|6,2", "green|5", "red|3,1", "NULL|4"}},
		{"select string_agg(id::text, ',' order by amount desc nulls last, id) from o where cust > 0", []string{"5,2,1,7,6,3"}},
		{"select count(*) filter (where note = 'red'), count(distinct note) filter (where id > 2), sum(id) from o", []string{"2|4|28"}},
	} {
		t.Run(c.sql, func(t *testing.T) {
			got := db.query(t, c.sql, db.env(2), true)
			if !slices.Equal(got, c.want) {
				t.Errorf("got %s\nwant %s", sprint(got), sprint(c.want))
			}
		})
	}
}
