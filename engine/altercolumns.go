package engine

import (
	"context"

	"github.com/tidemarkdb/tidemark/catalog"
	"github.com/tidemarkdb/tidemark/sql"
	"github.com/tidemarkdb/tidemark/sqlerr"
)

// alterColumns applies one action of ALTER TABLE to the columns of a table that is open to changes.
func (s *Session) alterColumns(ctx context.Context, t *catalog.Table, action sql.AlterAction) error {
	return sqlerr.New(sqlerr.FeatureNotSupported, "this form of ALTER TABLE is not supported").
		Hintf("create a new table with CREATE TABLE ... AS and rename it")
}
