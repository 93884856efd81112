package catalog

import (
	"slices"
	"strings"

	"github.com/tidemarkdb/tidemark/sqlerr"
	"github.com/tidemarkdb/tidemark/tablet"
)

// systemSchemas belong to the engine.
var systemSchemas = []string{"information_schema", "pg_catalog"}

func (e *CreateSchema) apply(d *draft) error {
	if _, taken := d.schemas.get(e.Name); taken {
		if e.IfNotExists {
			return nil
		}
		return sqlerr.New(sqlerr.DuplicateSchema, "schema %q already exists", e.Name).Hintf("use CREATE SCHEMA IF NOT EXISTS, or another name")
	}
	d.schemas.set(e.Name, &Schema{Name: e.Name})
	return nil
}

func (e *CreateSchema) validate() error {
	if slices.Contains(systemSchemas, e.Name) || strings.HasPrefix(e.Name, "pg_") && !strings.HasPrefix(e.Name, "pg_temp_") {
		return sqlerr.New(sqlerr.ReservedName, "schema name %q is reserved", e.Name).Hintf("choose another name")
	}
	return validateName("schema", e.Name)
}

func (e *DropSchema) apply(d *draft) error {
	if _, ok := d.schemas.get(e.Name); !ok {
		if e.IfExists {
			return nil
		}
		return d.current().noSchema(e.Name)
	}
	members := slices.Collect(d.current().relationsOf(e.Name))
	var types []*UserType
	for t := range d.current().UserTypes() {
		if t.Schema == e.Name {
			types = append(types, t)
		}
	}
	if n := len(members) + len(types); n > 0 && !e.Cascade {
		return sqlerr.New(sqlerr.DependentObjects, "cannot drop schema %q because %d objects are in it", e.Name, n).
			Hintf("use DROP SCHEMA ... CASCADE to drop them too")
	}
	for _, r := range members {
		switch {
		case r.view != nil:
			d.relations.remove(keyFor(r.view.Schema, r.view.Name))
		case r.sequence != nil:
			d.relations.remove(keyFor(r.sequence.Schema, r.sequence.Name))
		case r.table != nil:
			d.dropTable(r.table)
		}
	}
	for _, t := range types {
		if err := (&DropType{Schema: t.Schema, Name: t.Name}).apply(d); err != nil {
			return err
		}
	}
	for _, r := range members {
		if r.table != nil {
			if err := d.checkNotReferenced(r.table, nil); err != nil {
				return err
			}
		}
	}
	d.schemas.remove(e.Name)
	return nil
}

func (e *CreateTable) apply(d *draft) error {
	def := e.Definition
	if _, ok := d.schemas.get(def.Schema); !ok {
		return d.current().noSchema(def.Schema)
	}
	if r, taken := d.relations.get(keyFor(def.Schema, def.Name)); taken {
		if e.IfNotExists && r.table != nil {
			return nil
		}
		return duplicate(def.Schema, def.Name)
	}
	if _, taken := d.tables.get(e.ID); taken {
		return broken("table identity %s is taken", e.ID)
	}
	t := &Table{
		ID: e.ID, Definition: def, SchemaVersion: 1, NextFieldID: number(slices.Clone(def.Columns), 1), Created: d.version,
		Tablets: tablet.NewSet(e.ID, d.setVersion),
	}
	if def.Kind == CDC {
		t.Ingest = &Ingest{}
	}
	if !d.replaying {
		if err := d.checkTypes(t); err != nil {
			return err
		}
		if err := d.checkReferences(t); err != nil {
			return err
		}
	}
	return d.replaceTable(&Table{}, t)
}

func (e *DropTable) apply(d *draft) error {
	t, err := d.table(e.Table)
	if err != nil {
		return err
	}
	if err := d.checkNotReferenced(t, nil); err != nil {
		return err
	}
	d.dropTable(t)
	return nil
}

func (d *draft) dropTable(t *Table) {
	if t.Ingest.Attached() {
		d.fedBy.remove(t.Ingest.Stream)
	}
	if t.Ingest != nil {
		d.setLoaded(t.Ingest.LoadedBy, t.ID, 0)
	}
	d.forgetSet(t.Tablets)
	d.tables.remove(t.ID)
	d.relations.remove(keyFor(t.Schema, t.Name))
	for _, i := range t.Indexes {
		d.relations.remove(keyFor(t.Schema, i.Name))
	}
	d.linkReferences(t, &Table{ID: t.ID})
}

func (e *RenameTable) apply(d *draft) error {
	t, err := d.table(e.Table)
	if err != nil {
		return err
	}
	if _, ok := d.schemas.get(e.Schema); !ok {
		return d.current().noSchema(e.Schema)
	}
	if _, taken := d.relations.get(keyFor(e.Schema, e.Name)); taken {
		return duplicate(e.Schema, e.Name)
	}
	d.relations.remove(keyFor(t.Schema, t.Name))
	renamed := *t
	renamed.Schema, renamed.Name = e.Schema, e.Name
	return d.replaceTable(t, &renamed)
}

func (e *RenameTable) validate() error { return validateName("table", e.Name) }

func (e *AlterColumns) apply(d *draft) error {
	t, err := d.table(e.Table)
	if err != nil {
		return err
	}
	if !t.OpenToDML() {
		return sqlerr.New(sqlerr.FeatureNotSupported, "CDC table %q in merge_mode 'read' cannot change its columns or primary index", t.Name).
			Hintf("create a new stream and a new CDC table with the columns wanted")
	}
	if t.SchemaVersion != e.FromVersion {
		return outdated("the columns of table %q were changed", t.Name)
	}
	if e.RowsAsOf != 0 && e.RowsAsOf != t.Tablets.Version() && !d.replaying {
		return outdated("rows of table %q were added or changed", t.Name)
	}
	altered := *t
	altered.Columns = slices.Clone(e.Columns)
	altered.PrimaryIndex = e.PrimaryIndex
	altered.NextFieldID = number(altered.Columns, t.NextFieldID)
	altered.SchemaVersion++
	altered.prune()
	if !d.replaying {
		if err := checkAlter(t, &altered); err != nil {
			return err
		}
		if err := d.checkTypes(&altered); err != nil {
			return err
		}
		if gone := dropped(t, &altered); len(gone) > 0 {
			if err := d.checkNotReferenced(&altered, gone); err != nil {
				return err
			}
		}
	}
	return d.replaceTable(t, &altered)
}

// dropped returns the field ids of columns that one version of a table has and the next has not.
func dropped(from, to *Table) []int32 {
	var out []int32
	for _, c := range from.Columns {
		if _, ok := to.ColumnByID(c.FieldID); !ok {
			out = append(out, c.FieldID)
		}
	}
	return out
}

// checkAlter refuses changes stored rows could not be read with.
func checkAlter(from, to *Table) error {
	for _, c := range to.Columns {
		old, kept := from.ColumnByID(c.FieldID)
		if !kept && c.FieldID < from.NextFieldID {
			return broken("column %q takes the field id %d of a column that was dropped", c.Name, c.FieldID)
		}
		if kept && !old.Type.Equal(c.Type) {
			return sqlerr.New(sqlerr.FeatureNotSupported, "column %q cannot change its type from %s to %s in place", c.Name, old.Type, c.Type).
				Hintf("add a column of the new type, fill it with UPDATE, and drop the old one")
		}
	}
	for _, id := range from.MergeKey {
		if _, ok := to.ColumnByID(id); !ok {
			c, _ := from.ColumnByID(id)
			return sqlerr.New(sqlerr.DependentObjects, "column %q is part of the merge key and cannot be dropped", c.Name).
				Hintf("create a new table with another key")
		}
	}
	return ValidateDefinition(to.Definition)
}

func (e *CreateView) apply(d *draft) error {
	v := e.View
	if _, ok := d.schemas.get(v.Schema); !ok {
		return d.current().noSchema(v.Schema)
	}
	if r, taken := d.relations.get(keyFor(v.Schema, v.Name)); taken {
		switch {
		case r.view == nil:
			return duplicate(v.Schema, v.Name)
		case e.IfNotExists:
			return nil
		case !e.OrReplace:
			return duplicate(v.Schema, v.Name)
		}
	}
	d.relations.set(keyFor(v.Schema, v.Name), relation{view: &v})
	return nil
}

func (e *CreateView) validate() error { return validateName("view", e.View.Name) }

func (e *DropView) apply(d *draft) error {
	r, ok := d.relations.get(keyFor(e.Schema, e.Name))
	if !ok && e.IfExists {
		return nil
	}
	if !ok || r.view == nil {
		_, err := d.current().View(e.Schema, e.Name)
		return err
	}
	d.relations.remove(keyFor(e.Schema, e.Name))
	return nil
}

func (e *SetSetting) apply(d *draft) error {
	if e.Reset {
		d.settings.remove(e.Name)
	} else {
		d.settings.set(e.Name, e.Value)
	}
	return nil
}

func (e *SetSetting) validate() error { return validateName("setting", e.Name) }

func duplicate(schema, name string) error {
	return sqlerr.New(sqlerr.DuplicateTable, "relation %q already exists", display(schema, name)).
		Hintf("choose another name, or drop the one there is first")
}
