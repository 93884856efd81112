package plan

import (
	"github.com/tidemarkdb/tidemark/function"
	"github.com/tidemarkdb/tidemark/sql"
	"github.com/tidemarkdb/tidemark/sqlerr"
	"github.com/tidemarkdb/tidemark/vec"
)

// regKinds are PostgreSQL's types of oids that are written as names. There are none here: a cast of a name gives the
// oid, a cast of an oid the name. What the result is used for tells which of the two a cast of a cast wants.
var regKinds = map[string]string{"regclass": "regclass", "regtype": "regtype", "regnamespace": "regnamespace", "regproc": "regproc",
	"regprocedure": "regproc", "regrole": "regrole"}

// regOf returns the kind of a cast to one of regKinds, "" for any other expression.
func regOf(e sql.Expr) (*sql.Cast, string) {
	c, ok := e.(*sql.Cast)
	if !ok || len(c.Type.Dims) > 0 || c.Try {
		return nil, ""
	}
	return c, regKinds[c.Type.Name]
}

// regCast binds a cast between names and oids; ok is false for other casts.
func (x *exprBinder) regCast(e *sql.Cast) (out Expr, ok bool) {
	if _, kind := regOf(e); kind != "" {
		arg := x.expr(e.Operand)
		if arg.Type().IsInteger() {
			return x.objectName(kind, arg, e.Pos), true
		}
		return x.objectOid(kind, arg, e.Pos), true
	}
	inner, kind := regOf(e.Operand)
	if kind == "" || len(e.Type.Dims) > 0 {
		return nil, false
	}
	switch t := x.b.typeOf(e.Type, e.Pos); {
	case t.ID == vec.Text:
		return x.objectName(kind, x.regOid(inner, kind), e.Pos), true
	case t.IsInteger():
		return x.castTo(x.regOid(inner, kind), t, e), true
	}
	return nil, false
}

// regOid binds what a cast to one of regKinds, or what is compared with one, stands for as an oid.
func (x *exprBinder) regOid(e sql.Expr, kind string) Expr {
	if c, of := regOf(e); of != "" {
		e, kind = c.Operand, of
	} else if arg := x.expr(e); unknown(arg) {
		return x.b.coerce(arg, vec.Int64Type, e.Position()) // digits: only a cast reads a name
	}
	arg := x.expr(e)
	if arg.Type().IsInteger() {
		return arg
	}
	return x.objectOid(kind, arg, e.Position())
}

func (x *exprBinder) objectOid(kind string, arg Expr, pos int) Expr {
	if arg.Type().ID != vec.Text && !unknown(arg) {
		failHint(pos, sqlerr.CannotCoerce, "cast a name or an oid", "cannot cast type %s to %s", arg.Type(), kind)
	}
	return x.scalar(function.ObjectOid, []Expr{&Const{Value: vec.StringValue(vec.TextType, kind)}, arg}, pos)
}

func (x *exprBinder) objectName(kind string, arg Expr, pos int) Expr {
	return x.scalar(function.ObjectName, []Expr{&Const{Value: vec.StringValue(vec.TextType, kind)}, arg}, pos)
}

// regCompare binds a comparison with a cast to one of regKinds: by oid. ok is false where there is none.
func (x *exprBinder) regCompare(op CompareOp, left, right sql.Expr, pos int) (out Expr, ok bool) {
	_, kind := regOf(left)
	if _, other := regOf(right); kind == "" {
		kind = other
	}
	if kind == "" {
		return nil, false
	}
	return x.compare(op, x.regOid(left, kind), x.regOid(right, kind), pos), true
}
