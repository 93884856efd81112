package plan

// chooseSides picks the side of each join that builds the hash table and marks the equalities whose build keys are worth
// handing to the probe side's scan. It notes the estimate of every scan.
func chooseSides(_ *optimizer, n Node) Node {
	est := newEstimator()
	est.rows(n)
	return mapNode(n, func(n Node) Node {
		switch n := n.(type) {
		case *Scan:
			c := *n
			c.RowEstimate = est.rows(n)
			return &c
		case *Join:
			return chooseSide(est, n)
		}
		return n
	})
}

// filterGain is how much smaller the build side must be than the probe side for a runtime filter.
const filterGain = 0.8

func chooseSide(est *estimator, n *Join) Node {
	c := *n
	l, r := est.rows(n.Left), est.rows(n.Right)
	c.BuildLeft = false
	switch n.Kind {
	case Inner, Cross:
		if r > l {
			c.Left, c.Right = n.Right, n.Left
			l, r = r, l
			c.Equal = make([]EquiCond, len(n.Equal))
			for i, e := range n.Equal {
				c.Equal[i] = EquiCond{Left: e.Right, Right: e.Left, NullSafe: e.NullSafe}
			}
		}
	case Left, Semi, Anti, Full:
		c.BuildLeft = len(n.Equal) > 0 && r > 4*l // keeping track of matches costs something
	}
	build, probe := r, l
	probeSide := c.Left
	if c.BuildLeft {
		build, probe, probeSide = l, r, c.Right
	}
	drops := n.Kind == Inner || n.Kind == Semi || c.BuildLeft && n.Kind != Full
	c.RuntimeFilters = nil
	for i, e := range c.Equal {
		key := e.Left
		if c.BuildLeft {
			key = e.Right
		}
		if ref, ok := key.(*ColumnRef); ok && drops && !e.NullSafe && build < filterGain*probe && reachesScan(probeSide, ref.ID) {
			c.RuntimeFilters = append(c.RuntimeFilters, i)
		}
	}
	return &c
}

// reachesScan reports that a column comes unchanged from a scan through operators that a filter on it may pass.
func reachesScan(n Node, id ColID) bool {
	switch n := n.(type) {
	case *Scan:
		return colsOf(n).has(id)
	case *Filter:
		return reachesScan(n.Input, id)
	case *Project:
		for i, c := range n.Columns {
			if c.ID == id {
				r, ok := n.Exprs[i].(*ColumnRef)
				return ok && reachesScan(n.Input, r.ID)
			}
		}
	case *Join:
		switch n.Kind {
		case Inner, Cross:
			return reachesScan(n.Left, id) || reachesScan(n.Right, id)
		case Left, Semi, Anti, Mark, Single:
			return reachesScan(n.Left, id)
		}
	case *Aggregate:
		for i, c := range n.GroupCols {
			if c.ID == id && len(n.Sets) == 0 {
				r, ok := n.Groups[i].(*ColumnRef)
				return ok && reachesScan(n.Input, r.ID)
			}
		}
	}
	return false
}
