package function

import (
	_ "time/tzdata" // time zones by name on machines without a zone database

	"github.com/tidemarkdb/tidemark/extension"
)

// families returns every built-in.
func families() []family {
	return []family{
		operatorFamily(), mathFamily(), stringFamily(), datetimeFamily(), arrayFamily(), jsonFamily(), sequenceFamily(), enumFamily(), systemFamily(), catalogFamily(),
		aggregateFamily(), windowFamily(), tableFamily(),
	}
}

// RegisterAll adds every built-in function to r.
func RegisterAll(r *extension.Registry) {
	for _, f := range families() {
		for _, s := range f.scalars {
			s.Category = f.category
			r.RegisterScalar(s)
		}
		for _, a := range f.aggregates {
			a.Category = f.category
			r.RegisterAggregate(a)
		}
		for _, w := range f.windows {
			w.Category = f.category
			r.RegisterWindow(w)
		}
		for _, t := range f.tables {
			t.Category = f.category
			r.RegisterTable(t)
		}
	}
}
