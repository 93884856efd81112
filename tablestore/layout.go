package tablestore

import (
	"slices"

	"github.com/tidemarkdb/tidemark/catalog"
	"github.com/tidemarkdb/tidemark/maskindex"
	"github.com/tidemarkdb/tidemark/sqlerr"
	"github.com/tidemarkdb/tidemark/tablet"
	"github.com/tidemarkdb/tidemark/vec"
)

// What makes a tablet well-sized: whichever it reaches first.
const (
	TargetRows  = 1 << 20
	TargetBytes = 128 << 20 // of Parquet
)

// VecColumn returns a table's column as queries see it.
func VecColumn(c tablet.Column) vec.Column {
	return vec.Column{Name: c.Name, Type: c.Type, Nullable: c.Nullable}
}

// Columns returns the columns of a table's tablets: the user's, then for a CDC table in read mode the hidden ones.
// User columns of a CDC table are nullable in files, as delete markers have no values.
func Columns(t *catalog.Table) []tablet.Column {
	if t.Kind != catalog.CDC {
		return t.Columns
	}
	cols := slices.Clone(t.Columns)
	for i := range cols {
		cols[i].Nullable = true
	}
	return append(cols, tablet.HiddenColumns()...)
}

// Places returns where in t.Columns the field ids lie, in the order of the ids.
func Places(t *catalog.Table, fieldIDs []int32) []int {
	out := make([]int, len(fieldIDs))
	for i, id := range fieldIDs {
		out[i] = slices.IndexFunc(t.Columns, func(c tablet.Column) bool { return c.FieldID == id })
	}
	return out
}

// KeyLayout returns how the table's merge key becomes a fingerprint.
func KeyLayout(t *catalog.Table) (*maskindex.Layout, error) {
	columns := make([]maskindex.Column, 0, len(t.MergeKey))
	for _, id := range t.MergeKey {
		c, ok := t.ColumnByID(id)
		if !ok {
			return nil, sqlerr.New(sqlerr.Internal, "table %s has no column %d of its merge key", t.QualifiedName(), id)
		}
		columns = append(columns, maskindex.Column{Name: c.Name, Type: c.Type})
	}
	return maskindex.NewLayout(columns)
}

// Fingerprint returns the merge keys of a batch whose columns begin with the table's.
func Fingerprint(t *catalog.Table, batch *vec.Batch) (*maskindex.Keys, error) {
	layout, err := KeyLayout(t)
	if err != nil {
		return nil, err
	}
	cols := make([]*vec.Vector, len(t.MergeKey))
	for i, place := range Places(t, t.MergeKey) {
		cols[i] = batch.Cols[place]
	}
	keys := new(maskindex.Keys)
	return keys, layout.Fingerprint(cols, batch.N, keys)
}

// SortRows returns a batch without a selection, whose columns begin with the table's, in the table's sort order.
func SortRows(t *catalog.Table, batch *vec.Batch) *vec.Batch {
	var by []*vec.Vector
	for _, place := range Places(t, t.SortColumns()) {
		by = append(by, batch.Cols[place])
	}
	order := vec.SortedIndex(by, batch.N)
	if slices.IsSorted(order) {
		return batch
	}
	out := vec.NewBatch(batch.N)
	for _, c := range batch.Cols {
		out.Cols = append(out.Cols, vec.Gather(c, order, nil))
	}
	return out
}
