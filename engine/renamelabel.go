package engine

import (
	"context"
	"slices"

	"github.com/tidemarkdb/tidemark/catalog"
	"github.com/tidemarkdb/tidemark/sql"
	"github.com/tidemarkdb/tidemark/sqlerr"
	"github.com/tidemarkdb/tidemark/vec"
)

// renameLabel gives a label of an enumeration another name. Rows hold labels as they are, so that those with it are
// written anew: the type has both labels meanwhile.
func (s *Session) renameLabel(ctx context.Context, t *catalog.UserType, from, to string) error {
	both := *t
	at := slices.Index(t.Labels, from)
	both.Labels = slices.Insert(slices.Clone(t.Labels), at+1, to)
	if err := s.commit(ctx, &catalog.AlterType{Type: both}); err != nil {
		return err
	}
	snapshot, release := s.snapshot()
	defer release()
	for table := range snapshot.Tables("") {
		if err := s.renameLabelIn(ctx, t, table, from, to); err != nil {
			return err
		}
	}
	renamed := both
	renamed.Labels = slices.Delete(slices.Clone(both.Labels), at, at+1)
	return s.commit(ctx, &catalog.AlterType{Type: renamed})
}

func (s *Session) renameLabelIn(ctx context.Context, t *catalog.UserType, table *catalog.Table, from, to string) error {
	columns, defaults := slices.Clone(table.Columns), false
	for _, c := range t.Columns(table) {
		if c.Type.ID != vec.Text {
			return sqlerr.New(sqlerr.FeatureNotSupported, "label %q cannot be renamed: column %s of table %s holds it within another type", from, c.Name, table.Name).
				Hintf("ADD VALUE the new label and UPDATE the rows")
		}
		column := &sql.Column{Name: sql.Name{{Name: c.Name, Quoted: true}}}
		_, err := s.modifyOnce(ctx, &sql.Update{Table: nameOf(table),
			Set:   []sql.Assignment{{Columns: []sql.Ident{{Name: c.Name}}, Value: &sql.String{Value: to}}},
			Where: &sql.Binary{Op: "=", Left: column, Right: &sql.String{Value: from}}}, nil)
		if err != nil {
			return err
		}
		for i := range columns {
			if columns[i].FieldID == c.FieldID {
				changed := renamedDefault(&columns[i].Default, from, to)
				defaults = renamedDefault(&columns[i].Initial, from, to) || changed || defaults
			}
		}
	}
	if !defaults {
		return nil
	}
	now, err := s.tableNow(table.ID)
	if err != nil {
		return err
	}
	return s.putColumns(ctx, now, columns, now.PrimaryIndex, 0)
}

// renamedDefault changes the text of a default in which a label is written, and reports whether it did.
func renamedDefault(text *string, from, to string) bool {
	e, err := sql.ParseExpr(*text)
	if *text == "" || err != nil {
		return false
	}
	found := false
	sql.Walk(e, func(n sql.Node) bool {
		if s, ok := n.(*sql.String); ok && s.Value == from {
			s.Value, found = to, true
		}
		return true
	})
	if found {
		*text = sql.Text(e)
	}
	return found
}
