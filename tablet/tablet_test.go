package tablet

import (
	"encoding/json"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/tidemarkdb/tidemark/vec"
)

func TestIDsAreDistinctAndSortByAge(t *testing.T) {
	before := time.Now().Add(-time.Millisecond)
	var mu sync.Mutex
	seen := map[ID]bool{}
	var wg sync.WaitGroup
	for range 4 {
		wg.Go(func() {
			last := ID(0)
			for range 2000 {
				id := NewID()
				if id <= last || id.Time().Before(before) {
					t.Errorf("%s after %s", id, last)
				}
				last = id
				mu.Lock()
				if seen[id] {
					t.Errorf("%s twice", id)
				}
				seen[id] = true
				mu.Unlock()
			}
		})
	}
	wg.Wait()
}

func TestIDText(t *testing.T) {
	for _, id := range []ID{0, 1, 0xdeadbeef, math.MaxUint64} {
		got, err := ParseID(id.String())
		if err != nil || got != id || len(id.String()) != 16 {
			t.Errorf("ParseID(%s) = %v, %v", id, got, err)
		}
	}
	for _, bad := range []string{"", "1", "00000000DEADBEEF", "000000000000000g", "00000000000000001", "+000000000000001", "0x00000000000001"} {
		if _, err := ParseID(bad); err == nil {
			t.Errorf("ParseID(%q) passed", bad)
		}
	}
}

func TestPathsAreTheirOwnInverse(t *testing.T) {
	for _, path := range []string{
		ParquetPath(3, 7), SidecarPath(3, 7), RunPath(3, 7), MaskPath(9),
	} {
		f := ParsePath(path)
		if f.Kind == UnknownFile || f.Path() != path {
			t.Errorf("%s parses to %+v, which is %q", path, f, f.Path())
		}
	}
	for _, path := range []string{"", "log/1", "tables/x/1.parquet", "tables/0000000000000003/7.parquet", "masks/x", MaskPath(9) + "x",
		TableDir(3) + "runs/x.keys", TableDir(3) + "0000000000000007.txt", "x" + MaskPath(9)} {
		if f := ParsePath(path); f.Kind != UnknownFile || f.Path() != "" {
			t.Errorf("%q parses to %+v", path, f)
		}
	}
}

var someTypes = []vec.Type{
	vec.BoolType, vec.Int16Type, vec.Int32Type, vec.Int64Type, vec.Float32Type, vec.Float64Type, vec.DecimalType(12, 2), vec.DecimalType(38, 0),
	vec.TextType, vec.ByteaType, vec.DateType, vec.TimeType, vec.TimeTZType, vec.TimestampType, vec.TimestampTZType, vec.IntervalType, vec.UUIDType, vec.JSONType,
	vec.ArrayType(vec.ArrayType(vec.DecimalType(5, 1))), vec.StructType(vec.Field{Name: "a", Type: vec.Int64Type}, vec.Field{Name: "b", Type: vec.ArrayType(vec.TextType)}),
}

func TestColumnsKeepTheirTypes(t *testing.T) {
	for _, typ := range someTypes {
		c := Column{FieldID: 4, Name: "c", Type: typ, Nullable: true, Default: "1 + 1", Initial: "2"}
		data, err := json.Marshal(c)
		if err != nil {
			t.Fatal(err)
		}
		var got Column
		if err := json.Unmarshal(data, &got); err != nil {
			t.Fatalf("%s: %v", data, err)
		}
		if !got.Type.Equal(typ) || got.FieldID != 4 || got.Name != "c" || !got.Nullable || got.Default != "1 + 1" || got.Initial != "2" {
			t.Errorf("%s became %+v", data, got)
		}
	}
}

func TestStoredTypeNamesStay(t *testing.T) {
	for want, typ := range map[string]vec.Type{
		`{"t":"int64"}`:                     vec.Int64Type,
		`{"t":"decimal","p":12,"s":2}`:      vec.DecimalType(12, 2),
		`{"t":"timestamptz"}`:               vec.TimestampTZType,
		`{"t":"timetz"}`:                    vec.TimeTZType,
		`{"t":"array","elem":{"t":"text"}}`: vec.ArrayType(vec.TextType),
		`{"t":"struct","fields":[{"name":"x","type":{"t":"date"}}]}`: vec.StructType(vec.Field{Name: "x", Type: vec.DateType}),
	} {
		if got, err := EncodeType(typ); err != nil || string(got) != want {
			t.Errorf("EncodeType(%s) = %s, %v, want %s", typ, got, err, want)
		}
	}
	if len(storedTypeName) != int(vec.TimeTZ)+1 {
		t.Errorf("%d types have a stored name, there are %d", len(storedTypeName), vec.TimeTZ+1)
	}
	for _, bad := range []string{`{}`, `{"t":"int65"}`, `{"t":"array"}`, `{"t":"int64","elem":{"t":"int64"}}`, `{"t":"decimal","p":39}`, `{"t":"decimal","p":3,"s":4}`,
		`{"t":"int64","new":1}`, strings.Repeat(`{"t":"array","elem":`, 70) + `{"t":"text"}` + strings.Repeat("}", 70)} {
		if got, err := DecodeType([]byte(bad)); err == nil {
			t.Errorf("DecodeType(%.60s) = %s", bad, got)
		}
	}
}

func TestCutBoundsStillBound(t *testing.T) {
	long := strings.Repeat("x", MaxBoundBytes)
	for _, v := range []string{"", "abc", long, long + "y", strings.Repeat("\xff", 10) + long, long[1:] + "\xff\xff", strings.Repeat("\xff", 200)} {
		lower, upper := CutLower(v), CutUpper(v)
		if lower.Bytes() > v || len(lower.Bytes()) > MaxBoundBytes || lower.Exact != (lower.Bytes() == v) {
			t.Errorf("CutLower(%q) = %+v", v, lower)
		}
		if upper.Known() && (upper.Bytes() < v || len(upper.Bytes()) > MaxBoundBytes || upper.Exact != (upper.Bytes() == v)) {
			t.Errorf("CutUpper(%q) = %+v", v, upper)
		}
	}
	if CutUpper(strings.Repeat("\xff", 200)).Known() {
		t.Error("nothing of 64 bytes is above 200 bytes of 0xff")
	}
}

func TestBoundsCompareByValue(t *testing.T) {
	ascending := [][]Bound{
		{MakeInt(math.MinInt64, true), MakeInt(-1, false), MakeInt(0, true), MakeInt(math.MaxInt64, true)},
		{MakeFloat(math.Inf(-1), true), MakeFloat(-0.5, true), MakeFloat(0, true), MakeFloat(math.Inf(1), true)},
		{MakeInt128(-1, 0, true), MakeInt128(-1, math.MaxUint64, true), MakeInt128(0, 0, true), MakeInt128(0, math.MaxUint64, true), MakeInt128(1, 0, true)},
		{MakeBytes("", true), MakeBytes("a", true), MakeBytes("a\x00", true), MakeBytes("\xff", true)},
	}
	for _, list := range ascending {
		for i, a := range list {
			for j, b := range list {
				if order, ok := a.Compare(b); !ok || order != int(sign(i-j)) {
					t.Errorf("%+v to %+v: %d, %t", a, b, order, ok)
				}
			}
		}
	}
	if _, ok := MakeInt(1, true).Compare(MakeFloat(1, true)); ok {
		t.Error("an integer compares with a float")
	}
	if MakeFloat(math.NaN(), true).Known() {
		t.Error("NaN bounds something")
	}
}

func sign(n int) int {
	switch {
	case n < 0:
		return -1
	case n > 0:
		return 1
	}
	return 0
}

func someDesc(random *rand.Rand) *Desc {
	columns := []ColumnStats{
		{FieldID: 3, Min: MakeInt(-5, true), Max: MakeInt(random.Int64(), true), NullCount: 7},
		{FieldID: 1, Min: MakeBytes("a", true), Max: CutUpper(strings.Repeat("z", 100)), Distinct: []byte{1, 2, 3}},
		{FieldID: 9, Min: MakeFloat(-1.5, true), Max: MakeFloat(math.Inf(1), true), NaNCount: 2},
		{FieldID: OpFieldID, Min: MakeInt128(-1, 5, false), NullCount: 1 << 40},
	}
	return &Desc{
		ID: NewID(), Rows: random.Int64N(1 << 40), FileBytes: 123, Checksum: random.Uint64(), SidecarBytes: 77, SidecarSum: random.Uint64(),
		MinSeq: -3, MaxSeq: 1 << 50, Deletes: 5, Sorted: []int32{3, 1}, SchemaVersion: 8, Stats: MakeStats(columns),
	}
}

func TestDescSurvivesItsEncodings(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	for _, d := range []*Desc{someDesc(random), someDesc(random), {}, {ID: 1, Sorted: []int32{}}} {
		data, err := d.MarshalBinary()
		if err != nil {
			t.Fatal(err)
		}
		got, err := DecodeDesc(string(data))
		if err != nil || !got.Equal(d) {
			t.Errorf("%+v became %+v, %v", d, got, err)
		}
		text, err := json.Marshal(d)
		if err != nil {
			t.Fatal(err)
		}
		var fromText Desc
		if err := json.Unmarshal(text, &fromText); err != nil || !fromText.Equal(d) {
			t.Errorf("%+v became %+v, %v", d, fromText, err)
		}
		for n := range data {
			if _, err := DecodeDesc(string(data[:n])); err == nil {
				t.Errorf("the first %d of %d bytes decode", n, len(data))
			}
		}
		if _, err := DecodeDesc(string(data) + "x"); err == nil {
			t.Error("a byte too many decodes")
		}
	}
	if _, err := (&Desc{Rows: -1}).MarshalBinary(); err == nil {
		t.Error("a negative count is encoded")
	}
}

func TestStatsLookUp(t *testing.T) {
	d := someDesc(rand.New(rand.NewPCG(1, 3)))
	for _, id := range []int32{1, 3, 9, OpFieldID} {
		if c, ok := d.Stats.Column(id); !ok || c.FieldID != id {
			t.Errorf("Column(%d) = %+v, %t", id, c, ok)
		}
	}
	for _, id := range []int32{0, 2, 10, OpFieldID + 1} {
		if c, ok := d.Stats.Column(id); ok {
			t.Errorf("Column(%d) = %+v", id, c)
		}
	}
	c, _ := d.Stats.Column(1)
	if c.Min != MakeBytes("a", true) || c.Max.Exact || !slices.Equal(c.Distinct, []byte{1, 2, 3}) {
		t.Errorf("Column(1) = %+v", c)
	}
	var ids []int32
	for c := range d.Stats.All() {
		ids = append(ids, c.FieldID)
	}
	if !slices.Equal(ids, []int32{1, 3, 9, OpFieldID}) {
		t.Errorf("All yields %v", ids)
	}
	if _, ok := (Stats{}).Column(1); ok || (Stats{}).Len() != 0 {
		t.Error("no statistics know a column")
	}
}

func FuzzDecodeDesc(f *testing.F) {
	data, err := someDesc(rand.New(rand.NewPCG(1, 4))).MarshalBinary()
	if err != nil {
		f.Fatal(err)
	}
	f.Add(data)
	f.Add([]byte{})
	f.Fuzz(func(t *testing.T, data []byte) {
		d, err := DecodeDesc(string(data))
		if err != nil {
			return
		}
		for c := range d.Stats.All() {
			if _, ok := d.Stats.Column(c.FieldID); !ok {
				t.Errorf("field %d is listed and not found", c.FieldID)
			}
		}
		again, err := d.MarshalBinary()
		if err != nil {
			t.Fatal(err)
		}
		if got, err := DecodeDesc(string(again)); err != nil || !got.Equal(d) {
			t.Errorf("decoded %+v, encoded and decoded again %+v, %v", d, got, err)
		}
	})
}
