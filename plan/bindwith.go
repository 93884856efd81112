package plan

import (
	"slices"

	"github.com/tidemarkdb/tidemark/extension"
	"github.com/tidemarkdb/tidemark/sql"
	"github.com/tidemarkdb/tidemark/sqlerr"
	"github.com/tidemarkdb/tidemark/vec"
)

// withClause binds WITH and then the body, which sees its names.
func (b *binder) withClause(q *sql.Query, outer *scope) result {
	return b.with(q.With, outer, func() result { return b.body(q, outer) })
}

// with binds the common table expressions of WITH, if there is one, and then the body.
func (b *binder) with(w *sql.With, outer *scope, body func() result) result {
	if w == nil {
		return body()
	}
	saved, targets := b.ctes, b.takeTargets()
	defer func() { b.ctes = saved }()
	type bound struct {
		entry       *cteEntry
		def         Node
		materialize sql.Materialization
	}
	var all []bound
	for i := range w.CTEs {
		c := &w.CTEs[i]
		for _, other := range w.CTEs[:i] {
			if other.Name.Name == c.Name.Name {
				fail(c.Name.Pos, sqlerr.DuplicateAlias, "WITH query name %q specified more than once", c.Name.Name)
			}
		}
		entry, def := b.commonTable(c, w.Recursive, outer)
		all = append(all, bound{entry, def, c.Materialize})
		b.ctes = &cteScope{parent: b.ctes, entry: entry}
	}
	b.targets = targets
	r := body()
	for _, c := range slices.Backward(all) {
		r.node = &CTE{ID: c.entry.id, Name: c.entry.name, Def: c.def, Body: r.node,
			Materialize: c.materialize == sql.MaterializeAlways, Inline: c.materialize == sql.MaterializeNever}
	}
	return r
}

func (b *binder) commonTable(c *sql.CTE, recursive bool, outer *scope) (*cteEntry, Node) {
	if c.Change != nil {
		failHint(c.Name.Pos, sqlerr.FeatureNotSupported, "run the statement that changes data by itself first",
			"a statement that changes data in WITH cannot be explained, copied or kept in a view")
	}
	entry := &cteEntry{id: b.ids.nextCTE(), name: c.Name.Name}
	if recursive {
		if def := b.recursive(c, entry, outer); def != nil {
			return entry, def
		}
	}
	r := b.query(c.Query, outer)
	node, cols := b.settleUnknown(r)
	entry.cols, entry.names = cols, b.cteNames(c, r.names)
	return entry, node
}

func (b *binder) cteNames(c *sql.CTE, names []string) []string {
	if len(c.Columns) > len(names) {
		failHint(c.Name.Pos, sqlerr.InvalidColumnReference, "name at most as many as there are",
			"WITH query %q has %d columns available but %d columns specified", c.Name.Name, len(names), len(c.Columns))
	}
	names = slices.Clone(names)
	for i, id := range c.Columns {
		names[i] = id.Name
	}
	return names
}

// recursive binds base UNION [ALL] step where step refers to the CTE itself; nil when it does not.
func (b *binder) recursive(c *sql.CTE, entry *cteEntry, outer *scope) Node {
	q := c.Query
	var with *sql.With
	if w, ok := q.(*sql.Query); ok && len(w.OrderBy) == 0 && w.Limit == nil && w.Offset == nil && !withMentions(w.With, c.Name.Name) {
		q, with = w.Body, w.With
	}
	set, ok := q.(*sql.SetOp)
	if !ok || set.Kind != sql.Union || !mentions(set.Right, c.Name.Name) {
		if mentions(c.Query, c.Name.Name) {
			failHint(c.Name.Pos, sqlerr.InvalidRecursion, "write base UNION ALL step",
				"recursive query %q does not have the form non-recursive-term UNION [ALL] recursive-term", c.Name.Name)
		}
		return nil
	}
	if mentions(set.Left, c.Name.Name) {
		failHint(c.Name.Pos, sqlerr.InvalidRecursion, "refer to it on the right of UNION only",
			"recursive reference to query %q must not appear within its non-recursive term", c.Name.Name)
	}
	return b.with(with, outer, func() result { return result{node: b.recursiveUnion(c, set, entry, outer)} }).node
}

func (b *binder) recursiveUnion(c *sql.CTE, set *sql.SetOp, entry *cteEntry, outer *scope) Node {
	r := b.query(set.Left, outer)
	base, cols := b.settleUnknown(r)
	entry.names = b.cteNames(c, r.names)
	for _, col := range cols {
		col.Nullable = true
		entry.cols = append(entry.cols, col)
	}
	bindStep := func() result {
		saved := b.ctes
		b.ctes = &cteScope{parent: saved, entry: entry}
		defer func() { b.ctes = saved }()
		return b.query(set.Right, outer)
	}
	step := bindStep()
	if len(step.cols()) != len(cols) {
		fail(set.Pos, sqlerr.SyntaxError, "each UNION query must have the same number of columns")
	}
	types, wider := recursiveTypes(cols, step.cols())
	if wider {
		base = b.coerceColumns(base, types, set.Pos)
		for i := range entry.cols {
			entry.cols[i].Type = types[i]
		}
		step = bindStep()
	}
	for i, sc := range step.cols() {
		if sc.Type.ID == vec.Null || extension.ImplicitCast(sc.Type, types[i]) {
			continue
		}
		failHint(set.Pos, sqlerr.DatatypeMismatch, "cast the output of the non-recursive term to the correct type",
			"recursive query %q column %d has type %s in non-recursive term but type %s overall", c.Name.Name, i+1, types[i], sc.Type)
	}
	out := &RecursiveCTE{ID: entry.id, Name: entry.name, Base: base, Step: b.coerceColumns(step.node, types, set.Pos), Distinct: !set.All}
	for _, col := range entry.cols {
		out.Columns = append(out.Columns, b.ids.fresh(col))
	}
	// From here on the name stands for all rows, not for a round of them.
	entry.id, entry.cols = b.ids.nextCTE(), out.Columns
	return out
}

// recursiveTypes are the types of the columns of a recursive table expression: those of its base. A NUMERIC of which
// the step makes a larger one has room for what the steps after it make, which nothing bounds.
func recursiveTypes(base, step []Col) (types []vec.Type, wider bool) {
	for i, c := range base {
		t, s := c.Type, step[i].Type
		if t.ID == vec.Decimal && s.ID == vec.Decimal && (s.Precision > t.Precision || s.Scale > t.Scale) {
			scale := t.Scale
			if s.Scale > scale {
				scale = max(s.Scale, recursiveScale)
			}
			t, wider = vec.DecimalType(vec.MaxPrecision, int(scale)), true
		}
		types = append(types, t)
	}
	return types, wider
}

// recursiveScale is the scale of a NUMERIC whose fraction grows from step to step, that of a quotient.
const recursiveScale = 16

// mentions reports whether a table of that bare name is read anywhere in q.
func mentions(q sql.QueryExpr, name string) bool {
	found := false
	sql.Walk(q, func(n sql.Node) bool {
		if t, ok := n.(*sql.Table); ok && len(t.Name) == 1 && t.Name[0].Name == name {
			found = true
		}
		return !found
	})
	return found
}

// withMentions reports whether a table expression of WITH reads a table of that bare name.
func withMentions(w *sql.With, name string) bool {
	return w != nil && slices.ContainsFunc(w.CTEs, func(c sql.CTE) bool { return c.Query != nil && mentions(c.Query, name) })
}
