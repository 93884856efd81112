package engine

import (
	"context"

	"github.com/tidemarkdb/tidemark/catalog"
	"github.com/tidemarkdb/tidemark/sql"
	"github.com/tidemarkdb/tidemark/sqlerr"
)

func (s *Session) createView(ctx context.Context, snapshot *catalog.Snapshot, t *sql.CreateView) (*Result, error) {
	o, err := s.newRelation(ctx, snapshot, t.Name, t.Temp)
	if err != nil {
		return nil, err
	}
	if t.Recursive {
		t = recursiveView(t)
	}
	if sql.ParamCount(t.Query) > 0 {
		return nil, sqlerr.New(sqlerr.UndefinedParameter, "a view cannot have parameters").Hintf("write the value into the query").At(t.Pos)
	}
	schema, err := s.bindFixed(ctx, snapshot, t.Query)
	if err != nil {
		return nil, err
	}
	if o.schema != s.temp && s.readsTemporary(snapshot, t.Query) { // as in PostgreSQL it goes with what it reads
		o.schema = s.temp
	}
	if len(t.Columns) > len(schema) {
		return nil, sqlerr.New(sqlerr.SyntaxError, "CREATE VIEW specifies %d column names for %d columns", len(t.Columns), len(schema)).
			Hintf("leave out the names past the last column").At(t.Name.Position())
	}
	names := identNames(t.Columns)
	for _, c := range schema[min(len(names), len(schema)):] {
		names = append(names, c.Name)
	}
	return done("CREATE VIEW"), s.commit(ctx, &catalog.CreateView{
		View:      catalog.View{Schema: o.schema, Name: o.name, SQL: sql.Text(t.Query), Columns: names, Path: s.searchPath()},
		OrReplace: t.OrReplace, IfNotExists: t.IfNotExists,
	})
}

// recursiveView turns CREATE RECURSIVE VIEW v (a) AS q into CREATE VIEW v AS WITH RECURSIVE v (a) AS (q) SELECT a FROM v.
func recursiveView(t *sql.CreateView) *sql.CreateView {
	name := t.Name.Last()
	body := &sql.Select{Pos: t.Pos, From: []sql.TableExpr{&sql.Table{Name: sql.Name{name}, Pos: name.Pos}}}
	for _, c := range t.Columns {
		body.Items = append(body.Items, sql.SelectItem{Expr: &sql.Column{Name: sql.Name{c}, Pos: c.Pos}})
	}
	if len(body.Items) == 0 {
		body.Items = []sql.SelectItem{{Expr: &sql.Star{Pos: t.Pos}}}
	}
	plain := *t
	with := &sql.With{Recursive: true, CTEs: []sql.CTE{{Name: name, Columns: t.Columns, Query: t.Query}}}
	plain.Query, plain.Recursive = &sql.Query{With: with, Body: body, Pos: t.Pos}, false
	return &plain
}
