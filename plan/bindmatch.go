package plan

import (
	"context"

	"github.com/tidemarkdb/tidemark/sql"
	"github.com/tidemarkdb/tidemark/vec"
)

// BindMatches binds the pairs of a stored row of the target, which the condition calls by its alias, and a row of
// another table for which the condition holds: the position of the stored row, then the items.
func BindMatches(ctx context.Context, target ModifyTarget, alias sql.Ident, with sql.TableExpr, on sql.Expr, items []sql.SelectItem, cat Catalog, opts Options) (out *Query, err error) {
	defer recoverFault(&err)
	b := newBinder(ctx, cat, opts)
	m := &modifyBinder{b: b, target: target}
	m.node, m.ns = m.scan(sql.Name{{Name: target.Table.Name}}, alias)
	other, ns := b.tableExpr(with, &scope{ctes: b.ctes})
	m.ns = b.mergeNames(m.ns, ns, 0)
	m.node = b.joinNodes(Inner, other, m.node, conjuncts(nil, m.exprs("ON").condition(on)))
	exprs, names := b.returningItems(items, m.ns)
	p := &Project{Input: m.node, Exprs: append([]Expr{refTo(m.position)}, exprs...)}
	p.Columns = []Col{b.newCol("position", vec.Int64Type, false)}
	for i, e := range exprs {
		p.Columns = append(p.Columns, b.newCol(names[i], e.Type(), true))
	}
	return b.finish(result{node: p, names: append([]string{"position"}, names...)}), nil
}
