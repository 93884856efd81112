package cdc

import (
	"fmt"
	"testing"
	"time"

	"github.com/tidemarkdb/tidemark/extension"
	. "github.com/tidemarkdb/tidemark/integration/enginetest"
	"github.com/tidemarkdb/tidemark/integration/scripted"
	"github.com/tidemarkdb/tidemark/sqlerr"
	"github.com/tidemarkdb/tidemark/vec"
)

// TestKeysOfEveryType loads, updates, deletes and folds tables keyed by each type that read mode supports, and by those
// that write mode adds.
func TestKeysOfEveryType(t *testing.T) {
	for name, c := range map[string]struct {
		typ    vec.Type
		values [4]string
		write  bool
	}{
		"BOOLEAN":          {vec.BoolType, [4]string{"true", "false", "", ""}, false},
		"INTEGER":          {vec.Int32Type, [4]string{"-2147483648", "2147483647", "0", "7"}, false},
		"BIGINT":           {vec.Int64Type, [4]string{"-9223372036854775808", "9223372036854775807", "0", "7"}, false},
		"DATE":             {vec.DateType, [4]string{"0001-01-01", "9999-12-31", "1970-01-01", "2024-02-29"}, false},
		"TIMESTAMP":        {vec.TimestampType, [4]string{"1969-12-31 23:59:59.999999", "2024-02-29 12:00:00", "1970-01-01 00:00:00", "2000-01-01 00:00:00"}, false},
		"TIMESTAMPTZ":      {vec.TimestampTZType, [4]string{"1969-12-31 23:59:59.999999+00", "2024-02-29 12:00:00+00", "1970-01-01 00:00:00+00", "2000-01-01 00:00:00+00"}, false},
		"NUMERIC(18, 2)":   {vec.DecimalType(18, 2), [4]string{"-1234567890123456.78", "0.00", "0.01", "99.90"}, false},
		"NUMERIC(38, 3)":   {vec.DecimalType(38, 3), [4]string{"-12345678901234567890123456789.123", "0.000", "0.001", "99.900"}, false},
		"TEXT":             {vec.TextType, [4]string{"", "a", "ä much longer key, beyond any prefix that is kept inline", "7"}, false},
		"REAL":             {vec.Float32Type, [4]string{"-Infinity", "NaN", "0", "1.5"}, true},
		"DOUBLE PRECISION": {vec.Float64Type, [4]string{"-1e300", "NaN", "0", "1.5"}, true},
		"TIME":             {vec.TimeType, [4]string{"00:00:00", "23:59:59.999999", "12:00:00", "01:02:03"}, true},
		"TIMETZ":           {vec.TimeTZType, [4]string{"12:00:00+00", "13:00:00+01", "00:00:00+15:59:59", "24:00:00-03"}, true},
		"INTERVAL":         {vec.IntervalType, [4]string{"1 mon", "00:00:00", "-1 days", "2 years"}, true},
		"UUID":             {vec.UUIDType, [4]string{"00000000-0000-0000-0000-000000000000", "ffffffff-ffff-ffff-ffff-ffffffffffff", "123e4567-e89b-12d3-a456-426614174000", "00000000-0000-0000-0000-000000000001"}, true},
		"BYTEA":            {vec.ByteaType, [4]string{"\\x", "\\x00", "\\xff00", "\\x0001"}, true},
	} {
		t.Run(name, func(t *testing.T) {
			h := newHouse(t)
			source := h.database.Create("keyed", []vec.Column{{Name: "k", Type: c.typ}, {Name: "v", Type: vec.Int64Type, Nullable: true}}, 0)
			change := func(op extension.Op, i int, v int64) scripted.Change {
				key, err := vec.Parse(c.typ, c.values[i], time.UTC)
				if err != nil {
					t.Fatal(err)
				}
				return scripted.Change{Op: op, Row: scripted.Row{key, vec.IntValue(vec.Int64Type, v)}}
			}
			n := 4
			if name == "BOOLEAN" {
				n = 2
			}
			for i := range n {
				source.Commit(change(extension.Insert, i, int64(i)))
			}
			mode := "read"
			if c.write {
				mode = "write"
			}
			Rows(t, h.s, fmt.Sprintf(`CREATE STREAM keyed_changes FROM SCRIPTED WITH ("table" = 'keyed');
				CREATE CDC TABLE keyed (k %s, v BIGINT, PRIMARY KEY (k) NOT ENFORCED) WITH (cascade_interval = '5 milliseconds', merge_mode = '%s');
				ALTER CDC TABLE keyed ATTACH STREAM keyed_changes; ALTER CDC TABLE keyed RESUME`, name, mode))
			follow := func() {
				t.Helper()
				UntilRow(t, h.s, "SELECT coalesce(position, '') FROM information_schema.streams WHERE stream_name = 'keyed_changes'", fmt.Sprint(source.End()))
				compare(t, h.s, "keyed", source.At(source.End()))
			}
			follow()
			for round := range 6 {
				for i := range n {
					switch (i + round) % 3 {
					case 0:
						source.Commit(change(extension.Update, i, int64(100*round+i)))
					case 1:
						source.Commit(change(extension.Delete, i, 0))
					default:
						source.Commit(change(extension.Insert, i, int64(1000*round+i)))
					}
				}
				follow()
			}
			UntilRow(t, h.s, "SELECT staging_tablets FROM information_schema.tables WHERE table_name = 'keyed'", "0")
			follow()
		})
	}
}

func TestKeysOfOtherTypesNeedWriteMode(t *testing.T) {
	h := newHouse(t)
	for _, typ := range []string{"REAL", "DOUBLE PRECISION", "BYTEA", "UUID", "INTERVAL", "TIME"} {
		Refuses(t, h.s, fmt.Sprintf("CREATE CDC TABLE x (k %s, PRIMARY KEY (k) NOT ENFORCED)", typ), sqlerr.FeatureNotSupported, "merge-key column")
	}
	for _, typ := range []string{"JSON", "BIGINT[]"} {
		Refuses(t, h.s, fmt.Sprintf("CREATE CDC TABLE x (k %s, n BIGINT, PRIMARY KEY (k) NOT ENFORCED) PRIMARY INDEX (n) WITH (merge_mode = 'write')", typ), sqlerr.InvalidTableDefinition, "cannot be in PRIMARY KEY")
	}
	Refuses(t, h.s, "CREATE CDC TABLE x (k BIGINT, PRIMARY KEY (k))", sqlerr.InvalidTableDefinition, "NOT ENFORCED")
	Refuses(t, h.s, "CREATE CDC TABLE x (k BIGINT)", sqlerr.InvalidTableDefinition, "PRIMARY KEY")
}

func TestThePrimaryIndexSortsIndependentlyOfTheKey(t *testing.T) {
	h := newHouse(t)
	for id := range int64(300) {
		h.source.Commit(insert(id, (id*7919)%300, "x"))
	}
	Rows(t, h.s, `CREATE STREAM changes FROM SCRIPTED WITH ("table" = 'orders');
		CREATE CDC TABLE orders (id BIGINT, n BIGINT, note TEXT, PRIMARY KEY (id) NOT ENFORCED) PRIMARY INDEX (n) WITH (cascade_interval = '5 milliseconds');
		ALTER CDC TABLE orders ATTACH STREAM changes; ALTER CDC TABLE orders RESUME`)
	h.caughtUp(h.s)
	for id := int64(0); id < 300; id += 2 {
		h.source.Commit(update(id, 300-id, "y"), remove(id+1))
	}
	h.caughtUp(h.s)
	h.same(h.s, "orders")
	UntilRow(t, h.s, "SELECT staging_tablets FROM information_schema.tables WHERE table_name = 'orders'", "0")
	h.same(h.s, "orders")
	Expect(t, h.s, "SELECT count(*) FROM orders WHERE n BETWEEN 100 AND 110", "6")
}
