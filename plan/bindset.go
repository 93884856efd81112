package plan

import (
	"slices"

	"github.com/tidemarkdb/tidemark/sql"
	"github.com/tidemarkdb/tidemark/sqlerr"
	"github.com/tidemarkdb/tidemark/vec"
)

var setKinds = map[sql.SetKind]SetOpKind{sql.Union: Union, sql.Intersect: Intersect, sql.Except: Except}
var setNames = map[sql.SetKind]string{sql.Union: "UNION", sql.Intersect: "INTERSECT", sql.Except: "EXCEPT"}

func (b *binder) setOperation(q *sql.SetOp, outer *scope) result {
	b.takeTargets() // the sides agree on types among themselves
	l, r := b.query(q.Left, outer), b.query(q.Right, outer)
	if q.ByName {
		l, r = b.matchByName(l, r)
	}
	lc, rc := l.cols(), r.cols()
	name := setNames[q.Kind]
	if len(lc) != len(rc) {
		failHint(q.Pos, sqlerr.SyntaxError, "select as many columns on both sides", "each %s query must have the same number of columns", name)
	}
	types := make([]vec.Type, len(lc))
	n := &SetOp{Kind: setKinds[q.Kind], All: q.All}
	for i := range lc {
		types[i] = b.commonType(name, []Expr{columnValue(l.node, i), columnValue(r.node, i)}, q.Pos)
		nullable := lc[i].Nullable || rc[i].Nullable && n.Kind == Union
		n.Columns = append(n.Columns, b.newCol(l.names[i], types[i], nullable))
	}
	n.Args = []Node{b.coerceColumns(l.node, types, q.Pos), b.coerceColumns(r.node, types, q.Pos)}
	if first, ok := n.Args[0].(*SetOp); ok && n.Kind == Union && first.Kind == Union && (first.All == n.All || !n.All) {
		n.Args = append(slices.Clone(first.Args), n.Args[1])
	}
	return result{node: n, names: l.names}
}

// columnValue is what column i of n is: the literal itself when the column is one whose type is open.
func columnValue(n Node, i int) Expr {
	c := n.Cols()[i]
	below := n
	for w, ok := below.(*CTE); ok; w, ok = below.(*CTE) {
		below = w.Body
	}
	if p, ok := below.(*Project); ok && unknown(p.Exprs[i]) {
		return p.Exprs[i]
	}
	if c.Type.ID == vec.Null {
		return &Const{Value: vec.NullValue(vec.NullType)}
	}
	return refTo(c)
}

// coerceColumns casts the columns of n to types.
func (b *binder) coerceColumns(n Node, types []vec.Type, pos int) Node {
	cols := n.Cols()
	same := true
	for i, c := range cols {
		same = same && c.Type.Equal(types[i])
	}
	if same {
		return n
	}
	if w, ok := n.(*CTE); ok {
		out := *w
		out.Body = b.coerceColumns(w.Body, types, pos)
		return &out
	}
	if p, ok := n.(*Project); ok {
		out := &Project{Input: p.Input, Columns: slices.Clone(p.Columns), Exprs: slices.Clone(p.Exprs)}
		for i := range p.Exprs {
			if !p.Columns[i].Type.Equal(types[i]) {
				out.Exprs[i] = b.coerce(p.Exprs[i], types[i], pos)
				out.Columns[i] = b.newCol(p.Columns[i].Name, types[i], p.Columns[i].Nullable)
			}
		}
		return out
	}
	out := &Project{Input: n}
	for i, c := range cols {
		out.Exprs = append(out.Exprs, b.coerce(refTo(c), types[i], pos))
		out.Columns = append(out.Columns, b.newCol(c.Name, types[i], c.Nullable))
	}
	return out
}

// matchByName lines up the columns of both sides by name, with NULL for those that one side lacks.
func (b *binder) matchByName(l, r result) (result, result) {
	names := slices.Clone(l.names)
	for _, n := range r.names {
		if !slices.Contains(names, n) {
			names = append(names, n)
		}
	}
	align := func(side result) result {
		node, cols := b.settleUnknown(side)
		p := &Project{Input: node}
		for _, n := range names {
			e, t := Expr(&Const{Value: vec.NullValue(vec.NullType)}), vec.NullType
			if i := slices.Index(side.names, n); i >= 0 {
				e, t = refTo(cols[i]), cols[i].Type
			}
			p.Exprs, p.Columns = append(p.Exprs, e), append(p.Columns, b.newCol(n, t, true))
		}
		return result{node: p, names: names}
	}
	return align(l), align(r)
}
