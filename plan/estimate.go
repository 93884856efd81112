package plan

import (
	"math"

	"github.com/tidemarkdb/tidemark/vec"
)

// Guesses where nothing is known, in the tradition of System R.
const (
	unknownRows      = 1000.0
	guessEqual       = 0.05
	guessRange       = 1.0 / 3
	guessMatch       = 0.1 // LIKE and regular expressions
	guessOther       = 0.25
	guessSemi        = 0.5
	distinctFraction = 0.1 // distinct values of a column nothing is known of
)

// estimator guesses row counts. Column statistics are kept by column id, since an id is one column of the statement.
type estimator struct {
	memo map[Node]float64
	cols []columnGuess
	ctes map[int]float64
}

// columnGuess is what is believed of a column. distinct 0 means unknown.
type columnGuess struct {
	known    bool
	distinct float64
	nulls    float64
	min, max float64
	hasRange bool
}

func newEstimator() *estimator {
	return &estimator{memo: map[Node]float64{}, ctes: map[int]float64{}}
}

func (e *estimator) col(id ColID) columnGuess {
	if int(id) < len(e.cols) {
		return e.cols[id]
	}
	return columnGuess{}
}

func (e *estimator) setCol(id ColID, g columnGuess) {
	for int(id) >= len(e.cols) {
		e.cols = append(e.cols, make([]columnGuess, int(id)+32-len(e.cols))...)
	}
	g.known = true
	e.cols[id] = g
}

// rows guesses the rows n yields, and notes what is known of its columns.
func (e *estimator) rows(n Node) float64 {
	if r, ok := e.memo[n]; ok {
		return r
	}
	r := e.compute(n)
	if math.IsNaN(r) || r < 0 {
		r = 0
	}
	e.memo[n] = r
	return r
}

func (e *estimator) compute(n Node) float64 {
	switch n := n.(type) {
	case *Scan:
		return e.scan(n)
	case *SourceScan:
		if n.Source != nil && n.Source.Rows() >= 0 {
			return float64(n.Source.Rows())
		}
		return unknownRows
	case *Values:
		return float64(len(n.Rows))
	case *Filter:
		rows := e.rows(n.Input)
		return rows * e.selectivity(n.Conditions, rows)
	case *Project:
		rows := e.rows(n.Input)
		for i, x := range n.Exprs {
			e.derive(n.Columns[i].ID, x)
		}
		return rows
	case *Join:
		return e.join(n)
	case *Apply:
		l, r := e.rows(n.Left), e.rows(n.Right)
		if n.Kind == Semi || n.Kind == Anti || n.Kind == Mark || n.Kind == Single {
			return l
		}
		return l * r
	case *Expand:
		return e.rows(n.Input) * 10
	case *Aggregate:
		return e.aggregate(n)
	case *Window:
		return e.rows(n.Input)
	case *Sort:
		rows := e.rows(n.Input)
		if n.Limit >= 0 {
			return math.Min(rows, float64(n.Limit))
		}
		return rows
	case *Limit:
		rows := e.rows(n.Input)
		if c, ok := n.Count.(*Const); ok && !c.Value.Null {
			return math.Min(rows, float64(c.Value.I))
		}
		return rows
	case *DistinctOn:
		return e.groups(n.Keys, e.rows(n.Input))
	case *SetOp:
		return e.setOp(n)
	case *CTE:
		e.ctes[n.ID] = e.rows(n.Def)
		return e.rows(n.Body)
	case *RecursiveCTE:
		base := e.rows(n.Base)
		e.ctes[n.ID] = base
		e.rows(n.Step)
		return base * 10
	case *CTERef:
		if r, ok := e.ctes[n.ID]; ok {
			return r
		}
		return unknownRows
	}
	return unknownRows
}

func (e *estimator) scan(n *Scan) float64 {
	stats := n.Table.Stats
	if stats == nil {
		return unknownRows * e.selectivity(n.Filters, unknownRows)
	}
	rows := float64(stats.Rows())
	for i, c := range n.Columns {
		if n.Ordinals[i] >= 0 {
			e.setCol(c.ID, guessColumn(n.Table, n.Ordinals[i], stats.Column(n.Ordinals[i]), rows))
		}
	}
	return rows * e.selectivity(n.Filters, rows)
}

func guessColumn(t *Table, ordinal int, s ColumnStatistics, rows float64) columnGuess {
	g := columnGuess{distinct: s.Distinct, nulls: s.NullFraction}
	if s.HasRange {
		lo, ok1 := toFloat(s.Min)
		hi, ok2 := toFloat(s.Max)
		if ok1 && ok2 && hi >= lo {
			g.min, g.max, g.hasRange = lo, hi, true
		}
	}
	if g.distinct > 0 {
		return g
	}
	switch {
	case len(t.Key) == 1 && t.Key[0] == ordinal:
		g.distinct = rows
	case t.Columns[ordinal].Type.ID == vec.Bool:
		g.distinct = 2
	case g.hasRange && (t.Columns[ordinal].Type.IsInteger() || t.Columns[ordinal].Type.ID == vec.Date):
		g.distinct = math.Min(rows, g.max-g.min+1)
	default:
		g.distinct = math.Max(rows*distinctFraction, math.Min(rows, 10))
	}
	return g
}

// derive notes what a computed column inherits from the column it is made of.
func (e *estimator) derive(id ColID, x Expr) {
	switch x := x.(type) {
	case *ColumnRef:
		if x.ID != id {
			e.setCol(id, e.col(x.ID))
		}
	case *Cast:
		if r, ok := x.Arg.(*ColumnRef); ok {
			g := e.col(r.ID)
			g.hasRange = g.hasRange && x.To.IsNumeric() && r.T.IsNumeric()
			e.setCol(id, g)
		}
	case *Const:
		e.setCol(id, columnGuess{distinct: 1})
	default:
		d := 1.0
		for _, c := range refs(x).ids() {
			d *= math.Max(e.col(c).distinct, 1)
		}
		e.setCol(id, columnGuess{distinct: d})
	}
}

// distinct guesses the distinct values of x among rows rows.
func (e *estimator) distinct(x Expr, rows float64) float64 {
	d := 0.0
	switch x := x.(type) {
	case *ColumnRef:
		d = e.col(x.ID).distinct
	case *Const, *Param:
		return 1
	default:
		d = 1
		for _, id := range refs(x).ids() {
			g := e.col(id).distinct
			if g == 0 {
				g = rows * distinctFraction
			}
			d *= math.Max(g, 1)
		}
	}
	if d == 0 {
		d = rows * distinctFraction
	}
	return math.Max(1, math.Min(d, rows))
}

func (e *estimator) groups(keys []Expr, rows float64) float64 {
	if len(keys) == 0 {
		return 1
	}
	// Each further key multiplies less, since keys are rarely independent.
	out, power := 1.0, 1.0
	for _, k := range keys {
		out *= math.Pow(e.distinct(k, rows), power)
		power = math.Max(power*0.75, 0.2)
	}
	return math.Max(math.Min(out, rows), math.Min(rows, 1))
}

func (e *estimator) aggregate(n *Aggregate) float64 {
	rows := e.rows(n.Input)
	if len(n.Groups) == 0 {
		return 1
	}
	for i, g := range n.Groups {
		e.derive(n.GroupCols[i].ID, g)
	}
	out := 0.0
	if len(n.Sets) == 0 {
		out = e.groups(n.Groups, rows)
	}
	for _, set := range n.Sets {
		keys := make([]Expr, len(set))
		for i, at := range set {
			keys[i] = n.Groups[at]
		}
		out += e.groups(keys, rows)
	}
	for i := range n.Aggregates {
		e.setCol(n.Aggregates[i].Out.ID, columnGuess{distinct: math.Max(out/2, 1)})
	}
	return out
}

func (e *estimator) setOp(n *SetOp) float64 {
	sum, first := 0.0, 0.0
	for i, a := range n.Args {
		r := e.rows(a)
		sum += r
		if i == 0 {
			first = r
		}
	}
	for i, c := range n.Columns {
		d := 0.0
		for _, a := range n.Args {
			if cols := a.Cols(); i < len(cols) {
				d += e.distinct(refTo(cols[i]), e.rows(a))
			}
		}
		e.setCol(c.ID, columnGuess{distinct: d})
	}
	switch {
	case n.Kind == Union && n.All:
		return sum
	case n.Kind == Union:
		return sum * 0.7
	}
	return first * 0.5
}

func (e *estimator) join(n *Join) float64 {
	l, r := e.rows(n.Left), e.rows(n.Right)
	inner := l * r
	inner *= e.keySelectivity(n, l, r)
	if n.Kind != Mark {
		inner *= e.selectivity(n.Other, inner)
	}
	switch n.Kind {
	case Left:
		return math.Max(inner, l)
	case Right:
		return math.Max(inner, r)
	case Full:
		return math.Max(inner, l+r)
	case Semi:
		return l * e.semiFraction(n, l, r)
	case Anti:
		return l * math.Max(1-e.semiFraction(n, l, r), 0.1)
	case Mark, Single:
		return l
	}
	return inner
}

// keySelectivity guesses the share of pairs of rows that agree on every equality.
func (e *estimator) keySelectivity(n *Join, l, r float64) float64 {
	left, right := 1.0, 1.0
	for _, c := range n.Equal {
		left *= e.distinct(c.Left, l)
		right *= e.distinct(c.Right, r)
	}
	if len(n.Equal) > 1 && uniqueOn(n.Right, n.Equal) {
		return 1 / math.Max(math.Max(baseRows(n.Right), r), 1)
	}
	if len(n.Equal) > 1 { // no more combinations than rows
		left, right = math.Min(left, l), math.Min(right, r)
	}
	return 1 / math.Max(math.Max(left, right), 1)
}

// semiFraction guesses the share of left rows that have a match.
func (e *estimator) semiFraction(n *Join, l, r float64) float64 {
	if len(n.Equal) == 0 {
		return guessSemi
	}
	f := 1.0
	for _, c := range n.Equal {
		f = math.Min(f, e.distinct(c.Right, r)/e.distinct(c.Left, l))
	}
	if len(n.Other) > 0 {
		f *= 0.8
	}
	return math.Max(math.Min(f, 1), 1e-6)
}
