package engine

import (
	"context"
	"slices"

	"github.com/tidemarkdb/tidemark/catalog"
	"github.com/tidemarkdb/tidemark/plan"
	"github.com/tidemarkdb/tidemark/sql"
	"github.com/tidemarkdb/tidemark/sqlerr"
	"github.com/tidemarkdb/tidemark/tablet"
	"github.com/tidemarkdb/tidemark/vec"
)

// computedOf returns which columns of a table a statement gives no values.
func computedOf(t *catalog.Table) plan.Computed {
	var c plan.Computed
	for _, column := range t.Columns {
		c.Exprs, c.Identity = append(c.Exprs, column.Generated), append(c.Identity, column.Identity)
	}
	return c
}

// isComputed reports whether a column is generated from others.
func isComputed(c tablet.Column) bool { return c.Generated != "" }

// generate checks the expression of a generated column of a table and sets it. A column whose type is Null takes that
// of the expression.
func (s *Session) generate(ctx context.Context, snapshot *catalog.Snapshot, t *catalog.Table, at int, e sql.Expr) error {
	column := &t.Columns[at]
	column.Generated = "NULL" // it must not mention itself
	text, mentioned, err := s.rowExpr(ctx, snapshot, t, e, "column generation expression", false)
	if err != nil {
		return err
	}
	for _, id := range mentioned {
		if c, _ := t.ColumnByID(id); isComputed(c) {
			return sqlerr.New(sqlerr.InvalidObjectDefinition, "cannot use generated column %q in column generation expression", c.Name).
				Detailf("A generated column cannot reference another generated column.").Hintf("write out what it is computed by").At(e.Position())
		}
	}
	if f := s.changing(e); f != "" {
		return sqlerr.New(sqlerr.InvalidObjectDefinition, "generation expression is not immutable").
			Hintf("%s() may give another value for the same row", f).At(e.Position())
	}
	column.Generated = text
	if column.Type.ID == vec.Null {
		rows := &plan.Virtual{Name: "t", Source: &memoryRows{schema: schemaOf(t)}}
		q, err := s.bindOver(ctx, snapshot, "SELECT ("+text+") FROM t", map[string]plan.Relation{"t": rows})
		if err != nil {
			return err
		}
		column.Type = q.Schema[0].Type
	}
	relations := s.relations(ctx, snapshot)
	defer relations.release()
	target := plan.InsertTarget{Name: t.Name, Columns: schemaOf(t), Defaults: make([]string, len(t.Columns)), Computed: computedOf(t)}
	if _, err = plan.BindInsert(ctx, &sql.Insert{Table: nameOf(t)}, target, relations, plan.Options{}); err != nil {
		return sqlerr.From(err).At(e.Position())
	}
	return nil
}

// generatedColumn returns a column that ALTER TABLE adds with its expression.
func (s *Session) generatedColumn(ctx context.Context, t *catalog.Table, c tablet.Column, e sql.Expr) (tablet.Column, error) {
	snapshot, release := s.snapshot()
	defer release()
	altered := *t
	c.FieldID = t.NextFieldID
	altered.Columns = append(slices.Clone(t.Columns), c)
	err := s.generate(ctx, snapshot, &altered, len(t.Columns), e)
	return altered.Columns[len(t.Columns)], err
}

// generatedFrom returns the generated columns of a table that are computed from a column.
func generatedFrom(t *catalog.Table, name string) []tablet.Column {
	var out []tablet.Column
	for _, c := range t.Columns {
		if !isComputed(c) {
			continue
		}
		uses := false
		if e, err := sql.ParseExpr(c.Generated); err == nil {
			eachColumn(e, func(ref *sql.Column) { uses = uses || ref.Name[0].Name == name })
		}
		if uses {
			out = append(out, c)
		}
	}
	return out
}

// refuseGenerated refuses to change a column that generated columns are computed from.
func refuseGenerated(t *catalog.Table, name sql.Ident) error {
	if by := generatedFrom(t, name.Name); len(by) > 0 {
		return sqlerr.New(sqlerr.FeatureNotSupported, "cannot alter type of a column used by a generated column").
			Detailf("Column %q is used by generated column %q.", name.Name, by[0].Name).Hintf("drop column %q first", by[0].Name).At(name.Pos)
	}
	return nil
}

// dropGenerated drops, with CASCADE, the generated columns that are computed from a column which is to be dropped.
func (s *Session) dropGenerated(ctx context.Context, t *catalog.Table, action sql.AlterAction) (*catalog.Table, error) {
	by := generatedFrom(t, action.Column.Name)
	if len(by) == 0 {
		return t, nil
	}
	if !action.Cascade {
		return nil, sqlerr.New(sqlerr.DependentObjects, "cannot drop column %s of table %s because other objects depend on it", action.Column.Name, t.Name).
			Detailf("column %s of table %s depends on column %s of table %s", by[0].Name, t.Name, action.Column.Name, t.Name).
			Hintf("use DROP ... CASCADE to drop the dependent objects too").At(action.Column.Pos)
	}
	columns := slices.DeleteFunc(slices.Clone(t.Columns), func(c tablet.Column) bool {
		return slices.ContainsFunc(by, func(b tablet.Column) bool { return b.FieldID == c.FieldID })
	})
	if err := s.putColumns(ctx, t, columns, t.PrimaryIndex, 0); err != nil {
		return nil, err
	}
	return s.tableNow(t.ID)
}

// dropExpression makes a generated column one like others; its values stay.
func dropExpression(t *catalog.Table, columns []tablet.Column, at int, action sql.AlterAction) error {
	if !isComputed(columns[at]) && !action.IfExists {
		return sqlerr.New(sqlerr.ObjectNotInPrerequisite, "column %q of relation %q is not a stored generated column", columns[at].Name, t.Name).
			Hintf("only columns GENERATED ALWAYS AS (...) have an expression").At(action.Column.Pos)
	}
	columns[at].Generated = ""
	return nil
}

// refuseDefault refuses DEFAULT for a column that has its values otherwise.
func refuseDefault(t *catalog.Table, c tablet.Column, action sql.AlterAction) error {
	switch {
	case isComputed(c):
		return sqlerr.New(sqlerr.SyntaxError, "column %q of relation %q is a generated column", c.Name, t.Name).
			Hintf("ALTER COLUMN %s DROP EXPRESSION makes it one like others", quoted(c.Name)).At(action.Column.Pos)
	case c.Identity != "":
		return identityColumn(t, c, action)
	}
	return nil
}

func identityColumn(t *catalog.Table, c tablet.Column, action sql.AlterAction) error {
	return sqlerr.New(sqlerr.SyntaxError, "column %q of relation %q is an identity column", c.Name, t.Name).
		Hintf("its sequence gives its numbers").At(action.Column.Pos)
}
