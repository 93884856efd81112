package engine

import (
	"context"

	"github.com/tidemarkdb/tidemark/catalog"
	"github.com/tidemarkdb/tidemark/plan"
	"github.com/tidemarkdb/tidemark/tablet"
	"github.com/tidemarkdb/tidemark/vec"
)

// Rows implements exec.MetadataStorage: the masks know how many rows live.
func (s storage) Rows(ctx context.Context, t *plan.Table) (n int64, ok bool, err error) {
	table, ok := t.Handle.(*catalog.Table)
	if !ok {
		return 0, false, nil
	}
	masks, err := s.store.Masks(ctx, table)
	if err != nil {
		return 0, false, err
	}
	return int64(masks.LiveRows()), true, nil
}

// Extent implements exec.MetadataStorage. Bounds are exact while no row of the table is dead.
func (s storage) Extent(ctx context.Context, t *plan.Table, ordinal int) (count int64, low, high vec.Value, ok bool, err error) {
	table, isTable := t.Handle.(*catalog.Table)
	totals := tablet.Totals{}
	if isTable {
		totals = table.Tablets.Totals()
	}
	if !isTable || totals.StagingTablets > 0 || totals.MaskedRows > 0 {
		return 0, low, high, false, nil
	}
	column := table.Columns[ordinal]
	low, high = vec.NullValue(column.Type), vec.NullValue(column.Type)
	for b := range table.Tablets.Base() {
		stats, known := b.Stats.Column(column.FieldID)
		if !known || stats.NaNCount > 0 {
			return 0, low, high, false, nil
		}
		values := b.Rows - stats.NullCount
		if values == 0 {
			continue
		}
		if !stats.Min.Exact || !stats.Max.Exact {
			return 0, low, high, false, nil
		}
		count += values
		if v := boundValue(column.Type, stats.Min); low.Null || vec.Compare(v, low) < 0 {
			low = v
		}
		if v := boundValue(column.Type, stats.Max); high.Null || vec.Compare(v, high) > 0 {
			high = v
		}
	}
	return count, low, high, true, nil
}
