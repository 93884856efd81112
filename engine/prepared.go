package engine

import (
	"context"

	"github.com/tidemarkdb/tidemark/sql"
	"github.com/tidemarkdb/tidemark/sqlerr"
	"github.com/tidemarkdb/tidemark/vec"
)

// Prepared is a statement that was parsed and described but not yet run. It belongs to its session and stays valid
// until the session closes; every Execute plans anew, so it follows changes of the tables.
type Prepared struct {
	Schema vec.Schema // columns of the result, empty for a statement that returns no rows
	Params vec.Schema // names "1", "2", ... and inferred types of the parameters

	session   *Session
	statement sql.Statement
	text      string
}

// Prepare parses one statement and describes its result and parameters, without running it.
func (s *Session) Prepare(ctx context.Context, text string) (p *Prepared, err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	err = guard(func() (err error) {
		p, err = s.prepare(ctx, text)
		return err
	})
	return p, err
}

func (s *Session) prepare(ctx context.Context, text string) (*Prepared, error) {
	statements, err := sql.Parse(text)
	if err != nil {
		return nil, err
	}
	if len(statements) != 1 {
		if len(statements) == 0 {
			return nil, sqlerr.New(sqlerr.SyntaxError, "there is no statement in the text").Hintf("write one, such as SELECT 1")
		}
		return nil, sqlerr.New(sqlerr.SyntaxError, "cannot insert multiple commands into a prepared statement").
			Hintf("send one statement at a time").At(statements[1].Position())
	}
	p := &Prepared{session: s, statement: statements[0], text: text}
	if err := s.catchUp(ctx); err != nil {
		return nil, err
	}
	snapshot, release := s.snapshot()
	defer release()
	p.Schema, p.Params, err = s.describeStatement(ctx, snapshot, statements[0])
	return p, err
}

// IsQuery reports whether the statement returns rows.
func (p *Prepared) IsQuery() bool { return len(p.Schema) > 0 }

// Text returns the statement's text.
func (p *Prepared) Text() string { return p.text }

// Execute runs the statement with values for its parameters.
func (p *Prepared) Execute(ctx context.Context, args ...vec.Value) (*Result, error) {
	return p.session.run(ctx, p.statement, p.text, args)
}
