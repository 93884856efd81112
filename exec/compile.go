package exec

import (
	"github.com/tidemarkdb/tidemark/plan"
	"github.com/tidemarkdb/tidemark/sqlerr"
)

// compiler turns a plan into streams.
type compiler struct {
	q       *query
	current *nodeMetrics // of the node whose input is being compiled
	ctes    map[int]*sharedRows
	// runtime holds, by probe side column, filters that joins above the node being compiled offer to scans.
	runtime offers
}

// compile returns the stream of n's rows, metered.
func (c *compiler) compile(n plan.Node) (*stream, error) {
	m := &nodeMetrics{node: n, name: nodeName(n), parent: c.current}
	c.current.inputs = append(c.current.inputs, m)
	above := c.current
	c.current = m
	s, err := c.compileNode(n, m)
	c.current = above
	if err != nil {
		return nil, err
	}
	for _, b := range s.branches {
		if b.m == nil {
			b.m = m
		}
	}
	s.add(metered(m))
	return s, nil
}

func (c *compiler) compileNode(n plan.Node, m *nodeMetrics) (*stream, error) {
	switch n := n.(type) {
	case *plan.Scan:
		return c.scan(n, m), nil
	case *plan.SourceScan:
		return single(n.Columns, &tableSource{node: n}), nil
	case *plan.Values:
		return single(n.Columns, &valuesSource{node: n}), nil
	case *plan.Filter:
		cols := n.Input.Cols()
		return c.through(n, cols, func(in *stream) stage { return newFilter(layoutOf(in.cols), n.Conditions) })
	case *plan.Project:
		return c.through(n, n.Columns, func(in *stream) stage { return newProject(layoutOf(in.cols), n.Exprs) })
	case *plan.Join:
		return c.join(n, m)
	case *plan.Expand:
		cols := n.Input.Cols()
		return c.through(n, n.Cols(), func(*stream) stage { return newExpand(n, layoutOf(cols)) })
	case *plan.SetOp:
		return c.setOp(n, m)
	case *plan.DistinctOn:
		return c.distinctOn(n, m)
	case *plan.RecursiveCTE:
		return c.recursive(n, m)
	case *plan.Window:
		return c.window(n, m)
	case *plan.Aggregate:
		if known, err := c.fromMetadata(n); err != nil || known != nil {
			return single(n.Cols(), &valuesSource{node: known}), err
		}
		return c.aggregate(n, m)
	case *plan.CTE:
		return c.cte(n, m)
	case *plan.CTERef:
		return c.cteRef(n)
	case *plan.Sort:
		return c.sort(n, m)
	case *plan.Limit:
		win, err := c.limitBounds(n.Count, n.Offset)
		if err != nil {
			return nil, err
		}
		return c.through(n, n.Cols(), func(*stream) stage { return win.stage })
	}
	return nil, sqlerr.New(sqlerr.Internal, "the executor met an operator it does not know: %s", nodeName(n)).
		Hintf("this is a bug in the planner: report it together with the query")
}

// input compiles input i of n. Of the runtime filters offered to n those reach it that may.
func (c *compiler) input(n plan.Node, i int) (*stream, error) {
	above := c.runtime
	c.runtime = above.below(n, i)
	defer func() { c.runtime = above }()
	return c.compile(n.Inputs()[i])
}

// alone compiles n where no runtime filter from above holds.
func (c *compiler) alone(n plan.Node) (*stream, error) {
	above := c.runtime
	c.runtime = nil
	defer func() { c.runtime = above }()
	return c.compile(n)
}

// through compiles n's only input and appends a stage.
func (c *compiler) through(n plan.Node, cols []plan.Col, st func(in *stream) stage) (*stream, error) {
	s, err := c.input(n, 0)
	if err != nil {
		return nil, err
	}
	s.add(st(s))
	s.cols = cols
	return s, nil
}
