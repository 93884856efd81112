package plan

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/tidemarkdb/tidemark/extension"
	"github.com/tidemarkdb/tidemark/function"
	"github.com/tidemarkdb/tidemark/sql"
	"github.com/tidemarkdb/tidemark/sqlerr"
	"github.com/tidemarkdb/tidemark/vec"
)

// memoryCatalog is a catalog of described tables, with the built-in functions.
type memoryCatalog struct {
	relations map[string]Relation
	functions *extension.Registry
}

func (c *memoryCatalog) Relation(schema, name string, asOf *AsOf) (Relation, error) {
	r, ok := c.relations[name]
	if !ok || schema != "" && schema != "public" {
		var names []string
		for n := range c.relations {
			names = append(names, n)
		}
		err := sqlerr.New(sqlerr.UndefinedTable, "relation %q does not exist", name)
		if near := sqlerr.Nearest(name, names); near != "" {
			err = err.Hintf("did you mean %q?", near)
		}
		return nil, err
	}
	if t, ok := r.(*Table); ok && asOf != nil {
		older := *t
		older.Name = fmt.Sprintf("%s@%d/%d", t.Name, asOf.Version, asOf.Micros)
		return &older, nil
	}
	return r, nil
}

func (c *memoryCatalog) Functions() *extension.Registry { return c.functions }

func (c *memoryCatalog) Bind() *extension.TableBind {
	return &extension.TableBind{Ctx: context.Background(), Eval: &extension.Eval{
		Ctx: context.Background(), Zone: time.UTC, Now: time.Date(2024, 5, 6, 7, 8, 9, 0, time.UTC)}}
}

// tableStatistics are the statistics of a test table; distinct counts are by column name.
type tableStatistics struct {
	rows    int64
	columns []ColumnStatistics
}

func (s *tableStatistics) Rows() int64                   { return s.rows }
func (s *tableStatistics) Column(i int) ColumnStatistics { return s.columns[i] }

// table describes a table by lines "name type [not null] [distinct=n] [min..max]"; the key is a list of names.
func (c *memoryCatalog) table(name string, rows int64, key string, columns ...string) {
	t := &Table{Schema: "public", Name: name, ID: uint64(len(c.relations) + 1)}
	stats := &tableStatistics{rows: rows}
	for _, line := range columns {
		col, s := parseTestColumn(line)
		t.Columns = append(t.Columns, col)
		stats.columns = append(stats.columns, s)
	}
	for _, k := range strings.Fields(key) {
		t.Key = append(t.Key, t.Columns.Index(k))
	}
	t.Sorted = t.Key
	t.Stats = stats
	c.relations[name] = t
}

func parseTestColumn(line string) (vec.Column, ColumnStatistics) {
	fields := strings.Fields(line)
	col := vec.Column{Name: fields[0], Nullable: true}
	var s ColumnStatistics
	typeName := ""
	for _, f := range fields[1:] {
		switch {
		case f == "!":
			col.Nullable = false
		case strings.HasPrefix(f, "d="):
			fmt.Sscanf(f, "d=%g", &s.Distinct)
		case strings.Contains(f, ".."):
			lo, hi, _ := strings.Cut(f, "..")
			t := testType(typeName)
			var err1, err2 error
			s.Min, err1 = vec.Parse(t, lo, nil)
			s.Max, err2 = vec.Parse(t, hi, nil)
			s.HasRange = err1 == nil && err2 == nil
		default:
			typeName = f
			col.Type = testType(f)
		}
	}
	return col, s
}

func testType(name string) vec.Type {
	e, err := sql.ParseExpr("NULL::" + name)
	if err != nil {
		panic(err)
	}
	t, err := TypeOf(e.(*sql.Cast).Type)
	if err != nil {
		panic(err)
	}
	return t
}

func newTestCatalog() *memoryCatalog {
	c := &memoryCatalog{relations: map[string]Relation{}, functions: extension.NewRegistry()}
	function.RegisterAll(c.functions)
	addTPCH(c)
	c.table("t", 1000, "id", "id bigint ! 1..1000", "a integer d=100", "b integer d=10", "s text d=50", "f float8", "d date", "ts timestamptz", "n numeric(12,2)", "flag boolean", "xs int[]", "doc json")
	c.table("u", 5000, "id", "id bigint ! 1..5000", "a integer d=100", "c integer", "s text")
	c.table("v", 100, "k1 k2", "k1 integer !", "k2 integer !", "x text")
	c.relations["vw"] = &View{Schema: "public", Name: "vw", Query: mustParse("SELECT id, a + b AS ab FROM t WHERE a > 0"), Columns: []string{"vid"}}
	c.relations["loop"] = &View{Schema: "public", Name: "loop", Query: mustParse("SELECT * FROM loop")}
	return c
}

func mustParse(text string) sql.QueryExpr {
	s, err := sql.ParseOne(text)
	if err != nil {
		panic(fmt.Sprintf("%s: %v", text, err))
	}
	q, ok := s.(sql.QueryExpr)
	if !ok {
		panic(text + ": not a query")
	}
	return q
}

// parse is mustParse for a test.
func parse(t testing.TB, text string) sql.QueryExpr {
	t.Helper()
	s, err := sql.ParseOne(text)
	if err != nil {
		t.Fatalf("%s\n%v", text, err)
	}
	return s.(sql.QueryExpr)
}

func bindText(t testing.TB, c Catalog, text string) *Query {
	t.Helper()
	q, err := Bind(context.Background(), parse(t, text), c, Options{})
	if err != nil {
		t.Fatalf("%s\n%v", text, err)
	}
	return q
}

func addTPCH(c *memoryCatalog) {
	c.table("region", 5, "r_regionkey", "r_regionkey integer ! 0..4", "r_name text ! d=5", "r_comment text !")
	c.table("nation", 25, "n_nationkey", "n_nationkey integer ! 0..24", "n_name text ! d=25", "n_regionkey integer ! d=5", "n_comment text !")
	c.table("supplier", 10_000, "s_suppkey", "s_suppkey bigint ! 1..10000", "s_name text !  d=10000", "s_address text ! d=10000", "s_nationkey integer ! d=25", "s_phone text ! d=10000", "s_acctbal numeric(15,2) ! d=9955", "s_comment text ! d=10000")
	c.table("part", 200_000, "p_partkey", "p_partkey bigint ! 1..200000", "p_name text ! d=199997", "p_mfgr text ! d=5", "p_brand text ! d=25", "p_type text ! d=150", "p_size integer ! d=50 1..50", "p_container text ! d=40", "p_retailprice numeric(15,2) ! d=20899", "p_comment text ! d=131753")
	c.table("partsupp", 800_000, "ps_partkey ps_suppkey", "ps_partkey bigint ! d=200000 1..200000", "ps_suppkey bigint ! d=10000 1..10000", "ps_availqty integer ! d=9999 1..9999", "ps_supplycost numeric(15,2) ! d=99865 1..1000", "ps_comment text !")
	c.table("customer", 150_000, "c_custkey", "c_custkey bigint ! 1..150000", "c_name text ! d=150000", "c_address text ! d=150000", "c_nationkey integer ! d=25", "c_phone text ! d=150000", "c_acctbal numeric(15,2) ! d=140187 -999..9999", "c_mktsegment text ! d=5", "c_comment text !")
	c.table("orders", 1_500_000, "o_orderkey", "o_orderkey bigint ! 1..6000000", "o_custkey bigint ! d=99996 1..150000", "o_orderstatus text ! d=3", "o_totalprice numeric(15,2) ! d=1464556 800..600000", "o_orderdate date ! d=2406 1992-01-01..1998-08-02", "o_orderpriority text ! d=5", "o_clerk text ! d=1000", "o_shippriority integer ! d=1", "o_comment text !")
	c.table("lineitem", 6_001_215, "l_orderkey l_linenumber", "l_orderkey bigint ! d=1500000 1..6000000", "l_partkey bigint ! d=200000 1..200000", "l_suppkey bigint ! d=10000 1..10000", "l_linenumber integer ! d=7 1..7", "l_quantity numeric(15,2) ! d=50 1..50", "l_extendedprice numeric(15,2) ! d=933900 900..105000", "l_discount numeric(15,2) ! d=11 0..0.1", "l_tax numeric(15,2) ! d=9 0..0.08", "l_returnflag text ! d=3", "l_linestatus text ! d=2", "l_shipdate date ! d=2526 1992-01-02..1998-12-01", "l_commitdate date ! d=2466 1992-01-31..1998-10-31", "l_receiptdate date ! d=2554 1992-01-04..1998-12-31", "l_shipinstruct text ! d=4", "l_shipmode text ! d=7", "l_comment text !")
}
