package catalog

import (
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/tidemarkdb/tidemark/sqlerr"
	"github.com/tidemarkdb/tidemark/tablet"
	"github.com/tidemarkdb/tidemark/vec"
)

// MaxNameBytes is the longest name of a schema, table, view, stream or column.
const MaxNameBytes = 255

// readModeKeys are the types read mode can index.
var readModeKeys = []vec.ID{vec.Bool, vec.Int16, vec.Int32, vec.Int64, vec.Date, vec.Timestamp, vec.TimestampTZ, vec.Decimal, vec.Text}

const readModeKeyNames = "BOOLEAN, SMALLINT, INTEGER, BIGINT, DATE, TIMESTAMP, TIMESTAMPTZ, NUMERIC or TEXT"

// unordered are the types that can be neither a merge key nor a sort column.
var unordered = []vec.ID{vec.Null, vec.JSON, vec.Array, vec.Struct}

// ValidateDefinition checks the rules a table definition must keep; the error names the rule. Field ids must have
// been given: [CreateTable.Resolve] does that.
func ValidateDefinition(d Definition) error {
	if d.Kind != Managed && d.Kind != CDC {
		return broken("table kind %q is not known", d.Kind)
	}
	if err := validateName("table", d.Name); err != nil {
		return err
	}
	if err := validateColumns(d); err != nil {
		return err
	}
	if err := validateFieldList(d, d.PrimaryIndex, "PRIMARY INDEX"); err != nil {
		return err
	}
	if err := validateFieldList(d, d.MergeKey, "PRIMARY KEY"); err != nil {
		return err
	}
	if err := validateConstraints(d); err != nil {
		return err
	}
	if d.Kind == Managed {
		if d.MergeMode != "" || d.CascadeInterval != 0 {
			return sqlerr.New(sqlerr.InvalidTableDefinition, "merge_mode and cascade_interval are options of CDC tables").
				Hintf("use CREATE CDC TABLE, or leave the options out")
		}
		return nil
	}
	return validateCDC(d)
}

func validateName(what, name string) error {
	switch {
	case name == "":
		return sqlerr.New(sqlerr.InvalidName, "a %s needs a name", what)
	case len(name) > MaxNameBytes:
		return sqlerr.New(sqlerr.InvalidName, "the %s name %.32q... is longer than %d bytes", what, name, MaxNameBytes)
	case !utf8.ValidString(name) || strings.ContainsRune(name, 0):
		return sqlerr.New(sqlerr.InvalidName, "the %s name %q is not valid text", what, name)
	}
	return nil
}

func validateColumns(d Definition) error {
	if len(d.Columns) == 0 {
		return sqlerr.New(sqlerr.InvalidTableDefinition, "table %q has no columns", d.Name).Hintf("give it at least one")
	}
	names, ids := map[string]bool{}, map[int32]bool{}
	for _, c := range d.Columns {
		if err := validateName("column", c.Name); err != nil {
			return err
		}
		if d.Kind == CDC && (strings.HasPrefix(c.Name, "__") || c.Name == tablet.SeqColumn) {
			return sqlerr.New(sqlerr.ReservedName, "column name %q is reserved in a CDC table", c.Name).
				Hintf("names beginning with __, and last_seq, are kept for CDC bookkeeping: choose another name")
		}
		if names[c.Name] {
			return sqlerr.New(sqlerr.DuplicateColumn, "column %q is specified more than once", c.Name)
		}
		if c.FieldID < 1 || c.FieldID > tablet.MaxUserFieldID || ids[c.FieldID] {
			return broken("column %q has the field id %d, which is out of range or taken", c.Name, c.FieldID)
		}
		if c.Type.ID == vec.Null {
			return sqlerr.New(sqlerr.InvalidTableDefinition, "column %q has no type", c.Name).Hintf("give it one, such as TEXT")
		}
		if d.Kind == CDC && hasEnum(c.Type) {
			return sqlerr.New(sqlerr.FeatureNotSupported, "column %q of a CDC table cannot be of an enumeration type", c.Name).
				Hintf("use TEXT: the source decides which labels there are")
		}
		names[c.Name], ids[c.FieldID] = true, true
	}
	return nil
}

func hasEnum(t vec.Type) bool {
	return t.Enum != nil || t.Elem != nil && hasEnum(*t.Elem) || slices.ContainsFunc(t.Fields, func(f vec.Field) bool { return hasEnum(f.Type) })
}

func validateFieldList(d Definition, ids []int32, clause string) error {
	for i, id := range ids {
		c, ok := columnByID(d.Columns, id)
		if !ok {
			return sqlerr.New(sqlerr.UndefinedColumn, "%s names field %d, which is no column of table %q", clause, id, d.Name)
		}
		if slices.Contains(ids[:i], id) {
			return sqlerr.New(sqlerr.DuplicateColumn, "column %q appears twice in %s", c.Name, clause)
		}
		if slices.Contains(unordered, c.Type.ID) {
			return sqlerr.New(sqlerr.InvalidTableDefinition, "column %q of type %s cannot be in %s", c.Name, c.Type, clause).
				Hintf("its values have no order: choose a column of another type")
		}
	}
	return nil
}

func validateCDC(d Definition) error {
	if len(d.MergeKey) == 0 {
		return sqlerr.New(sqlerr.InvalidTableDefinition, "CDC table %q has no merge key", d.Name).
			Hintf("add PRIMARY KEY (...) NOT ENFORCED with the columns that identify a row, normally the source table's primary key")
	}
	switch d.MergeMode {
	case MergeRead, MergeWrite:
	default:
		return sqlerr.New(sqlerr.InvalidParameterValue, "merge_mode %q is not known", d.MergeMode).Hintf("use 'read' or 'write'")
	}
	if d.CascadeInterval < time.Millisecond {
		return sqlerr.New(sqlerr.InvalidParameterValue, "cascade_interval %s is too short", d.CascadeInterval).Hintf("use a millisecond or more; the default is 60 seconds")
	}
	if d.MergeMode == MergeWrite {
		return nil
	}
	for _, id := range d.MergeKey {
		if c, _ := columnByID(d.Columns, id); !slices.Contains(readModeKeys, c.Type.ID) {
			return sqlerr.New(sqlerr.FeatureNotSupported, "merge-key column %q has type %s, which merge_mode 'read' cannot index", c.Name, c.Type).
				Hintf("merge-key columns must be %s; or create the table with merge_mode = 'write'", readModeKeyNames)
		}
	}
	return nil
}

// Resolve returns the edit with everything spelled out and checked: columns numbered, names of key and index columns
// resolved, defaults filled in, key columns NOT NULL. [Catalog.Commit] does it too; call it to report errors earlier.
func (e *CreateTable) Resolve() (*CreateTable, error) {
	d := e.Definition
	d.Columns = slices.Clone(d.Columns)
	number(d.Columns, 1)
	var err error
	if len(e.MergeKeyNames) > 0 {
		if d.MergeKey, err = fieldIDs(d.Columns, e.MergeKeyNames); err != nil {
			return nil, err
		}
	}
	if len(e.PrimaryIndexNames) > 0 {
		if d.PrimaryIndex, err = fieldIDs(d.Columns, e.PrimaryIndexNames); err != nil {
			return nil, err
		}
	}
	for i := range d.Columns {
		if slices.Contains(d.MergeKey, d.Columns[i].FieldID) {
			d.Columns[i].Nullable = false
		}
	}
	if d.Kind == CDC {
		if d.MergeMode == "" {
			d.MergeMode = MergeRead
		}
		if d.CascadeInterval == 0 {
			d.CascadeInterval = DefaultCascadeInterval
		}
	}
	if e.ID == 0 {
		return nil, broken("table %q has no identity", d.Name)
	}
	return &CreateTable{ID: e.ID, Definition: d, IfNotExists: e.IfNotExists}, ValidateDefinition(d)
}

// number gives field ids to the columns without one, from next or above the largest there is, and returns the next free.
func number(columns []tablet.Column, next int32) int32 {
	for _, c := range columns {
		next = max(next, c.FieldID+1)
	}
	for i := range columns {
		if columns[i].FieldID == 0 {
			columns[i].FieldID = next
			next++
		}
	}
	return next
}

func fieldIDs(columns []tablet.Column, names []string) ([]int32, error) {
	ids := make([]int32, len(names))
	for i, name := range names {
		at := slices.IndexFunc(columns, func(c tablet.Column) bool { return c.Name == name })
		if at < 0 {
			return nil, undefinedColumn(columns, name)
		}
		ids[i] = columns[at].FieldID
	}
	return ids, nil
}

func undefinedColumn(columns []tablet.Column, name string) error {
	all := make([]string, len(columns))
	for i, c := range columns {
		all[i] = c.Name
	}
	err := sqlerr.New(sqlerr.UndefinedColumn, "column %q named in key does not exist", name)
	if near := sqlerr.Nearest(name, all); near != "" {
		return err.Hintf("did you mean %q?", near)
	}
	return err.Hintf("name one of the table's columns")
}

func columnByID(columns []tablet.Column, id int32) (tablet.Column, bool) {
	i := slices.IndexFunc(columns, func(c tablet.Column) bool { return c.FieldID == id })
	if i < 0 {
		return tablet.Column{}, false
	}
	return columns[i], true
}
