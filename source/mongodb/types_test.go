package mongodb

import (
	"fmt"
	"math"
	"strings"
	"testing"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"

	"github.com/tidemarkdb/tidemark/extension"
	"github.com/tidemarkdb/tidemark/integration/mongotest"
	"github.com/tidemarkdb/tidemark/vec"
)

// raw returns a value as it stands in a document.
func raw(t testing.TB, x any) value {
	t.Helper()
	document, err := bson.Marshal(bson.D{{Key: "x", Value: x}})
	if err != nil {
		t.Fatal(err)
	}
	v, err := field(document, "x")
	if err != nil {
		t.Fatal(err)
	}
	return v
}

func decimal128(t testing.TB, text string) bson.Decimal128 {
	t.Helper()
	d, err := bson.ParseDecimal128(text)
	if err != nil {
		t.Fatal(err)
	}
	return d
}

var (
	oid       = bson.ObjectID{0x50, 0x7f, 0x1f, 0x77, 0xbc, 0xf8, 0x6c, 0xd7, 0x99, 0x43, 0x90, 0x11}
	uuidBytes = []byte{0x01, 0x23, 0x45, 0x67, 0x89, 0xab, 0xcd, 0xef, 0x01, 0x23, 0x45, 0x67, 0x89, 0xab, 0xcd, 0xef}
	uuidText  = "01234567-89ab-cdef-0123-456789abcdef"
)

func TestEveryTypeIntoEveryColumn(t *testing.T) {
	point := vec.StructType(vec.Field{Name: "x", Type: vec.Int32Type}, vec.Field{Name: "y", Type: vec.TextType})
	date := func(text string) bson.DateTime {
		at, err := time.Parse(time.RFC3339Nano, text)
		if err != nil {
			t.Fatal(err)
		}
		return bson.NewDateTimeFromTime(at)
	}
	const bad = "does not fit: "
	for i, c := range []struct {
		in   any
		to   vec.Type
		want string // text of the result, or bad and the reason
	}{
		{nil, vec.Int32Type, "NULL"},
		{bson.Undefined{}, vec.JSONType, "NULL"},
		{true, vec.BoolType, "t"},
		{1, vec.BoolType, bad + "it is an int"},

		{int32(7), vec.Int16Type, "7"},
		{int32(40000), vec.Int16Type, bad + "it is out of range"},
		{int64(math.MaxInt64), vec.Int64Type, "9223372036854775807"},
		{int64(math.MinInt64), vec.Int64Type, "-9223372036854775808"},
		{int64(1) << 31, vec.Int32Type, bad + "it is out of range"},
		{3.0, vec.Int32Type, "3"},
		{math.Copysign(0, -1), vec.Int32Type, "0"},
		{3.5, vec.Int32Type, bad + "it is not a whole number"},
		{1e300, vec.Int64Type, bad + "it is out of range"},
		{9.2233720368547748e18, vec.Int64Type, "9223372036854774784"},
		{9.223372036854775807e18, vec.Int64Type, bad + "it is out of range"},
		{math.NaN(), vec.Int64Type, bad + "it is NaN"},
		{math.Inf(-1), vec.Int64Type, bad + "it is -Infinity"},
		{decimal128(t, "12.000"), vec.Int64Type, "12"},
		{decimal128(t, "1.5E+3"), vec.Int16Type, "1500"},
		{decimal128(t, "1E+6000"), vec.Int64Type, bad + "it is out of range"},
		{decimal128(t, "0E+6000"), vec.Int64Type, "0"},
		{decimal128(t, "1E-6000"), vec.Int64Type, bad + "it is not a whole number"},
		{"7", vec.Int64Type, bad + "it is a string"},
		{bson.Timestamp{T: 3, I: 4}, vec.Int64Type, "12884901892"},
		{bson.Timestamp{T: math.MaxUint32, I: 4}, vec.Int64Type, bad + "it is out of range"},

		{0.1, vec.Float64Type, "0.1"},
		{math.NaN(), vec.Float64Type, "NaN"},
		{math.Inf(1), vec.Float32Type, "Infinity"},
		{0.1, vec.Float32Type, bad + "it has more digits than a REAL keeps"},
		{0.5, vec.Float32Type, "0.5"},
		{int64(1)<<53 + 1, vec.Float64Type, bad + "it has more digits than a float keeps"},
		{int64(math.MaxInt64), vec.Float64Type, bad + "it has more digits than a float keeps"},
		{int64(1) << 53, vec.Float64Type, "9.007199254740992e+15"},
		{decimal128(t, "0.1"), vec.Float64Type, "0.1"},
		{decimal128(t, "0.12345678901234567890"), vec.Float64Type, bad + "it has more digits than a float keeps"},
		{decimal128(t, "NaN"), vec.Float64Type, "NaN"},
		{decimal128(t, "-Infinity"), vec.Float64Type, "-Infinity"},

		{int32(-5), vec.DecimalType(12, 2), "-5.00"},
		{12.34, vec.DecimalType(12, 2), "12.34"},
		{12.345, vec.DecimalType(12, 2), bad + "it has more than 2 decimal places"},
		{1e10, vec.DecimalType(12, 2), bad + "it is out of range"},
		{decimal128(t, "9999999999.99"), vec.DecimalType(12, 2), "9999999999.99"},
		{decimal128(t, "1.10"), vec.DecimalType(38, 10), "1.1000000000"},
		{decimal128(t, "9999999999999999999999999999999999"), vec.DecimalType(38, 4), "9999999999999999999999999999999999.0000"},
		{decimal128(t, "9999999999999999999999999999999999"), vec.DecimalType(38, 5), bad + "it is out of range"},
		{decimal128(t, "-9999999999999999999999999999999999E-34"), vec.DecimalType(38, 36), "-0.999999999999999999999999999999999900"},
		{decimal128(t, "NaN"), vec.DecimalType(12, 2), bad + "it is NaN"},

		{"naïve", vec.TextType, "naïve"},
		{"bad \xff", vec.TextType, bad + "it holds text that is not valid UTF-8"},
		{bson.Symbol("sym"), vec.TextType, "sym"},
		{oid, vec.TextType, "507f1f77bcf86cd799439011"},
		{int64(5), vec.TextType, "5"},
		{5.0, vec.TextType, "5.0"},
		{1e21, vec.TextType, "1e+21"},
		{decimal128(t, "1.50"), vec.TextType, "1.50"},
		{date("2024-02-29T12:00:00Z"), vec.TextType, "2024-02-29T12:00:00Z"},
		{date("1960-01-01T00:00:00.007Z"), vec.TextType, "1960-01-01T00:00:00.007Z"},
		{bson.Binary{Subtype: 4, Data: uuidBytes}, vec.TextType, uuidText},
		{bson.D{{Key: "a", Value: 1}}, vec.TextType, `{"a":1}`},
		{bson.Regex{Pattern: `a"b`, Options: "i"}, vec.TextType, `{"$regularExpression":{"pattern":"a\"b","options":"i"}}`},

		{bson.Binary{Subtype: 0, Data: []byte{1, 2}}, vec.ByteaType, `\x0102`},
		{bson.Binary{Subtype: 2, Data: []byte{1, 2}}, vec.ByteaType, `\x0102`},
		{oid, vec.ByteaType, `\x507f1f77bcf86cd799439011`},
		{"x", vec.ByteaType, bad + "it is a string"},
		{bson.Binary{Subtype: 4, Data: uuidBytes}, vec.UUIDType, uuidText},
		{bson.Binary{Subtype: 3, Data: uuidBytes}, vec.UUIDType, bad + "it is binary of subtype 3 with 16 bytes, not a UUID"},
		{uuidText, vec.UUIDType, uuidText},
		{"not a uuid", vec.UUIDType, bad + "it is a string that is not a UUID"},

		{date("2024-02-29T12:34:56.789Z"), vec.TimestampTZType, "2024-02-29 12:34:56.789+00"},
		{date("2024-02-29T12:34:56.789Z"), vec.TimestampType, "2024-02-29 12:34:56.789"},
		{date("1969-12-31T23:59:59.999Z"), vec.TimestampTZType, "1969-12-31 23:59:59.999+00"},
		{date("0001-01-01T00:00:00Z"), vec.TimestampTZType, "0001-01-01 00:00:00+00"},
		{bson.DateTime(-62135596800001), vec.TimestampTZType, "0001-12-31 23:59:59.999+00 BC"},
		{bson.DateTime(math.MaxInt64), vec.TimestampTZType, bad + "it is out of range"},
		{bson.DateTime(math.MinInt64), vec.TimestampTZType, bad + "it is out of range"},
		{date("1960-03-01T00:00:00Z"), vec.DateType, "1960-03-01"},
		{date("1960-03-01T00:00:01Z"), vec.DateType, bad + "it is not midnight UTC"},
		{bson.Timestamp{T: 1, I: 1}, vec.TimestampTZType, bad + "it is a timestamp"},

		{bson.D{{Key: "y", Value: "a"}, {Key: "z", Value: 1}}, point, "(,a)"},
		{bson.D{{Key: "x", Value: "a"}}, point, bad + "field x does not fit INTEGER: it is a string"},
		{bson.A{1, 2}, point, bad + "it is an array"},
		{bson.A{1, nil, int64(3)}, vec.ArrayType(vec.Int32Type), "{1,NULL,3}"},
		{bson.A{}, vec.ArrayType(vec.Int32Type), "{}"},
		{bson.A{1, "x"}, vec.ArrayType(vec.Int32Type), bad + "element 1 does not fit INTEGER: it is a string"},
		{bson.A{bson.A{1}, bson.A{2, 3}}, vec.ArrayType(vec.ArrayType(vec.Int32Type)), "{{1},{2,3}}"},
		{7, vec.ArrayType(vec.Int32Type), bad + "it is an int"},

		{"a\"\\\n\x01", vec.JSONType, `"a\"\\\n\u0001"`},
		{int32(1), vec.JSONType, "1"},
		{1.0, vec.JSONType, "1.0"},
		{math.NaN(), vec.JSONType, `{"$numberDouble":"NaN"}`},
		{decimal128(t, "1.10"), vec.JSONType, `{"$numberDecimal":"1.10"}`},
		{oid, vec.JSONType, `{"$oid":"507f1f77bcf86cd799439011"}`},
		{date("2024-01-01T00:00:00.5Z"), vec.JSONType, `{"$date":"2024-01-01T00:00:00.500Z"}`},
		{date("1960-01-01T00:00:00Z"), vec.JSONType, `{"$date":{"$numberLong":"-315619200000"}}`},
		{bson.DateTime(253402300800000), vec.JSONType, `{"$date":{"$numberLong":"253402300800000"}}`},
		{bson.Binary{Subtype: 0x80, Data: []byte("hi")}, vec.JSONType, `{"$binary":{"base64":"aGk=","subType":"80"}}`},
		{bson.Timestamp{T: 1, I: 2}, vec.JSONType, `{"$timestamp":{"t":1,"i":2}}`},
		{bson.JavaScript("f()"), vec.JSONType, `{"$code":"f()"}`},
		{bson.CodeWithScope{Code: "f()", Scope: bson.D{{Key: "a", Value: 1}}}, vec.JSONType, `{"$code":"f()","$scope":{"a":1}}`},
		{bson.Symbol("s"), vec.JSONType, `{"$symbol":"s"}`},
		{bson.DBPointer{DB: "c", Pointer: oid}, vec.JSONType, `{"$dbPointer":{"$ref":"c","$id":{"$oid":"507f1f77bcf86cd799439011"}}}`},
		{bson.MinKey{}, vec.JSONType, `{"$minKey":1}`},
		{bson.MaxKey{}, vec.JSONType, `{"$maxKey":1}`},
		{bson.D{{Key: "u", Value: bson.Undefined{}}, {Key: "n", Value: nil}, {Key: "l", Value: bson.A{1, bson.D{}}}}, vec.JSONType, `{"u":{"$undefined":true},"n":null,"l":[1,{}]}`},
	} {
		d := &decoder{}
		got := ""
		out, err := d.decode(raw(t, c.in), c.to)
		if err != nil {
			got = bad + err.Error()
		} else {
			b := vec.NewBuilder(c.to, 0)
			b.Append(out)
			if v := b.Finish(); v.IsNull(0) {
				got = "NULL"
			} else {
				got = string(vec.AppendText(nil, v, 0))
			}
		}
		if got != c.want {
			t.Errorf("case %d: %T %v into %s:\ngot  %s\nwant %s", i, c.in, c.in, c.to, got, c.want)
		}
	}
}

func TestCanonicalJSONKeepsEveryType(t *testing.T) {
	in := bson.D{{Key: "i", Value: int32(1)}, {Key: "l", Value: int64(2)}, {Key: "d", Value: 1.5}, {Key: "s", Value: "x"}, {Key: "b", Value: true},
		{Key: "t", Value: bson.DateTime(0)}, {Key: "o", Value: oid}, {Key: "m", Value: decimal128(t, "1.10")}, {Key: "r", Value: bson.Regex{Pattern: "a", Options: "i"}},
		{Key: "n", Value: nil}, {Key: "a", Value: bson.A{int32(1), bson.D{}}}, {Key: "x", Value: bson.Binary{Subtype: 4, Data: uuidBytes}}}
	d := &decoder{json: canonical}
	v, err := d.decode(raw(t, in), vec.JSONType)
	if err != nil {
		t.Fatal(err)
	}
	var back bson.D
	if err := bson.UnmarshalExtJSON([]byte(v.S), true, &back); err != nil {
		t.Fatal(err)
	}
	if fmt.Sprintf("%#v", back) != fmt.Sprintf("%#v", in) {
		t.Errorf("%s reads back as\n%#v, not\n%#v", v.S, back, in)
	}
}

// TestKeys checks that _id which MongoDB holds equal have one text, and others different ones.
func TestKeys(t *testing.T) {
	same := [][]any{
		{int32(5), int64(5), 5.0, decimal128(t, "5"), decimal128(t, "5.00"), decimal128(t, "0.5E+1")},
		{0.0, math.Copysign(0, -1), int32(0), decimal128(t, "-0.00")},
		{0.5, decimal128(t, "0.50")}, {0.1}, {decimal128(t, "0.1"), decimal128(t, "0.10")},
		{int64(1) << 60, float64(1 << 60), decimal128(t, "1152921504606846976")},
		{math.Pow(2, 70), decimal128(t, "1180591620717411303424")}, {decimal128(t, "1180591620717411300000")},
		{math.NaN(), decimal128(t, "NaN")}, {math.Inf(1), decimal128(t, "Infinity")},
		{decimal128(t, "1E+6000")}, {decimal128(t, "1E-6000")}, {math.SmallestNonzeroFloat64}, {math.MaxFloat64},
		{"a", bson.Symbol("a")}, {"5"}, {"A"}, {""}, {`{"$oid":"507f1f77bcf86cd799439011"}`}, {"507f1f77bcf86cd799439011"},
		{oid}, {true}, {false}, {bson.DateTime(5)}, {bson.Timestamp{I: 5}},
		{bson.Binary{Subtype: 4, Data: uuidBytes}}, {bson.Binary{Subtype: 3, Data: uuidBytes}}, {bson.Binary{Subtype: 0, Data: uuidBytes}}, {uuidText},
		{bson.D{{Key: "a", Value: 1}, {Key: "b", Value: 2.0}}, bson.D{{Key: "a", Value: 1.0}, {Key: "b", Value: int64(2)}}},
		{bson.D{{Key: "b", Value: 2}, {Key: "a", Value: 1}}}, {bson.D{{Key: "a", Value: "1"}}}, {bson.MinKey{}}, {bson.MaxKey{}},
	}
	type format struct {
		name  string
		write func([]byte, value) ([]byte, error)
		key   func(any) string // what two _id must share to be compared at all
	}
	for _, f := range []format{
		{"json", func(dst []byte, v value) ([]byte, error) { return appendJSON(dst, v, keyed) }, func(any) string { return "" }},
		{"plain", appendPlainKey, func(x any) string { return string(rune(familyOf(raw(t, x).kind))) }},
	} {
		group := map[string]int{}
		for i, class := range same {
			for _, x := range class {
				text, err := f.write(nil, raw(t, x))
				if err != nil {
					t.Fatal(err)
				}
				key := f.key(x) + string(text)
				if was, ok := group[key]; ok && was != i {
					t.Errorf("%s: %v and %v are both %s", f.name, same[was], x, text)
				} else if !ok && len(group) > i && x != class[0] {
					t.Errorf("%s: %v is %s, other than %v", f.name, x, text, class[0])
				}
				group[key] = i
			}
		}
		if len(group) != len(same) {
			t.Errorf("%s: %d texts of %d different _id", f.name, len(group), len(same))
		}
	}
}

// TestSnapshotAndStreamDecodeAlike loads a document of every type and streams another, into columns that take them.
func TestSnapshotAndStreamDecodeAlike(t *testing.T) {
	server := mongotest.Database(t)
	docs := server.Collection("docs")
	document := func(id string) bson.D {
		return bson.D{{Key: "_id", Value: id}, {Key: "i", Value: int32(1)}, {Key: "l", Value: int64(1) << 40}, {Key: "f", Value: 1.25},
			{Key: "dec", Value: decimal128(t, "12.50")}, {Key: "s", Value: "text"}, {Key: "flag", Value: true}, {Key: "at", Value: bson.DateTime(-1)},
			{Key: "raw", Value: bson.Binary{Data: []byte{1}}}, {Key: "u", Value: bson.Binary{Subtype: 4, Data: uuidBytes}}, {Key: "o", Value: oid},
			{Key: "nested", Value: bson.D{{Key: "x", Value: 1}, {Key: "deep", Value: bson.D{{Key: "y", Value: bson.A{1, 2}}}}}},
			{Key: "list", Value: bson.A{"a", "b"}}, {Key: "n", Value: nil}}
	}
	insert(t, docs, document("loaded"))
	spec := target("*_id", vec.TextType, "i", vec.Int32Type, "l", vec.Int64Type, "f", vec.Float64Type, "dec", vec.DecimalType(20, 4), "s", vec.TextType,
		"flag", vec.BoolType, "at", vec.TimestampTZType, "raw", vec.ByteaType, "u", vec.UUIDType, "o", vec.TextType, "nested",
		vec.StructType(vec.Field{Name: "x", Type: vec.Int64Type}), "second", vec.Int32Type, "list", vec.ArrayType(vec.TextType), "n", vec.Int32Type, "missing", vec.TextType, "whole", vec.JSONType)
	m := newMirror(t, server, spec, "document_column", "whole", "fields", "second = nested.deep.y.1")
	m.load()
	m.follow()
	insert(t, docs, document("streamed"))
	m.settle()
	for key, row := range m.rows {
		m.rows[key] = strings.ReplaceAll(row, strings.TrimPrefix(key, "_id="), "?")
	}
	if m.rows["_id=loaded"] != m.rows["_id=streamed"] || !strings.Contains(m.rows["_id=loaded"], "second=2") {
		t.Errorf("loaded   %s\nstreamed %s", m.rows["_id=loaded"], m.rows["_id=streamed"])
	}
	if !strings.Contains(m.rows["_id=loaded"], `whole={"_id":"?","i":1,"l":1099511627776,"f":1.25,"dec":{"$numberDecimal":"12.50"},"s":"text","flag":true,"at":{"$date":{"$numberLong":"-1"}}`) {
		t.Errorf("the document is %s", m.rows["_id=loaded"])
	}
}

func TestMisfits(t *testing.T) {
	server := mongotest.Database(t)
	docs := server.Collection("docs")
	insert(t, docs, bson.M{"_id": 1, "n": 1}, bson.M{"_id": 2, "n": "two", "list": bson.A{1, "x"}})
	columns := []any{"*_id", vec.Int64Type, "n", vec.Int32Type, "list", vec.ArrayType(vec.Int32Type)}
	m := newMirror(t, server, target(columns...))
	permanent(t, m.tryLoad(), `a value of column n (field n) in the snapshot does not fit INTEGER: it is a string`)

	m = newMirror(t, server, target(append(columns, "misfits", vec.TextType)...), "on_misfit", "null", "misfit_column", "misfits")
	m.load()
	m.follow()
	insert(t, docs, bson.M{"_id": 3, "n": 1 << 40}, bson.M{"_id": 4, "n": 4, "list": bson.A{1, 2}})
	m.settle()
	want := map[string]string{
		"_id=1": "_id=1 n=1 list=NULL misfits=NULL", "_id=2": "_id=2 n=NULL list=NULL misfits=n, list",
		"_id=3": "_id=3 n=NULL list=NULL misfits=n", "_id=4": "_id=4 n=4 list={1,2} misfits=NULL",
	}
	if d := difference(m.rows, want); d != "" {
		t.Error(d)
	}
	if log := strings.Join(m.logged, "\n"); !strings.Contains(log, "column n values 1 in the snapshot") || !strings.Contains(log, "column list values 1") {
		t.Errorf("log: %s", log)
	}
	// A key has to fit, whatever on_misfit says.
	insert(t, docs, bson.M{"_id": "five"})
	permanent(t, m.failure(), "declare the key column TEXT")
	if !strings.Contains(strings.Join(m.logged, "\n"), "column n values 1 in the change stream") {
		t.Errorf("log: %q", m.logged)
	}
}

func TestNullInAColumnThatTakesNone(t *testing.T) {
	server := mongotest.Database(t)
	insert(t, server.Collection("docs"), bson.M{"_id": 1, "n": nil})
	m := newMirror(t, server, target("*_id", vec.Int64Type, "!n", vec.Int32Type), "on_misfit", "null")
	permanent(t, m.tryLoad(), `column n is NULL in the document with _id {"$numberInt":"1"}`)
}

func TestMixedKeys(t *testing.T) {
	server := mongotest.Database(t)
	docs := server.Collection("docs")
	m := newMirror(t, server, target("*_id", vec.TextType, "n", vec.Int32Type))
	m.load() // nothing is known of the _id yet
	m.follow()
	insert(t, docs, bson.M{"_id": oid})
	m.settle()
	m.stream.Close()
	m.follow() // the position remembers
	insert(t, docs, bson.M{"_id": oid.Hex()})
	permanent(t, m.failure(), "key_format = 'json'")
	m = newMirror(t, server, target("*_id", vec.TextType, "n", vec.Int32Type))
	permanent(t, m.tryLoad(), "_id that are ObjectIds")

	m = newMirror(t, server, target("*_id", vec.TextType, "n", vec.Int32Type), "key_format", "json", "snapshot_threads", "2")
	m.source.partDocuments = 1
	insert(t, docs, bson.M{"_id": 1}, bson.M{"_id": "1"}, bson.M{"_id": bson.D{{Key: "a", Value: 1}}}, bson.M{"_id": true}, bson.M{"_id": 2.5}, bson.M{"_id": bson.DateTime(7)})
	m.load()
	if len(m.rows) != 8 || m.rows[`_id="1"`] == "" || m.rows["_id=1"] == "" || m.rows[`_id={"$oid":"507f1f77bcf86cd799439011"}`] == "" || m.rows[`_id={"a":1}`] == "" {
		t.Errorf("%v", m.rows)
	}
	m.follow()
	remove(t, docs, "1")
	set(t, docs, 1, bson.D{{Key: "n", Value: 1}})
	insert(t, docs, bson.M{"_id": "2.5"})
	m.settle()
}

// TestShardKeys feeds a stream the changes of a collection that is sharded by another field than _id.
func TestShardKeys(t *testing.T) {
	change := func(id int) []byte {
		raw, err := bson.Marshal(bson.D{{Key: "_id", Value: bson.D{{Key: "_data", Value: fmt.Sprintf("82%08X", id)}}}, {Key: "operationType", Value: "insert"},
			{Key: "clusterTime", Value: bson.Timestamp{T: uint32(id)}}, {Key: "fullDocument", Value: bson.D{{Key: "_id", Value: id}, {Key: "zip", Value: 7}}},
			{Key: "documentKey", Value: bson.D{{Key: "zip", Value: 7}, {Key: "_id", Value: id}}}})
		if err != nil {
			t.Fatal(err)
		}
		return raw
	}
	s := bareStream(t, map[string]string{}, target("*_id", vec.Int64Type, "zip", vec.Int32Type))
	permanent(t, s.handle(background, change(1)), "unique_id = 'on'")
	s = bareStream(t, map[string]string{"unique_id": "on"}, target("*_id", vec.Int64Type, "zip", vec.Int32Type))
	if err := s.handle(background, change(1)); err != nil {
		t.Fatal(err)
	}
	if c := s.run.take(); c.Rows() != 1 || !c.Boundary || c.Inserts != 1 {
		t.Errorf("%+v", c)
	}
}

// bareStream is a stream without a server.
func bareStream(t testing.TB, options map[string]string, spec extension.TableSpec) *stream {
	t.Helper()
	for name, value := range map[string]string{"connection": "mongodb://127.0.0.1:1", "database": "d", "collection": "c"} {
		options[name] = value
	}
	c, err := parseConfig(options)
	if err != nil {
		t.Fatal(err)
	}
	l, err := c.plan(spec)
	if err != nil {
		t.Fatal(err)
	}
	at := position{UUID: bson.Binary{Subtype: 4, Data: make([]byte, 16)}}
	return &stream{
		source: &source{config: c, log: func(string, ...any) {}}, table: &collection{}, run: &run{rows: newRows(c, l, &families{})}, handled: true,
		scanned: at, reported: at, at: time.Now(), logged: time.Now(),
	}
}
