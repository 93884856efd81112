package function

import (
	"testing"

	"github.com/tidemarkdb/tidemark/extension"
)

// TestDefinitions holds every definition to what documentation and the executed examples need.
func TestDefinitions(t *testing.T) {
	RegisterAll(extension.NewRegistry()) // panics where a name is taken twice
	check := func(d extension.Def, overloads int) {
		if d.Description == "" || len(d.Examples) == 0 || overloads == 0 {
			t.Errorf("%s lacks a description, example or overload", d.Name)
		}
	}
	for _, f := range families() {
		if f.category == "" {
			t.Error("a family lacks its category")
		}
		for _, s := range f.scalars {
			check(s.Def, len(s.Overloads))
		}
		for _, a := range f.aggregates {
			check(a.Def, len(a.Overloads))
		}
		for _, w := range f.windows {
			check(w.Def, len(w.Overloads))
		}
		for _, u := range f.tables {
			check(u.Def, len(u.Overloads))
		}
	}
}
