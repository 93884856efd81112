package plan

import (
	"strconv"
	"strings"

	"github.com/tidemarkdb/tidemark/extension"
	"github.com/tidemarkdb/tidemark/function"
	"github.com/tidemarkdb/tidemark/sql"
	"github.com/tidemarkdb/tidemark/sqlerr"
	"github.com/tidemarkdb/tidemark/vec"
)

// unknownLiteral is a string literal whose type the context decides. Until then its type is NullType.
func unknownLiteral(s string) Expr {
	return &Const{Value: vec.Value{Type: vec.NullType, S: s}}
}

// unknown reports an untyped string literal, NULL or parameter.
func unknown(e Expr) bool {
	switch e.(type) {
	case *Const, *Param:
		return e.Type().ID == vec.Null
	}
	return false
}

// number binds a numeric literal as PostgreSQL does: the first of INTEGER, BIGINT and NUMERIC that holds it. One with
// more digits than NUMERIC holds is DOUBLE PRECISION.
func (b *binder) number(e *sql.Number) Expr {
	text, negative := strings.CutPrefix(e.Text, "-")
	if base, digits := radix(text); base != 10 {
		n, err := strconv.ParseUint(digits, base, 63)
		if err != nil {
			fail(e.Pos, sqlerr.NumericOutOfRange, "%s is out of range for type bigint", e.Text)
		}
		return integerConst(int64(n), negative)
	}
	if n, err := strconv.ParseInt(e.Text, 10, 64); err == nil {
		return integerConst(n, false)
	}
	if x, t, ok := vec.ParseDecimal(e.Text); ok {
		return &Const{Value: decimalValue(t, x)}
	}
	f, err := strconv.ParseFloat(e.Text, 64)
	if err != nil {
		fail(e.Pos, sqlerr.NumericOutOfRange, "%s is out of range for type double precision", e.Text)
	}
	return &Const{Value: vec.FloatValue(vec.Float64Type, f)}
}

func decimalValue(t vec.Type, x vec.Int128) vec.Value {
	if t.Phys() == vec.PhysInt128 {
		return vec.Int128Value(t, x)
	}
	return vec.IntValue(t, int64(x.Lo))
}

func radix(text string) (int, string) {
	if len(text) > 2 && text[0] == '0' {
		switch text[1] {
		case 'x', 'X':
			return 16, text[2:]
		case 'o', 'O':
			return 8, text[2:]
		case 'b', 'B':
			return 2, text[2:]
		}
	}
	return 10, text
}

func integerConst(n int64, negate bool) Expr {
	if negate {
		n = -n
	}
	if n == int64(int32(n)) {
		return &Const{Value: vec.IntValue(vec.Int32Type, n)}
	}
	return &Const{Value: vec.IntValue(vec.Int64Type, n)}
}

// typedString binds DATE '...' and the like.
func (b *binder) typedString(e *sql.TypedString) Expr {
	t := b.typeOf(e.Type, e.Pos)
	text := e.Value
	if e.Type.Interval != "" {
		text = intervalText(text, e.Type.Interval, e.Pos)
	}
	out := b.parse(t, text, e.Pos)
	if r, ok := narrowRanges[e.Type.Name]; ok {
		if c, ok := out.(*Const); ok && (c.Value.I < r[0] || c.Value.I > r[1]) {
			fail(e.Pos, sqlerr.NumericOutOfRange, "%s out of range", e.Type.Name)
		}
	}
	return out
}

// intervalText gives a bare number of INTERVAL '1' DAY its unit.
func intervalText(text, fields string, pos int) string {
	if _, err := strconv.ParseFloat(strings.TrimSpace(text), 64); err != nil {
		return text
	}
	unit := fields
	if i := strings.LastIndex(fields, " to "); i >= 0 {
		unit = fields[i+len(" to "):]
	}
	if i := strings.IndexByte(unit, '('); i >= 0 {
		unit = strings.TrimSpace(unit[:i])
	}
	return strings.TrimSpace(text) + " " + unit
}

// parse makes a constant of t from its text form.
func (b *binder) parse(t vec.Type, text string, pos int) Expr {
	v, err := vec.ParseAt(t, text, b.eval.Zone, b.eval.Now)
	check(err, pos)
	v.Type = t
	return &Const{Value: v}
}

// param binds $n; its type is the declared one, else what its first use asks for.
func (b *binder) param(e *sql.Param) Expr {
	if e.Index < 1 || e.Index > 65535 {
		fail(e.Pos, sqlerr.UndefinedParameter, "there is no parameter $%d", e.Index)
	}
	for len(b.params) < e.Index {
		b.params = append(b.params, vec.NullType)
	}
	return &Param{Index: e.Index, T: b.params[e.Index-1]}
}

func (b *binder) setParam(p *Param, t vec.Type, pos int) Expr {
	have := &b.params[p.Index-1]
	if have.ID == vec.Null {
		*have = t
	}
	out := &Param{Index: p.Index, T: *have}
	if have.Equal(t) {
		return out
	}
	return b.coerce(out, t, pos)
}

// argument describes e for the resolution of calls.
func (b *binder) argument(e Expr) extension.Argument {
	switch c := e.(type) {
	case *Const:
		v := c.Value
		if unknown(e) {
			if !v.Null {
				v.Type = vec.TextType
			}
			return extension.Argument{Type: vec.NullType, Literal: true, Const: &v}
		}
		return extension.Argument{Type: v.Type, Const: &v}
	case *Param:
		if t := b.params[c.Index-1]; t.ID != vec.Null {
			return extension.Argument{Type: t}
		}
		return extension.Argument{Type: vec.NullType, Literal: true}
	}
	return extension.Argument{Type: e.Type()}
}

func (b *binder) arguments(es []Expr) []extension.Argument {
	out := make([]extension.Argument, len(es))
	for i, e := range es {
		out[i] = b.argument(e)
	}
	return out
}

func (b *binder) commonType(what string, es []Expr, pos int) vec.Type {
	t, err := extension.CommonType(b.arguments(es))
	if sqlerr.Code(err) == sqlerr.DatatypeMismatch {
		e := *sqlerr.From(err)
		e.Message = what + " " + e.Message
		err = &e
	}
	check(err, pos)
	return t
}

// settle gives an expression of unknown type its default, TEXT.
func (b *binder) settle(e Expr) Expr {
	if unknown(e) {
		return b.coerce(e, vec.TextType, 0)
	}
	return e
}

// coerce casts e to t where PostgreSQL casts implicitly; e must be known to be castable unless it is untyped.
func (b *binder) coerce(e Expr, t vec.Type, pos int) Expr {
	if e.Type().Equal(t) {
		if p, ok := e.(*Param); ok && t.ID != vec.Null {
			return b.setParam(p, t, pos)
		}
		return e
	}
	switch x := e.(type) {
	case *Const:
		switch {
		case x.Value.Null:
			return &Const{Value: vec.NullValue(t)}
		case unknown(e):
			return b.parse(t, x.Value.S, pos)
		}
		if v, ok := widen(x.Value, t); ok {
			return &Const{Value: v}
		}
	case *Param:
		if unknown(e) {
			return b.setParam(x, t, pos)
		}
	case *MakeArray:
		if t.ID == vec.Array {
			out := &MakeArray{T: t, Args: make([]Expr, len(x.Args))}
			for i, a := range x.Args {
				out.Args[i] = b.coerce(a, *t.Elem, pos)
			}
			return out
		}
	}
	return &Cast{Arg: e, To: t}
}

// assign casts e to t as storing it does; what names the target for the message.
func (b *binder) assign(e Expr, t vec.Type, what string, pos int) Expr {
	if unknown(e) || e.Type().Equal(t) || function.CastLevel(e.Type(), t) >= function.Assignment {
		return b.coerce(e, t, pos)
	}
	failHint(pos, sqlerr.DatatypeMismatch, "you will need to rewrite or cast the expression",
		"%s is of type %s but expression is of type %s", what, t, e.Type())
	return nil
}

// widen converts a numeric constant to a type that holds it exactly.
func widen(v vec.Value, t vec.Type) (vec.Value, bool) {
	from := v.Type
	switch {
	case v.Null:
		return vec.NullValue(t), true
	case from.IsInteger() && t.IsInteger() && from.ID <= t.ID:
		return vec.IntValue(t, v.I), true
	case from.IsInteger() && t.ID == vec.Float64 && v.I == int64(float64(v.I)):
		return vec.FloatValue(t, float64(v.I)), true
	case from.IsInteger() && t.ID == vec.Decimal:
		x, ok := vec.FitDecimal(vec.Int128From(v.I), 0, t)
		return decimalValue(t, x), ok
	case from.ID == vec.Decimal && t.ID == vec.Decimal && from.Scale <= t.Scale:
		x, ok := vec.FitDecimal(v.Int128(), int(from.Scale), t)
		return decimalValue(t, x), ok
	case from.ID == vec.Date && t.ID == vec.Timestamp:
		const dayMicros = 86_400_000_000
		return vec.IntValue(t, v.I*dayMicros), v.I > -100_000_000 && v.I < 100_000_000
	}
	return v, false
}

// settleUnknown gives result columns of unknown type their default. The columns of the node returned are those of the
// result, in order.
func (b *binder) settleUnknown(r result) (Node, []Col) {
	cols := r.node.Cols()
	types := make([]vec.Type, len(cols))
	for i, c := range cols {
		if types[i] = c.Type; c.Type.ID == vec.Null {
			types[i] = vec.TextType
		}
	}
	n := b.coerceColumns(r.node, types, 0)
	return n, n.Cols()
}

func lowerASCII(s string) string { return strings.ToLower(s) }
