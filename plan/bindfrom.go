package plan

import (
	"slices"

	"github.com/tidemarkdb/tidemark/extension"
	"github.com/tidemarkdb/tidemark/sql"
	"github.com/tidemarkdb/tidemark/sqlerr"
	"github.com/tidemarkdb/tidemark/vec"
)

// from binds a FROM clause; without one there is a single row.
func (b *binder) from(items []sql.TableExpr, outer *scope) (Node, namespace) {
	if len(items) == 0 {
		return oneRow(), namespace{}
	}
	var node Node
	var ns namespace
	for _, item := range items {
		n, itemNS := b.tableExpr(item, &scope{parent: outer, ns: ns, ctes: b.ctes})
		if node == nil {
			node = n
		} else {
			node = b.joinNodes(Cross, node, n, nil)
		}
		ns = b.mergeNames(ns, itemNS, item.Position())
	}
	return node, ns
}

func (b *binder) mergeNames(l, r namespace, pos int) namespace {
	for _, x := range r.relations {
		if slices.ContainsFunc(l.relations, func(y *relation) bool { return x.name != "" && x.name == y.name && x.schema == y.schema }) {
			failHint(pos, sqlerr.DuplicateAlias, "give one of them another alias", "table name %q specified more than once", x.name)
		}
	}
	return l.plus(r)
}

// joinNodes joins two FROM items; a right side that refers to the left becomes an Apply.
func (b *binder) joinNodes(kind JoinKind, left, right Node, on []Expr) Node {
	if !freeCols(right).intersects(colsOf(left)) {
		return normalizeJoin(&Join{Kind: kind, Left: left, Right: right, Other: on})
	}
	if e, ok := right.(*Expand); ok && isOneRow(e.Input) && (kind == Cross || kind == Inner || kind == Left && allTrue(on)) {
		c := *e
		c.Input, c.Outer = left, kind == Left
		if len(on) > 0 && kind != Left {
			return &Filter{Input: &c, Conditions: on}
		}
		return &c
	}
	if kind == Left && allTrue(on) {
		on = nil
	}
	return &Apply{Kind: kind, Left: left, Right: right, On: on}
}

func isOneRow(n Node) bool {
	v, ok := n.(*Values)
	return ok && len(v.Rows) == 1 && len(v.Columns) == 0
}

func allTrue(conds []Expr) bool {
	for _, c := range conds {
		if k, ok := c.(*Const); !ok || k.Value.Null || k.Value.I == 0 {
			return false
		}
	}
	return true
}

// tableExpr binds one FROM item. lateral shows the items before it, its parent the query around.
func (b *binder) tableExpr(item sql.TableExpr, lateral *scope) (Node, namespace) {
	n, ns := b.wholeTable(item, lateral)
	if s := sampleOf(item); s != nil {
		n = b.sampled(n, s, item.Position())
	}
	return n, ns
}

// wholeTable binds a FROM item without its TABLESAMPLE.
func (b *binder) wholeTable(item sql.TableExpr, lateral *scope) (Node, namespace) {
	switch t := item.(type) {
	case *sql.Table:
		return b.table(t)
	case *sql.Derived:
		at := lateral.parent
		if t.Lateral {
			at = lateral
		}
		r := b.query(t.Query, at)
		node, _ := b.settleUnknown(r)
		return node, b.named(node.Cols(), r.names, t.Alias.Name.Name, t.Alias, t.Pos)
	case *sql.FuncTable:
		return b.functionTable(t, lateral)
	case *sql.FileTable:
		return b.fileTable(t, lateral)
	case *sql.Join:
		return b.join(t, lateral)
	}
	fail(item.Position(), sqlerr.FeatureNotSupported, "%T in FROM is not supported", item)
	return nil, namespace{}
}

// named makes the namespace of one relation, its columns renamed by the alias.
func (b *binder) named(cols []Col, names []string, name string, alias sql.TableAlias, pos int) namespace {
	r := &relation{name: name, cols: slices.Clone(cols)}
	for i := range r.cols {
		r.cols[i].Name = names[i]
	}
	b.renameColumns(r, alias, pos)
	return namespaceOf(r)
}

func (b *binder) renameColumns(r *relation, alias sql.TableAlias, pos int) {
	if alias.Name.Name != "" {
		r.name, r.schema = alias.Name.Name, ""
	}
	if len(alias.Columns) > len(r.cols) {
		failHint(pos, sqlerr.InvalidColumnReference, "name at most as many as there are",
			"table %q has %d columns available but %d columns specified", r.name, len(r.cols), len(alias.Columns))
	}
	for i, c := range alias.Columns {
		r.cols[i].Name = c.Name
	}
}

func (b *binder) table(t *sql.Table) (Node, namespace) {
	if len(t.Name) > 3 {
		fail(t.Pos, sqlerr.SyntaxError, "improper qualified name (too many dotted names)")
	}
	name, schema := t.Name.Last().Name, ""
	if len(t.Name) >= 2 {
		schema = t.Name[len(t.Name)-2].Name
	}
	if entry := b.ctes.find(name); entry != nil && schema == "" {
		cols := make([]Col, len(entry.cols))
		for i, c := range entry.cols {
			cols[i] = b.ids.fresh(c)
		}
		node := &CTERef{ID: entry.id, Name: entry.name, Columns: cols}
		return node, b.named(cols, entry.names, name, t.Alias, t.Pos)
	}
	asOf := b.asOf(t.AsOf)
	rel, err := b.cat.Relation(schema, name, asOf)
	check(err, t.Pos)
	switch rel := rel.(type) {
	case *Table:
		return b.storedTable(t, rel)
	case *View:
		return b.view(t, rel)
	case *Virtual:
		node := b.sourceScan(rel.Name, rel.Source)
		ns := b.named(node.Columns, namesOf(node.Columns), rel.Name, t.Alias, t.Pos)
		if t.Alias.Name.Name == "" {
			ns.relations[0].schema = rel.Schema
		}
		return node, ns
	}
	panic(internalf("unknown relation %T", rel))
}

func (b *binder) storedTable(t *sql.Table, rel *Table) (Node, namespace) {
	scan := b.scanOf(rel)
	r := &relation{schema: rel.Schema, name: rel.Name, cols: slices.Clone(scan.Columns), table: rel}
	b.renameColumns(r, t.Alias, t.Pos)
	return scan, namespaceOf(r)
}

func (b *binder) scanOf(rel *Table) *Scan {
	scan := &Scan{Table: rel}
	for i, c := range rel.Columns {
		scan.Columns = append(scan.Columns, b.newCol(c.Name, c.Type, c.Nullable))
		scan.Ordinals = append(scan.Ordinals, i)
	}
	return scan
}

func (b *binder) sourceScan(name string, src extension.TableSource) *SourceScan {
	n := &SourceScan{Name: name, Source: src}
	for i, c := range src.Schema() {
		n.Columns = append(n.Columns, b.newCol(c.Name, c.Type, c.Nullable))
		n.Ordinals = append(n.Ordinals, i)
	}
	return n
}

// view binds a view's query as if it were written here, without the names in sight here.
func (b *binder) view(t *sql.Table, v *View) (Node, namespace) {
	if slices.Contains(b.views, v) || len(b.views) > 64 {
		fail(t.Pos, sqlerr.InvalidObjectDefinition, "infinite recursion detected in rules for relation %q", v.Name)
	}
	saved := b.ctes
	b.ctes = nil
	b.views = append(b.views, v)
	b.noteNames(v.Query)
	r := b.query(v.Query, nil)
	b.views = b.views[:len(b.views)-1]
	b.ctes = saved
	node, cols := b.settleUnknown(r)
	names := slices.Clone(r.names)
	copy(names, v.Columns)
	ns := b.named(cols, names, v.Name, t.Alias, t.Pos)
	if t.Alias.Name.Name == "" {
		ns.relations[0].schema = v.Schema
	}
	return node, ns
}

func (b *binder) asOf(a *sql.AsOf) *AsOf {
	if a == nil {
		return nil
	}
	pos := a.Value.Position()
	if a.Version {
		v := b.constant(a.Value, vec.Int64Type, "AT", pos)
		if v.Null || v.I < 1 {
			failHint(pos, sqlerr.InvalidParameterValue, "versions count from 1", "invalid table version")
		}
		return &AsOf{Version: uint64(v.I)}
	}
	v := b.constant(a.Value, vec.TimestampTZType, "AS OF", pos)
	if v.Null {
		fail(pos, sqlerr.NullNotAllowed, "AS OF must not be null")
	}
	return &AsOf{Micros: v.I}
}

// constant binds and computes an expression that must not depend on rows.
func (b *binder) constant(e sql.Expr, t vec.Type, clause string, pos int) vec.Value {
	x := &exprBinder{b: b, scope: &scope{ctes: b.ctes}, clause: clause}
	bound := b.assign(x.expr(e), t, clause, pos)
	v, err := b.evalConstant(bound)
	check(err, pos)
	return v
}

func (b *binder) evalConstant(e Expr) (vec.Value, error) {
	hasParam := false
	walkExpr(e, func(e Expr) bool { _, p := e.(*Param); hasParam = hasParam || p; return true })
	if hasParam || hasSubquery(e) {
		return vec.Value{}, sqlerr.New(sqlerr.FeatureNotSupported, "a parameter or subquery is not supported here").
			Hintf("write a constant")
	}
	return evaluate(b.eval, e)
}
