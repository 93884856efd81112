package engine

import (
	"context"
	"slices"

	"github.com/tidemarkdb/tidemark/catalog"
	"github.com/tidemarkdb/tidemark/plan"
	"github.com/tidemarkdb/tidemark/sqlerr"
	"github.com/tidemarkdb/tidemark/vec"
)

// readRelations is a catalog that notes which stored tables and views a query names.
type readRelations struct {
	plan.Catalog
	read map[object]bool
}

// Relation implements plan.Catalog.
func (r readRelations) Relation(schema, name string, asOf *plan.AsOf) (plan.Relation, error) {
	found, err := r.Catalog.Relation(schema, name, asOf)
	switch f := found.(type) {
	case *plan.Table:
		r.read[object{f.Schema, f.Name}] = true
	case *plan.View:
		r.read[object{f.Schema, f.Name}] = true
	}
	return found, err
}

// UserType implements plan.TypeCatalog.
func (r readRelations) UserType(schema, name string) (t vec.Type, ok bool) {
	if types, is := r.Catalog.(plan.TypeCatalog); is {
		return types.UserType(schema, name)
	}
	return t, false
}

// readBy returns the tables and views that a view reads, those behind other views included; none when it cannot be
// read any more.
func (s *Session) readBy(ctx context.Context, snapshot *catalog.Snapshot, v *catalog.View) map[object]bool {
	query, err := s.viewQuery(snapshot, v)
	if err != nil {
		return nil
	}
	relations := s.relations(ctx, snapshot)
	defer relations.release()
	seen := readRelations{relations, map[object]bool{}}
	if _, err := plan.Bind(ctx, query, seen, plan.Options{}); err != nil {
		return nil
	}
	return seen.read
}

// viewsOver returns the views that read a table or view, but for those that are in gone.
func (s *Session) viewsOver(ctx context.Context, snapshot *catalog.Snapshot, o object, gone map[object]bool) []*catalog.View {
	var out []*catalog.View
	for v := range snapshot.Views("") {
		if o := (object{v.Schema, v.Name}); gone[o] {
			continue
		}
		// A view that reads it, be it through another, takes binding to find; few names are in the text of any view.
		if s.readBy(ctx, snapshot, v)[o] {
			out = append(out, v)
		}
	}
	return out
}

// releaseViews adds to edits that drop tables and views those that drop the views which read them. Without cascade
// such a view is an error.
func (s *Session) releaseViews(ctx context.Context, snapshot *catalog.Snapshot, edits []catalog.Edit, cascade bool) ([]catalog.Edit, error) {
	type dropped struct {
		object
		kind string
	}
	var going []dropped
	gone := map[object]bool{}
	add := func(schema, name, kind string) {
		o := object{schema, name}
		going, gone[o] = append(going, dropped{o, kind}), true
	}
	for _, edit := range edits {
		switch e := edit.(type) {
		case *catalog.DropTable:
			if t, ok := snapshot.TableByID(e.Table); ok {
				add(t.Schema, t.Name, "table")
			}
		case *catalog.DropView:
			add(e.Schema, e.Name, "view")
		case *catalog.DropSchema:
			if !cascade {
				continue // it must be empty
			}
			for t := range snapshot.Tables(e.Name) {
				add(t.Schema, t.Name, "table")
			}
			for v := range snapshot.Views(e.Name) {
				add(v.Schema, v.Name, "view")
			}
		}
	}
	var out []catalog.Edit
	for _, d := range going {
		for _, v := range s.viewsOver(ctx, snapshot, d.object, gone) {
			if !cascade {
				return nil, sqlerr.New(sqlerr.DependentObjects, "cannot drop %s %s because other objects depend on it", d.kind, d.name).
					Detailf("view %s depends on %s %s", v.Name, d.kind, d.name).Hintf("use DROP ... CASCADE to drop the dependent objects too")
			}
			gone[object{v.Schema, v.Name}] = true
			out = append(out, &catalog.DropView{Schema: v.Schema, Name: v.Name})
		}
	}
	return append(out, edits...), nil
}

// checkViews refuses a change of a table after which views that read it had other columns, or none; with cascade it
// drops them.
func (s *Session) checkViews(ctx context.Context, t *catalog.Table, column string, cascade bool, change catalog.Edit) error {
	views, err := s.viewsNeeding(ctx, t, change)
	if err != nil {
		return err
	}
	for _, v := range views {
		if !cascade {
			return sqlerr.New(sqlerr.DependentObjects, "cannot drop column %s of table %s because other objects depend on it", column, t.Name).
				Detailf("view %s depends on column %s of table %s", v.Name, column, t.Name).Hintf("use DROP ... CASCADE to drop the dependent objects too")
		}
		if err := s.commit(ctx, &catalog.DropView{Schema: v.Schema, Name: v.Name}); err != nil {
			return err
		}
	}
	return nil
}

// viewsNeeding returns the views over a table that have other columns, or none, after a change of it.
func (s *Session) viewsNeeding(ctx context.Context, t *catalog.Table, change catalog.Edit) ([]*catalog.View, error) {
	snapshot, release := s.snapshot()
	defer release()
	views := s.viewsOver(ctx, snapshot, object{t.Schema, t.Name}, nil)
	if len(views) == 0 {
		return nil, nil
	}
	after, err := snapshot.Preview(change)
	if err != nil {
		return nil, err
	}
	return slices.DeleteFunc(views, func(v *catalog.View) bool {
		before, err := s.viewSchema(snapshot, v)
		if err != nil {
			return true
		}
		now, err := s.viewSchema(after, v)
		return err == nil && len(now) == len(before)
	}), nil
}

// refuseTypeInViews refuses another type for a column that views use.
func (s *Session) refuseTypeInViews(ctx context.Context, t *catalog.Table, at int) error {
	without := &catalog.AlterColumns{Table: t.ID, FromVersion: t.SchemaVersion, Columns: slices.Clone(t.Columns), PrimaryIndex: t.PrimaryIndex}
	without.Columns[at].Name = freeName(t, "without") // that it is missed shows that it is used
	views, err := s.viewsNeeding(ctx, t, without)
	if err != nil || len(views) == 0 {
		return err
	}
	column := t.Columns[at].Name
	return sqlerr.New(sqlerr.FeatureNotSupported, "cannot alter type of a column used by a view or rule").
		Detailf("view %s depends on column %q of table %s", views[0].Name, column, t.Name).
		Hintf("drop the view, alter the column, and create the view anew")
}
