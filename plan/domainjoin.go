package plan

import (
	"slices"

	"github.com/tidemarkdb/tidemark/vec"
)

func (d *domain) pushJoin(n *Join) (Node, carriedCols) {
	conds := joinConditions(n)
	leftDep, rightDep := d.dependent(n.Left), d.dependent(n.Right)
	onlyLeft := n.Kind == Semi || n.Kind == Anti || n.Kind == Mark
	switch {
	case n.Kind == Full || n.Kind == Right:
		return d.pushFull(n, conds)
	case !rightDep && (leftDep || onlyLeft || n.Kind == Left || n.Kind == Single || !freeInConditions(conds, d.set)):
		left, v := d.push(n.Left)
		return normalizeJoin(&Join{Kind: n.Kind, Left: left, Right: n.Right, Other: v.list(conds), MarkCol: n.MarkCol}), v
	case !leftDep && !rightDep: // an inner join whose condition alone depends
		return d.pushFilter(&Filter{Input: &Join{Kind: Cross, Left: n.Left, Right: n.Right}, Conditions: conds})
	case !leftDep && (n.Kind == Inner || n.Kind == Cross):
		right, v := d.push(n.Right)
		return normalizeJoin(&Join{Kind: n.Kind, Left: n.Left, Right: right, Other: v.list(conds)}), v
	}
	left, v := d.push(n.Left)
	right, w := d.push(n.Right)
	on := v.list(conds)
	for _, c := range d.outer {
		on = append(on, &Compare{Op: NotDistinct, Left: refTo(v[c.ID].col), Right: refTo(w[c.ID].col)})
	}
	kind := n.Kind
	if kind == Cross {
		kind = Inner
	}
	return normalizeJoin(&Join{Kind: kind, Left: left, Right: right, Other: on, MarkCol: n.MarkCol}), v
}

func freeInConditions(conds []Expr, set colSet) bool { return refs(conds...).intersects(set) }

// pushFull pushes into both sides of a full join; either side may be padded, so the outer columns come from whichever
// is there.
func (d *domain) pushFull(n *Join, conds []Expr) (Node, carriedCols) {
	left, v := d.push(n.Left)
	right, w := d.push(n.Right)
	on := v.list(conds)
	present := d.u.o.newCol("present", vec.BoolType, false)
	leftCols := left.Cols()
	left = &Project{Input: left, Columns: append(slices.Clone(leftCols), present),
		Exprs: append(refsTo(leftCols), &Const{Value: vec.BoolValue(true)})}
	for _, c := range d.outer {
		on = append(on, &Compare{Op: NotDistinct, Left: refTo(v[c.ID].col), Right: refTo(w[c.ID].col)})
	}
	join := normalizeJoin(&Join{Kind: n.Kind, Left: left, Right: right, Other: on})
	cols, exprs, out := n.Cols(), refsTo(n.Cols()), carriedCols{}
	for _, c := range d.outer {
		merged := d.u.o.ids.fresh(c)
		out[c.ID] = carried{col: merged}
		cols = append(cols, merged)
		exprs = append(exprs, &Case{T: c.Type, When: []Expr{&IsNull{Arg: refTo(present), Negate: true}},
			Then: []Expr{refTo(v[c.ID].col)}, Else: refTo(w[c.ID].col)})
	}
	return &Project{Input: join, Columns: cols, Exprs: exprs}, out
}
