package plan

// casesToFilters turns sum(CASE WHEN c THEN x END) into sum(x) FILTER (WHERE c): an aggregate that leaves NULLs out sees
// the same values, and no vector of them is made. x must not fail, since it is computed where c is not TRUE too.
func casesToFilters(_ *optimizer, n Node) Node {
	return mapNode(n, func(n Node) Node {
		agg, ok := n.(*Aggregate)
		if !ok {
			return n
		}
		var calls []AggCall
		for i := range agg.Aggregates {
			if call, ok := caseToFilter(agg.Aggregates[i]); ok {
				if calls == nil {
					calls = append(calls, agg.Aggregates...)
				}
				calls[i] = call
			}
		}
		if calls == nil {
			return n
		}
		c := *agg
		c.Aggregates = calls
		return &c
	})
}

// caseToFilter leaves DISTINCT alone, which is split from the aggregate only without a filter.
func caseToFilter(a AggCall) (AggCall, bool) {
	if len(a.Args) != 1 || a.Distinct || len(a.OrderBy) > 0 || a.Bound.Func == nil || a.Bound.Func.KeepsNulls {
		return a, false
	}
	c, ok := a.Args[0].(*Case)
	if !ok || len(c.When) != 1 || c.Else != nil && !isNullConst(c.Else) {
		return a, false
	}
	then := c.Then[0]
	if !then.Type().Equal(c.T) || isVolatile(then) || mayFail(then) {
		return a, false
	}
	a.Args = []Expr{then}
	conds := []Expr{c.When[0]}
	if a.Filter != nil {
		conds = []Expr{a.Filter, c.When[0]}
	}
	a.Filter = allOf(conds)
	return a, true
}

func isNullConst(e Expr) bool {
	k, ok := e.(*Const)
	return ok && k.Value.Null
}
