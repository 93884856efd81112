package engine

import (
	"context"

	"github.com/tidemarkdb/tidemark/catalog"
	"github.com/tidemarkdb/tidemark/exec"
	"github.com/tidemarkdb/tidemark/files"
	"github.com/tidemarkdb/tidemark/plan"
	"github.com/tidemarkdb/tidemark/vec"
)

// unknownExtent says nothing of a column.
var unknownExtent = exec.Extent{Values: -1}

// Rows implements exec.MetadataStorage: the masks, or the footers of files, know how many rows live.
func (s storage) Rows(ctx context.Context, t *plan.Table) (n int64, ok bool, err error) {
	switch h := t.Handle.(type) {
	case *catalog.Table:
		masks, err := s.store.Masks(ctx, h)
		if err != nil {
			return 0, false, err
		}
		return int64(masks.LiveRows()), true, nil
	case *files.Parquet:
		return h.Rows(), true, nil
	}
	return 0, false, nil
}

// Extent implements exec.MetadataStorage.
func (s storage) Extent(ctx context.Context, t *plan.Table, ordinal int) (exec.Extent, error) {
	switch h := t.Handle.(type) {
	case *catalog.Table:
		return tableExtent(h, ordinal), nil
	case *files.Parquet:
		return fileExtent(ctx, h, ordinal)
	}
	return unknownExtent, nil
}

// tableExtent asks the statistics of tablets, which are exact while no row of the table is dead.
func tableExtent(table *catalog.Table, ordinal int) exec.Extent {
	if totals := table.Tablets.Totals(); totals.StagingTablets > 0 || totals.MaskedRows > 0 {
		return unknownExtent
	}
	column := table.Columns[ordinal]
	e := exec.Extent{Low: vec.NullValue(column.Type), High: vec.NullValue(column.Type), Ranged: true}
	for b := range table.Tablets.Base() {
		stats, known := b.Stats.Column(column.FieldID)
		if !known {
			return unknownExtent
		}
		values := b.Rows - stats.NullCount
		if values == 0 {
			continue
		}
		e.Values += values
		if stats.NaNCount > 0 || !stats.Min.Exact || !stats.Max.Exact {
			e.Ranged = false
			continue
		}
		stretch(&e, boundValue(column.Type, stats.Min), boundValue(column.Type, stats.Max))
	}
	return e
}

// fileExtent asks the footers of files.
func fileExtent(ctx context.Context, p *files.Parquet, ordinal int) (exec.Extent, error) {
	t := p.Schema()[ordinal].Type
	e := exec.Extent{Low: vec.NullValue(t), High: vec.NullValue(t), Ranged: true}
	for i := range p.Files() {
		sum, err := p.Summary(ctx, i, ordinal)
		if err != nil {
			return unknownExtent, err
		}
		if sum.Nulls < 0 || e.Values < 0 {
			e.Values = -1
		} else {
			e.Values += sum.Rows - sum.Nulls
		}
		switch {
		case sum.Exact:
			stretch(&e, sum.Min, sum.Max)
		case sum.Nulls < sum.Rows: // some row has a value, or may have one
			e.Ranged = false
		}
	}
	return e, nil
}

// stretch makes an extent hold a further range.
func stretch(e *exec.Extent, low, high vec.Value) {
	if e.Low.Null || vec.Compare(low, e.Low) < 0 {
		e.Low = low
	}
	if e.High.Null || vec.Compare(high, e.High) > 0 {
		e.High = high
	}
}
