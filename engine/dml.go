package engine

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/tidemarkdb/tidemark/catalog"
	"github.com/tidemarkdb/tidemark/exec"
	"github.com/tidemarkdb/tidemark/plan"
	"github.com/tidemarkdb/tidemark/sql"
	"github.com/tidemarkdb/tidemark/sqlerr"
	"github.com/tidemarkdb/tidemark/vec"
)

// maxStatementRuns bounds how often a statement is run again because maintenance rewrote what it was to change.
const maxStatementRuns = 10

// modify runs a statement that changes rows. One that is a transaction of its own is run again on what is newest when
// nobody changed its rows but their tablets were rewritten meanwhile.
func (s *Session) modify(ctx context.Context, statement sql.Statement, args []vec.Value) (*Result, error) {
	for run := 1; ; run++ {
		result, err := s.modifyOnce(ctx, statement, args)
		if err == nil || s.tx != nil || !errors.Is(err, errRewritten) || run == maxStatementRuns || readsOnce(statement) {
			return result, err
		}
	}
}

// readsOnce reports whether what a statement adds may come from a source that cannot be read again.
func readsOnce(statement sql.Statement) bool {
	t, ok := statement.(*sql.Insert)
	if !ok || t.OnConflict != nil || t.Source == nil {
		return false
	}
	once := false
	sql.Walk(t.Source, func(n sql.Node) bool {
		switch n := n.(type) {
		case *sql.FuncTable, *sql.FileTable:
			once = true
		case *sql.Table:
			once = once || n.Name.Last().Name == incoming
		}
		return !once
	})
	return once
}

func (s *Session) modifyOnce(ctx context.Context, statement sql.Statement, args []vec.Value) (*Result, error) {
	snapshot, release := s.snapshot()
	defer release()
	statement, err := s.throughView(snapshot, statement)
	if err != nil {
		return nil, err
	}
	if err := s.checkTargets(snapshot, statement); err != nil {
		return nil, err
	}
	if s.tx == nil && s.actsOn(snapshot, statement) {
		var result *Result
		err := s.atomically(ctx, func() (err error) {
			result, err = s.modifyOnce(ctx, statement, args)
			return err
		})
		return result, err
	}
	switch t := statement.(type) {
	case *sql.Insert:
		return s.insert(ctx, snapshot, t, args)
	case *sql.Truncate:
		return s.truncate(ctx, snapshot, t)
	case *sql.Copy:
		return s.copyStatement(ctx, snapshot, t)
	}
	return s.changeRows(ctx, snapshot, statement, args)
}

// checkTargets refuses tables that take no direct changes, before anything else of the statement is looked at.
func (s *Session) checkTargets(snapshot *catalog.Snapshot, statement sql.Statement) error {
	check := func(name sql.Name, action string) error {
		table, err := s.table(snapshot, name)
		if err != nil {
			return err
		}
		if err := refuseDML(table, action); err != nil {
			return sqlerr.From(err).At(name.Position())
		}
		if s.engine.options.ReadOnly {
			return readOnlyEngine()
		}
		return nil
	}
	switch t := statement.(type) {
	case *sql.Insert:
		return check(t.Table, "insert into")
	case *sql.Update:
		return check(t.Table, "update")
	case *sql.Delete:
		return check(t.Table, "delete from")
	case *sql.Merge:
		return check(t.Table, "merge into")
	case *sql.Truncate:
		for _, name := range t.Tables {
			if err := check(name, "truncate"); err != nil {
				return err
			}
		}
	case *sql.Copy:
		if t.From {
			return check(t.Table, "copy into")
		}
	}
	return nil
}

func (s *Session) truncate(ctx context.Context, snapshot *catalog.Snapshot, t *sql.Truncate) (*Result, error) {
	var tables []*catalog.Table
	for _, name := range t.Tables {
		table, err := s.table(snapshot, name)
		if err != nil {
			return nil, err
		}
		tables = append(tables, table)
	}
	var edits []catalog.Edit
	for i := 0; i < len(tables); i++ { // CASCADE makes it longer
		table := tables[i]
		for _, id := range table.ReferencedBy {
			by, ok := snapshot.TableByID(id)
			if !ok || slices.ContainsFunc(tables, func(t *catalog.Table) bool { return t.ID == id }) {
				continue
			}
			if !t.Cascade {
				return nil, sqlerr.New(sqlerr.FeatureNotSupported, "cannot truncate a table referenced in a foreign key constraint").
					Detailf("Table %q references %q.", by.Name, table.Name).
					Hintf("truncate table %q at the same time, or use TRUNCATE ... CASCADE", by.Name)
			}
			tables = append(tables, by)
		}
		edits = append(edits, &catalog.Truncate{Table: table.ID, SchemaVersion: table.SchemaVersion})
		if t.Restart {
			anew, err := s.restart(ctx, snapshot, table)
			if err != nil {
				return nil, err
			}
			edits = append(edits, anew...)
		}
	}
	return done("TRUNCATE TABLE"), s.commit(ctx, edits...)
}

// changeRows runs UPDATE, DELETE or MERGE.
func (s *Session) changeRows(ctx context.Context, snapshot *catalog.Snapshot, statement sql.Statement, args []vec.Value) (*Result, error) {
	table, err := s.table(snapshot, targetOf(statement))
	if err != nil {
		return nil, err
	}
	bound, err := s.bindChanges(ctx, snapshot, table, statement, typesOf(args))
	if err != nil {
		return nil, err
	}
	c := s.change(table, setsKey(table, statement), s.newRules(snapshot, table, setsColumn(table, statement), true))
	defer c.writer.abort()
	_, c.once = statement.(*sql.Merge)
	returned, err := s.runChanges(ctx, c, bound, args)
	if err != nil {
		return nil, err
	}
	if err := c.commit(ctx, snapshot); err != nil {
		return nil, err
	}
	return changed(verbOf(statement), c.affected, bound.Returning, returned), nil
}

// changed returns the result of a statement that changed rows.
func changed(verb string, affected int64, returning vec.Schema, returned []*vec.Batch) *Result {
	tag := fmt.Sprintf("%s %d", verb, affected)
	if len(returning) == 0 {
		return &Result{Tag: tag, RowsAffected: affected}
	}
	r := rowsOf(tag, returning, returned...)
	r.RowsAffected = affected
	return r
}

// runChanges runs bound and applies its rows to c. It returns what RETURNING made of them.
func (s *Session) runChanges(ctx context.Context, c *changes, bound *plan.Changes, args []vec.Value) (returned []*vec.Batch, err error) {
	err = s.each(ctx, bound.Query, args, func(b *vec.Batch) error {
		if at := plan.ChangesFixed + bound.Values; len(b.Cols) > at {
			returned = append(returned, vec.NewBatch(b.N, b.Cols[at:]...))
		}
		return c.apply(ctx, b, bound.Values)
	})
	return returned, err
}

// each optimises and runs a bound query and calls fn for every batch, which has no selection and is fn's own.
func (s *Session) each(ctx context.Context, q *plan.Query, args []vec.Value, fn func(*vec.Batch) error) error {
	return s.eachIn(ctx, s.env(ctx), q, args, fn)
}

func (s *Session) eachIn(ctx context.Context, env *exec.Env, q *plan.Query, args []vec.Value, fn func(*vec.Batch) error) error {
	q, err := q.WithParams(args)
	if err != nil {
		return err
	}
	if q, err = plan.Optimize(q); err != nil {
		return err
	}
	rows, err := exec.Run(ctx, q.Plan, env)
	if err != nil {
		return err
	}
	defer rows.Close()
	for {
		b, err := rows.Next(ctx)
		if err != nil || b == nil {
			return err
		}
		if err := fn(b.Compact()); err != nil {
			return err
		}
	}
}

// bindChanges binds UPDATE, DELETE or MERGE.
func (s *Session) bindChanges(ctx context.Context, snapshot *catalog.Snapshot, table *catalog.Table, statement sql.Statement, params []vec.Type) (*plan.Changes, error) {
	relations := s.relations(ctx, snapshot)
	defer relations.release()
	target, options := s.modifyTarget(table), plan.Options{Params: params}
	switch t := statement.(type) {
	case *sql.Update:
		return plan.BindUpdate(ctx, t, target, relations, options)
	case *sql.Delete:
		return plan.BindDelete(ctx, t, target, relations, options)
	case *sql.Merge:
		return plan.BindMerge(ctx, t, target, relations, options)
	}
	return nil, sqlerr.New(sqlerr.FeatureNotSupported, "this statement is not supported").At(statement.Position())
}

// planStatement plans what EXPLAIN shows: a query, or what a statement that changes rows reads. ANALYZE runs its plan
// and is for queries.
func (s *Session) planStatement(ctx context.Context, t *sql.Explain, args []vec.Value) (p planned, err error) {
	if query, ok := t.Statement.(sql.QueryExpr); ok {
		return s.plan(ctx, query, args)
	}
	if create, ok := t.Statement.(*sql.CreateTable); ok && create.As != nil && !t.Analyze {
		return s.plan(ctx, create.As, args)
	}
	name := targetOf(t.Statement)
	if name == nil || t.Analyze {
		return p, sqlerr.New(sqlerr.FeatureNotSupported, "EXPLAIN takes a query, INSERT, UPDATE, DELETE or MERGE, with ANALYZE a query").
			Hintf("explain the SELECT that the statement reads").At(t.Pos)
	}
	snapshot, release := s.snapshot()
	p.snapshot, p.release = snapshot, release
	defer func() {
		if err != nil {
			release()
		}
	}()
	changing, err := s.throughView(snapshot, t.Statement)
	if err != nil {
		return p, err
	}
	table, err := s.table(snapshot, targetOf(changing))
	if err != nil {
		return p, err
	}
	var bound *plan.Query
	if insert, ok := changing.(*sql.Insert); ok {
		i := &insertion{session: s, snapshot: snapshot, table: table, statement: insert}
		bound, err = i.bindSource(ctx, typesOf(args))
	} else {
		var changes *plan.Changes
		if changes, err = s.bindChanges(ctx, snapshot, table, changing, typesOf(args)); err == nil {
			bound = changes.Query
		}
	}
	if err == nil {
		bound, err = bound.WithParams(args)
	}
	if err != nil {
		return p, err
	}
	p.query, err = plan.Optimize(bound)
	return p, err
}

func (s *Session) modifyTarget(table *catalog.Table) plan.ModifyTarget {
	return plan.ModifyTarget{Table: s.engine.planTable(table), Defaults: defaultsOf(table), Computed: computedOf(table)}
}

func targetOf(statement sql.Statement) sql.Name {
	switch t := statement.(type) {
	case *sql.Insert:
		return t.Table
	case *sql.Update:
		return t.Table
	case *sql.Delete:
		return t.Table
	case *sql.Merge:
		return t.Table
	}
	return nil
}

func verbOf(statement sql.Statement) string {
	switch statement.(type) {
	case *sql.Update:
		return "UPDATE"
	case *sql.Delete:
		return "DELETE"
	}
	return "MERGE"
}

// setsKey reports whether rows that a statement adds may have keys that the rows they replace had not.
func setsKey(table *catalog.Table, statement sql.Statement) bool {
	assigns := func(set []sql.Assignment) bool {
		for _, a := range set {
			for _, column := range a.Columns {
				if c, ok := table.Column(column.Name); ok && slices.Contains(table.MergeKey, c.FieldID) {
					return true
				}
			}
		}
		return false
	}
	computed := slices.ContainsFunc(table.MergeKey, func(id int32) bool {
		c, _ := table.ColumnByID(id)
		return isComputed(c)
	})
	switch t := statement.(type) {
	case *sql.Update:
		return computed || assigns(t.Set)
	case *sql.Delete:
		return false
	case *sql.Merge:
		return slices.ContainsFunc(t.Whens, func(w sql.MergeWhen) bool { return w.Action == sql.MergeInsert || assigns(w.Set) })
	}
	return true
}

// setsColumn returns which columns, by field id, of stored rows a statement may change: all those of rows that it adds
// or removes.
func setsColumn(table *catalog.Table, statement sql.Statement) func(int32) bool {
	t, ok := statement.(*sql.Update)
	if !ok {
		return func(int32) bool { return true }
	}
	set := map[int32]bool{}
	for _, a := range t.Set {
		for _, name := range a.Columns {
			if c, ok := table.Column(name.Name); ok {
				set[c.FieldID] = true
			}
		}
	}
	for _, c := range table.Columns {
		set[c.FieldID] = set[c.FieldID] || isComputed(c)
	}
	return func(id int32) bool { return set[id] }
}

func defaultsOf(t *catalog.Table) []string {
	out := make([]string, len(t.Columns))
	for i, c := range t.Columns {
		out[i] = c.Default
	}
	return out
}

// describeModify returns the result columns and parameters of a statement that changes rows.
func (s *Session) describeModify(ctx context.Context, snapshot *catalog.Snapshot, statement sql.Statement) (schema, params vec.Schema, err error) {
	if targetOf(statement) == nil {
		return nil, nil, nil
	}
	if statement, err = s.throughView(snapshot, statement); err != nil {
		return nil, nil, err
	}
	table, err := s.table(snapshot, targetOf(statement))
	if err != nil {
		return nil, nil, err
	}
	if t, ok := statement.(*sql.Insert); ok {
		i := &insertion{session: s, snapshot: snapshot, table: table, statement: t}
		return i.describe(ctx)
	}
	bound, err := s.bindChanges(ctx, snapshot, table, statement, nil)
	if err != nil {
		return nil, nil, err
	}
	return bound.Returning, paramSchema(bound.Params), nil
}
