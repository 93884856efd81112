package pgcatalog

func listRelations() []Relation {
	return []Relation{
		relation("pg_tables", `schemaname name, tablename name, tableowner name, tablespace name, hasindexes bool, hasrules bool,
			hastriggers bool, rowsecurity bool`, func(v *View, add func(values ...any)) {
			for _, c := range v.all() {
				if c.kind == "r" {
					add(c.schema, c.name, v.Session.User(), nil, c.table != nil && len(indexesOf(c)) > 0, false, false, false)
				}
			}
		}),
		relation("pg_views", "schemaname name, viewname name, viewowner name, definition text", func(v *View, add func(values ...any)) {
			for _, c := range v.all() {
				if c.kind == "v" {
					var definition any
					if c.view != nil {
						definition = c.view.SQL + ";"
					}
					add(c.schema, c.name, v.Session.User(), definition)
				}
			}
		}),
		relation("pg_indexes", "schemaname name, tablename name, indexname name, tablespace name, indexdef text", func(v *View, add func(values ...any)) {
			for _, c := range v.all() {
				if c.index != nil {
					add(c.schema, c.index.of.name, c.name, nil, v.indexDef(c.index, 0, false))
				}
			}
		}),
		relation("pg_sequences", `schemaname name, sequencename name, sequenceowner name, data_type text, start_value int8, min_value int8,
			max_value int8, increment_by int8, cycle bool, cache_size int8, last_value int8`, func(v *View, add func(values ...any)) {
			for _, c := range v.all() {
				if q := c.sequence; q != nil {
					var last any
					if q.Called {
						last = q.Last
					}
					add(c.schema, c.name, v.Session.User(), q.Type, q.Start, q.Min, q.Max, q.Increment, q.Cycle, 1, last)
				}
			}
		}),
		relation("pg_stat_user_tables", "relid oid, schemaname name, relname name, n_live_tup int8, n_dead_tup int8", fillUserTables),
		relation("pg_stat_all_tables", "relid oid, schemaname name, relname name, n_live_tup int8, n_dead_tup int8", fillUserTables),
		relation("pg_description", "objoid oid, classoid oid, objsubid int4, description text", fillDescriptions),
	}
}

func fillUserTables(v *View, add func(values ...any)) {
	for _, c := range v.all() {
		if c.table == nil {
			continue
		}
		var live, dead any
		if rows, known := v.Session.Rows(c.table); known {
			totals := c.table.Tablets.Totals()
			live, dead = rows, totals.BaseRows+totals.StagingRows-rows
		}
		add(c.oid, c.schema, c.name, live, dead)
	}
}

// comment returns the comment on a relation, or on its column of that place from 1.
func (c *class) comment(place int64) string {
	if place > int64(len(c.columns)) || place < 0 {
		return ""
	}
	switch {
	case c.view != nil && place > 0:
		return c.view.ColumnComments[c.columns[place-1].Name]
	case c.table != nil && place > 0:
		return c.columns[place-1].Comment
	case place > 0:
		return ""
	case c.view != nil:
		return c.view.Comment
	case c.index != nil:
		return c.index.comment
	case c.sequence != nil:
		return c.sequence.Comment
	case c.table != nil:
		return c.table.Comment
	}
	return ""
}

// commented is an object other than a relation with what was said of it.
type commented struct {
	class string // the system table that lists it
	oid   int64
	text  string
}

// comments yields the comments on schemas, types and constraints.
func (v *View) comments(yield func(commented) bool) {
	for s := range v.Snapshot.Schemas() {
		if s.Comment != "" && v.sees(s.Name) && !yield(commented{"pg_namespace", v.schemaOid(s.Name), s.Comment}) {
			return
		}
	}
	for t := range v.userTypes() {
		if t.Comment != "" && !yield(commented{"pg_type", v.numbers.of("type", nameKey(t.Schema, t.Name)), t.Comment}) {
			return
		}
	}
	for _, k := range v.constraints() {
		if k.Comment != "" && !yield(commented{"pg_constraint", k.oid, k.Comment}) {
			return
		}
	}
}

// fillDescriptions has the comments on objects, and what the functions say of themselves.
func fillDescriptions(v *View, add func(values ...any)) {
	for c := range v.comments {
		add(c.oid, fixedClasses[c.class], 0, c.text)
	}
	for _, c := range v.all() {
		for place := range int64(len(c.columns) + 1) {
			if text := c.comment(place); text != "" {
				add(c.oid, fixedClasses["pg_class"], int(place), text)
			}
		}
	}
	r := v.Session.Functions()
	for _, f := range v.routines() {
		for _, d := range r.Defs(f.name) {
			add(f.oid, fixedClasses["pg_proc"], 0, d.Def.Description)
			break
		}
	}
}
