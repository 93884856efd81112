package sql

import (
	"strconv"
	"strings"
)

func itoa(n int) string { return strconv.Itoa(n) }

// precedenceOf is how tightly the outermost operator of e binds.
func precedenceOf(e Expr) precedence {
	switch e := e.(type) {
	case *Logic:
		if e.Or {
			return precOr
		}
		return precAnd
	case *Unary:
		switch e.Op {
		case "NOT":
			return precNot
		case "-", "+":
			return precSign
		}
		return precOperator
	case *Binary:
		return symbolPrecedence(e.Op)
	case *Quantified:
		if strings.HasSuffix(e.Op, "LIKE") {
			return precRange
		}
		return symbolPrecedence(e.Op)
	case *IsTest, *IsDistinct:
		return precIs
	case *Between, *InList, *InQuery, *Like:
		return precRange
	case *Collate:
		return precCollate
	case *Lambda:
		return precLowest
	case *Subscript, *Slice, *Field:
		return precPostfix
	case *Star:
		if e.Operand != nil {
			return precPostfix
		}
	}
	return precPrimary
}

// expr puts e, in parentheses when it binds less tightly than min.
func (pr *printer) expr(e Expr, min precedence) {
	if precedenceOf(e) < min {
		pr.put("(")
		pr.bare(e)
		pr.put(")")
		return
	}
	pr.bare(e)
}

func (pr *printer) bare(e Expr) {
	switch e := e.(type) {
	case *Column:
		pr.name(e.Name)
	case *Star:
		pr.star(e)
	case *Number:
		pr.put(e.Text)
	case *String:
		pr.string(e.Value)
	case *BitString:
		if e.Hex {
			pr.put("X")
		} else {
			pr.put("B")
		}
		pr.string(e.Digits)
	case *Bool:
		pr.put(strings.ToUpper(strconv.FormatBool(e.Value)))
	case *Null:
		pr.put("NULL")
	case *TypedString:
		pr.typedString(e)
	case *Param:
		pr.put("$", itoa(e.Index))
	case *Default:
		pr.put("DEFAULT")
	case *Exists:
		pr.put("EXISTS ")
		pr.parens(e.Query)
	case *Subquery:
		pr.parens(e.Query)
	case *ArrayQuery:
		pr.put("ARRAY")
		pr.parens(e.Query)
	case *Array:
		pr.put("ARRAY[")
		pr.exprs(e.Elems)
		pr.put("]")
	case *Struct:
		pr.structLiteral(e)
	case *Row:
		pr.put("ROW(")
		pr.exprs(e.Elems)
		pr.put(")")
	case *Case:
		pr.caseExpr(e)
	case *Cast:
		pr.cast(e)
	case *FuncCall:
		pr.call(e)
	default:
		pr.operator(e)
	}
}

func (pr *printer) operator(e Expr) {
	switch e := e.(type) {
	case *Unary:
		pr.unary(e)
	case *Binary:
		prec := precedenceOf(e)
		left := prec
		if prec == precComparison {
			left++
		}
		pr.expr(e.Left, left)
		pr.put(" ", e.Op, " ")
		pr.expr(e.Right, prec+1)
	case *Logic:
		word, prec := " AND ", precAnd
		if e.Or {
			word, prec = " OR ", precOr
		}
		for i, a := range e.Args {
			pr.when(i > 0, word)
			pr.expr(a, prec+1)
		}
	case *Quantified:
		pr.expr(e.Left, precedenceOf(e)+1)
		pr.put(" ", e.Op)
		if e.All {
			pr.put(" ALL ")
		} else {
			pr.put(" ANY ")
		}
		if e.Query != nil {
			pr.parens(e.Query)
		} else {
			pr.put("(")
			pr.expr(e.Array, precLowest)
			pr.put(")")
		}
	case *Lambda:
		pr.put("(")
		pr.commas(len(e.Params), func(i int) { pr.ident(e.Params[i]) })
		pr.put(") -> ")
		pr.expr(e.Body, precLowest)
	case *Collate:
		pr.expr(e.Operand, precCollate)
		pr.put(" COLLATE ")
		pr.name(e.Collation)
	case *Subscript:
		pr.expr(e.Operand, precPostfix)
		pr.put("[")
		pr.expr(e.Index, precLowest)
		pr.put("]")
	case *Slice:
		pr.expr(e.Operand, precPostfix)
		pr.put("[")
		pr.clause("", e.Low)
		pr.put(":")
		pr.clause("", e.High)
		pr.put("]")
	case *Field:
		pr.put("(")
		pr.expr(e.Operand, precLowest)
		pr.put(").")
		pr.label(e.Name)
	default:
		pr.test(e)
	}
}

func (pr *printer) unary(e *Unary) {
	switch prec := precedenceOf(e); prec {
	case precNot:
		pr.put("NOT ")
		pr.expr(e.Operand, precNot)
	default:
		pr.put(e.Op)
		if inner, ok := e.Operand.(*Unary); ok && precedenceOf(inner) == prec {
			pr.put(" ") // two signs side by side begin a comment, and brackets would count as nesting
			pr.bare(inner)
			return
		}
		pr.when(prec == precOperator, " ")
		pr.expr(e.Operand, prec+1)
	}
}

func not(b bool) string {
	if b {
		return " NOT"
	}
	return ""
}

func (pr *printer) test(e Expr) {
	switch e := e.(type) {
	case *IsTest:
		pr.expr(e.Operand, precIs+1)
		pr.put(" IS", not(e.Not), [...]string{" NULL", " TRUE", " FALSE", " UNKNOWN"}[e.Test])
	case *IsDistinct:
		pr.expr(e.Left, precIs+1)
		pr.put(" IS", not(e.Not), " DISTINCT FROM ")
		pr.expr(e.Right, precIs+1)
	case *Between:
		pr.expr(e.Operand, precRange+1)
		pr.put(not(e.Not), " BETWEEN ")
		pr.when(e.Symmetric, "SYMMETRIC ")
		pr.expr(e.Low, precRange+1)
		pr.put(" AND ")
		pr.expr(e.High, precRange+1)
	case *InList:
		pr.expr(e.Operand, precRange+1)
		pr.put(not(e.Not), " IN (")
		pr.exprs(e.List)
		pr.put(")")
	case *InQuery:
		pr.expr(e.Operand, precRange+1)
		pr.put(not(e.Not), " IN ")
		pr.parens(e.Query)
	case *Like:
		pr.expr(e.Operand, precRange+1)
		pr.put(not(e.Not), [...]string{" LIKE ", " ILIKE ", " SIMILAR TO "}[e.Kind])
		pr.expr(e.Pattern, precRange+1)
		if e.Escape != nil {
			pr.put(" ESCAPE ")
			pr.expr(e.Escape, precRange+1)
		}
	}
}

func (pr *printer) star(s *Star) {
	if s.Operand != nil {
		pr.put("(")
		pr.expr(s.Operand, precLowest)
		pr.put(").")
	} else if len(s.Qualifier) > 0 {
		pr.name(s.Qualifier)
		pr.put(".")
	}
	pr.put("*")
	if len(s.Exclude) > 0 {
		pr.put(" EXCLUDE (")
		pr.names(s.Exclude)
		pr.put(")")
	}
	if len(s.Replace) > 0 {
		pr.put(" REPLACE (")
		pr.items(s.Replace)
		pr.put(")")
	}
	if len(s.Rename) > 0 {
		pr.put(" RENAME (")
		pr.commas(len(s.Rename), func(i int) {
			pr.name(s.Rename[i].Column)
			pr.put(" AS ")
			pr.label(s.Rename[i].To)
		})
		pr.put(")")
	}
}

func (pr *printer) typedString(e *TypedString) {
	typ := e.Type
	if typ.Name != "interval" || typ.Interval == "" {
		pr.typeName(typ)
		pr.put(" ")
		pr.string(e.Value)
		return
	}
	pr.put("interval ")
	pr.string(e.Value)
	pr.put(" ", typ.Interval)
	if len(typ.Args) > 0 {
		pr.put("(", itoa(typ.Args[0]), ")")
	}
}

func (pr *printer) structLiteral(e *Struct) {
	pr.put("{")
	pr.commas(len(e.Fields), func(i int) {
		pr.label(e.Fields[i].Name)
		pr.put(": ")
		pr.expr(e.Fields[i].Value, precLowest)
	})
	pr.put("}")
}

func (pr *printer) caseExpr(e *Case) {
	pr.put("CASE")
	pr.clause(" ", e.Operand)
	for _, w := range e.Whens {
		pr.put(" WHEN ")
		pr.expr(w.Cond, precLowest)
		pr.put(" THEN ")
		pr.expr(w.Result, precLowest)
	}
	pr.clause(" ELSE ", e.Else)
	pr.put(" END")
}
