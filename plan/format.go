package plan

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/tidemarkdb/tidemark/vec"
)

var compareNames = [...]string{Eq: "=", Ne: "<>", Lt: "<", Le: "<=", Gt: ">", Ge: ">=",
	Distinct: "IS DISTINCT FROM", NotDistinct: "IS NOT DISTINCT FROM"}

// String returns the operator as SQL writes it.
func (op CompareOp) String() string { return compareNames[op] }

var joinNames = [...]string{Inner: "Inner", Left: "Left", Right: "Right", Full: "Full", Semi: "Semi", Anti: "Anti",
	Mark: "Mark", Single: "Single", Cross: "Cross"}

// String returns the kind's name.
func (k JoinKind) String() string { return joinNames[k] }

// FormatExpr returns e as text in the manner of SQL. Columns are written name#id.
func FormatExpr(e Expr) string {
	var p exprPrinter
	p.expr(e, 0)
	return p.b.String()
}

// The binding strengths, weakest first, by which parentheses are placed.
const (
	looseOr = iota + 1
	looseAnd
	looseNot
	looseCompare
	looseOperator
	tight
)

type exprPrinter struct{ b strings.Builder }

func (p *exprPrinter) open(strength, outer int) func() {
	if strength >= outer {
		return func() {}
	}
	p.b.WriteByte('(')
	return func() { p.b.WriteByte(')') }
}

func (p *exprPrinter) list(es []Expr, sep string, outer int) {
	for i, e := range es {
		if i > 0 {
			p.b.WriteString(sep)
		}
		p.expr(e, outer)
	}
}

func (p *exprPrinter) expr(e Expr, outer int) {
	switch e := e.(type) {
	case *ColumnRef:
		fmt.Fprintf(&p.b, "%s#%d", e.Name, e.ID)
	case *Const:
		p.b.WriteString(formatValue(e.Value))
	case *Param:
		fmt.Fprintf(&p.b, "$%d", e.Index)
	case *Call:
		p.call(e, outer)
	case *Cast:
		p.cast(e)
	case *Compare:
		defer p.open(looseCompare, outer)()
		p.expr(e.Left, looseOperator)
		p.b.WriteString(" " + e.Op.String() + " ")
		p.expr(e.Right, looseOperator)
	case *And:
		defer p.open(looseAnd, outer)()
		p.list(e.Args, " AND ", looseAnd+1)
	case *Or:
		defer p.open(looseOr, outer)()
		p.list(e.Args, " OR ", looseOr+1)
	case *Not:
		defer p.open(looseNot, outer)()
		p.b.WriteString("NOT ")
		p.expr(e.Arg, looseNot)
	case *IsNull:
		defer p.open(looseCompare, outer)()
		p.expr(e.Arg, looseOperator)
		p.b.WriteString(" IS" + negated(e.Negate) + " NULL")
	case *IsBool:
		defer p.open(looseCompare, outer)()
		p.expr(e.Arg, looseOperator)
		p.b.WriteString(" IS" + negated(e.Negate) + " " + strings.ToUpper(strconv.FormatBool(e.Want)))
	case *In:
		defer p.open(looseCompare, outer)()
		p.expr(e.Arg, looseOperator)
		p.b.WriteString(negated(e.Negate) + " IN (")
		for i, v := range e.List {
			if i > 0 {
				p.b.WriteString(", ")
			}
			p.b.WriteString(formatValue(v))
		}
		p.b.WriteByte(')')
	case *Case:
		p.caseWhen(e)
	case *Coalesce:
		p.function("COALESCE", e.Args)
	case *MakeArray:
		p.b.WriteString("ARRAY[")
		p.list(e.Args, ", ", 0)
		p.b.WriteByte(']')
	case *MakeStruct:
		p.function("ROW", e.Args)
	case *Field:
		p.expr(e.Arg, tight)
		p.b.WriteString("." + e.Arg.Type().Fields[e.Index].Name)
	case *Subquery:
		p.subquery(e)
	}
}

func negated(n bool) string {
	if n {
		return " NOT"
	}
	return ""
}

func (p *exprPrinter) function(name string, args []Expr) {
	p.b.WriteString(name + "(")
	p.list(args, ", ", 0)
	p.b.WriteByte(')')
}

func (p *exprPrinter) call(e *Call, outer int) {
	operator := isOperator(e.Name)
	switch {
	case operator && len(e.Args) == 2:
		defer p.open(looseOperator, outer)()
		left := tight
		if first, ok := e.Args[0].(*Call); ok && first.Name == e.Name {
			left = looseOperator
		}
		p.expr(e.Args[0], left)
		p.b.WriteString(" " + e.Name + " ")
		p.expr(e.Args[1], tight)
	case operator && len(e.Args) == 1:
		defer p.open(looseOperator, outer)()
		p.b.WriteString(e.Name + " ")
		p.expr(e.Args[0], tight)
	default:
		p.function(e.Name, e.Args)
	}
}

// isOperator reports a function named by a symbol.
func isOperator(name string) bool {
	return name != "" && !strings.ContainsAny(name[:1], "abcdefghijklmnopqrstuvwxyz_")
}

func (p *exprPrinter) cast(e *Cast) {
	if e.Try {
		p.b.WriteString("TRY_CAST(")
	} else {
		p.b.WriteString("CAST(")
	}
	p.expr(e.Arg, 0)
	p.b.WriteString(" AS " + e.To.String() + ")")
}

func (p *exprPrinter) caseWhen(e *Case) {
	p.b.WriteString("CASE")
	for i := range e.When {
		p.b.WriteString(" WHEN ")
		p.expr(e.When[i], 0)
		p.b.WriteString(" THEN ")
		p.expr(e.Then[i], 0)
	}
	if e.Else != nil {
		p.b.WriteString(" ELSE ")
		p.expr(e.Else, 0)
	}
	p.b.WriteString(" END")
}

var subqueryNames = [...]string{ScalarSubquery: "", Exists: "EXISTS", Any: "ANY", All: "ALL", ArraySubquery: "ARRAY"}

func (p *exprPrinter) subquery(e *Subquery) {
	if e.Negate {
		p.b.WriteString("NOT ")
	}
	if len(e.Args) > 0 {
		p.b.WriteByte('(')
		p.list(e.Args, ", ", 0)
		p.b.WriteString(") " + e.Op.String() + " ")
	}
	p.b.WriteString(subqueryNames[e.Kind] + "(subquery)")
}

// formatValue returns v as a literal; text of types other than numbers and booleans is quoted.
func formatValue(v vec.Value) string {
	if v.Null {
		return "NULL"
	}
	switch v.Type.ID {
	case vec.Bool:
		return strconv.FormatBool(v.I != 0)
	case vec.Int16, vec.Int32, vec.Int64:
		return strconv.FormatInt(v.I, 10)
	case vec.Float32, vec.Float64, vec.Decimal:
		return vec.Format(v)
	case vec.Text:
		return "'" + strings.ReplaceAll(v.S, "'", "''") + "'"
	}
	return v.Type.String() + " '" + vec.Format(v) + "'"
}
