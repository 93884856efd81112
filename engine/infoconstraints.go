package engine

import (
	"github.com/tidemarkdb/tidemark/catalog"
	"github.com/tidemarkdb/tidemark/vec"
)

var tableConstraintsSchema = vec.Schema{
	column("constraint_catalog", vec.TextType), column("constraint_schema", vec.TextType), column("constraint_name", vec.TextType),
	column("table_catalog", vec.TextType), column("table_schema", vec.TextType), column("table_name", vec.TextType),
	column("constraint_type", vec.TextType), column("is_deferrable", vec.TextType), column("initially_deferred", vec.TextType),
	column("enforced", vec.TextType), column("check_clause", vec.TextType),
}

var constraintTypes = map[catalog.ConstraintKind]string{
	catalog.PrimaryKey: "PRIMARY KEY", catalog.UniqueKey: "UNIQUE", catalog.CheckRows: "CHECK", catalog.ForeignKey: "FOREIGN KEY",
}

func fillTableConstraints(v *virtualRows) {
	v.tables(func(t *catalog.Table) {
		for _, c := range constraintsWithKey(t) {
			v.add(Database, t.Schema, c.Name, Database, t.Schema, t.Name, constraintTypes[c.Kind], "NO", "NO", yesNo(t.Kind != catalog.CDC), text(c.Expr))
		}
	})
}

// constraintsWithKey returns the constraints of a table with its primary key first.
func constraintsWithKey(t *catalog.Table) []catalog.Constraint {
	if len(t.MergeKey) == 0 {
		return t.Constraints
	}
	key := catalog.Constraint{Name: t.KeyConstraint(), Kind: catalog.PrimaryKey, Columns: t.MergeKey}
	return append([]catalog.Constraint{key}, t.Constraints...)
}

var keyColumnUsageSchema = vec.Schema{
	column("constraint_catalog", vec.TextType), column("constraint_schema", vec.TextType), column("constraint_name", vec.TextType),
	column("table_catalog", vec.TextType), column("table_schema", vec.TextType), column("table_name", vec.TextType),
	column("column_name", vec.TextType), column("ordinal_position", vec.Int64Type), column("referenced_table_name", vec.TextType),
	column("referenced_column_name", vec.TextType),
}

func fillKeyColumnUsage(v *virtualRows) {
	v.tables(func(t *catalog.Table) {
		for _, c := range constraintsWithKey(t) {
			if c.Kind == catalog.CheckRows {
				continue
			}
			parent, refers := v.snapshot.TableByID(c.References)
			for i, name := range t.ColumnNames(c.Columns) {
				var table, column any
				if refers {
					table, column = parent.Name, text(parent.ColumnNames(c.RefColumns)[i])
				}
				v.add(Database, t.Schema, c.Name, Database, t.Schema, t.Name, name, i+1, table, column)
			}
		}
	})
}

var sequencesSchema = vec.Schema{
	column("sequence_catalog", vec.TextType), column("sequence_schema", vec.TextType), column("sequence_name", vec.TextType),
	column("data_type", vec.TextType), column("start_value", vec.Int64Type), column("minimum_value", vec.Int64Type),
	column("maximum_value", vec.Int64Type), column("increment", vec.Int64Type), column("cycle_option", vec.TextType),
}

func fillSequences(v *virtualRows) {
	for q := range v.snapshot.Sequences("") {
		if !isTemporary(q.Schema) || q.Schema == v.session.temp {
			v.add(Database, q.Schema, q.Name, q.Type, q.Start, q.Min, q.Max, q.Increment, yesNo(q.Cycle))
		}
	}
}
