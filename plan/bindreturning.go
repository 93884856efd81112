package plan

import (
	"context"
	"slices"

	"github.com/tidemarkdb/tidemark/extension"
	"github.com/tidemarkdb/tidemark/sql"
	"github.com/tidemarkdb/tidemark/sqlerr"
	"github.com/tidemarkdb/tidemark/vec"
)

// returningItems binds the list of RETURNING over names.
func (b *binder) returningItems(items []sql.SelectItem, ns namespace) ([]Expr, []string) {
	s := &selectBinder{b: b, sel: &sql.Select{Items: items}, q: &sql.Query{}, aliases: map[string]Expr{}}
	s.block = &block{named: map[string]*sql.Window{}}
	s.scope = &scope{ns: ns, block: s.block, ctes: b.ctes}
	s.block.scope = s.scope
	s.bindItems()
	if len(s.block.aggs)+len(s.block.windows)+len(s.block.expands)+len(s.block.groupings) > 0 {
		failHint(items[0].Expr.Position(), sqlerr.Grouping, "return the rows and aggregate in the client, or query the table afterwards",
			"aggregate, window and set-returning functions are not allowed in RETURNING")
	}
	var exprs []Expr
	var names []string
	for _, item := range s.items {
		exprs, names = append(exprs, b.settle(item.expr)), append(names, item.name)
	}
	return exprs, names
}

// BindReturning binds RETURNING of an INSERT over rows of the target that source holds in the table's columns.
func BindReturning(ctx context.Context, t *sql.Insert, target ModifyTarget, source extension.TableSource, cat Catalog, opts Options) (out *Query, err error) {
	defer recoverFault(&err)
	b := newBinder(ctx, cat, opts)
	scan := b.sourceScan(target.Table.Name, source)
	rel := insertedRelation(t, target, scan.Columns)
	exprs, names := b.returningItems(t.Returning, namespaceOf(rel))
	p := &Project{Input: scan, Exprs: exprs}
	for i, e := range exprs {
		p.Columns = append(p.Columns, b.newCol(names[i], e.Type(), true))
	}
	return b.finish(result{node: p, names: names}), nil
}

// insertedRelation names the target of an INSERT over columns that hold its rows.
func insertedRelation(t *sql.Insert, target ModifyTarget, cols []Col) *relation {
	if t.Through != nil {
		return throughRelation(t.Through, t.Alias, target, cols)
	}
	rel := &relation{schema: target.Table.Schema, name: target.Table.Name, cols: slices.Clone(cols)}
	if t.Alias.Name != "" {
		rel.schema, rel.name = "", t.Alias.Name
	}
	for i := range rel.cols {
		rel.cols[i].Name = target.Table.Columns[i].Name
	}
	return rel
}

// ConflictSchema returns the columns that the source of [BindConflict] has: the position of the stored row, its
// columns, and those of the row that was to be inserted.
func ConflictSchema(target *Table) vec.Schema {
	out := vec.Schema{{Name: "position", Type: vec.Int64Type}}
	out = append(out, target.Columns...)
	return append(out, target.Columns...)
}

// BindConflict binds ON CONFLICT DO UPDATE over the rows that conflict, which source holds as [ConflictSchema] says.
func BindConflict(ctx context.Context, t *sql.Insert, target ModifyTarget, source extension.TableSource, cat Catalog, opts Options) (out *Changes, err error) {
	defer recoverFault(&err)
	m := &modifyBinder{b: newBinder(ctx, cat, opts), target: target}
	scan := m.b.sourceScan(target.Table.Name, source)
	n := len(target.Table.Columns)
	m.position, m.old = scan.Columns[0], scan.Columns[1:1+n]
	stored := insertedRelation(t, target, m.old)
	proposed := insertedRelation(t, target, scan.Columns[1+n:])
	proposed.schema, proposed.name = "", "excluded"
	m.ns = namespaceOf(stored)
	m.ns.relations = append(m.ns.relations, proposed) // bare names are the stored row's
	m.node = scan
	if t.OnConflict.Where != nil {
		x := m.exprs("WHERE")
		m.node = &Filter{Input: m.node, Conditions: conjuncts(nil, x.condition(t.OnConflict.Where))}
	}
	values := m.assign(t.OnConflict.Update, m.exprs("UPDATE"))
	for c, v := range values {
		if v == nil {
			values[c] = refTo(m.old[c])
		}
	}
	m.project(refTo(m.position), actionConst(UpdateRow), values)
	m.returning(nil, namespace{})
	return m.finish(), nil
}
