package parquetstore

import (
	"context"

	"github.com/tidemarkdb/tidemark/sqlerr"
	"github.com/tidemarkdb/tidemark/vec"
)

func (c *cursor) sliceNested(ctx context.Context, r *Reader, from, n int) (*vec.Vector, error) {
	return nil, sqlerr.New(sqlerr.FeatureNotSupported, "column %q is nested", c.column.Name)
}
