package engine

import (
	"context"

	"github.com/tidemarkdb/tidemark/sql"
	"github.com/tidemarkdb/tidemark/sqlerr"
)

// call runs a procedure.
func (s *Session) call(ctx context.Context, t *sql.CallProc) (*Result, error) {
	return nil, sqlerr.New(sqlerr.UndefinedFunction, "procedure %q does not exist", t.Call.Name.Last().Name).At(t.Pos)
}
