package pgcatalog

import (
	"slices"
	"strings"

	"github.com/tidemarkdb/tidemark/tablet"
	"github.com/tidemarkdb/tidemark/vec"
)

// columnsRelation is information_schema.columns: PostgreSQL's columns, and is_merge_key behind those that describe the
// column for everyone.
func columnsRelation() Relation {
	return information("columns", `table_catalog name, table_schema name, table_name name, column_name name, ordinal_position int8,
		column_default text, is_nullable text, data_type text, is_merge_key text, character_maximum_length int4,
		character_octet_length int4, numeric_precision int4, numeric_precision_radix int4, numeric_scale int4, datetime_precision int4,
		interval_type text, interval_precision int4, character_set_catalog name, character_set_schema name, character_set_name name,
		collation_catalog name, collation_schema name, collation_name name, domain_catalog name, domain_schema name, domain_name name,
		udt_catalog name, udt_schema name, udt_name name, dtd_identifier name, is_self_referencing text, is_identity text,
		identity_generation text, identity_start text, identity_increment text, identity_maximum text, identity_minimum text,
		identity_cycle text, is_generated text, generation_expression text, is_updatable text`, fillColumns)
}

func fillColumns(v *View, add func(values ...any)) {
	for _, c := range v.all() {
		if c.kind == "i" || c.kind == "S" {
			continue
		}
		updatable := c.table != nil && c.table.OpenToDML()
		for i, column := range c.columns {
			key := c.table != nil && slices.Contains(c.table.MergeKey, column.FieldID)
			precision, radix, scale := numberForm(column.Type)
			schema, name := udtOf(column.Type)
			made, generated, standard := "NEVER", orNull(column.Generated), orNull(defaultOf(column))
			if generated != nil {
				made, standard = "ALWAYS", nil
			}
			add(Database, c.schema, c.name, column.Name, i+1, standard, yesNo(column.Nullable || c.table == nil), dataType(column), yesNo(key),
				nil, octets(column.Type), precision, radix, scale, datetimePrecision(column.Type), nil, nil, nil, nil, nil, nil, nil, nil, nil, nil, nil,
				Database, schema, name, i+1, "NO", yesNo(column.Identity != ""), orNull(strings.ToUpper(column.Identity)), nil, nil, nil, nil, "NO", made, generated,
				yesNo(updatable))
		}
	}
}

// dataType is a type as the standard calls it: an array is ARRAY and an enumeration USER-DEFINED.
func dataType(c tablet.Column) string {
	switch {
	case c.Type.ID == vec.Array:
		return "ARRAY"
	case c.Type.Enum != nil:
		return "USER-DEFINED"
	case c.Type.ID == vec.Struct:
		return "record"
	}
	return builtinOf(c.Type).display
}

// numberForm has the digits, their base and the scale of a number's type, NULLs for another.
func numberForm(t vec.Type) (precision, radix, scale any) {
	switch t.ID {
	case vec.Int16:
		return 16, 2, 0
	case vec.Int32:
		return 32, 2, 0
	case vec.Int64:
		return 64, 2, 0
	case vec.Float32:
		return 24, 2, nil
	case vec.Float64:
		return 53, 2, nil
	case vec.Decimal:
		return int(t.Precision), 10, int(t.Scale)
	}
	return nil, nil, nil
}

// octets is the length that PostgreSQL gives texts without a limit.
func octets(t vec.Type) any {
	if t.ID == vec.Text && t.Enum == nil {
		return 1 << 30
	}
	return nil
}

func datetimePrecision(t vec.Type) any {
	switch t.ID {
	case vec.Date:
		return 0
	case vec.Time, vec.TimeTZ, vec.Timestamp, vec.TimestampTZ, vec.Interval:
		return 6
	}
	return nil
}

// udtOf is the schema and the internal name of a type.
func udtOf(t vec.Type) (schema, name string) {
	if t.ID == vec.Array {
		schema, name = udtOf(*t.Elem)
		if t.Elem.ID == vec.Array {
			return schema, name
		}
		return schema, "_" + name
	}
	if t.Enum != nil {
		return t.Enum.Schema, t.Enum.Name
	}
	return "pg_catalog", builtinOf(t).name
}
