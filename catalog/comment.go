package catalog

import (
	"slices"

	"github.com/tidemarkdb/tidemark/sqlerr"
	"github.com/tidemarkdb/tidemark/tablet"
)

// SetComment sets the comment of a table, or of its column Column when that is not 0; "" takes it away.
type SetComment struct {
	Table  tablet.TableID `json:"table"`
	Column int32          `json:"column,omitempty"` // field id
	Text   string         `json:"text,omitempty"`
}

func (*SetComment) kind() string { return "set_comment" }

func (e *SetComment) apply(d *draft) error {
	t, err := d.table(e.Table)
	if err != nil {
		return err
	}
	changed := *t
	if e.Column == 0 {
		changed.Comment = e.Text
	} else {
		changed.Columns = slices.Clone(t.Columns)
		at := slices.IndexFunc(t.Columns, func(c tablet.Column) bool { return c.FieldID == e.Column })
		if at < 0 {
			return sqlerr.New(sqlerr.UndefinedColumn, "the column of table %q no longer exists", t.Name).Hintf("it was dropped meanwhile")
		}
		changed.Columns[at].Comment = e.Text
	}
	d.putTable(&changed)
	return nil
}
