package plan

import (
	"strings"

	"slices"

	"github.com/tidemarkdb/tidemark/function"
	"github.com/tidemarkdb/tidemark/sql"
	"github.com/tidemarkdb/tidemark/sqlerr"
	"github.com/tidemarkdb/tidemark/vec"
)

// exprBinder binds expressions of one clause.
type exprBinder struct {
	b      *binder
	scope  *scope
	clause string // for messages: "WHERE"
	// What the clause may contain beside scalars; nil or false forbids. block takes what is found.
	block        *block
	aggregates   bool
	windows      bool
	setReturning bool
	inAggregate  bool
	inWindow     bool
	aliases      map[string]Expr                 // select list aliases usable here, weaker than columns
	written      []sql.SelectItem                // the select list where it is not bound yet: its aliases are usable too
	columns      *Col                            // what COLUMNS stands for
	check        func(c Col, at *scope, pos int) // sees every column reference
}

// alias binds a name of the select list, nil when there is none.
func (x *exprBinder) alias(name string) Expr {
	if e := x.aliases[name]; e != nil {
		return e
	}
	for _, item := range x.written {
		if item.Alias.Name == name {
			inner := *x
			inner.written = nil // an alias does not stand on another
			return inner.expr(item.Expr)
		}
	}
	return nil
}

// expr binds e. Its type may still be unknown: see settle.
func (x *exprBinder) expr(e sql.Expr) Expr {
	switch e := e.(type) {
	case *sql.Column:
		return x.column(e)
	case *sql.Number:
		return x.b.number(e)
	case *sql.String:
		return unknownLiteral(e.Value)
	case *sql.BitString:
		fail(e.Pos, sqlerr.FeatureNotSupported, "bit strings are not supported")
	case *sql.Bool:
		return &Const{Value: vec.BoolValue(e.Value)}
	case *sql.Null:
		return &Const{Value: vec.NullValue(vec.NullType)}
	case *sql.TypedString:
		return x.cut(x.b.typedString(e), e.Type, e.Pos)
	case *sql.Param:
		return x.b.param(e)
	case *sql.Default:
		fail(e.Pos, sqlerr.SyntaxError, "DEFAULT is not allowed in this context")
	case *sql.Star:
		return x.starRow(e)
	case *sql.Unary:
		return x.unary(e)
	case *sql.Binary:
		return x.binary(e)
	case *sql.Logic:
		return x.logic(e)
	case *sql.IsTest:
		return x.isTest(e)
	case *sql.IsDistinct:
		op := Distinct
		if e.Not {
			op = NotDistinct
		}
		return x.compareExprs(op, e.Left, e.Right, e.Pos)
	case *sql.Between:
		return x.between(e)
	case *sql.InList:
		return x.inList(e)
	case *sql.InQuery:
		return x.quantifiedQuery(Any, Eq, "=", e.Operand, e.Query, e.Not, e.Pos)
	case *sql.Like:
		return x.like(e)
	case *sql.Quantified:
		return x.quantified(e)
	case *sql.Exists:
		return &Subquery{Kind: Exists, Plan: x.subquery(e.Query).node, T: vec.BoolType}
	case *sql.Subquery:
		return x.scalarSubquery(e)
	case *sql.ArrayQuery:
		r := x.oneColumn(e.Query, e.Pos)
		return &Subquery{Kind: ArraySubquery, Plan: r.node, T: vec.ArrayType(r.cols()[0].Type)}
	case *sql.Array:
		return x.array(e)
	case *sql.Struct:
		return x.structLiteral(e)
	case *sql.Row:
		args := x.exprs(e.Elems)
		for i, a := range args {
			args[i] = x.b.settle(a)
		}
		return makeStruct(args, rowNames(len(args)))
	case *sql.Case:
		return x.caseExpr(e)
	case *sql.Cast:
		return x.cast(e)
	case *sql.Collate:
		return x.collate(e)
	case *sql.Subscript:
		return x.subscript(e)
	case *sql.Slice:
		return x.slice(e)
	case *sql.Field:
		return x.field(x.expr(e.Operand), e.Name)
	case *sql.FuncCall:
		return x.call(e)
	case nil:
		panic(internalf("missing expression"))
	}
	fail(e.Position(), sqlerr.FeatureNotSupported, "%T is not supported", e)
	return nil
}

func (x *exprBinder) exprs(es []sql.Expr) []Expr {
	out := make([]Expr, len(es))
	for i, e := range es {
		out[i] = x.expr(e)
	}
	return out
}

// value binds e and gives an untyped literal its default type, TEXT.
func (x *exprBinder) value(e sql.Expr) Expr { return x.b.settle(x.expr(e)) }

// condition binds e as BOOLEAN.
func (x *exprBinder) condition(e sql.Expr) Expr { return x.boolean(x.expr(e), x.clause, e.Position()) }

func (x *exprBinder) boolean(e Expr, what string, pos int) Expr {
	if unknown(e) || e.Type().ID == vec.Bool {
		return x.b.coerce(e, vec.BoolType, pos)
	}
	failHint(pos, sqlerr.DatatypeMismatch, "compare it with a value to get a BOOLEAN",
		"argument of %s must be type boolean, not type %s", what, e.Type())
	return nil
}

func (x *exprBinder) logic(e *sql.Logic) Expr {
	name := "AND"
	if e.Or {
		name = "OR"
	}
	args := make([]Expr, 0, len(e.Args))
	for _, a := range e.Args {
		args = append(args, x.boolean(x.expr(a), name, a.Position()))
	}
	if e.Or {
		return &Or{Args: args}
	}
	return &And{Args: args}
}

func (x *exprBinder) isTest(e *sql.IsTest) Expr {
	if row, ok := e.Operand.(*sql.Row); ok && e.Test == sql.IsNull {
		return x.rowIsNull(row, e.Not)
	}
	arg := x.expr(e.Operand)
	if e.Test == sql.IsNull {
		if cols := x.b.wholeRows[arg]; cols != nil {
			return allNull(cols, e.Not)
		}
		return &IsNull{Arg: x.b.settle(arg), Negate: e.Not}
	}
	arg = x.boolean(arg, "IS", e.Pos)
	if e.Test == sql.IsUnknown {
		return &IsNull{Arg: arg, Negate: e.Not}
	}
	return &IsBool{Arg: arg, Want: e.Test == sql.IsTrue, Negate: e.Not}
}

func (x *exprBinder) between(e *sql.Between) Expr {
	v, low, high := x.expr(e.Operand), x.expr(e.Low), x.expr(e.High)
	within := func(low, high Expr) Expr {
		return &And{Args: []Expr{x.compare(Ge, v, low, e.Pos), x.compare(Le, v, high, e.Pos)}}
	}
	out := within(low, high)
	if e.Symmetric {
		out = &Or{Args: []Expr{out, within(high, low)}}
	}
	return negateIf(e.Not, out)
}

var compareSymbols = map[string]CompareOp{"=": Eq, "<>": Ne, "!=": Ne, "<": Lt, "<=": Le, ">": Gt, ">=": Ge}

func (x *exprBinder) binary(e *sql.Binary) Expr {
	if op, ok := compareSymbols[e.Op]; ok {
		return x.compareExprs(op, e.Left, e.Right, e.Pos)
	}
	l, r := x.expr(e.Left), x.expr(e.Right)
	if e.Op == "||" {
		l, r = x.textBeside(l, r), x.textBeside(r, l)
	}
	return x.scalar(e.Op, []Expr{l, r}, e.Pos)
}

// textBeside makes TEXT of an untyped literal that || joins to JSON, unless it is an object or array to unite with it.
func (x *exprBinder) textBeside(e, other Expr) Expr {
	c, ok := e.(*Const)
	if ok && unknown(e) && !unknown(other) && other.Type().ID == vec.JSON && !c.Value.Null && !function.IsJSONContainer(c.Value.S) {
		return x.b.settle(e)
	}
	return e
}

func (x *exprBinder) unary(e *sql.Unary) Expr {
	switch e.Op {
	case "NOT", "not":
		return x.not(e)
	case "-":
		if n, ok := negatedNumber(e); ok {
			return x.b.number(n)
		}
	case "+":
		if n, ok := e.Operand.(*sql.Number); ok {
			return x.b.number(n)
		}
		if arg := x.expr(e.Operand); arg.Type().IsNumeric() {
			return arg
		}
	}
	return x.scalar(e.Op, []Expr{x.expr(e.Operand)}, e.Pos)
}

// negatedNumber is the literal that minus signs make of another one: its type is that of the result.
func negatedNumber(e *sql.Unary) (*sql.Number, bool) {
	n, ok := e.Operand.(*sql.Number)
	if inner, unary := e.Operand.(*sql.Unary); unary && inner.Op == "-" {
		n, ok = negatedNumber(inner)
	}
	if !ok {
		return nil, false
	}
	text, negative := strings.CutPrefix(n.Text, "-")
	if !negative {
		text = "-" + text
	}
	return &sql.Number{Text: text, Pos: n.Pos}, true
}

func (x *exprBinder) not(e *sql.Unary) Expr {
	arg := x.boolean(x.expr(e.Operand), "NOT", e.Pos)
	if s, ok := arg.(*Subquery); ok && s.Kind != ScalarSubquery {
		n := *s
		n.Negate = !n.Negate
		return &n
	}
	return &Not{Arg: arg}
}

func (x *exprBinder) caseExpr(e *sql.Case) Expr {
	out := &Case{}
	var operand Expr
	if e.Operand != nil {
		operand = x.expr(e.Operand)
	}
	for _, w := range e.Whens {
		if operand == nil {
			out.When = append(out.When, x.boolean(x.expr(w.Cond), "CASE/WHEN", w.Cond.Position()))
		} else {
			out.When = append(out.When, x.compare(Eq, operand, x.expr(w.Cond), w.Cond.Position()))
		}
		out.Then = append(out.Then, x.expr(w.Result))
	}
	results := slices.Clone(out.Then)
	if e.Else != nil {
		out.Else = x.expr(e.Else)
		results = append(results, out.Else)
	}
	out.T = x.b.commonType("CASE", results, e.Pos)
	for i := range out.Then {
		out.Then[i] = x.b.coerce(out.Then[i], out.T, e.Pos)
	}
	if out.Else != nil {
		out.Else = x.b.coerce(out.Else, out.T, e.Pos)
	}
	return out
}

func (x *exprBinder) array(e *sql.Array) Expr { return x.arrayOf(x.exprs(e.Elems), e.Pos) }

func (x *exprBinder) arrayOf(args []Expr, pos int) Expr {
	if len(args) == 0 {
		return &MakeArray{T: vec.ArrayType(vec.NullType)}
	}
	t := x.b.commonType("ARRAY", args, pos)
	for i := range args {
		args[i] = x.b.coerce(args[i], t, pos)
	}
	return &MakeArray{Args: args, T: vec.ArrayType(t)}
}

func (x *exprBinder) structLiteral(e *sql.Struct) Expr {
	args := make([]Expr, len(e.Fields))
	names := make([]string, len(e.Fields))
	for i, f := range e.Fields {
		args[i], names[i] = x.value(f.Value), f.Name.Name
	}
	return makeStruct(args, names)
}

func makeStruct(args []Expr, names []string) Expr {
	fields := make([]vec.Field, len(args))
	for i, a := range args {
		fields[i] = vec.Field{Name: names[i], Type: a.Type()}
	}
	return &MakeStruct{Args: args, T: vec.StructType(fields...)}
}

// field takes a field of a struct by name.
func (x *exprBinder) field(e Expr, name sql.Ident) Expr {
	t := e.Type()
	if t.ID != vec.Struct {
		failHint(name.Pos, sqlerr.WrongObjectType, "only a value of a struct type has fields",
			"column notation .%s applied to type %s, which is not a composite type", name.Name, t)
	}
	var names []string
	for i, f := range t.Fields {
		if f.Name == name.Name {
			return &Field{Arg: e, Index: i}
		}
		names = append(names, f.Name)
	}
	err := sqlerr.New(sqlerr.UndefinedColumn, "field %q does not exist in %s", name.Name, t)
	if near := sqlerr.Nearest(name.Name, names); near != "" {
		err = err.Hintf("did you mean %q?", near)
	}
	panic(fault{err.At(name.Pos)})
}

var knownCollations = map[string]bool{"c": true, "posix": true, "default": true, "ucs_basic": true, "c.utf8": true, "c.utf-8": true}

func (x *exprBinder) collate(e *sql.Collate) Expr {
	name := e.Collation.Last()
	if !knownCollations[lowerASCII(name.Name)] {
		failHint(e.Pos, sqlerr.UndefinedObject, `text is ordered by its bytes; use COLLATE "C"`,
			"collation %q does not exist", name.Name)
	}
	arg := x.value(e.Operand)
	if arg.Type().ID != vec.Text {
		fail(e.Pos, sqlerr.DatatypeMismatch, "collations are not supported by type %s", arg.Type())
	}
	return arg
}
