package engine

import (
	"context"
	"maps"
	"time"

	"github.com/tidemarkdb/tidemark/catalog"
	"github.com/tidemarkdb/tidemark/sql"
	"github.com/tidemarkdb/tidemark/sqlerr"
	"github.com/tidemarkdb/tidemark/tablet"
)

// refuseDML returns why a table takes no direct changes, nil when it does.
func refuseDML(t *catalog.Table, action string) error {
	if t.OpenToDML() {
		return nil
	}
	return sqlerr.New(sqlerr.WrongObjectType, "cannot %s CDC table %q: in read mode its state belongs to the ingest worker", action, t.Name).
		Hintf("INSERT, UPDATE, DELETE, MERGE and TRUNCATE need a table with merge_mode = 'write'; change the rows at the source instead")
}

var alterTags = map[sql.ObjectKind]string{sql.TableObject: "ALTER TABLE", sql.ViewObject: "ALTER VIEW", sql.SchemaObject: "ALTER SCHEMA", sql.SequenceObject: "ALTER SEQUENCE", sql.IndexObject: "ALTER INDEX"}

// alter runs ALTER TABLE, VIEW, SCHEMA. All actions of a statement happen, or none.
func (s *Session) alter(ctx context.Context, t *sql.Alter) (*Result, error) {
	tag, known := alterTags[t.Kind]
	if !known {
		return nil, sqlerr.New(sqlerr.FeatureNotSupported, "this form of ALTER is not supported").
			Hintf("ALTER takes a TABLE, a VIEW or a SCHEMA").At(t.Pos)
	}
	if s.engine.options.ReadOnly {
		return nil, readOnlyEngine()
	}
	err := s.atomically(ctx, func() error {
		switch t.Kind {
		case sql.ViewObject:
			return s.alterView(ctx, t)
		case sql.SchemaObject:
			return s.alterSchema(ctx, t)
		case sql.SequenceObject:
			return s.renameSequence(ctx, t)
		case sql.IndexObject:
			return s.renameIndex(ctx, t)
		}
		return s.alterTable(ctx, t)
	})
	if err != nil {
		if t.IfExists && missingOK(err) {
			return done(tag), nil
		}
		return nil, err
	}
	s.engine.workers.wake()
	return done(tag), nil
}

// atomically runs several statements' worth of edits as one: in the open transaction, or in one of their own, which
// starts anew when another commit came in its way.
func (s *Session) atomically(ctx context.Context, change func() error) error {
	if s.tx != nil {
		return change()
	}
	for run := 1; ; run++ {
		s.tx = &transaction{started: time.Now()}
		err := change()
		if err == nil {
			_, err = s.endTransaction(ctx)
		}
		s.rollback()
		if sqlerr.Code(err) != sqlerr.SerializationFailure || run == maxStatementRuns {
			return err
		}
	}
}

// tableNow returns a table as the open transaction sees it.
func (s *Session) tableNow(id tablet.TableID) (*catalog.Table, error) {
	snapshot, release := s.snapshot()
	defer release()
	t, ok := snapshot.TableByID(id)
	if !ok {
		return nil, sqlerr.New(sqlerr.UndefinedTable, "the table no longer exists").Hintf("it was dropped meanwhile")
	}
	return t, nil
}

func (s *Session) alterTable(ctx context.Context, statement *sql.Alter) error {
	snapshot, release := s.snapshot()
	defer release()
	if _, view, err := s.relation(snapshot, statement.Name); err == nil && view != nil && len(statement.Actions) == 1 {
		if kind := statement.Actions[0].Kind; kind == sql.RenameTo || kind == sql.SetSchema || kind == sql.RenameColumn { // as PostgreSQL lets views be renamed
			return s.alterView(ctx, statement)
		}
	}
	table, err := s.table(snapshot, statement.Name)
	if err != nil {
		return err
	}
	for _, action := range statement.Actions {
		if err := s.alterOne(ctx, table.ID, action); err != nil {
			return sqlerr.From(err).At(action.Pos)
		}
	}
	return nil
}

// alterOne applies one action of ALTER TABLE.
func (s *Session) alterOne(ctx context.Context, id tablet.TableID, action sql.AlterAction) error {
	t, err := s.tableNow(id)
	if err != nil {
		return err
	}
	switch action.Kind {
	case sql.RenameTo:
		var edits []catalog.Edit
		if t.Kind == catalog.Managed && len(t.MergeKey) > 0 && t.KeyName == "" { // the constraint keeps its name
			edits = append(edits, &catalog.SetConstraints{Table: t.ID, FromVersion: t.SchemaVersion, KeyName: t.KeyConstraint(),
				Constraints: t.Constraints, Indexes: t.Indexes})
		}
		return s.moveTable(ctx, t, object{t.Schema, action.NewName.Name}, edits)
	case sql.SetSchema:
		return s.moveTable(ctx, t, object{action.NewName.Name, t.Name}, nil)
	case sql.SetOptions:
		return sqlerr.New(sqlerr.FeatureNotSupported, "the options of a table are fixed when it is created").
			Hintf("create a new table with the options wanted")
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

// alterView renames a view or a column of it, or moves it to another schema. Views that read it follow.
func (s *Session) alterView(ctx context.Context, t *sql.Alter) error {
	snapshot, release := s.snapshot()
	defer release()
	table, view, err := s.relation(snapshot, t.Name)
	if err != nil {
		return err
	}
	if view == nil {
		return sqlerr.New(sqlerr.WrongObjectType, "%q is not a view", table.Name).Hintf("use ALTER TABLE").At(t.Name.Position())
	}
	from := object{view.Schema, view.Name}
	switch action := t.Actions[0]; action.Kind {
	case sql.RenameColumn:
		return s.renameViewColumn(ctx, snapshot, view, action)
	case sql.SetSchema:
		return s.commit(ctx, s.followMoved(snapshot, map[object]object{from: {action.NewName.Name, view.Name}})...)
	default:
		return s.commit(ctx, s.followMoved(snapshot, map[object]object{from: {view.Schema, action.NewName.Name}})...)
	}
}

// renameViewColumn renames a column of a view.
func (s *Session) renameViewColumn(ctx context.Context, snapshot *catalog.Snapshot, view *catalog.View, action sql.AlterAction) error {
	schema, err := s.viewSchema(snapshot, view)
	if err != nil {
		return err
	}
	from, to := action.Column.Name, action.NewName.Name
	at := schema.Index(from)
	if at < 0 {
		return sqlerr.New(sqlerr.UndefinedColumn, "column %q does not exist", from).Hintf("DESCRIBE %s lists those that do", view.Name).At(action.Column.Pos)
	}
	if schema.Index(to) >= 0 {
		return sqlerr.New(sqlerr.DuplicateColumn, "column %q of relation %q already exists", to, view.Name).Hintf("choose another name").At(action.NewName.Pos)
	}
	changed := *view
	changed.Columns = nil
	for _, c := range schema {
		changed.Columns = append(changed.Columns, c.Name)
	}
	changed.Columns[at] = to
	if text := view.ColumnComments[from]; text != "" {
		changed.ColumnComments = maps.Clone(view.ColumnComments)
		delete(changed.ColumnComments, from)
		changed.ColumnComments[to] = text
	}
	change := &catalog.CreateView{View: changed, OrReplace: true}
	edits := s.followRenamed(snapshot, object{view.Schema, view.Name}, from, to, change)
	return s.commit(ctx, append([]catalog.Edit{change}, edits...)...)
}

// moveTable gives a table another name or schema, in the views that read it too.
func (s *Session) moveTable(ctx context.Context, t *catalog.Table, to object, edits []catalog.Edit) error {
	snapshot, release := s.snapshot()
	defer release()
	edits = append(edits, &catalog.RenameTable{Table: t.ID, Schema: to.schema, Name: to.name})
	edits = append(edits, s.followMoved(snapshot, map[object]object{{t.Schema, t.Name}: to})...)
	return s.commit(ctx, edits...)
}

// alterSchema renames a schema: everything in it moves to one of the new name.
func (s *Session) alterSchema(ctx context.Context, t *sql.Alter) error {
	snapshot, release := s.snapshot()
	defer release()
	o, err := split(t.Name)
	if err != nil {
		return err
	}
	to := t.Actions[0].NewName
	if !snapshot.HasSchema(o.name) {
		return sqlerr.New(sqlerr.InvalidSchema, "schema %q does not exist", o.name).Hintf("SHOW SCHEMAS lists those that do").At(t.Name.Position())
	}
	if isTemporary(o.name) || isTemporary(to.Name) {
		return sqlerr.New(sqlerr.ReservedName, "schema %q belongs to a session", o.name).Hintf("name another schema").At(t.Name.Position())
	}
	edits := []catalog.Edit{&catalog.CreateSchema{Name: to.Name}}
	moved := map[object]object{}
	for table := range snapshot.Tables(o.name) {
		edits = append(edits, &catalog.RenameTable{Table: table.ID, Schema: to.Name, Name: table.Name})
		moved[object{o.name, table.Name}] = object{to.Name, table.Name}
	}
	for view := range snapshot.Views(o.name) {
		moved[object{o.name, view.Name}] = object{to.Name, view.Name}
	}
	edits = append(edits, s.followMoved(snapshot, moved)...)
	for q := range snapshot.Sequences(o.name) {
		return sqlerr.New(sqlerr.FeatureNotSupported, "schema %q with sequence %q in it cannot be renamed", o.name, q.Name).
			Hintf("create the new schema and move what is in it with SET SCHEMA")
	}
	return s.commit(ctx, append(edits, &catalog.DropSchema{Name: o.name})...)
}
