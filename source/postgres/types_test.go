package postgres

import (
	"fmt"
	"strings"
	"testing"

	"github.com/tidemarkdb/tidemark/integration/pgtest"
	"github.com/tidemarkdb/tidemark/vec"
)

// roundTrip is a source type, the target it goes to and values of it as SQL.
type roundTrip struct {
	source string
	target vec.Type
	values []string
}

func quoted(values ...string) (out []string) {
	for _, v := range values {
		out = append(out, quoteLiteral(v))
	}
	return out
}

var text, numbers = vec.TextType, []string{"0", "1", "-1"}

// binaryTypes are read in binary form.
var binaryTypes = []roundTrip{
	{"boolean", vec.BoolType, []string{"true", "false"}},
	{"smallint", vec.Int16Type, append(numbers, "32767", "-32768")},
	{"smallint", vec.Int64Type, append(numbers, "32767", "-32768")},
	{"integer", vec.Int32Type, append(numbers, "2147483647", "-2147483648")},
	{"integer", vec.Int64Type, append(numbers, "2147483647", "-2147483648")},
	{"integer", vec.Float64Type, append(numbers, "2147483647", "-2147483648")},
	{"integer", vec.DecimalType(10, 0), append(numbers, "2147483647", "-2147483648")},
	{"bigint", vec.DecimalType(38, 0), append(numbers, "9223372036854775807", "-9223372036854775808")},
	{"bigint", vec.Int64Type, append(numbers, "9223372036854775807", "-9223372036854775808")},
	{"real", vec.Float32Type, append(quoted("NaN", "Infinity", "-Infinity", "-0"), "1.5", "3.4028235e38", "1e-45", "0.1")},
	{"double precision", vec.Float64Type, append(quoted("NaN", "Infinity", "-Infinity", "-0"), "0.1", "1.7976931348623157e308", "5e-324", "1e15", "123456789012345")},
	{"numeric(12,2)", vec.DecimalType(12, 2), append(numbers, "9999999999.99", "-9999999999.99", "0.01", "-0.05", "1000000", "10000.1", "123456.78")},
	{"numeric(18,9)", vec.DecimalType(18, 9), append(numbers, "999999999.999999999", "0.000000001", "0.0001", "12345.000100001")},
	{"numeric(38,0)", vec.DecimalType(38, 0), append(numbers, strings.Repeat("9", 38), "-"+strings.Repeat("9", 38), "1e37")},
	{"numeric(38,38)", vec.DecimalType(38, 38), []string{"0", "0." + strings.Repeat("9", 38), "-1e-38", "0.5"}},
	{"numeric(20,5)", vec.DecimalType(20, 5), append(numbers, "123456789012345.12345", "10000", "0.00010")},
	{"numeric", text, append(append(numbers, quoted("NaN", "Infinity", "-Infinity")...), "1.50", "-0.000", "0.00001", "1e40", "12345678901234567890.123456789", "-10000.0001", "1e-20")},
	{"text", text, quoted("", "a", "héllo wörld", "a\nb\tc", `"q\"`, "日本語🎉", strings.Repeat("x", 5000))},
	{"varchar(20)", text, quoted("", "abc", "ünï")},
	{"char(5)", text, quoted("", "ab", "abcde")},
	{"name", text, quoted("", "pg_class")},
	{`"char"`, text, quoted("", "x")},
	{"citext", text, quoted("", "MiXeD")},
	{"mood", text, quoted("sad", "very happy")},
	{"date", vec.DateType, quoted("2024-02-29", "1970-01-01", "1969-12-31", "2000-01-01", "0044-03-15 BC", "4714-11-24 BC", "5874897-12-31", "infinity", "-infinity")},
	{"time", vec.TimeType, quoted("00:00", "23:59:59.999999", "24:00:00", "12:34:56.1")},
	{"timetz", vec.TimeTZType, quoted("00:00+00", "23:59:59.999999-15:59:59", "24:00:00+15:59:59", "12:34:56.1+05:30")},
	{"timetz", text, quoted("12:34:56.789+05:30")},
	{"timestamp", vec.TimestampType, quoted("2024-02-29 12:34:56.789", "1999-12-31 23:59:59.999999", "1969-12-31 23:59:59.5", "0044-03-15 10:00 BC", "4714-11-24 00:00 BC", "294245-12-31 00:00", "infinity", "-infinity")},
	{"timestamptz", vec.TimestampTZType, quoted("2024-02-29 12:34:56.789+02", "1999-12-31 23:59:59.999999Z", "0044-03-15 10:00+00 BC", "infinity", "-infinity")},
	{"interval", vec.IntervalType, quoted("0", "1 year 2 mons 3 days 04:05:06.789", "-1 day +02:00", "178000000 years", "-1 mon", "00:00:00.000001")},
	{"bytea", vec.ByteaType, quoted("", `\x00ff10`, `\xdeadbeef`)},
	{"uuid", vec.UUIDType, quoted("00000000-0000-0000-0000-000000000000", "a0eebc99-9c0b-4ef8-bb6d-6bb9bd380a11", "ffffffff-ffff-ffff-ffff-ffffffffffff")},
	{"uuid", text, quoted("a0eebc99-9c0b-4ef8-bb6d-6bb9bd380a11")},
	{"json", vec.JSONType, quoted(`{"b": 1,  "a":[1,2]}`, "null", `"x"`)},
	{"jsonb", vec.JSONType, quoted(`{"b": 1,  "a":[1,2]}`, "null", "1.50")},
	{"jsonb", text, quoted(`{"b": 1}`)},
	{"positive", vec.Int32Type, []string{"1", "7"}},
	{"price", vec.DecimalType(10, 2), []string{"1", "7.25"}},
	{"mail", text, quoted("a@b")},
	{"integer[]", vec.ArrayType(vec.Int32Type), quoted("{}", "{1,2,NULL,-3}", "{NULL}")},
	{"integer[]", vec.ArrayType(vec.Int64Type), quoted("{5}")},
	{"integer[][]", vec.ArrayType(vec.ArrayType(vec.Int32Type)), quoted("{{1,2},{3,NULL}}", "{{7}}")},
	{"text[]", vec.ArrayType(text), quoted("{}", `{a,"b c","NULL",NULL,"","q\"u","x,y","{}"}`)},
	{"numeric(10,2)[]", vec.ArrayType(vec.DecimalType(10, 2)), quoted("{1.50,NULL,-2.25}")},
	{"mood[]", vec.ArrayType(text), quoted(`{sad,"very happy"}`)},
	{"positive[]", vec.ArrayType(vec.Int32Type), quoted("{1,2}")},
	{"timestamptz[]", vec.ArrayType(vec.TimestampTZType), quoted(`{"2024-01-01 00:00:00+00",infinity}`)},
	{"uuid[]", vec.ArrayType(vec.UUIDType), quoted("{a0eebc99-9c0b-4ef8-bb6d-6bb9bd380a11}")},
	{"bool[]", vec.ArrayType(vec.BoolType), quoted("{t,f,NULL}")},
	{"float8[]", vec.ArrayType(vec.Float64Type), quoted("{0.1,NaN,-Infinity}")},
	{"bytea[]", vec.ArrayType(vec.ByteaType), quoted(`{"\\x00ff",NULL}`)},
	{"timetz[]", vec.ArrayType(vec.TimeTZType), quoted("{12:34:56.789+05:30,NULL}")},
	{"date[]", vec.ArrayType(vec.DateType), quoted("{2024-02-29,infinity}")},
	{"interval[]", vec.ArrayType(vec.IntervalType), quoted(`{"1 day","-02:00:00"}`)},
	{"jsonb[]", vec.ArrayType(vec.JSONType), quoted(`{"{\"a\": 1}"}`)},
}

// textTypes have no binary decoder.
var textTypes = []roundTrip{
	{"inet", text, quoted("10.0.0.1", "::1/64")},
	{"cidr", text, quoted("10.0.0.0/8")},
	{"macaddr", text, quoted("08:00:2b:01:02:03")},
	{"money", text, quoted("$1,234.56", "-$0.01")},
	{"bit(3)", text, quoted("101")},
	{"varbit", text, quoted("", "10110")},
	{"int4range", text, quoted("[1,5)", "empty")},
	{"int4multirange", text, quoted("{[1,5),[7,9)}")},
	{"point", text, quoted("(1.5,-2)")},
	{"box", text, quoted("(1,1),(0,0)")},
	{"tsvector", text, quoted("a:1 b:2")},
	{"xml", text, quoted("<a>1</a>")},
	{"pair", text, quoted(`(1,"x y")`)},
	{"inet[]", text, quoted("{10.0.0.1,NULL}")},
	{"inet[]", vec.ArrayType(text), quoted("{10.0.0.1,NULL}")},
	{"integer[]", text, quoted("[0:1]={1,2}", "{{1},{2}}")},
	{"regclass", text, quoted("pg_class")},
	{"hstore", text, quoted(`"a"=>"1", "b"=>NULL`)},
}

const typeSetup = `CREATE EXTENSION citext; CREATE EXTENSION hstore; CREATE TYPE mood AS ENUM ('sad', 'very happy');
	CREATE DOMAIN positive AS integer CHECK (VALUE > 0); CREATE DOMAIN price AS numeric(10,2); CREATE DOMAIN mail AS citext;
	CREATE TYPE pair AS (a int, b text);`

// TestEveryTypeIsTheSameInSnapshotStreamAndServer compares, for each value of each type, what the snapshot read, what
// the stream brought for an insert and for an update, and the text the server prints.
func TestEveryTypeIsTheSameInSnapshotStreamAndServer(t *testing.T) {
	for name, types := range map[string][]roundTrip{"binary": binaryTypes, "text": append(textTypes[:len(textTypes):len(textTypes)], binaryTypes...)} {
		t.Run(name, func(t *testing.T) {
			server := pgtest.Database(t)
			spec := target("*id", vec.Int32Type)
			create, longest := "CREATE TABLE t (id int PRIMARY KEY", 0
			for i, typ := range types {
				col := fmt.Sprintf("c%d", i)
				create += ", " + col + " " + typ.source
				spec.Columns = append(spec.Columns, vec.Column{Name: col, Type: typ.target, Nullable: true})
				longest = max(longest, len(typ.values))
			}
			server.Exec(typeSetup + create + ")")
			publish(server)
			insert := func(first int) {
				var rows []string
				for v := range longest {
					row := []string{fmt.Sprint(first + v)}
					for _, typ := range types {
						row = append(row, typ.values[v%len(typ.values)])
					}
					rows = append(rows, "("+strings.Join(row, ", ")+")")
				}
				rows = append(rows, fmt.Sprintf("(%d%s)", first+longest, strings.Repeat(", NULL", len(types))))
				server.Exec("INSERT INTO t VALUES " + strings.Join(rows, ", "))
			}
			insert(0)
			m := newMirror(t, server, spec)
			m.load()
			m.equal()
			m.follow()
			insert(100)
			server.Exec("INSERT INTO t (id) SELECT generate_series(200, 200 + 20)")
			sets := make([]string, len(types))
			for i := range types {
				sets[i] = fmt.Sprintf("c%d = o.c%d", i, i)
			}
			server.Exec("UPDATE t SET " + strings.Join(sets, ", ") + " FROM t o WHERE t.id >= 200 AND o.id = t.id - 200")
			m.catchUp()
			m.equal()
			for v := range longest {
				a, b, c := m.rows[fmt.Sprint(v)], m.rows[fmt.Sprint(100+v)], m.rows[fmt.Sprint(200+v)]
				for i, typ := range types {
					if a[i+1] != b[i+1] || a[i+1] != c[i+1] {
						t.Errorf("%s to %s: snapshot %q, insert %q, update %q", typ.source, typ.target, a[i+1], b[i+1], c[i+1])
					}
				}
			}
		})
	}
}
