package engine

import (
	"context"
	"slices"

	"github.com/tidemarkdb/tidemark/catalog"
	"github.com/tidemarkdb/tidemark/sql"
	"github.com/tidemarkdb/tidemark/sqlerr"
	"github.com/tidemarkdb/tidemark/tablet"
)

// addConstraint runs ALTER TABLE ... ADD constraint: the rows there are must keep it.
func (s *Session) addConstraint(ctx context.Context, t *catalog.Table, k sql.Constraint) error {
	snapshot, release := s.snapshot()
	defer release()
	altered := *t
	altered.Constraints = slices.Clone(t.Constraints)
	m := &constraintMaker{session: s, ctx: ctx, snapshot: snapshot, table: &altered, key: t.MergeKey}
	if k.Kind == sql.PrimaryKey {
		return s.addPrimaryKey(ctx, t, m, k)
	}
	if err := m.add(k); err != nil {
		return err
	}
	if err := s.checkStored(ctx, snapshot, &altered, altered.Constraints[len(t.Constraints):], nil); err != nil {
		return err
	}
	return s.putConstraints(ctx, t, altered.KeyName, altered.Constraints, t.Indexes)
}

func (s *Session) putConstraints(ctx context.Context, t *catalog.Table, keyName string, constraints []catalog.Constraint, indexes []catalog.Index) error {
	return s.commit(ctx, &catalog.SetConstraints{Table: t.ID, FromVersion: t.SchemaVersion, KeyName: keyName,
		Constraints: constraints, Indexes: indexes, RowsAsOf: s.rowsAsOf(t)})
}

// addPrimaryKey adds a key to a table that has none: a constraint beside the columns' NOT NULL.
func (s *Session) addPrimaryKey(ctx context.Context, t *catalog.Table, m *constraintMaker, k sql.Constraint) error {
	if t.Kind == catalog.CDC || len(t.PrimaryKey()) > 0 {
		return sqlerr.New(sqlerr.InvalidTableDefinition, "multiple primary keys for table %q are not allowed", t.Name).
			Hintf("it has one: add a UNIQUE constraint").At(k.Pos)
	}
	columns, err := m.columns(k.Columns, k.Pos)
	if err != nil {
		return err
	}
	c := catalog.Constraint{Name: k.Name.Name, Kind: catalog.PrimaryKey, Columns: columns}
	if c.Name == "" {
		c.Name = m.name(c)
	}
	snapshot, release := s.snapshot()
	defer release()
	if err := s.checkStored(ctx, snapshot, t, []catalog.Constraint{c}, nil); err != nil {
		return err
	}
	if err := s.putConstraints(ctx, t, t.KeyName, append(slices.Clone(t.Constraints), c), t.Indexes); err != nil {
		return err
	}
	for _, id := range columns {
		now, err := s.tableNow(t.ID)
		if err != nil {
			return err
		}
		at := slices.IndexFunc(now.Columns, func(c tablet.Column) bool { return c.FieldID == id })
		if now.Columns[at].Nullable {
			if err := s.setNotNull(ctx, now, at); err != nil {
				return err
			}
		}
	}
	return nil
}

// dropConstraint runs ALTER TABLE ... DROP CONSTRAINT.
func (s *Session) dropConstraint(ctx context.Context, t *catalog.Table, action sql.AlterAction) error {
	at := slices.IndexFunc(t.Constraints, func(c catalog.Constraint) bool { return c.Name == action.Column.Name })
	switch {
	case at >= 0:
	case len(t.MergeKey) > 0 && action.Column.Name == t.KeyConstraint():
		if t.Kind == catalog.CDC {
			return sqlerr.New(sqlerr.FeatureNotSupported, "the key of CDC table %q cannot be dropped", t.Name).
				Hintf("it says which row a change is of").At(action.Column.Pos)
		}
		return s.dropKey(ctx, t, action.Cascade)
	case action.IfExists:
		return nil
	default:
		return sqlerr.New(sqlerr.UndefinedObject, "constraint %q of relation %q does not exist", action.Column.Name, t.Name).
			Hintf("information_schema.table_constraints lists those that do").At(action.Column.Pos)
	}
	if c := t.Constraints[at]; c.Kind == catalog.UniqueKey || c.Kind == catalog.PrimaryKey {
		if err := s.releaseKey(ctx, t, c.Name, c.Columns, action.Cascade); err != nil {
			return err
		}
	}
	now, err := s.tableNow(t.ID) // its own foreign keys may have gone
	if err != nil {
		return err
	}
	kept := slices.DeleteFunc(slices.Clone(now.Constraints), func(c catalog.Constraint) bool { return c.Name == action.Column.Name })
	return s.putConstraints(ctx, now, now.KeyName, kept, now.Indexes)
}

// releaseKey drops the foreign keys that refer to columns, or refuses.
func (s *Session) releaseKey(ctx context.Context, t *catalog.Table, name string, columns []int32, cascade bool) error {
	for _, id := range t.ReferencedBy {
		by, err := s.tableNow(id)
		if err != nil {
			return err
		}
		kept := slices.DeleteFunc(slices.Clone(by.Constraints), func(c catalog.Constraint) bool {
			return c.Kind == catalog.ForeignKey && c.References == t.ID && !slices.ContainsFunc(c.RefColumns, func(id int32) bool { return !slices.Contains(columns, id) })
		})
		if len(kept) == len(by.Constraints) {
			continue
		}
		if !cascade {
			return sqlerr.New(sqlerr.DependentObjects, "cannot drop constraint %s on table %s because other objects depend on it", name, t.Name).
				Detailf("a foreign key of table %s depends on it", by.Name).Hintf("use DROP ... CASCADE to drop the dependent objects too")
		}
		if err := s.putConstraints(ctx, by, by.KeyName, kept, by.Indexes); err != nil {
			return err
		}
	}
	return nil
}
