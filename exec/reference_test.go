package exec

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/tidemarkdb/tidemark/extension"
	"github.com/tidemarkdb/tidemark/plan"
	"github.com/tidemarkdb/tidemark/vec"
)

// reference computes plans row by row with nested loops and no cleverness: what the executor must agree with. Only
// expressions of one row and accumulators are shared with it.
type reference struct {
	db   *memDB
	w    *worker
	ctes map[int][][]vec.Value
}

func newReference(db *memDB) *reference {
	q := &query{env: db.env(1), threads: 1, budget: &budget{}, ctx: context.Background()}
	return &reference{db: db, w: q.newWorker(0, nil), ctes: map[int][][]vec.Value{}}
}

func must[T any](v T, err error) T {
	if err != nil {
		panic(err)
	}
	return v
}

// eval computes expressions over one row.
func (r *reference) eval(cols []plan.Col, row []vec.Value, exprs ...plan.Expr) []vec.Value {
	prog := must(newProgram(r.w, layoutOf(cols), exprs))
	b := &vec.Batch{N: 1}
	for i, c := range cols {
		one := vec.NewBuilder(c.Type, 1)
		one.Append(row[i])
		b.Cols = append(b.Cols, one.Finish())
	}
	var out []vec.Value
	for _, v := range must(prog.eval(b)) {
		out = append(out, v.Value(0))
	}
	return out
}

func (r *reference) holds(cols []plan.Col, row []vec.Value, conds []plan.Expr) byte {
	state := isTrue
	for _, e := range conds {
		switch v := r.eval(cols, row, e)[0]; {
		case v.Null:
			state = isUnknown
		case v.I == 0:
			return isFalse
		}
	}
	return state
}

func (r *reference) rows(n plan.Node) [][]vec.Value {
	switch n := n.(type) {
	case *plan.Scan:
		return r.scan(n)
	case *plan.Values:
		var out [][]vec.Value
		for _, row := range n.Rows {
			out = append(out, r.eval(nil, nil, row...))
		}
		return out
	case *plan.Filter:
		return r.filter(n.Input.Cols(), r.rows(n.Input), n.Conditions)
	case *plan.Project:
		var out [][]vec.Value
		for _, row := range r.rows(n.Input) {
			out = append(out, r.eval(n.Input.Cols(), row, n.Exprs...))
		}
		return out
	case *plan.Join:
		return r.join(n)
	case *plan.Aggregate:
		return r.aggregate(n)
	case *plan.Sort:
		rows := r.sort(n.Input.Cols(), r.rows(n.Input), n.Keys)
		return limited(rows, n.Offset, n.Limit)
	case *plan.Limit:
		limit, offset := int64(-1), int64(0)
		if n.Count != nil {
			limit = r.eval(nil, nil, n.Count)[0].I
		}
		if n.Offset != nil {
			offset = r.eval(nil, nil, n.Offset)[0].I
		}
		return limited(r.rows(n.Input), offset, limit)
	case *plan.DistinctOn:
		seen := map[string]bool{}
		var out [][]vec.Value
		for _, row := range r.rows(n.Input) {
			if k := keyText(r.eval(n.Input.Cols(), row, n.Keys...)); !seen[k] {
				seen[k] = true
				out = append(out, row)
			}
		}
		return out
	case *plan.SetOp:
		return r.setOp(n)
	case *plan.CTE:
		r.ctes[n.ID] = r.rows(n.Def)
		return r.rows(n.Body)
	case *plan.CTERef:
		return r.ctes[n.ID]
	case *plan.Window:
		return r.window(n)
	}
	panic(fmt.Sprintf("the reference does not know %T", n))
}

func (r *reference) scan(n *plan.Scan) [][]vec.Value {
	t := r.db.tables[n.Table.Name]
	var out [][]vec.Value
	for i := range t.rows {
		row := []vec.Value{}
		for _, o := range n.Ordinals {
			row = append(row, t.cols[o].Value(i))
		}
		out = append(out, row)
	}
	return r.filter(n.Columns, out, n.Filters)
}

func (r *reference) filter(cols []plan.Col, rows [][]vec.Value, conds []plan.Expr) (out [][]vec.Value) {
	for _, row := range rows {
		if r.holds(cols, row, conds) == isTrue {
			out = append(out, row)
		}
	}
	return out
}

func limited(rows [][]vec.Value, offset, limit int64) [][]vec.Value {
	rows = rows[min(offset, int64(len(rows))):]
	if limit >= 0 && limit < int64(len(rows)) {
		rows = rows[:limit]
	}
	return rows
}

func nulls(cols []plan.Col) (out []vec.Value) {
	for _, c := range cols {
		out = append(out, vec.NullValue(c.Type))
	}
	return out
}

func (r *reference) join(n *plan.Join) (out [][]vec.Value) {
	lc, rc := n.Left.Cols(), n.Right.Cols()
	left, right := r.rows(n.Left), r.rows(n.Right)
	both := slices.Concat(lc, rc)
	conds := slices.Clone(n.Other)
	for _, e := range n.Equal {
		op := plan.Eq
		if e.NullSafe {
			op = plan.NotDistinct
		}
		conds = append(conds, &plan.Compare{Op: op, Left: e.Left, Right: e.Right})
	}
	hit := make([]bool, len(right))
	for _, l := range left {
		matches, unknown := 0, false
		for j, x := range right {
			row := slices.Concat(l, x)
			switch r.holds(both, row, conds) {
			case isUnknown:
				unknown = true
				continue
			case isFalse:
				continue
			}
			matches++
			hit[j] = true
			if n.Kind != plan.Semi && n.Kind != plan.Anti && n.Kind != plan.Mark {
				out = append(out, row)
			}
		}
		switch {
		case n.Kind == plan.Semi && matches > 0, n.Kind == plan.Anti && matches == 0:
			out = append(out, l)
		case n.Kind == plan.Mark:
			mark := vec.BoolValue(matches > 0)
			if matches == 0 && unknown {
				mark = vec.NullValue(vec.BoolType)
			}
			out = append(out, append(slices.Clone(l), mark))
		case matches == 0 && (n.Kind == plan.Left || n.Kind == plan.Full || n.Kind == plan.Single):
			out = append(out, slices.Concat(l, nulls(rc)))
		}
	}
	if n.Kind == plan.Right || n.Kind == plan.Full {
		for j, x := range right {
			if !hit[j] {
				out = append(out, slices.Concat(nulls(lc), x))
			}
		}
	}
	return out
}

// keyText tells values apart as grouping does.
func keyText(row []vec.Value) string {
	var b strings.Builder
	for _, v := range row {
		switch {
		case v.Null:
			b.WriteString("NULL|")
		case v.Type.ID == vec.Interval:
			fmt.Fprintf(&b, "%v|", v.Span.Span())
		case v.Type.IsFloat() && v.F == 0:
			b.WriteString("0|")
		default:
			fmt.Fprintf(&b, "%q|", vec.Format(v))
		}
	}
	return b.String()
}

func (r *reference) aggregate(n *plan.Aggregate) (out [][]vec.Value) {
	cols, rows := n.Input.Cols(), r.rows(n.Input)
	sets := n.Sets
	if len(sets) == 0 {
		all := []int{}
		for i := range n.Groups {
			all = append(all, i)
		}
		sets = [][]int{all}
	}
	for _, set := range sets {
		keys, members, order := map[string][]vec.Value{}, map[string][][]vec.Value{}, []string{}
		mask := int64(0)
		for g := range n.Groups {
			if !slices.Contains(set, g) {
				mask |= 1 << (len(n.Groups) - 1 - g)
			}
		}
		if len(set) == 0 {
			keys[""], order = nulls(n.GroupCols), []string{""}
		}
		for _, row := range rows {
			key := r.eval(cols, row, n.Groups...)
			for g := range key {
				if !slices.Contains(set, g) {
					key[g] = vec.NullValue(key[g].Type)
				}
			}
			k := keyText(key)
			if len(set) == 0 {
				k = ""
			}
			if _, ok := keys[k]; !ok {
				keys[k] = key
				order = append(order, k)
			}
			members[k] = append(members[k], row)
		}
		for _, k := range order {
			row := slices.Clone(keys[k])
			for i := range n.Aggregates {
				row = append(row, r.fold(cols, members[k], &n.Aggregates[i]))
			}
			if n.Grouping != nil {
				row = append(row, vec.IntValue(vec.Int64Type, mask))
			}
			out = append(out, row)
		}
	}
	return out
}

func (r *reference) fold(cols []plan.Col, rows [][]vec.Value, c *plan.AggCall) vec.Value {
	acc := c.Bound.New(r.w.ev)
	acc.Grow(1)
	seen := map[string]bool{}
	for _, row := range r.sort(cols, rows, c.OrderBy) {
		if c.Filter != nil && r.holds(cols, row, []plan.Expr{c.Filter}) != isTrue {
			continue
		}
		vals := r.eval(cols, row, c.Args...)
		anyNull := slices.ContainsFunc(vals, func(v vec.Value) bool { return v.Null })
		if anyNull && !c.Bound.Func.KeepsNulls {
			continue
		}
		if k := keyText(vals); c.Distinct && seen[k] {
			continue
		} else {
			seen[k] = true
		}
		r.update(acc, vals, c.Args)
	}
	return must(acc.Result(0, 1)).Value(0)
}

func (r *reference) update(acc extension.Accumulator, vals []vec.Value, args []plan.Expr) {
	var in []*vec.Vector
	for i, v := range vals {
		b := vec.NewBuilder(args[i].Type(), 1)
		b.Append(v)
		in = append(in, b.Finish())
	}
	if err := acc.Update(nil, in, 1); err != nil {
		panic(err)
	}
}

// compareKeys orders two rows of sort keys.
func compareKeyValues(a, b []vec.Value, keys []plan.SortKey) int {
	for i, k := range keys {
		x, y := a[i], b[i]
		if x.Null != y.Null {
			if x.Null == k.NullsFirst {
				return -1
			}
			return 1
		}
		c := vec.Compare(x, y)
		if k.Desc && !x.Null {
			c = -c
		}
		if c != 0 {
			return c
		}
	}
	return 0
}

func (r *reference) sort(cols []plan.Col, rows [][]vec.Value, keys []plan.SortKey) [][]vec.Value {
	if len(keys) == 0 {
		return rows
	}
	type keyed struct{ key, row []vec.Value }
	var exprs []plan.Expr
	for _, k := range keys {
		exprs = append(exprs, k.Expr)
	}
	var all []keyed
	for _, row := range rows {
		all = append(all, keyed{r.eval(cols, row, exprs...), row})
	}
	slices.SortStableFunc(all, func(a, b keyed) int { return compareKeyValues(a.key, b.key, keys) })
	out := make([][]vec.Value, len(all))
	for i, k := range all {
		out[i] = k.row
	}
	return out
}

func (r *reference) setOp(n *plan.SetOp) (out [][]vec.Value) {
	if n.Kind == plan.Union {
		for _, a := range n.Args {
			out = append(out, r.rows(a)...)
		}
	} else {
		count := map[string]int{}
		for _, row := range r.rows(n.Args[1]) {
			count[keyText(row)]++
		}
		for _, row := range r.rows(n.Args[0]) {
			k := keyText(row)
			inBoth := count[k] > 0
			if n.All && inBoth {
				count[k]--
			}
			if inBoth == (n.Kind == plan.Intersect) {
				out = append(out, row)
			}
		}
	}
	if n.All {
		return out
	}
	seen := map[string]bool{}
	return slices.DeleteFunc(out, func(row []vec.Value) bool {
		k := keyText(row)
		dup := seen[k]
		seen[k] = true
		return dup
	})
}

// text renders rows as collect does.
func text(rows [][]vec.Value) []string {
	var out []string
	for _, row := range rows {
		var parts []string
		for _, v := range row {
			if v.Null {
				parts = append(parts, "NULL")
			} else {
				parts = append(parts, vec.Format(v))
			}
		}
		out = append(out, strings.Join(parts, "|"))
	}
	return out
}
