package exec

import (
	"context"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/tidemarkdb/tidemark/extension"
	"github.com/tidemarkdb/tidemark/function"
	"github.com/tidemarkdb/tidemark/plan"
	"github.com/tidemarkdb/tidemark/sql"
	"github.com/tidemarkdb/tidemark/sqlerr"
	"github.com/tidemarkdb/tidemark/vec"
)

// memTable is a table in memory: what a query reads, in batches of any shape.
type memTable struct {
	name   string
	schema vec.Schema
	cols   []*vec.Vector // flat
	rows   int
}

// memDB is a catalog and storage of memTables. Shape says how scans cut and dress their batches.
type memDB struct {
	tables    map[string]*memTable
	functions *extension.Registry
	shape     shape
}

// shape is how a scan presents rows.
type shape struct {
	batch    int  // rows of a batch
	selected bool // unselected garbage rows lie between
	few      bool // with selected: only few, said as vec.Batch.Except where the request allows it
	forms    bool // dictionaries and constants instead of flat columns
	applies  bool // the storage applies filters itself
	seed     uint64
}

func newMemDB() *memDB {
	r := extension.NewRegistry()
	function.RegisterAll(r)
	return &memDB{tables: map[string]*memTable{}, functions: r, shape: shape{batch: 1024}}
}

// add makes a table of rows given as text, "NULL" for NULL.
func (db *memDB) add(name string, schema vec.Schema, rows ...[]string) *memTable {
	t := &memTable{name: name, schema: schema, rows: len(rows)}
	for i, c := range schema {
		b := vec.NewBuilder(c.Type, len(rows))
		for _, r := range rows {
			if r[i] == "NULL" {
				b.AppendNull()
				continue
			}
			v, err := vec.Parse(c.Type, r[i], time.UTC)
			if err != nil {
				panic(err)
			}
			b.Append(v)
		}
		t.cols = append(t.cols, b.Finish())
	}
	db.tables[name] = t
	return t
}

// addCols makes a table of columns.
func (db *memDB) addCols(name string, schema vec.Schema, cols ...*vec.Vector) {
	db.tables[name] = &memTable{name: name, schema: schema, cols: cols, rows: cols[0].N}
}

func (db *memDB) Relation(_, name string, _ *plan.AsOf) (plan.Relation, error) {
	t, ok := db.tables[name]
	if !ok {
		return nil, sqlerr.New(sqlerr.UndefinedTable, "relation %q does not exist", name)
	}
	return &plan.Table{Schema: "public", Name: name, Columns: t.schema, Handle: t, Stats: memStats{t}}, nil
}

func (db *memDB) Functions() *extension.Registry { return db.functions }
func (db *memDB) Bind() *extension.TableBind {
	return &extension.TableBind{Ctx: context.Background(), Eval: testEval()}
}

type memStats struct{ t *memTable }

func (s memStats) Rows() int64                      { return int64(s.t.rows) }
func (s memStats) Column(int) plan.ColumnStatistics { return plan.ColumnStatistics{} }

func testEval() *extension.Eval {
	return &extension.Eval{
		Ctx: context.Background(), Now: time.Unix(1_700_000_000, 0), Zone: time.UTC,
		Random: rand.New(rand.NewPCG(1, 2)).Uint64, Setting: func(string) (string, error) { return "", nil },
		User: "tester", Database: "test", Schema: "public",
	}
}

// Scan implements Storage.
func (db *memDB) Scan(_ context.Context, req *ScanRequest) (ScanSource, error) {
	return &memScan{t: req.Table.Handle.(*memTable), req: req, shape: db.shape}, nil
}

type memScan struct {
	t     *memTable
	req   *ScanRequest
	shape shape
	mu    sync.Mutex
	at    int
	rows  int64
}

func (s *memScan) Applied() []bool {
	out := make([]bool, len(s.req.Filters))
	for i := range out {
		out[i] = s.shape.applies
	}
	return out
}

func (s *memScan) Next(ctx context.Context, worker int) (*vec.Batch, error) {
	for {
		s.mu.Lock()
		from := s.at
		n := min(s.shape.batch, s.t.rows-from)
		s.at += n
		s.mu.Unlock()
		if n <= 0 {
			return nil, nil
		}
		b := s.dress(from, n)
		if s.shape.applies {
			for _, f := range s.req.Filters {
				sel, err := f.Select(worker, b.Cols, b.N, b.Sel)
				if err != nil {
					return nil, err
				}
				b.Sel = slices.Clone(sel)
				if b.Sel == nil {
					b.Sel = vec.Selection{}
				}
			}
			if len(s.req.Filters) > 0 && len(b.Sel) == 0 {
				continue
			}
		}
		return b, nil
	}
}

// dress cuts rows [from, from+n) out and gives them the form that the shape asks for.
func (s *memScan) dress(from, n int) *vec.Batch {
	b := &vec.Batch{N: n}
	rng := rand.New(rand.NewPCG(s.shape.seed, uint64(from)))
	place := vec.Sequence(n)
	if s.shape.selected {
		b.N = 0
		for i := range place {
			if gap := rng.IntN(3); !s.shape.few {
				b.N += gap
			} else if rng.IntN(20) == 0 {
				b.N++
			}
			place[i] = int32(b.N)
			b.N++
		}
		b.Sel = slices.Clone(place)
	}
	index := make([]int32, b.N)
	for i := range index {
		index[i] = int32(from + rng.IntN(n))
	}
	for i, p := range place {
		index[p] = int32(from + i)
	}
	if s.shape.few && s.req.Except && !s.shape.applies && rng.IntN(2) == 0 {
		b.Sel, b.Except = nil, b.Sel.AppendComplement(vec.Selection{}, b.N)
	}
	for _, o := range s.req.Ordinals {
		if o < 0 {
			ids := make([]int64, b.N)
			for i, x := range index {
				ids[i] = int64(x)
			}
			b.Cols = append(b.Cols, vec.FlatOf(vec.Int64Type, ids, nil))
			continue
		}
		b.Cols = append(b.Cols, s.column(s.t.cols[o], index, rng))
	}
	return b
}

func (s *memScan) column(v *vec.Vector, index []int32, rng *rand.Rand) *vec.Vector {
	if !s.shape.forms {
		return vec.Gather(v, index, nil)
	}
	same := true
	for _, x := range index[1:] {
		same = same && vec.Compare(v.Value(int(x)), v.Value(int(index[0]))) == 0
	}
	switch {
	case same && rng.IntN(2) == 0:
		return vec.ConstantOf(v.Type, v.Value(int(index[0])), len(index))
	case rng.IntN(4) > 0:
		return vec.DictionaryOf(v, slices.Clone(index), nil)
	}
	return vec.Gather(v, index, nil)
}

func (s *memScan) Counters() []Counter { return []Counter{{Name: "rows scanned", Value: s.rows}} }
func (s *memScan) Close() error        { return nil }

// plan binds and optimises a query.
func (db *memDB) plan(tb testing.TB, text string) plan.Node {
	tb.Helper()
	st, err := sql.ParseOne(text)
	if err != nil {
		tb.Fatalf("%s: %v", text, err)
	}
	q, ok := st.(sql.QueryExpr)
	if !ok {
		tb.Fatalf("%s: not a query: %T", text, st)
	}
	bound, err := plan.Bind(context.Background(), q, db, plan.Options{})
	if err != nil {
		tb.Fatalf("%s: %v", text, err)
	}
	best, err := plan.Optimize(bound)
	if err != nil {
		tb.Fatalf("%s: %v", text, err)
	}
	return best.Plan
}

func (db *memDB) env(threads int) *Env { return &Env{Storage: db, Eval: testEval(), Threads: threads} }

// collect runs a plan and returns its rows as text.
func collect(root plan.Node, env *Env) ([]string, error) {
	rows, err := Run(context.Background(), root, env)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	return readAll(rows)
}

func readAll(rows *Rows) ([]string, error) {
	var out []string
	for {
		b, err := rows.Next(context.Background())
		if err != nil {
			return nil, err
		}
		if b == nil {
			return out, nil
		}
		for i := range b.N {
			out = append(out, rowText(b, i))
		}
	}
}

func rowText(b *vec.Batch, i int) string {
	var parts []string
	for _, c := range b.Cols {
		if c.IsNull(i) {
			parts = append(parts, "NULL")
		} else {
			parts = append(parts, vec.Format(c.Value(i)))
		}
	}
	return strings.Join(parts, "|")
}

// query runs SQL and returns its rows, sorted unless ordered.
func (db *memDB) query(tb testing.TB, text string, env *Env, ordered bool) []string {
	tb.Helper()
	out, err := collect(db.plan(tb, text), env)
	if err != nil {
		tb.Fatalf("%s: %v", text, err)
	}
	if !ordered {
		slices.Sort(out)
	}
	return out
}

func column(name string, t vec.Type) vec.Column {
	return vec.Column{Name: name, Type: t, Nullable: true}
}

func sprint(rows []string) string {
	return fmt.Sprintf("%d rows:\n%s", len(rows), strings.Join(rows, "\n"))
}
