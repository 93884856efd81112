package plan

// ids hands out what must be unique within a statement.
type ids struct {
	col ColID
	cte int
}

func (i *ids) next() ColID {
	i.col++
	return i.col
}

func (i *ids) nextCTE() int {
	i.cte++
	return i.cte
}

// fresh returns c under a new id.
func (i *ids) fresh(c Col) Col {
	c.ID = i.next()
	return c
}

// copyPlan returns n with a fresh id for every column made inside it, and the columns that stand for n.Cols(), in
// order. References to columns from outside stay. A plan read in two places must be copied for one of them.
func copyPlan(n Node, ids *ids) (Node, []Col) {
	c := copier{ids: ids, cols: map[ColID]ColID{}, ctes: map[int]int{}}
	c.collect(n)
	out := c.node(n)
	return out, c.columns(n.Cols())
}

type copier struct {
	ids  *ids
	cols map[ColID]ColID
	ctes map[int]int
}

func (c *copier) collect(n Node) {
	walkNode(n, func(n Node) bool {
		for _, col := range n.Cols() {
			if _, ok := c.cols[col.ID]; !ok {
				c.cols[col.ID] = c.ids.next()
			}
		}
		switch n := n.(type) {
		case *CTE:
			c.ctes[n.ID] = c.ids.nextCTE()
		case *RecursiveCTE:
			c.ctes[n.ID] = c.ids.nextCTE()
		}
		visitExprs(n, func(e Expr) {
			walkExpr(e, func(e Expr) bool {
				if s, ok := e.(*Subquery); ok {
					c.collect(s.Plan)
				}
				return true
			})
		})
		return true
	})
}

func (c *copier) column(col Col) Col {
	if id, ok := c.cols[col.ID]; ok {
		col.ID = id
	}
	return col
}

func (c *copier) columns(cols []Col) []Col {
	out := make([]Col, len(cols))
	for i := range cols {
		out[i] = c.column(cols[i])
	}
	return out
}

func (c *copier) pointer(col *Col) *Col {
	if col == nil {
		return nil
	}
	out := c.column(*col)
	return &out
}

func (c *copier) cteID(id int) int {
	if n, ok := c.ctes[id]; ok {
		return n
	}
	return id
}

func (c *copier) expr(e Expr) Expr {
	return mapExpr(e, func(e Expr) Expr {
		switch e := e.(type) {
		case *ColumnRef:
			if id, ok := c.cols[e.ID]; ok {
				return &ColumnRef{ID: id, T: e.T, Name: e.Name}
			}
		case *Subquery:
			s := *e
			s.Plan = c.node(e.Plan)
			return &s
		}
		return e
	})
}

func (c *copier) node(n Node) Node {
	inputs := n.Inputs()
	copied := make([]Node, len(inputs))
	for i, in := range inputs {
		copied[i] = c.node(in)
	}
	n = mapExprs(n.WithInputs(copied), c.expr)
	switch n := n.(type) {
	case *Scan:
		m := *n
		m.Columns = c.columns(n.Columns)
		return &m
	case *SourceScan:
		m := *n
		m.Columns = c.columns(n.Columns)
		return &m
	case *Values:
		m := *n
		m.Columns = c.columns(n.Columns)
		return &m
	case *Project:
		m := *n
		m.Columns = c.columns(n.Columns)
		return &m
	case *Join:
		m := *n
		m.MarkCol = c.column(n.MarkCol)
		return &m
	case *Apply:
		m := *n
		m.MarkCol = c.column(n.MarkCol)
		return &m
	case *Expand:
		m := *n
		m.Columns, m.Ordinality = c.columns(n.Columns), c.pointer(n.Ordinality)
		return &m
	case *Aggregate:
		m := *n
		m.GroupCols, m.Grouping = c.columns(n.GroupCols), c.pointer(n.Grouping)
		m.Aggregates = append([]AggCall(nil), n.Aggregates...)
		for i := range m.Aggregates {
			m.Aggregates[i].Out = c.column(m.Aggregates[i].Out)
		}
		return &m
	case *Window:
		m := *n
		m.Calls = append([]WindowCall(nil), n.Calls...)
		for i := range m.Calls {
			m.Calls[i].Out = c.column(m.Calls[i].Out)
		}
		return &m
	case *SetOp:
		m := *n
		m.Columns = c.columns(n.Columns)
		return &m
	case *CTE:
		m := *n
		m.ID = c.cteID(n.ID)
		return &m
	case *RecursiveCTE:
		m := *n
		m.ID, m.Columns = c.cteID(n.ID), c.columns(n.Columns)
		return &m
	case *CTERef:
		m := *n
		m.ID, m.Columns = c.cteID(n.ID), c.columns(n.Columns)
		return &m
	}
	return n
}
