package generator

import (
	"context"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/tidemarkdb/tidemark/extension"
	"github.com/tidemarkdb/tidemark/sqlerr"
	"github.com/tidemarkdb/tidemark/vec"
)

// everyType is a table with a column of each type.
func everyType() extension.TableSpec {
	types := []vec.Type{
		vec.BoolType, vec.Int16Type, vec.Int32Type, vec.Int64Type, vec.Float32Type, vec.Float64Type, vec.DecimalType(12, 2),
		vec.DecimalType(38, 10), vec.TextType, vec.ByteaType, vec.DateType, vec.TimeType, vec.TimeTZType, vec.TimestampType, vec.TimestampTZType,
		vec.IntervalType, vec.UUIDType, vec.JSONType, vec.ArrayType(vec.TextType), vec.StructType(vec.Field{Name: "a", Type: vec.Int32Type}),
	}
	spec := extension.TableSpec{Columns: []vec.Column{{Name: "id", Type: vec.Int64Type}}, Key: []int{0}}
	for i, t := range types {
		spec.Columns = append(spec.Columns, vec.Column{Name: fmt.Sprintf("c%d", i), Type: t, Nullable: true})
	}
	return extension.TableSpec{Key: spec.Key, Columns: append(spec.Columns,
		vec.Column{Name: "version", Type: vec.Int64Type}, vec.Column{Name: "bucket", Type: vec.Int32Type}, vec.Column{Name: "status", Type: vec.TextType},
		vec.Column{Name: "created_at", Type: vec.TimestampTZType}, vec.Column{Name: "updated_on", Type: vec.DateType})}
}

func narrow() extension.TableSpec {
	return extension.TableSpec{Columns: []vec.Column{{Name: "id", Type: vec.Int64Type}, {Name: "version", Type: vec.Int64Type}}, Key: []int{0}}
}

func mustOpen(t *testing.T, spec extension.TableSpec, options map[string]string) *source {
	t.Helper()
	s, err := open(spec, options)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

var mixes = map[string]map[string]string{
	"default":            {"keys": "1000"},
	"zipf":               {"keys": "1000", "distribution": "zipf"},
	"zipf of exponent 1": {"keys": "500", "distribution": "zipf", "skew": "1"},
	"steady":             {"keys": "97", "inserts": "15", "deletes": "15"},
	"inserts":            {"keys": "0", "inserts": "100", "deletes": "0"},
	"shrink":             {"keys": "3000", "inserts": "0", "deletes": "20", "limit": "10000"},
	"updates":            {"keys": "1", "inserts": "0", "deletes": "0"},
	"churn":              {"keys": "60", "inserts": "50", "deletes": "50"},
	"few keys":           {"keys": "6"},
}

func TestSequenceChangesOnlyWhatItMay(t *testing.T) {
	for name, options := range mixes {
		t.Run(name, func(t *testing.T) {
			s := mustOpen(t, narrow(), options).sequence
			live, dead := map[uint64]bool{}, map[uint64]bool{}
			for k := range s.keys {
				live[k] = true
			}
			counts, recreated := map[extension.Op]uint64{}, 0
			for i := range uint64(10000) {
				c := s.Change(i)
				counts[c.Op]++
				if c.Key >= s.KeyNumbers(i+1) {
					t.Fatalf("change %d: key %d is not below KeyNumbers %d", i, c.Key, s.KeyNumbers(i+1))
				}
				if live[c.Key] == (c.Op == extension.Insert) {
					t.Fatalf("change %d: op %d of key %d, which is live: %v", i, c.Op, c.Key, live[c.Key])
				}
				if c.Op == extension.Delete {
					delete(live, c.Key)
					dead[c.Key] = true
					continue
				}
				if dead[c.Key] {
					recreated++
					delete(dead, c.Key)
				}
				live[c.Key] = true
				if (i+1)%blockChanges == 0 && counts[extension.Insert] != (i+1)/blockChanges*s.inserts {
					t.Fatalf("%d inserts among the first %d changes", counts[extension.Insert], i+1)
				}
			}
			if counts[extension.Delete] != 100*s.deletes {
				t.Errorf("%d deletes, want %d", counts[extension.Delete], 100*s.deletes)
			}
			if want := 99 * int(s.recreated); recreated != want {
				t.Errorf("%d keys re-created, want %d", recreated, want)
			}
		})
	}
}

func TestZipfPrefersFewKeys(t *testing.T) {
	s := mustOpen(t, narrow(), map[string]string{"keys": "10000", "distribution": "zipf", "inserts": "0", "deletes": "0"}).sequence
	counts := map[uint64]int{}
	for i := range uint64(20000) {
		counts[s.Change(i).Key]++
	}
	most := 0
	for _, n := range counts {
		most = max(most, n)
	}
	if most < 1000 || len(counts) < 1000 {
		t.Errorf("%d keys were chosen, the commonest %d times", len(counts), most)
	}
}

// replay applies a whole stream to a map from key to row and returns the position reached.
type replay struct {
	key  int
	rows map[string][]vec.Value
	ins  int64
	upd  int64
	del  int64
}

func (r *replay) row(cols []*vec.Vector, i int) (key string, values []vec.Value) {
	for _, c := range cols {
		values = append(values, c.Value(i))
	}
	return fmt.Sprint(values[r.key]), values
}

func (r *replay) apply(t *testing.T, c *extension.Changes) {
	for i, op := range c.Ops {
		key, values := r.row(c.Cols, i)
		if _, live := r.rows[key]; live == (op == extension.Insert) {
			t.Fatalf("op %d of key %s, which is live: %v", op, key, live)
		}
		if op == extension.Delete {
			for place, v := range values {
				if place != r.key && !v.Null {
					t.Fatalf("column %d of a delete is %v", place, v)
				}
			}
			delete(r.rows, key)
			continue
		}
		r.rows[key] = values
	}
	r.ins, r.upd, r.del = r.ins+c.Inserts, r.upd+c.Updates, r.del+c.Deletes
}

func (r *replay) compare(t *testing.T, m *Model) {
	t.Helper()
	if m.Live() != int64(len(r.rows)) {
		t.Fatalf("the model has %d live rows, the stream left %d", m.Live(), len(r.rows))
	}
	seen := 0
	for k := range m.KeyNumbers() {
		want, live := m.Row(k)
		if !live {
			continue
		}
		seen++
		got := r.rows[fmt.Sprint(want[r.key])]
		if fmt.Sprint(got) != fmt.Sprint(want) {
			t.Fatalf("key number %d:\n got %v\nwant %v", k, got, want)
		}
	}
	if int64(seen) != m.Live() {
		t.Fatalf("%d rows, Live() = %d", seen, m.Live())
	}
}

func TestModelEqualsSnapshotAndStream(t *testing.T) {
	options := map[string]string{"keys": "500", "rate": "0", "limit": "5003", "nulls": "10", "transaction_rows": "7", "deletes": "10"}
	spec := everyType()
	s := mustOpen(t, spec, options)
	m, err := NewModel(spec, options)
	if err != nil {
		t.Fatal(err)
	}
	r := &replay{rows: map[string][]vec.Value{}}
	snap, _ := s.Snapshot(context.Background())
	if err := snap.Read(context.Background(), 0, func(b *vec.Batch) error {
		for i := range b.N {
			key, values := r.row(b.Cols, i)
			r.rows[key] = values
		}
		return nil
	}); err != nil {
		t.Fatal(err)
	}
	r.compare(t, m)
	stream, _ := s.Stream(context.Background(), snap.Position())
	position := snap.Position()
	for {
		c, err := stream.Next(context.Background(), 0, 333)
		if err != nil {
			t.Fatal(err)
		}
		if c == nil {
			break
		}
		r.apply(t, c)
		if c.Boundary {
			position = c.Position
		}
	}
	if got := Source().FormatPosition(position); got != "5003" {
		t.Fatalf("the stream ended at %s", got)
	}
	if err := m.ApplyTo(position); err != nil {
		t.Fatal(err)
	}
	r.compare(t, m)
	if r.ins+r.upd+r.del != 5003 {
		t.Errorf("%d inserts, %d updates, %d deletes", r.ins, r.upd, r.del)
	}
}

func render(c *extension.Changes) (lines []string) {
	for i, op := range c.Ops {
		line := fmt.Sprint(op)
		for _, col := range c.Cols {
			line += " " + fmt.Sprint(col.Value(i))
		}
		lines = append(lines, line)
	}
	return lines
}

func TestStreamRepeatsItselfFromAnyPosition(t *testing.T) {
	options := map[string]string{"keys": "200", "rate": "0", "limit": "2000", "transaction_rows": "30", "distribution": "zipf"}
	s := mustOpen(t, everyType(), options)
	read := func(after uint64, maxRows int) (lines []string) {
		stream, err := s.Stream(context.Background(), EncodePosition(after))
		if err != nil {
			t.Fatal(err)
		}
		at := after
		for {
			c, err := stream.Next(context.Background(), 0, maxRows)
			if err != nil {
				t.Fatal(err)
			}
			if c == nil {
				return lines
			}
			at += uint64(c.Rows())
			if whole := at%30 == 0 || at == 2000; c.Boundary != whole || c.Rows() > maxRows {
				t.Fatalf("%d rows to change %d, boundary %v", c.Rows(), at, c.Boundary)
			}
			if c.Boundary && string(c.Position) != string(EncodePosition(at)) {
				t.Fatalf("position %x at change %d", c.Position, at)
			}
			lines = append(lines, render(c)...)
		}
	}
	all := read(0, 1000)
	if len(all) != 2000 {
		t.Fatalf("%d changes", len(all))
	}
	for _, after := range []int{1, 30, 777, 1999, 2000} {
		if got, want := strings.Join(read(uint64(after), 11), "\n"), strings.Join(all[after:], "\n"); got != want {
			t.Errorf("the stream after %d differs", after)
		}
	}
}

func TestPartsCoverTheSnapshotInParallel(t *testing.T) {
	options := map[string]string{"keys": "2500000"}
	s := mustOpen(t, narrow(), options)
	snap, _ := s.Snapshot(context.Background())
	if snap.Parts() != 3 {
		t.Fatalf("%d parts", snap.Parts())
	}
	var wg sync.WaitGroup
	sums := make([]Checksum, snap.Parts())
	for part := range sums {
		wg.Go(func() {
			if err := snap.Read(context.Background(), part, func(b *vec.Batch) error { sums[part].Add(b); return nil }); err != nil {
				t.Error(err)
			}
		})
	}
	wg.Wait()
	var total Checksum
	for _, c := range sums {
		total.Rows += c.Rows
		total.Sum += c.Sum
	}
	m, err := NewModel(narrow(), options)
	if err != nil {
		t.Fatal(err)
	}
	if want := m.Checksum(); total != want || total.Rows != 2500000 {
		t.Errorf("parts have %v, the model %v", total, want)
	}
}

func TestChecksumSeesEveryDifference(t *testing.T) {
	spec := everyType()
	m, _ := NewModel(spec, map[string]string{"keys": "300", "nulls": "20"})
	base := m.Checksum()
	var reversed Checksum
	_ = m.Rows(func(b *vec.Batch) error {
		for i := b.N - 1; i >= 0; i-- {
			reversed.Add(b.Slice(i, 1))
		}
		return nil
	})
	if reversed != base {
		t.Errorf("in reverse order %v, else %v", reversed, base)
	}
	_ = m.Rows(func(b *vec.Batch) error {
		for place := range b.Cols {
			cols := append([]*vec.Vector(nil), b.Cols...)
			index := vec.Sequence(b.N)
			index[3] = 4
			cols[place] = vec.Gather(cols[place], index, nil)
			if fmt.Sprint(cols[place].Value(3)) == fmt.Sprint(b.Cols[place].Value(3)) {
				continue // by chance the same value
			}
			var changed Checksum
			changed.Add(vec.NewBatch(b.N, cols...))
			if changed == base {
				t.Errorf("column %d: a changed value leaves the checksum as it was", place)
			}
		}
		return nil
	})
}

func TestKeyColumnsTellKeysApart(t *testing.T) {
	wide := []vec.Type{
		vec.Int16Type, vec.Int32Type, vec.Int64Type, vec.Float32Type, vec.Float64Type, vec.DecimalType(12, 2), vec.DecimalType(38, 0), vec.DecimalType(38, 30),
		vec.TextType, vec.ByteaType, vec.DateType, vec.TimeType, vec.TimeTZType, vec.TimestampType, vec.TimestampTZType, vec.IntervalType, vec.UUIDType, vec.JSONType,
	}
	keys := [][]vec.Type{{vec.BoolType, vec.TextType, vec.Int32Type}, {vec.Int64Type, vec.Int64Type}, {vec.BoolType, vec.Int16Type}}
	for _, w := range wide {
		keys = append(keys, []vec.Type{w})
	}
	for _, types := range keys {
		spec := extension.TableSpec{}
		for i, typ := range types {
			spec.Columns = append(spec.Columns, vec.Column{Name: fmt.Sprint("k", i), Type: typ})
			spec.Key = append(spec.Key, i)
		}
		m, err := NewModel(spec, map[string]string{"keys": "20000"})
		if err != nil {
			t.Fatal(types, err)
		}
		seen := map[string]bool{}
		for k := range m.KeyNumbers() {
			row, _ := m.Row(k)
			seen[fmt.Sprint(row)] = true
		}
		if len(seen) != 20000 {
			t.Errorf("%v: %d different keys", types, len(seen))
		}
	}
}

func TestWrongOptionsAreRefused(t *testing.T) {
	cases := map[string]map[string]string{
		"keys":                           {"keys": "-1"},
		"add up to 110":                  {"inserts": "50", "updates": "50", "deletes": "10"},
		"exceed 100 percent":             {"inserts": "60", "deletes": "60"},
		"would run empty":                {"inserts": "1", "deletes": "5"},
		"keys to at least 6":             {"keys": "5"},
		"uniform or zipf":                {"distribution": "normal"},
		"a number from 0 to":             {"rate": "NaN"},
		"a whole number from 1":          {"transaction_rows": "0"},
		"keys to at least 86":            {"keys": "80", "inserts": "0", "deletes": "5", "limit": "1700", "updates": "95"},
		"hold 2 different keys, not 100": {"keys": "100", "bool key": ""},
	}
	for want, options := range cases {
		spec := narrow()
		if _, small := options["bool key"]; small {
			spec.Columns[0].Type = vec.BoolType
		}
		_, err := open(spec, options)
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v: %v, want %q", options, err, want)
		}
	}
}

func TestFullMergeKeyStopsTheStream(t *testing.T) {
	spec := narrow()
	spec.Columns[0].Type = vec.Int16Type
	s := mustOpen(t, spec, map[string]string{"keys": "32760", "rate": "0"})
	stream, _ := s.Stream(context.Background(), nil)
	for {
		_, err := stream.Next(context.Background(), 0, 10)
		if err == nil {
			continue
		}
		if !extension.IsPermanent(err) || sqlerr.Code(err) != sqlerr.NumericOutOfRange {
			t.Errorf("%v", err)
		}
		return
	}
}

func TestRateReleasesWholeTransactionsWhenDue(t *testing.T) {
	s := mustOpen(t, narrow(), map[string]string{"rate": "20000", "limit": "2000", "transaction_rows": "100"})
	stream := newStream(s, 0)
	total := uint64(0)
	for total < 2000 {
		c, err := stream.Next(context.Background(), time.Minute, 500)
		if err != nil || c == nil {
			t.Fatalf("%v, %v", c, err)
		}
		total += uint64(c.Rows())
		if now := time.Now(); c.CommitTime.After(now) || !c.Boundary || stream.due(now) < total {
			t.Fatalf("at %v: changes to %d, committed at %v, of which %d are due", now, total, c.CommitTime, stream.due(now))
		}
	}
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if c, err := stream.Next(ctx, time.Hour, 1); c != nil || err != nil {
		t.Errorf("beyond the limit: %v, %v", c, err)
	}
}

func TestPositionText(t *testing.T) {
	def := Source()
	p, err := def.ParsePosition("1200")
	if err != nil || def.FormatPosition(p) != "1200" || def.ComparePosition(p, nil) != 1 || def.ComparePosition(p, EncodePosition(1201)) != -1 {
		t.Errorf("%v %v", p, err)
	}
	if _, err := def.ParsePosition("x"); err == nil {
		t.Error("x is a position")
	}
	if _, err := DecodePosition(extension.Position("abc")); err == nil {
		t.Error("abc is a position")
	}
}

func BenchmarkSnapshot(b *testing.B) {
	spec := extension.TableSpec{Key: []int{0}, Columns: []vec.Column{{Name: "id", Type: vec.Int64Type}, {Name: "customer", Type: vec.Int32Type},
		{Name: "amount", Type: vec.DecimalType(12, 2)}, {Name: "status", Type: vec.TextType}, {Name: "created_at", Type: vec.TimestampTZType}}}
	s, err := open(spec, map[string]string{"keys": "1048576"})
	if err != nil {
		b.Fatal(err)
	}
	snap, _ := s.Snapshot(context.Background())
	for b.Loop() {
		_ = snap.Read(context.Background(), 0, func(*vec.Batch) error { return nil })
	}
	b.ReportMetric(float64(b.N)*partRows/b.Elapsed().Seconds(), "rows/s")
}

func BenchmarkChanges(b *testing.B) {
	s, err := open(narrow(), map[string]string{"keys": "10000000", "rate": "0"})
	if err != nil {
		b.Fatal(err)
	}
	stream := newStream(s, 0)
	rows := 0
	for b.Loop() {
		c, _ := stream.Next(context.Background(), 0, vec.MaxBatchRows)
		rows += c.Rows()
	}
	b.ReportMetric(float64(rows)/b.Elapsed().Seconds(), "rows/s")
}
