package exec

import (
	"fmt"
	"strings"

	"github.com/tidemarkdb/tidemark/extension"
	"github.com/tidemarkdb/tidemark/plan"
)

// fingerprint returns a text that two expressions share only when they compute the same.
func fingerprint(e plan.Expr) string {
	var b strings.Builder
	writeFingerprint(&b, e)
	return b.String()
}

func writeFingerprint(b *strings.Builder, e plan.Expr) {
	switch e := e.(type) {
	case *plan.ColumnRef:
		fmt.Fprintf(b, "#%d", e.ID)
		return
	case *plan.Const:
		v := e.Value
		fmt.Fprintf(b, "%s:%t,%d,%d,%x,%q,%v,%v", v.Type, v.Null, v.I, v.Hi, v.F, v.S, v.Span, v.List)
		return
	case *plan.Call:
		fmt.Fprintf(b, "call %p %v %s", e.Bound.Func, e.Bound.Args, e.Bound.Result)
	case *plan.Cast:
		fmt.Fprintf(b, "cast %s %t", e.To, e.Try)
	case *plan.Compare:
		fmt.Fprintf(b, "cmp %d", e.Op)
	case *plan.IsNull:
		fmt.Fprintf(b, "isnull %t", e.Negate)
	case *plan.IsBool:
		fmt.Fprintf(b, "isbool %t %t", e.Want, e.Negate)
	case *plan.In:
		fmt.Fprintf(b, "in %t %v", e.Negate, e.List)
	case *plan.Field:
		fmt.Fprintf(b, "field %d", e.Index)
	case *plan.Case:
		fmt.Fprintf(b, "case %d %t %s", len(e.When), e.Else != nil, e.T)
	default:
		fmt.Fprintf(b, "%T %s", e, e.Type())
	}
	b.WriteByte('(')
	for _, k := range e.Children() {
		writeFingerprint(b, k)
		b.WriteByte(';')
	}
	b.WriteByte(')')
}

// deterministic reports whether e gives equal results for equal rows within a statement.
func deterministic(e plan.Expr) bool {
	if c, ok := e.(*plan.Call); ok && c.Bound.Func != nil && c.Bound.Func.Volatility == extension.Volatile {
		return false
	}
	for _, k := range e.Children() {
		if !deterministic(k) {
			return false
		}
	}
	return true
}

// dictColumn returns the place of the only column that e refers to, when e may be computed once for each entry of a
// dictionary in its stead: it is strict in the column and deterministic.
func (c *exprCompiler) dictColumn(e plan.Expr) (place int, ok bool) {
	if c.inDict || !deterministic(e) {
		return 0, false
	}
	col := onlyColumn(e, nil)
	if col == nil || !strictIn(e) {
		return 0, false
	}
	place, ok = c.l[col.ID]
	return place, ok
}

// onlyColumn returns the column that e refers to when it refers to one, found being what was seen so far.
func onlyColumn(e plan.Expr, found *plan.ColumnRef) *plan.ColumnRef {
	cols := map[plan.ColID]*plan.ColumnRef{}
	collectColumns(e, cols)
	if len(cols) != 1 {
		return nil
	}
	for _, c := range cols {
		found = c
	}
	return found
}

func collectColumns(e plan.Expr, into map[plan.ColID]*plan.ColumnRef) {
	if c, ok := e.(*plan.ColumnRef); ok {
		into[c.ID] = c
		return
	}
	for _, k := range e.Children() {
		collectColumns(k, into)
	}
}

// strictIn reports whether e, which refers to one column, is NULL wherever the column is.
func strictIn(e plan.Expr) bool {
	switch e := e.(type) {
	case *plan.ColumnRef:
		return true
	case *plan.Call:
		return e.Bound.Strict && anyStrict(e.Args)
	case *plan.Cast:
		return strictIn(e.Arg)
	case *plan.Compare:
		return e.Op != plan.Distinct && e.Op != plan.NotDistinct && anyStrict([]plan.Expr{e.Left, e.Right})
	case *plan.Not:
		return strictIn(e.Arg)
	case *plan.In:
		return strictIn(e.Arg)
	case *plan.Field:
		return strictIn(e.Arg)
	case *plan.And:
		return allStrict(e.Args)
	case *plan.Or:
		return allStrict(e.Args)
	}
	return false
}

func anyStrict(es []plan.Expr) bool {
	for _, e := range es {
		if strictIn(e) {
			return true
		}
	}
	return false
}

func allStrict(es []plan.Expr) bool {
	for _, e := range es {
		if !strictIn(e) {
			return false
		}
	}
	return true
}
