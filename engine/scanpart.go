package engine

import (
	"context"

	"github.com/tidemarkdb/tidemark/catalog"
	"github.com/tidemarkdb/tidemark/files"
	"github.com/tidemarkdb/tidemark/maskindex"
	"github.com/tidemarkdb/tidemark/parquetstore"
	"github.com/tidemarkdb/tidemark/tablestore"
	"github.com/tidemarkdb/tidemark/tablet"
	"github.com/tidemarkdb/tidemark/vec"
)

// tabletPart is one tablet of a table.
type tabletPart struct {
	*tablet.Desc
	of    *tabletTable
	place int // among the table's tablets
}

// tabletTable is what the tablets of one scan share.
type tabletTable struct {
	store   *tablestore.Store
	table   *catalog.Table
	masks   *maskindex.Masks
	columns []tablet.Column // of the scan
}

// tabletParts returns the tablets of a table, their masks resolved.
func tabletParts(ctx context.Context, store *tablestore.Store, table *catalog.Table, ordinals []int) ([]part, error) {
	masks, err := store.Masks(ctx, table)
	if err != nil {
		return nil, err
	}
	of := &tabletTable{store: store, table: table, masks: masks, columns: columnsOf(table, ordinals)}
	view := table.Tablets.View()
	parts := make([]part, 0, len(view.Base)+len(view.Staging))
	for _, b := range view.Base {
		parts = append(parts, &tabletPart{b.Desc, of, len(parts)})
	}
	for _, staged := range view.Staging {
		parts = append(parts, &tabletPart{staged.Desc, of, len(parts)})
	}
	return parts, nil
}

// columnsOf returns the columns at ordinals, without the position.
func columnsOf(table *catalog.Table, ordinals []int) (out []tablet.Column) {
	for _, o := range ordinals {
		if o >= 0 {
			out = append(out, table.Columns[o])
		}
	}
	return out
}

func (p *tabletPart) ordinal() int { return p.place }

func (p *tabletPart) mask() (parquetstore.Mask, bool, error) {
	m, err := p.of.masks.Of(uint64(p.ID))
	if err != nil {
		return nil, false, err
	}
	return tablestore.ScanMask(m), m.All() || p.Rows == 0, nil
}

func (p *tabletPart) mayMatch(predicates []columnPredicate) bool {
	for _, pred := range predicates {
		stats, ok := p.Stats.Column(p.of.columns[pred.column].FieldID)
		if ok && excludes(stats, p.Rows, pred) {
			return false
		}
	}
	return true
}

func (p *tabletPart) open(ctx context.Context) (*parquetstore.File, []int, error) {
	file, err := p.of.store.Open(ctx, p.of.table.ID, p.ID)
	if err != nil {
		return nil, nil, err
	}
	places := make([]int, len(p.of.columns))
	for i, c := range p.of.columns {
		places[i] = file.ColumnByFieldID(c.FieldID)
	}
	return file, places, nil
}

// excludes reports whether a column's bounds rule a predicate out for every row. NaN lies outside the bounds.
func excludes(stats tablet.ColumnStats, rows int64, p columnPredicate) bool {
	if p.op == parquetstore.IsNull {
		return stats.NullCount == 0
	}
	if stats.NullCount == rows {
		return true
	}
	if stats.NaNCount > 0 || !stats.Min.Known() || !stats.Max.Known() || len(p.values) == 0 {
		return false
	}
	low, high := p.values[0], p.values[len(p.values)-1]
	lowest, highest := boundValue(low.Type, stats.Min), boundValue(low.Type, stats.Max)
	switch p.op {
	case parquetstore.Eq, parquetstore.Between, parquetstore.In:
		return vec.Compare(highest, low) < 0 || vec.Compare(lowest, high) > 0
	case parquetstore.Lt:
		return vec.Compare(lowest, low) >= 0
	case parquetstore.Le:
		return vec.Compare(lowest, low) > 0
	case parquetstore.Gt:
		return vec.Compare(highest, low) < 0 || stats.Max.Exact && vec.Compare(highest, low) == 0
	case parquetstore.Ge:
		return vec.Compare(highest, low) < 0
	}
	return false
}

// filePart is one file of read_parquet.
type filePart struct {
	of      *files.Parquet
	place   int
	columns []int // of the scan, places in the source's schema
}

func fileParts(p *files.Parquet, ordinals []int) []part {
	var columns []int
	for _, o := range ordinals {
		if o >= 0 {
			columns = append(columns, o)
		}
	}
	parts := make([]part, p.Files())
	for i := range parts {
		parts[i] = &filePart{p, i, columns}
	}
	return parts
}

func (p *filePart) ordinal() int                           { return p.place }
func (p *filePart) mask() (parquetstore.Mask, bool, error) { return nil, false, nil }
func (p *filePart) mayMatch([]columnPredicate) bool        { return true }

func (p *filePart) open(ctx context.Context) (*parquetstore.File, []int, error) {
	f, all, err := p.of.OpenFile(ctx, p.place)
	if err != nil {
		return nil, nil, err
	}
	places := make([]int, len(p.columns))
	for i, c := range p.columns {
		places[i] = all[c]
	}
	return f, places, nil
}
