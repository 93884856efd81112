package plan

import (
	"context"

	"github.com/tidemarkdb/tidemark/sql"
	"github.com/tidemarkdb/tidemark/sqlerr"
	"github.com/tidemarkdb/tidemark/vec"
)

// InsertTarget is the table of an INSERT. Defaults[i] is the SQL text of column i's DEFAULT, "" for NULL.
type InsertTarget struct {
	Name     string
	Columns  vec.Schema
	Defaults []string
}

// BindInsert returns the query of what an INSERT adds: every column of the target, in order and of its type, cast as
// by assignment. ON CONFLICT and RETURNING are not looked at.
func BindInsert(ctx context.Context, t *sql.Insert, target InsertTarget, cat Catalog, opts Options) (out *Query, err error) {
	defer recoverFault(&err)
	b := newBinder(ctx, cat, opts)
	i := &insertBinder{b: b, target: target}
	i.placeColumns(t)
	r := i.source(t)
	n := &Project{Input: r.node}
	names := make([]string, len(target.Columns))
	for c, column := range target.Columns {
		names[c] = column.Name
		var e Expr
		if from := i.from[c]; from >= 0 {
			e = b.assign(columnValue(r.node, from), column.Type, `column "`+column.Name+`"`, t.Table.Position())
		} else {
			e = i.initial(c)
		}
		n.Exprs = append(n.Exprs, e)
		n.Columns = append(n.Columns, b.newCol(column.Name, column.Type, true))
	}
	return b.finish(result{node: n, names: names}), nil
}

type insertBinder struct {
	b      *binder
	target InsertTarget
	places []int // of the columns listed, or of all
	from   []int // for each column of the target: its place in the source, or -1
}

// placeColumns finds the columns that the statement lists.
func (i *insertBinder) placeColumns(t *sql.Insert) {
	i.from = make([]int, len(i.target.Columns))
	for c := range i.from {
		i.from[c] = -1
	}
	if len(t.Columns) == 0 {
		for c := range i.target.Columns {
			i.places = append(i.places, c)
		}
		return
	}
	for at, name := range t.Columns {
		c := i.target.Columns.Index(name.Name)
		if c < 0 {
			hint := "see information_schema.columns for those there are"
			var names []string
			for _, column := range i.target.Columns {
				names = append(names, column.Name)
			}
			if near := sqlerr.Nearest(name.Name, names); near != "" {
				hint = `did you mean "` + near + `"?`
			}
			failHint(name.Pos, sqlerr.UndefinedColumn, hint, "column %q of relation %q does not exist", name.Name, i.target.Name)
		}
		if i.from[c] >= 0 {
			failHint(name.Pos, sqlerr.DuplicateColumn, "list it once", "column %q specified more than once", name.Name)
		}
		i.from[c] = at
		i.places = append(i.places, c)
	}
}

// source binds what is inserted and narrows from to the columns it has.
func (i *insertBinder) source(t *sql.Insert) result {
	if t.Source == nil { // DEFAULT VALUES
		for c := range i.from {
			i.from[c] = -1
		}
		return result{node: &Values{Rows: [][]Expr{{}}}}
	}
	if values, ok := t.Source.(*sql.Values); ok {
		return i.b.with(t.With, nil, func() result { return i.values(values, t) })
	}
	q := t.Source
	if t.With != nil {
		q = &sql.Query{With: t.With, Body: t.Source, Pos: t.Pos}
	}
	for _, c := range i.places {
		i.b.targets = append(i.b.targets, i.target.Columns[c].Type)
	}
	r := i.b.query(q, nil)
	i.fit(len(r.names), len(t.Columns) > 0, t.Pos)
	return r
}

// values binds VALUES with the types of the columns, so that untyped literals take them.
func (i *insertBinder) values(values *sql.Values, t *sql.Insert) result {
	width := len(values.Rows[0])
	i.fit(width, len(t.Columns) > 0, values.Pos)
	types := make([]vec.Type, width)
	for at := range types {
		types[at] = i.target.Columns[i.places[at]].Type
	}
	filled := &sql.Values{Pos: values.Pos}
	for _, row := range values.Rows {
		out := make([]sql.Expr, len(row))
		for at, e := range row {
			if d, ok := e.(*sql.Default); ok && at < width {
				e = i.defaultExpr(i.places[at], d.Pos)
			}
			out[at] = e
		}
		filled.Rows = append(filled.Rows, out)
	}
	return i.b.valuesOf(filled, nil, types)
}

// fit checks the number of source columns against the target's. Without a list, the last columns may be left out.
func (i *insertBinder) fit(width int, listed bool, pos int) {
	switch {
	case width > len(i.places):
		failHint(pos, sqlerr.SyntaxError, "leave out what has no column", "INSERT has more expressions than target columns")
	case width < len(i.places) && listed:
		failHint(pos, sqlerr.SyntaxError, "give one value for each column listed", "INSERT has more target columns than expressions")
	}
	if listed {
		return
	}
	for c := range i.from {
		i.from[c] = -1
		if c < width {
			i.from[c] = c
		}
	}
}

func (i *insertBinder) defaultExpr(c, pos int) sql.Expr {
	text := i.target.Defaults[c]
	if text == "" {
		return &sql.Null{Pos: pos}
	}
	e, err := sql.ParseExpr(text)
	if err != nil {
		panic(internalf("the default of column %q cannot be read: %v", i.target.Columns[c].Name, err))
	}
	return e
}

// initial binds the value of a column that the statement gives none for.
func (i *insertBinder) initial(c int) Expr {
	x := &exprBinder{b: i.b, scope: &scope{}, clause: "DEFAULT"}
	column := i.target.Columns[c]
	return i.b.assign(x.expr(i.defaultExpr(c, 0)), column.Type, `column "`+column.Name+`"`, 0)
}
