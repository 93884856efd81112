package differential

import (
	"fmt"
	"slices"
	"strings"
)

// table is a common table expression in reach.
type table struct {
	name    string
	columns []column
}

// from writes the FROM clause of a query and returns the columns it brings.
func (g *generator) from(depth int) (string, []column) {
	sql, columns := g.item(depth)
	joined := 0 // where the columns begin that ON may refer to: those behind the last comma
	for range g.IntN(3) {
		right, more := "", []column(nil)
		switch g.IntN(8) {
		case 0:
			right, more = g.item(depth)
			sql += ", " + right
			joined = len(columns)
		case 1:
			right, more = g.item(depth)
			sql += " CROSS JOIN " + right
		case 2:
			if depth == 0 {
				continue
			}
			right, more = g.lateral(columns, depth)
			sql += right
		default:
			right, more = g.item(depth)
			sql += g.join(columns[joined:], right, more)
		}
		columns = append(columns, more...)
	}
	return sql, columns
}

// join writes a join with a condition over both sides.
func (g *generator) join(left []column, right string, columns []column) string {
	outer := g.scope
	defer func() { g.scope = outer }()
	both := append(slices.Clone(left), columns...)
	kind := pick(g, "JOIN", "INNER JOIN", "LEFT JOIN", "LEFT JOIN", "RIGHT JOIN", "FULL JOIN")
	var conditions []string
	var pairs [][2]column
	for _, l := range left {
		for _, r := range columns {
			if l.typ == r.typ {
				pairs = append(pairs, [2]column{l, r})
			}
		}
	}
	if len(pairs) > 0 {
		p := pick(g, pairs...)
		conditions = append(conditions, p[0].ref+" = "+p[1].ref)
	}
	// PostgreSQL has full joins only on equality.
	if kind != "FULL JOIN" && (len(pairs) == 0 || g.chance(30)) {
		g.scope = both
		conditions = append(conditions, g.plain(boolean, 1))
	}
	if len(conditions) == 0 {
		return " CROSS JOIN " + right
	}
	return " " + kind + " " + right + " ON " + strings.Join(conditions, " AND ")
}

// lateral writes a subquery that sees the columns on its left.
func (g *generator) lateral(left []column, depth int) (string, []column) {
	outer := g.scope
	defer func() { g.scope = outer }()
	g.scope = append(slices.Clone(left), outer...)
	types := g.types(1 + g.IntN(2))
	alias := g.name("l")
	query := g.query(types, depth-1)
	return " CROSS JOIN LATERAL " + "(" + query + ") AS " + alias + "(" + outputs(len(types)) + ")", named(alias, types)
}

func named(alias string, types []typ) []column {
	out := make([]column, len(types))
	for i, t := range types {
		out[i] = column{fmt.Sprintf("%s.c%d", alias, i), t}
	}
	return out
}

// item writes one table, subquery or function.
func (g *generator) item(depth int) (string, []column) {
	alias := g.name("q")
	switch n := g.IntN(100); {
	case n < 15 && depth > 0:
		types := g.types(1 + g.IntN(3))
		query := g.query(types, depth-1)
		if g.chance(20) {
			query += g.tail(query, len(types))
		}
		return "(" + query + ") AS " + alias + "(" + outputs(len(types)) + ")", named(alias, types)
	case n < 19:
		return fmt.Sprintf("generate_series(%d, %d) AS %s(i)", g.IntN(3), g.IntN(6), alias), []column{{"CAST(" + alias + ".i AS INTEGER)", integer}}
	case n < 22 && !g.portable:
		return fmt.Sprintf("unnest(ARRAY[1, NULL, 3, 3]) AS %s(i)", alias), []column{{alias + ".i", integer}}
	case n < 55 && len(g.tables) > 0:
		t := pick(g, g.tables...)
		return t.name + " AS " + alias, qualified(alias, t.columns)
	}
	name := pick(g, baseNames...)
	return name + " AS " + alias, qualified(alias, base[name])
}

// tail is ORDER BY and LIMIT for a subquery, where it has none.
func (g *generator) tail(query string, n int) string {
	if strings.Contains(query, "DISTINCT ON") {
		return ""
	}
	return g.orderBy(n) + g.limit()
}

func qualified(alias string, columns []column) []column {
	out := make([]column, len(columns))
	for i, c := range columns {
		out[i] = column{alias + "." + c.ref, c.typ}
	}
	return out
}
