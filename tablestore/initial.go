package tablestore

import (
	"strings"
	"time"

	"github.com/tidemarkdb/tidemark/sqlerr"
	"github.com/tidemarkdb/tidemark/tablet"
	"github.com/tidemarkdb/tidemark/vec"
)

// Initial returns the value a column has in rows written before it was added: [tablet.Column.Initial], a quoted text in
// the form of the column's type, or NULL.
func Initial(c tablet.Column) (vec.Value, error) {
	if c.Initial == "" {
		return vec.NullValue(c.Type), nil
	}
	text, ok := strings.CutPrefix(c.Initial, "'")
	if ok {
		text, ok = strings.CutSuffix(text, "'")
	}
	if !ok {
		return vec.Value{}, badInitial(c, nil)
	}
	v, err := vec.Parse(c.Type, strings.ReplaceAll(text, "''", "'"), time.UTC)
	if err != nil {
		return v, badInitial(c, err)
	}
	return v, nil
}

// InitialText is the inverse of Initial.
func InitialText(v vec.Value) string {
	if v.Null {
		return ""
	}
	return "'" + strings.ReplaceAll(vec.Format(v), "'", "''") + "'"
}

func badInitial(c tablet.Column, err error) error {
	e := sqlerr.New(sqlerr.DataCorrupted, "the initial value %s of column %q is not a constant of type %s", c.Initial, c.Name, c.Type)
	if err != nil {
		e = e.Detailf("%v", err)
	}
	return e.Hintf("run flightsrv check on the data root")
}
