package engine

import (
	"context"

	"github.com/tidemarkdb/tidemark/catalog"
	"github.com/tidemarkdb/tidemark/sql"
	"github.com/tidemarkdb/tidemark/sqlerr"
)

// drop runs DROP of any kind of object. Several names go in one commit.
func (s *Session) drop(ctx context.Context, snapshot *catalog.Snapshot, t *sql.Drop) (*Result, error) {
	if t.Kind == sql.IndexObject {
		return done("DROP INDEX"), s.dropIndexes(ctx, t)
	}
	if t.Kind == sql.TypeObject {
		return done("DROP TYPE"), s.dropTypes(ctx, t)
	}
	if t.Kind == sql.SequenceObject {
		return done("DROP SEQUENCE"), s.dropSequences(ctx, t)
	}
	var edits []catalog.Edit
	for _, name := range t.Names {
		edit, err := s.dropEdit(snapshot, t, name)
		if err != nil {
			if t.IfExists && missingOK(err) {
				continue
			}
			return nil, err
		}
		edits = append(edits, edit)
	}
	tag := map[sql.ObjectKind]string{sql.TableObject: "DROP TABLE", sql.ViewObject: "DROP VIEW", sql.SchemaObject: "DROP SCHEMA",
		sql.StreamObject: "DROP STREAM", sql.IndexObject: "DROP INDEX"}[t.Kind]
	if len(edits) == 0 {
		return done(tag), nil
	}
	if t.Kind == sql.StreamObject {
		return done(tag), s.dropStreams(ctx, snapshot, edits)
	}
	edits, err := releaseReferences(snapshot, edits, t.Cascade)
	if err == nil {
		edits, err = s.releaseViews(ctx, snapshot, edits, t.Cascade)
	}
	if err != nil {
		return nil, err
	}
	if err := s.commit(ctx, edits...); err != nil {
		return nil, err
	}
	if s.tx == nil {
		s.engine.workers.stopDropped(ctx, s.engine.catalog.Snapshot())
	}
	s.engine.workers.wake()
	return done(tag), nil
}

func (s *Session) dropEdit(snapshot *catalog.Snapshot, t *sql.Drop, name sql.Name) (catalog.Edit, error) {
	switch t.Kind {
	case sql.SchemaObject:
		o, err := split(name)
		return &catalog.DropSchema{Name: o.name, IfExists: t.IfExists, Cascade: t.Cascade}, err
	case sql.StreamObject:
		o, err := split(name)
		if err != nil {
			return nil, err
		}
		if _, err := snapshot.Stream(o.name); err != nil {
			return nil, sqlerr.From(err).At(name.Position())
		}
		return &catalog.DropStream{Name: o.name, IfExists: t.IfExists}, nil
	}
	table, view, err := s.relation(snapshot, name)
	if err != nil {
		return nil, err
	}
	switch {
	case t.Kind == sql.ViewObject && view == nil:
		return nil, sqlerr.New(sqlerr.WrongObjectType, "%q is not a view", table.Name).Hintf("use DROP TABLE to remove a table").At(name.Position())
	case t.Kind == sql.ViewObject:
		return &catalog.DropView{Schema: view.Schema, Name: view.Name}, nil
	case table == nil:
		return nil, sqlerr.New(sqlerr.WrongObjectType, "%q is not a table", view.Name).Hintf("use DROP VIEW to remove a view").At(name.Position())
	}
	return &catalog.DropTable{Table: table.ID}, nil
}
