package pgcatalog

import (
	"hash/fnv"
	"sync/atomic"

	"github.com/tidemarkdb/tidemark/catalog"
)

// firstOid is the first number of objects that are not part of the system, as in PostgreSQL.
const firstOid = 16384

// The numbers of what every database has.
const (
	catalogSchemaOid     = 11
	publicSchemaOid      = 2200
	informationSchemaOid = 13000
	ownerOid             = 10
)

// fixedClasses are the system tables that clients know by number.
var fixedClasses = map[string]int64{
	"pg_type": 1247, "pg_attribute": 1249, "pg_proc": 1255, "pg_class": 1259, "pg_database": 1262, "pg_attrdef": 2604,
	"pg_constraint": 2606, "pg_description": 2609, "pg_index": 2610, "pg_namespace": 2615, "pg_sequence": 2224,
	"pg_enum": 3501, "pg_collation": 3456, "pg_extension": 3079, "pg_inherits": 2611, "pg_trigger": 2620, "pg_am": 2601,
	"pg_language": 2612, "pg_operator": 2617, "pg_depend": 2608, "pg_authid": 1260, "pg_tablespace": 1213,
}

// virtualOid is the number of a relation that is computed, the nth by name: below firstOid.
func virtualOid(schema, name string, nth int) int64 {
	if oid := fixedClasses[name]; oid != 0 && schema == "pg_catalog" {
		return oid
	}
	return 13100 + int64(nth)
}

// numbers are the oids of a snapshot's objects. An object's comes from its identity alone, unless another object that
// is listed before it has the same: then it takes the next that is free.
type numbers struct {
	snapshot *catalog.Snapshot
	byKey    map[string]int64
	taken    map[int64]bool
}

// Numbering keeps the numbers of the snapshot that was asked about last. The zero value is ready.
type Numbering struct{ latest atomic.Pointer[numbers] }

func (g *Numbering) of(snapshot *catalog.Snapshot) *numbers {
	if n := g.latest.Load(); n != nil && n.snapshot == snapshot {
		return n
	}
	n := numbersOf(snapshot)
	g.latest.Store(n)
	return n
}

func numbersOf(snapshot *catalog.Snapshot) *numbers {
	n := &numbers{snapshot: snapshot, byKey: map[string]int64{}, taken: map[int64]bool{}}
	for s := range snapshot.Schemas() {
		n.give("namespace", s.Name)
	}
	for t := range snapshot.Tables("") {
		n.give("class", tableKey(t))
		for _, k := range t.AllConstraints() {
			n.give("constraint", indexKey(t, k.Name))
			if k.Kind == catalog.PrimaryKey || k.Kind == catalog.UniqueKey {
				n.give("class", indexKey(t, k.Name))
			}
		}
		for _, i := range t.Indexes {
			n.give("class", indexKey(t, i.Name))
		}
	}
	for view := range snapshot.Views("") {
		n.give("class", nameKey(view.Schema, view.Name))
	}
	for q := range snapshot.Sequences("") {
		n.give("class", sequenceKey(q))
	}
	for t := range snapshot.UserTypes() {
		n.give("type", nameKey(t.Schema, t.Name))
		n.give("array", nameKey(t.Schema, t.Name))
	}
	return n
}

func (n *numbers) give(kind, key string) {
	oid := firstOid + int64(hash(kind, key)%(1<<31-firstOid))
	for n.taken[oid] {
		oid++
	}
	n.taken[oid] = true
	n.byKey[kind+"\x00"+key] = oid
}

func (n *numbers) of(kind, key string) int64 { return n.byKey[kind+"\x00"+key] }

func hash(kind, key string) uint64 {
	h := fnv.New64a()
	h.Write([]byte(kind + "\x00" + key))
	x := h.Sum64()
	return x ^ x>>32
}

func tableKey(t *catalog.Table) string { return t.ID.String() }

func indexKey(t *catalog.Table, name string) string { return t.ID.String() + "\x00" + name }

func sequenceKey(q *catalog.Sequence) string { return "sequence " + q.ID.String() }

func nameKey(schema, name string) string { return schema + "\x00" + name }

// schemaOid is the number of a schema.
func (v *View) schemaOid(name string) int64 {
	switch name {
	case "pg_catalog":
		return catalogSchemaOid
	case "information_schema":
		return informationSchemaOid
	case catalog.DefaultSchema:
		return publicSchemaOid
	}
	return v.numbers.of("namespace", name)
}
