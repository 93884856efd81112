package engine

import (
	"context"
	"slices"

	"github.com/tidemarkdb/tidemark/catalog"
	"github.com/tidemarkdb/tidemark/sql"
)

// dropKey drops the primary key that a table was created with.
func (s *Session) dropKey(ctx context.Context, t *catalog.Table, cascade bool) error {
	if err := s.releaseKey(ctx, t, t.KeyConstraint(), t.MergeKey, cascade); err != nil {
		return err
	}
	now, err := s.tableNow(t.ID)
	if err != nil {
		return err
	}
	return s.commit(ctx, &catalog.SetConstraints{Table: t.ID, FromVersion: now.SchemaVersion, DropKey: true, Constraints: now.Constraints, Indexes: now.Indexes})
}

// looseKey makes the primary key that a table was created with a constraint like one that was added later, so that its
// columns can be altered. It returns the table then.
func (s *Session) looseKey(ctx context.Context, t *catalog.Table) (*catalog.Table, error) {
	key := catalog.Constraint{Name: t.KeyConstraint(), Kind: catalog.PrimaryKey, Columns: t.MergeKey}
	err := s.commit(ctx, &catalog.SetConstraints{Table: t.ID, FromVersion: t.SchemaVersion, DropKey: true,
		Constraints: append(slices.Clone(t.Constraints), key), Indexes: t.Indexes})
	if err != nil {
		return nil, err
	}
	return s.tableNow(t.ID)
}

// dropKeyColumn drops the primary key that a column to be dropped is part of.
func (s *Session) dropKeyColumn(ctx context.Context, t *catalog.Table, id int32, action sql.AlterAction) (*catalog.Table, error) {
	if t.Kind == catalog.CDC || !slices.Contains(t.MergeKey, id) {
		return t, nil
	}
	if err := s.dropKey(ctx, t, action.Cascade); err != nil {
		return nil, err
	}
	return s.tableNow(t.ID)
}
