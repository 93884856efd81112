package engine

import (
	"maps"
	"slices"

	"github.com/tidemarkdb/tidemark/catalog"
	"github.com/tidemarkdb/tidemark/sql"
)

// followMoved returns the edits that make views read tables and views under their new names: moved has old and new. A
// view that is among the moved is stored anew at its new place.
func (s *Session) followMoved(snapshot *catalog.Snapshot, moved map[object]object) []catalog.Edit {
	var edits []catalog.Edit
	for v := range snapshot.Views("") {
		changed, from := *v, object{v.Schema, v.Name}
		to, moves := moved[from]
		if moves {
			changed.Schema, changed.Name = to.schema, to.name
		}
		if text, ok := s.movedText(snapshot, v, moved); ok {
			changed.SQL = text
		} else if !moves {
			continue
		}
		if moves {
			edits = append(edits, &catalog.CreateView{View: changed}, &catalog.DropView{Schema: v.Schema, Name: v.Name})
		} else {
			edits = append(edits, &catalog.CreateView{View: changed, OrReplace: true})
		}
	}
	return edits
}

// movedText returns the text of a view with the new names of what it reads; the old name stays as an alias.
func (s *Session) movedText(snapshot *catalog.Snapshot, v *catalog.View, moved map[object]object) (string, bool) {
	plain, found, err := s.viewTables(snapshot, v)
	if err != nil {
		return "", false
	}
	changed := false
	for t, from := range found {
		to, ok := moved[from]
		if !ok {
			continue
		}
		changed = true
		if t.Alias.Name.Name == "" && to.name != from.name {
			t.Alias.Name = t.Name.Last()
		}
		qualify := len(t.Name) > 1 || to.schema != from.schema
		t.Name = sql.Name{{Name: to.name, Quoted: true, Pos: t.Pos}}
		if qualify {
			t.Name = append(sql.Name{{Name: to.schema, Quoted: true, Pos: t.Pos}}, t.Name...)
		}
	}
	if !changed {
		return "", false
	}
	sql.Walk(plain, func(n sql.Node) bool { // schema.table.column no longer fits what has an alias or another schema
		if c, ok := n.(*sql.Column); ok && len(c.Name) == 3 {
			if _, ok := moved[object{c.Name[0].Name, c.Name[1].Name}]; ok {
				c.Name = c.Name[1:]
			}
		}
		return true
	})
	return sql.Text(plain), true
}

// viewTables returns the query of a view as it was written and what its items of FROM stand for.
func (s *Session) viewTables(snapshot *catalog.Snapshot, v *catalog.View) (sql.QueryExpr, map[*sql.Table]object, error) {
	statement, err := sql.ParseOne(v.SQL)
	if err != nil {
		return nil, nil, err
	}
	query, ok := statement.(sql.QueryExpr)
	if !ok {
		return nil, nil, errNoQuery(v)
	}
	path := v.Path
	if len(path) == 0 {
		path = s.searchPath()
	}
	found := map[*sql.Table]object{}
	for _, t := range storedTables(query) {
		o, err := split(t.Name)
		if err != nil || s.virtual(snapshot, o.schema, o.name) != nil {
			continue
		}
		in := path
		if o.schema != "" {
			in = []string{o.schema}
		}
		if at, ok := inPath(snapshot, in, o.name); ok {
			found[t] = at
		}
	}
	return query, found, nil
}

// followRenamed returns the edits that keep what views make of a table or view a column of which gets another name by
// change. A view that cannot be kept stays as it is.
func (s *Session) followRenamed(snapshot *catalog.Snapshot, o object, from, to string, change catalog.Edit) []catalog.Edit {
	after, err := snapshot.Preview(change)
	if err != nil {
		return nil
	}
	waiting := slices.DeleteFunc(slices.Collect(snapshot.Views("")), func(v *catalog.View) bool {
		_, found, err := s.viewTables(snapshot, v)
		return err != nil || !slices.Contains(slices.Collect(maps.Values(found)), o)
	})
	var edits []catalog.Edit
	for progress := true; progress; { // a view may read others of them
		progress = false
		waiting = slices.DeleteFunc(waiting, func(v *catalog.View) bool {
			edit, next := s.keepColumns(snapshot, after, v, o, from, to)
			if edit == nil {
				return false
			}
			edits, after, progress = append(edits, edit), next, true
			return true
		})
	}
	return edits
}

// keepColumns returns the edit of a view after which it has the columns in the snapshot after that it had before, and
// that snapshot with it; nil when there is none.
func (s *Session) keepColumns(before, after *catalog.Snapshot, v *catalog.View, o object, from, to string) (catalog.Edit, *catalog.Snapshot) {
	old, err := s.viewSchema(before, v)
	if err != nil {
		return nil, nil
	}
	for _, rewrite := range []func(sql.QueryExpr, map[*sql.Table]object, object, string, string) bool{renameInSelect, renameInFrom} {
		query, tables, err := s.viewTables(before, v)
		if err != nil || !rewrite(query, tables, o, from, to) {
			continue
		}
		changed := *v
		changed.SQL = sql.Text(query)
		edit := &catalog.CreateView{View: changed, OrReplace: true}
		if now, err := s.viewSchema(after, &changed); err != nil || len(now) != len(old) {
			continue
		}
		if next, err := after.Preview(edit); err == nil {
			return edit, next
		}
	}
	return nil, nil
}

// renameInSelect renames a column where a query names it. It knows a SELECT from one table without further queries in it,
// and reports whether it was one.
func renameInSelect(query sql.QueryExpr, tables map[*sql.Table]object, o object, from, to string) bool {
	q, _ := query.(*sql.Query)
	body := query
	if q != nil {
		if q.With != nil {
			return false
		}
		body = q.Body
	}
	sel, ok := body.(*sql.Select)
	if !ok || len(sel.From) != 1 {
		return false
	}
	table, ok := sel.From[0].(*sql.Table)
	if !ok || tables[table] != o || len(table.Alias.Columns) > 0 {
		return false
	}
	simple := true
	sql.Walk(query, func(n sql.Node) bool {
		switch n := n.(type) {
		case *sql.Star, *sql.Lambda:
			simple = false
		case sql.QueryExpr:
			simple = simple && (n == query || n == body)
		}
		return simple
	})
	for _, item := range sel.Items { // what such a name means elsewhere depends on the clause
		simple = simple && item.Alias.Name != from && item.Alias.Name != to
	}
	if !simple {
		return false
	}
	for i := range sel.Items {
		if c, ok := sel.Items[i].Expr.(*sql.Column); ok && c.Name.Last().Name == from && sel.Items[i].Alias.Name == "" {
			sel.Items[i].Alias = sql.Ident{Name: from, Quoted: true}
		}
	}
	sql.Walk(query, func(n sql.Node) bool {
		if c, ok := n.(*sql.Column); ok && c.Name.Last().Name == from {
			c.Name = append(slices.Clone(c.Name[:len(c.Name)-1]), sql.Ident{Name: to, Quoted: true, Pos: c.Pos})
		}
		return true
	})
	return true
}

// renameInFrom gives a query the table under the names it had: (SELECT * RENAME (to AS from) FROM t) AS t.
func renameInFrom(query sql.QueryExpr, tables map[*sql.Table]object, o object, from, to string) bool {
	changed := false
	made := map[*sql.Select]bool{}
	replace := func(item *sql.TableExpr) {
		t, ok := (*item).(*sql.Table)
		if !ok || tables[t] != o {
			return
		}
		alias := t.Alias
		if alias.Name.Name == "" {
			alias.Name = t.Name.Last()
		}
		bare := *t
		bare.Alias = sql.TableAlias{}
		star := &sql.Star{Pos: t.Pos, Rename: []sql.Rename{{Column: sql.Name{{Name: to, Quoted: true}}, To: sql.Ident{Name: from, Quoted: true}}}}
		inner := &sql.Select{Items: []sql.SelectItem{{Expr: star}}, From: []sql.TableExpr{&bare}, Pos: t.Pos}
		made[inner], changed = true, true
		*item = &sql.Derived{Query: inner, Alias: alias, Pos: t.Pos}
	}
	sql.Walk(query, func(n sql.Node) bool {
		switch n := n.(type) {
		case *sql.Select:
			if made[n] {
				return false
			}
			for i := range n.From {
				replace(&n.From[i])
			}
		case *sql.Join:
			replace(&n.Left)
			replace(&n.Right)
		}
		return true
	})
	return changed
}
