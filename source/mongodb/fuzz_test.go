package mongodb

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"

	"github.com/tidemarkdb/tidemark/vec"
)

// everything is a document with a value of every type.
func everything(t testing.TB) bson.D {
	return bson.D{{Key: "_id", Value: oid}, {Key: "a", Value: int32(1)}, {Key: "b", Value: int64(2)}, {Key: "c", Value: 2.5}, {Key: "d", Value: decimal128(t, "1.5")},
		{Key: "e", Value: "text"}, {Key: "f", Value: true}, {Key: "g", Value: bson.DateTime(5)}, {Key: "h", Value: bson.Binary{Subtype: 4, Data: uuidBytes}},
		{Key: "i", Value: bson.D{{Key: "x", Value: 1}, {Key: "y", Value: "z"}}}, {Key: "j", Value: bson.A{1, 2}}, {Key: "k", Value: bson.Regex{Pattern: "a", Options: "i"}},
		{Key: "l", Value: bson.Timestamp{T: 1, I: 2}}, {Key: "m", Value: bson.JavaScript("f")}, {Key: "n", Value: bson.CodeWithScope{Code: "f", Scope: bson.D{}}},
		{Key: "o", Value: bson.Symbol("s")}, {Key: "p", Value: bson.DBPointer{DB: "c", Pointer: oid}}, {Key: "q", Value: bson.MinKey{}}, {Key: "r", Value: nil}, {Key: "s", Value: bson.Undefined{}}}
}

// FuzzEvents feeds a stream change events: no input may panic, and what gets through has whole rows and valid JSON.
func FuzzEvents(f *testing.F) {
	types := []vec.Type{vec.Int32Type, vec.Int64Type, vec.Float64Type, vec.DecimalType(38, 4), vec.TextType, vec.BoolType, vec.TimestampTZType, vec.UUIDType,
		vec.StructType(vec.Field{Name: "x", Type: vec.Int16Type}, vec.Field{Name: "y", Type: vec.TextType}), vec.ArrayType(vec.Int64Type), vec.ByteaType, vec.DateType}
	columns := []any{"*_id", vec.TextType, "doc", vec.JSONType}
	for i, typ := range types {
		columns = append(columns, string(rune('a'+i)), typ)
	}
	spec := target(columns...)
	document := everything(f)
	event := func(op string, more ...bson.E) []byte {
		d := bson.D{{Key: "_id", Value: bson.D{{Key: "_data", Value: "820000000500000001"}}}, {Key: "operationType", Value: op}, {Key: "clusterTime", Value: bson.Timestamp{T: 5, I: 1}},
			{Key: "documentKey", Value: bson.D{{Key: "_id", Value: oid}}}}
		raw, err := bson.Marshal(append(d, more...))
		if err != nil {
			f.Fatal(err)
		}
		return raw
	}
	f.Add(event("insert", bson.E{Key: "fullDocument", Value: document}))
	f.Add(event("update", bson.E{Key: "fullDocument", Value: nil}))
	f.Add(event("delete"))
	f.Add(event("update", bson.E{Key: "fullDocument", Value: document}, bson.E{Key: "lsid", Value: bson.D{}}, bson.E{Key: "txnNumber", Value: int64(1)}))
	f.Add(event("insert", bson.E{Key: "splitEvent", Value: bson.D{{Key: "fragment", Value: int32(1)}, {Key: "of", Value: int32(2)}}}))
	f.Fuzz(func(t *testing.T, data []byte) {
		for _, options := range []map[string]string{{"document_column": "doc", "on_misfit": "null"}, {"document_column": "doc", "key_format": "json", "json_format": "canonical"}} {
			s := bareStream(t, options, spec)
			if ended := strings.Contains(string(data), opDrop) || strings.Contains(string(data), opRename) || strings.Contains(string(data), opInvalidate); ended {
				return // which asks the server
			}
			for range 2 {
				if s.handle(background, data) != nil {
					break
				}
			}
			c := s.run.take()
			if c == nil {
				continue
			}
			for i, col := range c.Cols {
				if col.N != len(c.Ops) {
					t.Fatalf("column %d has %d of %d rows", i, col.N, len(c.Ops))
				}
			}
			for i := range c.Ops {
				if doc := c.Cols[1]; !doc.IsNull(i) && !json.Valid(vec.AppendText(nil, doc, i)) {
					t.Fatalf("not JSON: %s", vec.AppendText(nil, doc, i))
				}
			}
		}
	})
}

// TestEverythingDamaged flips every byte of a change and cuts it everywhere: an error or a row, never a panic.
func TestEverythingDamaged(t *testing.T) {
	change, err := bson.Marshal(bson.D{{Key: "_id", Value: bson.D{{Key: "_data", Value: "820000000500000001"}}}, {Key: "operationType", Value: "insert"},
		{Key: "clusterTime", Value: bson.Timestamp{T: 5, I: 1}}, {Key: "documentKey", Value: bson.D{{Key: "_id", Value: oid}}}, {Key: "fullDocument", Value: everything(t)}})
	if err != nil {
		t.Fatal(err)
	}
	faults := 0
	try := func(data []byte) {
		s := bareStream(t, map[string]string{"document_column": "doc", "on_misfit": "null"}, target("*_id", vec.TextType, "doc", vec.JSONType, "a", vec.Int32Type, "e", vec.TextType))
		if err := s.handle(background, data); err != nil {
			faults++
		}
	}
	for i := range change {
		for _, flip := range []byte{1, 0x80, 0xff} {
			data := append([]byte(nil), change...)
			data[i] ^= flip
			try(data)
		}
		try(change[:i])
	}
	if faults < len(change) {
		t.Errorf("%d faults in %d bytes", faults, len(change))
	}
	deep := bson.D{}
	for range maxDepth + 10 {
		deep = bson.D{{Key: "d", Value: deep}}
	}
	if _, err := appendJSON(nil, raw(t, deep), relaxed); err != errDepth {
		t.Errorf("got %v", err)
	}
}

// BenchmarkDocuments measures the decoding of documents alone.
func BenchmarkDocuments(b *testing.B) {
	document, err := bson.Marshal(bson.D{{Key: "_id", Value: int64(7)}, {Key: "customer", Value: int64(12345)}, {Key: "amount", Value: 12.5}, {Key: "note", Value: "twenty bytes of text"},
		{Key: "at", Value: bson.NewDateTimeFromTime(time.Now())}, {Key: "address", Value: bson.D{{Key: "city", Value: "Ghent"}, {Key: "zip", Value: "9000"}}}})
	if err != nil {
		b.Fatal(err)
	}
	for _, whole := range []bool{false, true} {
		b.Run(fmt.Sprintf("whole document %v", whole), func(b *testing.B) {
			columns, options := []any{"*_id", vec.Int64Type, "customer", vec.Int64Type, "amount", vec.DecimalType(12, 2), "note", vec.TextType, "at", vec.TimestampTZType, "city", vec.TextType}, map[string]string{"fields": "city = address.city"}
			if whole {
				columns, options["document_column"] = append(columns, "doc", vec.JSONType), "doc"
			}
			s := bareStream(b, options, target(columns...))
			b.ReportAllocs()
			for i := range b.N {
				if err := s.run.add(document, ""); err != nil {
					b.Fatal(err)
				}
				if i%8192 == 8191 {
					s.run.finish(8192)
				}
			}
		})
	}
}
