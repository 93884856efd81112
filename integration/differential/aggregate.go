package differential

import (
	"fmt"
	"strings"
)

// aggregate writes an aggregate call of the type over the columns in scope.
func (g *generator) aggregate(t typ) string {
	arg := func(t typ) string { return g.plain(t, 1) }
	filter := ""
	if g.chance(20) {
		filter = " FILTER (WHERE " + arg(boolean) + ")"
	}
	distinct := pick(g, "", "", "DISTINCT ")
	switch t {
	case integer:
		return g.one(
			func() string { return "CAST(count(*)" + filter + " AS INTEGER)" },
			func() string {
				return "CAST(count(" + distinct + arg(pick(g, integer, text, date, number)) + ")" + filter + " AS INTEGER)"
			},
			func() string { return "CAST(sum(" + distinct + arg(integer) + ")" + filter + " AS INTEGER)" },
			func() string { return pick(g, "min", "max") + "(" + distinct + arg(integer) + ")" + filter },
			func() string { return pick(g, "bit_and", "bit_or") + "(" + arg(integer) + ")" + filter },
		)
	case number:
		return g.one(
			func() string {
				sum := "sum(" + distinct + arg(number) + ")" + filter
				if g.portable { // DuckDB's has 38 digits, which leaves no room for another scale beside it
					return "CAST(" + sum + " AS NUMERIC(18, 4))"
				}
				return sum
			},
			func() string { return pick(g, "min", "max") + "(" + arg(number) + ")" + filter },
			func() string {
				if g.portable {
					return "max(" + arg(number) + ")" + filter
				}
				return "round(avg(" + distinct + arg(pick(g, number, integer)) + ")" + filter + ", 3)"
			},
		)
	case double:
		return g.one(
			func() string { return "sum(" + arg(double) + ")" + filter },
			func() string { return "avg(" + distinct + arg(double) + ")" + filter },
			func() string { return pick(g, "min", "max") + "(" + arg(double) + ")" + filter },
			func() string {
				// Rounded, since the last digits go by the order of the rows and may decide which rows a LIMIT keeps.
				spread := pick(g, "stddev_pop", "var_pop") + "(CAST(" + arg(integer) + " AS DOUBLE PRECISION))" + filter
				return "CAST(CAST(" + spread + " AS NUMERIC(18, 6)) AS DOUBLE PRECISION)"
			},
		)
	case text:
		return g.one(
			func() string { return pick(g, "min", "max") + "(" + arg(text) + ")" + filter },
			func() string {
				e := arg(text)
				return "string_agg(" + distinct + e + ", ',' ORDER BY " + e + g.direction() + ")" + filter
			},
		)
	case boolean:
		return pick(g, "bool_and", "bool_or") + "(" + arg(boolean) + ")" + filter
	}
	return pick(g, "min", "max") + "(" + arg(t) + ")" + filter
}

// windowed writes a window call of the type, "" when there is none. Its order is by all columns in scope wherever
// rows' places matter.
func (g *generator) windowed(t typ) string {
	partition := ""
	if g.chance(60) {
		partition = "PARTITION BY " + g.plain(pick(g, integer, text, boolean), 1) + " "
	}
	total := "ORDER BY " + g.everything()
	switch g.IntN(4) {
	case 0:
		if t == integer {
			return "CAST(" + g.one(
				func() string { return pick(g, "row_number()", "ntile(3)") + " OVER (" + partition + total + ")" },
				func() string {
					return pick(g, "rank()", "dense_rank()") + " OVER (" + partition + "ORDER BY " + g.plain(integer, 1) + g.direction() + ")"
				},
			) + " AS INTEGER)"
		}
		if t == double {
			return pick(g, "percent_rank()", "cume_dist()") + " OVER (" + partition + "ORDER BY " + g.plain(integer, 1) + g.direction() + ")"
		}
	case 1:
		arg := g.plain(t, 1)
		call := g.one(
			func() string { return pick(g, "lag", "lead") + fmt.Sprintf("(%s, %d)", arg, 1+g.IntN(2)) },
			func() string { return pick(g, "lag", "lead") + "(" + arg + ")" },
		)
		return call + " OVER (" + partition + total + ")"
	case 2:
		arg := g.plain(t, 1)
		call := pick(g, "first_value("+arg+")", "last_value("+arg+")", "nth_value("+arg+", 2)")
		return call + " OVER (" + partition + total + g.rowsFrame() + ")"
	}
	if t == interval {
		return ""
	}
	call := g.windowAggregate(t)
	over := g.one(
		func() string { return partition },
		func() string { return partition + total + g.rowsFrame() },
		func() string {
			return partition + "ORDER BY " + g.plain(pick(g, integer, text, date), 1) + g.direction() + g.groupsFrame()
		},
		func() string { return partition + "ORDER BY " + g.plain(integer, 1) + g.direction() + g.rangeFrame() },
	)
	if t == integer {
		return "CAST(" + call + " OVER (" + over + ") AS INTEGER)"
	}
	if t == number && g.portable { // as in aggregate
		return "CAST(" + call + " OVER (" + over + ") AS NUMERIC(18, 4))"
	}
	return call + " OVER (" + over + ")"
}

func (g *generator) windowAggregate(t typ) string {
	arg := g.plain(t, 1)
	switch t {
	case integer, number, double:
		return pick(g, "sum(", "min(", "max(") + arg + ")"
	case boolean:
		return pick(g, "bool_and(", "bool_or(") + arg + ")"
	}
	return pick(g, "min(", "max(") + arg + ")"
}

// everything lists all columns in scope as sort keys: rows that tie are equal.
func (g *generator) everything() string {
	var keys []string
	for _, c := range g.scope {
		keys = append(keys, c.ref+g.direction())
	}
	if len(keys) == 0 {
		return "1"
	}
	return strings.Join(keys, ", ")
}

func (g *generator) rowsFrame() string {
	return g.frame("ROWS", func() string { return fmt.Sprint(g.IntN(3)) })
}

func (g *generator) groupsFrame() string {
	return g.frame("GROUPS", func() string { return fmt.Sprint(g.IntN(3)) })
}

func (g *generator) rangeFrame() string {
	return g.frame("RANGE", func() string { return fmt.Sprint(g.IntN(15)) })
}

// frame writes a frame clause, "" for the default.
func (g *generator) frame(mode string, offset func() string) string {
	if g.chance(25) {
		return ""
	}
	starts := []string{"UNBOUNDED PRECEDING", offset() + " PRECEDING", "CURRENT ROW", offset() + " FOLLOWING"}
	ends := []string{offset() + " PRECEDING", "CURRENT ROW", offset() + " FOLLOWING", "UNBOUNDED FOLLOWING"}
	i := g.IntN(4)
	j := g.IntN(4)
	if i > j+1 { // PostgreSQL refuses a start behind the end
		i = j
	}
	if i == 2 && j == 0 || i == 3 && j < 2 {
		j = 2
	}
	exclude := ""
	if g.chance(25) {
		exclude = pick(g, " EXCLUDE CURRENT ROW", " EXCLUDE GROUP", " EXCLUDE TIES", " EXCLUDE NO OTHERS")
	}
	return " " + mode + " BETWEEN " + starts[i] + " AND " + ends[j] + exclude
}
