package pgcatalog

import (
	"strings"

	"github.com/tidemarkdb/tidemark/catalog"
)

// qualify writes the name of an object, with its schema where the search path does not find it.
func (v *View) qualify(schema, name string) string {
	if v.visible(schema, name) {
		return QuoteIdent(name)
	}
	return QuoteIdent(schema) + "." + QuoteIdent(name)
}

// visible reports whether an unqualified name finds the object in a schema.
func (v *View) visible(schema, name string) bool {
	for _, s := range v.path("") {
		if s == schema {
			return true
		}
		if _, _, err := v.Snapshot.Relation(s, name); err == nil {
			return false
		}
	}
	return false
}

// path returns the schemas in which a name is looked up.
func (v *View) path(schema string) []string {
	if schema != "" {
		if schema == "main" && !v.Snapshot.HasSchema("main") {
			schema = catalog.DefaultSchema
		}
		return []string{schema}
	}
	return append([]string{"pg_catalog"}, v.Session.SearchPath()...)
}

func columnList(t *catalog.Table, fields []int32) string {
	var names []string
	for _, name := range t.ColumnNames(fields) {
		names = append(names, QuoteIdent(name))
	}
	return strings.Join(names, ", ")
}

// constraintDef is a constraint as ALTER TABLE ADD would say it.
func (v *View) constraintDef(k constraint, pretty bool) string {
	switch k.Kind {
	case catalog.PrimaryKey:
		return "PRIMARY KEY (" + columnList(k.of.table, k.Columns) + ")"
	case catalog.UniqueKey:
		return "UNIQUE (" + columnList(k.of.table, k.Columns) + ")"
	case catalog.CheckRows:
		if pretty {
			return "CHECK (" + k.Expr + ")"
		}
		return "CHECK ((" + k.Expr + "))"
	}
	if k.parent == nil {
		return ""
	}
	def := "FOREIGN KEY (" + columnList(k.of.table, k.Columns) + ") REFERENCES " + v.qualify(k.parent.schema, k.parent.name) +
		"(" + columnList(k.parent.table, k.RefColumns) + ")"
	if k.MatchFull {
		def += " MATCH FULL"
	}
	if k.OnUpdate != "" {
		def += " ON UPDATE " + actionRule(k.OnUpdate)
	}
	if k.OnDelete != "" {
		def += " ON DELETE " + actionRule(k.OnDelete)
	}
	if len(k.SetColumns) > 0 {
		def += " (" + columnList(k.of.table, k.SetColumns) + ")"
	}
	return def
}

// indexDef is an index as CREATE INDEX would say it, or the nth of its entries from 1. Pretty leaves the schema out
// where the search path finds the table.
func (v *View) indexDef(i *index, nth int64, pretty bool) string {
	if nth > 0 {
		if nth > int64(len(i.entries)) {
			return ""
		}
		return i.entries[nth-1]
	}
	unique, where, table := "", "", QuoteIdent(i.of.schema)+"."+QuoteIdent(i.of.name)
	if pretty {
		table = v.qualify(i.of.schema, i.of.name)
	}
	if i.unique {
		unique = "UNIQUE "
	}
	if i.where != "" {
		where = " WHERE (" + i.where + ")"
	}
	return "CREATE " + unique + "INDEX " + QuoteIdent(i.name) + " ON " + table + " USING btree (" + strings.Join(i.entries, ", ") + ")" + where
}
