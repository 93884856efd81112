package engine

import (
	"context"

	"github.com/tidemarkdb/tidemark/catalog"
	"github.com/tidemarkdb/tidemark/sql"
	"github.com/tidemarkdb/tidemark/sqlerr"
)

func (s *Session) copyStatement(ctx context.Context, snapshot *catalog.Snapshot, t *sql.Copy) (*Result, error) {
	return nil, sqlerr.New(sqlerr.FeatureNotSupported, "this statement is not supported").At(t.Position())
}
