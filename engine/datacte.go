package engine

import (
	"context"
	"fmt"
	"maps"
	"slices"

	"github.com/tidemarkdb/tidemark/catalog"
	"github.com/tidemarkdb/tidemark/plan"
	"github.com/tidemarkdb/tidemark/sql"
	"github.com/tidemarkdb/tidemark/sqlerr"
	"github.com/tidemarkdb/tidemark/vec"
)

// withOf returns the WITH of a statement, nil when it has none.
func withOf(statement sql.Statement) **sql.With {
	switch t := statement.(type) {
	case *sql.Query:
		return &t.With
	case *sql.Insert:
		return &t.With
	case *sql.Update:
		return &t.With
	case *sql.Delete:
		return &t.With
	case *sql.Merge:
		return &t.With
	}
	return nil
}

// changesData reports whether a statement has others within WITH that change data.
func changesData(statement sql.Statement) bool {
	with := withOf(statement)
	return with != nil && *with != nil && slices.ContainsFunc((*with).CTEs, func(c sql.CTE) bool { return c.Change != nil })
}

// withChanges runs a statement with others within WITH that change data. All of them read what was there before it; what
// they change is one transaction. Those behind WITH see of each other what RETURNING gives.
func (s *Session) withChanges(ctx context.Context, statement sql.Statement, text string, args []vec.Value) (result *Result, err error) {
	run := func() error {
		named, pinned := s.named, s.pinned
		defer func() { s.named, s.pinned = named, pinned }()
		s.named = maps.Clone(named)
		if s.named == nil {
			s.named = map[string]plan.Relation{}
		}
		snapshot, release := s.snapshot()
		defer release()
		s.pinned = snapshot
		rest, err := s.replaceChanges(statement, func(change sql.Statement) (*memoryRows, error) { return s.runChange(ctx, change, args) })
		if err != nil {
			return err
		}
		result, err = s.dispatch(ctx, rest, text, args)
		return err
	}
	if s.tx != nil {
		err = run()
		return result, err
	}
	err = s.atomically(ctx, run)
	return result, err
}

// replaceChanges returns a statement in which what those within WITH return is in their place. s.named gets it.
func (s *Session) replaceChanges(statement sql.Statement, run func(sql.Statement) (*memoryRows, error)) (sql.Statement, error) {
	rest := copyOf(statement)
	with := withOf(rest)
	before := &sql.With{Recursive: (*with).Recursive}
	for i, c := range (*with).CTEs {
		if c.Change != nil {
			if changesData(c.Change) {
				return nil, sqlerr.New(sqlerr.FeatureNotSupported, "WITH clause containing a data-modifying statement must be at the top level").
					Hintf("name it before %s in the outer WITH", c.Name.Name).At(c.Change.Position())
			}
			rows, err := run(behind(before, c.Change))
			if err != nil {
				return nil, err
			}
			name := fmt.Sprintf("changed by %s #%d", c.Name.Name, i)
			s.named[name] = &plan.Virtual{Name: name, Source: rows}
			c.Change = nil
			c.Query = &sql.Select{Items: []sql.SelectItem{{Expr: &sql.Star{}}}, From: []sql.TableExpr{&sql.Table{Name: sql.Name{{Name: name, Quoted: true}}}}}
			if len(rows.schema) == 0 {
				continue // without RETURNING there is nothing to name
			}
		}
		before.CTEs = append(before.CTEs, c)
	}
	if *with = before; len(before.CTEs) == 0 {
		*with = nil
	}
	return rest, nil
}

// behind returns a statement with the queries that stand before it in WITH.
func behind(before *sql.With, statement sql.Statement) sql.Statement {
	change := copyOf(statement)
	with := withOf(change)
	all := &sql.With{Recursive: before.Recursive, CTEs: slices.Clone(before.CTEs)}
	if own := *with; own != nil {
		all.Recursive = all.Recursive || own.Recursive
		all.CTEs = slices.DeleteFunc(all.CTEs, func(outer sql.CTE) bool {
			return slices.ContainsFunc(own.CTEs, func(inner sql.CTE) bool { return inner.Name.Name == outer.Name.Name })
		})
		all.CTEs = append(all.CTEs, own.CTEs...)
	}
	if len(all.CTEs) > 0 {
		*with = all
	}
	return change
}

// runChange runs a statement and returns what its RETURNING gives.
func (s *Session) runChange(ctx context.Context, change sql.Statement, args []vec.Value) (*memoryRows, error) {
	result, err := s.modify(ctx, change, args)
	if err != nil {
		return nil, err
	}
	defer result.Close()
	rows := &memoryRows{schema: slices.Clone(result.Schema)}
	for {
		batch, err := result.Next(ctx)
		if err != nil || batch == nil {
			return rows, err
		}
		rows.batches = append(rows.batches, batch.Compact())
	}
}

// describeChangesIn returns the result columns and the parameters of a statement with others within WITH.
func (s *Session) describeChangesIn(ctx context.Context, snapshot *catalog.Snapshot, statement sql.Statement) (schema, params vec.Schema, err error) {
	named := s.named
	defer func() { s.named = named }()
	s.named = maps.Clone(named)
	if s.named == nil {
		s.named = map[string]plan.Relation{}
	}
	add := func(more vec.Schema) { // one that several use has the type that the first of them told
		for i, p := range more {
			if i >= len(params) {
				params = append(params, p)
			}
		}
	}
	rest, err := s.replaceChanges(statement, func(change sql.Statement) (*memoryRows, error) {
		schema, used, err := s.describeModify(ctx, snapshot, change)
		add(used)
		return &memoryRows{schema: schema}, err
	})
	if err != nil {
		return nil, nil, err
	}
	schema, used, err := s.describeStatement(ctx, snapshot, rest)
	add(used)
	return schema, params, err
}

// copyOf returns a copy of a statement, of which WITH can be replaced.
func copyOf(statement sql.Statement) sql.Statement {
	switch t := statement.(type) {
	case *sql.Query:
		c := *t
		return &c
	case *sql.Insert:
		c := *t
		return &c
	case *sql.Update:
		c := *t
		return &c
	case *sql.Delete:
		c := *t
		return &c
	case *sql.Merge:
		c := *t
		return &c
	}
	return statement
}
