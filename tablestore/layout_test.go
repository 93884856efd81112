package tablestore

import (
	"testing"

	"github.com/tidemarkdb/tidemark/catalog"
	"github.com/tidemarkdb/tidemark/maskindex"
	"github.com/tidemarkdb/tidemark/tablet"
	"github.com/tidemarkdb/tidemark/vec"
)

// TestKeysThatMayBeDeclaredCanBeIndexed compares what CREATE CDC TABLE takes with what the key index takes.
func TestKeysThatMayBeDeclaredCanBeIndexed(t *testing.T) {
	for _, typ := range []vec.Type{
		vec.BoolType, vec.Int16Type, vec.Int32Type, vec.Int64Type, vec.Float32Type, vec.Float64Type, vec.DecimalType(9, 2), vec.DecimalType(38, 2),
		vec.DateType, vec.TimeType, vec.TimeTZType, vec.TimestampType, vec.TimestampTZType, vec.IntervalType, vec.UUIDType, vec.TextType, vec.ByteaType,
		vec.JSONType, vec.ArrayType(vec.TextType),
	} {
		create := &catalog.CreateTable{ID: tablet.NewTableID(), Definition: catalog.Definition{
			Schema: catalog.DefaultSchema, Name: "t", Kind: catalog.CDC, MergeMode: catalog.MergeWrite,
			Columns: []tablet.Column{{Name: "k", FieldID: 1, Type: typ}}, MergeKey: []int32{1},
		}}
		if _, err := create.Resolve(); (err == nil) != maskindex.KeyType(typ) {
			t.Errorf("%s: indexed %v, declared with %v", typ, maskindex.KeyType(typ), err)
		}
	}
}
