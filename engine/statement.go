package engine

import (
	"context"
	"slices"

	"github.com/tidemarkdb/tidemark/sql"
	"github.com/tidemarkdb/tidemark/sqlerr"
	"github.com/tidemarkdb/tidemark/vec"
)

// dispatch runs one statement. text is what it was parsed from, for statements that keep their text.
func (s *Session) dispatch(ctx context.Context, statement sql.Statement, text string, args []vec.Value) (*Result, error) {
	if err := s.catchUp(ctx); err != nil {
		return nil, err
	}
	if changesData(statement) {
		return s.withChanges(ctx, statement, text, args)
	}
	switch t := statement.(type) {
	case sql.QueryExpr:
		return s.query(ctx, t, args)
	case *sql.Explain:
		return s.explain(ctx, t, args)
	case *sql.Transaction:
		return s.transactionStatement(ctx, t)
	case *sql.CreateSchema, *sql.CreateTable, *sql.CreateView, *sql.CreateIndex, *sql.Drop, *sql.CreateSequence, *sql.AlterSequence,
		*sql.CreateType, *sql.AlterEnum, *sql.Alter, *sql.Comment:
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
		if t.Summarize {
			return s.summarize(ctx, t)
		}
		return s.describe(ctx, t)
	case *sql.Prepare:
		return s.prepareStatement(ctx, t)
	case *sql.Execute:
		return s.executeStatement(ctx, t, text)
	case *sql.Deallocate:
		return s.deallocate(t)
	case *sql.DeclareCursor:
		return s.declareCursor(t)
	case *sql.Fetch:
		return s.fetch(ctx, t)
	case *sql.CloseCursor:
		return s.closeCursor(t)
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

// catchUp makes a statement see what other engines on the root committed before it began. A transaction keeps to its
// snapshot.
func (s *Session) catchUp(ctx context.Context) error {
	if s.tx != nil && !s.tx.readsNewest() {
		return nil
	}
	_, err := s.engine.catalog.Look(ctx)
	return err
}

// prepareStatement keeps a statement under a name.
func (s *Session) prepareStatement(ctx context.Context, t *sql.Prepare) (*Result, error) {
	if _, taken := s.prepared[t.Name.Name]; taken {
		return nil, sqlerr.New(sqlerr.DuplicatePrepared, "prepared statement %q already exists", t.Name.Name).
			Hintf("DEALLOCATE it first").At(t.Name.Pos)
	}
	snapshot, release := s.snapshot()
	defer release()
	if _, _, err := s.describeStatement(ctx, snapshot, t.Statement); err != nil {
		return nil, err
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
	given, err := s.executeArgs(ctx, t, kept)
	if err != nil {
		return nil, err
	}
	args, err := s.constants(ctx, given)
	if err != nil {
		return nil, err
	}
	untyped(args, given)
	return s.dispatch(ctx, kept.Statement, text, args)
}

// executeArgs returns the arguments of EXECUTE in the types of the parameters: those declared, else those inferred.
func (s *Session) executeArgs(ctx context.Context, t *sql.Execute, kept *sql.Prepare) ([]sql.Expr, error) {
	if want := sql.ParamCount(kept.Statement); len(t.Args) != want {
		return nil, sqlerr.New(sqlerr.SyntaxError, "wrong number of parameters for prepared statement %q", t.Name.Name).
			Detailf("Expected %d parameters but got %d.", want, len(t.Args)).Hintf("give one value for each").At(t.Name.Pos)
	}
	if len(t.Args) == 0 {
		return nil, nil
	}
	snapshot, release := s.snapshot()
	defer release()
	_, params, err := s.describeStatement(ctx, snapshot, kept.Statement)
	if err != nil {
		return nil, err
	}
	out := slices.Clone(t.Args)
	for i, arg := range out {
		if i < len(kept.Types) {
			out[i] = &sql.Cast{Operand: arg, Type: kept.Types[i], Pos: arg.Position()}
		} else if _, text := arg.(*sql.String); text && i < len(params) && (params[i].Type.ID != vec.Text || params[i].Type.Enum != nil) {
			// A literal without a type takes that of the parameter.
			if e, err := sql.ParseExpr("CAST(NULL AS " + params[i].Type.String() + ")"); err == nil {
				if c, ok := e.(*sql.Cast); ok {
					out[i] = &sql.Cast{Operand: arg, Type: c.Type, Pos: arg.Position()}
				}
			}
		}
	}
	return out, nil
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
		snapshot, release := s.snapshot()
		defer release()
		for _, name := range t.Tables {
			if _, _, err := s.relation(snapshot, name); err != nil {
				return nil, err
			}
		}
		return done("ANALYZE"), nil
	}
	return done("CHECKPOINT"), nil
}
