package engine

import (
	"context"
	"slices"
	"strings"

	"github.com/tidemarkdb/tidemark/catalog"
	"github.com/tidemarkdb/tidemark/extension"
	"github.com/tidemarkdb/tidemark/sql"
	"github.com/tidemarkdb/tidemark/sqlerr"
	"github.com/tidemarkdb/tidemark/tablet"
)

// createIndex runs CREATE INDEX. A unique one is enforced; another only keeps its name, since tablets have what it would
// be for.
func (s *Session) createIndex(ctx context.Context, t *sql.CreateIndex) error {
	return s.atomically(ctx, func() error {
		snapshot, release := s.snapshot()
		defer release()
		table, err := s.table(snapshot, t.Table)
		if err != nil {
			return err
		}
		if err := refuseIndex(table, t); err != nil {
			return err
		}
		name, err := indexName(snapshot, table, t)
		if err != nil {
			return err
		}
		if _, _, err := snapshot.Index(table.Schema, name); err == nil && t.IfNotExists {
			return nil
		}
		index := catalog.Index{Name: name, Unique: t.Unique}
		if err := s.indexExprs(ctx, snapshot, table, &index, t); err != nil {
			return err
		}
		if index.Unique {
			if err := s.checkStored(ctx, snapshot, table, nil, &index); err != nil {
				return err
			}
		}
		return s.putConstraints(ctx, table, table.KeyName, table.Constraints, append(slices.Clone(table.Indexes), index))
	})
}

// addIndex adds an index to a table that is being made.
func (s *Session) addIndex(ctx context.Context, snapshot *catalog.Snapshot, table *catalog.Table, t *sql.CreateIndex) error {
	name, err := indexName(snapshot, table, t)
	if err != nil {
		return err
	}
	index := catalog.Index{Name: name, Unique: t.Unique}
	if err := s.indexExprs(ctx, snapshot, table, &index, t); err != nil {
		return err
	}
	table.Indexes = append(table.Indexes, index)
	return nil
}

func refuseIndex(table *catalog.Table, t *sql.CreateIndex) error {
	switch {
	case t.Aggregating && table.Kind == catalog.CDC:
		return sqlerr.New(sqlerr.FeatureNotSupported, "CDC table %q cannot have an aggregating index", table.Name).
			Hintf("CDC tables take no aggregating indexes; query the table, or aggregate into a table of your own").At(t.Pos)
	case t.Aggregating:
		return sqlerr.New(sqlerr.FeatureNotSupported, "aggregating indexes are not supported").
			Hintf("aggregate into a table with CREATE TABLE ... AS").At(t.Pos)
	case t.Unique && table.Kind == catalog.CDC:
		return sqlerr.New(sqlerr.FeatureNotSupported, "CDC table %q cannot have a unique index", table.Name).
			Hintf("its rows are the source's: let the source keep them unique").At(t.Pos)
	}
	return nil
}

// indexName returns the name of a new index, or the one that PostgreSQL would give it.
func indexName(snapshot *catalog.Snapshot, table *catalog.Table, t *sql.CreateIndex) (string, error) {
	if len(t.Name) > 1 {
		return "", sqlerr.New(sqlerr.SyntaxError, "the name of an index has no schema").
			Hintf("an index lives in the schema of its table").At(t.Name.Position())
	}
	if len(t.Name) == 1 {
		return t.Name[0].Name, nil
	}
	parts := []string{table.Name}
	for _, item := range t.Exprs {
		part := "expr"
		if c, ok := item.Expr.(*sql.Column); ok {
			part = c.Name.Last().Name
		}
		parts = append(parts, part)
	}
	return catalog.FreeName(strings.Join(append(parts, "idx"), "_"), func(name string) bool {
		_, _, err := snapshot.Index(table.Schema, name)
		return err == nil || slices.ContainsFunc(table.Indexes, func(i catalog.Index) bool { return i.Name == name })
	}), nil
}

// indexExprs checks what an index is over.
func (s *Session) indexExprs(ctx context.Context, snapshot *catalog.Snapshot, table *catalog.Table, index *catalog.Index, t *sql.CreateIndex) error {
	add := func(e sql.Expr, what string, condition bool) (string, error) {
		if f := s.changing(e); f != "" {
			return "", sqlerr.New(sqlerr.InvalidObjectDefinition, "functions in %s must be marked IMMUTABLE", what).
				Hintf("%s() may give another value for the same row", f).At(e.Position())
		}
		text, columns, err := s.rowExpr(ctx, snapshot, table, e, what, condition)
		for _, id := range columns {
			if !slices.Contains(index.Columns, id) {
				index.Columns = append(index.Columns, id)
			}
		}
		return text, err
	}
	for _, item := range t.Exprs {
		text, err := add(item.Expr, "index expression", false)
		if err != nil {
			return err
		}
		if c, ok := item.Expr.(*sql.Column); ok && len(c.Name) == 1 {
			text = quoted(c.Name[0].Name)
		}
		index.Exprs = append(index.Exprs, text)
	}
	if t.Where == nil {
		return nil
	}
	var err error
	index.Where, err = add(t.Where, "index predicate", true)
	return err
}

// changing returns a function of an expression that may give another value for the same arguments, "" when none does.
func (s *Session) changing(e sql.Expr) string {
	found := ""
	sql.Walk(e, func(n sql.Node) bool {
		if call, ok := n.(*sql.FuncCall); ok {
			if f := s.engine.functions.Scalar(call.Name.Last().Name); f != nil && f.Volatility != extension.Immutable {
				found = call.Name.Last().Name
			}
		}
		return found == ""
	})
	return found
}

// renameIndex runs ALTER INDEX ... RENAME TO.
func (s *Session) renameIndex(ctx context.Context, t *sql.Alter) error {
	snapshot, release := s.snapshot()
	defer release()
	table, index, err := s.index(snapshot, t.Name)
	if err != nil {
		return sqlerr.From(err).At(t.Name.Position())
	}
	indexes := slices.Clone(table.Indexes)
	at := slices.IndexFunc(indexes, func(i catalog.Index) bool { return i.Name == index.Name })
	indexes[at].Name = t.Actions[0].NewName.Name
	return s.putConstraints(ctx, table, table.KeyName, table.Constraints, indexes)
}

// dropIndexes runs DROP INDEX.
func (s *Session) dropIndexes(ctx context.Context, t *sql.Drop) error {
	return s.atomically(ctx, func() error {
		for _, name := range t.Names {
			snapshot, release := s.snapshot()
			table, index, err := s.index(snapshot, name)
			release()
			if err != nil {
				if t.IfExists && missingOK(err) {
					continue
				}
				return sqlerr.From(err).At(name.Position())
			}
			if index.Unique {
				if err := s.releaseKey(ctx, table, index.Name, index.Columns, t.Cascade); err != nil {
					return err
				}
				if table, err = s.tableNow(table.ID); err != nil {
					return err
				}
			}
			kept := slices.DeleteFunc(slices.Clone(table.Indexes), func(i catalog.Index) bool { return i.Name == index.Name })
			if err := s.putConstraints(ctx, table, table.KeyName, table.Constraints, kept); err != nil {
				return err
			}
		}
		return nil
	})
}

// index finds an index, along the search path when its name is unqualified.
func (s *Session) index(snapshot *catalog.Snapshot, n sql.Name) (*catalog.Table, catalog.Index, error) {
	o, err := split(n)
	if err != nil {
		return nil, catalog.Index{}, err
	}
	if o.schema != "" {
		return snapshot.Index(known(snapshot, o.schema), o.name)
	}
	missing := error(sqlerr.New(sqlerr.UndefinedObject, "index %q does not exist", o.name))
	for _, schema := range s.searchPath() {
		t, i, err := snapshot.Index(known(snapshot, schema), o.name)
		if err == nil {
			return t, i, nil
		}
		if !missingOK(err) {
			missing = err
		}
	}
	return nil, catalog.Index{}, missing
}

// releaseReferences puts before edits that drop tables those that take the foreign keys off which refer to them: of
// tables that go too, and with cascade of others. Without, a reference that stays is an error.
func releaseReferences(snapshot *catalog.Snapshot, edits []catalog.Edit, cascade bool) ([]catalog.Edit, error) {
	var going []*catalog.Table
	gone := map[tablet.TableID]bool{}
	add := func(t *catalog.Table) {
		if !gone[t.ID] {
			gone[t.ID] = true
			going = append(going, t)
		}
	}
	for _, edit := range edits {
		switch e := edit.(type) {
		case *catalog.DropTable:
			if t, ok := snapshot.TableByID(e.Table); ok {
				add(t)
				for _, q := range owned(snapshot, t) {
					edits = append(edits, &catalog.DropSequence{Schema: q.Schema, Name: q.Name})
				}
			}
		case *catalog.DropSchema:
			for t := range snapshot.Tables(e.Name) {
				add(t)
			}
		}
	}
	var out []catalog.Edit
	released := map[tablet.TableID]bool{}
	for _, t := range going {
		for _, id := range t.ReferencedBy {
			by, ok := snapshot.TableByID(id)
			if !ok || id == t.ID || released[id] {
				continue
			}
			refers := func(c catalog.Constraint) bool {
				return c.Kind == catalog.ForeignKey && gone[c.References] && c.References != id
			}
			if !cascade && !gone[id] {
				return nil, catalog.Referenced(t, by, by.Constraints[slices.IndexFunc(by.Constraints, refers)])
			}
			released[id] = true
			edit := &catalog.SetConstraints{Table: id, FromVersion: by.SchemaVersion, KeyName: by.KeyName,
				Constraints: slices.DeleteFunc(slices.Clone(by.Constraints), refers), Indexes: by.Indexes}
			var err error
			if snapshot, err = snapshot.Preview(edit); err != nil { // which changes the tables it referred to as well
				return nil, err
			}
			out = append(out, edit)
		}
	}
	return append(out, edits...), nil
}
