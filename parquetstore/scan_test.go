package parquetstore

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/RoaringBitmap/roaring/v2"

	"github.com/tidemarkdb/tidemark/objstore"
	"github.com/tidemarkdb/tidemark/tablet"
	"github.com/tidemarkdb/tidemark/vec"
)

// passes evaluates a predicate on one value by the book.
func passes(p Predicate, v vec.Value) bool {
	switch p.Op {
	case IsNull:
		return v.Null
	case IsNotNull:
		return !v.Null
	}
	if v.Null {
		return false
	}
	if p.Op != In && slices.ContainsFunc(p.Values, func(c vec.Value) bool { return c.Null }) {
		return false
	}
	compare := func(i int) int { return vec.Compare(v, p.Values[i]) }
	switch p.Op {
	case Eq:
		return compare(0) == 0
	case Ne:
		return compare(0) != 0
	case Lt:
		return compare(0) < 0
	case Le:
		return compare(0) <= 0
	case Gt:
		return compare(0) > 0
	case Ge:
		return compare(0) >= 0
	case Between:
		return compare(0) >= 0 && compare(1) <= 0
	case Prefix:
		return strings.HasPrefix(v.S, p.Values[0].S)
	}
	for i := range p.Values {
		if !p.Values[i].Null && compare(i) == 0 {
			return true
		}
	}
	return false
}

// scanTable is a table for predicate tests: every flat type twice, sorted and not, with NULLs and NaN.
func scanTable(t *testing.T, r *rand.Rand, rows int, o Options) (*File, []tablet.Column, [][]vec.Value) {
	t.Helper()
	var columns []tablet.Column
	b := &vec.Batch{N: rows}
	for i, typ := range flatTypes {
		for _, sorted := range []bool{true, false} {
			columns = append(columns, column(2*i+toInt(sorted), typ, true))
			values := make([]vec.Value, rows)
			for k := range values {
				values[k] = randomValue(r, typ, []int{0, 4, 300}[i%3])
				if typ.IsFloat() && r.IntN(50) == 0 {
					values[k].F = math.NaN()
				}
				if r.IntN(20) == 0 {
					values[k] = vec.NullValue(typ)
				}
			}
			if sorted {
				slices.SortFunc(values, vec.Compare)
			}
			x := vec.NewBuilder(typ, rows)
			for _, v := range values {
				x.Append(v)
			}
			b.Cols = append(b.Cols, x.Finish())
		}
	}
	columns = append(columns, column(len(columns), vec.Int64Type, false)) // the last column numbers rows
	numbers := vec.NewBuilder(vec.Int64Type, rows)
	for row := range rows {
		vec.AppendFixed(numbers, int64(row))
	}
	b.Cols = append(b.Cols, numbers.Finish())
	store := localStore(t)
	writeFile(t, store, "s.parquet", columns, o, b)
	return openTest(t, store, "s.parquet", OpenOptions{}), columns, boxed(b)
}

func randomPredicate(r *rand.Rand, columns []tablet.Column, rows [][]vec.Value) Predicate {
	for {
		c := r.IntN(len(columns))
		p := Predicate{Column: c, Op: Op(r.IntN(int(IsNotNull) + 1))}
		if !Exact(columns[c].Type, p.Op) {
			continue
		}
		pick := func() vec.Value {
			if r.IntN(8) == 0 {
				return randomValue(r, columns[c].Type, 0)
			}
			return rows[c][r.IntN(len(rows[c]))]
		}
		switch p.Op {
		case IsNull, IsNotNull:
		case Between:
			p.Values = []vec.Value{pick(), pick()}
		case In:
			for range r.IntN(12) {
				p.Values = append(p.Values, pick())
			}
		case Prefix:
			v := pick()
			if !v.Null {
				v.S = v.S[:r.IntN(len(v.S)+1)]
			}
			p.Values = []vec.Value{v}
		default:
			p.Values = []vec.Value{pick()}
		}
		return p
	}
}

// listedMask lists the dead rows where less than half of them are dead.
type listedMask struct{ roaringMask }

func (m listedMask) DeadRows(dst []int32, from, n uint32) ([]int32, bool) {
	live := vec.Bitmap(m.LiveWords(nil, from, n)).AppendSelection(nil, int(n))
	dead := live.AppendComplement(dst[:0], int(n))
	return dead, len(dead)*2 < int(n)
}

// everyOther drops every rows-th row but none for 1, by the numbers in a column. One that is not total fails on dead rows.
func everyOther(rows, column int, total bool, dead *roaring.Bitmap) RowFilter {
	return RowFilter{Columns: []int{column}, Total: total, Select: func(cols []*vec.Vector, n int, sel vec.Selection) (vec.Selection, error) {
		if sel == nil {
			sel = vec.Sequence(n)
		}
		out := make(vec.Selection, 0, len(sel))
		for _, i := range sel {
			row := cols[0].Value(int(i)).I
			if !total && dead.Contains(uint32(row)) {
				return nil, fmt.Errorf("a filter that may fail sees dead row %d", row)
			}
			if rows == 1 || row%int64(rows) != 0 {
				out = append(out, i)
			}
		}
		return out, nil
	}}
}

func TestPredicatesAndMasksAgainstTheBook(t *testing.T) {
	for seed := range uint64(4) {
		r := rand.New(rand.NewPCG(seed, 11))
		o := Options{PageRows: []int{64, 200, 1000, 0}[seed], RowGroupRows: []int{500, 1500, 10000, 0}[seed], PageBytes: []int{0, 1000, 0, 300}[seed]}
		f, columns, rows := scanTable(t, r, 3000, o)
		for range 150 {
			s := &Scan{Position: true, Counters: new(Counters), Except: r.IntN(2) == 0}
			for range r.IntN(4) {
				s.Columns = append(s.Columns, r.IntN(len(columns)))
			}
			for range r.IntN(3) {
				s.Predicates = append(s.Predicates, randomPredicate(r, columns, rows))
			}
			if r.IntN(4) == 0 { // several comparisons of one column join into a range
				for range 3 {
					p := randomPredicate(r, columns[:8], rows)
					p.Column, p.Op = 6, []Op{Lt, Le, Gt, Ge, Eq}[r.IntN(5)]
					p.Values = []vec.Value{rows[6][r.IntN(len(rows[6]))]}
					s.Predicates = append(s.Predicates, p)
				}
			}
			dead := roaring.New()
			if r.IntN(2) == 0 {
				for range r.IntN(4) {
					from := uint64(r.IntN(3000))
					dead.AddRange(from, min(from+uint64(r.IntN(1500)), 3000))
				}
				for range r.IntN(300) {
					dead.Add(r.Uint32N(3000))
				}
				s.Mask = newMask(dead, 3000)
				if r.IntN(2) == 0 {
					s.Mask = listedMask{newMask(dead, 3000)}
				}
			}
			filtered := []int{1, 2, 3, 20}[r.IntN(4)] // what a caller's filter drops: one row in so many; the first is none
			last := len(columns) - 1
			s.Filters = []RowFilter{everyOther(filtered, last, true, dead), everyOther(filtered, last, false, dead)}[:r.IntN(3)]
			want := make([][]vec.Value, len(s.Columns)+1)
			for row := range 3000 {
				ok := !dead.Contains(uint32(row)) && (len(s.Filters) == 0 || filtered == 1 || row%filtered != 0)
				for _, p := range s.Predicates {
					ok = ok && passes(p, rows[p.Column][row])
				}
				if !ok {
					continue
				}
				for i, c := range s.Columns {
					want[i] = append(want[i], rows[c][row])
				}
				want[len(s.Columns)] = append(want[len(s.Columns)], vec.IntValue(vec.Int64Type, int64(row)))
			}
			what := fmt.Sprintf("seed %d, predicates %+v", seed, s.Predicates)
			compareColumns(t, what, readAll(t, f, s), want)
			if got := s.Counters.RowsProduced.Load(); got != int64(len(want[len(s.Columns)])) {
				t.Fatalf("%s: %d rows counted, %d handed out", what, got, len(want[len(s.Columns)]))
			}
			pruned := f.Prune(s, f.Morsels())
			for _, m := range f.Morsels() {
				if slices.Contains(pruned, m) {
					continue
				}
				for _, v := range want[len(s.Columns)] {
					if first := f.FirstRow(m); v.I >= first && v.I < first+int64(m.To-m.From) {
						t.Fatalf("%s: morsel %+v was pruned and holds row %d", what, m, v.I)
					}
				}
			}
		}
	}
}

// countingFile is 10 row groups of 10 pages of 100 rows: a sequence, the same shuffled, and text.
func countingFile(t *testing.T, o OpenOptions) *File {
	t.Helper()
	columns := []tablet.Column{column(0, vec.Int64Type, false), column(1, vec.Int64Type, false), column(2, vec.TextType, false)}
	b := &vec.Batch{N: 10000}
	r := rand.New(rand.NewPCG(1, 1))
	shuffled := r.Perm(b.N)
	for i, c := range columns {
		x := vec.NewBuilder(c.Type, b.N)
		for row := range b.N {
			switch i {
			case 0:
				vec.AppendFixed(x, int64(row))
			case 1:
				vec.AppendFixed(x, int64(shuffled[row]))
			case 2:
				x.AppendString(fmt.Sprint("row ", row))
			}
		}
		b.Cols = append(b.Cols, x.Finish())
	}
	store := objstore.NewMem(nil)
	writeFile(t, store, "c.parquet", columns, Options{RowGroupRows: 1000, PageRows: 100}, b)
	return openTest(t, store, "c.parquet", o)
}

func ints(op Op, column int, values ...int64) Predicate {
	p := Predicate{Column: column, Op: op}
	for _, v := range values {
		p.Values = append(p.Values, vec.IntValue(vec.Int64Type, v))
	}
	return p
}

func TestOnlyPagesThatMatterAreDecoded(t *testing.T) {
	dead := roaring.New()
	dead.AddRange(0, 9950)
	half := roaring.New()
	for i := uint32(0); i < 10000; i += 2 {
		half.Add(i)
	}
	for name, c := range map[string]struct {
		scan  Scan
		pages int64 // decoded
		rows  int
	}{
		"everything":               {Scan{Columns: []int{0, 1, 2}}, 300, 10000},
		"one column":               {Scan{Columns: []int{2}}, 100, 10000},
		"row count only":           {Scan{}, 0, 10000},
		"one page of two columns":  {Scan{Columns: []int{0, 2}, Predicates: []Predicate{ints(Eq, 0, 4321)}}, 2, 1},
		"two pages by range":       {Scan{Columns: []int{0}, Predicates: []Predicate{ints(Between, 0, 150, 250)}}, 2, 101},
		"nothing":                  {Scan{Columns: []int{0, 2}, Predicates: []Predicate{ints(Gt, 0, 10000)}}, 0, 0},
		"impossible range":         {Scan{Columns: []int{0}, Predicates: []Predicate{ints(Between, 0, 9, 8)}}, 0, 0},
		"late materialisation":     {Scan{Columns: []int{2}, Predicates: []Predicate{ints(Eq, 1, 5000)}}, 101, 1},
		"in list":                  {Scan{Columns: []int{2}, Predicates: []Predicate{ints(In, 0, 5, 9995, 20000)}}, 4, 2},
		"two predicates":           {Scan{Columns: []int{2}, Predicates: []Predicate{ints(Ge, 0, 9900), ints(Lt, 1, 0)}}, 0, 0},
		"all but one page dead":    {Scan{Columns: []int{0, 2}, Mask: newMask(dead, 10000)}, 2, 50},
		"every other row dead":     {Scan{Columns: []int{0}, Mask: newMask(half, 10000)}, 100, 5000},
		"dead where it would pass": {Scan{Columns: []int{0}, Predicates: []Predicate{ints(Lt, 0, 9000)}, Mask: newMask(dead, 10000)}, 0, 0},
		"text bounds":              {Scan{Columns: []int{2}, Predicates: []Predicate{{Column: 2, Op: Eq, Values: []vec.Value{vec.StringValue(vec.TextType, "row 5005")}}}}, 3, 1},
		"no null":                  {Scan{Columns: []int{2}, Predicates: []Predicate{{Column: 2, Op: IsNull}}}, 0, 0},
	} {
		t.Run(name, func(t *testing.T) {
			f := countingFile(t, OpenOptions{})
			s := c.scan
			s.Counters = new(Counters)
			s.Position = true
			got := readAll(t, f, &s)
			if n := len(got[len(got)-1]); n != c.rows {
				t.Errorf("%d rows, want %d", n, c.rows)
			}
			if n := s.Counters.PagesDecoded.Load(); n != c.pages {
				t.Errorf("%d pages decoded, want %d", n, c.pages)
			}
		})
	}
}

func TestPruneByRowGroup(t *testing.T) {
	f := countingFile(t, OpenOptions{})
	s := &Scan{Columns: []int{0}, Predicates: []Predicate{ints(Between, 0, 1500, 2500)}, Counters: new(Counters)}
	if got := f.Prune(s, f.Morsels()); len(got) != 2 || got[0].Group != 1 || got[1].Group != 2 {
		t.Errorf("kept %+v", got)
	}
	if n := s.Counters.GroupsPruned.Load(); n != 8 {
		t.Errorf("%d row groups counted as pruned, want 8", n)
	}
	s.Predicates = []Predicate{ints(Lt, 0, 0)}
	if got := f.Prune(s, f.Morsels()); len(got) != 0 || s.Counters.FilesPruned.Load() != 1 {
		t.Errorf("kept %+v, %d files counted as pruned", got, s.Counters.FilesPruned.Load())
	}
}

func TestRuntimeFilterPublishedMidScan(t *testing.T) {
	f := countingFile(t, OpenOptions{})
	rf := NewRuntimeFilter(7)
	s := &Scan{Columns: []int{2}, Runtime: []*RuntimeFilter{rf.For(0)}, Counters: new(Counters)}
	var got []string
	for _, m := range f.Morsels() {
		r, err := f.NewReader(s, m)
		if err != nil {
			t.Fatal(err)
		}
		for {
			b, err := r.Next(context.Background())
			if err != nil {
				t.Fatal(err)
			}
			if b == nil {
				break
			}
			if m.Group == 0 && rf.bounds.Load() == nil {
				low, high := vec.IntValue(vec.Int64Type, 2300), vec.IntValue(vec.Int64Type, 2310)
				rf.Publish(&RuntimeBounds{Min: &low, Max: &high, Contains: func(v *vec.Vector, sel, out vec.Selection) vec.Selection {
					if sel == nil {
						sel = vec.Sequence(v.N)
					}
					for _, i := range sel {
						if v.Value(int(i)).I%2 == 1 {
							out = append(out, i)
						}
					}
					return out
				}})
			}
			b = b.Compact()
			for i := range b.N {
				got = append(got, b.Cols[0].Value(i).S)
			}
		}
	}
	if tail := got[len(got)-5:]; !slices.Equal(tail, []string{"row 2301", "row 2303", "row 2305", "row 2307", "row 2309"}) {
		t.Errorf("last rows %v", tail)
	}
	if len(got) > 1000+5 {
		t.Errorf("%d rows passed a filter published in the first row group", len(got))
	}
	// The group that was under way is 10 pages; after it one page of each column.
	if n := s.Counters.PagesDecoded.Load(); n > 12 {
		t.Errorf("%d pages decoded", n)
	}
}

func TestInexactPredicatesAreRefused(t *testing.T) {
	f, _, _ := scanTable(t, rand.New(rand.NewPCG(1, 1)), 10, Options{})
	for i, c := range f.Columns() {
		for op := Eq; op <= IsNotNull; op++ {
			_, err := f.NewReader(&Scan{Predicates: []Predicate{{Column: i, Op: op, Values: []vec.Value{{}, {}}}}}, Morsel{})
			if (err == nil) != Exact(c.Type, op) {
				t.Errorf("operator %d on %s: exact is %v, error %v", op, c.Type, Exact(c.Type, op), err)
			}
		}
	}
}

func TestFloatKeyOrdersAsTheEngineDoes(t *testing.T) {
	inf := math.Inf(1)
	all := []float64{-inf, -math.MaxFloat64, -1.5, -math.SmallestNonzeroFloat64, math.Copysign(0, -1), 0, math.SmallestNonzeroFloat64, 1, inf, math.NaN()}
	for _, a := range all {
		for _, b := range all {
			if got, want := cmp.Compare(floatKey(a), floatKey(b)), vec.CompareFloat(a, b); got != want {
				t.Errorf("%v and %v: %d, want %d", a, b, got, want)
			}
		}
	}
}

func TestAppendLive(t *testing.T) {
	r := rand.New(rand.NewPCG(2, 2))
	for range 2000 {
		n := 1 + r.IntN(vec.BatchRows)
		words := make([]uint64, (n+63)/64)
		share := []int{0, 1, 2, 30, 64}[r.IntN(5)]
		for i := range words {
			words[i] = ^uint64(0)
			for range r.IntN(share + 1) {
				words[i] &^= 1 << r.IntN(64)
			}
			if r.IntN(4) == 0 {
				words[i] = ^uint64(0)
			}
		}
		lead := vec.Selection{-1, -2}[:r.IntN(3)]
		got := appendLive(slices.Clone(lead), words, n)
		want := vec.Bitmap(words).AppendSelection(slices.Clone(lead), n)
		if !slices.Equal(got, want) {
			t.Fatalf("%d rows: %d live, want %d", n, len(got), len(want))
		}
	}
}

func TestReadRows(t *testing.T) {
	r := rand.New(rand.NewPCG(5, 5))
	f, columns, rows := scanTable(t, r, 2000, Options{PageRows: 64, RowGroupRows: 300})
	for range 40 {
		var at []uint32
		for range r.IntN(60) {
			at = append(at, r.Uint32N(2000))
		}
		if r.IntN(2) == 0 {
			slices.Sort(at)
		}
		b, err := ReadRows(context.Background(), f, at, allColumns(f))
		if err != nil {
			t.Fatal(err)
		}
		want := make([][]vec.Value, len(columns))
		for _, row := range at {
			for c := range columns {
				want[c] = append(want[c], rows[c][row])
			}
		}
		if b.N != len(at) {
			t.Fatalf("%d rows, want %d", b.N, len(at))
		}
		compareColumns(t, "point reads", boxed(b), want)
	}
	if _, err := ReadRows(context.Background(), f, []uint32{2000}, []int{0}); err == nil {
		t.Error("a row past the end was read")
	}
}

func TestReadRowsDecodesOnlyTheirPages(t *testing.T) {
	f := countingFile(t, OpenOptions{Tablet: 4, Cache: NewCache(CacheOptions{Bytes: 1 << 20})})
	if _, err := ReadRows(context.Background(), f, []uint32{5, 99, 7000}, []int{2}); err != nil {
		t.Fatal(err)
	}
	if st := f.cache.Stats(); st.Misses != 2 {
		t.Errorf("%d pages decoded for rows of 2 pages", st.Misses)
	}
}

func TestCopyRows(t *testing.T) {
	f := countingFile(t, OpenOptions{})
	dead := roaring.New()
	dead.AddRange(10, 10000)
	sources := []CopySource{
		{File: f, Mask: newMask(dead, 10000), Columns: []int{2, 0}},
		{File: f, Columns: []int{-1, 1}, Absent: []vec.Value{vec.StringValue(vec.TextType, "gone"), {}}},
	}
	counts := make([]int, 2)
	err := CopyRows(context.Background(), sources, nil, func(source int, b *vec.Batch) error {
		b = b.Compact()
		for i := range b.N {
			ordinal := b.Cols[2].Value(i).I
			switch source {
			case 0:
				if got := b.Cols[0].Value(i).S; got != fmt.Sprint("row ", ordinal) || b.Cols[1].Value(i).I != ordinal {
					t.Fatalf("row %d reads %q", ordinal, got)
				}
			case 1:
				if got := b.Cols[0].Value(i).S; got != "gone" {
					t.Fatalf("absent column reads %q", got)
				}
			}
		}
		counts[source] += b.N
		return nil
	})
	if err != nil || counts[0] != 10 || counts[1] != 10000 {
		t.Errorf("copied %v rows: %v", counts, err)
	}
}
