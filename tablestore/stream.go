package tablestore

import (
	"context"

	"github.com/tidemarkdb/tidemark/catalog"
	"github.com/tidemarkdb/tidemark/parquetstore"
	"github.com/tidemarkdb/tidemark/tablet"
	"github.com/tidemarkdb/tidemark/vec"
)

// Stream makes a tablet of rows as they come, for a table whose rows need neither order nor keys. It holds one row
// group at a time, where [Store.Write] wants all rows at once.
type Stream struct {
	table *catalog.Table
	id    tablet.ID
	out   *parquetstore.Writer
}

// Streams reports whether tablets of a table can be streams.
func Streams(t *catalog.Table) bool {
	return t.Kind == catalog.Managed && len(t.MergeKey) == 0 && len(t.SortColumns()) == 0
}

// NewStream begins a tablet of a table for which [Streams] holds. The caller must Close or Abort it. threads bounds the
// cores it uses; 0: all.
func (s *Store) NewStream(ctx context.Context, t *catalog.Table, threads int) (*Stream, error) {
	id := tablet.NewID()
	path := tablet.ParquetPath(t.ID, id)
	LedgerOf(ctx).note(id, path)
	if threads <= 0 {
		threads = s.threads
	}
	w, err := parquetstore.NewWriter(ctx, s.Objects, path, Columns(t), parquetstore.Options{Threads: threads})
	if err != nil {
		return nil, err
	}
	return &Stream{table: t, id: id, out: w}, nil
}

// Write adds the rows of a batch of the table's columns, which it borrows.
func (w *Stream) Write(b *vec.Batch) error {
	for i, column := range w.table.Columns {
		if v := labelled(b.Cols[i], column); v != b.Cols[i] {
			b = &vec.Batch{N: b.N, Sel: b.Sel, Cols: append([]*vec.Vector(nil), b.Cols...)}
			b.Cols[i] = v
		}
	}
	return w.out.Write(b)
}

// Full reports whether the tablet has reached the size that tablets aim at.
func (w *Stream) Full() bool { return w.out.Rows() >= TargetRows || w.out.Bytes() >= TargetBytes }

// Close makes the tablet durable and describes it.
func (w *Stream) Close() (*tablet.Desc, error) {
	desc, err := w.out.Close()
	if err != nil {
		return nil, err
	}
	desc.ID, desc.SchemaVersion = w.id, w.table.SchemaVersion
	return desc, nil
}

// Abort gives the tablet up. After Close it does nothing.
func (w *Stream) Abort() { w.out.Abort() }
