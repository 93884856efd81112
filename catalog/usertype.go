package catalog

import (
	"iter"
	"slices"

	"github.com/tidemarkdb/tidemark/sqlerr"
	"github.com/tidemarkdb/tidemark/tablet"
	"github.com/tidemarkdb/tidemark/vec"
)

// UserType is an enumeration made by CREATE TYPE. It is immutable. Columns of the type carry its labels themselves.
type UserType struct {
	Schema string   `json:"schema"`
	Name   string   `json:"name"`
	Labels []string `json:"labels"` // in order

	Comment string `json:"comment,omitempty"` // of COMMENT ON TYPE
}

// Type returns what columns of the type have.
func (t *UserType) Type() vec.Type {
	return vec.EnumType(&vec.Enum{Schema: t.Schema, Name: t.Name, Labels: t.Labels})
}

// CreateType creates a type.
type CreateType struct {
	Type        UserType `json:"type"`
	IfNotExists bool     `json:"if_not_exists,omitempty"`
}

// DropType drops a type that no column is of.
type DropType struct {
	Schema string `json:"schema"`
	Name   string `json:"name"`
}

// AlterType replaces the labels of a type, here and in every column of it.
type AlterType struct {
	Type UserType `json:"type"`
}

// RenameType gives a type another name, another schema or both, here and in every column of it.
type RenameType struct {
	Schema   string `json:"schema"`
	Name     string `json:"name"`
	ToSchema string `json:"to_schema"`
	To       string `json:"to"`
}

func (*RenameType) kind() string { return "rename_type" }

func (e *RenameType) validate() error { return validateName("type", e.To) }

func (e *RenameType) apply(d *draft) error {
	t, ok := d.types.get(keyFor(e.Schema, e.Name))
	if !ok {
		return outdated("type %q was dropped", e.Name)
	}
	renamed := *t
	renamed.Schema, renamed.Name = e.ToSchema, e.To
	if err := (&CreateType{Type: renamed}).apply(d); err != nil {
		return err
	}
	d.types.remove(keyFor(e.Schema, e.Name))
	d.replaceType(t, &renamed)
	return nil
}

// replaceType makes the columns of one version of a type those of another.
func (d *draft) replaceType(from, to *UserType) {
	for _, table := range d.tables.freeze().All() {
		if len(from.Columns(table)) == 0 {
			continue
		}
		altered := *table
		altered.Columns = slices.Clone(table.Columns)
		for i := range altered.Columns {
			altered.Columns[i].Type = from.relabel(altered.Columns[i].Type, to)
		}
		altered.SchemaVersion++
		d.putTable(&altered)
	}
}

func (*CreateType) kind() string { return "create_type" }
func (*DropType) kind() string   { return "drop_type" }
func (*AlterType) kind() string  { return "alter_type" }

func (e *CreateType) validate() error { return validateLabels(e.Type) }

func (e *AlterType) validate() error { return validateLabels(e.Type) }

func validateLabels(t UserType) error {
	for i, label := range t.Labels {
		if len(label) > MaxNameBytes {
			return sqlerr.New(sqlerr.InvalidName, "invalid enum label %.32q...", label).Hintf("labels have at most %d bytes", MaxNameBytes)
		}
		if slices.Contains(t.Labels[:i], label) {
			return sqlerr.New(sqlerr.DuplicateObject, "enum label %q is given twice", label).Hintf("give each label once")
		}
	}
	return validateName("type", t.Name)
}

func (e *CreateType) apply(d *draft) error {
	t := e.Type
	if _, ok := d.schemas.get(t.Schema); !ok {
		return d.current().noSchema(t.Schema)
	}
	if _, taken := d.types.get(keyFor(t.Schema, t.Name)); taken {
		if e.IfNotExists {
			return nil
		}
		return sqlerr.New(sqlerr.DuplicateObject, "type %q already exists", display(t.Schema, t.Name)).
			Hintf("choose another name, or drop the one there is first")
	}
	d.types.set(keyFor(t.Schema, t.Name), &t)
	return nil
}

func (e *DropType) apply(d *draft) error {
	t, ok := d.types.get(keyFor(e.Schema, e.Name))
	if !ok {
		_, err := d.current().UserType(e.Schema, e.Name)
		return err
	}
	if !d.replaying {
		for _, table := range d.tables.freeze().All() {
			if err := t.usedBy(table); err != nil {
				return err
			}
		}
	}
	d.types.remove(keyFor(e.Schema, e.Name))
	return nil
}

func (e *AlterType) apply(d *draft) error {
	t := e.Type
	if _, ok := d.types.get(keyFor(t.Schema, t.Name)); !ok {
		return outdated("type %q was dropped", t.Name)
	}
	d.types.set(keyFor(t.Schema, t.Name), &t)
	d.replaceType(&t, &t)
	return nil
}

// checkTypes checks that the enumerations of a table's columns exist.
func (d *draft) checkTypes(t *Table) error {
	var check func(vec.Type) error
	check = func(of vec.Type) error {
		if of.Enum != nil {
			if _, ok := d.types.get(keyFor(of.Enum.Schema, of.Enum.Name)); !ok {
				return outdated("type %q was dropped", of.Enum.Name)
			}
		}
		if of.Elem != nil {
			return check(*of.Elem)
		}
		for _, f := range of.Fields {
			if err := check(f.Type); err != nil {
				return err
			}
		}
		return nil
	}
	for _, c := range t.Columns {
		if err := check(c.Type); err != nil {
			return err
		}
	}
	return nil
}

// relabel puts another version of t in its place in a type made of it.
func (t *UserType) relabel(of vec.Type, to *UserType) vec.Type {
	switch {
	case t.is(of.Enum):
		return to.Type()
	case of.Elem != nil:
		elem := t.relabel(*of.Elem, to)
		of.Elem = &elem
	case len(of.Fields) > 0:
		of.Fields = slices.Clone(of.Fields)
		for i := range of.Fields {
			of.Fields[i].Type = t.relabel(of.Fields[i].Type, to)
		}
	}
	return of
}

func (t *UserType) is(e *vec.Enum) bool { return e != nil && e.Schema == t.Schema && e.Name == t.Name }

// in reports whether a type is t or made of it.
func (t *UserType) in(of vec.Type) bool {
	return t.is(of.Enum) || of.Elem != nil && t.in(*of.Elem) ||
		slices.ContainsFunc(of.Fields, func(f vec.Field) bool { return t.in(f.Type) })
}

// Columns returns the columns of a table that are of the type or made of it.
func (t *UserType) Columns(table *Table) []tablet.Column {
	var out []tablet.Column
	for _, c := range table.Columns {
		if t.in(c.Type) {
			out = append(out, c)
		}
	}
	return out
}

func (t *UserType) usedBy(table *Table) error {
	columns := t.Columns(table)
	if len(columns) == 0 {
		return nil
	}
	return sqlerr.New(sqlerr.DependentObjects, "cannot drop type %s because other objects depend on it", t.Name).
		Detailf("column %s of table %s depends on type %s", columns[0].Name, table.Name, t.Name).
		Hintf("use DROP TYPE ... CASCADE to drop the columns too")
}

// UserType returns a type by name. The error is 3F000 or 42704.
func (s *Snapshot) UserType(schema, name string) (*UserType, error) {
	if t, ok := s.types.Get(keyFor(schema, name)); ok {
		return t, nil
	}
	if !s.HasSchema(schema) {
		return nil, s.noSchema(schema)
	}
	return nil, sqlerr.New(sqlerr.UndefinedObject, "type %q does not exist", display(schema, name)).Hintf("CREATE TYPE makes it")
}

// UserTypes yields the types in order of schema and name.
func (s *Snapshot) UserTypes() iter.Seq[*UserType] { return values(s.types) }
