package pgcatalog

import (
	"slices"
	"testing"

	"github.com/tidemarkdb/tidemark/vec"
)

func TestSplitName(t *testing.T) {
	for text, want := range map[string][]string{
		"Orders": {"orders"}, `"Orders"`: {"Orders"}, "a.b": {"a", "b"}, `"a.b".c`: {"a.b", "c"}, `"say ""x"""`: {`say "x"`}, "a.b.c": {"a", "b", "c"},
	} {
		if got, err := splitName(text); err != nil || !slices.Equal(got, want) {
			t.Errorf("%s: %q, %v; want %q", text, got, err, want)
		}
	}
	for _, text := range []string{"", `"a`, "a.", "a.b.c.d"} {
		if got, err := splitName(text); err == nil {
			t.Errorf("%s: %q", text, got)
		}
	}
}

func TestTypmod(t *testing.T) {
	v := &View{}
	for oid, want := range map[int64]string{1700: "numeric(12,2)", 1231: "numeric(12,2)[]"} {
		if got, ok := v.formatType(oid, int64(typmod(vec.DecimalType(12, 2)))); !ok || got != want {
			t.Errorf("%d: %q, want %q", oid, got, want)
		}
	}
}

// TestTypesAreNumberedOnce checks that no number or name stands for two types.
func TestTypesAreNumberedOnce(t *testing.T) {
	oids, names := map[int64]string{}, map[string]bool{}
	for _, b := range builtinTypes {
		for _, oid := range []int64{b.oid, b.array} {
			if oid != 0 && oids[oid] != "" {
				t.Errorf("%d is %s and %s", oid, oids[oid], b.name)
			}
			oids[oid] = b.name
		}
		if names[b.name] {
			t.Errorf("%s is listed twice", b.name)
		}
		names[b.name] = true
	}
}

// TestRelationsAreNamedOnce checks the tables of relations.
func TestRelationsAreNamedOnce(t *testing.T) {
	seen := map[string]bool{}
	for _, r := range All() {
		if seen[r.Schema+"."+r.Name] || len(r.Columns) == 0 {
			t.Errorf("%s.%s is there twice or has no columns", r.Schema, r.Name)
		}
		seen[r.Schema+"."+r.Name] = true
	}
}
