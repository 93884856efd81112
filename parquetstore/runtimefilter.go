package parquetstore

import (
	"sync/atomic"

	"github.com/tidemarkdb/tidemark/vec"
)

// RuntimeFilter narrows a scan while it runs: a join that has built its side publishes the keys it can match. Until
// then, and for what the scan has handed out before, every row passes. It may be shared by all readers of a table.
type RuntimeFilter struct {
	Column int // place in File.Columns

	bounds *atomic.Pointer[RuntimeBounds] // shared by the filters that For made
}

// RuntimeBounds says which values can match. NULL never does.
type RuntimeBounds struct {
	// Min and Max, where set, are the smallest and largest value that can match.
	Min, Max *vec.Value

	// Contains, where set, appends to out the rows of sel (nil: all) of v that can match; passing too many is
	// allowed. Many goroutines call it at once. out may start where sel does.
	Contains func(v *vec.Vector, sel, out vec.Selection) vec.Selection
}

// NewRuntimeFilter returns a filter on a column of a file that passes every row until Publish.
func NewRuntimeFilter(column int) *RuntimeFilter {
	return &RuntimeFilter{Column: column, bounds: new(atomic.Pointer[RuntimeBounds])}
}

// For returns the same filter for another file, where the column lies at another place.
func (f *RuntimeFilter) For(column int) *RuntimeFilter {
	return &RuntimeFilter{Column: column, bounds: f.bounds}
}

// Publish makes scans pass only what b allows. b must not change afterwards.
func (f *RuntimeFilter) Publish(b *RuntimeBounds) { f.bounds.Store(b) }

// predicates returns the published bounds as predicates.
func (b *RuntimeBounds) predicates(column int) []Predicate {
	var out []Predicate
	switch {
	case b.Min != nil && b.Max != nil:
		out = append(out, Predicate{Column: column, Op: Between, Values: []vec.Value{*b.Min, *b.Max}})
	case b.Min != nil:
		out = append(out, Predicate{Column: column, Op: Ge, Values: []vec.Value{*b.Min}})
	case b.Max != nil:
		out = append(out, Predicate{Column: column, Op: Le, Values: []vec.Value{*b.Max}})
	}
	return out
}
