package extension

import (
	"fmt"
	"maps"
	"slices"
	"strings"
)

// Registry holds registrations by name. Fill it before use; afterwards it is read-only and safe for any goroutine.
type Registry struct {
	scalars    map[string]*ScalarFunc
	aggregates map[string]*AggregateFunc
	windows    map[string]*WindowFunc
	tables     map[string]*TableFunc
	sources    map[string]*SourceDef
}

// NewRegistry returns an empty registry.
func NewRegistry() *Registry {
	return &Registry{
		scalars: map[string]*ScalarFunc{}, aggregates: map[string]*AggregateFunc{}, windows: map[string]*WindowFunc{},
		tables: map[string]*TableFunc{}, sources: map[string]*SourceDef{},
	}
}

// RegisterScalar adds f. A name taken by another scalar function is a fault of the program and panics.
func (r *Registry) RegisterScalar(f *ScalarFunc) { register(r.scalars, f.Def, f) }

// RegisterAggregate adds f; see RegisterScalar.
func (r *Registry) RegisterAggregate(f *AggregateFunc) { register(r.aggregates, f.Def, f) }

// RegisterWindow adds f; see RegisterScalar.
func (r *Registry) RegisterWindow(f *WindowFunc) { register(r.windows, f.Def, f) }

// RegisterTable adds f; see RegisterScalar.
func (r *Registry) RegisterTable(f *TableFunc) { register(r.tables, f.Def, f) }

// RegisterSource adds d; see RegisterScalar.
func (r *Registry) RegisterSource(d *SourceDef) { register(r.sources, d.Def, d) }

func register[T any](into map[string]*T, d Def, f *T) {
	for _, name := range append([]string{d.Name}, d.Aliases...) {
		if name != strings.ToLower(name) || name == "" {
			panic(fmt.Sprintf("extension: registered name %q is not lower case", name))
		}
		if _, taken := into[name]; taken {
			panic(fmt.Sprintf("extension: %q registered twice", name))
		}
		into[name] = f
	}
}

// Scalar returns the scalar function of that name or alias, nil when there is none.
func (r *Registry) Scalar(name string) *ScalarFunc { return r.scalars[name] }

// Aggregate returns the aggregate function of that name or alias, nil when there is none.
func (r *Registry) Aggregate(name string) *AggregateFunc { return r.aggregates[name] }

// Window returns the window function of that name or alias, nil when there is none.
func (r *Registry) Window(name string) *WindowFunc { return r.windows[name] }

// Table returns the table function of that name or alias, nil when there is none.
func (r *Registry) Table(name string) *TableFunc { return r.tables[name] }

// Source returns the source of that kind, nil when there is none.
func (r *Registry) Source(kind string) *SourceDef { return r.sources[kind] }

// FunctionNames returns every function name and alias in order.
func (r *Registry) FunctionNames() []string {
	all := map[string]bool{}
	for _, names := range []func(func(string) bool){maps.Keys(r.scalars), maps.Keys(r.aggregates), maps.Keys(r.windows), maps.Keys(r.tables)} {
		for name := range names {
			all[name] = true
		}
	}
	return slices.Sorted(maps.Keys(all))
}

// SourceNames returns every kind of source in order.
func (r *Registry) SourceNames() []string { return slices.Sorted(maps.Keys(r.sources)) }

// KindDef is a registration with what it registers: "scalar", "aggregate", "window" or "table".
type KindDef struct {
	Kind string
	Def  *Def
}

// Defs returns every function registered under a name or alias.
func (r *Registry) Defs(name string) []KindDef {
	var out []KindDef
	if f := r.scalars[name]; f != nil {
		out = append(out, KindDef{"scalar", &f.Def})
	}
	if f := r.aggregates[name]; f != nil {
		out = append(out, KindDef{"aggregate", &f.Def})
	}
	if f := r.windows[name]; f != nil {
		out = append(out, KindDef{"window", &f.Def})
	}
	if f := r.tables[name]; f != nil {
		out = append(out, KindDef{"table", &f.Def})
	}
	return out
}
