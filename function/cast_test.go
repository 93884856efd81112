package function

import (
	"os"
	"strings"
	"testing"
	"time"

	"github.com/tidemarkdb/tidemark/extension"
	"github.com/tidemarkdb/tidemark/sqlerr"
	"github.com/tidemarkdb/tidemark/vec"
)

// TestCasts reads and converts the values of testdata/cast.txt, whose results are those of PostgreSQL 15 in time zone
// UTC. A line is "type 'text' => result" or "type 'text'::type => result".
func TestCasts(t *testing.T) {
	data, err := os.ReadFile("testdata/cast.txt")
	if err != nil {
		t.Fatal(err)
	}
	for i, line := range strings.Split(strings.TrimSpace(string(data)), "\n") {
		text, want, _ := strings.Cut(line, " => ")
		if got := castCase(t, text); got != want {
			t.Errorf("line %d: %s\n got %s\nwant %s", i+1, text, got, want)
		}
	}
}

func castCase(t *testing.T, text string) string {
	a, rest, err := parseArgument(text)
	if err != nil {
		return "ERROR " + sqlerr.Code(err)
	}
	if rest == "" {
		return vec.Format(*a.Const)
	}
	name := strings.TrimPrefix(rest, "::")
	var to vec.Type
	if name == "numeric(10,2)" || name == "numeric(5,2)" || name == "numeric(3,1)" {
		to = map[string]vec.Type{"numeric(10,2)": vec.DecimalType(10, 2), "numeric(5,2)": vec.DecimalType(5, 2), "numeric(3,1)": vec.DecimalType(3, 1)}[name]
	} else if to, err = typeNamed(name, ""); err != nil {
		t.Fatal(err)
	}
	ev := &extension.Eval{Zone: time.UTC}
	v, err := CastValue(ev, *a.Const, to)
	tried := try(t, ev, *a.Const, to)
	if err != nil {
		if sqlerr.Code(err) != sqlerr.CannotCoerce && !tried.Null {
			t.Errorf("%s fails but TryCast gives %s", text, vec.Format(tried))
		}
		return "ERROR " + sqlerr.Code(err)
	}
	if vec.Compare(v, tried) != 0 {
		t.Errorf("%s: TryCast gives %s", text, vec.Format(tried))
	}
	return vec.Format(v)
}

func try(t *testing.T, ev *extension.Eval, v vec.Value, to vec.Type) vec.Value {
	kernel, err := TryCast(v.Type, to)
	if err != nil {
		return vec.NullValue(to)
	}
	// A column that is not constant, with a NULL first.
	b := vec.NewBuilder(v.Type, 2)
	b.AppendNull()
	b.Append(v)
	out, err := kernel(ev, []*vec.Vector{b.Finish()}, 2)
	if err != nil {
		t.Fatalf("TryCast failed: %v", err)
	}
	if !out.IsNull(0) {
		t.Errorf("a NULL cast to %s gave %s", to, vec.Format(out.Value(0)))
	}
	return out.Value(1)
}
