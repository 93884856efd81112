package plan

import (
	"github.com/tidemarkdb/tidemark/sql"
	"github.com/tidemarkdb/tidemark/sqlerr"
	"github.com/tidemarkdb/tidemark/vec"
)

// hypothetical are the aggregates that say what place a row would have among those of a group: rank(a, ...) WITHIN
// GROUP (ORDER BY x, ...). Each is computed from counts of the rows before the place and of its peers.
var hypothetical = map[string]func(h *hypotheticalCall) Expr{
	"rank":       func(h *hypotheticalCall) Expr { return h.plusOne(h.count(h.before())) },
	"dense_rank": func(h *hypotheticalCall) Expr { return h.plusOne(h.distinct(h.before())) },
	"percent_rank": func(h *hypotheticalCall) Expr {
		total := h.count(nil)
		return &Coalesce{Args: []Expr{h.share(h.count(h.before()), &Case{T: vec.Int64Type, When: []Expr{&Compare{Op: Ne, Left: total, Right: intConst(0)}},
			Then: []Expr{total}}), &Const{Value: vec.FloatValue(vec.Float64Type, 0)}}, T: vec.Float64Type}
	},
	"cume_dist": func(h *hypotheticalCall) Expr {
		return h.share(h.plusOne(h.count(anyOf([]Expr{h.before(), h.equal(len(h.keys))}))), h.plusOne(h.count(nil)))
	},
}

// hypotheticalCall is one call: the row args among rows ordered by keys, both of the same types.
type hypotheticalCall struct {
	x      *exprBinder
	e      *sql.FuncCall
	name   string
	args   []Expr
	keys   []SortKey
	filter Expr
}

func (x *exprBinder) hypotheticalCall(name string, e *sql.FuncCall) Expr {
	x.mayAggregate(name, e.Pos)
	inner := *x
	inner.inAggregate, inner.windows, inner.setReturning = true, false, false
	h := &hypotheticalCall{x: x, e: e, name: name, args: inner.positional(e)}
	h.keys = inner.aggregateOrder(e, h.args)
	if len(h.args) != len(h.keys) {
		failHint(e.Pos, sqlerr.UndefinedFunction, "give as many values as the ORDER BY of WITHIN GROUP has expressions",
			"%s has %d hypothetical values for %d ordering columns", name, len(h.args), len(h.keys))
	}
	if e.Distinct {
		failHint(e.Pos, sqlerr.SyntaxError, "leave DISTINCT out", "cannot use DISTINCT with WITHIN GROUP")
	}
	for i := range h.keys {
		h.keys[i].Expr, h.args[i] = x.pair(Lt, h.keys[i].Expr, h.args[i], e.Pos)
	}
	if e.Filter != nil {
		h.filter = inner.boolean(inner.expr(e.Filter), "FILTER", e.Filter.Position())
	}
	return hypothetical[name](h)
}

// before is whether a row comes before the hypothetical one; NULL for no.
func (h *hypotheticalCall) before() Expr {
	var ways []Expr
	for i, k := range h.keys {
		op := Lt
		if k.Desc {
			op = Gt
		}
		null := allOf([]Expr{&IsNull{Arg: k.Expr, Negate: !k.NullsFirst}, &IsNull{Arg: h.args[i], Negate: k.NullsFirst}})
		ways = append(ways, allOf([]Expr{h.equal(i), anyOf([]Expr{&Compare{Op: op, Left: k.Expr, Right: h.args[i]}, null})}))
	}
	return anyOf(ways)
}

// equal is whether a row has the same first n keys as the hypothetical one.
func (h *hypotheticalCall) equal(n int) Expr {
	same := []Expr{&Const{Value: vec.BoolValue(true)}}
	for i, k := range h.keys[:n] {
		same = append(same, &Compare{Op: NotDistinct, Left: k.Expr, Right: h.args[i]})
	}
	return allOf(same)
}

func (h *hypotheticalCall) count(cond Expr) Expr { return h.add(AggCall{Name: "count", Filter: cond}) }

// distinct counts the different keys of the rows for which cond holds.
func (h *hypotheticalCall) distinct(cond Expr) Expr {
	keys := make([]Expr, len(h.keys))
	for i, k := range h.keys {
		keys[i] = k.Expr
	}
	return h.add(AggCall{Name: "count", Distinct: true, Args: []Expr{makeStruct(keys, rowNames(len(keys)))}, Filter: cond})
}

func (h *hypotheticalCall) add(call AggCall) Expr {
	bound, err := h.x.b.functions.ResolveAggregate(call.Name, h.x.b.arguments(call.Args))
	check(err, h.e.Pos)
	call.Bound = bound
	switch {
	case call.Filter == nil:
		call.Filter = h.filter
	case h.filter != nil:
		call.Filter = allOf([]Expr{h.filter, call.Filter})
	}
	return h.x.owner(&call, h.name, h.e.Pos).addAggregate(h.x.b, call)
}

func (h *hypotheticalCall) plusOne(e Expr) Expr {
	return h.x.scalar("+", []Expr{e, intConst(1)}, h.e.Pos)
}

func (h *hypotheticalCall) share(part, whole Expr) Expr {
	return h.x.scalar("/", []Expr{h.x.b.coerce(part, vec.Float64Type, h.e.Pos), h.x.b.coerce(whole, vec.Float64Type, h.e.Pos)}, h.e.Pos)
}
