package engine

import (
	"slices"

	"github.com/tidemarkdb/tidemark/sql"
	"github.com/tidemarkdb/tidemark/vec"
)

// fixedStar returns the query of a view with the columns that its * stands for now in its place, so that the view stays
// as it is when its table gets further columns. It knows the one * of a SELECT from one table; other queries come back
// as they are.
func fixedStar(q sql.QueryExpr, schema vec.Schema) sql.QueryExpr {
	switch t := q.(type) {
	case *sql.Query:
		if body := fixedStar(t.Body, schema); body != t.Body {
			fixed := *t
			fixed.Body = body
			return &fixed
		}
	case *sql.Select:
		return fixedSelect(t, schema)
	}
	return q
}

func fixedSelect(t *sql.Select, schema vec.Schema) sql.QueryExpr {
	at := -1
	for i, item := range t.Items {
		star, ok := item.Expr.(*sql.Star)
		if !ok {
			continue
		}
		if at >= 0 || star.Operand != nil || len(star.Exclude)+len(star.Replace)+len(star.Rename) > 0 {
			return t
		}
		at = i
	}
	if at < 0 || len(t.From) != 1 {
		return t
	}
	table, ok := t.From[0].(*sql.Table)
	if !ok || len(table.Alias.Columns) > 0 {
		return t
	}
	width := len(schema) - (len(t.Items) - 1)
	if width < 1 {
		return t
	}
	name := table.Name.Last()
	if table.Alias.Name.Name != "" {
		name = table.Alias.Name
	}
	var columns []sql.SelectItem
	for _, c := range schema[at : at+width] {
		columns = append(columns, sql.SelectItem{Expr: &sql.Column{Name: sql.Name{name, {Name: c.Name, Quoted: true}}, Pos: t.Pos}})
	}
	fixed := *t
	fixed.Items = slices.Replace(slices.Clone(t.Items), at, at+1, columns...)
	return &fixed
}
