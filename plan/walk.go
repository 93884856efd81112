package plan

// mapExpr rewrites e bottom up: f sees every expression after its children. Unchanged subtrees are shared.
func mapExpr(e Expr, f func(Expr) Expr) Expr {
	if e == nil {
		return nil
	}
	return f(mapChildren(e, func(c Expr) Expr { return mapExpr(c, f) }))
}

func mapChildren(e Expr, f func(Expr) Expr) Expr {
	children := e.Children()
	var changed []Expr
	for i, c := range children {
		if n := f(c); n != c {
			if changed == nil {
				changed = append([]Expr(nil), children...)
			}
			changed[i] = n
		}
	}
	if changed == nil {
		return e
	}
	return e.WithChildren(changed)
}

// walkExpr calls f for e and, while f returns true, everything below it. Plans of subqueries are not entered.
func walkExpr(e Expr, f func(Expr) bool) {
	if e == nil || !f(e) {
		return
	}
	for _, c := range e.Children() {
		walkExpr(c, f)
	}
}

// exprCols adds the columns that e refers to, those free in its subqueries included.
func exprCols(e Expr, into *colSet) {
	walkExpr(e, func(e Expr) bool {
		switch e := e.(type) {
		case *ColumnRef:
			into.add(e.ID)
		case *Subquery:
			into.addAll(freeCols(e.Plan))
		}
		return true
	})
}

func refs(exprs ...Expr) colSet {
	var s colSet
	for _, e := range exprs {
		exprCols(e, &s)
	}
	return s
}

// freeCols returns the columns that n refers to and that are not made inside it: those of an outer query.
func freeCols(n Node) colSet {
	var used, made colSet
	walkNode(n, func(n Node) bool {
		made.addCols(n.Cols())
		visitExprs(n, func(e Expr) { exprCols(e, &used) })
		return true
	})
	return used.minus(made)
}

// walkNode calls f for n and, while f returns true, its inputs. Plans of subqueries in expressions are not entered.
func walkNode(n Node, f func(Node) bool) {
	if !f(n) {
		return
	}
	for _, in := range n.Inputs() {
		walkNode(in, f)
	}
}

// mapInputs returns n over what f makes of its inputs, and n itself when f changes nothing.
func mapInputs(n Node, f func(Node) Node) Node {
	inputs := n.Inputs()
	var changed []Node
	for i, in := range inputs {
		if m := f(in); m != in {
			if changed == nil {
				changed = append([]Node(nil), inputs...)
			}
			changed[i] = m
		}
	}
	if changed == nil {
		return n
	}
	return withInputs(n, changed)
}

// withInputs replaces inputs. Where a node reads an input's columns by their place, the places are kept.
func withInputs(n Node, inputs []Node) Node {
	switch n := n.(type) {
	case *SetOp, *RecursiveCTE:
		for i, in := range n.Inputs() {
			inputs[i] = keepCols(inputs[i], in.Cols())
		}
	case *CTE:
		inputs[0] = keepCols(inputs[0], n.Def.Cols())
	}
	return n.WithInputs(inputs)
}

// keepCols returns n with exactly the columns cols, in that order, by a projection where needed.
func keepCols(n Node, cols []Col) Node {
	have := n.Cols()
	if len(have) == len(cols) {
		same := true
		for i := range cols {
			same = same && have[i].ID == cols[i].ID
		}
		if same {
			return n
		}
	}
	return &Project{Input: n, Columns: cols, Exprs: refsTo(cols)}
}

func refTo(c Col) *ColumnRef { return &ColumnRef{ID: c.ID, T: c.Type, Name: c.Name} }

func refsTo(cols []Col) []Expr {
	out := make([]Expr, len(cols))
	for i, c := range cols {
		out[i] = refTo(c)
	}
	return out
}

// mapNode rewrites n bottom up: f sees every node after its inputs.
func mapNode(n Node, f func(Node) Node) Node {
	return f(mapInputs(n, func(in Node) Node { return mapNode(in, f) }))
}

// visitExprs calls f for each expression of n itself.
func visitExprs(n Node, f func(Expr)) {
	mapExprs(n, func(e Expr) Expr { f(e); return e })
}

// mapExprs returns n with f applied to each of its own expressions, and n itself when none changed.
func mapExprs(n Node, f func(Expr) Expr) Node {
	m := exprMapper{f: f}
	var out Node = n
	switch n := n.(type) {
	case *Scan:
		c := *n
		c.Filters = m.list(n.Filters)
		out = &c
	case *Values:
		c := *n
		c.Rows = m.rows(n.Rows)
		out = &c
	case *Filter:
		c := *n
		c.Conditions = m.list(n.Conditions)
		out = &c
	case *Project:
		c := *n
		c.Exprs = m.list(n.Exprs)
		out = &c
	case *Join:
		c := *n
		c.Equal, c.Other = m.equi(n.Equal), m.list(n.Other)
		out = &c
	case *Apply:
		c := *n
		c.On = m.list(n.On)
		out = &c
	case *Expand:
		c := *n
		c.Args = m.list(n.Args)
		out = &c
	case *Aggregate:
		c := *n
		c.Groups, c.Aggregates = m.list(n.Groups), m.aggregates(n.Aggregates)
		out = &c
	case *Window:
		c := *n
		c.Partition, c.Order, c.Calls = m.list(n.Partition), m.keys(n.Order), m.windows(n.Calls)
		out = &c
	case *Sort:
		c := *n
		c.Keys = m.keys(n.Keys)
		out = &c
	case *Limit:
		c := *n
		c.Count, c.Offset = m.one(n.Count), m.one(n.Offset)
		out = &c
	case *DistinctOn:
		c := *n
		c.Keys = m.list(n.Keys)
		out = &c
	}
	if !m.changed {
		return n
	}
	return out
}

type exprMapper struct {
	f       func(Expr) Expr
	changed bool
}

func (m *exprMapper) one(e Expr) Expr {
	if e == nil {
		return nil
	}
	n := m.f(e)
	m.changed = m.changed || n != e
	return n
}

func (m *exprMapper) list(in []Expr) []Expr {
	var out []Expr
	for i, e := range in {
		if n := m.one(e); n != e {
			if out == nil {
				out = append([]Expr(nil), in...)
			}
			out[i] = n
		}
	}
	if out == nil {
		return in
	}
	return out
}

func (m *exprMapper) rows(in [][]Expr) [][]Expr {
	out := make([][]Expr, len(in))
	for i, row := range in {
		out[i] = m.list(row)
	}
	return out
}

func (m *exprMapper) equi(in []EquiCond) []EquiCond {
	out := make([]EquiCond, len(in))
	for i, c := range in {
		out[i] = EquiCond{Left: m.one(c.Left), Right: m.one(c.Right), NullSafe: c.NullSafe}
	}
	return out
}

func (m *exprMapper) keys(in []SortKey) []SortKey {
	out := make([]SortKey, len(in))
	for i, k := range in {
		out[i] = k
		out[i].Expr = m.one(k.Expr)
	}
	return out
}

func (m *exprMapper) aggregates(in []AggCall) []AggCall {
	out := make([]AggCall, len(in))
	for i, a := range in {
		out[i] = a
		out[i].Args, out[i].Filter, out[i].OrderBy = m.list(a.Args), m.one(a.Filter), m.keys(a.OrderBy)
	}
	return out
}

func (m *exprMapper) windows(in []WindowCall) []WindowCall {
	out := make([]WindowCall, len(in))
	for i, w := range in {
		out[i] = w
		out[i].Args, out[i].Filter = m.list(w.Args), m.one(w.Filter)
		out[i].Frame.Start.Offset, out[i].Frame.End.Offset = m.one(w.Frame.Start.Offset), m.one(w.Frame.End.Offset)
	}
	return out
}
