package plan

import (
	"encoding/binary"
	"math"

	"github.com/tidemarkdb/tidemark/vec"
)

// selectivity guesses the share of rows for which every condition is TRUE. Bounds on one column are combined.
func (e *estimator) selectivity(conds []Expr, rows float64) float64 {
	out := 1.0
	var bounds map[ColID]*interval
	for _, c := range conds {
		for _, c := range conjuncts(nil, c) {
			if id, lo, hi, ok := e.bound(c); ok {
				if bounds == nil {
					bounds = map[ColID]*interval{}
				}
				if bounds[id] == nil {
					bounds[id] = &interval{0, 1}
				}
				bounds[id].narrow(lo, hi)
				continue
			}
			out *= e.one(c, rows)
		}
	}
	for id, b := range bounds {
		out *= math.Max(b.hi-b.lo, 1/math.Max(e.col(id).distinct, 1000))
	}
	return out
}

// interval is a part of a column's values, as fractions of their range.
type interval struct{ lo, hi float64 }

func (i *interval) narrow(lo, hi float64) {
	i.lo, i.hi = math.Max(i.lo, lo), math.Min(i.hi, hi)
}

// bound reads col < constant and the like as a part of the column's range.
func (e *estimator) bound(c Expr) (id ColID, lo, hi float64, ok bool) {
	cmp, isCmp := c.(*Compare)
	if !isCmp || cmp.Op < Lt || cmp.Op > Ge {
		return 0, 0, 0, false
	}
	op, left, right := cmp.Op, cmp.Left, cmp.Right
	if _, isConst := left.(*Const); isConst {
		op, left, right = mirroredOps[op], right, left
	}
	ref, isRef := stripCast(left).(*ColumnRef)
	k, isConst := right.(*Const)
	if !isRef || !isConst || k.Value.Null {
		return 0, 0, 0, false
	}
	g := e.col(ref.ID)
	v, numeric := toFloat(k.Value)
	if !g.hasRange || !numeric {
		return 0, 0, 0, false
	}
	f := 0.5
	if g.max > g.min {
		f = math.Max(0, math.Min(1, (v-g.min)/(g.max-g.min)))
	}
	if op == Lt || op == Le {
		return ref.ID, 0, f, true
	}
	return ref.ID, f, 1, true
}

func stripCast(e Expr) Expr {
	if c, ok := e.(*Cast); ok && c.To.IsNumeric() == c.Arg.Type().IsNumeric() && c.To.ID != vec.Text {
		return c.Arg
	}
	return e
}

func (e *estimator) one(c Expr, rows float64) float64 {
	switch c := c.(type) {
	case *Const:
		if c.Value.Null || c.Value.I == 0 {
			return 0
		}
		return 1
	case *Compare:
		return e.compare(c, rows)
	case *And:
		return e.selectivity(c.Args, rows)
	case *Or:
		miss := 1.0
		for _, a := range c.Args {
			miss *= 1 - e.selectivity([]Expr{a}, rows)
		}
		return 1 - miss
	case *Not:
		return math.Max(1-e.one(c.Arg, rows), 0.01)
	case *IsNull:
		return e.isNull(c)
	case *In:
		f := math.Min(1, float64(len(c.List))/e.distinct(stripCast(c.Arg), rows))
		if c.Negate {
			return math.Max(1-f, 0.01)
		}
		return f
	case *Call:
		switch c.Name {
		case "~~", "~~*", "~", "~*":
			return guessMatch
		case "!~~", "!~~*", "!~", "!~*":
			return 1 - guessMatch
		}
	}
	return guessOther
}

func (e *estimator) compare(c *Compare, rows float64) float64 {
	switch c.Op {
	case Eq, NotDistinct:
		l, r := e.distinct(stripCast(c.Left), rows), e.distinct(stripCast(c.Right), rows)
		if e.outside(c) {
			return 1 / math.Max(rows, 1)
		}
		return 1 / math.Max(math.Max(l, r), 1)
	case Ne, Distinct:
		return 1 - math.Min(0.5, 1/math.Max(e.distinct(stripCast(c.Left), rows), 1))
	}
	return guessRange
}

// outside reports an equality with a constant beyond the column's values.
func (e *estimator) outside(c *Compare) bool {
	ref, ok := stripCast(c.Left).(*ColumnRef)
	k, isConst := c.Right.(*Const)
	if !ok || !isConst || k.Value.Null {
		return false
	}
	g := e.col(ref.ID)
	v, numeric := toFloat(k.Value)
	return numeric && g.hasRange && (v < g.min || v > g.max)
}

func (e *estimator) isNull(c *IsNull) float64 {
	f := 0.05
	if r, ok := c.Arg.(*ColumnRef); ok && e.col(r.ID).known {
		f = e.col(r.ID).nulls
	}
	if c.Negate {
		return 1 - f
	}
	return f
}

// toFloat maps a value onto a line that keeps the order of its type, for interpolation.
func toFloat(v vec.Value) (float64, bool) {
	if v.Null {
		return 0, false
	}
	switch v.Type.ID {
	case vec.Decimal:
		return vec.DecimalFloat64(v.Int128(), int(v.Type.Scale)), true
	case vec.Float32, vec.Float64:
		return v.F, !math.IsNaN(v.F)
	case vec.Bool, vec.Int16, vec.Int32, vec.Int64, vec.Time, vec.TimeTZ, vec.Timestamp, vec.TimestampTZ:
		return float64(v.I), true
	case vec.Date:
		return float64(v.I), true
	case vec.Text:
		var b [8]byte
		copy(b[:], v.S)
		return float64(binary.BigEndian.Uint64(b[:])), true
	}
	return 0, false
}
