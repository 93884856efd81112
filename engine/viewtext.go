package engine

import (
	"context"
	"slices"

	"github.com/tidemarkdb/tidemark/catalog"
	"github.com/tidemarkdb/tidemark/plan"
	"github.com/tidemarkdb/tidemark/sql"
	"github.com/tidemarkdb/tidemark/sqlerr"
	"github.com/tidemarkdb/tidemark/vec"
)

// viewQuery returns the query of a view, in which the names of stored relations have the schema they were found in when
// the view was made.
func (s *Session) viewQuery(snapshot *catalog.Snapshot, v *catalog.View) (sql.QueryExpr, error) {
	statement, err := sql.ParseOne(v.SQL)
	if err != nil {
		return nil, sqlerr.New(sqlerr.DataCorrupted, "the definition of view %q cannot be read: %w", v.Name, err).
			Hintf("drop the view and create it anew")
	}
	query, ok := statement.(sql.QueryExpr)
	if !ok {
		return nil, errNoQuery(v)
	}
	if len(v.Path) == 0 {
		return query, nil
	}
	for _, t := range storedTables(query) {
		if o, err := split(t.Name); err == nil && o.schema == "" && s.virtual(snapshot, "", o.name) == nil {
			if found, ok := inPath(snapshot, v.Path, o.name); ok {
				t.Name = sql.Name{{Name: found.schema, Quoted: true, Pos: t.Pos}, t.Name[len(t.Name)-1]}
			}
		}
	}
	return query, nil
}

func errNoQuery(v *catalog.View) error {
	return sqlerr.New(sqlerr.DataCorrupted, "the definition of view %q is not a query", v.Name).Hintf("drop the view and create it anew")
}

// inPath finds the table or view of a bare name along a path of schemas.
func inPath(snapshot *catalog.Snapshot, path []string, name string) (object, bool) {
	for _, schema := range path {
		schema = known(snapshot, schema)
		if _, _, err := snapshot.Relation(schema, name); err == nil {
			return object{schema, name}, true
		}
	}
	return object{}, false
}

// storedTables returns the items of FROM in a query whose names may be those of stored relations: none that a WITH of the
// query names.
func storedTables(query sql.QueryExpr) []*sql.Table {
	common := map[string]bool{}
	var tables []*sql.Table
	sql.Walk(query, func(n sql.Node) bool {
		switch n := n.(type) {
		case *sql.Query:
			if n.With != nil {
				for _, c := range n.With.CTEs {
					common[c.Name.Name] = true
				}
			}
		case *sql.Table:
			tables = append(tables, n)
		}
		return true
	})
	return slices.DeleteFunc(tables, func(t *sql.Table) bool { return len(t.Name) == 1 && common[t.Name[0].Name] })
}

// bindFixed binds the query of a new view and puts in the place of each * in it the columns that it stands for now, so
// that the view stays as it is when its tables get further columns.
func (s *Session) bindFixed(ctx context.Context, snapshot *catalog.Snapshot, query sql.QueryExpr) (vec.Schema, error) {
	relations := s.relations(ctx, snapshot)
	defer relations.release()
	stars := map[*sql.Star][]sql.SelectItem{}
	bound, err := plan.Bind(ctx, query, relations, plan.Options{Stars: func(star *sql.Star, items []sql.SelectItem) { stars[star] = items }})
	if err != nil {
		return nil, err
	}
	sql.Walk(query, func(n sql.Node) bool {
		if t, ok := n.(*sql.Select); ok {
			var items []sql.SelectItem
			for _, item := range t.Items {
				if star, ok := item.Expr.(*sql.Star); ok && stars[star] != nil {
					items = append(items, stars[star]...)
				} else {
					items = append(items, item)
				}
			}
			t.Items = items
		}
		return true
	})
	return bound.Schema, nil
}

// readsTemporary reports whether a query names a temporary relation of the session.
func (s *Session) readsTemporary(snapshot *catalog.Snapshot, query sql.QueryExpr) bool {
	return s.temp != "" && slices.ContainsFunc(storedTables(query), func(t *sql.Table) bool {
		table, view, err := s.relation(snapshot, t.Name)
		return err == nil && (table != nil && table.Schema == s.temp || view != nil && view.Schema == s.temp)
	})
}
