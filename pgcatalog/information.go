package pgcatalog

import (
	"slices"
	"strings"

	"github.com/tidemarkdb/tidemark/catalog"
)

// information makes a relation of information_schema.
func information(name, columns string, fill func(v *View, add func(values ...any))) Relation {
	return Relation{Schema: "information_schema", Name: name, Columns: columnsOf(columns), Fill: fill}
}

func informationRelations() []Relation {
	return []Relation{
		columnsRelation(),
		information("schemata", `catalog_name name, schema_name name, schema_owner name, default_character_set_catalog name,
			default_character_set_schema name, default_character_set_name name, sql_path text`, func(v *View, add func(values ...any)) {
			for _, name := range v.Session.Schemas() {
				add(Database, name, v.Session.User(), nil, nil, nil, nil)
			}
		}),
		information("views", `table_catalog name, table_schema name, table_name name, view_definition text, check_option text,
			is_updatable text, is_insertable_into text, is_trigger_updatable text, is_trigger_deletable text,
			is_trigger_insertable_into text`, func(v *View, add func(values ...any)) {
			for _, c := range v.all() {
				if c.view != nil {
					add(Database, c.schema, c.name, c.view.SQL, "NONE", "NO", "NO", "NO", "NO", "NO")
				}
			}
		}),
		information("sequences", `sequence_catalog name, sequence_schema name, sequence_name name, data_type text, numeric_precision int4,
			numeric_precision_radix int4, numeric_scale int4, start_value int8, minimum_value int8, maximum_value int8, increment int8,
			cycle_option text`, fillSequenceList),
		information("table_constraints", `constraint_catalog name, constraint_schema name, constraint_name name, table_catalog name,
			table_schema name, table_name name, constraint_type text, is_deferrable text, initially_deferred text, enforced text,
			nulls_distinct text, check_clause text`, fillTableConstraints),
		information("key_column_usage", `constraint_catalog name, constraint_schema name, constraint_name name, table_catalog name,
			table_schema name, table_name name, column_name name, ordinal_position int8, position_in_unique_constraint int8,
			referenced_table_name name, referenced_column_name name`, fillKeyColumns),
		information("referential_constraints", `constraint_catalog name, constraint_schema name, constraint_name name,
			unique_constraint_catalog name, unique_constraint_schema name, unique_constraint_name name, match_option text,
			update_rule text, delete_rule text`, fillReferential),
		information("constraint_column_usage", `table_catalog name, table_schema name, table_name name, column_name name,
			constraint_catalog name, constraint_schema name, constraint_name name`, fillColumnUsage),
		information("constraint_table_usage", `table_catalog name, table_schema name, table_name name, constraint_catalog name,
			constraint_schema name, constraint_name name`, fillTableUsage),
		information("check_constraints", "constraint_catalog name, constraint_schema name, constraint_name name, check_clause text", fillChecks),
		information("routines", `specific_catalog name, specific_schema name, specific_name name, routine_catalog name,
			routine_schema name, routine_name name, routine_type text, data_type text, routine_body text, routine_definition text,
			external_language text, is_deterministic text`, fillRoutines),
		information("information_schema_catalog_name", "catalog_name name", func(_ *View, add func(values ...any)) { add(Database) }),
		information("enabled_roles", "role_name name", func(v *View, add func(values ...any)) { add(v.Session.User()) }),
		information("table_privileges", `grantor name, grantee name, table_catalog name, table_schema name, table_name name,
			privilege_type text, is_grantable text, with_hierarchy text`, fillPrivileges),
		information("triggers", `trigger_catalog name, trigger_schema name, trigger_name name, event_manipulation text,
			event_object_catalog name, event_object_schema name, event_object_table name, action_statement text, action_timing text`,
			func(*View, func(values ...any)) {}),
		information("parameters", `specific_catalog name, specific_schema name, specific_name name, ordinal_position int4,
			parameter_mode text, parameter_name name, data_type text`, fillParameters),
	}
}

var sequenceBits = map[string]int{"smallint": 16, "integer": 32, "bigint": 64}

func fillSequenceList(v *View, add func(values ...any)) {
	for _, c := range v.all() {
		if q := c.sequence; q != nil {
			add(Database, c.schema, c.name, q.Type, sequenceBits[q.Type], 2, 0, q.Start, q.Min, q.Max, q.Increment, yesNo(q.Cycle))
		}
	}
}

var constraintTypes = map[catalog.ConstraintKind]string{
	catalog.PrimaryKey: "PRIMARY KEY", catalog.UniqueKey: "UNIQUE", catalog.CheckRows: "CHECK", catalog.ForeignKey: "FOREIGN KEY",
}

func fillTableConstraints(v *View, add func(values ...any)) {
	for _, k := range v.constraints() {
		var distinct any
		if k.Kind == catalog.UniqueKey {
			distinct = "YES"
		}
		add(Database, k.of.schema, k.Name, Database, k.of.schema, k.of.name, constraintTypes[k.Kind], "NO", "NO",
			yesNo(k.of.table.Kind != catalog.CDC), distinct, orNull(k.Expr))
	}
	v.notNulls(func(c *class, name, clause string) {
		add(Database, c.schema, name, Database, c.schema, c.name, "CHECK", "NO", "NO", "YES", nil, clause)
	})
}

// notNulls calls f for each column that takes no NULL: the standard counts that as a CHECK.
func (v *View) notNulls(f func(c *class, name, clause string)) {
	for _, c := range v.all() {
		if c.table == nil {
			continue
		}
		for _, column := range c.table.Columns {
			if !column.Nullable {
				f(c, c.name+"_"+column.Name+"_not_null", column.Name+" IS NOT NULL")
			}
		}
	}
}

func fillKeyColumns(v *View, add func(values ...any)) {
	for _, k := range v.constraints() {
		if k.Kind == catalog.CheckRows {
			continue
		}
		var key catalog.Constraint
		if k.parent != nil {
			key, _ = keyOf(k.parent.table, k.RefColumns)
		}
		for i, name := range k.of.table.ColumnNames(k.Columns) {
			var place, table, column any
			if k.parent != nil {
				table, column = k.parent.name, k.parent.table.ColumnNames(k.RefColumns)[i]
				place = slices.Index(key.Columns, k.RefColumns[i]) + 1
			}
			add(Database, k.of.schema, k.Name, Database, k.of.schema, k.of.name, name, i+1, place, table, column)
		}
	}
}

func fillReferential(v *View, add func(values ...any)) {
	for _, k := range v.constraints() {
		if k.parent == nil {
			continue
		}
		var schema, name any
		if key, ok := keyOf(k.parent.table, k.RefColumns); ok {
			schema, name = k.parent.schema, key.Name
		}
		match := "NONE"
		if k.MatchFull {
			match = "FULL"
		}
		add(Database, k.of.schema, k.Name, Database, schema, name, match, actionRule(k.OnUpdate), actionRule(k.OnDelete))
	}
}

func actionRule(action string) string {
	if action == "" {
		return "NO ACTION"
	}
	return strings.ToUpper(action)
}

// fillColumnUsage has the columns that a constraint is about: of a foreign key those it refers to.
func fillColumnUsage(v *View, add func(values ...any)) {
	for _, k := range v.constraints() {
		of, fields := k.of, k.Columns
		if k.Kind == catalog.ForeignKey {
			of, fields = k.parent, k.RefColumns
		}
		if of == nil {
			continue
		}
		for _, name := range of.table.ColumnNames(fields) {
			add(Database, of.schema, of.name, name, Database, k.of.schema, k.Name)
		}
	}
}

func fillTableUsage(v *View, add func(values ...any)) {
	for _, k := range v.constraints() {
		of := k.of
		if k.Kind == catalog.ForeignKey {
			of = k.parent
		}
		if of != nil && k.Kind != catalog.CheckRows {
			add(Database, of.schema, of.name, Database, k.of.schema, k.Name)
		}
	}
}

func fillChecks(v *View, add func(values ...any)) {
	for _, k := range v.constraints() {
		if k.Kind == catalog.CheckRows {
			add(Database, k.of.schema, k.Name, "(("+k.Expr+"))")
		}
	}
	v.notNulls(func(c *class, name, clause string) { add(Database, c.schema, name, clause) })
}

// specificName tells the overloads of a routine apart.
func (r routine) specificName() string { return r.name + "(" + r.arguments() + ")" }

func fillRoutines(v *View, add func(values ...any)) {
	for _, r := range v.routines() {
		if r.kind != "f" {
			continue
		}
		var result any
		if name, ok := v.formatType(r.result, -1); ok {
			result = name
		}
		add(Database, "pg_catalog", r.specificName(), Database, "pg_catalog", r.name, "FUNCTION", result, "EXTERNAL", nil, "INTERNAL",
			yesNo(r.volatility == "i"))
	}
}

func fillParameters(v *View, add func(values ...any)) {
	for _, r := range v.routines() {
		for i, p := range r.signature.Params {
			name, _ := v.formatType(v.paramOid(p), -1)
			add(Database, "pg_catalog", r.specificName(), i+1, "IN", orNull(p.Name), name)
		}
	}
}

func fillPrivileges(v *View, add func(values ...any)) {
	for _, c := range v.all() {
		if c.kind != "r" && c.kind != "v" {
			continue
		}
		kinds := []string{"SELECT"}
		if c.table != nil && c.table.OpenToDML() && !v.Session.ReadOnly() {
			kinds = []string{"SELECT", "INSERT", "UPDATE", "DELETE", "TRUNCATE"}
		}
		for _, kind := range kinds {
			add(v.Session.User(), v.Session.User(), Database, c.schema, c.name, kind, "NO", yesNo(kind == "SELECT"))
		}
	}
}
