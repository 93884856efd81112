package engine

import (
	"context"

	"github.com/tidemarkdb/tidemark/catalog"
	"github.com/tidemarkdb/tidemark/plan"
	"github.com/tidemarkdb/tidemark/sql"
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
	statement, err := sql.ParseOne(v.SQL)
	if err != nil {
		return nil
	}
	query, ok := statement.(sql.QueryExpr)
	if !ok {
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
	snapshot, release := s.snapshot()
	defer release()
	views := s.viewsOver(ctx, snapshot, object{t.Schema, t.Name}, nil)
	if len(views) == 0 {
		return nil
	}
	after, err := snapshot.Preview(change)
	if err != nil {
		return err
	}
	for _, v := range views {
		before, err := s.viewSchema(snapshot, v)
		if err != nil {
			continue
		}
		if now, err := s.viewSchema(after, v); err == nil && len(now) == len(before) {
			continue
		}
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
