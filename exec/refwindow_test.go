package exec

import (
	"slices"

	"github.com/tidemarkdb/tidemark/plan"
	"github.com/tidemarkdb/tidemark/vec"
)

// windowRow is a row with its keys while the reference computes a window.
type windowRow struct{ row, part, order []vec.Value }

// window computes aggregates over frames, row by row and frame by frame.
func (r *reference) window(n *plan.Window) (out [][]vec.Value) {
	cols := n.Input.Cols()
	var order []plan.Expr
	for _, k := range n.Order {
		order = append(order, k.Expr)
	}
	parts, names := map[string][]windowRow{}, []string{}
	for _, row := range r.rows(n.Input) {
		w := windowRow{row: row, part: r.eval(cols, row, n.Partition...), order: r.eval(cols, row, order...)}
		k := keyText(w.part)
		if _, ok := parts[k]; !ok {
			names = append(names, k)
		}
		parts[k] = append(parts[k], w)
	}
	for _, k := range names {
		rows := parts[k]
		slices.SortStableFunc(rows, func(a, b windowRow) int { return compareKeyValues(a.order, b.order, n.Order) })
		for i := range rows {
			row := slices.Clone(rows[i].row)
			for c := range n.Calls {
				row = append(row, r.windowValue(n, &n.Calls[c], cols, rows, i))
			}
			out = append(out, row)
		}
	}
	return out
}

func (r *reference) windowValue(n *plan.Window, c *plan.WindowCall, cols []plan.Col, rows []windowRow, i int) vec.Value {
	var frame [][]vec.Value
	groups := make([]int, len(rows))
	for j := 1; j < len(rows); j++ {
		groups[j] = groups[j-1] + b2i(compareKeyValues(rows[j-1].order, rows[j].order, n.Order) != 0)
	}
	for j := range rows {
		peer := groups[j] == groups[i]
		switch {
		case c.Frame.Exclude == plan.ExcludeCurrentRow && i == j,
			c.Frame.Exclude == plan.ExcludeGroup && peer,
			c.Frame.Exclude == plan.ExcludeTies && peer && i != j:
			continue
		}
		if r.reaches(n, c, c.Frame.Start, rows, groups, i, j, true) && r.reaches(n, c, c.Frame.End, rows, groups, i, j, false) {
			frame = append(frame, rows[j].row)
		}
	}
	call := &plan.AggCall{Bound: *c.Agg, Args: c.Args, Distinct: c.Distinct, Filter: c.Filter}
	return r.fold(cols, frame, call)
}

// reaches reports whether row j is not before (start) or not after the bound of row i's frame.
func (r *reference) reaches(n *plan.Window, c *plan.WindowCall, b plan.Bound, rows []windowRow, groups []int, i, j int, start bool) bool {
	switch b.Kind {
	case plan.UnboundedPreceding:
		return start
	case plan.UnboundedFollowing:
		return !start
	}
	at, me := j, i
	if c.Frame.Mode != plan.Rows {
		at, me = groups[j], groups[i]
	}
	offset := 0
	if b.Offset != nil {
		v := r.eval(nil, nil, b.Offset)[0]
		if c.Frame.Mode == plan.Range {
			return r.inRange(n, b, v, rows, groups, i, j, start)
		}
		offset = int(v.I)
		if b.Kind == plan.Preceding {
			offset = -offset
		}
	}
	if start {
		return at >= me+offset
	}
	return at <= me+offset
}

// inRange handles RANGE with an offset on an integer key.
func (r *reference) inRange(n *plan.Window, b plan.Bound, offset vec.Value, rows []windowRow, groups []int, i, j int, start bool) bool {
	mine, other := rows[i].order[0], rows[j].order[0]
	if mine.Null || other.Null {
		return mine.Null && other.Null
	}
	d := offset.I
	if (b.Kind == plan.Preceding) != n.Order[0].Desc {
		d = -d
	}
	bound, x := mine.I+d, other.I
	if n.Order[0].Desc {
		bound, x = -bound, -x
	}
	if start {
		return x >= bound
	}
	return x <= bound
}
