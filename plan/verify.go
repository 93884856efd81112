package plan

import (
	"github.com/tidemarkdb/tidemark/vec"
)

// Verify checks what the executor relies on: no Apply, Subquery or untyped value is left, every reference is to a column
// of the node's inputs with its type, and places line up. The error is Internal.
func Verify(n Node) (err error) {
	defer recoverFault(&err)
	v := &verifier{ctes: map[int]int{}}
	v.node(n)
	return nil
}

type verifier struct{ ctes map[int]int } // CTE id to its number of columns

func (v *verifier) failf(format string, args ...any) { panic(internalf(format, args...)) }

func (v *verifier) node(n Node) {
	switch n := n.(type) {
	case *Apply:
		v.failf("an Apply is left")
	case *CTE:
		v.node(n.Def)
		v.ctes[n.ID] = len(n.Def.Cols())
		v.node(n.Body)
		return
	case *RecursiveCTE:
		v.node(n.Base)
		v.ctes[n.ID] = len(n.Columns)
		v.node(n.Step)
		v.widths(n, n.Columns)
		return
	case *CTERef:
		if width, ok := v.ctes[n.ID]; !ok || width != len(n.Columns) {
			v.failf("CTE %s (%d) is read with %d columns and has %d", n.Name, n.ID, len(n.Columns), width)
		}
	case *SetOp:
		v.widths(n, n.Columns)
	case *Scan:
		v.exprs(n, n.Columns)
		if len(n.Columns) != len(n.Ordinals) {
			v.failf("scan of %s has %d columns and %d ordinals", n.Table.Name, len(n.Columns), len(n.Ordinals))
		}
		return
	case *Aggregate:
		if len(n.Groups) != len(n.GroupCols) {
			v.failf("%d groups and %d group columns", len(n.Groups), len(n.GroupCols))
		}
	case *Project:
		for i, c := range n.Columns {
			if !c.Type.Equal(n.Exprs[i].Type()) {
				v.failf("column %s#%d is %s and its expression %s", c.Name, c.ID, c.Type, n.Exprs[i].Type())
			}
		}
	case *Join:
		v.join(n)
	}
	var cols []Col
	for _, in := range n.Inputs() {
		v.node(in)
		cols = append(cols, in.Cols()...)
	}
	v.exprs(n, cols)
	var seen colSet
	for _, c := range n.Cols() {
		if seen.has(c.ID) {
			v.failf("%T makes column %s#%d twice", n, c.Name, c.ID)
		}
		seen.add(c.ID)
	}
}

func (v *verifier) widths(n Node, cols []Col) {
	for _, in := range n.Inputs() {
		have := in.Cols()
		if len(have) != len(cols) {
			v.failf("an input of %T has %d columns instead of %d", n, len(have), len(cols))
		}
		for i := range have {
			if !have[i].Type.Equal(cols[i].Type) {
				v.failf("column %d of an input of %T is %s instead of %s", i, n, have[i].Type, cols[i].Type)
			}
		}
	}
}

func (v *verifier) join(n *Join) {
	left, right := colsOf(n.Left), colsOf(n.Right)
	if left.intersects(right) {
		v.failf("both sides of a join make the same column")
	}
	for _, c := range n.Equal {
		if l, r := refs(c.Left), refs(c.Right); !l.within(left) || !r.within(right) {
			v.failf("an equality of a join is not over its sides: %s = %s", FormatExpr(c.Left), FormatExpr(c.Right))
		}
	}
}

func (v *verifier) exprs(n Node, cols []Col) {
	types := make(map[ColID]vec.Type, len(cols))
	for _, c := range cols {
		types[c.ID] = c.Type
	}
	visitExprs(n, func(e Expr) {
		walkExpr(e, func(e Expr) bool {
			switch e := e.(type) {
			case *ColumnRef:
				t, ok := types[e.ID]
				if !ok {
					v.failf("%T refers to %s#%d, which no input makes", n, e.Name, e.ID)
				}
				if !t.Equal(e.T) {
					v.failf("%T refers to %s#%d as %s instead of %s", n, e.Name, e.ID, e.T, t)
				}
			case *Subquery:
				v.failf("a subquery is left in a %T", n)
			case *Const:
				if e.Value.Type.ID == vec.Null && !e.Value.Null {
					v.failf("an untyped literal is left")
				}
			case *Compare:
				if !e.Left.Type().Equal(e.Right.Type()) {
					v.failf("%s compares %s with %s", FormatExpr(e), e.Left.Type(), e.Right.Type())
				}
			}
			return true
		})
	})
}
