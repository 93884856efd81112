package plan

import (
	"context"
	"slices"

	"github.com/tidemarkdb/tidemark/sql"
	"github.com/tidemarkdb/tidemark/sqlerr"
	"github.com/tidemarkdb/tidemark/vec"
)

// ModifyTarget is the table that a statement changes. Defaults[i] is the SQL text of column i's DEFAULT, "" for NULL.
type ModifyTarget struct {
	Table    *Table
	Defaults []string
	Computed Computed
}

// Action is what [Changes] do with a row.
type Action int16

// The actions.
const (
	InsertRow Action = iota
	UpdateRow
	DeleteRow
)

// Changes is a bound UPDATE, DELETE or MERGE: a query with one row for each change. Its columns are the position of
// the stored row (BIGINT, as in [Scan]; NULL for an insert), the [Action] (SMALLINT), Values columns with the new row
// in the order of the table, then those of RETURNING.
type Changes struct {
	*Query
	Values    int
	Returning vec.Schema
}

// ChangesFixed is how many columns of [Changes] come before the values.
const ChangesFixed = 2

// BindUpdate binds UPDATE. A row that FROM matches several times is changed once, by one of its matches.
func BindUpdate(ctx context.Context, t *sql.Update, target ModifyTarget, cat Catalog, opts Options) (out *Changes, err error) {
	defer recoverFault(&err)
	m := &modifyBinder{b: newBinder(ctx, cat, opts), target: target}
	m.with(t.With, func() {
		m.through = t.Through
		m.open(t.Table, t.Alias, t.From, t.Where)
		x := m.exprs("UPDATE")
		values := m.assign(t.Set, x)
		for c, v := range values {
			if v == nil {
				values[c] = refTo(m.old[c])
			}
		}
		m.project(refTo(m.position), actionConst(UpdateRow), values)
		m.returning(t.Returning, m.others)
	})
	return m.finish(), nil
}

// BindDelete binds DELETE. Its rows have no values.
func BindDelete(ctx context.Context, t *sql.Delete, target ModifyTarget, cat Catalog, opts Options) (out *Changes, err error) {
	defer recoverFault(&err)
	m := &modifyBinder{b: newBinder(ctx, cat, opts), target: target}
	m.with(t.With, func() {
		m.through = t.Through
		m.open(t.Table, t.Alias, t.Using, t.Where)
		m.project(refTo(m.position), actionConst(DeleteRow), nil)
		m.returning(t.Returning, m.others)
	})
	return m.finish(), nil
}

func actionConst(a Action) Expr { return &Const{Value: vec.IntValue(vec.Int16Type, int64(a))} }

// modifyBinder binds one statement that changes rows.
type modifyBinder struct {
	b       *binder
	target  ModifyTarget
	through *sql.Through // the view that names the target, or nil
	node    Node

	name     string    // of the target in this statement
	schema   string    // of the target, "" behind an alias
	position Col       // of the target's row
	old      []Col     // of the target, as stored
	ns       namespace // target and others
	others   namespace // what USING and FROM add

	made      []Col // position, action, values: of the projection that project made
	shown     []Col // the target's columns as RETURNING sees them
	returned  []Col
	names     []string
	withDepth []func(Node) Node
}

// with binds body inside WITH.
func (m *modifyBinder) with(w *sql.With, body func()) {
	if w == nil {
		body()
		return
	}
	b := m.b
	saved := b.ctes
	defer func() { b.ctes = saved }()
	for i := range w.CTEs {
		c := &w.CTEs[i]
		for _, other := range w.CTEs[:i] {
			if other.Name.Name == c.Name.Name {
				fail(c.Name.Pos, sqlerr.DuplicateAlias, "WITH query name %q specified more than once", c.Name.Name)
			}
		}
		entry, def := b.commonTable(c, w.Recursive, nil)
		m.withDepth = append(m.withDepth, func(n Node) Node {
			return &CTE{ID: entry.id, Name: entry.name, Def: def, Body: n,
				Materialize: c.Materialize == sql.MaterializeAlways, Inline: c.Materialize == sql.MaterializeNever}
		})
		b.ctes = &cteScope{parent: b.ctes, entry: entry}
	}
	body()
	for _, wrap := range slices.Backward(m.withDepth) {
		m.node = wrap(m.node)
	}
}

// scan makes the scan of the target with its positions, of the rows that the view has when one names it, and the names
// that stand for it.
func (m *modifyBinder) scan(name sql.Name, alias sql.Ident) (Node, namespace) {
	node, ns := m.b.storedTable(&sql.Table{Name: name, Alias: sql.TableAlias{Name: alias}, Pos: name.Position()}, m.target.Table)
	scan := node.(*Scan)
	m.old = slices.Clone(scan.Columns)
	m.position = m.b.newCol("position", vec.Int64Type, false)
	scan.Columns, scan.Ordinals = append(scan.Columns, m.position), append(scan.Ordinals, -1)
	if m.through != nil {
		node = m.filtered(node)
		ns = namespaceOf(throughRelation(m.through, alias, m.target, m.old))
	}
	m.name, m.schema = ns.relations[0].name, ns.relations[0].schema
	return node, ns
}

// filtered keeps the rows of the target that the view has which names it.
func (m *modifyBinder) filtered(n Node) Node {
	for _, f := range m.through.Filters {
		rel := &relation{name: f.Relation, cols: throughColumns(f.Columns, m.target, m.old)}
		x := m.exprsOver("WHERE", namespaceOf(rel))
		n = &Filter{Input: n, Conditions: conjuncts(nil, x.condition(f.Where))}
	}
	return n
}

// throughColumns returns those of the target's columns that a view has, under its names.
func throughColumns(columns []sql.ThroughColumn, target ModifyTarget, cols []Col) []Col {
	var out []Col
	for _, c := range columns {
		col := cols[target.Table.Columns.Index(c.Of)]
		col.Name = c.Name
		out = append(out, col)
	}
	return out
}

// throughRelation names the target as a view does.
func throughRelation(t *sql.Through, alias sql.Ident, target ModifyTarget, cols []Col) *relation {
	rel := &relation{schema: t.View[0].Name, name: t.View.Last().Name, cols: throughColumns(t.Columns, target, cols)}
	if alias.Name != "" {
		rel.schema, rel.name = "", alias.Name
	}
	return rel
}

// open binds the target, the tables joined to it and WHERE: one row for each row of the target that is changed.
func (m *modifyBinder) open(name sql.Name, alias sql.Ident, items []sql.TableExpr, where sql.Expr) {
	b := m.b
	m.node, m.ns = m.scan(name, alias)
	for _, item := range items {
		n, ns := b.tableExpr(item, &scope{ns: m.ns, ctes: b.ctes})
		m.node = b.joinNodes(Cross, m.node, n, nil)
		m.ns = b.mergeNames(m.ns, ns, item.Position())
		m.others = m.others.plus(ns)
	}
	if where != nil {
		x := m.exprs("WHERE")
		m.node = &Filter{Input: m.node, Conditions: conjuncts(nil, x.condition(where))}
	}
	if len(items) > 0 {
		m.node = &DistinctOn{Input: m.node, Keys: []Expr{refTo(m.position)}}
	}
}

func (m *modifyBinder) exprs(clause string) *exprBinder { return m.exprsOver(clause, m.ns) }

func (m *modifyBinder) exprsOver(clause string, ns namespace) *exprBinder {
	return &exprBinder{b: m.b, scope: &scope{ns: ns, ctes: m.b.ctes}, clause: clause}
}

// assign binds the assignments of SET: for each column of the target its new value, nil where none is given.
func (m *modifyBinder) assign(set []sql.Assignment, x *exprBinder) []Expr {
	values := make([]Expr, len(m.target.Table.Columns))
	for _, a := range set {
		places := m.places(a.Columns)
		for i, place := range places {
			if values[place] != nil {
				failHint(a.Columns[i].Pos, sqlerr.SyntaxError, "assign it once", "multiple assignments to same column %q", a.Columns[i].Name)
			}
			values[place] = &Const{Value: vec.NullValue(vec.NullType)} // taken
			m.refuseValue(a, i, place)
		}
		switch v := a.Value.(type) {
		case *sql.Row:
			if a.Multi {
				m.checkWidth(a, len(v.Elems))
				for i, place := range places {
					values[place] = m.value(place, v.Elems[i], x)
				}
				continue
			}
		case *sql.Subquery:
			if a.Multi {
				m.assignQuery(a, v, places, values, x)
				continue
			}
		}
		values[places[0]] = m.value(places[0], a.Value, x)
	}
	return values
}

// refuseValue refuses anything but DEFAULT for a column that takes no values.
func (m *modifyBinder) refuseValue(a sql.Assignment, at, place int) {
	value := a.Value
	if row, ok := a.Value.(*sql.Row); ok && a.Multi && at < len(row.Elems) {
		value = row.Elems[at]
	}
	if _, ok := value.(*sql.Default); !ok {
		m.target.Computed.refuse(place, a.Columns[at].Name, updatedValue, a.Columns[at].Pos)
	}
}

func (m *modifyBinder) checkWidth(a sql.Assignment, width int) {
	if width != len(a.Columns) {
		failHint(a.Pos, sqlerr.SyntaxError, "give one value for each column listed", "number of columns does not match number of values")
	}
}

// assignQuery binds (a, b) = (SELECT x, y ...): the query runs once for each row, NULLs where it has none.
func (m *modifyBinder) assignQuery(a sql.Assignment, q *sql.Subquery, places []int, values []Expr, x *exprBinder) {
	r := x.subquery(q.Query)
	cols := r.cols()
	m.checkWidth(a, len(cols))
	m.node = &Apply{Kind: Single, Left: m.node, Right: r.node}
	for i, place := range places {
		column := m.target.Table.Columns[place]
		values[place] = m.b.assign(refTo(cols[i]), column.Type, `column "`+column.Name+`"`, a.Columns[i].Pos)
	}
}

// value binds what one column is set to; DEFAULT is the column's own.
func (m *modifyBinder) value(place int, e sql.Expr, x *exprBinder) Expr {
	if _, ok := e.(*sql.Default); ok {
		return m.initial(place)
	}
	column := m.target.Table.Columns[place]
	return m.b.assign(x.expr(e), column.Type, `column "`+column.Name+`"`, e.Position())
}

func (m *modifyBinder) initial(place int) Expr {
	i := &insertBinder{b: m.b, target: InsertTarget{Name: m.target.Table.Name, Columns: m.target.Table.Columns, Defaults: m.target.Defaults}}
	return i.initial(place)
}

// places finds columns of the target by name.
func (m *modifyBinder) places(idents []sql.Ident) []int {
	out := make([]int, len(idents))
	for i, ident := range idents {
		out[i] = m.target.Table.Columns.Index(ident.Name)
		if out[i] < 0 {
			var names []string
			for _, c := range m.target.Table.Columns {
				names = append(names, c.Name)
			}
			hint := "see information_schema.columns for those there are"
			if near := sqlerr.Nearest(ident.Name, names); near != "" {
				hint = `did you mean "` + near + `"?`
			}
			failHint(ident.Pos, sqlerr.UndefinedColumn, hint, "column %q of relation %q does not exist", ident.Name, m.target.Table.Name)
		}
	}
	return out
}

// project computes the fixed columns and the values, and passes on what RETURNING may show.
func (m *modifyBinder) project(position, action Expr, values []Expr) {
	b := m.b
	p := &Project{Input: m.node}
	add := func(name string, t vec.Type, e Expr) Col {
		c := b.newCol(name, t, true)
		p.Columns, p.Exprs = append(p.Columns, c), append(p.Exprs, e)
		return c
	}
	m.made = []Col{add("position", vec.Int64Type, position), add("action", vec.Int16Type, action)}
	for c, v := range values {
		m.made = append(m.made, add(m.target.Table.Columns[c].Name, m.target.Table.Columns[c].Type, v))
	}
	passed := m.node.Cols()
	for _, c := range passed {
		p.Columns, p.Exprs = append(p.Columns, c), append(p.Exprs, refTo(c))
	}
	m.node, m.shown = p, m.old
	if values != nil {
		m.node, m.shown = b.compute(p, m.made[ChangesFixed:], m.target.Table.Columns, m.target.Computed)
		m.made = append(m.made[:ChangesFixed:ChangesFixed], m.shown...)
	}
}

// returning binds RETURNING over the target's rows as they are now and the other tables of the statement, and leaves
// the columns that Changes have.
func (m *modifyBinder) returning(items []sql.SelectItem, others namespace) {
	if len(items) > 0 {
		rel := &relation{schema: m.schema, name: m.name, cols: slices.Clone(m.shown)}
		for i := range rel.cols {
			rel.cols[i].Name = m.target.Table.Columns[i].Name
		}
		if m.through != nil {
			rel.cols = throughColumns(m.through.Columns, m.target, m.shown)
		}
		var exprs []Expr
		exprs, m.names = m.b.returningItems(items, namespaceOf(rel).plus(others))
		p := &Project{Input: m.node, Columns: slices.Clone(m.made), Exprs: refsTo(m.made)}
		for i, e := range exprs {
			c := m.b.newCol(m.names[i], e.Type(), true)
			m.returned = append(m.returned, c)
			p.Columns, p.Exprs = append(p.Columns, c), append(p.Exprs, e)
		}
		m.node = p
		return
	}
	m.node = keepCols(m.node, m.made)
}

func (m *modifyBinder) finish() *Changes {
	names := namesOf(m.made)
	names = append(names, m.names...)
	out := &Changes{Query: m.b.finish(result{node: m.node, names: names}), Values: len(m.made) - ChangesFixed}
	out.Returning = out.Schema[len(m.made):]
	return out
}
