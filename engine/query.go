package engine

import (
	"context"
	"slices"

	"github.com/tidemarkdb/tidemark/catalog"
	"github.com/tidemarkdb/tidemark/exec"
	"github.com/tidemarkdb/tidemark/plan"
	"github.com/tidemarkdb/tidemark/sql"
	"github.com/tidemarkdb/tidemark/sqlerr"
	"github.com/tidemarkdb/tidemark/vec"
)

// bind resolves a query's names and types against a snapshot.
func (s *Session) bind(ctx context.Context, snapshot *catalog.Snapshot, q sql.QueryExpr, params []vec.Type) (*plan.Query, error) {
	relations := s.relations(ctx, snapshot)
	defer relations.release()
	return plan.Bind(ctx, q, relations, plan.Options{Params: params})
}

// query runs a query and returns its rows as they are produced.
func (s *Session) query(ctx context.Context, q sql.QueryExpr, args []vec.Value) (*Result, error) {
	rows, schema, release, err := s.start(ctx, q, args)
	if err != nil {
		return nil, err
	}
	return &Result{Schema: schema, Tag: "SELECT", RowsAffected: -1, next: rows.Next, close: func() {
		rows.Close()
		release()
	}}, nil
}

// planned is an optimised query with what it reads held in place.
type planned struct {
	query    *plan.Query
	snapshot *catalog.Snapshot
	release  func()
}

// plan binds and optimises a query.
func (s *Session) plan(ctx context.Context, q sql.QueryExpr, args []vec.Value) (p planned, err error) {
	snapshot, unpin := s.snapshot()
	relations := s.relations(ctx, snapshot)
	p.snapshot, p.release = snapshot, func() {
		relations.release()
		unpin()
	}
	defer func() {
		if err != nil {
			p.release()
		}
	}()
	bound, err := plan.Bind(ctx, q, relations, plan.Options{Params: typesOf(args)})
	if err != nil {
		return p, err
	}
	if bound, err = bound.WithParams(args); err != nil {
		return p, err
	}
	p.query, err = plan.Optimize(bound)
	return p, err
}

// start plans a query and starts it. release must be called once its rows are closed.
func (s *Session) start(ctx context.Context, q sql.QueryExpr, args []vec.Value) (*exec.Rows, vec.Schema, func(), error) {
	return s.startIn(ctx, s.env(ctx), q, args)
}

func (s *Session) startIn(ctx context.Context, env *exec.Env, q sql.QueryExpr, args []vec.Value) (*exec.Rows, vec.Schema, func(), error) {
	p, err := s.plan(ctx, q, args)
	if err != nil {
		return nil, nil, nil, err
	}
	rows, err := exec.Run(ctx, p.query.Plan, env)
	if err != nil {
		p.release()
		return nil, nil, nil, err
	}
	return rows, p.query.Schema, p.release, nil
}

// env returns what the session's queries run with.
func (s *Session) env(ctx context.Context) *exec.Env {
	memory, err := parseBytes(s.setting(settingMemoryLimit))
	if err != nil {
		memory = 4 << 30
	}
	return &exec.Env{
		Storage: storage{store: s.engine.store}, Eval: s.eval(ctx), Threads: queryThreads(s.integer(settingThreads)),
		MemoryBytes: memory, SpillDir: s.engine.spill.path, Usage: s.usage,
	}
}

// loadEnv returns what a query runs with whose rows are stored in a table: the files that it reads are hardly read
// again, so that their pages would only drive those of tables out of the cache.
func (s *Session) loadEnv(ctx context.Context) *exec.Env {
	env := s.env(ctx)
	env.Storage = storage{store: s.engine.store, load: true}
	return env
}

// integer returns a setting that is kept as a whole number.
func (s *Session) integer(name string) int64 {
	v := values{set: map[string]string{name: s.setting(name)}}
	return v.integer(name)
}

// typesOf returns the types of parameter values, for binding. An untyped NULL leaves the type to be inferred.
func typesOf(args []vec.Value) []vec.Type {
	types := make([]vec.Type, len(args))
	for i, a := range args {
		types[i] = a.Type
	}
	return types
}

// constants evaluates expressions that refer to no table.
func (s *Session) constants(ctx context.Context, exprs []sql.Expr) ([]vec.Value, error) {
	if len(exprs) == 0 {
		return nil, nil
	}
	items := make([]sql.SelectItem, len(exprs))
	for i, e := range exprs {
		items[i].Expr = e
	}
	result, err := s.query(ctx, &sql.Select{Items: items}, nil)
	if err != nil {
		return nil, err
	}
	defer result.Close()
	batch, err := result.Next(ctx)
	if err != nil {
		return nil, err
	}
	if batch == nil || batch.Rows() != 1 {
		return nil, sqlerr.New(sqlerr.Internal, "constants gave no row")
	}
	values := make([]vec.Value, len(exprs))
	for i, c := range batch.Compact().Cols {
		values[i] = c.Value(0)
	}
	return values, nil
}

// untyped gives NULLs and strings among constants the unknown type, so that they take the type of the parameter they
// are for.
func untyped(values []vec.Value, exprs []sql.Expr) {
	for i, e := range exprs {
		switch e := e.(type) {
		case *sql.Null:
			values[i] = vec.NullValue(vec.NullType)
		case *sql.String:
			values[i] = vec.StringValue(vec.NullType, e.Value)
		}
	}
}

// viewSchema returns the columns of a view under its own names.
func (s *Session) viewSchema(snapshot *catalog.Snapshot, v *catalog.View) (vec.Schema, error) {
	body, err := s.viewQuery(snapshot, v)
	if err != nil {
		return nil, err
	}
	bound, err := s.bind(s.engine.ctx, snapshot, body, nil)
	if err != nil {
		return nil, err
	}
	schema := slices.Clone(bound.Schema)
	for i, name := range v.Columns {
		if i < len(schema) {
			schema[i].Name = name
		}
	}
	return schema, nil
}
