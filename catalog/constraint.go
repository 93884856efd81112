package catalog

import (
	"fmt"
	"reflect"
	"slices"

	"github.com/tidemarkdb/tidemark/sqlerr"
	"github.com/tidemarkdb/tidemark/tablet"
)

// ConstraintKind is what a constraint asks of rows.
type ConstraintKind string

// The kinds of constraints. A PRIMARY KEY is the MergeKey of a table; one added later is a PrimaryKey here.
const (
	UniqueKey  ConstraintKind = "unique"
	PrimaryKey ConstraintKind = "primary" // unique, of columns that are NOT NULL
	CheckRows  ConstraintKind = "check"
	ForeignKey ConstraintKind = "foreign_key"
)

// Constraint is one constraint of a managed table. It is immutable.
type Constraint struct {
	Name    string         `json:"name"`
	Kind    ConstraintKind `json:"kind"`
	Columns []int32        `json:"columns,omitempty"` // field ids: of the key, or those that CheckRows' expression mentions
	Expr    string         `json:"expr,omitempty"`    // of CheckRows: SQL text over the columns' bare names

	// Of ForeignKey: the table whose rows must have the key, and its columns in the order of Columns.
	References tablet.TableID `json:"references,omitempty"`
	RefColumns []int32        `json:"ref_columns,omitempty"`

	// MatchFull is MATCH FULL of a foreign key: rows have all of its columns or none.
	MatchFull bool `json:"match_full,omitempty"`

	// What a foreign key does with its own rows when those that they refer to go or change their key: "" (NO ACTION) and
	// Restrict refuse that.
	OnDelete string `json:"on_delete,omitempty"`
	OnUpdate string `json:"on_update,omitempty"`

	// SetColumns are the columns that OnDelete sets where it does not set all of Columns.
	SetColumns []int32 `json:"set_columns,omitempty"`

	Comment string `json:"comment,omitempty"` // of COMMENT ON CONSTRAINT
}

// The actions of a foreign key.
const (
	Restrict   = "restrict"
	Cascade    = "cascade"
	SetNull    = "set null"
	SetDefault = "set default"
)

// ActsOnDelete reports whether a foreign key changes its rows when those that they refer to go.
func (c Constraint) ActsOnDelete() bool { return c.OnDelete != "" && c.OnDelete != Restrict }

// ActsOnUpdate reports whether a foreign key changes its rows when those that they refer to change their key.
func (c Constraint) ActsOnUpdate() bool { return c.OnUpdate != "" && c.OnUpdate != Restrict }

// Index is one index of a managed table. It lives in the table's schema. One that is not unique only keeps its name:
// tablets have what it would be for.
type Index struct {
	Name    string   `json:"name"`
	Unique  bool     `json:"unique,omitempty"`
	Exprs   []string `json:"exprs"`             // SQL text over the columns' bare names
	Columns []int32  `json:"columns,omitempty"` // field ids that Exprs and Where mention
	Where   string   `json:"where,omitempty"`   // of a partial index
	Comment string   `json:"comment,omitempty"` // of COMMENT ON INDEX
}

// KeyConstraint returns the name of the primary key's constraint.
func (t *Table) KeyConstraint() string {
	if t.KeyName != "" {
		return t.KeyName
	}
	return t.Name + "_pkey"
}

// AllConstraints returns the constraints of the table, the primary key first.
func (t *Table) AllConstraints() []Constraint {
	if len(t.MergeKey) == 0 {
		return t.Constraints
	}
	key := Constraint{Name: t.KeyConstraint(), Kind: PrimaryKey, Columns: t.MergeKey, Comment: t.KeyComment}
	return append([]Constraint{key}, t.Constraints...)
}

// PrimaryKey returns the field ids of the primary key, made with the table or later; none without one.
func (t *Table) PrimaryKey() []int32 {
	for _, c := range t.AllConstraints() {
		if c.Kind == PrimaryKey {
			return c.Columns
		}
	}
	return nil
}

// Constraint returns the constraint of a name.
func (t *Table) Constraint(name string) (Constraint, bool) {
	for _, c := range t.Constraints {
		if c.Name == name {
			return c, true
		}
	}
	return Constraint{}, false
}

// ColumnNames returns the names of columns given by field id.
func (t *Table) ColumnNames(ids []int32) []string {
	names := make([]string, 0, len(ids))
	for _, id := range ids {
		if c, ok := t.ColumnByID(id); ok {
			names = append(names, c.Name)
		}
	}
	return names
}

// SetConstraints replaces the constraints and the indexes of a managed table. It fails when the schema version is no
// longer FromVersion.
type SetConstraints struct {
	Table       tablet.TableID `json:"table"`
	FromVersion uint32         `json:"from_version"`
	KeyName     string         `json:"key_name,omitempty"`
	DropKey     bool           `json:"drop_key,omitempty"` // the table has no MergeKey any more
	Constraints []Constraint   `json:"constraints,omitempty"`
	Indexes     []Index        `json:"indexes,omitempty"`

	// RowsAsOf, when not 0, is the version of the tablets whose rows were found to keep them; 40001 when the table has
	// others.
	RowsAsOf uint64 `json:"rows_as_of,omitempty"`
}

func (*SetConstraints) kind() string { return "set_constraints" }

func (e *SetConstraints) apply(d *draft) error {
	t, err := d.table(e.Table)
	if err != nil {
		return err
	}
	if t.SchemaVersion != e.FromVersion {
		return outdated("the definition of table %q was changed", t.Name)
	}
	if e.RowsAsOf != 0 && e.RowsAsOf != t.Tablets.Version() && !d.replaying {
		return outdated("rows of table %q were added or changed", t.Name)
	}
	altered := *t
	altered.KeyName, altered.Constraints, altered.Indexes = e.KeyName, e.Constraints, e.Indexes
	if e.DropKey {
		altered.MergeKey = nil
	}
	if !e.plain(t) || e.DropKey {
		altered.SchemaVersion++
	}
	if !d.replaying {
		if err := ValidateDefinition(altered.Definition); err != nil {
			return err
		}
		if err := d.checkReferences(&altered); err != nil {
			return err
		}
	}
	return d.replaceTable(t, &altered)
}

// plain reports whether the edit changes nothing that rows must keep.
func (e *SetConstraints) plain(t *Table) bool {
	unique := func(indexes []Index) []Index {
		return slices.DeleteFunc(slices.Clone(indexes), func(i Index) bool { return !i.Unique })
	}
	return reflect.DeepEqual(e.Constraints, t.Constraints) && reflect.DeepEqual(unique(e.Indexes), unique(t.Indexes))
}

// ExpectRows changes nothing: it fails with 40001 unless the tablets of a table are still those of a version. What a
// statement found out about another table's rows holds only then.
type ExpectRows struct {
	Table tablet.TableID `json:"table"`
	AsOf  uint64         `json:"as_of"` // version of the tablets
}

func (*ExpectRows) kind() string { return "expect_rows" }

func (e *ExpectRows) apply(d *draft) error {
	if d.replaying {
		return nil
	}
	t, err := d.table(e.Table)
	if err != nil {
		return err
	}
	if t.Tablets.Version() != e.AsOf {
		return outdated("rows of table %q, which the statement refers to, were changed", t.Name)
	}
	return nil
}

// validateConstraints checks that the constraints and indexes of a definition fit its columns.
func validateConstraints(d Definition) error {
	if d.Kind == CDC && (len(d.Constraints) > 0 || slices.ContainsFunc(d.Indexes, func(i Index) bool { return i.Unique })) {
		return sqlerr.New(sqlerr.FeatureNotSupported, "CDC table %q cannot have constraints or unique indexes", d.Name).
			Hintf("its rows are the source's: let the source keep them in order")
	}
	names := map[string]bool{}
	for _, c := range d.Constraints {
		if err := validateName("constraint", c.Name); err != nil {
			return err
		}
		if names[c.Name] || c.Name == d.KeyName {
			return sqlerr.New(sqlerr.DuplicateObject, "constraint %q for relation %q already exists", c.Name, d.Name).Hintf("choose another name")
		}
		names[c.Name] = true
		switch c.Kind {
		case UniqueKey, PrimaryKey:
			if err := validateFieldList(d, c.Columns, "a UNIQUE constraint"); err != nil {
				return err
			}
		case CheckRows:
			if c.Expr == "" {
				return broken("constraint %q has no expression", c.Name)
			}
		case ForeignKey:
			for _, action := range []string{c.OnDelete, c.OnUpdate} {
				if !slices.Contains([]string{"", Restrict, Cascade, SetNull, SetDefault}, action) {
					return broken("constraint %q has the unknown action %q", c.Name, action)
				}
			}
			if len(c.Columns) == 0 || len(c.Columns) != len(c.RefColumns) || c.References == 0 {
				return broken("constraint %q has no proper reference", c.Name)
			}
		default:
			return broken("constraint %q is of the unknown kind %q", c.Name, c.Kind)
		}
	}
	for _, i := range d.Indexes {
		if err := validateName("index", i.Name); err != nil {
			return err
		}
	}
	return nil
}

// prune takes out the constraints and indexes that mention columns which are gone.
func (t *Table) prune() {
	gone := func(ids []int32) bool {
		return slices.ContainsFunc(ids, func(id int32) bool { _, ok := t.ColumnByID(id); return !ok })
	}
	t.Constraints = slices.DeleteFunc(slices.Clone(t.Constraints), func(c Constraint) bool { return gone(c.Columns) })
	t.Indexes = slices.DeleteFunc(slices.Clone(t.Indexes), func(i Index) bool { return gone(i.Columns) })
}

// indexOf says whose index a name is.
type indexOf struct {
	table tablet.TableID
	name  string
}

// Index returns an index by name, with its table. The error is 3F000 or 42704.
func (s *Snapshot) Index(schema, name string) (*Table, Index, error) {
	if r, ok := s.relations.Get(keyFor(schema, name)); ok && r.index != nil {
		if t, ok := s.tables.Get(r.index.table); ok {
			for _, i := range t.Indexes {
				if i.Name == name {
					return t, i, nil
				}
			}
		}
	} else if ok {
		return nil, Index{}, sqlerr.New(sqlerr.WrongObjectType, "%q is not an index", name).Hintf("DROP INDEX takes indexes only")
	}
	if !s.HasSchema(schema) {
		return nil, Index{}, s.noSchema(schema)
	}
	return nil, Index{}, sqlerr.New(sqlerr.UndefinedObject, "index %q does not exist", display(schema, name))
}

// FreeName returns base, or base with the first number that makes taken false.
func FreeName(base string, taken func(string) bool) string {
	name := base
	for i := 1; taken(name); i++ {
		name = fmt.Sprintf("%s%d", base, i)
	}
	return name
}
