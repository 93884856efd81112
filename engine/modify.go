package engine

import (
	"context"

	"github.com/tidemarkdb/tidemark/catalog"
	"github.com/tidemarkdb/tidemark/sql"
	"github.com/tidemarkdb/tidemark/sqlerr"
)

// refuseDML returns why a table takes no direct changes, nil when it does.
func refuseDML(t *catalog.Table, action string) error {
	if t.OpenToDML() {
		return nil
	}
	return sqlerr.New(sqlerr.WrongObjectType, "cannot %s CDC table %q: in read mode its state belongs to the ingest worker", action, t.Name).
		Hintf("INSERT, UPDATE, DELETE, MERGE and TRUNCATE need a table with merge_mode = 'write'; change the rows at the source instead")
}

// alter runs ALTER TABLE, VIEW, SCHEMA.
func (s *Session) alter(ctx context.Context, snapshot *catalog.Snapshot, t *sql.Alter) (*Result, error) {
	tag := map[sql.ObjectKind]string{sql.TableObject: "ALTER TABLE", sql.ViewObject: "ALTER VIEW", sql.SchemaObject: "ALTER SCHEMA"}[t.Kind]
	if t.Kind != sql.TableObject {
		return nil, sqlerr.New(sqlerr.FeatureNotSupported, "%s is not supported", tag).Hintf("drop it and create it anew").At(t.Pos)
	}
	table, err := s.table(snapshot, t.Name)
	if err != nil {
		if t.IfExists && missingOK(err) {
			return done(tag), nil
		}
		return nil, err
	}
	for _, action := range t.Actions {
		if err := s.alterTable(ctx, table, action); err != nil {
			return nil, sqlerr.From(err).At(action.Pos)
		}
	}
	s.engine.workers.wake()
	return done(tag), nil
}

// alterTable applies one action of ALTER TABLE.
func (s *Session) alterTable(ctx context.Context, t *catalog.Table, action sql.AlterAction) error {
	switch action.Kind {
	case sql.RenameTo:
		return s.commit(ctx, &catalog.RenameTable{Table: t.ID, Schema: t.Schema, Name: action.NewName.Name})
	case sql.SetSchema:
		return s.commit(ctx, &catalog.RenameTable{Table: t.ID, Schema: action.NewName.Name, Name: t.Name})
	}
	if !t.OpenToDML() {
		what := "its columns cannot be changed"
		if action.Kind == sql.SetPrimaryIndex {
			what = "its PRIMARY INDEX cannot be changed"
		}
		return sqlerr.New(sqlerr.WrongObjectType, "cannot alter CDC table %q: in read mode %s", t.Name, what).
			Hintf("renaming it is allowed; for other columns create a new stream and a new CDC table")
	}
	return s.alterColumns(ctx, t, action)
}
