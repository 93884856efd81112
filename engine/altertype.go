package engine

import (
	"context"
	"slices"

	"github.com/tidemarkdb/tidemark/catalog"
	"github.com/tidemarkdb/tidemark/sql"
	"github.com/tidemarkdb/tidemark/sqlerr"
)

// alterType gives a column another type: a column of the new type is filled from it and takes its place.
func (s *Session) alterType(ctx context.Context, t *catalog.Table, at int, action sql.AlterAction) error {
	old := t.Columns[at]
	to, err := s.typeOf(action.Type)
	if err != nil {
		return err
	}
	if old.Type.Equal(to) && action.Using == nil {
		return nil
	}
	if err := s.refuseTypeInViews(ctx, t, at); err != nil {
		return err
	}
	if slices.Contains(t.MergeKey, old.FieldID) {
		if t.Kind == catalog.CDC {
			return sqlerr.New(sqlerr.FeatureNotSupported, "column %q is part of the primary key and keeps its type", old.Name).
				Hintf("create a new CDC table with a key of the type wanted")
		}
		if t, err = s.looseKey(ctx, t); err != nil {
			return err
		}
	}
	if action.Using != nil {
		if err := s.plainExpr(action.Using, "transform expression"); err != nil {
			return err
		}
	}
	fresh := old
	fresh.FieldID, fresh.Type, fresh.Initial, fresh.Nullable = t.NextFieldID, to, "", true
	fresh.Name = freeName(t, old.Name)
	if old.Default != "" {
		e, err := sql.ParseExpr(old.Default)
		if err == nil {
			err = s.checkDefault(ctx, fresh, e)
		}
		if err != nil {
			return sqlerr.New(sqlerr.DatatypeMismatch, "default for column %q cannot be cast automatically to type %s", old.Name, to).
				Hintf("DROP DEFAULT first and SET DEFAULT afterwards")
		}
	}
	if err := s.putColumns(ctx, t, append(slices.Clone(t.Columns), fresh), t.PrimaryIndex, s.rowsAsOf(t)); err != nil {
		return err
	}
	value := action.Using
	if value == nil {
		value = &sql.Column{Name: sql.Name{{Name: old.Name}}, Pos: action.Pos}
	} else {
		value = &sql.Cast{Operand: value, Type: action.Type, Pos: action.Pos}
	}
	if err := s.fillColumn(ctx, t.ID, fresh.Name, value); err != nil {
		return err
	}
	filled, err := s.tableNow(t.ID)
	if err != nil {
		return err
	}
	columns := slices.Clone(filled.Columns[:len(t.Columns)])
	columns[at] = filled.Columns[len(t.Columns)]
	columns[at].Name = old.Name
	index := slices.Clone(filled.PrimaryIndex)
	for i, id := range index {
		if id == old.FieldID {
			index[i] = fresh.FieldID
		}
	}
	if err := s.putColumns(ctx, filled, columns, index, 0); err != nil {
		return err
	}
	if err := s.retype(ctx, t, old.FieldID, fresh.FieldID); err != nil || old.Nullable {
		return err
	}
	now, err := s.tableNow(t.ID)
	if err != nil {
		return err
	}
	return s.setNotNull(ctx, now, at)
}

// retype gives a table back the constraints and indexes it had before a column took another identity, and checks that
// its rows keep them.
func (s *Session) retype(ctx context.Context, before *catalog.Table, from, to int32) error {
	if len(before.Constraints)+len(before.Indexes) == 0 {
		return nil
	}
	now, err := s.tableNow(before.ID)
	if err != nil {
		return err
	}
	ids := func(ids []int32) []int32 {
		ids = slices.Clone(ids)
		if at := slices.Index(ids, from); at >= 0 {
			ids[at] = to
		}
		return ids
	}
	altered := *now
	altered.Constraints, altered.Indexes = slices.Clone(before.Constraints), slices.Clone(before.Indexes)
	snapshot, release := s.snapshot()
	defer release()
	for i := range altered.Constraints {
		c := &altered.Constraints[i]
		if c.Columns = ids(c.Columns); c.Kind == catalog.CheckRows {
			e, err := sql.ParseExpr(c.Expr)
			if err == nil {
				_, _, err = s.rowExpr(ctx, snapshot, &altered, e, "CHECK constraint", true)
			}
			if err != nil {
				return err
			}
		}
	}
	for i := range altered.Indexes {
		altered.Indexes[i].Columns = ids(altered.Indexes[i].Columns)
		if err := s.checkStored(ctx, snapshot, &altered, nil, &altered.Indexes[i]); err != nil {
			return err
		}
	}
	if err := s.checkStored(ctx, snapshot, &altered, altered.Constraints, nil); err != nil {
		return err
	}
	return s.putConstraints(ctx, now, now.KeyName, altered.Constraints, altered.Indexes)
}
