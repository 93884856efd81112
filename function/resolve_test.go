package function

import (
	"testing"

	"github.com/tidemarkdb/tidemark/extension"
	"github.com/tidemarkdb/tidemark/sqlerr"
	"github.com/tidemarkdb/tidemark/vec"
)

// TestResolution checks the overload that a call takes, as PostgreSQL chooses it, by the result's type.
func TestResolution(t *testing.T) {
	r := extension.NewRegistry()
	RegisterAll(r)
	for _, c := range []struct{ call, want string }{
		{"int2 '1' + int2 '1'", "smallint"},
		{"int2 '1' + int4 '1'", "integer"},
		{"int2 '1' + int8 '1'", "bigint"},
		{"int4 '1' + numeric '1.5'", "numeric(3,1)"},
		{"numeric '1.5' + float8 '1'", "double precision"},
		{"int4 '1' + float4 '1'", "double precision"},
		{"float4 '1' + float4 '1'", "real"},
		{"int4 '1' + '5'", "integer"},
		{"date '2024-01-01' - '2024-01-01'", "integer"},
		{"timestamptz '2024-01-01' - date '2024-01-01'", "interval"},
		{"date_trunc('day', date '2024-01-01')", "timestamp with time zone"},
		{"numeric '1.5' * numeric '2.25'", "numeric(5,3)"},
		{"'a' || 'b'", "text"},
		{"_int4 '{1}' || _int8 '{2}'", "bigint[]"},
		{"abs('-5')", "double precision"},
		{"round(int4 '5')", "double precision"},
		{"text 'a' + int4 '1'", "ERROR 42883"},
		{"lower(int4 '1')", "ERROR 42883"},
		{"lowr('a')", "ERROR 42883"},
		{"_int4 '{1}' || text 'a'", "ERROR 42883"},
	} {
		name, args, err := parseCall(c.call)
		if err != nil {
			t.Fatal(err)
		}
		b, err := r.ResolveScalar(name, args)
		got := b.Result.String()
		if err != nil {
			got = "ERROR " + sqlerr.Code(err)
		}
		if got != c.want {
			t.Errorf("%s: %s, want %s", c.call, got, c.want)
		}
	}
	if _, err := r.ResolveScalar("lowr", nil); sqlerr.From(err).Hint != "Did you mean lower?" {
		t.Errorf("no suggestion: %v", err)
	}
}

// TestCommonType checks where types meet.
func TestCommonType(t *testing.T) {
	for _, c := range []struct {
		types []vec.Type
		want  string
	}{
		{[]vec.Type{int2, int8}, "bigint"},
		{[]vec.Type{int4, vec.DecimalType(5, 2)}, "numeric(12,2)"},
		{[]vec.Type{vec.DecimalType(10, 4), vec.DecimalType(12, 2)}, "numeric(14,4)"},
		{[]vec.Type{vec.DecimalType(38, 16), vec.DecimalType(38, 0)}, "numeric(38,16)"},
		{[]vec.Type{float4, vec.DecimalType(5, 2)}, "real"},
		{[]vec.Type{dateT, stampT, stampTZ}, "timestamp with time zone"},
		{[]vec.Type{vec.NullType, int4}, "integer"},
		{[]vec.Type{vec.NullType}, "text"},
		{[]vec.Type{vec.ArrayType(int4), vec.ArrayType(int8)}, "bigint[]"},
		{[]vec.Type{int4, textT}, "ERROR 42804"},
		{[]vec.Type{boolT, int4}, "ERROR 42804"},
	} {
		got, err := extension.CommonTypeOf(c.types...)
		name := got.String()
		if err != nil {
			name = "ERROR " + sqlerr.Code(err)
		}
		if name != c.want {
			t.Errorf("%v: %s, want %s", c.types, name, c.want)
		}
	}
}

// TestWindows runs the window functions over one partition: peers {0}, {1, 2}, {3}; frames up to the last peer.
func TestWindows(t *testing.T) {
	r := extension.NewRegistry()
	RegisterAll(r)
	x := vec.NewBuilder(int4, 4)
	for _, v := range []vec.Value{{I: 10}, {Null: true}, {I: 20}, {I: 30}} {
		x.Append(v)
	}
	value := x.Finish()
	two := vec.ConstantOf(int4, vec.Value{I: 2}, 4)
	for _, c := range []struct {
		name    string
		args    []*vec.Vector
		ignore  bool
		exclude func(i, j int) bool
		want    string
	}{
		{name: "row_number", want: "1 2 3 4"},
		{name: "rank", want: "1 2 2 4"},
		{name: "dense_rank", want: "1 2 2 3"},
		{name: "percent_rank", want: "0 0.3333333333333333 0.3333333333333333 1"},
		{name: "cume_dist", want: "0.25 0.75 0.75 1"},
		{name: "ntile", args: []*vec.Vector{two}, want: "1 1 2 2"},
		{name: "lag", args: []*vec.Vector{value}, want: "NULL 10 NULL 20"},
		{name: "lead", args: []*vec.Vector{value}, ignore: true, want: "20 20 30 NULL"},
		{name: "first_value", args: []*vec.Vector{value}, want: "10 10 10 10"},
		{name: "first_value", args: []*vec.Vector{value}, exclude: func(i, j int) bool { return j == 0 }, want: "NULL NULL NULL NULL"},
		{name: "last_value", args: []*vec.Vector{value}, want: "10 20 20 30"},
		{name: "nth_value", args: []*vec.Vector{value, two}, ignore: true, want: "NULL 20 20 20"},
	} {
		var args []extension.Argument
		for _, a := range c.args {
			args = append(args, extension.Argument{Type: a.Type})
		}
		b, err := r.ResolveWindow(c.name, args)
		if err != nil {
			t.Fatal(err)
		}
		p := &extension.Partition{N: 4, PeerStart: []int32{0, 1, 1, 3}, PeerEnd: []int32{1, 3, 3, 4},
			FrameStart: []int32{0, 0, 0, 0}, FrameEnd: []int32{1, 3, 3, 4}, IgnoreNulls: c.ignore, Excluded: c.exclude}
		out, err := b.Eval(nil, p, c.args)
		if err != nil {
			t.Fatal(err)
		}
		if got := rowTexts(out); got != c.want {
			t.Errorf("%s: %s, want %s", c.name, got, c.want)
		}
	}
}

func rowTexts(v *vec.Vector) string {
	text := ""
	for i := range v.N {
		if i > 0 {
			text += " "
		}
		text += vec.Format(v.Value(i))
	}
	return text
}

// TestTables runs set-returning functions for three rows: the arguments, NULL, the arguments.
func TestTables(t *testing.T) {
	r := extension.NewRegistry()
	RegisterAll(r)
	for _, c := range []struct{ call, want string }{
		{"generate_series(int4 '1', int4 '3')", "1 2 3"},
		{"generate_series(int4 '3', int4 '1', int4 '-2')", "3 1"},
		{"generate_series(int8 '9223372036854775806', int8 '9223372036854775807')", "9223372036854775806 9223372036854775807"},
		{"generate_series(numeric '1', numeric '2', numeric '0.5')", "1.0 1.5 2.0"},
		{"generate_series(timestamp '2024-01-31', timestamp '2024-03-31', interval '1 month')", "2024-01-31 00:00:00 2024-02-29 00:00:00 2024-03-29 00:00:00"},
		{"range(int4 '1', int4 '3')", "1 2"},
		{"range(int8 '2')", "0 1"},
		{"unnest(_text '{a,NULL,b}')", "a NULL b"},
		{"generate_subscripts(_text '{a,b}', int4 '1')", "1 2"},
		{"regexp_matches('a1b2', '[0-9]', 'g')", "{1} {2}"},
		{"regexp_split_to_table('a b', ' ')", "a b"},
		{"json_object_keys('{\"a\":1,\"b\":2}')", "a b"},
		{"json_array_elements_text('[\"x\",null]')", "x NULL"},
	} {
		name, args, err := parseCall(c.call)
		if err != nil {
			t.Fatal(err)
		}
		b, err := r.ResolveTable(name, args)
		if err != nil {
			t.Fatal(c.call, err)
		}
		cols := make([]*vec.Vector, len(args))
		for k, a := range args {
			v, err := CastValue(nil, *a.Const, b.Args[k])
			if err != nil {
				t.Fatal(c.call, err)
			}
			v.Type = b.Args[k]
			cols[k] = inForm(v, "null")
		}
		out, from, err := b.Expand.Rows(nil, cols, 3)
		if err != nil {
			t.Fatal(c.call, err)
		}
		if len(from)%2 != 0 || out.N != len(from) || from[0] != 0 || from[len(from)-1] != 2 {
			t.Errorf("%s: rows come from %v", c.call, from)
		}
		if got := rowTexts(out.Cols[0].Slice(0, out.N/2)); got != c.want {
			t.Errorf("%s: %s, want %s", c.call, got, c.want)
		}
	}
}
