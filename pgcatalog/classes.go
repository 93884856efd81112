package pgcatalog

import (
	"github.com/tidemarkdb/tidemark/catalog"
	"github.com/tidemarkdb/tidemark/tablet"
	"github.com/tidemarkdb/tidemark/vec"
)

func classRelations() []Relation {
	return []Relation{
		relation("pg_namespace", "oid oid, nspname name, nspowner oid, nspacl text[]", fillNamespaces),
		relation("pg_class", `oid oid, relname name, relnamespace oid, reltype oid, reloftype oid, relowner oid, relam oid, relfilenode oid,
			reltablespace oid, relpages int4, reltuples float4, relallvisible int4, reltoastrelid oid, relhasindex bool, relisshared bool,
			relpersistence char, relkind char, relnatts int2, relchecks int2, relhasrules bool, relhastriggers bool, relhassubclass bool,
			relrowsecurity bool, relforcerowsecurity bool, relispopulated bool, relreplident char, relispartition bool, relrewrite oid,
			relfrozenxid int8, relminmxid int8, relacl text[], reloptions text[], relpartbound text`, fillClasses),
		relation("pg_attribute", `attrelid oid, attname name, atttypid oid, attstattarget int4, attlen int2, attnum int2, attndims int4,
			attcacheoff int4, atttypmod int4, attbyval bool, attalign char, attstorage char, attcompression char, attnotnull bool,
			atthasdef bool, atthasmissing bool, attidentity char, attgenerated char, attisdropped bool, attislocal bool, attinhcount int4,
			attcollation oid, attacl text[], attoptions text[], attfdwoptions text[], attmissingval text[]`, fillAttributes),
		relation("pg_attrdef", "oid oid, adrelid oid, adnum int2, adbin text", fillDefaults),
		relation("pg_sequence", `seqrelid oid, seqtypid oid, seqstart int8, seqincrement int8, seqmax int8, seqmin int8, seqcache int8,
			seqcycle bool`, fillSequences),
	}
}

func fillNamespaces(v *View, add func(values ...any)) {
	for _, name := range v.Session.Schemas() {
		add(v.schemaOid(name), name, ownerOid, nil)
	}
}

func fillClasses(v *View, add func(values ...any)) {
	for _, c := range v.all() {
		pages, tuples, checks, indexed, triggers := 0, float64(-1), 0, false, false
		persistence, am, replica := "p", 0, "n"
		if c.table != nil {
			totals := c.table.Tablets.Totals() // an estimate, as in PostgreSQL: to count would resolve masks
			tuples = float64(totals.BaseRows + totals.StagingRows - totals.MaskedRows)
			pages = int((totals.Bytes + pageBytes - 1) / pageBytes)
			indexed = len(indexesOf(c)) > 0
			for _, k := range c.table.Constraints {
				if k.Kind == catalog.CheckRows {
					checks++
				}
				triggers = triggers || k.Kind == catalog.ForeignKey
			}
			am, replica = 2, "d"
		}
		if c.kind == "i" {
			am, tuples = 403, 0
		}
		if v.temporary(c.schema) {
			persistence = "t"
		}
		add(c.oid, c.name, v.schemaOid(c.schema), 0, 0, ownerOid, am, c.oid, 0, pages, tuples, 0, 0, indexed, false, persistence, c.kind,
			len(c.columns), checks, c.kind == "v", triggers, false, false, false, true, replica, false, 0, 0, 0, nil, nil, nil)
	}
}

// pageBytes is the unit that relpages counts in.
const pageBytes = 8192

func (v *View) temporary(schema string) bool { return len(schema) > 8 && schema[:8] == "pg_temp_" }

func fillAttributes(v *View, add func(values ...any)) {
	for _, c := range v.all() {
		for i, column := range c.columns {
			length, collation := typeLength(column.Type), 0
			if column.Type.ID == vec.Text {
				collation = 100
			}
			add(c.oid, column.Name, v.typeOid(column.Type), -1, length, i+1, dimensions(column.Type), -1, typmod(column.Type), byValue(length),
				alignment(length), storage(length), "", !column.Nullable && c.kind == "r", defaultOf(column) != "", false, identities[column.Identity],
				generated(column), false, true, 0,
				collation, nil, nil, nil, nil)
		}
	}
}

// identities are the letters of attidentity.
var identities = map[string]string{"always": "a", "by default": "d"}

// generated is the letter of attgenerated.
func generated(c tablet.Column) string {
	if c.Generated != "" {
		return "s"
	}
	return ""
}

// defaultOf is what a column's values are made by unless they are given: of an identity column nothing is said, it has
// its sequence.
func defaultOf(c tablet.Column) string {
	switch {
	case c.Generated != "":
		return c.Generated
	case c.Identity != "":
		return ""
	}
	return c.Default
}

func fillDefaults(v *View, add func(values ...any)) {
	for _, c := range v.all() {
		for i, column := range c.columns {
			if text := defaultOf(column); text != "" && c.table != nil {
				add(defaultOid(c, i), c.oid, i+1, text)
			}
		}
	}
}

// defaultOid is the number of the default of a table's column given by place.
func defaultOid(c *class, place int) int64 {
	return firstOid + int64(hash("default", indexKey(c.table, c.columns[place].Name))%(1<<31-firstOid))
}

var sequenceTypes = map[string]int64{"smallint": 21, "integer": 23, "bigint": 20}

func fillSequences(v *View, add func(values ...any)) {
	for _, c := range v.all() {
		if q := c.sequence; q != nil {
			add(c.oid, sequenceTypes[q.Type], q.Start, q.Increment, q.Max, q.Min, 1, q.Cycle)
		}
	}
}
