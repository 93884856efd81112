package engine

import (
	"context"
	"slices"
	"time"

	"github.com/tidemarkdb/tidemark/catalog"
	"github.com/tidemarkdb/tidemark/extension"
	"github.com/tidemarkdb/tidemark/plan"
	"github.com/tidemarkdb/tidemark/tablestore"
)

// relations finds what names stand for in one statement of a session: plan.Catalog over a snapshot.
type relations struct {
	ctx      context.Context
	session  *Session
	snapshot *catalog.Snapshot
	eval     *extension.Eval
	pins     []*catalog.Pin // of older versions that AS OF asked for
}

func (s *Session) relations(ctx context.Context, snapshot *catalog.Snapshot) *relations {
	return &relations{ctx: ctx, session: s, snapshot: snapshot, eval: s.eval(ctx)}
}

// release gives up what AS OF pinned.
func (r *relations) release() {
	for _, p := range r.pins {
		p.Release()
	}
}

// Relation implements plan.Catalog.
func (r *relations) Relation(schema, name string, asOf *plan.AsOf) (plan.Relation, error) {
	if v := r.session.incoming; v != nil && name == incoming {
		return v, nil
	}
	if v, ok := r.session.named[name]; ok && schema == "" {
		return v, nil
	}
	if v := r.session.virtual(r.snapshot, schema, name); v != nil {
		return v, nil
	}
	snapshot := r.snapshot
	if asOf != nil {
		pin, err := r.pinAsOf(asOf)
		if err != nil {
			return nil, err
		}
		r.pins = append(r.pins, pin)
		snapshot = pin.Snapshot
	}
	table, view, err := r.session.find(snapshot, schema, name)
	if err != nil {
		return nil, err
	}
	if view != nil {
		body, err := r.session.viewQuery(r.snapshot, view)
		if err != nil {
			return nil, err
		}
		return &plan.View{Schema: view.Schema, Name: view.Name, Query: body, Columns: view.Columns}, nil
	}
	return r.session.engine.planTable(table), nil
}

func (r *relations) pinAsOf(asOf *plan.AsOf) (*catalog.Pin, error) {
	if asOf.Version != 0 {
		return r.session.engine.catalog.PinAt(r.ctx, asOf.Version)
	}
	return r.session.engine.catalog.PinAsOf(r.ctx, time.UnixMicro(asOf.Micros))
}

// Functions implements plan.Catalog.
func (r *relations) Functions() *extension.Registry { return r.session.engine.functions }

// Bind implements plan.Catalog.
func (r *relations) Bind() *extension.TableBind {
	return &extension.TableBind{
		Ctx: r.ctx, AllowPath: r.session.engine.allowPath, ParseType: plan.ParseType, Eval: r.eval, Changes: r.changes,
	}
}

// planTable returns a table as the planner knows it.
func (e *Engine) planTable(t *catalog.Table) *plan.Table {
	return &plan.Table{
		Schema: t.Schema, Name: t.Name, ID: uint64(t.ID), Columns: schemaOf(t), Key: tablestore.Places(t, t.MergeKey),
		Sorted: tablestore.Places(t, t.SortColumns()), Stats: e.stats.of(t), Handle: t,
	}
}

// visibleSchemas returns the schemas of a snapshot that are not some session's temporary one, but for this session's.
func (s *Session) visibleSchemas(snapshot *catalog.Snapshot) []string {
	return visibleSchemas(snapshot, s.temp)
}

func visibleSchemas(snapshot *catalog.Snapshot, temp string) []string {
	var out []string
	for schema := range snapshot.Schemas() {
		if isTemporary(schema.Name) && schema.Name != temp {
			continue
		}
		out = append(out, schema.Name)
	}
	out = append(out, informationSchema, pgCatalogSchema)
	slices.Sort(out)
	return out
}
