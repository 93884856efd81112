package engine

import (
	"context"
	"fmt"

	"github.com/tidemarkdb/tidemark/catalog"
	"github.com/tidemarkdb/tidemark/exec"
	"github.com/tidemarkdb/tidemark/plan"
	"github.com/tidemarkdb/tidemark/sql"
	"github.com/tidemarkdb/tidemark/sqlerr"
	"github.com/tidemarkdb/tidemark/vec"
)

// modify runs a statement that changes rows.
func (s *Session) modify(ctx context.Context, statement sql.Statement, args []vec.Value) (*Result, error) {
	snapshot, release := s.snapshot()
	defer release()
	if err := s.checkTargets(snapshot, statement); err != nil {
		return nil, err
	}
	switch t := statement.(type) {
	case *sql.Insert:
		return s.insert(ctx, snapshot, t, args)
	case *sql.Truncate:
		return s.truncate(ctx, snapshot, t)
	}
	return nil, sqlerr.New(sqlerr.FeatureNotSupported, "this statement is not supported").At(statement.Position())
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
	var edits []catalog.Edit
	for _, name := range t.Tables {
		table, err := s.table(snapshot, name)
		if err != nil {
			return nil, err
		}
		edits = append(edits, &catalog.Truncate{Table: table.ID, SchemaVersion: table.SchemaVersion})
	}
	return done("TRUNCATE TABLE"), s.commit(ctx, edits...)
}

// insert runs INSERT without ON CONFLICT.
func (s *Session) insert(ctx context.Context, snapshot *catalog.Snapshot, t *sql.Insert, args []vec.Value) (*Result, error) {
	table, err := s.table(snapshot, t.Table)
	if err != nil {
		return nil, err
	}
	source, err := s.bindInsert(ctx, snapshot, table, t, typesOf(args))
	if err != nil {
		return nil, err
	}
	if source, err = source.WithParams(args); err != nil {
		return nil, err
	}
	if source, err = plan.Optimize(source); err != nil {
		return nil, err
	}
	rows, err := exec.Run(ctx, source.Plan, s.env(ctx))
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	w := &rowWriter{session: s, table: table}
	if err := fill(ctx, w, rows.Next); err != nil {
		return nil, err
	}
	if len(w.out) > 0 {
		if err := s.commit(ctx, &catalog.Modify{Table: table.ID, SchemaVersion: table.SchemaVersion, Add: w.out}); err != nil {
			return nil, err
		}
	}
	return &Result{Tag: fmt.Sprintf("INSERT 0 %d", w.total), RowsAffected: w.total}, nil
}

// bindInsert binds what an INSERT adds: every column of the table, in its type.
func (s *Session) bindInsert(ctx context.Context, snapshot *catalog.Snapshot, table *catalog.Table, t *sql.Insert, params []vec.Type) (*plan.Query, error) {
	relations := s.relations(ctx, snapshot)
	defer relations.release()
	return plan.BindInsert(ctx, t, plan.InsertTarget{Name: table.Name, Columns: schemaOf(table), Defaults: defaultsOf(table)}, relations, plan.Options{Params: params})
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
	if t, ok := statement.(*sql.Insert); ok {
		table, err := s.table(snapshot, t.Table)
		if err != nil {
			return nil, nil, err
		}
		source, err := s.bindInsert(ctx, snapshot, table, t, nil)
		if err != nil {
			return nil, nil, err
		}
		return nil, paramSchema(source.Params), nil
	}
	return nil, nil, nil
}

// alterColumns applies one action of ALTER TABLE to the columns of a table that is open to changes.
func (s *Session) alterColumns(ctx context.Context, t *catalog.Table, action sql.AlterAction) error {
	return sqlerr.New(sqlerr.FeatureNotSupported, "this form of ALTER TABLE is not supported").
		Hintf("create a new table with CREATE TABLE ... AS and rename it")
}

// vacuum makes the maintenance of the named tables, or all, run now.
func (s *Session) vacuum(ctx context.Context, tables []sql.Name) error {
	snapshot, release := s.snapshot()
	defer release()
	for _, name := range tables {
		if _, err := s.table(snapshot, name); err != nil {
			return err
		}
	}
	return nil
}

// call runs a procedure.
func (s *Session) call(ctx context.Context, t *sql.CallProc) (*Result, error) {
	return nil, sqlerr.New(sqlerr.UndefinedFunction, "procedure %q does not exist", t.Call.Name.Last().Name).At(t.Pos)
}
