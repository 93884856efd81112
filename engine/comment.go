package engine

import (
	"context"

	"github.com/tidemarkdb/tidemark/catalog"
	"github.com/tidemarkdb/tidemark/sql"
	"github.com/tidemarkdb/tidemark/sqlerr"
)

// comment runs COMMENT ON. Tables, their columns and views keep the text; of other objects it is checked that they are
// there.
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
	case sql.SequenceObject:
		_, err := findSequence(snapshot, s.searchPath(), t.Name)
		return nil, err
	case sql.IndexObject:
		_, _, err := s.index(snapshot, t.Name)
		return nil, err
	case sql.TypeObject:
		_, err := s.userType(snapshot, t.Name)
		return nil, err
	case sql.SchemaObject:
		if name := known(snapshot, t.Name.Last().Name); !snapshot.HasSchema(name) {
			return nil, sqlerr.New(sqlerr.InvalidSchema, "schema %q does not exist", name).Hintf("SHOW SCHEMAS lists those that do")
		}
	}
	return nil, nil
}

func (s *Session) commentColumn(snapshot *catalog.Snapshot, t *sql.Comment, text string) (catalog.Edit, error) {
	if len(t.Name) < 2 {
		return nil, sqlerr.New(sqlerr.SyntaxError, "column name must be qualified").Hintf("write table.column")
	}
	table, view, err := s.relation(snapshot, t.Name[:len(t.Name)-1])
	if err != nil || view != nil {
		return nil, err // columns of views keep none
	}
	c, known := table.Column(t.Name.Last().Name)
	if !known {
		return nil, missingColumn(table, t.Name.Last())
	}
	return &catalog.SetComment{Table: table.ID, Column: c.FieldID, Text: text}, nil
}
