package engine

import (
	"context"
	"maps"
	"slices"

	"github.com/tidemarkdb/tidemark/catalog"
	"github.com/tidemarkdb/tidemark/sql"
	"github.com/tidemarkdb/tidemark/sqlerr"
)

// comment runs COMMENT ON.
func (s *Session) comment(ctx context.Context, snapshot *catalog.Snapshot, statement sql.Statement) error {
	t, ok := statement.(*sql.Comment)
	if !ok {
		return sqlerr.New(sqlerr.Internal, "%T defines nothing", statement)
	}
	edit, err := s.commentEdit(snapshot, t)
	if err != nil {
		return sqlerr.From(err).At(t.Name.Position())
	}
	if edit == nil {
		return nil
	}
	return s.commit(ctx, edit)
}

func (s *Session) commentEdit(snapshot *catalog.Snapshot, t *sql.Comment) (catalog.Edit, error) {
	text := ""
	if t.Text != nil {
		text = *t.Text
	}
	switch t.Kind {
	case sql.ColumnObject:
		return s.commentColumn(snapshot, t, text)
	case sql.TableObject, sql.ViewObject:
		table, view, err := s.relation(snapshot, t.Name)
		switch {
		case err != nil:
			return nil, err
		case (view != nil) != (t.Kind == sql.ViewObject):
			kind := map[bool]string{true: "a view", false: "a table"}[t.Kind == sql.ViewObject]
			return nil, sqlerr.New(sqlerr.WrongObjectType, "%q is not %s", t.Name.Last().Name, kind).Hintf("COMMENT ON TABLE is for tables, COMMENT ON VIEW for views")
		case view != nil:
			commented := *view
			commented.Comment = text
			return &catalog.CreateView{View: commented, OrReplace: true}, nil
		}
		return &catalog.SetComment{Table: table.ID, Text: text}, nil
	case sql.ConstraintObject:
		return s.commentConstraint(snapshot, t, text)
	case sql.SequenceObject:
		q, err := findSequence(snapshot, s.searchPath(), t.Name)
		if err != nil {
			return nil, err
		}
		return &catalog.SetComment{Schema: q.Schema, Sequence: q.Name, Text: text}, nil
	case sql.IndexObject:
		table, index, err := s.index(snapshot, t.Name)
		if err != nil {
			return nil, err
		}
		return &catalog.SetComment{Table: table.ID, Index: index.Name, Text: text}, nil
	case sql.TypeObject:
		u, err := s.userType(snapshot, t.Name)
		if err != nil {
			return nil, err
		}
		return &catalog.SetComment{Schema: u.Schema, Type: u.Name, Text: text}, nil
	case sql.SchemaObject:
		return &catalog.SetComment{Schema: known(snapshot, t.Name.Last().Name), Text: text}, nil
	}
	return nil, nil
}

func (s *Session) commentConstraint(snapshot *catalog.Snapshot, t *sql.Comment, text string) (catalog.Edit, error) {
	table, err := s.table(snapshot, t.On)
	if err != nil {
		return nil, err
	}
	name := t.Name.Last().Name
	if !slices.ContainsFunc(table.AllConstraints(), func(c catalog.Constraint) bool { return c.Name == name }) {
		return nil, sqlerr.New(sqlerr.UndefinedObject, "constraint %q for table %q does not exist", name, table.Name).
			Hintf("information_schema.table_constraints lists those that do")
	}
	return &catalog.SetComment{Table: table.ID, Constraint: name, Text: text}, nil
}

func (s *Session) commentColumn(snapshot *catalog.Snapshot, t *sql.Comment, text string) (catalog.Edit, error) {
	if len(t.Name) < 2 {
		return nil, sqlerr.New(sqlerr.SyntaxError, "column name must be qualified").Hintf("write table.column")
	}
	table, view, err := s.relation(snapshot, t.Name[:len(t.Name)-1])
	if err != nil {
		return nil, err
	}
	if view != nil {
		return s.commentViewColumn(snapshot, view, t.Name.Last(), text)
	}
	c, known := table.Column(t.Name.Last().Name)
	if !known {
		return nil, missingColumn(table, t.Name.Last())
	}
	return &catalog.SetComment{Table: table.ID, Column: c.FieldID, Text: text}, nil
}

func (s *Session) commentViewColumn(snapshot *catalog.Snapshot, view *catalog.View, column sql.Ident, text string) (catalog.Edit, error) {
	schema, err := s.viewSchema(snapshot, view)
	if err != nil {
		return nil, err
	}
	if schema.Index(column.Name) < 0 {
		return nil, sqlerr.New(sqlerr.UndefinedColumn, "column %q of relation %q does not exist", column.Name, view.Name).
			Hintf("DESCRIBE %s lists those that do", view.Name)
	}
	commented := *view
	commented.ColumnComments = maps.Clone(view.ColumnComments)
	if commented.ColumnComments == nil {
		commented.ColumnComments = map[string]string{}
	}
	if commented.ColumnComments[column.Name] = text; text == "" {
		delete(commented.ColumnComments, column.Name)
	}
	return &catalog.CreateView{View: commented, OrReplace: true}, nil
}
