package plan

import (
	"math"
	"slices"

	"github.com/tidemarkdb/tidemark/extension"
	"github.com/tidemarkdb/tidemark/function"
	"github.com/tidemarkdb/tidemark/sql"
	"github.com/tidemarkdb/tidemark/sqlerr"
	"github.com/tidemarkdb/tidemark/vec"
)

// scalar resolves a call of a scalar function or operator and casts its arguments.
func (x *exprBinder) scalar(name string, args []Expr, pos int) Expr {
	bound, err := x.b.functions.ResolveScalar(name, x.b.arguments(args))
	check(err, pos)
	return &Call{Bound: bound, Name: name, Args: x.b.castArgs(args, bound.Args, pos)}
}

func (b *binder) castArgs(args []Expr, types []vec.Type, pos int) []Expr {
	out := make([]Expr, len(args))
	for i, a := range args {
		out[i] = b.coerce(a, types[i], pos)
	}
	return out
}

// call binds a function call of any kind.
func (x *exprBinder) call(e *sql.FuncCall) Expr {
	name := x.functionName(e)
	switch {
	case x.columns != nil && name == "columns":
		return x.ref(*x.columns, x.scope, e.Pos)
	case e.Over != nil:
		return x.windowCall(name, e)
	case e.WithinGroup && hypothetical[name] != nil:
		return x.hypotheticalCall(name, e)
	case name == "grouping":
		return x.groupingCall(e)
	case x.b.functions.Aggregate(name) != nil:
		return x.aggregateCall(name, e)
	case x.b.functions.Scalar(name) == nil && special[name] == nil:
		return x.otherCall(name, e)
	}
	x.plainOnly(name, e)
	if bind := special[name]; bind != nil {
		return bind(x, e)
	}
	return x.scalar(name, x.positional(e), e.Pos)
}

// otherCall binds what is neither scalar nor aggregate: a set-returning function, or an error.
func (x *exprBinder) otherCall(name string, e *sql.FuncCall) Expr {
	if x.b.functions.Window(name) != nil {
		failHint(e.Pos, sqlerr.WrongObjectType, "add OVER (...)", "window function %s requires an OVER clause", name)
	}
	if x.b.functions.Table(name) != nil {
		x.plainOnly(name, e)
		return x.setReturningCall(name, e)
	}
	return x.scalar(name, x.positional(e), e.Pos)
}

func (x *exprBinder) functionName(e *sql.FuncCall) string {
	if len(e.Name) > 1 {
		if s := e.Name[0].Name; s != "pg_catalog" && s != "information_schema" && s != "main" && s != "public" {
			failHint(e.Pos, sqlerr.InvalidSchema, "functions need no schema", "schema %q does not exist", s)
		}
	}
	return lowerASCII(e.Name.Last().Name)
}

func (x *exprBinder) positional(e *sql.FuncCall) []Expr {
	args := make([]Expr, 0, len(e.Args))
	for _, a := range e.Args {
		if a.Name.Name != "" {
			failHint(a.Name.Pos, sqlerr.FeatureNotSupported, "give the arguments in order",
				"function %s takes no argument by name", e.Name.Last().Name)
		}
		v := x.expr(a.Value)
		if a.Variadic {
			if elems, ok := x.b.elements(v, vec.NullType); ok {
				args = append(args, elems...)
				continue
			}
			fail(e.Pos, sqlerr.FeatureNotSupported, "VARIADIC needs an array that is written out")
		}
		args = append(args, v)
	}
	return args
}

// plainOnly refuses the clauses of aggregates on another function.
func (x *exprBinder) plainOnly(name string, e *sql.FuncCall) {
	clause := ""
	switch {
	case e.Distinct:
		clause = "DISTINCT"
	case e.Filter != nil:
		clause = "FILTER"
	case e.WithinGroup:
		clause = "WITHIN GROUP"
	case len(e.OrderBy) > 0:
		clause = "ORDER BY"
	case e.Star:
		clause = "(*)"
	default:
		return
	}
	failHint(e.Pos, sqlerr.WrongObjectType, "only aggregate functions take it",
		"%s specified, but %s is not an aggregate function", clause, name)
}

// special are the calls that are expressions of their own, since they evaluate arguments only where needed or are
// known to the rules.
var special map[string]func(*exprBinder, *sql.FuncCall) Expr

func init() {
	special = map[string]func(*exprBinder, *sql.FuncCall) Expr{
		"coalesce": bindCoalesce, "ifnull": bindCoalesce, "nullif": bindNullif, "row": bindRow, "struct_pack": bindStructPack,
		"list_value": bindListValue, "list_pack": bindListValue,
		"if": bindIf, "iff": bindIf, "trunc": bindTrunc, "overlaps": bindOverlaps, "greatest": bindGreatest, "least": bindLeast,
	}
}

// bindListValue binds DuckDB's list_value as an array.
func bindListValue(x *exprBinder, e *sql.FuncCall) Expr {
	return x.arrayOf(x.positional(e), e.Pos)
}

func bindCoalesce(x *exprBinder, e *sql.FuncCall) Expr {
	args := x.positional(e)
	if len(args) == 0 {
		fail(e.Pos, sqlerr.SyntaxError, "COALESCE needs an argument")
	}
	t := x.b.commonType("COALESCE", args, e.Pos)
	args = x.b.castArgs(args, slices.Repeat([]vec.Type{t}, len(args)), e.Pos)
	if len(args) == 1 {
		return args[0]
	}
	return &Coalesce{Args: args, T: t}
}

func bindNullif(x *exprBinder, e *sql.FuncCall) Expr {
	args := x.positional(e)
	if len(args) != 2 {
		fail(e.Pos, sqlerr.SyntaxError, "NULLIF takes two arguments")
	}
	equal := x.compare(Eq, args[0], args[1], e.Pos)
	value := args[0]
	if unknown(value) {
		value = equal.(*Compare).Left
	}
	t := value.Type()
	return &Case{When: []Expr{equal}, Then: []Expr{&Const{Value: vec.NullValue(t)}}, Else: value, T: t}
}

// bindTrunc refuses a literal without a type: PostgreSQL has trunc of types that are no numbers, so that it cannot tell.
func bindTrunc(x *exprBinder, e *sql.FuncCall) Expr {
	args := x.positional(e)
	if len(args) == 1 && unknown(args[0]) {
		failHint(e.Pos, sqlerr.AmbiguousFunction, "cast the argument", "function trunc(unknown) is not unique")
	}
	return x.scalar("trunc", args, e.Pos)
}

func bindIf(x *exprBinder, e *sql.FuncCall) Expr {
	args := x.positional(e)
	if len(args) != 3 {
		fail(e.Pos, sqlerr.SyntaxError, "%s takes a condition and two values", e.Name.Last().Name)
	}
	t := x.b.commonType("IF", args[1:], e.Pos)
	return &Case{When: []Expr{x.boolean(args[0], "IF", e.Pos)}, Then: []Expr{x.b.coerce(args[1], t, e.Pos)},
		Else: x.b.coerce(args[2], t, e.Pos), T: t}
}

func bindRow(x *exprBinder, e *sql.FuncCall) Expr {
	args := x.positional(e)
	for i, a := range args {
		args[i] = x.b.settle(a)
	}
	return makeStruct(args, rowNames(len(args)))
}

func bindStructPack(x *exprBinder, e *sql.FuncCall) Expr {
	var args []Expr
	var names []string
	for _, a := range e.Args {
		args, names = append(args, x.value(a.Value)), append(names, a.Name.Name)
	}
	return makeStruct(args, names)
}

// cast binds CAST and ::.
func (x *exprBinder) cast(e *sql.Cast) Expr {
	if out, ok := x.regCast(e); ok {
		return out
	}
	t := x.b.typeOf(e.Type, e.Pos)
	out := x.castTo(x.expr(e.Operand), t, e)
	if r, ok := narrowRanges[e.Type.Name]; ok && len(e.Type.Dims) == 0 {
		return x.narrow(out, r, e)
	}
	if e.Try && out.Type().ID == vec.Text {
		return out
	}
	return x.cut(out, e.Type, e.Pos)
}

// cut keeps as many characters as VARCHAR(n) and CHAR(n) say, and as many digits of seconds as TIMESTAMP(n) and the like.
func (x *exprBinder) cut(value Expr, n sql.TypeName, pos int) Expr {
	length := func(n int) Expr { return &Const{Value: vec.IntValue(vec.Int32Type, int64(n))} }
	if limit := lengthLimit(n); limit > 0 && x.b.functions.Scalar("left") != nil {
		return x.scalar("left", []Expr{value, length(limit)}, pos)
	}
	switch value.Type().ID {
	case vec.JSON:
		if n.Name == "jsonb" && len(n.Dims) == 0 {
			return x.scalar("jsonb", []Expr{value}, pos)
		}
	case vec.Timestamp, vec.TimestampTZ, vec.Time, vec.TimeTZ, vec.Interval:
		if len(n.Args) == 1 && n.Args[0] < 6 && len(n.Dims) == 0 {
			return x.scalar("round_seconds", []Expr{value, length(n.Args[0])}, pos)
		}
	}
	return value
}

// narrowRanges are the values of types that a wider one stands for.
var narrowRanges = map[string][2]int64{"tinyint": {math.MinInt8, math.MaxInt8}, "int1": {math.MinInt8, math.MaxInt8},
	"utinyint": {0, math.MaxUint8}, "usmallint": {0, math.MaxUint16}, "uinteger": {0, math.MaxUint32}}

// NarrowRange returns the values of a type that a wider one stands for; ok is false for other types.
func NarrowRange(t sql.TypeName) (low, high int64, ok bool) {
	r, ok := narrowRanges[t.Name]
	return r[0], r[1], ok && len(t.Dims) == 0
}

// narrow refuses values outside a range; TRY_CAST makes them NULL.
func (x *exprBinder) narrow(value Expr, r [2]int64, e *sql.Cast) Expr {
	t := value.Type()
	low, high := intConst(r[0]), intConst(r[1])
	if e.Try {
		wide := castTo(value, vec.Int64Type)
		inside := &And{Args: []Expr{&Compare{Op: Ge, Left: wide, Right: low}, &Compare{Op: Le, Left: wide, Right: high}}}
		return &Case{When: []Expr{inside}, Then: []Expr{value}, Else: &Const{Value: vec.NullValue(t)}, T: t}
	}
	name := &Const{Value: vec.StringValue(vec.TextType, e.Type.Name)}
	return castTo(x.scalar("within_type", []Expr{castTo(value, vec.Int64Type), low, high, name}, e.Pos), t)
}

func (x *exprBinder) castTo(arg Expr, t vec.Type, e *sql.Cast) Expr {
	if isPlainNumeric(e.Type) {
		t = decimalFor(x.b.argument(arg))
	}
	if unknown(arg) && !e.Try {
		if iv := e.Type.Interval; iv != "" {
			if c, ok := arg.(*Const); ok && !c.Value.Null {
				return x.b.parse(t, intervalText(c.Value.S, iv, e.Pos), e.Pos)
			}
		}
		return x.b.coerce(arg, t, e.Pos)
	}
	arg = x.b.settle(arg)
	if m, ok := arg.(*MakeArray); ok && t.ID == vec.Array && !e.Try {
		out := &MakeArray{T: t}
		for _, a := range m.Args {
			out.Args = append(out.Args, x.castTo(a, *t.Elem, &sql.Cast{Pos: e.Pos}))
		}
		return out
	}
	if arg.Type().Equal(t) {
		return arg
	}
	if function.CastLevel(arg.Type(), t) == function.NoCast {
		failHint(e.Pos, sqlerr.CannotCoerce, "cast to TEXT first, or compute the value with a function",
			"cannot cast type %s to %s", arg.Type(), t)
	}
	if c, ok := arg.(*Const); ok {
		if v, ok := widen(c.Value, t); ok {
			return &Const{Value: v}
		}
	}
	return &Cast{Arg: arg, To: t, Try: e.Try}
}

func isPlainNumeric(n sql.TypeName) bool {
	return (n.Name == "numeric" || n.Name == "decimal") && len(n.Args) == 0 && len(n.Dims) == 0
}

// decimalFor is what a cast to NUMERIC without parameters gives: a NUMERIC that holds the argument.
func decimalFor(a extension.Argument) vec.Type {
	if a.Type.IsInteger() || a.Type.ID == vec.Decimal || a.Literal && a.Const != nil && !a.Const.Null {
		return extension.DecimalOf(a)
	}
	return defaultDecimal
}

func rowNames(n int) []string {
	names := make([]string, n)
	for i := range names {
		names[i] = "f" + itoa(i+1)
	}
	return names
}
