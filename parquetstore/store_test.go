package parquetstore

import (
	"bytes"
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/tidemarkdb/tidemark/objstore"
	"github.com/tidemarkdb/tidemark/tablet"
	"github.com/tidemarkdb/tidemark/vec"
)

// flatTypes is every type that a column holds without nesting.
var flatTypes = []vec.Type{
	vec.BoolType, vec.Int16Type, vec.Int32Type, vec.Int64Type, vec.Float32Type, vec.Float64Type,
	vec.DecimalType(9, 2), vec.DecimalType(18, 4), vec.DecimalType(19, 0), vec.DecimalType(38, 10), vec.TextType,
	vec.ByteaType, vec.DateType, vec.TimeType, vec.TimeTZType, vec.TimestampType, vec.TimestampTZType, vec.IntervalType, vec.UUIDType,
	vec.JSONType,
}

// column makes the i-th column of a test table.
func column(i int, t vec.Type, nullable bool) tablet.Column {
	return tablet.Column{FieldID: int32(i + 1), Name: fmt.Sprintf("c%d_%s", i, t), Type: t, Nullable: nullable}
}

// randomValue draws a value; card bounds how many distinct ones there are (0: many).
func randomValue(r *rand.Rand, t vec.Type, card int) vec.Value {
	x := r.Int64()
	if card > 0 {
		x = rand.New(rand.NewPCG(uint64(r.IntN(card)), 7)).Int64()
	}
	small := rand.New(rand.NewPCG(uint64(x), 1))
	v := vec.Value{Type: t}
	switch t.Phys() {
	case vec.PhysBool:
		v.I = x & 1
	case vec.PhysInt16:
		v.I = int64(int16(x))
	case vec.PhysInt32:
		v.I = int64(int32(x))
	case vec.PhysInt64:
		v.I = x
		if t.ID == vec.Decimal {
			v.I = x % int64(math.Pow10(int(t.Precision)))
		}
	case vec.PhysFloat32:
		v.F = float64(math.Float32frombits(uint32(x)))
		if v.F != v.F {
			v.F = math.NaN()
		}
	case vec.PhysFloat64:
		v.F = math.Float64frombits(uint64(x))
		if v.F != v.F {
			v.F = math.NaN()
		}
	case vec.PhysInt128:
		v.I, v.Hi = x, small.Int64()
		if t.ID == vec.Decimal {
			v.Hi = x >> 63
			if t.Precision > 30 {
				v.Hi = small.Int64N(1 << 40)
			}
		}
	case vec.PhysInterval:
		v.Span = vec.IntervalValue{Months: int32(x), Days: int32(x >> 32), Micros: small.Int64()}
	case vec.PhysBytes:
		b := make([]byte, small.IntN(40))
		for i := range b {
			b[i] = 'a' + byte(small.IntN(26))
		}
		if t.ID == vec.JSON {
			b = []byte(fmt.Sprintf("{%q: %d}", b, x))
		}
		v.S = string(b)
	}
	return v
}

// randomVector draws n rows.
func randomVector(r *rand.Rand, t vec.Type, n, card int, nulls float64) *vec.Vector {
	b := vec.NewBuilder(t, n)
	for range n {
		if r.Float64() < nulls {
			b.AppendNull()
		} else {
			b.Append(randomValue(r, t, card))
		}
	}
	return b.Finish()
}

// writeFile writes batches and returns the description.
func writeFile(t testing.TB, store objstore.Store, path string, columns []tablet.Column, o Options, batches ...*vec.Batch) *tablet.Desc {
	t.Helper()
	w, err := NewWriter(context.Background(), store, path, columns, o)
	if err != nil {
		t.Fatal(err)
	}
	defer w.Abort()
	for _, b := range batches {
		if err := w.Write(b); err != nil {
			t.Fatal(err)
		}
	}
	d, err := w.Close()
	if err != nil {
		t.Fatal(err)
	}
	return d
}

func openTest(t testing.TB, store objstore.Store, path string, o OpenOptions) *File {
	t.Helper()
	f, err := Open(context.Background(), store, path, o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { f.Close() })
	return f
}

// readAll returns the rows a scan yields, boxed, column by column. It reads twice: a scan that borrows its batches must
// yield the same.
func readAll(t testing.TB, f *File, s *Scan) [][]vec.Value {
	t.Helper()
	borrowing := *s
	borrowing.Borrow, borrowing.Counters = true, nil
	want, err := scanAll(f, &borrowing)
	if err != nil {
		t.Fatal(err)
	}
	out, err := scanAll(f, s)
	if err != nil {
		t.Fatal(err)
	}
	compareColumns(t, "a scan that borrows", want, out)
	return out
}

// spoil overwrites what a reader lent, as its next batch may.
func spoil(b *vec.Batch) {
	for _, v := range b.Cols {
		if v.Form == vec.Constant {
			continue
		}
		for i := range v.Data {
			v.Data[i] = 0xa5
		}
		for i := range v.Index {
			v.Index[i] = -1
		}
	}
}

func scanAll(f *File, s *Scan) ([][]vec.Value, error) {
	width := len(s.Columns)
	if s.Position {
		width++
	}
	out := make([][]vec.Value, width)
	var ended *Reader
	for _, m := range f.Morsels() {
		r, err := f.NewReader(s, m)
		if err != nil {
			return nil, err
		}
		if ended != nil {
			for _, rows := range []vec.Selection{ended.sel, ended.except} {
				rows = rows[:cap(rows)]
				for i := range rows {
					rows[i] = -1
				}
			}
			r.TakeOver(ended)
		}
		ended = r
		for {
			b, err := r.Next(context.Background())
			if err != nil {
				return nil, err
			}
			if b == nil {
				break
			}
			rows := b.Compact()
			for i, c := range rows.Cols {
				for row := range c.N {
					out[i] = append(out[i], c.Value(row))
				}
			}
			if r.borrows {
				spoil(b)
			}
		}
	}
	return out, nil
}

// sameValue compares boxed values; NaN equals NaN.
func sameValue(a, b vec.Value) bool {
	if a.Null || b.Null {
		return a.Null == b.Null
	}
	if a.F != a.F && b.F != b.F {
		return true
	}
	if len(a.List) != len(b.List) {
		return false
	}
	for i := range a.List {
		if !sameValue(a.List[i], b.List[i]) {
			return false
		}
	}
	return a.I == b.I && a.Hi == b.Hi && a.F == b.F && a.S == b.S && a.Span == b.Span
}

func compareColumns(t testing.TB, what string, got, want [][]vec.Value) {
	t.Helper()
	for c := range want {
		if len(got[c]) != len(want[c]) {
			t.Fatalf("%s, column %d: %d rows, want %d", what, c, len(got[c]), len(want[c]))
		}
		for i := range want[c] {
			if !sameValue(got[c][i], want[c][i]) {
				t.Fatalf("%s, column %d, row %d: got %+v, want %+v", what, c, i, got[c][i], want[c][i])
			}
		}
	}
}

// boxed returns the counted rows of batches, column by column.
func boxed(batches ...*vec.Batch) [][]vec.Value {
	out := make([][]vec.Value, len(batches[0].Cols))
	for _, b := range batches {
		sel := b.Sel
		if sel == nil {
			sel = b.Except.AppendComplement(nil, b.N)
		}
		for c, v := range b.Cols {
			for _, i := range sel {
				out[c] = append(out[c], v.Value(int(i)))
			}
		}
	}
	return out
}

func allColumns(f *File) []int {
	out := make([]int, len(f.Columns()))
	for i := range out {
		out[i] = i
	}
	return out
}

func newReaderAt(raw []byte) *bytes.Reader { return bytes.NewReader(raw) }
