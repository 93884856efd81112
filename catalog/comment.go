package catalog

import (
	"slices"

	"github.com/tidemarkdb/tidemark/sqlerr"
	"github.com/tidemarkdb/tidemark/tablet"
)

// SetComment sets the comment of one object; "" takes it away. The object is the table Table, or of it the column
// Column, the constraint Constraint or the index Index where one is named. Without a table it is the sequence or type
// of a schema, or the schema itself.
type SetComment struct {
	Table      tablet.TableID `json:"table"`
	Column     int32          `json:"column,omitempty"` // field id
	Constraint string         `json:"constraint,omitempty"`
	Index      string         `json:"index,omitempty"`
	Schema     string         `json:"schema,omitempty"`
	Sequence   string         `json:"sequence,omitempty"`
	Type       string         `json:"type,omitempty"`
	Text       string         `json:"text,omitempty"`
}

func (*SetComment) kind() string { return "set_comment" }

func (e *SetComment) apply(d *draft) error {
	if e.Table != 0 {
		return e.applyToTable(d)
	}
	switch {
	case e.Sequence != "":
		q, err := d.current().Sequence(e.Schema, e.Sequence)
		if err != nil {
			return err
		}
		commented := *q
		commented.Comment = e.Text
		d.relations.set(keyFor(q.Schema, q.Name), relation{sequence: &commented})
	case e.Type != "":
		t, err := d.current().UserType(e.Schema, e.Type)
		if err != nil {
			return err
		}
		commented := *t
		commented.Comment = e.Text
		d.types.set(keyFor(t.Schema, t.Name), &commented)
	default:
		if _, ok := d.schemas.get(e.Schema); !ok {
			return d.current().noSchema(e.Schema)
		}
		d.schemas.set(e.Schema, &Schema{Name: e.Schema, Comment: e.Text})
	}
	return nil
}

func (e *SetComment) applyToTable(d *draft) error {
	t, err := d.table(e.Table)
	if err != nil {
		return err
	}
	changed := *t
	gone := func(what string) error {
		return sqlerr.New(sqlerr.UndefinedObject, "the %s of table %q no longer exists", what, t.Name).Hintf("it was dropped meanwhile")
	}
	switch {
	case e.Column != 0:
		changed.Columns = slices.Clone(t.Columns)
		at := slices.IndexFunc(t.Columns, func(c tablet.Column) bool { return c.FieldID == e.Column })
		if at < 0 {
			return sqlerr.New(sqlerr.UndefinedColumn, "the column of table %q no longer exists", t.Name).Hintf("it was dropped meanwhile")
		}
		changed.Columns[at].Comment = e.Text
	case e.Constraint != "" && len(t.MergeKey) > 0 && e.Constraint == t.KeyConstraint():
		changed.KeyComment = e.Text
	case e.Constraint != "":
		changed.Constraints = slices.Clone(t.Constraints)
		at := slices.IndexFunc(t.Constraints, func(c Constraint) bool { return c.Name == e.Constraint })
		if at < 0 {
			return gone("constraint")
		}
		changed.Constraints[at].Comment = e.Text
	case e.Index != "":
		changed.Indexes = slices.Clone(t.Indexes)
		at := slices.IndexFunc(t.Indexes, func(i Index) bool { return i.Name == e.Index })
		if at < 0 {
			return gone("index")
		}
		changed.Indexes[at].Comment = e.Text
	default:
		changed.Comment = e.Text
	}
	d.putTable(&changed)
	return nil
}
