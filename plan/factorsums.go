package plan

import (
	"math"
	"slices"

	"github.com/tidemarkdb/tidemark/extension"
	"github.com/tidemarkdb/tidemark/vec"
)

// factorSums takes constants out of sums of integers: sum(x + k) is sum(x) + k * count(x), and all sums over one x share
// both aggregates. Where x + k may be out of range for some x, the greatest or least x is kept too and added to k above:
// that fails as the addition would have failed for its row.
//
// A sum of INTEGER is a BIGINT, which the parts of a sum leave only where more than 2^32 rows come together.
func factorSums(o *optimizer, n Node) Node {
	return mapNode(n, func(n Node) Node {
		if agg, ok := n.(*Aggregate); ok {
			return (&factoring{o: o, agg: agg}).rewrite()
		}
		return n
	})
}

// fewSums is from how many sums over one expression sharing pays; fewGuardedSums is that where bounds are kept too.
const (
	fewSums        = 2
	fewGuardedSums = 4
)

type factoring struct {
	o   *optimizer
	agg *Aggregate
	out []AggCall // the aggregates of the result
}

// shifted is a sum of x + k or, negative, of k - x.
type shifted struct {
	x        Expr // without a cast that sums do not need
	k        int64
	negative bool
	bare     bool      // it is x itself
	op       *Call     // the addition, nil when bare
	operand  int       // which argument of op is x
	guard    guardSide // what x decides about the addition's range
}

// guardSide is the end of x's range at which an addition may leave its type.
type guardSide string

const (
	unguarded guardSide = ""
	guardMin  guardSide = "min"
	guardMax  guardSide = "max"
)

// rewrite returns the aggregate with its sums factored, itself when there are too few.
func (f *factoring) rewrite() Node {
	parts := make([]*shifted, len(f.agg.Aggregates))
	for i := range f.agg.Aggregates {
		parts[i] = f.shiftedSum(&f.agg.Aggregates[i])
	}
	exprs, changed := make([]Expr, len(parts)), false
	for i := range parts {
		call := f.agg.Aggregates[i]
		if parts[i] != nil && f.pays(parts, i) {
			e, ok := f.factored(&call, parts[i])
			if !ok {
				return f.agg
			}
			exprs[i], changed = e, true
			continue
		}
		exprs[i] = f.keep(call)
	}
	if !changed {
		return f.agg
	}
	c := *f.agg
	c.Aggregates = f.out
	p := &Project{Input: &c, Columns: f.agg.Cols()}
	p.Exprs = append(refsTo(f.agg.GroupCols), exprs...)
	if f.agg.Grouping != nil {
		p.Exprs = append(p.Exprs, refTo(*f.agg.Grouping))
	}
	return p
}

// pays reports whether as many sums share the x of sum i as its rewriting needs.
func (f *factoring) pays(parts []*shifted, i int) bool {
	same, shifts, guarded := 0, 0, false
	for j, p := range parts {
		if p == nil || !equalExpr(p.x, parts[i].x) || !equalExpr(f.agg.Aggregates[j].Filter, f.agg.Aggregates[i].Filter) {
			continue
		}
		same++
		if !p.bare {
			shifts++
		}
		guarded = guarded || p.guard != unguarded
	}
	if guarded {
		return same >= fewGuardedSums && shifts > 0
	}
	return same >= fewSums && shifts > 0
}

// shiftedSum takes a sum of integers apart; nil when it is another aggregate.
func (f *factoring) shiftedSum(a *AggCall) *shifted {
	if a.Name != "sum" || a.Distinct || len(a.Args) != 1 || !a.Args[0].Type().IsInteger() || isVolatile(a.Args[0]) {
		return nil
	}
	call, ok := a.Args[0].(*Call)
	if !ok || len(call.Args) != 2 || call.Name != "+" && call.Name != "-" || !call.Args[0].Type().Equal(call.Type()) || !call.Args[1].Type().Equal(call.Type()) {
		return &shifted{x: f.narrow(a, a.Args[0]), bare: true}
	}
	left, isLeft := call.Args[0].(*Const)
	right, isRight := call.Args[1].(*Const)
	s := &shifted{op: call}
	switch {
	case isRight && !isLeft && !right.Value.Null && right.Value.I != math.MinInt64:
		s.k = right.Value.I
		if call.Name == "-" {
			s.k = -s.k
		}
	case isLeft && !isRight && !left.Value.Null:
		s.k, s.negative, s.operand = left.Value.I, call.Name == "-", 1
	default:
		return &shifted{x: f.narrow(a, a.Args[0]), bare: true}
	}
	s.x = f.narrow(a, call.Args[s.operand])
	s.guard = s.dangerous()
	return s
}

// narrow returns x before a widening that does not change the type of its sum.
func (f *factoring) narrow(a *AggCall, x Expr) Expr {
	c, ok := x.(*Cast)
	if !ok || !c.Arg.Type().IsInteger() || !lossless(c) {
		return x
	}
	bound, err := f.o.functions.ResolveAggregate("sum", []extension.Argument{{Type: c.Arg.Type()}})
	if err != nil || !bound.Result.Equal(a.Bound.Result) {
		return x
	}
	return c.Arg
}

// dangerous returns the end of x's range where the addition may leave its type.
func (s *shifted) dangerous() guardSide {
	x := s.op.Args[s.operand]
	low, high := integerRange(x.Type())
	xLow, xHigh := low, high
	if c, ok := x.(*Cast); ok && c.Arg.Type().IsInteger() && lossless(c) {
		xLow, xHigh = integerRange(c.Arg.Type())
	}
	switch {
	case s.negative && s.k >= 0 && xLow < s.k-high: // k - x > high
		return guardMin
	case s.negative && s.k < 0 && xHigh > s.k-low: // k - x < low
		return guardMax
	case !s.negative && s.k > 0 && xHigh > high-s.k:
		return guardMax
	case !s.negative && s.k < 0 && xLow < low-s.k:
		return guardMin
	}
	return unguarded
}

// integerRange returns the least and the greatest value of an integer type.
func integerRange(t vec.Type) (low, high int64) {
	switch t.ID {
	case vec.Int16:
		return math.MinInt16, math.MaxInt16
	case vec.Int32:
		return math.MinInt32, math.MaxInt32
	}
	return math.MinInt64, math.MaxInt64
}

// factored returns what a sum is over aggregates of x, which are added; ok is false when a function is missing.
func (f *factoring) factored(a *AggCall, s *shifted) (out Expr, ok bool) {
	sum, ok := f.aggregate("sum", s.x, a.Filter)
	if !ok || !sum.Type().Equal(a.Out.Type) {
		return nil, false
	}
	if s.bare || s.k == 0 && !s.negative {
		return sum, true
	}
	count, ok := f.aggregate("count", s.x, a.Filter)
	if !ok {
		return nil, false
	}
	var total Expr
	k := &Const{Value: vec.IntValue(vec.Int64Type, s.k)}
	if kept, ok := f.operate("*", a.Out.Type, f.as(a.Out.Type, k), f.as(a.Out.Type, count)); ok {
		if s.negative {
			total, _ = f.operate("-", a.Out.Type, kept, sum)
		} else {
			total, _ = f.operate("+", a.Out.Type, sum, kept)
		}
	}
	if total == nil || s.guard == unguarded {
		return total, total != nil
	}
	x := s.op.Args[s.operand]
	end, ok := f.aggregate(string(s.guard), x, a.Filter)
	if !ok || !end.Type().Equal(x.Type()) {
		return nil, false
	}
	args := slices.Clone(s.op.Args)
	args[s.operand] = end
	// The sum is NULL where the end is: both have no row then.
	return &Case{When: []Expr{&IsNull{Arg: s.op.WithChildren(args)}}, Then: []Expr{&Const{Value: vec.NullValue(a.Out.Type)}},
		Else: total, T: a.Out.Type}, true
}

// aggregate returns the column of an aggregate of x, adding the call when it is not there.
func (f *factoring) aggregate(name string, x, filter Expr) (Expr, bool) {
	bound, err := f.o.functions.ResolveAggregate(name, []extension.Argument{{Type: x.Type()}})
	if err != nil {
		return nil, false
	}
	call := AggCall{Bound: bound, Name: name, Args: []Expr{x}, Filter: filter}
	call.Out = f.o.newCol(name, bound.Result, name != "count")
	return f.keep(call), true
}

// keep returns the column of a call, which it adds unless it is there.
func (f *factoring) keep(call AggCall) Expr {
	for i := range f.out {
		if sameAggregate(&f.out[i], &call) {
			return refTo(f.out[i].Out)
		}
	}
	f.out = append(f.out, call)
	return refTo(call.Out)
}

// operate calls an operator on values of type t; ok is false when its result is of another.
func (f *factoring) operate(name string, t vec.Type, left, right Expr) (Expr, bool) {
	bound, err := f.o.functions.ResolveScalar(name, []extension.Argument{{Type: left.Type()}, {Type: right.Type()}})
	if err != nil || !bound.Result.Equal(t) {
		return nil, false
	}
	return &Call{Bound: bound, Name: name, Args: []Expr{left, right}}, true
}

// as returns a BIGINT as the type of a sum, in which its product with another one is exact.
func (f *factoring) as(t vec.Type, e Expr) Expr {
	if t.ID != vec.Decimal {
		return e
	}
	to := vec.DecimalType(19, 0)
	if c, ok := e.(*Const); ok {
		return &Const{Value: vec.Int128Value(to, vec.Int128From(c.Value.I))}
	}
	return &Cast{Arg: e, To: to}
}
