package plan

import (
	"context"
	"slices"

	"github.com/tidemarkdb/tidemark/sql"
	"github.com/tidemarkdb/tidemark/sqlerr"
	"github.com/tidemarkdb/tidemark/vec"
)

// InsertTarget is the table of an INSERT. Defaults[i] is the SQL text of column i's DEFAULT, "" for NULL.
type InsertTarget struct {
	Name     string
	Columns  vec.Schema
	Defaults []string
	Computed Computed
}

// Computed says which columns of a table a statement gives no values. By column: Exprs has the SQL text that a generated
// column is computed by, Identity "always" or "by default" of an identity column; "" for others. Both may be nil.
type Computed struct {
	Exprs    []string
	Identity []string
}

func (c Computed) generated(column int) bool { return c.Exprs != nil && c.Exprs[column] != "" }

func (c Computed) identity(column int) string {
	if c.Identity == nil {
		return ""
	}
	return c.Identity[column]
}

// refuse fails with SQLSTATE 428C9 when a statement gives a value to a column that takes none.
func (c Computed) refuse(column int, name, format string, pos int) {
	var detail, hint string
	switch {
	case c.generated(column):
		detail, hint = "Column %q is a generated column.", "leave the column out, or write DEFAULT"
	case c.identity(column) == "always":
		detail, hint = "Column %q is an identity column defined as GENERATED ALWAYS.", "use OVERRIDING SYSTEM VALUE to override"
	default:
		return
	}
	panic(fault{sqlerr.New(sqlerr.GeneratedAlways, format, name).Detailf(detail, name).Hintf("%s", hint).At(pos)})
}

const (
	insertedValue = "cannot insert a non-DEFAULT value into column %q"
	updatedValue  = "column %q can only be updated to DEFAULT"
)

// compute returns n, whose columns cols are those of a table, with its generated columns computed, and the columns then.
func (b *binder) compute(n Node, cols []Col, columns vec.Schema, c Computed) (Node, []Col) {
	if !slices.ContainsFunc(c.Exprs, func(e string) bool { return e != "" }) {
		return n, cols
	}
	rel := &relation{cols: slices.Clone(cols)}
	for i := range rel.cols {
		rel.cols[i].Name = columns[i].Name
	}
	x := &exprBinder{b: b, scope: &scope{ns: namespaceOf(rel)}, clause: "column generation expression"}
	made := slices.Clone(cols)
	p := &Project{Input: n}
	for _, col := range n.Cols() {
		at := slices.IndexFunc(cols, func(c Col) bool { return c.ID == col.ID })
		if at < 0 || !c.generated(at) {
			p.Columns, p.Exprs = append(p.Columns, col), append(p.Exprs, refTo(col))
			continue
		}
		e, err := sql.ParseExpr(c.Exprs[at])
		if err != nil {
			panic(internalf("the expression of column %q cannot be read: %v", columns[at].Name, err))
		}
		made[at] = b.newCol(columns[at].Name, columns[at].Type, true)
		p.Columns = append(p.Columns, made[at])
		p.Exprs = append(p.Exprs, b.assign(x.expr(e), columns[at].Type, `column "`+columns[at].Name+`"`, 0))
	}
	return p, made
}

// BindInsert returns the query of what an INSERT adds: every column of the target, in order and of its type, cast as
// by assignment. ON CONFLICT and RETURNING are not looked at.
func BindInsert(ctx context.Context, t *sql.Insert, target InsertTarget, cat Catalog, opts Options) (out *Query, err error) {
	defer recoverFault(&err)
	b := newBinder(ctx, cat, opts)
	i := &insertBinder{b: b, target: target}
	if t.ByName {
		t = i.byName(t)
	}
	i.placeColumns(t)
	r := i.source(t)
	i.settleGiven(t)
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
	node, _ := b.compute(n, n.Columns, target.Columns, target.Computed)
	return b.finish(result{node: node, names: names}), nil
}

// byName returns INSERT ... BY NAME with the names of the source's columns as its list.
func (i *insertBinder) byName(t *sql.Insert) *sql.Insert {
	if _, ok := t.Source.(*sql.Values); ok || t.Source == nil {
		failHint(t.Pos, sqlerr.SyntaxError, "list the columns in parentheses", "INSERT BY NAME needs a query whose columns have names")
	}
	q := t.Source
	if t.With != nil {
		q = &sql.Query{With: t.With, Body: t.Source, Pos: t.Pos}
	}
	listed := *t
	for _, name := range newBinder(i.b.ctx, i.b.cat, Options{Params: i.b.params}).query(q, nil).names {
		listed.Columns = append(listed.Columns, sql.Ident{Name: name, Pos: t.Source.Position()})
	}
	return &listed
}

type insertBinder struct {
	b         *binder
	target    InsertTarget
	places    []int // of the columns listed, or of all
	from      []int // for each column of the target: its place in the source, or -1
	defaulted []int // places in the source at which every row of VALUES says DEFAULT
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
	defaults := make([]int, width)
	for _, row := range values.Rows {
		out := make([]sql.Expr, len(row))
		for at, e := range row {
			if d, ok := e.(*sql.Default); ok && at < width {
				e = i.defaultExpr(i.places[at], d.Pos)
				if defaults[at]++; defaults[at] == len(values.Rows) {
					i.defaulted = append(i.defaulted, at)
				}
			}
			out[at] = e
		}
		filled.Rows = append(filled.Rows, out)
	}
	return i.b.valuesOf(filled, nil, types)
}

// settleGiven takes generated and identity columns out of what the source gives, or refuses a value for them.
func (i *insertBinder) settleGiven(t *sql.Insert) {
	c := i.target.Computed
	for at, from := range i.from {
		if from < 0 {
			continue
		}
		switch identity := c.identity(at); {
		case slices.Contains(i.defaulted, from): // its default is what VALUES gives
		case identity != "" && t.Overriding == "user":
			i.from[at] = -1
		case identity == "always" && t.Overriding == "system":
		default:
			pos := t.Pos
			if from < len(t.Columns) {
				pos = t.Columns[from].Pos
			}
			c.refuse(at, i.target.Columns[at].Name, insertedValue, pos)
		}
	}
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
