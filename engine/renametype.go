package engine

import (
	"context"
	"slices"

	"github.com/tidemarkdb/tidemark/catalog"
	"github.com/tidemarkdb/tidemark/sql"
)

// renameType runs ALTER TYPE ... RENAME TO and SET SCHEMA, in the expressions and views that name the type too.
func (s *Session) renameType(ctx context.Context, t *catalog.UserType, statement *sql.AlterEnum) error {
	snapshot, release := s.snapshot()
	defer release()
	change := &catalog.RenameType{Schema: t.Schema, Name: t.Name, ToSchema: t.Schema, To: statement.RenameTo.Name}
	if statement.SetSchema.Name != "" {
		change.ToSchema, change.To = known(snapshot, statement.SetSchema.Name), t.Name
	}
	rewrite := func(n sql.Node) bool {
		c, ok := n.(*sql.Cast)
		if !ok || !s.namesType(snapshot, c.Type, t) {
			return false
		}
		c.Type.Schema, c.Type.Name = sql.Ident{Name: change.ToSchema, Quoted: true}, change.To
		return true
	}
	edits := []catalog.Edit{change}
	for v := range snapshot.Views("") {
		if changed := *v; rewriteText(&changed.SQL, rewrite) {
			edits = append(edits, &catalog.CreateView{View: changed, OrReplace: true})
		}
	}
	if err := s.commit(ctx, edits...); err != nil {
		return err
	}
	for table := range snapshot.Tables("") {
		if err := s.rewriteTable(ctx, table, rewrite); err != nil {
			return err
		}
	}
	return nil
}

// namesType reports whether a type as written is one of CREATE TYPE.
func (s *Session) namesType(snapshot *catalog.Snapshot, n sql.TypeName, t *catalog.UserType) bool {
	if n.Name != t.Name {
		return false
	}
	name := sql.Name{{Name: n.Name}}
	if n.Schema.Name != "" {
		name = sql.Name{n.Schema, {Name: n.Name}}
	}
	found, err := s.userType(snapshot, name)
	return err == nil && found == t
}

// rewriteTable changes the expressions of a table's definition in place: rewrite reports whether it changed a node.
func (s *Session) rewriteTable(ctx context.Context, table *catalog.Table, rewrite func(sql.Node) bool) error {
	columns, constraints, indexes := slices.Clone(table.Columns), slices.Clone(table.Constraints), slices.Clone(table.Indexes)
	inColumns, inRules := false, false
	for i := range columns {
		inColumns = rewriteText(&columns[i].Default, rewrite) || inColumns
		inColumns = rewriteText(&columns[i].Generated, rewrite) || inColumns
	}
	for i := range constraints {
		inRules = rewriteText(&constraints[i].Expr, rewrite) || inRules
	}
	for i := range indexes {
		indexes[i].Exprs = slices.Clone(indexes[i].Exprs)
		for at := range indexes[i].Exprs {
			inRules = rewriteText(&indexes[i].Exprs[at], rewrite) || inRules
		}
		inRules = rewriteText(&indexes[i].Where, rewrite) || inRules
	}
	if inColumns {
		now, err := s.tableNow(table.ID)
		if err != nil {
			return err
		}
		for i := range columns { // the type may be another by now
			columns[i].Type = now.Columns[i].Type
		}
		if err := s.putColumns(ctx, now, columns, now.PrimaryIndex, 0); err != nil {
			return err
		}
	}
	if !inRules {
		return nil
	}
	now, err := s.tableNow(table.ID)
	if err != nil {
		return err
	}
	return s.putConstraints(ctx, now, now.KeyName, constraints, indexes)
}

// rewriteText changes the nodes of an expression or query in its text, and reports whether it did.
func rewriteText(text *string, rewrite func(sql.Node) bool) bool {
	if *text == "" {
		return false
	}
	var node sql.Node
	if e, err := sql.ParseExpr(*text); err == nil {
		node = e
	} else if q, err := sql.ParseOne(*text); err == nil {
		node = q
	} else {
		return false
	}
	changed := false
	sql.Walk(node, func(n sql.Node) bool {
		changed = rewrite(n) || changed
		return true
	})
	if changed {
		*text = sql.Text(node)
	}
	return changed
}
