package plan

import (
	"slices"

	"github.com/tidemarkdb/tidemark/sql"
	"github.com/tidemarkdb/tidemark/sqlerr"
	"github.com/tidemarkdb/tidemark/vec"
)

// selectBinder binds one SELECT block with the ORDER BY and LIMIT around it. Expressions are bound over the columns of
// FROM with aggregates and windows as columns; group then rewrites them over the groups.
type selectBinder struct {
	b     *binder
	sel   *sql.Select
	q     *sql.Query
	outer *scope
	scope *scope
	block *block

	targets []vec.Type // see binder

	node    Node
	items   []outputItem
	aliases map[string]Expr
	grouper *grouper
	having  []Expr
	qualify []Expr
	keys    []SortKey
	distOn  []Expr
}

// outputItem is one column of the result. source is what it was written as, for GROUP BY ALL.
type outputItem struct {
	name  string
	alias bool
	expr  Expr
	col   Col
}

func (b *binder) selectBlock(sel *sql.Select, q *sql.Query, outer *scope) result {
	s := &selectBinder{b: b, sel: sel, q: q, outer: outer, targets: b.takeTargets(), aliases: map[string]Expr{}}
	if b.selects == 0 {
		b.noteNames(sel)
		for _, item := range q.OrderBy {
			b.noteNames(item.Expr)
		}
	}
	b.selects++
	defer func() { b.selects-- }()
	node, ns := b.from(sel.From, outer)
	s.node = node
	s.block = &block{named: map[string]*sql.Window{}}
	s.scope = &scope{parent: outer, ns: ns, block: s.block, ctes: b.ctes}
	s.block.scope = s.scope
	for _, w := range sel.Windows {
		if s.block.named[w.Name.Name] != nil {
			fail(w.Name.Pos, sqlerr.Windowing, "window %q is already defined", w.Name.Name)
		}
		s.block.named[w.Name.Name] = w.Window
	}
	if sel.Where != nil {
		x := s.binder("WHERE")
		x.block, x.written = nil, sel.Items
		s.node = &Filter{Input: s.node, Conditions: conjuncts(nil, x.condition(sel.Where))}
	}
	s.bindItems()
	s.bindGroups()
	s.bindHaving()
	s.bindOrder()
	return s.build()
}

// binder returns an expression binder for a clause that may contain scalars only.
func (s *selectBinder) binder(clause string) *exprBinder {
	return &exprBinder{b: s.b, scope: s.scope, clause: clause, block: s.block}
}

// over returns one for a clause evaluated after grouping.
func (s *selectBinder) over(clause string, windows bool) *exprBinder {
	x := s.binder(clause)
	x.aggregates, x.windows, x.aliases = true, windows, s.aliases
	s.block.allowAggs = true
	return x
}

func (s *selectBinder) bindItems() {
	x := s.over("SELECT", true)
	x.setReturning = true
	for _, item := range s.sel.Items {
		if star, ok := item.Expr.(*sql.Star); ok {
			s.expandStar(x, star)
			continue
		}
		if call := columnsCall(item.Expr); call != nil {
			s.expandColumns(x, item, call)
			continue
		}
		name, alias := item.Alias.Name, item.Alias.Name != ""
		if !alias {
			name = outputName(item.Expr)
		}
		e := x.expr(item.Expr)
		s.items = append(s.items, outputItem{name: name, alias: alias, expr: e})
		if _, taken := s.aliases[name]; alias && !taken {
			s.aliases[name] = e
		}
	}
	s.block.allowAggs = false
}

// expandStar adds the columns that *, t.* or (expr).* stands for.
func (s *selectBinder) expandStar(x *exprBinder, star *sql.Star) {
	if star.Operand != nil {
		e := x.expr(star.Operand)
		if e.Type().ID != vec.Struct {
			failHint(star.Pos, sqlerr.WrongObjectType, "only a struct has fields", "type %s is not composite", e.Type())
		}
		for i, f := range e.Type().Fields {
			s.items = append(s.items, outputItem{name: f.Name, expr: &Field{Arg: e, Index: i}})
		}
		return
	}
	cols, qualifiers := s.starColumns(star)
	if len(cols) == 0 {
		failHint(star.Pos, sqlerr.SyntaxError, "add a FROM clause", "SELECT * with no tables specified is not valid")
	}
	matches := func(n sql.Name, i int) bool {
		return n.Last().Name == cols[i].Name && (len(n) == 1 || n[len(n)-2].Name == qualifiers[i])
	}
	used := map[int]bool{}
	var written []sql.SelectItem // the same as one would write it
	for i, c := range cols {
		if at := slices.IndexFunc(star.Exclude, func(n sql.Name) bool { return matches(n, i) }); at >= 0 {
			used[at] = true
			continue
		}
		item, as := outputItem{name: c.Name}, sql.SelectItem{}
		if at := slices.IndexFunc(star.Replace, func(r sql.SelectItem) bool { return r.Alias.Name == c.Name }); at >= 0 {
			as = star.Replace[at]
			item.expr = x.expr(as.Expr)
		} else {
			as.Expr = columnOf(qualifiers[i], c.Name, star.Pos)
			item.expr = x.ref(c, s.scope, star.Pos)
		}
		if at := slices.IndexFunc(star.Rename, func(r sql.Rename) bool { return matches(r.Column, i) }); at >= 0 {
			item.name = star.Rename[at].To.Name
			as.Alias = star.Rename[at].To
		}
		s.items, written = append(s.items, item), append(written, as)
	}
	s.checkStar(star, cols, used)
	if s.b.stars != nil {
		s.b.stars(star, written)
	}
}

// columnOf is a column as it is written, of a relation when it is that of one alone.
func columnOf(relation, name string, pos int) *sql.Column {
	column := sql.Name{{Name: name, Quoted: true, Pos: pos}}
	if relation != "" {
		column = append(sql.Name{{Name: relation, Quoted: true, Pos: pos}}, column...)
	}
	return &sql.Column{Name: column, Pos: pos}
}

func (s *selectBinder) starColumns(star *sql.Star) ([]Col, []string) {
	var cols []Col
	var qualifiers []string
	if len(star.Qualifier) > 0 {
		schema := ""
		if len(star.Qualifier) > 1 {
			schema = star.Qualifier[len(star.Qualifier)-2].Name
		}
		name := star.Qualifier.Last().Name
		r, _ := s.scope.relation(schema, name, star.Pos)
		if r == nil {
			missingFrom(s.scope, name, star.Pos)
		}
		for range r.cols {
			qualifiers = append(qualifiers, r.name)
		}
		return r.cols, qualifiers
	}
	for _, c := range s.scope.ns.cols {
		cols = append(cols, c.Col)
		name := ""
		if c.rel != nil {
			name = c.rel.name
		}
		qualifiers = append(qualifiers, name)
	}
	return cols, qualifiers
}

// checkStar refuses EXCLUDE and REPLACE of columns that * does not have.
func (s *selectBinder) checkStar(star *sql.Star, cols []Col, used map[int]bool) {
	for i, n := range star.Exclude {
		if !used[i] {
			failHint(n.Position(), sqlerr.UndefinedColumn, nearest(n.Last().Name, cols), "column %q in EXCLUDE list not found", n.Last().Name)
		}
	}
	for _, r := range star.Replace {
		if !slices.ContainsFunc(cols, func(c Col) bool { return c.Name == r.Alias.Name }) {
			failHint(r.Alias.Pos, sqlerr.UndefinedColumn, nearest(r.Alias.Name, cols), "column %q in REPLACE list not found", r.Alias.Name)
		}
	}
}

func nearest(name string, cols []Col) string {
	if near := sqlerr.Nearest(name, namesOf(cols)); near != "" {
		return "did you mean \"" + near + "\"?"
	}
	return "name a column that * stands for"
}

func (s *selectBinder) bindHaving() {
	if s.sel.Having != nil {
		x := s.over("HAVING", false)
		s.having = conjuncts(nil, x.condition(s.sel.Having))
	}
	if s.sel.Qualify != nil {
		x := s.over("QUALIFY", true)
		s.qualify = conjuncts(nil, x.condition(s.sel.Qualify))
	}
	s.block.allowAggs = false
}

// build puts the parts together, from FROM upwards.
func (s *selectBinder) build() result {
	s.group()
	for _, w := range s.windowGroups() {
		w.Input = s.node
		s.node = w
	}
	if len(s.qualify) > 0 {
		s.node = &Filter{Input: s.node, Conditions: s.qualify}
	}
	if len(s.block.expands) > 0 {
		s.node = expandAll(s.node, s.block.expands)
	}
	return s.project()
}

// windowGroups makes one Window for each window that calls share.
func (s *selectBinder) windowGroups() []*Window {
	var out []*Window
	for _, p := range s.block.windows {
		at := slices.IndexFunc(out, func(w *Window) bool {
			return slices.EqualFunc(w.Partition, p.partition, equalExpr) && slices.EqualFunc(w.Order, p.order, sameKey)
		})
		if at < 0 {
			out = append(out, &Window{Partition: p.partition, Order: p.order})
			at = len(out) - 1
		}
		out[at].Calls = append(out[at].Calls, p.call)
	}
	return out
}

// project computes the select list, then DISTINCT, ORDER BY and LIMIT.
func (s *selectBinder) project() result {
	simple := !s.sel.Distinct && len(s.keys) == 0 && s.q.Limit == nil && s.q.Offset == nil
	p := &Project{Input: s.node}
	nulls := nullsOf(s.node)
	var names []string
	for i := range s.items {
		item := &s.items[i]
		if !simple {
			item.expr = s.settleItem(item.expr, i)
		}
		item.col = s.b.newCol(item.name, item.expr.Type(), nulls.mayBeNull(item.expr))
		p.Columns, p.Exprs = append(p.Columns, item.col), append(p.Exprs, item.expr)
		names = append(names, item.name)
	}
	if simple {
		return result{node: p, names: names}
	}
	out := p.Columns[:len(p.Columns):len(p.Columns)]
	keys := s.outputKeys(p)
	node := Node(p)
	switch {
	case len(s.distOn) > 0:
		node = s.distinctOn(p, keys)
	case s.sel.Distinct:
		node, out, keys = s.distinct(p, keys)
	}
	node = s.b.sortAndLimit(node, keys, s.q, s.scope)
	return result{node: keepCols(node, out), names: names}
}

// settleItem gives select list item i, when its type is open, that of the column it is inserted into, else TEXT.
func (s *selectBinder) settleItem(e Expr, i int) Expr {
	if i < len(s.targets) && unknown(e) {
		return s.b.coerce(e, s.targets[i], s.sel.Pos)
	}
	return s.b.settle(e)
}

// outputKeys makes the ORDER BY keys columns of p, hidden ones where the select list does not have them.
func (s *selectBinder) outputKeys(p *Project) []SortKey {
	keys := make([]SortKey, len(s.keys))
	for i, k := range s.keys {
		keys[i] = k
		keys[i].Expr = s.outputColumn(p, s.b.settle(k.Expr), "for SELECT DISTINCT, ORDER BY expressions must appear in select list")
	}
	return keys
}

func (s *selectBinder) outputColumn(p *Project, e Expr, refusal string) Expr {
	if at := slices.IndexFunc(p.Exprs, func(o Expr) bool { return s.b.sameExpr(o, e) }); at >= 0 {
		return refTo(p.Columns[at])
	}
	if s.sel.Distinct && len(s.distOn) == 0 {
		failHint(s.sel.Pos, sqlerr.InvalidColumnReference, "add the expression to the select list", "%s", refusal)
	}
	c := s.b.newCol("key", e.Type(), true)
	p.Columns, p.Exprs = append(p.Columns, c), append(p.Exprs, e)
	return refTo(c)
}

// distinct groups by every output column.
func (s *selectBinder) distinct(p *Project, keys []SortKey) (Node, []Col, []SortKey) {
	agg := &Aggregate{Input: p}
	by := map[ColID]Expr{}
	for _, c := range p.Columns {
		out := s.b.ids.fresh(c)
		agg.Groups, agg.GroupCols = append(agg.Groups, refTo(c)), append(agg.GroupCols, out)
		by[c.ID] = refTo(out)
	}
	for i := range keys {
		keys[i].Expr = substitute(keys[i].Expr, by)
	}
	return agg, agg.GroupCols, keys
}

// distinctOn keeps the first row, in the query's order, of each combination of the ON expressions.
func (s *selectBinder) distinctOn(p *Project, keys []SortKey) Node {
	n := &DistinctOn{}
	for _, e := range s.distOn {
		n.Keys = append(n.Keys, s.outputColumn(p, s.b.settle(e), ""))
	}
	for i := range min(len(keys), len(n.Keys)) {
		if !slices.ContainsFunc(n.Keys, func(e Expr) bool { return s.b.sameExpr(e, keys[i].Expr) }) {
			failHint(s.sel.Pos, sqlerr.InvalidColumnReference, "begin ORDER BY with the expressions of DISTINCT ON",
				"SELECT DISTINCT ON expressions must match initial ORDER BY expressions")
		}
	}
	n.Input = p
	if len(keys) > 0 {
		n.Input = &Sort{Input: p, Keys: keys, Limit: -1}
	}
	return n
}
