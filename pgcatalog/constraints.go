package pgcatalog

import (
	"slices"
	"strings"

	"github.com/tidemarkdb/tidemark/catalog"
)

func constraintRelations() []Relation {
	return []Relation{
		relation("pg_index", `indexrelid oid, indrelid oid, indnatts int2, indnkeyatts int2, indisunique bool, indnullsnotdistinct bool,
			indisprimary bool, indisexclusion bool, indimmediate bool, indisclustered bool, indisvalid bool, indcheckxmin bool,
			indisready bool, indislive bool, indisreplident bool, indkey int2[], indcollation oid[], indclass oid[], indoption int2[],
			indexprs text, indpred text`, fillIndexes),
		relation("pg_constraint", `oid oid, conname name, connamespace oid, contype char, condeferrable bool, condeferred bool,
			convalidated bool, conrelid oid, contypid oid, conindid oid, conparentid oid, confrelid oid, confupdtype char, confdeltype char,
			confmatchtype char, conislocal bool, coninhcount int4, connoinherit bool, conkey int2[], confkey int2[], conpfeqop oid[],
			conppeqop oid[], conffeqop oid[], confdelsetcols int2[], conexclop oid[], conbin text`, fillConstraints),
	}
}

func fillIndexes(v *View, add func(values ...any)) {
	for _, c := range v.all() {
		i := c.index
		if i == nil {
			continue
		}
		n := len(i.places)
		var exprs []string
		for k, place := range i.places {
			if place == 0 {
				exprs = append(exprs, i.entries[k])
			}
		}
		zero := make([]int, n)
		add(c.oid, i.of.oid, n, n, i.unique, false, i.primary, false, true, false, true, false, true, true, false, smallints(i.places), oidList(zero),
			oidList(zero), smallints(zero), orNull(strings.Join(exprs, ", ")), orNull(i.where))
	}
}

// constraint is one constraint with what it stands on.
type constraint struct {
	catalog.Constraint
	oid    int64
	of     *class
	index  int64  // of a key, or the one a foreign key refers to
	parent *class // of a foreign key
}

var constraintKinds = map[catalog.ConstraintKind]string{
	catalog.PrimaryKey: "p", catalog.UniqueKey: "u", catalog.CheckRows: "c", catalog.ForeignKey: "f",
}

// constraints lists the constraints of every table the session sees.
func (v *View) constraints() []constraint {
	tables := map[*catalog.Table]*class{}
	for _, c := range v.all() {
		if c.table != nil {
			tables[c.table] = c
		}
	}
	var out []constraint
	for _, c := range v.all() {
		if c.table == nil {
			continue
		}
		for _, k := range c.table.AllConstraints() {
			found := constraint{Constraint: k, oid: v.numbers.of("constraint", indexKey(c.table, k.Name)), of: c}
			switch k.Kind {
			case catalog.PrimaryKey, catalog.UniqueKey:
				found.index = v.numbers.of("class", indexKey(c.table, k.Name))
			case catalog.ForeignKey:
				if parent, ok := v.Snapshot.TableByID(k.References); ok && tables[parent] != nil {
					found.parent = tables[parent]
					found.index = v.keyIndex(parent, k.RefColumns)
				}
			}
			out = append(out, found)
		}
	}
	return out
}

// keyIndex is the number of the index of the unique key that columns of a table are, 0 for none.
func (v *View) keyIndex(t *catalog.Table, fields []int32) int64 {
	if k, ok := keyOf(t, fields); ok {
		return v.numbers.of("class", indexKey(t, k.Name))
	}
	return 0
}

// keyOf returns the key constraint over columns of a table.
func keyOf(t *catalog.Table, fields []int32) (catalog.Constraint, bool) {
	want := slices.Sorted(slices.Values(fields))
	for _, k := range t.AllConstraints() {
		if (k.Kind == catalog.PrimaryKey || k.Kind == catalog.UniqueKey) && slices.Equal(slices.Sorted(slices.Values(k.Columns)), want) {
			return k, true
		}
	}
	return catalog.Constraint{}, false
}

// actionCodes are pg_constraint's letters for what foreign keys do.
var actionCodes = map[string]string{"": "a", catalog.Restrict: "r", catalog.Cascade: "c", catalog.SetNull: "n", catalog.SetDefault: "d"}

func fillConstraints(v *View, add func(values ...any)) {
	for _, k := range v.constraints() {
		parent, update, remove, match := int64(0), " ", " ", " "
		var refs any
		if k.parent != nil {
			parent, update, remove, match = k.parent.oid, actionCodes[k.OnUpdate], actionCodes[k.OnDelete], "s"
			if k.MatchFull {
				match = "f"
			}
			refs = smallints(places(k.parent.table, k.RefColumns))
		}
		add(k.oid, k.Name, v.schemaOid(k.of.schema), constraintKinds[k.Kind], false, false, true, k.of.oid, 0, k.index, 0, parent, update, remove, match,
			true, 0, true, smallints(places(k.of.table, k.Columns)), refs, nil, nil, nil, nil, nil, orNull(k.Expr))
	}
}
