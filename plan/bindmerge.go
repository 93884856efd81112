package plan

import (
	"context"
	"slices"

	"github.com/tidemarkdb/tidemark/sql"
	"github.com/tidemarkdb/tidemark/sqlerr"
	"github.com/tidemarkdb/tidemark/vec"
)

// BindMerge binds MERGE. Rows that no clause acts on are not among the changes; a stored row that two source rows
// change comes twice, which is for the caller to refuse.
func BindMerge(ctx context.Context, t *sql.Merge, target ModifyTarget, cat Catalog, opts Options) (out *Changes, err error) {
	defer recoverFault(&err)
	m := &mergeBinder{modifyBinder: modifyBinder{b: newBinder(ctx, cat, opts), target: target, through: t.Through}, merge: t}
	m.with(t.With, m.bind)
	return m.finish(), nil
}

type mergeBinder struct {
	modifyBinder
	merge   *sql.Merge
	present Col // TRUE in rows that have a source row, NULL in others
	targets namespace
	clause  Col // place of the WHEN clause that acts
}

func (m *mergeBinder) bind() {
	m.join()
	m.chooseClause()
	position, action, values := m.changes()
	m.project(position, action, values)
	m.returning(m.merge.Returning, m.others)
}

func (m *mergeBinder) has(match sql.MergeMatch) bool {
	return slices.ContainsFunc(m.merge.Whens, func(w sql.MergeWhen) bool { return w.Match == match })
}

// join joins source and target, keeping the rows of each side that a clause asks for.
func (m *mergeBinder) join() {
	b := m.b
	source, sourceNS := b.tableExpr(m.merge.Source, &scope{ctes: b.ctes})
	m.present = b.newCol("present", vec.BoolType, true)
	cols := source.Cols()
	marked := &Project{Input: source, Columns: append(slices.Clone(cols), m.present),
		Exprs: append(refsTo(cols), &Const{Value: vec.BoolValue(true)})}
	scan, targetNS := m.scan(m.merge.Table, m.merge.Alias)
	kind := Inner
	switch keepSource, keepTarget := m.has(sql.NotMatched), m.has(sql.NotMatchedBySource); {
	case keepSource && keepTarget:
		kind = Full
	case keepSource:
		kind = Left
	case keepTarget:
		kind = Right
	}
	m.others = padded(sourceNS, kind == Right || kind == Full)
	m.targets = padded(targetNS, kind == Left || kind == Full)
	m.ns = b.mergeNames(m.others, m.targets, m.merge.Pos)
	x := m.exprs("MERGE ON")
	m.node = b.joinNodes(kind, marked, scan, conjuncts(nil, x.condition(m.merge.On)))
}

// chooseClause adds the column clause and drops the rows nothing happens to.
func (m *mergeBinder) chooseClause() {
	number := func(i int) Expr { return &Const{Value: vec.IntValue(vec.Int16Type, int64(i))} }
	choose := &Case{Else: number(-1), T: vec.Int16Type}
	var settled [3]bool // by the kind of match: a clause without a condition leaves nothing for those behind it
	for i, w := range m.merge.Whens {
		if settled[w.Match] {
			failHint(m.merge.Pos, sqlerr.SyntaxError, "leave it out, or put it before the clause without a condition",
				"unreachable WHEN clause specified after unconditional WHEN clause")
		}
		settled[w.Match] = w.And == nil
		if w.Action == sql.MergeNothing {
			i = -1
		}
		choose.When = append(choose.When, m.applies(w))
		choose.Then = append(choose.Then, number(i))
	}
	cols := m.node.Cols()
	m.clause = m.b.newCol("clause", vec.Int16Type, false)
	m.node = &Project{Input: m.node, Columns: append(slices.Clone(cols), m.clause), Exprs: append(refsTo(cols), choose)}
	m.node = &Filter{Input: m.node, Conditions: []Expr{&Compare{Op: Ge, Left: refTo(m.clause), Right: number(0)}}}
}

// applies returns the condition under which a row is a case of w.
func (m *mergeBinder) applies(w sql.MergeWhen) Expr {
	stored := &IsNull{Arg: refTo(m.position), Negate: true}
	sourced := &IsNull{Arg: refTo(m.present), Negate: true}
	var conds []Expr
	switch w.Match {
	case sql.Matched:
		conds = []Expr{stored, sourced}
	case sql.NotMatched:
		conds = []Expr{&IsNull{Arg: refTo(m.position)}}
	default:
		conds = []Expr{&IsNull{Arg: refTo(m.present)}}
	}
	if w.And != nil {
		conds = append(conds, m.exprsOver("MERGE WHEN", m.visible(w)).condition(w.And))
	}
	if len(conds) == 1 {
		return conds[0]
	}
	return &And{Args: conds}
}

// visible returns the names a clause may use: of the side that its rows have.
func (m *mergeBinder) visible(w sql.MergeWhen) namespace {
	switch w.Match {
	case sql.NotMatched:
		return m.others
	case sql.NotMatchedBySource:
		return m.targets
	}
	return m.ns
}

// changes returns the position, the action and the values, by the clause that acts.
func (m *mergeBinder) changes() (position, action Expr, values []Expr) {
	byClause := func(t vec.Type) *Case { return &Case{T: t} }
	actions := byClause(vec.Int16Type)
	cases := make([]*Case, len(m.target.Table.Columns))
	for c, column := range m.target.Table.Columns {
		cases[c] = byClause(column.Type)
	}
	for i, w := range m.merge.Whens {
		if w.Action == sql.MergeNothing {
			continue
		}
		when := &Compare{Op: Eq, Left: refTo(m.clause), Right: &Const{Value: vec.IntValue(vec.Int16Type, int64(i))}}
		act, row := m.row(w)
		actions.When, actions.Then = append(actions.When, when), append(actions.Then, actionConst(act))
		for c := range cases {
			cases[c].When, cases[c].Then = append(cases[c].When, when), append(cases[c].Then, row[c])
		}
	}
	for c := range cases {
		if len(cases[c].When) == 0 { // every clause does nothing
			values = append(values, refTo(m.old[c]))
			continue
		}
		values = append(values, cases[c])
	}
	if len(actions.When) == 0 {
		return refTo(m.position), actionConst(DeleteRow), values
	}
	return refTo(m.position), actions, values
}

// row returns what a clause does and the row that RETURNING shows: the new one, or the one deleted.
func (m *mergeBinder) row(w sql.MergeWhen) (Action, []Expr) {
	switch w.Action {
	case sql.MergeInsert:
		return InsertRow, m.inserted(w)
	case sql.MergeUpdate:
		row := m.assign(w.Set, m.exprsOver("UPDATE", m.visible(w)))
		for c := range row {
			if row[c] == nil {
				row[c] = refTo(m.old[c])
			}
		}
		return UpdateRow, row
	}
	return DeleteRow, refsTo(m.old)
}

// inserted binds the VALUES of WHEN NOT MATCHED THEN INSERT.
func (m *mergeBinder) inserted(w sql.MergeWhen) []Expr {
	row := make([]Expr, len(m.target.Table.Columns))
	places := m.places(w.Columns)
	if len(w.Columns) == 0 {
		for c := range min(len(w.Values), len(row)) {
			places = append(places, c)
		}
	}
	if len(w.Values) > 0 && len(w.Values) != len(places) {
		failHint(w.Pos, sqlerr.SyntaxError, "give one value for each column", "INSERT has %d expressions for %d target columns", len(w.Values), len(places))
	}
	x := m.exprsOver("VALUES", m.visible(w))
	for i, v := range w.Values {
		if _, ok := v.(*sql.Default); !ok {
			m.target.Computed.refuse(places[i], m.target.Table.Columns[places[i]].Name, insertedValue, v.Position())
		}
		if row[places[i]] != nil {
			failHint(w.Columns[i].Pos, sqlerr.DuplicateColumn, "list it once", "column %q specified more than once", w.Columns[i].Name)
		}
		row[places[i]] = m.value(places[i], v, x)
	}
	for c := range row {
		if row[c] == nil {
			row[c] = m.initial(c)
		}
	}
	return row
}
