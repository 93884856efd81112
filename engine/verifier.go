package engine

import (
	"context"
	"fmt"
	"strings"

	"github.com/tidemarkdb/tidemark/catalog"
	"github.com/tidemarkdb/tidemark/plan"
	"github.com/tidemarkdb/tidemark/sqlerr"
	"github.com/tidemarkdb/tidemark/tablestore"
	"github.com/tidemarkdb/tidemark/vec"
)

// verifier looks at a table, t, after the rows n were added and the rows o taken away.
type verifier struct {
	*rules
	ctx      context.Context
	snapshot *catalog.Snapshot
	names    map[string]plan.Relation
	expect   []catalog.Edit
}

func (v *verifier) first(text string) (*vec.Batch, error) {
	return v.session.firstRow(v.ctx, v.snapshot, text, v.names)
}

func (v *verifier) unique(u uniqueKey) error {
	stored, where, err := u.over("t")
	if err != nil {
		return err
	}
	added, addedWhere, err := u.over("n")
	if err != nil {
		return err
	}
	var match []string
	for i := range stored {
		match = append(match, fmt.Sprintf("%s = %s", added[i], stored[i]))
	}
	if where != "" {
		match = append(match, "("+addedWhere+")")
	}
	conditions := []string{"EXISTS (SELECT 1 FROM n AS n WHERE " + strings.Join(match, " AND ") + ")"}
	if where != "" {
		conditions = append(conditions, "("+where+")")
	}
	row, err := v.first(repeatedQuery(stored, conditions))
	if err != nil || row == nil {
		return err
	}
	return u.violated(row)
}

// repeatedQuery finds values that several rows of t have.
func repeatedQuery(exprs, conditions []string) string {
	for _, e := range exprs {
		conditions = append(conditions, "("+e+") IS NOT NULL")
	}
	list := strings.Join(exprs, ", ")
	return fmt.Sprintf("SELECT %s FROM t AS t WHERE %s GROUP BY %s HAVING count(*) > 1", list, strings.Join(conditions, " AND "), list)
}

func (u uniqueKey) violated(row *vec.Batch) error {
	return sqlerr.New(sqlerr.UniqueViolation, "duplicate key value violates unique constraint %q", u.name).
		Detailf("Key (%s)=%s already exists.", strings.Join(u.exprs, ", "), rowText(row, 0)).
		Hintf("use ON CONFLICT DO NOTHING or DO UPDATE to keep one row of a key")
}

// parent checks that the rows added have what a foreign key of theirs refers to.
func (v *verifier) parent(c catalog.Constraint) error {
	parent, ok := v.snapshot.TableByID(c.References)
	if !ok {
		return sqlerr.New(sqlerr.UndefinedTable, "the table that constraint %q refers to no longer exists", c.Name)
	}
	v.names["p"] = v.session.engine.planTable(parent)
	columns := v.table.ColumnNames(c.Columns)
	row, err := v.first(orphanQuery("n", columns, parent.ColumnNames(c.RefColumns), c.MatchFull))
	if err != nil {
		return err
	}
	v.expectRows(parent)
	if row == nil {
		return nil
	}
	broken := sqlerr.New(sqlerr.ForeignKeyViolation, "insert or update on table %q violates foreign key constraint %q", v.table.Name, c.Name)
	for _, value := range row.Cols {
		if value.IsNull(0) {
			return broken.Detailf("MATCH FULL does not allow mixing of null and nonnull key values.").
				Hintf("give all of %s or none", strings.Join(columns, ", "))
		}
	}
	return broken.
		Detailf("Key (%s)=%s is not present in table %q.", strings.Join(columns, ", "), rowText(row, 0), parent.Name).
		Hintf("insert the row into %q first", parent.Name)
}

// orphanQuery finds rows of a relation whose columns are not NULL and no row of p has; full, also those in which some
// are NULL and some not.
func orphanQuery(from string, columns, referred []string, full bool) string {
	var list, conditions, match []string
	for i, c := range columns {
		list = append(list, from+"."+quoted(c))
		conditions = append(conditions, list[i]+" IS NOT NULL")
		match = append(match, fmt.Sprintf("p.%s = %s", quoted(referred[i]), list[i]))
	}
	known := " AND "
	if full {
		known = " OR "
	}
	return fmt.Sprintf("SELECT %[1]s FROM %[2]s AS %[2]s WHERE (%[3]s) AND NOT EXISTS (SELECT 1 FROM p AS p WHERE %[4]s)",
		strings.Join(list, ", "), from, strings.Join(conditions, known), strings.Join(match, " AND "))
}

// removed checks that nothing refers to keys which the statement takes away.
func (v *verifier) removed(c *changes) error {
	for _, k := range v.children {
		tablets, rows := c.gone(!k.constraint.ActsOnDelete(), !k.constraint.ActsOnUpdate())
		if len(rows) == 0 {
			continue
		}
		places := tablestore.Places(v.table, k.constraint.RefColumns)
		old, err := v.session.engine.store.Fetch(v.ctx, v.table, tablets, rows, places)
		if err != nil {
			return err
		}
		source := &memoryRows{batches: []*vec.Batch{old}}
		for _, p := range places {
			source.schema = append(source.schema, schemaOf(v.table)[p])
		}
		child, ok := v.snapshot.TableByID(k.table.ID)
		if !ok {
			continue
		}
		v.names["o"], v.names["p"] = &plan.Virtual{Name: "o", Source: source}, v.names["t"]
		v.names["c"] = v.session.engine.planTable(child)
		keys := v.table.ColumnNames(k.constraint.RefColumns)
		var match []string
		for i, name := range child.ColumnNames(k.constraint.Columns) {
			match = append(match, fmt.Sprintf("c.%s = o.%s", quoted(name), quoted(keys[i])))
		}
		row, err := v.first(orphanQuery("o", keys, keys, false) + " AND EXISTS (SELECT 1 FROM c AS c WHERE " + strings.Join(match, " AND ") + ")")
		if err != nil {
			return err
		}
		if row != nil {
			return sqlerr.New(sqlerr.ForeignKeyViolation, "update or delete on table %q violates foreign key constraint %q on table %q",
				v.table.Name, k.constraint.Name, child.Name).
				Detailf("Key (%s)=%s is still referenced from table %q.", strings.Join(keys, ", "), rowText(row, 0), child.Name).
				Hintf("delete or change the rows of %q first", child.Name)
		}
		v.expectRows(child)
	}
	return nil
}

// expectRows fences the rows of another table that was looked at.
func (v *verifier) expectRows(t *catalog.Table) {
	if t.ID != v.table.ID {
		v.expect = append(v.expect, &catalog.ExpectRows{Table: t.ID, AsOf: t.Tablets.Version()})
	}
}

// checkStored checks that the rows of a table keep new constraints and a new index.
func (s *Session) checkStored(ctx context.Context, snapshot *catalog.Snapshot, t *catalog.Table, constraints []catalog.Constraint, index *catalog.Index) error {
	names := map[string]plan.Relation{"t": s.engine.planTable(t)}
	probe := *t
	probe.Constraints, probe.Indexes = constraints, nil
	if index != nil {
		probe.Indexes = []catalog.Index{*index}
	}
	for _, u := range uniqueKeys(&probe) {
		exprs, where, err := u.over("t")
		if err != nil {
			return err
		}
		var conditions []string
		if where != "" {
			conditions = append(conditions, "("+where+")")
		}
		row, err := s.firstRow(ctx, snapshot, repeatedQuery(exprs, conditions), names)
		if err != nil {
			return err
		}
		if row != nil {
			return sqlerr.New(sqlerr.UniqueViolation, "could not create unique index %q", u.name).
				Detailf("Key (%s)=%s is duplicated.", strings.Join(u.exprs, ", "), rowText(row, 0)).Hintf("remove the duplicates first")
		}
	}
	for _, c := range constraints {
		var row *vec.Batch
		var err error
		switch c.Kind {
		case catalog.CheckRows:
			if row, err = s.firstRow(ctx, snapshot, "SELECT 1 FROM t WHERE NOT ("+c.Expr+")", names); err == nil && row != nil {
				err = sqlerr.New(sqlerr.CheckViolation, "check constraint %q of relation %q is violated by some row", c.Name, t.Name).
					Hintf("change or delete the rows for which it does not hold first")
			}
		case catalog.ForeignKey:
			parent := t
			if c.References != t.ID {
				parent, _ = snapshot.TableByID(c.References)
			}
			names["p"] = s.engine.planTable(parent)
			if row, err = s.firstRow(ctx, snapshot, orphanQuery("t", t.ColumnNames(c.Columns), parent.ColumnNames(c.RefColumns), c.MatchFull), names); err == nil && row != nil {
				err = sqlerr.New(sqlerr.ForeignKeyViolation, "insert or update on table %q violates foreign key constraint %q", t.Name, c.Name).
					Detailf("Key %s is not present in table %q.", rowText(row, 0), parent.Name).Hintf("insert the missing rows first")
			}
		}
		if err != nil {
			return err
		}
	}
	return nil
}
