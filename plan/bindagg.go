package plan

import (
	"slices"
	"strconv"

	"github.com/tidemarkdb/tidemark/extension"
	"github.com/tidemarkdb/tidemark/sql"
	"github.com/tidemarkdb/tidemark/sqlerr"
	"github.com/tidemarkdb/tidemark/vec"
)

func itoa(i int) string { return strconv.Itoa(i) }

// block collects what the clauses of one SELECT compute above its FROM.
type block struct {
	scope     *scope
	aggs      []AggCall
	windows   []pendingWindow
	expands   []pendingExpand
	groupings []pendingGrouping
	named     map[string]*sql.Window
	made      colSet // columns that aggregates, windows and set-returning calls make
	allowAggs bool   // the clause being bound may contain aggregates
}

type pendingGrouping struct {
	out  Col
	args []Expr
	pos  int
}

// allCols returns every column of the scope's FROM.
func (s *scope) allCols() colSet {
	var out colSet
	for _, c := range s.ns.cols {
		out.add(c.ID)
	}
	for _, r := range s.ns.relations {
		out.addCols(r.cols)
	}
	return out
}

func (x *exprBinder) aggregateCall(name string, e *sql.FuncCall) Expr {
	x.mayAggregate(name, e.Pos)
	inner := *x
	inner.inAggregate, inner.windows, inner.setReturning = true, false, false
	call := AggCall{Name: name, Distinct: e.Distinct}
	f := x.b.functions.Aggregate(name)
	args := inner.positional(e)
	enum := inner.extremeOfEnum(name, args)
	call.OrderBy = inner.aggregateOrder(e, args)
	switch {
	case e.WithinGroup && !f.OrderedSet && name != "mode": // which is called both ways
		failHint(e.Pos, sqlerr.WrongObjectType, "write ORDER BY inside the parentheses", "%s is not an ordered-set aggregate, so it cannot have WITHIN GROUP", name)
	case e.WithinGroup:
		for _, k := range call.OrderBy {
			args = append(args, k.Expr)
		}
	case f.OrderedSet && len(e.OrderBy) == 0 && len(args) < 2:
		failHint(e.Pos, sqlerr.WrongObjectType, "add WITHIN GROUP (ORDER BY ...)", "WITHIN GROUP is required for ordered-set aggregate %s", name)
	}
	bound, err := x.b.functions.ResolveAggregate(name, x.b.arguments(args))
	check(err, e.Pos)
	call.Bound, call.Args = bound, x.b.castArgs(args, bound.Args, e.Pos)
	if e.WithinGroup {
		for i := range call.OrderBy {
			call.OrderBy[i].Expr = call.Args[len(call.Args)-len(call.OrderBy)+i]
		}
	}
	if e.Filter != nil {
		call.Filter = inner.boolean(inner.expr(e.Filter), "FILTER", e.Filter.Position())
	}
	if e.Distinct && len(call.Args) == 0 {
		failHint(e.Pos, sqlerr.SyntaxError, "name the value whose distinct values count", "DISTINCT needs an argument")
	}
	if e.Distinct && !e.WithinGroup {
		for _, k := range call.OrderBy {
			if !slices.ContainsFunc(call.Args, func(a Expr) bool { return equalExpr(a, k.Expr) }) {
				failHint(e.Pos, sqlerr.InvalidColumnReference, "order by the argument itself",
					"in an aggregate with DISTINCT, ORDER BY expressions must appear in argument list")
			}
		}
	}
	switch {
	case !f.OrderSensitive && !f.OrderedSet && !e.WithinGroup:
		call.OrderBy = nil
	case e.Distinct && f.OrderSensitive && len(call.OrderBy) == 0:
		call.OrderBy = byArguments(call.Args)
	}
	return x.fromEnumCode(enum, x.owner(&call, name, e.Pos).addAggregate(x.b, call))
}

// byArguments is the order of distinct values for which no other was asked, as in PostgreSQL, which sorts to find them.
func byArguments(args []Expr) []SortKey {
	var keys []SortKey
	for _, a := range args {
		if _, constant := a.(*Const); !constant {
			keys = append(keys, SortKey{Expr: a})
		}
	}
	return keys
}

func (x *exprBinder) mayAggregate(name string, pos int) {
	switch {
	case x.inAggregate:
		failHint(pos, sqlerr.Grouping, "aggregate in a subquery first", "aggregate function calls cannot be nested")
	case x.block == nil && !x.outerAllows():
		failHint(pos, sqlerr.Grouping, "aggregate in a subquery or in HAVING", "aggregate functions are not allowed in %s", x.clause)
	}
}

// outerAllows reports whether a query around this one is binding a clause where its aggregates may stand.
func (x *exprBinder) outerAllows() bool {
	for s := x.scope; s != nil; s = s.parent {
		if s.block != nil && s.block.allowAggs {
			return true
		}
	}
	return false
}

// owner returns the block that evaluates the call: the innermost whose columns its arguments use.
func (x *exprBinder) owner(call *AggCall, name string, pos int) *block {
	used := refs(call.Args...)
	if call.Filter != nil {
		exprCols(call.Filter, &used)
	}
	owner := x.scope
	if !used.empty() {
		for s := x.scope; s != nil; s = s.parent {
			if used.intersects(s.allCols()) {
				owner = s
				break
			}
		}
	}
	if owner == nil || owner.block == nil || owner == x.scope && !x.aggregates || owner != x.scope && !owner.block.allowAggs {
		failHint(pos, sqlerr.Grouping, "aggregate in a subquery or in HAVING", "aggregate functions are not allowed in %s", x.clause)
	}
	return owner.block
}

// addAggregate notes the call and returns its column; a call that is there already is shared.
func (bl *block) addAggregate(b *binder, call AggCall) Expr {
	for i := range bl.aggs {
		if sameAggregate(&bl.aggs[i], &call) {
			return refTo(bl.aggs[i].Out)
		}
	}
	call.Out = b.newCol(call.Name, call.Bound.Result, call.Name != "count")
	bl.aggs = append(bl.aggs, call)
	bl.made.add(call.Out.ID)
	return refTo(call.Out)
}

func sameAggregate(a, b *AggCall) bool {
	return a.Bound.Func == b.Bound.Func && a.Distinct == b.Distinct && slices.EqualFunc(a.Args, b.Args, equalExpr) &&
		equalExpr(a.Filter, b.Filter) && slices.EqualFunc(a.OrderBy, b.OrderBy, sameKey)
}

func sameKey(a, b SortKey) bool {
	return a.Desc == b.Desc && a.NullsFirst == b.NullsFirst && equalExpr(a.Expr, b.Expr)
}

// aggregateOrder binds ORDER BY inside an aggregate's parentheses or of WITHIN GROUP.
func (x *exprBinder) aggregateOrder(e *sql.FuncCall, args []Expr) []SortKey {
	var keys []SortKey
	for _, item := range e.OrderBy {
		if item.All {
			for _, a := range args {
				keys = append(keys, sortKey(a, item))
			}
			continue
		}
		keys = append(keys, sortKey(x.value(item.Expr), item))
	}
	return keys
}

func sortKey(e Expr, item sql.OrderItem) SortKey {
	first := item.Desc
	if item.Nulls != sql.NullsDefault {
		first = item.Nulls == sql.NullsFirst
	}
	return SortKey{Expr: e, Desc: item.Desc, NullsFirst: first}
}

func (x *exprBinder) groupingCall(e *sql.FuncCall) Expr {
	if x.block == nil || !x.aggregates || x.inAggregate {
		fail(e.Pos, sqlerr.Grouping, "grouping operations are not allowed in %s", x.clause)
	}
	if len(e.Args) == 0 || len(e.Args) > 31 {
		fail(e.Pos, sqlerr.ProgramLimitExceeded, "GROUPING must have between 1 and 31 arguments")
	}
	inner := *x
	inner.inAggregate = true
	out := x.b.newCol("grouping", vec.Int32Type, false)
	x.block.groupings = append(x.block.groupings, pendingGrouping{out: out, args: inner.positional(e), pos: e.Pos})
	x.block.made.add(out.ID)
	return refTo(out)
}

type pendingExpand struct {
	name  string
	bound extension.BoundExpand
	args  []Expr
	cols  []Col
}

// setReturningCall binds a set-returning function in the select list.
func (x *exprBinder) setReturningCall(name string, e *sql.FuncCall) Expr {
	if !x.setReturning || x.inAggregate || x.inWindow {
		failHint(e.Pos, sqlerr.FeatureNotSupported, "call it in FROM", "set-returning functions are not allowed in %s", x.clause)
	}
	inner := *x
	inner.setReturning = false
	args := inner.positional(e)
	bound, err := x.b.functions.ResolveTable(name, x.b.arguments(args))
	check(err, e.Pos)
	if bound.Expand == nil {
		failHint(e.Pos, sqlerr.FeatureNotSupported, "write SELECT ... FROM "+name+"(...)", "%s must be called in FROM", name)
	}
	p := pendingExpand{name: name, bound: *bound.Expand, args: x.b.castArgs(args, bound.Args, e.Pos)}
	for _, c := range bound.Expand.Schema {
		p.cols = append(p.cols, x.b.newCol(c.Name, c.Type, true))
	}
	x.block.made.addCols(p.cols)
	x.block.expands = append(x.block.expands, p)
	if len(p.cols) == 1 {
		return refTo(p.cols[0])
	}
	return makeStruct(refsTo(p.cols), namesOf(p.cols))
}

// zipExpand runs several set-returning functions side by side, padding the shorter ones with NULLs.
func zipExpand(parts []pendingExpand) extension.BoundExpand {
	out := extension.BoundExpand{}
	for _, p := range parts {
		out.Args = append(out.Args, p.bound.Args...)
		out.Schema = append(out.Schema, p.bound.Schema...)
	}
	out.Rows = func(ev *extension.Eval, args []*vec.Vector, n int) (*vec.Batch, []int32, error) {
		batches, froms := make([]*vec.Batch, len(parts)), make([][]int32, len(parts))
		for i, p := range parts {
			k := len(p.bound.Args)
			b, from, err := p.bound.Rows(ev, args[:k], n)
			if err != nil {
				return nil, nil, err
			}
			batches[i], froms[i], args = b.Compact(), from, args[k:]
		}
		return zipRows(batches, froms, n)
	}
	return out
}

// zipRows puts the rows made from each input row side by side.
func zipRows(batches []*vec.Batch, froms [][]int32, n int) (*vec.Batch, []int32, error) {
	next := make([]int, len(froms))
	index := make([][]int32, len(froms)) // of each output row: the row of the part, -1 for padding
	var from []int32
	for row := range int32(n) {
		for {
			any := false
			for i := range froms {
				any = any || next[i] < len(froms[i]) && froms[i][next[i]] == row
			}
			if !any {
				break
			}
			from = append(from, row)
			for i := range froms {
				at := int32(-1)
				if next[i] < len(froms[i]) && froms[i][next[i]] == row {
					at = int32(next[i])
					next[i]++
				}
				index[i] = append(index[i], at)
			}
		}
	}
	out := &vec.Batch{N: len(from)}
	for i, b := range batches {
		valid := vec.NewBitmap(len(from))
		for r, at := range index[i] {
			if at >= 0 {
				valid.Set(r)
			} else {
				index[i][r] = 0
			}
		}
		for _, c := range b.Cols {
			out.Cols = append(out.Cols, vec.Gather(c, index[i], valid))
		}
	}
	return out, from, nil
}
