package plan

import (
	"regexp"
	"slices"

	"github.com/tidemarkdb/tidemark/sql"
	"github.com/tidemarkdb/tidemark/sqlerr"
	"github.com/tidemarkdb/tidemark/vec"
)

// columnsCall returns the call of COLUMNS in an expression, nil when it has none. All of an expression must ask for the
// same columns, since it is repeated for each.
func columnsCall(e sql.Expr) *sql.FuncCall {
	var found *sql.FuncCall
	sql.Walk(e, func(n sql.Node) bool {
		if _, query := n.(sql.QueryExpr); query {
			return false
		}
		c, ok := n.(*sql.FuncCall)
		if !ok || len(c.Name) != 1 || c.Name[0].Name != "columns" || len(c.Args) != 1 || c.Over != nil {
			return true
		}
		if found != nil && sql.Text(found) != sql.Text(c) {
			failHint(c.Pos, sqlerr.FeatureNotSupported, "use one of them, or write two items", "one expression has different COLUMNS")
		}
		found = c
		return false
	})
	return found
}

// expandColumns adds an item of the select list once for each column that its COLUMNS asks for.
func (s *selectBinder) expandColumns(x *exprBinder, item sql.SelectItem, call *sql.FuncCall) {
	cols := s.columnsAsked(call)
	if len(cols) == 0 {
		failHint(call.Pos, sqlerr.UndefinedColumn, "COLUMNS takes *, a regular expression, names or a function of the name", "no column matches COLUMNS")
	}
	for _, c := range cols {
		x.columns = &c
		e := x.expr(item.Expr)
		name := item.Alias.Name
		if name == "" {
			name = c.Name
			if f, ok := item.Expr.(*sql.FuncCall); ok && f != call {
				name = outputName(f) + "(" + c.Name + ")"
			}
		}
		s.items = append(s.items, outputItem{name: name, expr: e})
	}
	x.columns = nil
}

// columnsAsked finds the columns of FROM that COLUMNS stands for.
func (s *selectBinder) columnsAsked(call *sql.FuncCall) []Col {
	var keep func(name string) bool
	star := &sql.Star{Pos: call.Pos}
	switch arg := call.Args[0].Value.(type) {
	case *sql.Star:
		star = arg
		keep = func(name string) bool {
			return !slices.ContainsFunc(arg.Exclude, func(n sql.Name) bool { return n.Last().Name == name })
		}
	case *sql.String:
		re, err := regexp.Compile(arg.Value)
		if err != nil {
			failHint(arg.Pos, sqlerr.InvalidRegex, "COLUMNS takes a regular expression", "invalid regular expression: %v", err)
		}
		keep = re.MatchString
	case *sql.Lambda:
		keep = func(name string) bool { return s.lambdaHolds(arg, name) }
	case *sql.Array:
		keep = func(name string) bool {
			return slices.ContainsFunc(arg.Elems, func(e sql.Expr) bool { t, ok := e.(*sql.String); return ok && t.Value == name })
		}
	default:
		failHint(call.Pos, sqlerr.FeatureNotSupported, "write COLUMNS(*), COLUMNS('regular expression') or COLUMNS(name -> condition)", "this form of COLUMNS is not supported")
	}
	cols, _ := s.starColumns(star)
	var out []Col
	for _, c := range cols {
		if keep(c.Name) {
			out = append(out, c)
		}
	}
	return out
}

// lambdaHolds computes a function of a column's name.
func (s *selectBinder) lambdaHolds(l *sql.Lambda, name string) bool {
	if len(l.Params) != 1 {
		failHint(l.Pos, sqlerr.SyntaxError, "write COLUMNS(name -> condition)", "COLUMNS takes a function of one name")
	}
	x := &exprBinder{b: s.b, scope: &scope{}, clause: "COLUMNS",
		aliases: map[string]Expr{l.Params[0].Name: &Const{Value: vec.StringValue(vec.TextType, name)}}}
	v, err := s.b.evalConstant(x.condition(l.Body))
	check(err, l.Pos)
	return !v.Null && v.I != 0
}
