package tablet

import (
	"encoding/json"
	"fmt"

	"github.com/tidemarkdb/tidemark/vec"
)

// Column is one column of a table. The field id is its identity: it is the Iceberg and Parquet field id, is never
// used again after the column is dropped, and survives renames.
type Column struct {
	FieldID  int32
	Name     string
	Type     vec.Type
	Nullable bool
	Default  string // SQL text of the DEFAULT expression, "" when there is none

	// Initial is the value rows written before the column was added take, as SQL text of a constant; "" is NULL.
	Initial string

	Generated string // SQL text over the other columns' bare names that the column is computed by, "" for a plain column
	Identity  string // "always" or "by default" of an identity column, which Default numbers; "" for others

	Comment string // of COMMENT ON COLUMN
}

// The hidden columns in every tablet of a CDC table, with field ids that no user column takes.
const (
	OpFieldID  int32 = 2_000_000_001 // __op SMALLINT: see the Op constants
	SeqFieldID int32 = 2_000_000_002 // last_seq BIGINT: the order of the change

	OpColumn  = "__op"
	SeqColumn = "last_seq"

	// MaxUserFieldID is the largest field id a user column may have.
	MaxUserFieldID int32 = 2_000_000_000
)

// The values of the hidden column __op.
const (
	OpInsert int16 = 0
	OpUpdate int16 = 1
	OpDelete int16 = 2
)

// HiddenColumns returns __op and last_seq, in the order they follow the user's columns.
func HiddenColumns() []Column {
	return []Column{
		{FieldID: OpFieldID, Name: OpColumn, Type: vec.Int16Type},
		{FieldID: SeqFieldID, Name: SeqColumn, Type: vec.Int64Type},
	}
}

type columnJSON struct {
	FieldID  int32     `json:"id"`
	Name     string    `json:"name"`
	Type     *typeJSON `json:"type"`
	Nullable bool      `json:"nullable,omitempty"`
	Default  string    `json:"default,omitempty"`
	Initial  string    `json:"initial,omitempty"`

	Generated string `json:"generated,omitempty"`
	Identity  string `json:"identity,omitempty"`
	Comment   string `json:"comment,omitempty"`
}

// MarshalJSON writes the form the catalog stores; types are named, never numbered.
func (c Column) MarshalJSON() ([]byte, error) {
	t, err := encodeType(c.Type)
	if err != nil {
		return nil, fmt.Errorf("column %q: %w", c.Name, err)
	}
	return json.Marshal(columnJSON{c.FieldID, c.Name, t, c.Nullable, c.Default, c.Initial, c.Generated, c.Identity, c.Comment})
}

// UnmarshalJSON reads the form of MarshalJSON.
func (c *Column) UnmarshalJSON(data []byte) error {
	var j columnJSON
	if err := decodeStrict(data, &j); err != nil {
		return err
	}
	t, err := decodeType(j.Type, 0)
	if err != nil {
		return fmt.Errorf("column %q: %w", j.Name, err)
	}
	*c = Column{j.FieldID, j.Name, t, j.Nullable, j.Default, j.Initial, j.Generated, j.Identity, j.Comment}
	return nil
}
