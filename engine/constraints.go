package engine

import (
	"context"
	"slices"
	"strings"

	"github.com/tidemarkdb/tidemark/catalog"
	"github.com/tidemarkdb/tidemark/plan"
	"github.com/tidemarkdb/tidemark/sql"
	"github.com/tidemarkdb/tidemark/sqlerr"
	"github.com/tidemarkdb/tidemark/vec"
)

// constraintMaker turns the constraints that a statement writes into the catalog's.
type constraintMaker struct {
	session  *Session
	ctx      context.Context
	snapshot *catalog.Snapshot
	table    *catalog.Table // as it will be; the constraints made are added to it
	key      []int32        // field ids of its PRIMARY KEY
}

// addAll makes the constraints of CREATE TABLE, without its PRIMARY KEY.
func (m *constraintMaker) addAll(t *sql.CreateTable) error {
	for _, c := range t.Columns {
		for _, k := range c.Constraints {
			if k.Kind != sql.Check {
				k.Columns = []sql.Ident{c.Name}
			}
			if err := m.add(k); err != nil {
				return err
			}
		}
		if k, ok := rangeCheck(c.Name, c.Type); ok && m.table.Kind != catalog.CDC {
			if err := m.add(k); err != nil {
				return err
			}
		}
	}
	for _, k := range t.Constraints {
		if err := m.add(k); err != nil {
			return err
		}
	}
	return nil
}

// add makes one constraint.
func (m *constraintMaker) add(k sql.Constraint) error {
	if m.table.Kind == catalog.CDC && k.Kind != sql.PrimaryKey {
		return unsupportedConstraint(k)
	}
	c := catalog.Constraint{Name: k.Name.Name}
	var err error
	switch k.Kind {
	case sql.PrimaryKey:
		if c.Name != "" {
			m.table.KeyName = c.Name
		}
		return nil
	case sql.Unique:
		c.Kind = catalog.UniqueKey
		c.Columns, err = m.columns(k.Columns, k.Pos)
	case sql.Check:
		c.Kind = catalog.CheckRows
		c.Expr, c.Columns, err = m.session.rowExpr(m.ctx, m.snapshot, m.table, k.Check, "CHECK constraint", true)
	case sql.ForeignKey:
		c.Kind = catalog.ForeignKey
		c, err = m.foreignKey(c, k)
	}
	if err != nil {
		return sqlerr.From(err).At(k.Pos)
	}
	if c.Name == "" {
		c.Name = m.name(c)
	} else if m.taken(c.Name) {
		return sqlerr.New(sqlerr.DuplicateObject, "constraint %q for relation %q already exists", c.Name, m.table.Name).
			Hintf("choose another name").At(k.Name.Pos)
	}
	m.table.Constraints = append(m.table.Constraints, c)
	return nil
}

func (m *constraintMaker) taken(name string) bool {
	_, taken := m.table.Constraint(name)
	return taken || len(m.key) > 0 && name == m.table.KeyConstraint()
}

// name gives a constraint the name that PostgreSQL would.
func (m *constraintMaker) name(c catalog.Constraint) string {
	names := m.table.ColumnNames(c.Columns)
	suffix := map[catalog.ConstraintKind]string{catalog.UniqueKey: "key", catalog.PrimaryKey: "pkey", catalog.CheckRows: "check", catalog.ForeignKey: "fkey"}[c.Kind]
	if c.Kind == catalog.PrimaryKey || c.Kind == catalog.CheckRows && len(names) > 1 {
		names = nil
	}
	parts := append(append([]string{m.table.Name}, names...), suffix)
	return catalog.FreeName(strings.Join(parts, "_"), m.taken)
}

func (m *constraintMaker) columns(names []sql.Ident, pos int) ([]int32, error) {
	var ids []int32
	for _, name := range names {
		c, ok := m.table.Column(name.Name)
		if !ok {
			return nil, sqlerr.New(sqlerr.UndefinedColumn, "column %q named in key does not exist", name.Name).
				Hintf("name columns of table %q", m.table.Name).At(name.Pos)
		}
		if slices.Contains(ids, c.FieldID) {
			return nil, sqlerr.New(sqlerr.DuplicateColumn, "column %q appears twice in the constraint", name.Name).
				Hintf("name it once").At(name.Pos)
		}
		ids = append(ids, c.FieldID)
	}
	return ids, nil
}

// foreignKey finds what REFERENCES names: a key of the other table.
func (m *constraintMaker) foreignKey(c catalog.Constraint, k sql.Constraint) (catalog.Constraint, error) {
	var err error
	c.MatchFull, c.OnDelete, c.OnUpdate = k.MatchFull, k.OnDelete, k.OnUpdate
	if c.Columns, err = m.columns(k.Columns, k.Pos); err != nil {
		return c, err
	}
	if c.SetColumns, err = m.columns(k.SetColumns, k.Pos); err != nil {
		return c, err
	}
	for i, id := range c.SetColumns {
		if !slices.Contains(c.Columns, id) {
			return c, sqlerr.New(sqlerr.InvalidColumnReference, "column %q referenced in ON DELETE SET action must be part of foreign key", k.SetColumns[i].Name).
				Hintf("name columns of the foreign key").At(k.SetColumns[i].Pos)
		}
	}
	parent := m.table
	if o, err := split(k.References); err != nil || o.name != m.table.Name || o.schema != "" && known(m.snapshot, o.schema) != m.table.Schema {
		if parent, err = m.session.table(m.snapshot, k.References); err != nil {
			return c, err
		}
		if parent.Kind == catalog.CDC {
			return c, sqlerr.New(sqlerr.WrongObjectType, "a FOREIGN KEY cannot refer to CDC table %q", parent.Name).
				Hintf("its rows change with the source, which knows nothing of this table").At(k.References.Position())
		}
	}
	key := parent.PrimaryKey()
	if parent == m.table && len(m.key) > 0 { // the table is being made
		key = m.key
	}
	if len(k.RefColumns) == 0 {
		if c.RefColumns = key; len(key) == 0 {
			return c, sqlerr.New(sqlerr.UndefinedObject, "there is no primary key for referenced table %q", parent.Name).
				Hintf("name the columns that are referred to").At(k.References.Position())
		}
	} else if c.RefColumns, err = (&constraintMaker{table: parent}).columns(k.RefColumns, k.Pos); err != nil {
		return c, err
	}
	c.References = parent.ID
	if len(c.Columns) != len(c.RefColumns) {
		return c, sqlerr.New(sqlerr.InvalidForeignKey, "number of referencing and referenced columns for foreign key disagree").
			Hintf("name as many columns on both sides")
	}
	if !isKey(parent, key, c.RefColumns) {
		return c, sqlerr.New(sqlerr.InvalidForeignKey, "there is no unique constraint matching given keys for referenced table %q", parent.Name).
			Hintf("refer to its PRIMARY KEY, or to columns with a UNIQUE constraint").At(k.References.Position())
	}
	return c, m.comparable(c, parent)
}

// comparable refuses a reference between columns of types that do not compare.
func (m *constraintMaker) comparable(c catalog.Constraint, parent *catalog.Table) error {
	for i, id := range c.Columns {
		from, _ := m.table.ColumnByID(id)
		to, _ := parent.ColumnByID(c.RefColumns[i])
		names := map[string]plan.Relation{
			"a": &plan.Virtual{Name: "a", Source: &memoryRows{schema: vec.Schema{{Name: "x", Type: from.Type, Nullable: true}}}},
			"b": &plan.Virtual{Name: "b", Source: &memoryRows{schema: vec.Schema{{Name: "y", Type: to.Type, Nullable: true}}}},
		}
		if _, err := m.session.bindOver(m.ctx, m.snapshot, "SELECT a.x = b.y FROM a, b", names); err != nil {
			return sqlerr.New(sqlerr.DatatypeMismatch, "foreign key constraint cannot be implemented: key columns %q and %q are of incompatible types: %s and %s",
				from.Name, to.Name, from.Type, to.Type).Hintf("give both columns one type")
		}
	}
	return nil
}

// isKey reports whether columns are, in any order, those of a table's key or of a UNIQUE constraint or index.
func isKey(t *catalog.Table, key, columns []int32) bool {
	same := func(ids []int32) bool {
		return len(ids) == len(columns) && !slices.ContainsFunc(ids, func(id int32) bool { return !slices.Contains(columns, id) })
	}
	if same(key) {
		return true
	}
	for _, u := range uniqueKeys(t) {
		if u.plain && u.where == "" && same(u.columns) {
			return true
		}
	}
	return false
}
