package catalog

import (
	"slices"

	"github.com/tidemarkdb/tidemark/sqlerr"
	"github.com/tidemarkdb/tidemark/tablet"
)

// replaceTable puts a changed table in place of another version of itself and its indexes in their name space.
func (d *draft) replaceTable(from, to *Table) error {
	for _, i := range from.Indexes {
		d.relations.remove(keyFor(from.Schema, i.Name))
	}
	for _, i := range to.Indexes {
		if _, taken := d.relations.get(keyFor(to.Schema, i.Name)); taken {
			return duplicate(to.Schema, i.Name)
		}
		d.relations.set(keyFor(to.Schema, i.Name), relation{index: &indexOf{table: to.ID, name: i.Name}})
	}
	d.linkReferences(from, to)
	d.putTable(to)
	return nil
}

// linkReferences keeps ReferencedBy of the tables that the foreign keys of a table refer to. A table that becomes
// referenced gets a new schema version: changes of its rows that were under way did not know.
func (d *draft) linkReferences(from, to *Table) {
	before, after := from.references(), to.references()
	for _, id := range before {
		if !slices.Contains(after, id) {
			d.link(to, id, func(by []tablet.TableID) []tablet.TableID {
				return slices.DeleteFunc(slices.Clone(by), func(t tablet.TableID) bool { return t == to.ID })
			})
		}
	}
	for _, id := range after {
		d.link(to, id, func(by []tablet.TableID) []tablet.TableID {
			if slices.Contains(by, to.ID) {
				return by
			}
			by = append(slices.Clone(by), to.ID)
			slices.Sort(by)
			return by
		})
	}
}

// link changes what refers to the table parent, which is t itself or another.
func (d *draft) link(t *Table, parent tablet.TableID, change func([]tablet.TableID) []tablet.TableID) {
	if parent == t.ID {
		t.ReferencedBy = change(t.ReferencedBy)
		return
	}
	if p, ok := d.tables.get(parent); ok {
		changed := *p
		if changed.ReferencedBy = change(p.ReferencedBy); len(changed.ReferencedBy) == len(p.ReferencedBy) {
			return
		}
		changed.SchemaVersion++
		d.putTable(&changed)
	}
}

// references returns the tables that the foreign keys of t refer to.
func (t *Table) references() []tablet.TableID {
	var out []tablet.TableID
	for _, c := range t.Constraints {
		if c.Kind == ForeignKey && !slices.Contains(out, c.References) {
			out = append(out, c.References)
		}
	}
	return out
}

// checkReferences checks that what the foreign keys of a table refer to exists.
func (d *draft) checkReferences(t *Table) error {
	for _, c := range t.Constraints {
		if c.Kind != ForeignKey {
			continue
		}
		parent := t
		if c.References != t.ID {
			var err error
			if parent, err = d.table(c.References); err != nil {
				return err
			}
		}
		for _, id := range c.RefColumns {
			if _, ok := parent.ColumnByID(id); !ok {
				return sqlerr.New(sqlerr.UndefinedColumn, "constraint %q refers to a column of table %q that no longer exists", c.Name, parent.Name).
					Hintf("it was dropped meanwhile")
			}
		}
	}
	return nil
}

// checkNotReferenced refuses to drop a table, or with columns those columns of it, while another table's foreign key
// refers to them.
func (d *draft) checkNotReferenced(t *Table, columns []int32) error {
	if d.replaying {
		return nil
	}
	for _, by := range t.ReferencedBy {
		other, ok := d.tables.get(by)
		if !ok {
			continue
		}
		for _, c := range other.Constraints {
			if c.Kind != ForeignKey || c.References != t.ID || other.ID == t.ID && columns == nil {
				continue
			}
			if columns == nil || slices.ContainsFunc(columns, func(id int32) bool { return slices.Contains(c.RefColumns, id) }) {
				return Referenced(t, other, c)
			}
		}
	}
	return nil
}

// Referenced is the error of dropping what a foreign key of another table refers to.
func Referenced(t, by *Table, c Constraint) error {
	return sqlerr.New(sqlerr.DependentObjects, "cannot drop table %s because other objects depend on it", t.Name).
		Detailf("constraint %s on table %s depends on table %s", c.Name, by.Name, t.Name).
		Hintf("use DROP ... CASCADE to drop the dependent objects too")
}
