package differential

import (
	"fmt"
	"slices"
	"strings"
)

// query writes a query with columns of the types, named c0, c1 and so on.
func (g *generator) query(types []typ, depth int) string {
	if depth > 0 && g.chance(12) {
		return g.setOperation(types, depth-1)
	}
	if g.chance(4) {
		return g.values(types)
	}
	if depth > 0 && g.chance(6) {
		return g.nested(types, depth-1)
	}
	return g.selection(types, depth)
}

func (g *generator) setOperation(types []typ, depth int) string {
	arm := func() string {
		q := g.query(types, depth)
		if g.chance(20) {
			q += g.orderBy(len(types)) + g.limit()
		}
		return "(" + q + ")"
	}
	op := pick(g, "UNION", "UNION ALL", "EXCEPT", "INTERSECT", "EXCEPT ALL", "INTERSECT ALL")
	out := arm() + " " + op + " " + arm()
	if g.chance(20) {
		out = "(" + out + ") " + pick(g, "UNION ALL", "UNION", "EXCEPT", "INTERSECT") + " " + arm()
	}
	return out
}

func (g *generator) values(types []typ) string {
	scope := g.scope
	g.scope = nil
	defer func() { g.scope = scope }()
	rows := make([]string, 1+g.IntN(3))
	for i := range rows {
		cells := make([]string, len(types))
		for j, t := range types {
			cells[j] = "CAST(" + g.expr(t, 0) + " AS " + t.name() + ")"
		}
		rows[i] = "(" + strings.Join(cells, ", ") + ")"
	}
	return "SELECT * FROM (VALUES " + strings.Join(rows, ", ") + ") AS " + g.name("v") + "(" + outputs(len(types)) + ")"
}

// outputs lists the names of n columns.
func outputs(n int) string {
	names := make([]string, n)
	for i := range names {
		names[i] = fmt.Sprintf("c%d", i)
	}
	return strings.Join(names, ", ")
}

// selection writes one SELECT.
func (g *generator) selection(types []typ, depth int) string {
	outer := g.scope
	defer func() { g.scope = outer }()
	from := ""
	if !g.chance(4) {
		var columns []column
		from, columns = g.from(depth)
		from = " FROM " + from
		g.scope = append(slices.Clone(columns), outer...)
	}
	where := ""
	if from != "" && g.chance(45) {
		where = " WHERE " + g.expr(boolean, depth)
	}
	if from != "" && g.chance(30) {
		g.scope = g.scope[:len(g.scope)-len(outer)] // an aggregate of outer columns alone would belong to the outer query
		return g.grouped(types, from+where, len(outer) > 0)
	}
	// One window call at most: with several, rows that tie could pair their values in more than one way.
	window := -1
	if from != "" && g.chance(20) {
		window = g.IntN(len(types))
	}
	items := make([]string, len(types))
	for i, t := range types {
		e := ""
		if i == window {
			e = g.windowed(t)
		}
		if e == "" {
			e = g.expr(t, depth)
		}
		items[i] = fmt.Sprintf("%s AS c%d", e, i)
	}
	switch {
	case g.chance(10):
		return "SELECT DISTINCT " + strings.Join(items, ", ") + from + where
	case from != "" && window < 0 && g.chance(5):
		return g.distinctOn(items, from+where)
	}
	return "SELECT " + strings.Join(items, ", ") + from + where
}

// distinctOn keeps one row for each value of the first column, the least by all of them.
func (g *generator) distinctOn(items []string, rest string) string {
	inner := "SELECT " + strings.Join(items, ", ") + rest
	keys := make([]string, len(items))
	for i := range keys {
		keys[i] = fmt.Sprintf("c%d%s", i, g.direction())
	}
	return fmt.Sprintf("SELECT DISTINCT ON (c0) %s FROM (%s) AS %s ORDER BY %s", outputs(len(items)), inner, g.name("o"),
		strings.Join(keys, ", "))
}

// grouped writes a SELECT with aggregates.
func (g *generator) grouped(types []typ, rest string, inner bool) string {
	rows := g.scope
	var keys []column
	for range g.IntN(3) {
		t := pick(g, integer, text, boolean, date, number)
		// A constant could be taken for the place of a column.
		if key := g.plain(t, 1); slices.ContainsFunc(rows, func(c column) bool { return strings.Contains(key, c.ref) }) {
			keys = append(keys, column{key, t})
		}
	}
	by := g.groupBy(keys, g.portable && inner)
	items := make([]string, len(types))
	for i, t := range types {
		items[i] = fmt.Sprintf("%s AS c%d", g.overGroups(t, keys, rows), i)
	}
	having := ""
	if g.chance(25) {
		having = " HAVING " + g.overGroups(boolean, nil, rows)
	}
	return "SELECT " + strings.Join(items, ", ") + rest + by + having
}

// groupBy writes GROUP BY; plain without grouping sets, whose empty set DuckDB loses in correlated subqueries.
func (g *generator) groupBy(keys []column, plain bool) string {
	if len(keys) == 0 {
		return ""
	}
	refs := make([]string, len(keys))
	for i, k := range keys {
		refs[i] = k.ref
	}
	list := strings.Join(refs, ", ")
	kind := g.IntN(8)
	if plain || slices.ContainsFunc(refs, mayFold) {
		kind = 7
	}
	switch kind {
	case 0:
		return " GROUP BY ROLLUP (" + list + ")"
	case 1:
		return " GROUP BY CUBE (" + list + ")"
	case 2:
		return " GROUP BY GROUPING SETS ((" + list + "), (" + pick(g, refs...) + "), ())"
	}
	return " GROUP BY " + list
}

// mayFold reports a key that may turn out a constant. PostgreSQL, which folds it before it groups, may show its value
// in the rows of grouping sets without it, where NULL is due.
func mayFold(key string) bool {
	return strings.Contains(key, "CASE WHEN") || strings.Contains(key, "coalesce(")
}

// overGroups writes an expression over the keys of groups and aggregates of their rows.
func (g *generator) overGroups(t typ, keys, rows []column) string {
	for _, k := range keys {
		if k.typ == t && g.chance(50) {
			return k.ref
		}
	}
	g.scope = rows
	switch t {
	case boolean:
		if g.chance(40) {
			return g.aggregate(boolean)
		}
		kind := pick(g, integer, number, text, date)
		return "(" + g.aggregate(kind) + " " + g.comparison() + " " + g.aggregate(kind) + ")"
	case integer, number:
		if g.chance(25) {
			return "(" + g.aggregate(t) + pick(g, " + ", " - ") + g.aggregate(t) + ")"
		}
	}
	return g.aggregate(t)
}

// with writes the statement's query with common table expressions.
func (g *generator) with(types []typ, depth int) string {
	if g.chance(30) {
		return g.recursive(types, depth)
	}
	return g.ordering(g.nested(types, depth), types, 50)
}

// nested writes a query with up to three common table expressions, which see those before them, in the place of any
// query. They may be used twice, not at all, within each other's subqueries and laterally.
func (g *generator) nested(types []typ, depth int) string {
	outer := g.scope
	if g.portable { // DuckDB has no correlated ones in some places
		g.scope = nil
	}
	var list []string
	for range 1 + g.IntN(3) {
		name, inner := g.name("w"), g.types(1+g.IntN(3))
		hint := ""
		if g.chance(30) {
			hint = pick(g, "MATERIALIZED ", "NOT MATERIALIZED ")
		}
		body := g.query(inner, max(depth-1, 0))
		if g.chance(25) {
			body += g.tail(body, len(inner))
		}
		list = append(list, fmt.Sprintf("%s(%s) AS %s(%s)", name, outputs(len(inner)), hint, body))
		g.use(name, inner)
		defer g.forget(name)
	}
	g.scope = outer
	return "WITH " + strings.Join(list, ", ") + " " + g.main(types, depth)
}

// main writes the query behind WITH, which cannot begin with another.
func (g *generator) main(types []typ, depth int) string {
	query := g.query(types, depth)
	if strings.HasPrefix(query, "WITH") {
		return "SELECT * FROM (" + query + ") AS " + g.name("m") + "(" + outputs(len(types)) + ")"
	}
	return query
}

func (g *generator) use(name string, types []typ) {
	g.forget(name)
	columns := make([]column, len(types))
	for i, t := range types {
		columns[i] = column{fmt.Sprintf("c%d", i), t}
	}
	g.tables = append(g.tables, table{name, columns})
}

func (g *generator) forget(name string) {
	g.tables = slices.DeleteFunc(g.tables, func(t table) bool { return t.name == name })
}

func (g *generator) recursive(types []typ, depth int) string {
	name := g.name("r")
	g.use(name, []typ{integer, text})
	defer g.forget(name)
	union := pick(g, "UNION ALL", "UNION")
	query := g.main(types, depth)
	step := pick(g, "c0 + 1, c1 || 'x'", "c0 + 1, upper(c1)", "c0 + 2, left(c1, 2) || c0")
	return g.ordering(fmt.Sprintf("WITH RECURSIVE %s(c0, c1) AS (SELECT a, d FROM %s WHERE a < 4 %s SELECT %s FROM %s WHERE c0 < %d) %s",
		name, pick(g, "t1", "t2", "t3"), union, step, name, 3+g.IntN(5), query), types, 50)
}
