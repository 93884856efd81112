package plan

import (
	"github.com/tidemarkdb/tidemark/sql"
	"github.com/tidemarkdb/tidemark/sqlerr"
)

// Functions over lists that take a lambda, or fold a list, are queries over its elements: list_transform(l, x -> e) is
// ARRAY(SELECT e FROM unnest(l) WITH ORDINALITY t(x, i) ORDER BY i), and NULL where l is.

func init() {
	for _, name := range []string{"list_transform", "array_transform", "list_apply", "array_apply", "apply"} {
		special[name] = func(x *exprBinder, e *sql.FuncCall) Expr { return x.overElements(e, false) }
	}
	for _, name := range []string{"list_filter", "array_filter", "filter"} {
		special[name] = func(x *exprBinder, e *sql.FuncCall) Expr { return x.overElements(e, true) }
	}
	for _, name := range []string{"list_reduce", "array_reduce", "reduce"} {
		special[name] = func(_ *exprBinder, e *sql.FuncCall) Expr {
			failHint(e.Pos, sqlerr.FeatureNotSupported, "use an aggregate over unnest(list), or list_sum and its kin", "%s is not supported", e.Name.Last().Name)
			return nil
		}
	}
	for name, aggregate := range map[string]string{"list_sum": "sum", "list_avg": "avg", "list_min": "min", "list_max": "max", "list_count": "count",
		"list_product": "product", "list_stddev_samp": "stddev_samp", "list_var_samp": "var_samp", "list_median": "median", "list_mode": "mode",
		"list_string_agg": "string_agg", "list_bool_and": "bool_and", "list_bool_or": "bool_or", "list_first": "first", "list_last": "last",
		"list_any_value": "any_value"} {
		special[name] = func(x *exprBinder, e *sql.FuncCall) Expr { return x.foldElements(aggregate, e.Args, e) }
	}
	for _, name := range []string{"list_aggregate", "list_aggr", "array_aggregate", "array_aggr", "aggregate"} {
		special[name] = func(x *exprBinder, e *sql.FuncCall) Expr {
			if len(e.Args) >= 2 {
				if s, ok := e.Args[1].Value.(*sql.String); ok {
					return x.foldElements(lowerASCII(s.Value), append([]sql.Arg{e.Args[0]}, e.Args[2:]...), e)
				}
			}
			failHint(e.Pos, sqlerr.SyntaxError, "write "+e.Name.Last().Name+"(list, 'sum')", "%s takes a list and the name of an aggregate", e.Name.Last().Name)
			return nil
		}
	}
	special["struct_extract"] = bindStructExtract
}

// The names of what a lambda's list is while it is a table.
const (
	elementTable = "list element"
	elementPlace = "list place"
)

// elements makes the FROM item of a list's elements and places.
func elementsOf(list sql.Expr, params []sql.Ident, pos int) (from *sql.FuncTable, place sql.Ident) {
	place = sql.Ident{Name: elementPlace, Quoted: true, Pos: pos}
	if len(params) > 1 {
		place = params[1]
	}
	return &sql.FuncTable{
		Calls:      []*sql.FuncCall{{Name: sql.Name{{Name: "unnest", Pos: pos}}, Args: []sql.Arg{{Value: list}}, Pos: pos}},
		Ordinality: true, Pos: pos,
		Alias: sql.TableAlias{Name: sql.Ident{Name: elementTable, Quoted: true, Pos: pos}, Columns: []sql.Ident{params[0], place}},
	}, place
}

// overElements binds list_transform and list_filter.
func (x *exprBinder) overElements(e *sql.FuncCall, filter bool) Expr {
	name := e.Name.Last().Name
	var lambda *sql.Lambda
	if len(e.Args) == 2 {
		lambda, _ = e.Args[1].Value.(*sql.Lambda)
	}
	if lambda == nil || len(lambda.Params) > 2 {
		failHint(e.Pos, sqlerr.SyntaxError, "write "+name+"(list, x -> ...), or (x, i) -> ... with the place",
			"%s takes a list and a function of its elements", name)
	}
	list := e.Args[0].Value
	from, place := elementsOf(list, lambda.Params, e.Pos)
	body := &sql.Select{Items: []sql.SelectItem{{Expr: lambda.Body}}, From: []sql.TableExpr{from}, Pos: e.Pos}
	if filter {
		body.Items[0].Expr, body.Where = &sql.Column{Name: sql.Name{lambda.Params[0]}, Pos: e.Pos}, lambda.Body
	}
	query := &sql.Query{Body: body, OrderBy: []sql.OrderItem{{Expr: &sql.Column{Name: sql.Name{place}, Pos: e.Pos}}}, Pos: e.Pos}
	return x.expr(unlessNull(list, &sql.ArrayQuery{Query: query, Pos: e.Pos}, e.Pos))
}

// unlessNull is NULL where list is, else value.
func unlessNull(list, value sql.Expr, pos int) sql.Expr {
	return &sql.Case{Whens: []sql.When{{Cond: &sql.IsTest{Operand: list, Not: true, Pos: pos}, Result: value}}, Pos: pos}
}

// foldElements binds an aggregate over the elements of a list in their order; further arguments are the aggregate's.
func (x *exprBinder) foldElements(aggregate string, args []sql.Arg, e *sql.FuncCall) Expr {
	if len(args) == 0 || x.b.functions.Aggregate(aggregate) == nil {
		failHint(e.Pos, sqlerr.UndefinedFunction, "name an aggregate function and give a list", "there is no aggregate %q over a list here", aggregate)
	}
	element := sql.Ident{Name: elementTable, Quoted: true, Pos: e.Pos}
	from, place := elementsOf(args[0].Value, []sql.Ident{element}, e.Pos)
	call := &sql.FuncCall{Name: sql.Name{{Name: aggregate, Pos: e.Pos}}, Pos: e.Pos,
		Args: append([]sql.Arg{{Value: &sql.Column{Name: sql.Name{element}, Pos: e.Pos}}}, args[1:]...)}
	if f := x.b.functions.Aggregate(aggregate); f.OrderSensitive {
		call.OrderBy = []sql.OrderItem{{Expr: &sql.Column{Name: sql.Name{place}, Pos: e.Pos}}}
	}
	query := &sql.Select{Items: []sql.SelectItem{{Expr: call}}, From: []sql.TableExpr{from}, Pos: e.Pos}
	return x.expr(unlessNull(args[0].Value, &sql.Subquery{Query: query, Pos: e.Pos}, e.Pos))
}

// bindStructExtract binds struct_extract(s, 'field').
func bindStructExtract(x *exprBinder, e *sql.FuncCall) Expr {
	if len(e.Args) == 2 {
		if s, ok := e.Args[1].Value.(*sql.String); ok {
			return x.field(x.expr(e.Args[0].Value), sql.Ident{Name: s.Value, Quoted: true, Pos: s.Pos})
		}
	}
	failHint(e.Pos, sqlerr.SyntaxError, "write struct_extract(value, 'field')", "struct_extract takes a struct and the name of a field")
	return nil
}
