package maskindex

import (
	"github.com/tidemarkdb/tidemark/sqlerr"
	"github.com/tidemarkdb/tidemark/vec"
)

// Column is one column of a merge key.
type Column struct {
	Name string
	Type vec.Type
}

// Layout says how the columns of a merge key become a fingerprint. It is immutable.
type Layout struct {
	columns []Column
	width   Width
}

// variable marks types whose encodings have no fixed size.
const variable = -1

// keyBytes returns the size of a type's canonical encoding in bytes, variable, or 0 for types that cannot be keys.
func keyBytes(t vec.Type) int {
	switch t.ID {
	case vec.Bool, vec.Int16, vec.Int32, vec.Int64, vec.Float32, vec.Float64, vec.Date, vec.Time, vec.TimeTZ, vec.Timestamp, vec.TimestampTZ,
		vec.Decimal, vec.UUID, vec.Interval:
		return t.Phys().Width()
	case vec.Text, vec.Bytea:
		return variable
	}
	return 0
}

// KeyType reports whether a column of type t can be part of a merge key.
func KeyType(t vec.Type) bool { return keyBytes(t) != 0 }

// NewLayout returns the layout of a merge key. Keys that take at most 8 bytes get 64-bit fingerprints, others 128.
func NewLayout(columns []Column) (*Layout, error) {
	if len(columns) == 0 {
		return nil, sqlerr.New(sqlerr.InvalidTableDefinition, "a merge key needs at least one column").
			Hintf("Declare PRIMARY KEY (column, ...) NOT ENFORCED.")
	}
	total, width := 0, Width64
	for _, c := range columns {
		switch n := keyBytes(c.Type); n {
		case 0:
			return nil, sqlerr.New(sqlerr.InvalidTableDefinition, "column %q of type %s cannot be part of a merge key",
				c.Name, c.Type).Hintf("Merge keys take BOOLEAN, SMALLINT, INTEGER, BIGINT, REAL, DOUBLE PRECISION, NUMERIC, DATE, TIME, " +
				"TIMETZ, TIMESTAMP, TIMESTAMPTZ, INTERVAL, TEXT, BYTEA and UUID.")
		case variable:
			width = Width128
		default:
			total += n
		}
	}
	if total > 8 {
		width = Width128
	}
	return &Layout{columns: append([]Column(nil), columns...), width: width}, nil
}

// Width returns the width of the layout's fingerprints.
func (l *Layout) Width() Width { return l.width }

// Columns returns the columns of the key. The caller must not change them.
func (l *Layout) Columns() []Column { return l.columns }
