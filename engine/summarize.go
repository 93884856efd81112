package engine

import (
	"context"

	"github.com/tidemarkdb/tidemark/catalog"
	"github.com/tidemarkdb/tidemark/sql"
	"github.com/tidemarkdb/tidemark/vec"
)

var summarizeColumns = []string{"column_name", "column_type", "min", "max", "approx_unique", "avg", "std", "q25", "q50", "q75", "count", "null_percentage"}

// summarize runs SUMMARIZE: one pass over the rows computes what is told of each column.
func (s *Session) summarize(ctx context.Context, t *sql.Describe) (*Result, error) {
	snapshot, release := s.snapshot()
	query := t.Query
	if query == nil {
		query = &sql.Select{Items: []sql.SelectItem{{Expr: &sql.Star{}}}, From: []sql.TableExpr{&sql.Table{Name: t.Table, Pos: t.Table.Position()}}}
	}
	schema, err := s.columnsOf(ctx, snapshot, query)
	release()
	if err != nil {
		return nil, err
	}
	source := sql.Ident{Name: "summarized", Quoted: true}
	facts := &sql.Select{From: []sql.TableExpr{&sql.Derived{Query: query, Pos: t.Pos}}}
	derived := facts.From[0].(*sql.Derived)
	derived.Alias.Name = source
	for i, c := range schema { // columns of one name are told apart by their place
		name := sql.Ident{Name: "column " + itoa(i+1), Quoted: true}
		derived.Alias.Columns = append(derived.Alias.Columns, name)
		for _, fact := range columnFacts(c.Type, sql.Name{source, name}) {
			facts.Items = append(facts.Items, sql.SelectItem{Expr: fact})
		}
	}
	result, err := s.query(ctx, facts, nil)
	if err != nil {
		return nil, err
	}
	defer result.Close()
	batch, err := result.Next(ctx)
	if err != nil {
		return nil, err
	}
	out := &virtualRows{}
	text := make(vec.Schema, len(summarizeColumns))
	for i, name := range summarizeColumns {
		text[i] = column(name, vec.TextType)
		out.builders, out.types = append(out.builders, vec.NewBuilder(vec.TextType, len(schema))), append(out.types, vec.TextType)
	}
	row, told := batch.Compact(), len(summarizeColumns)-2
	for i, c := range schema {
		values := []any{c.Name, c.Type.String()}
		for k := range told {
			if v := row.Cols[i*told+k].Value(0); v.Null {
				values = append(values, nil)
			} else {
				values = append(values, v.S)
			}
		}
		out.add(values...)
	}
	finished := vec.NewBatch(len(schema))
	for _, b := range out.builders {
		finished.Cols = append(finished.Cols, b.Finish())
	}
	return rowsOf("SUMMARIZE", text, finished), nil
}

func (s *Session) columnsOf(ctx context.Context, snapshot *catalog.Snapshot, q sql.QueryExpr) (vec.Schema, error) {
	bound, err := s.bind(ctx, snapshot, q, nil)
	if err != nil {
		return nil, err
	}
	return bound.Schema, nil
}

// columnFacts are the expressions, all of type text, of what SUMMARIZE tells of a column besides its name and type.
func columnFacts(t vec.Type, name sql.Name) []sql.Expr {
	value := sql.Expr(&sql.Column{Name: name})
	call := func(f string, args ...sql.Expr) sql.Expr {
		c := &sql.FuncCall{Name: sql.Name{{Name: f}}}
		for _, a := range args {
			c.Args = append(c.Args, sql.Arg{Value: a})
		}
		return c
	}
	asText := func(e sql.Expr) sql.Expr { return &sql.Cast{Operand: e, Type: sql.TypeName{Name: "text"}} }
	asDouble := func(e sql.Expr) sql.Expr { return &sql.Cast{Operand: e, Type: sql.TypeName{Name: "double precision"}} }
	quantile := func(at string) sql.Expr {
		return &sql.FuncCall{Name: sql.Name{{Name: "percentile_disc"}}, Args: []sql.Arg{{Value: &sql.Number{Text: at}}}, WithinGroup: true,
			OrderBy: []sql.OrderItem{{Expr: value}}}
	}
	null := sql.Expr(&sql.Null{})
	low, high, unique := call("min", value), call("max", value), call("approx_count_distinct", value)
	mean, spread, q25, q50, q75 := null, null, null, null, null
	switch {
	case t.IsNumeric():
		mean, spread = call("avg", asDouble(value)), call("stddev_samp", asDouble(value))
		q25, q50, q75 = quantile("0.25"), quantile("0.5"), quantile("0.75")
	case t.IsTemporal():
		q25, q50, q75 = quantile("0.25"), quantile("0.5"), quantile("0.75")
	case t.ID == vec.JSON || t.ID == vec.Struct || t.ID == vec.Array || t.ID == vec.Bool: // which not every aggregate takes
		low, high = call("min", asText(value)), call("max", asText(value))
		unique = call("approx_count_distinct", asText(value))
	}
	rows := &sql.FuncCall{Name: sql.Name{{Name: "count"}}, Star: true}
	missing := &sql.Binary{Op: "-", Left: rows, Right: call("count", value)}
	share := call("round", &sql.Binary{Op: "/", Left: &sql.Binary{Op: "*", Left: &sql.Number{Text: "100.0"}, Right: missing},
		Right: call("nullif", rows, &sql.Number{Text: "0"})}, &sql.Number{Text: "2"})
	var out []sql.Expr
	for _, e := range []sql.Expr{low, high, unique, mean, spread, q25, q50, q75, rows, share} {
		out = append(out, asText(e))
	}
	return out
}
