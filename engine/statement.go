package engine

import (
	"context"

	"github.com/tidemarkdb/tidemark/sql"
	"github.com/tidemarkdb/tidemark/sqlerr"
	"github.com/tidemarkdb/tidemark/vec"
)

// dispatch runs one statement. text is what it was parsed from, for statements that keep their text.
func (s *Session) dispatch(ctx context.Context, statement sql.Statement, text string, args []vec.Value) (*Result, error) {
	switch t := statement.(type) {
	case sql.QueryExpr:
		return s.query(ctx, t, args)
	case *sql.Explain:
		return s.explain(ctx, t, args)
	case *sql.Transaction:
		return s.transactionStatement(ctx, t)
	case *sql.CreateSchema, *sql.CreateTable, *sql.CreateView, *sql.CreateIndex, *sql.Drop, *sql.CreateSequence, *sql.AlterSequence, *sql.Alter, *sql.Comment:
		return s.define(ctx, statement, text)
	case *sql.CreateStream:
		return s.createStream(ctx, t)
	case *sql.AlterCDCTable:
		return s.alterCDCTable(ctx, t)
	case *sql.Insert, *sql.Update, *sql.Delete, *sql.Merge, *sql.Truncate, *sql.Copy:
		return s.modify(ctx, statement, args)
	case *sql.Set, *sql.Reset, *sql.SetTransaction, *sql.Use, *sql.Discard:
		return s.configure(ctx, statement)
	case *sql.Show:
		return s.show(ctx, t)
	case *sql.Describe:
		return s.describe(ctx, t)
	case *sql.Prepare:
		return s.prepareStatement(t)
	case *sql.Execute:
		return s.executeStatement(ctx, t, text)
	case *sql.Deallocate:
		return s.deallocate(t)
	case *sql.CallProc:
		return s.call(ctx, t)
	case *sql.Maintain:
		return s.maintain(ctx, t)
	case *sql.Pragma:
		return s.pragma(ctx, t)
	}
	return nil, sqlerr.New(sqlerr.FeatureNotSupported, "this kind of statement is not supported (%T)", statement).
		Hintf("docs/sql/statements.md lists those that are").At(statement.Position())
}

// prepareStatement keeps a statement under a name.
func (s *Session) prepareStatement(t *sql.Prepare) (*Result, error) {
	if _, taken := s.prepared[t.Name.Name]; taken {
		return nil, sqlerr.New(sqlerr.DuplicateObject, "prepared statement %q already exists", t.Name.Name).
			Hintf("DEALLOCATE it first").At(t.Name.Pos)
	}
	s.prepared[t.Name.Name] = t
	return done("PREPARE"), nil
}

// executeStatement runs a statement kept by PREPARE.
func (s *Session) executeStatement(ctx context.Context, t *sql.Execute, text string) (*Result, error) {
	kept, ok := s.prepared[t.Name.Name]
	if !ok {
		return nil, sqlerr.New(sqlerr.InvalidStatementName, "prepared statement %q does not exist", t.Name.Name).
			Hintf("PREPARE %s AS ... makes it", t.Name.Name).At(t.Name.Pos)
	}
	args, err := s.constants(ctx, t.Args)
	if err != nil {
		return nil, err
	}
	return s.dispatch(ctx, kept.Statement, text, args)
}

func (s *Session) deallocate(t *sql.Deallocate) (*Result, error) {
	if t.Name.Name == "" {
		clear(s.prepared)
		return done("DEALLOCATE ALL"), nil
	}
	if _, ok := s.prepared[t.Name.Name]; !ok {
		return nil, sqlerr.New(sqlerr.InvalidStatementName, "prepared statement %q does not exist", t.Name.Name).At(t.Name.Pos)
	}
	delete(s.prepared, t.Name.Name)
	return done("DEALLOCATE"), nil
}

// maintain accepts VACUUM, ANALYZE and CHECKPOINT: statistics are always current and vacuum runs by itself.
func (s *Session) maintain(ctx context.Context, t *sql.Maintain) (*Result, error) {
	switch t.Kind {
	case sql.Vacuum:
		return done("VACUUM"), s.vacuum(ctx, t.Tables)
	case sql.Analyze:
		return done("ANALYZE"), nil
	}
	return done("CHECKPOINT"), nil
}
