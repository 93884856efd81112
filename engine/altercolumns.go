package engine

import (
	"context"
	"fmt"
	"slices"

	"github.com/tidemarkdb/tidemark/catalog"
	"github.com/tidemarkdb/tidemark/extension"
	"github.com/tidemarkdb/tidemark/plan"
	"github.com/tidemarkdb/tidemark/sql"
	"github.com/tidemarkdb/tidemark/sqlerr"
	"github.com/tidemarkdb/tidemark/tablestore"
	"github.com/tidemarkdb/tidemark/tablet"
	"github.com/tidemarkdb/tidemark/vec"
)

// alterColumns applies one action of ALTER TABLE to the columns of a table that is open to changes.
func (s *Session) alterColumns(ctx context.Context, t *catalog.Table, action sql.AlterAction) error {
	switch action.Kind {
	case sql.AddColumn:
		return s.addColumn(ctx, t, action)
	case sql.SetPrimaryIndex:
		return s.setPrimaryIndex(ctx, t, action)
	case sql.AddConstraint:
		return s.addConstraint(ctx, t, *action.Constraint)
	case sql.DropConstraint:
		return s.dropConstraint(ctx, t, action)
	}
	at := slices.IndexFunc(t.Columns, func(c tablet.Column) bool { return c.Name == action.Column.Name })
	if at < 0 {
		if action.Kind == sql.DropColumn && action.IfExists {
			return nil
		}
		return missingColumn(t, action.Column)
	}
	columns := slices.Clone(t.Columns)
	switch action.Kind {
	case sql.DropColumn:
		if slices.Contains(t.PrimaryIndex, columns[at].FieldID) {
			return sqlerr.New(sqlerr.DependentObjects, "column %q is part of the PRIMARY INDEX and cannot be dropped", columns[at].Name).
				Hintf("ALTER TABLE %s SET PRIMARY INDEX to other columns first", t.Name)
		}
		now, err := s.dropGenerated(ctx, t, action)
		if err == nil {
			now, err = s.dropKeyColumn(ctx, now, columns[at].FieldID, action)
		}
		if err != nil {
			return err
		}
		return s.dropColumn(ctx, now, slices.IndexFunc(now.Columns, func(c tablet.Column) bool { return c.Name == action.Column.Name }), action.Cascade)
	case sql.RenameColumn:
		return s.renameColumn(ctx, t, at, action.NewName.Name)
	case sql.DropExpression:
		if err := dropExpression(t, columns, at, action); err != nil {
			return err
		}
	case sql.SetDefault:
		if err := refuseDefault(t, columns[at], action); err != nil {
			return err
		}
		if err := s.pinDefault(action.Default); err != nil {
			return err
		}
		if err := s.checkDefault(ctx, columns[at], action.Default); err != nil {
			return err
		}
		columns[at].Default = sql.Text(action.Default)
	case sql.DropDefault:
		if err := refuseDefault(t, columns[at], action); err != nil {
			return err
		}
		columns[at].Default = ""
	case sql.SetNotNull:
		return s.setNotNull(ctx, t, at)
	case sql.DropNotNull:
		if slices.Contains(t.MergeKey, columns[at].FieldID) {
			return sqlerr.New(sqlerr.InvalidTableDefinition, "column %q is in a primary key", columns[at].Name).
				Hintf("key columns are never NULL")
		}
		if columns[at].Identity != "" {
			return identityColumn(t, columns[at], action)
		}
		columns[at].Nullable = true
	case sql.AlterType:
		if err := refuseGenerated(t, action.Column); err != nil {
			return err
		}
		if err := s.alterType(ctx, t, at, action); err != nil {
			return err
		}
		return s.replaceRange(ctx, t.ID, action.Column, action.Type)
	}
	return s.putColumns(ctx, t, columns, t.PrimaryIndex, 0)
}

// pinDefault gives the sequences of a default their full names.
func (s *Session) pinDefault(e sql.Expr) error {
	snapshot, release := s.snapshot()
	defer release()
	return s.pinSequences(snapshot, e)
}

// dropColumn drops a column and the sequence that numbers it.
func (s *Session) dropColumn(ctx context.Context, t *catalog.Table, at int, cascade bool) error {
	snapshot, release := s.snapshot()
	defer release()
	alone := *t
	alone.Columns = t.Columns[at : at+1]
	numbered := owned(snapshot, &alone)
	columns := slices.Delete(slices.Clone(t.Columns), at, at+1)
	change := &catalog.AlterColumns{Table: t.ID, FromVersion: t.SchemaVersion, Columns: columns, PrimaryIndex: t.PrimaryIndex}
	if err := s.checkViews(ctx, t, t.Columns[at].Name, cascade, change); err != nil {
		return err
	}
	if err := s.commit(ctx, change); err != nil {
		return err
	}
	for _, q := range numbered {
		if err := s.commit(ctx, &catalog.DropSequence{Schema: q.Schema, Name: q.Name}); err != nil {
			return err
		}
	}
	return nil
}

func missingColumn(t *catalog.Table, name sql.Ident) error {
	var names []string
	for _, c := range t.Columns {
		names = append(names, c.Name)
	}
	err := sqlerr.New(sqlerr.UndefinedColumn, "column %q of relation %q does not exist", name.Name, t.Name).At(name.Pos)
	if near := sqlerr.Nearest(name.Name, names); near != "" {
		return err.Hintf("did you mean %q?", near)
	}
	return err.Hintf("DESCRIBE %s lists those that do", t.Name)
}

// putColumns replaces the columns; rowsAsOf fences what was found out about the rows.
func (s *Session) putColumns(ctx context.Context, t *catalog.Table, columns []tablet.Column, index []int32, rowsAsOf uint64) error {
	return s.commit(ctx, &catalog.AlterColumns{Table: t.ID, FromVersion: t.SchemaVersion, Columns: columns, PrimaryIndex: index, RowsAsOf: rowsAsOf})
}

// rowsAsOf returns the version that fences what is found out about a table's rows: 0 when the transaction changed
// them itself, so that its other edits fence them.
func (s *Session) rowsAsOf(t *catalog.Table) uint64 {
	if base, ok := s.tx.pin.TableByID(t.ID); ok && base.Tablets.Version() == t.Tablets.Version() {
		return t.Tablets.Version()
	}
	return 0
}

// addColumn adds a column. Rows there are already take its default as it is now: by the description of the column
// alone, or with a volatile default by computing it for each row.
func (s *Session) addColumn(ctx context.Context, t *catalog.Table, action sql.AlterAction) error {
	if _, taken := t.Column(action.Def.Name.Name); taken && action.IfExists {
		return nil
	}
	if err := s.addPlainColumn(ctx, t, action); err != nil {
		return err
	}
	for _, k := range action.Def.Constraints {
		now, err := s.tableNow(t.ID)
		if err != nil {
			return err
		}
		if k.Kind != sql.Check {
			k.Columns = []sql.Ident{action.Def.Name}
		}
		if err := s.addConstraint(ctx, now, k); err != nil {
			return err
		}
	}
	return s.replaceRange(ctx, t.ID, action.Def.Name, action.Def.Type)
}

func (s *Session) addPlainColumn(ctx context.Context, t *catalog.Table, action sql.AlterAction) error {
	def, numbered, err := s.addedSerial(t, *action.Def)
	if err != nil {
		return err
	}
	if numbered != nil {
		if err := s.commit(ctx, numbered); err != nil {
			return err
		}
		action.Def = &def
	}
	column, err := s.columnOf(*action.Def)
	if err != nil {
		return err
	}
	if action.Def.Generated != nil {
		if column, err = s.generatedColumn(ctx, t, column, action.Def.Generated); err != nil {
			return err
		}
	}
	initial := vec.NullValue(column.Type)
	volatile := isComputed(column) // every row has its own value
	if action.Def.Default != nil {
		if err := s.pinDefault(action.Def.Default); err != nil {
			return err
		}
		column.Default = sql.Text(action.Def.Default)
		if err := s.checkDefault(ctx, column, action.Def.Default); err != nil {
			return err
		}
		if volatile = s.volatile(action.Def.Default); !volatile {
			values, err := s.constants(ctx, []sql.Expr{&sql.Cast{Operand: action.Def.Default, Type: action.Def.Type, Pos: action.Pos}})
			if err != nil {
				return err
			}
			initial = values[0]
		}
	}
	column.Initial = tablestore.InitialText(initial)
	var rowsAsOf uint64
	required := !column.Nullable
	if required && initial.Null {
		rowsAsOf = s.rowsAsOf(t)
		if totals := t.Tablets.Totals(); !volatile && totals.BaseRows > totals.MaskedRows {
			return containsNulls(t, column)
		}
		column.Nullable = volatile // until every row has its value
	}
	if volatile {
		rowsAsOf = s.rowsAsOf(t)
	}
	if err := s.putColumns(ctx, t, append(slices.Clone(t.Columns), column), t.PrimaryIndex, rowsAsOf); err != nil || !volatile {
		return err
	}
	if err := s.fillColumn(ctx, t.ID, column.Name, &sql.Default{}); err != nil || !required {
		return err
	}
	now, err := s.tableNow(t.ID)
	if err != nil {
		return err
	}
	return s.setNotNull(ctx, now, len(now.Columns)-1)
}

// volatile reports whether an expression may give another value each time.
func (s *Session) volatile(e sql.Expr) bool {
	found := false
	sql.Walk(e, func(n sql.Node) bool {
		if call, ok := n.(*sql.FuncCall); ok {
			f := s.engine.functions.Scalar(call.Name.Last().Name)
			found = found || f != nil && f.Volatility == extension.Volatile
		}
		return !found
	})
	return found
}

// fillColumn sets a column in every row.
func (s *Session) fillColumn(ctx context.Context, id tablet.TableID, column string, value sql.Expr) error {
	t, err := s.tableNow(id)
	if err != nil {
		return err
	}
	_, err = s.modifyOnce(ctx, &sql.Update{Table: nameOf(t), Set: []sql.Assignment{{Columns: []sql.Ident{{Name: column}}, Value: value}}}, nil)
	return err
}

func nameOf(t *catalog.Table) sql.Name { return sql.Name{{Name: t.Schema}, {Name: t.Name}} }

// checkDefault refuses a default that is not of its column's type or looks at rows.
func (s *Session) checkDefault(ctx context.Context, column tablet.Column, e sql.Expr) error {
	if err := s.plainExpr(e, "DEFAULT expression"); err != nil {
		return err
	}
	var fault error
	eachColumn(e, func(c *sql.Column) {
		fault = sqlerr.New(sqlerr.FeatureNotSupported, "cannot use column reference in DEFAULT expression").
			Hintf("a default looks at no row; text goes in single quotes").At(c.Pos)
	})
	if fault != nil {
		return fault
	}
	snapshot, release := s.snapshot()
	defer release()
	relations := s.relations(ctx, snapshot)
	defer relations.release()
	insert := &sql.Insert{Table: sql.Name{{Name: column.Name}}, Source: nil}
	target := plan.InsertTarget{Name: column.Name, Columns: vec.Schema{tablestore.VecColumn(column)}, Defaults: []string{sql.Text(e)}}
	_, err := plan.BindInsert(ctx, insert, target, relations, plan.Options{})
	return err
}

func containsNulls(t *catalog.Table, c tablet.Column) error {
	return sqlerr.New(sqlerr.NotNullViolation, "column %q of relation %q contains null values", c.Name, t.Name).
		Hintf("give the column a DEFAULT, or fill it with UPDATE and SET NOT NULL then")
}

// setNotNull makes a column required once no row has NULL in it.
func (s *Session) setNotNull(ctx context.Context, t *catalog.Table, at int) error {
	rowsAsOf := s.rowsAsOf(t)
	test := &sql.Select{
		Items: []sql.SelectItem{{Expr: &sql.Number{Text: "1"}}}, From: []sql.TableExpr{&sql.Table{Name: nameOf(t)}},
		Where: &sql.IsTest{Operand: &sql.Column{Name: sql.Name{{Name: t.Columns[at].Name}}}, Test: sql.IsNull},
	}
	result, err := s.query(ctx, &sql.Query{Body: test, Limit: &sql.Number{Text: "1"}}, nil)
	if err != nil {
		return err
	}
	defer result.Close()
	batch, err := result.Next(ctx)
	if err != nil {
		return err
	}
	if batch != nil && batch.N > 0 {
		return containsNulls(t, t.Columns[at])
	}
	columns := slices.Clone(t.Columns)
	columns[at].Nullable = false
	return s.putColumns(ctx, t, columns, t.PrimaryIndex, rowsAsOf)
}

func (s *Session) setPrimaryIndex(ctx context.Context, t *catalog.Table, action sql.AlterAction) error {
	var index []int32
	for _, name := range action.Columns {
		c, ok := t.Column(name.Name)
		if !ok {
			return missingColumn(t, name)
		}
		index = append(index, c.FieldID)
	}
	return s.putColumns(ctx, t, t.Columns, index, 0)
}

// renameColumn renames a column, in the expressions and views that mention it too.
func (s *Session) renameColumn(ctx context.Context, t *catalog.Table, at int, name string) error {
	columns := slices.Clone(t.Columns)
	from := columns[at].Name
	columns[at].Name = name
	constraints, indexes := slices.Clone(t.Constraints), slices.Clone(t.Indexes)
	var err error
	rename := func(text *string) {
		if *text != "" && err == nil {
			*text, err = renamed(*text, from, name)
		}
	}
	for i := range columns {
		rename(&columns[i].Generated)
	}
	for i := range constraints {
		rename(&constraints[i].Expr)
	}
	for i := range indexes {
		indexes[i].Exprs = slices.Clone(indexes[i].Exprs)
		for at := range indexes[i].Exprs {
			rename(&indexes[i].Exprs[at])
		}
		rename(&indexes[i].Where)
	}
	if err != nil {
		return err
	}
	snapshot, release := s.snapshot()
	defer release()
	change := &catalog.AlterColumns{Table: t.ID, FromVersion: t.SchemaVersion, Columns: columns, PrimaryIndex: t.PrimaryIndex}
	views := s.followRenamed(snapshot, object{t.Schema, t.Name}, from, name, change)
	if err := s.commit(ctx, append([]catalog.Edit{change}, views...)...); err != nil || len(constraints)+len(indexes) == 0 {
		return err
	}
	now, err := s.tableNow(t.ID)
	if err != nil {
		return err
	}
	return s.putConstraints(ctx, now, now.KeyName, constraints, indexes)
}

// freeName returns a name that no column has.
func freeName(t *catalog.Table, like string) string {
	for i := 1; ; i++ {
		name := fmt.Sprintf("%.200s_%d", like, i)
		if _, taken := t.Column(name); !taken {
			return name
		}
	}
}
