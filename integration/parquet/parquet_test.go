package parquet

import (
	"bytes"
	"context"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"math"
	"math/rand/v2"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/tidemarkdb/tidemark/integration/pyvenv"
	"github.com/tidemarkdb/tidemark/objstore"
	"github.com/tidemarkdb/tidemark/parquetstore"
	"github.com/tidemarkdb/tidemark/tablet"
	"github.com/tidemarkdb/tidemark/vec"
)

func python(t *testing.T, into any, args ...string) {
	t.Helper()
	cmd := exec.Command(pyvenv.Python(t), args...)
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("%v: %v\n%s", args, err, stderr.Bytes())
	}
	if err := json.Unmarshal(out, into); err != nil {
		t.Fatalf("%v: %v\n%.2000s", args, err, out)
	}
}

// canonical returns a value as canonical.py writes it.
func canonical(v vec.Value) any {
	if v.Null {
		return nil
	}
	switch v.Type.Phys() {
	case vec.PhysBool:
		return strconv.FormatBool(v.I != 0)
	case vec.PhysFloat32:
		if v.F != v.F {
			return "nan"
		}
		return fmt.Sprintf("%08x", math.Float32bits(float32(v.F)))
	case vec.PhysFloat64:
		if v.F != v.F {
			return "nan"
		}
		return fmt.Sprintf("%016x", math.Float64bits(v.F))
	case vec.PhysInt128:
		if v.Type.ID == vec.UUID {
			return fmt.Sprintf("%016x%016x", uint64(v.Hi), uint64(v.I))
		}
		return unscaled(v.Int128())
	case vec.PhysInterval:
		b := vec.AsBytes([]vec.IntervalValue{v.Span})
		return hex.EncodeToString(b)
	case vec.PhysBytes:
		if v.Type.ID == vec.Bytea {
			return hex.EncodeToString([]byte(v.S))
		}
		return v.S
	case vec.PhysList, vec.PhysStruct:
		out := []any{}
		for _, e := range v.List {
			out = append(out, canonical(e))
		}
		return out
	}
	return strconv.FormatInt(v.I, 10)
}

func unscaled(x vec.Int128) string {
	if n, ok := x.Int64(); ok {
		return strconv.FormatInt(n, 10)
	}
	ten := vec.Int128{Lo: 1_000_000_000_000_000_000}
	q, r := vec.DivInt128(x, ten)
	low := int64(r.Lo)
	return fmt.Sprintf("%s%018d", unscaled(q), max(low, -low))
}

// same compares canonical values; the -0 of one writer may be the 0 of another only where bits say so.
func same(a, b any) bool {
	x, err1 := json.Marshal(a)
	y, err2 := json.Marshal(b)
	return err1 == nil && err2 == nil && bytes.Equal(x, y)
}

func compare(t *testing.T, what string, names []string, got, want [][]any) {
	t.Helper()
	if len(got) != len(want) {
		t.Fatalf("%s: %d columns, want %d", what, len(got), len(want))
	}
	for c := range want {
		if len(got[c]) != len(want[c]) {
			t.Errorf("%s, column %s: %d rows, want %d", what, names[c], len(got[c]), len(want[c]))
			continue
		}
		for i := range want[c] {
			if !same(got[c][i], want[c][i]) {
				t.Errorf("%s, column %s, row %d: got %v, want %v", what, names[c], i, got[c][i], want[c][i])
				break
			}
		}
	}
}

func read(t *testing.T, f *parquetstore.File) [][]any {
	t.Helper()
	scan := &parquetstore.Scan{}
	for i := range f.Columns() {
		scan.Columns = append(scan.Columns, i)
	}
	out := make([][]any, len(scan.Columns))
	for _, m := range f.Morsels() {
		r, err := f.NewReader(scan, m)
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
			for i, c := range b.Cols {
				for row := range c.N {
					out[i] = append(out[i], canonical(c.Value(row)))
				}
			}
		}
	}
	return out
}

func TestWeReadTheFilesOfOthers(t *testing.T) {
	folder := t.TempDir()
	var files map[string][2]json.RawMessage
	python(t, &files, "write.py", folder)
	store, err := objstore.OpenLocal(folder)
	if err != nil {
		t.Fatal(err)
	}
	if len(files) < 20 {
		t.Fatalf("only %d files", len(files))
	}
	for name, parts := range files {
		t.Run(name, func(t *testing.T) {
			var names []string
			var want [][]any
			if json.Unmarshal(parts[0], &names) != nil || json.Unmarshal(parts[1], &want) != nil {
				t.Fatal("the expected rows are not in the form they should have")
			}
			f, err := parquetstore.Open(context.Background(), store, name, parquetstore.OpenOptions{})
			if err != nil {
				t.Fatal(err)
			}
			defer f.Close()
			for i, c := range f.Columns() {
				if c.Name != names[i] {
					t.Errorf("column %d is called %q, want %q", i, c.Name, names[i])
				}
			}
			compare(t, name, names, read(t, f), want)
		})
	}
}

// ourTypes are the columns of the file others read.
var ourTypes = []vec.Type{
	vec.BoolType, vec.Int16Type, vec.Int32Type, vec.Int64Type, vec.Float32Type, vec.Float64Type, vec.DecimalType(9, 2),
	vec.DecimalType(18, 4), vec.DecimalType(19, 3), vec.DecimalType(38, 10), vec.TextType, vec.ByteaType, vec.DateType,
	vec.TimeType, vec.TimestampType, vec.TimestampTZType, vec.UUIDType, vec.JSONType, vec.Int64Type, vec.Int64Type,
	vec.ArrayType(vec.Int32Type), vec.ArrayType(vec.ArrayType(vec.TextType)),
	vec.StructType(vec.Field{Name: "a", Type: vec.Int64Type}, vec.Field{Name: "b", Type: vec.ArrayType(vec.DateType)}),
}

func ourValue(r *rand.Rand, t vec.Type, row, card int) vec.Value {
	v := vec.Value{Type: t}
	x := r.Int64()
	if card > 0 {
		x = int64(r.IntN(card)) * 1_000_003
	}
	switch t.ID {
	case vec.Bool:
		v.I = x & 1
	case vec.Int16:
		v.I = int64(int16(x))
	case vec.Int32:
		v.I = int64(int32(x))
	case vec.Int64:
		v.I = x
	case vec.Float32:
		v.F = float64(float32(x) / 7)
	case vec.Float64:
		v.F = float64(x) / 7
	case vec.Decimal:
		v.I = x % int64(math.Pow10(min(int(t.Precision), 18)))
		v.Hi = v.I >> 63
		if t.Precision == 38 {
			v.Hi = x % (1 << 50)
		}
	case vec.Text:
		v.S = fmt.Sprintf("%x täxt", uint64(x)%uint64(max(card, 1<<40)))
	case vec.Bytea:
		v.S = strconv.FormatInt(x, 36)
	case vec.JSON:
		v.S = fmt.Sprintf(`{"n":%d}`, x)
	case vec.Date:
		v.I = x % 20000
	case vec.Time:
		v.I = max(x, -x) % 86_400_000_000
	case vec.Timestamp, vec.TimestampTZ:
		v.I = x % 4_000_000_000_000_000
	case vec.UUID:
		v.I, v.Hi = x, x*31
	case vec.Array:
		v.List = []vec.Value{}
		for k := range r.IntN(4) {
			if k == 2 {
				v.List = append(v.List, vec.NullValue(*t.Elem))
			} else {
				v.List = append(v.List, ourValue(r, *t.Elem, row, card))
			}
		}
	case vec.Struct:
		for _, f := range t.Fields {
			v.List = append(v.List, ourValue(r, f.Type, row, card))
		}
	}
	return v
}

func TestOthersReadOurFiles(t *testing.T) {
	for i, o := range []parquetstore.Options{
		{}, {}, {Codec: parquetstore.Zstd, PageRows: 500}, {Codec: parquetstore.Uncompressed, RowGroupRows: 3000, PageBytes: 2000},
	} {
		card := []int{0, 5, 300}[i%3]
		t.Run(fmt.Sprintf("options %d, %d distinct", i, card), func(t *testing.T) { othersRead(t, o, card) })
	}
}

func othersRead(t *testing.T, o parquetstore.Options, card int) {
	const rows = 10000
	r := rand.New(rand.NewPCG(uint64(card), 9))
	folder := t.TempDir()
	store, err := objstore.OpenLocal(folder)
	if err != nil {
		t.Fatal(err)
	}
	var columns []tablet.Column
	var names []string
	for i, typ := range ourTypes {
		name := fmt.Sprintf("c%d_%s", i, typ)
		names = append(names, name)
		columns = append(columns, tablet.Column{FieldID: int32(i + 1), Name: name, Type: typ, Nullable: i != 18})
	}
	want := make([][]any, len(columns))
	w, err := parquetstore.NewWriter(context.Background(), store, "ours.parquet", columns, o)
	if err != nil {
		t.Fatal(err)
	}
	for from := 0; from < rows; from += 2500 {
		b := &vec.Batch{N: 2500}
		for i, typ := range ourTypes {
			x := vec.NewBuilder(typ, b.N)
			for k := range b.N {
				v := ourValue(r, typ, from+k, card)
				switch {
				case i == 18:
					v.I = int64(from+k) * 3 // a sequence
				case r.IntN(10) == 0:
					v = vec.NullValue(typ)
				}
				x.Append(v)
				want[i] = append(want[i], canonical(v))
			}
			b.Cols = append(b.Cols, x.Finish())
		}
		if err := w.Write(b); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := w.Close(); err != nil {
		t.Fatal(err)
	}
	var got map[string]json.RawMessage
	python(t, &got, "read.py", filepath.Join(folder, "ours.parquet"), "pyarrow,duckdb,polars", "pruned")
	for _, reader := range []string{"pyarrow", "duckdb", "polars"} {
		var rows [][]any
		if err := json.Unmarshal(got[reader], &rows); err != nil {
			t.Fatal(err)
		}
		for i, v := range rows[16] { // DuckDB gives UUIDs as text
			if s, ok := v.(string); ok && len(s) == 36 {
				rows[16][i] = strings.ReplaceAll(s, "-", "")
			}
		}
		for i, v := range rows[17] { // polars gives JSON as bytes
			if s, ok := v.(string); ok && reader == "polars" {
				raw, err := hex.DecodeString(s)
				if err != nil {
					t.Fatal(err)
				}
				rows[17][i] = string(raw)
			}
		}
		compare(t, reader, names, rows, want)
	}
	var ids []int32
	if err := json.Unmarshal(got["field_ids"], &ids); err != nil {
		t.Fatal(err)
	}
	for i, id := range ids {
		if id != int32(i+1) {
			t.Errorf("column %d has field id %d", i, id)
		}
	}
	var pruned map[string]any
	if err := json.Unmarshal(got["pruned"], &pruned); err != nil {
		t.Fatal(err)
	}
	for name, counts := range pruned {
		if pair, ok := counts.([]any); ok && (pair[0] != pair[1] || pair[0] == 0.0) {
			t.Errorf("DuckDB finds %v rows of the least %s through statistics, %v without", pair[1], name, pair[0])
		}
	}
}
