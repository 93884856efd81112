package differential

import (
	"fmt"
	"math/rand/v2"
	"strings"
)

// typ is the type of a generated expression.
type typ uint8

const (
	integer typ = iota
	number
	double
	text
	boolean
	date
	timestamp
	interval
	integers // an array
)

// scalars are the types that columns of results have.
var scalars = []typ{integer, integer, integer, number, double, text, text, boolean, date, timestamp, interval}

// column is a column that expressions may refer to.
type column struct {
	ref string
	typ typ
}

// generator writes one query. Its random numbers are its own, so that a seed and a number make the query again.
type generator struct {
	*rand.Rand
	portable bool     // leave out what DuckDB reads differently
	scope    []column // of the query being written, those of enclosing queries behind it
	tables   []table  // common table expressions in reach
	names    int
	ordered  bool // the query orders its result
}

func newGenerator(seed, number uint64, portable bool) *generator {
	return &generator{Rand: rand.New(rand.NewPCG(seed, number)), portable: portable}
}

// base is the tables' columns. Those of edges serve in comparisons, not in arithmetic, which would overflow.
var base = map[string][]column{
	"t1":      {{"a", integer}, {"b", integer}, {"c", number}, {"d", text}, {"e", boolean}, {"f", date}},
	"t2":      {{"a", integer}, {"d", text}, {"g", double}, {"h", timestamp}},
	"t3":      {{"a", integer}, {"c", number}, {"d", text}, {"f", date}},
	"nothing": {{"a", integer}, {"b", integer}, {"c", number}, {"d", text}, {"f", date}},
	"edges":   {{"d", text}, {"e", boolean}},
}

var baseNames = []string{"t1", "t1", "t1", "t2", "t2", "t2", "t3", "t3", "nothing", "edges"}

func (g *generator) chance(percent int) bool { return g.IntN(100) < percent }

func (g *generator) name(prefix string) string {
	g.names++
	return fmt.Sprintf("%s%d", prefix, g.names)
}

func pick[T any](g *generator, list ...T) T { return list[g.IntN(len(list))] }

// one runs one of the choices.
func (g *generator) one(choices ...func() string) string { return choices[g.IntN(len(choices))]() }

func (g *generator) types(n int) []typ {
	out := make([]typ, n)
	for i := range out {
		out[i] = pick(g, scalars...)
		if g.portable && out[i] == interval { // whose text is each system's own
			out[i] = integer
		}
	}
	return out
}

// statement writes one query and says whether its rows come in order.
func (g *generator) statement() string {
	types := g.types(1 + g.IntN(4))
	depth := 2
	if g.chance(15) {
		return g.with(types, depth)
	}
	return g.ordering(g.query(types, depth), types, 50)
}

// ordering adds ORDER BY over everything and LIMIT to the query of the statement.
func (g *generator) ordering(query string, types []typ, percent int) string {
	if !g.chance(percent) {
		return query
	}
	g.ordered = true
	return query + g.orderBy(len(types)) + g.limit()
}

// orderBy orders by all of n columns.
func (g *generator) orderBy(n int) string {
	keys := make([]string, n)
	for i, place := range g.Perm(n) {
		keys[i] = fmt.Sprintf("%d%s", place+1, g.direction())
	}
	return " ORDER BY " + strings.Join(keys, ", ")
}

// direction is that of one sort key. DuckDB's NULLs are last unless it is told, so it is told.
func (g *generator) direction() string {
	d := pick(g, "", "", " ASC", " DESC")
	if g.portable || g.chance(40) {
		d += pick(g, " NULLS FIRST", " NULLS LAST")
	}
	return d
}

func (g *generator) limit() string {
	switch g.IntN(5) {
	case 0:
		return fmt.Sprintf(" LIMIT %d", g.IntN(6))
	case 1:
		return fmt.Sprintf(" LIMIT %d OFFSET %d", g.IntN(6), g.IntN(4))
	case 2:
		return fmt.Sprintf(" OFFSET %d", g.IntN(4))
	}
	return ""
}
