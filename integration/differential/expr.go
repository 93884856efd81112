package differential

import (
	"fmt"
	"slices"
	"strings"
)

var typeNames = [...]string{"INTEGER", "NUMERIC(12, 3)", "DOUBLE PRECISION", "TEXT", "BOOLEAN", "DATE", "TIMESTAMP", "INTERVAL", "INTEGER[]"}

func (t typ) name() string { return typeNames[t] }

func (g *generator) comparison() string { return pick(g, "=", "=", "<>", "<", "<=", ">", ">=") }

// plain is expr without subqueries.
func (g *generator) plain(t typ, depth int) string { return g.expr(t, -depth) }

// expr writes an expression of the type. A depth below zero means no subqueries.
func (g *generator) expr(t typ, depth int) string {
	if depth == 0 || g.chance(35) {
		return g.leaf(t)
	}
	below := depth - 1
	if depth < 0 {
		below = depth + 1
	}
	sub := func(t typ) string { return g.expr(t, below) }
	switch n := g.IntN(100); {
	case n < 8:
		return "CASE WHEN " + sub(boolean) + " THEN " + sub(t) + pick(g, "", " WHEN "+sub(boolean)+" THEN "+sub(t)) +
			pick(g, "", " ELSE "+sub(t)) + " END"
	case n < 13:
		return "coalesce(" + sub(t) + ", " + sub(t) + ")"
	case n < 16:
		return "nullif(" + sub(t) + ", " + sub(t) + ")"
	case n < 18 && t != interval:
		return pick(g, "greatest", "least") + "(" + sub(t) + ", " + sub(t) + ")"
	case n < 25 && depth > 0:
		return g.scalarSubquery(t, below)
	}
	switch t {
	case integer:
		return g.integerExpr(sub)
	case number:
		return g.numberExpr(sub)
	case double:
		return g.doubleExpr(sub)
	case text:
		return g.textExpr(sub)
	case boolean:
		return g.booleanExpr(sub, depth)
	case date:
		return g.dateExpr(sub)
	case timestamp:
		return g.timestampExpr(sub)
	}
	return g.intervalExpr(sub)
}

// leaf writes a column or a literal.
func (g *generator) leaf(t typ) string {
	if g.chance(75) {
		var fit []column
		for _, c := range g.scope {
			if c.typ == t {
				fit = append(fit, c)
			}
		}
		if len(fit) > 0 {
			return pick(g, fit...).ref
		}
	}
	if g.chance(8) {
		return "CAST(NULL AS " + t.name() + ")"
	}
	switch t {
	case integer:
		return pick(g, "0", "1", "2", "3", "10", "(-1)")
	case number:
		return pick(g, "1.5", "0.25", "CAST(7 AS NUMERIC(5, 2))", "(-2.25)", "100.0")
	case double:
		return "CAST(" + pick(g, "0.5", "1e2", "-3.25", "0") + " AS DOUBLE PRECISION)"
	case text:
		return "CAST(" + pick(g, "'apple'", "'banana'", "''", "'A'", "'x y'", "'it''s'") + " AS TEXT)"
	case boolean:
		return pick(g, "TRUE", "FALSE")
	case date:
		return "DATE " + pick(g, "'2024-01-31'", "'2024-02-29'", "'1970-01-01'", "'2023-03-01'")
	case timestamp:
		return "TIMESTAMP " + pick(g, "'2024-01-31 12:34:56'", "'1999-12-31 23:59:59'", "'2024-03-01 00:00:00'")
	}
	return "INTERVAL " + pick(g, "'1 day'", "'1 month'", "'2 hours'", "'1 year 2 days'", "'30 minutes'")
}

func (g *generator) scalarSubquery(t typ, depth int) string {
	outer := g.scope
	defer func() { g.scope = outer }()
	from, columns := g.from(0)
	g.scope = append(slices.Clone(columns), outer...)
	where := pick(g, "", " WHERE "+g.expr(boolean, depth), " WHERE "+g.plain(boolean, 1))
	if g.chance(75) {
		return "(SELECT " + g.aggregateOver(t, columns) + " FROM " + from + where + ")"
	}
	return fmt.Sprintf("(SELECT %s AS c0 FROM %s%s ORDER BY 1%s LIMIT 1)", g.expr(t, depth), from, where, g.direction())
}

// aggregateOver is an aggregate whose argument is of the innermost query, lest it belong to an outer one.
func (g *generator) aggregateOver(t typ, columns []column) string {
	scope := g.scope
	g.scope = columns
	defer func() { g.scope = scope }()
	return g.aggregate(t)
}

func (g *generator) integerExpr(sub func(typ) string) string {
	return g.one(
		func() string { return "(" + sub(integer) + pick(g, " + ", " - ") + sub(integer) + ")" },
		func() string { return "(" + sub(integer) + " * " + pick(g, "2", "3", "(-1)") + ")" },
		func() string {
			op := pick(g, " / ", " % ")
			if g.portable {
				op = " % "
			}
			return "(" + sub(integer) + op + "nullif(" + sub(integer) + ", 0))"
		},
		func() string { return "abs(" + sub(integer) + ")" },
		func() string { return "(- " + sub(integer) + ")" },
		func() string { return "length(" + sub(text) + ")" },
		func() string { return "CAST(" + sub(boolean) + " AS INTEGER)" },
		func() string {
			return "CAST(extract(" + pick(g, "year", "month", "day", "dow", "doy", "quarter", "week") + " FROM " + sub(date) + ") AS INTEGER)"
		},
		func() string {
			return "CAST(extract(" + pick(g, "hour", "minute") + " FROM " + sub(timestamp) + ") AS INTEGER)"
		},
		func() string { return "(" + sub(date) + " - " + sub(date) + ")" },
		func() string { return "CAST(floor(" + sub(number) + ") AS INTEGER)" },
		func() string { return "CAST(" + sub(number) + " AS INTEGER)" },
		func() string { return "CAST(CAST(" + sub(integer) + " AS TEXT) AS INTEGER)" },
		func() string { return "position('a' in " + sub(text) + ")" },
	)
}

func (g *generator) numberExpr(sub func(typ) string) string {
	return g.one(
		func() string { return "(" + sub(number) + pick(g, " + ", " - ") + sub(number) + ")" },
		func() string {
			return "(" + sub(number) + pick(g, " + ", " - ", " * ") + pick(g, "1.5", "2", "0.1") + ")"
		},
		func() string { return "(" + sub(number) + pick(g, " + ", " - ") + sub(integer) + ")" },
		func() string {
			if g.portable {
				return "abs(" + sub(number) + ")"
			}
			return "round(" + sub(number) + " / nullif(" + sub(number) + ", 0), 3)"
		},
		func() string { return fmt.Sprintf("round(%s, %d)", sub(number), g.IntN(3)) },
		func() string { return "abs(" + sub(number) + ")" },
		func() string { return "(- " + sub(number) + ")" },
		func() string { return "CAST(" + sub(integer) + " AS NUMERIC(12, 2))" },
		func() string { return pick(g, "floor", "ceil", "trunc") + "(" + sub(number) + ")" },
		func() string { return "CAST(" + sub(number) + " AS NUMERIC(14, 1))" },
	)
}

func (g *generator) doubleExpr(sub func(typ) string) string {
	return g.one(
		func() string { return "(" + sub(double) + pick(g, " + ", " - ", " * ") + sub(double) + ")" },
		func() string { return "sqrt(abs(" + sub(double) + "))" },
		func() string { return "CAST(" + sub(pick(g, integer, number)) + " AS DOUBLE PRECISION)" },
		func() string { return "(" + sub(double) + " / CAST(4 AS DOUBLE PRECISION))" },
		func() string { return pick(g, "floor", "ceil", "abs", "sign") + "(" + sub(double) + ")" },
	)
}

func (g *generator) textExpr(sub func(typ) string) string {
	return g.one(
		func() string { return "(" + sub(text) + " || " + sub(text) + ")" },
		func() string {
			return pick(g, "upper", "lower", "trim", "ltrim", "rtrim", "reverse") + "(" + sub(text) + ")"
		},
		func() string { return fmt.Sprintf("substring(%s, %d, %d)", sub(text), 1+g.IntN(3), g.IntN(4)) },
		func() string { return "replace(" + sub(text) + ", 'a', " + pick(g, "''", "'bb'") + ")" },
		func() string { return pick(g, "left", "right") + fmt.Sprintf("(%s, %d)", sub(text), g.IntN(4)) },
		func() string { return "CAST(" + sub(pick(g, integer, integer, date)) + " AS TEXT)" },
		func() string { return "concat(" + sub(text) + ", '-', " + sub(text) + ")" },
		func() string { return pick(g, "lpad", "rpad") + "(" + sub(text) + ", 4, '*')" },
		func() string { return "split_part(" + sub(text) + ", 'a', " + pick(g, "1", "2") + ")" },
	)
}

func (g *generator) booleanExpr(sub func(typ) string, depth int) string {
	if depth > 0 && g.chance(30) {
		return g.subqueryTest(sub, depth-1)
	}
	t := pick(g, integer, integer, number, double, text, text, date, timestamp, boolean)
	return g.one(
		func() string { return "(" + sub(t) + " " + g.comparison() + " " + sub(t) + ")" },
		func() string { return "(" + sub(t) + " " + g.comparison() + " " + sub(t) + ")" },
		func() string { return "(" + sub(integer) + " " + g.comparison() + " " + sub(number) + ")" },
		func() string { return "(" + sub(boolean) + pick(g, " AND ", " OR ") + sub(boolean) + ")" },
		func() string { return "(NOT " + sub(boolean) + ")" },
		func() string { return "(" + sub(t) + pick(g, " IS NULL", " IS NOT NULL") + ")" },
		func() string {
			return "(" + sub(boolean) + pick(g, " IS TRUE", " IS NOT TRUE", " IS FALSE", " IS NOT FALSE") + ")"
		},
		func() string {
			return "(" + sub(t) + pick(g, " IS DISTINCT FROM ", " IS NOT DISTINCT FROM ") + sub(t) + ")"
		},
		func() string {
			return "(" + sub(t) + pick(g, " BETWEEN ", " NOT BETWEEN ") + sub(t) + " AND " + sub(t) + ")"
		},
		func() string {
			list := []string{sub(t), g.leaf(t), g.leaf(t)}
			if g.chance(25) {
				list = append(list, "NULL")
			}
			return "(" + sub(t) + pick(g, " IN (", " NOT IN (") + strings.Join(list, ", ") + "))"
		},
		func() string {
			return "(" + sub(text) + pick(g, " LIKE ", " NOT LIKE ", " ILIKE ") + pick(g, "'a%'", "'%an%'", "'_pple'", "'%'", "''", "'%\\%%'", "'A%e'") +
				g.escape() + ")"
		},
		func() string {
			if g.portable { // DuckDB orders rows with NULLs as it sorts them
				return g.leaf(boolean)
			}
			return "((" + sub(integer) + ", " + sub(text) + ") " + g.comparison() + " (" + sub(integer) + ", " + sub(text) + "))"
		},
	)
}

// escape names the character that LIKE has by itself in PostgreSQL, and not in DuckDB.
func (g *generator) escape() string {
	if g.portable || g.chance(50) {
		return " ESCAPE '\\'"
	}
	return ""
}

// subqueryTest writes EXISTS, IN, ANY or ALL.
func (g *generator) subqueryTest(sub func(typ) string, depth int) string {
	t := pick(g, integer, integer, number, text, date)
	not := pick(g, "", "", "NOT ")
	places := 5
	if g.portable { // DuckDB compares rows as it sorts them
		places = 4
	}
	switch g.IntN(places) {
	case 0:
		return "(" + not + "EXISTS (" + g.query([]typ{t}, depth) + "))"
	case 1:
		return "(" + sub(t) + " " + not + "IN (" + g.query([]typ{t}, depth) + "))"
	case 4:
		return "((" + sub(integer) + ", " + sub(text) + ") " + not + "IN (" + g.query([]typ{integer, text}, depth) + "))"
	}
	return "(" + sub(t) + " " + g.comparison() + pick(g, " ANY (", " ALL (", " SOME (") + g.query([]typ{t}, depth) + "))"
}

func (g *generator) dateExpr(sub func(typ) string) string {
	return g.one(
		func() string {
			return "(" + sub(date) + pick(g, " + ", " - ") + pick(g, "1", "30", "365", "CAST("+sub(integer)+" % 100 AS INTEGER)") + ")"
		},
		func() string { return "CAST(" + sub(date) + pick(g, " + ", " - ") + g.leafInterval() + " AS DATE)" },
		func() string {
			return "CAST(date_trunc('" + pick(g, "month", "year", "quarter", "week") + "', " + sub(timestamp) + ") AS DATE)"
		},
		func() string { return "CAST(" + sub(timestamp) + " AS DATE)" },
	)
}

func (g *generator) leafInterval() string {
	return "INTERVAL " + pick(g, "'1 day'", "'1 month'", "'13 months'", "'2 weeks'", "'36 hours'")
}

func (g *generator) timestampExpr(sub func(typ) string) string {
	return g.one(
		func() string { return "(" + sub(timestamp) + pick(g, " + ", " - ") + g.leafInterval() + ")" },
		func() string { return "(" + sub(date) + pick(g, " + ", " - ") + g.leafInterval() + ")" },
		func() string { return "CAST(" + sub(date) + " AS TIMESTAMP)" },
		func() string {
			return "date_trunc('" + pick(g, "hour", "day", "month", "year") + "', " + sub(timestamp) + ")"
		},
	)
}

func (g *generator) intervalExpr(sub func(typ) string) string {
	return g.one(
		func() string { return "(" + sub(interval) + pick(g, " + ", " - ") + g.leaf(interval) + ")" },
		func() string { return "(" + sub(timestamp) + " - " + sub(timestamp) + ")" },
		func() string { return "(" + g.leaf(interval) + " * " + pick(g, "2", "3", "(-1)") + ")" },
	)
}
