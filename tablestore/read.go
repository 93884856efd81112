package tablestore

import (
	"context"

	"github.com/RoaringBitmap/roaring/v2"
	"golang.org/x/sync/errgroup"

	"github.com/tidemarkdb/tidemark/catalog"
	"github.com/tidemarkdb/tidemark/maskindex"
	"github.com/tidemarkdb/tidemark/parquetstore"
	"github.com/tidemarkdb/tidemark/sqlerr"
	"github.com/tidemarkdb/tidemark/tablet"
	"github.com/tidemarkdb/tidemark/vec"
)

// Open opens a tablet's rows. The caller closes the file; its footer and pages stay in the cache.
func (s *Store) Open(ctx context.Context, table tablet.TableID, id tablet.ID) (*parquetstore.File, error) {
	if f := s.Pages.File(id); f != nil {
		return f, nil
	}
	return parquetstore.Open(ctx, s.Objects, tablet.ParquetPath(table, id), parquetstore.OpenOptions{Tablet: id, Cache: s.Pages})
}

// ReadLive returns the live rows of tablets, one tablet after the other, with all columns of the table's tablets.
// masks must cover the tablets.
func (s *Store) ReadLive(ctx context.Context, t *catalog.Table, descs []*tablet.Desc, masks *maskindex.Masks) (*vec.Batch, error) {
	columns := Columns(t)
	parts := make([][]*vec.Batch, len(descs))
	g, ctx := errgroup.WithContext(ctx)
	g.SetLimit(s.threads)
	for i, d := range descs {
		g.Go(func() (err error) {
			mask, err := masks.Of(uint64(d.ID))
			if err != nil {
				return err
			}
			parts[i], err = s.readTablet(ctx, t.ID, d, columns, ScanMask(mask))
			return err
		})
	}
	if err := g.Wait(); err != nil {
		return nil, err
	}
	var batches []*vec.Batch
	for _, p := range parts {
		batches = append(batches, p...)
	}
	return Concat(columns, batches)
}

func (s *Store) readTablet(ctx context.Context, table tablet.TableID, d *tablet.Desc, columns []tablet.Column, mask parquetstore.Mask) ([]*vec.Batch, error) {
	file, err := parquetstore.Open(ctx, s.Objects, tablet.ParquetPath(table, d.ID), parquetstore.OpenOptions{Tablet: d.ID})
	if err != nil {
		return nil, err
	}
	defer file.Close()
	project, err := NewProjection(file, columns)
	if err != nil {
		return nil, err
	}
	scan := &parquetstore.Scan{Columns: project.Read, Mask: mask}
	var out []*vec.Batch
	for _, m := range file.Morsels() {
		r, err := file.NewReader(scan, m)
		if err != nil {
			return nil, err
		}
		for {
			b, err := r.Next(ctx)
			if err != nil {
				return nil, err
			}
			if b == nil {
				break
			}
			out = append(out, project.Apply(b).Compact())
		}
	}
	return out, nil
}

// ReadRange returns the rows in [from, to) of one tablet that are not in dead, with all columns of the table's tablets.
func (s *Store) ReadRange(ctx context.Context, t *catalog.Table, d *tablet.Desc, dead *roaring.Bitmap, from, to uint32) (*vec.Batch, error) {
	outside := dead.Clone()
	outside.AddRange(0, uint64(from))
	outside.AddRange(uint64(to), uint64(d.Rows))
	mask, err := maskindex.NewMask(outside, uint32(d.Rows))
	if err != nil {
		return nil, err
	}
	columns := Columns(t)
	batches, err := s.readTablet(ctx, t.ID, d, columns, ScanMask(mask))
	if err != nil {
		return nil, err
	}
	return Concat(columns, batches)
}

// ReadColumns returns columns, by their places in t.Columns, of the rows of one tablet that mask leaves.
func (s *Store) ReadColumns(ctx context.Context, t *catalog.Table, d *tablet.Desc, mask *maskindex.Mask, places []int) (*vec.Batch, error) {
	columns := make([]tablet.Column, len(places))
	for i, p := range places {
		columns[i] = t.Columns[p]
	}
	batches, err := s.readTablet(ctx, t.ID, d, columns, ScanMask(mask))
	if err != nil {
		return nil, err
	}
	return Concat(columns, batches)
}

// ScanMask returns a mask as scans take it: nil when no row is dead, which costs them nothing.
func ScanMask(m *maskindex.Mask) parquetstore.Mask {
	if m.None() {
		return nil
	}
	return m
}

// Concat joins batches without selections whose columns are of the given types.
func Concat(columns []tablet.Column, batches []*vec.Batch) (*vec.Batch, error) {
	out := vec.NewBatch(0)
	for _, b := range batches {
		out.N += b.N
	}
	for c, column := range columns {
		pieces := make([]*vec.Vector, len(batches))
		total := int64(0)
		for i, b := range batches {
			pieces[i] = b.Cols[c]
			total += vec.BytesTotal(b.Cols[c])
		}
		if total > vec.MaxBytes {
			return nil, sqlerr.New(sqlerr.ProgramLimitExceeded, "%d bytes of column %q in one step, the limit is %d",
				total, column.Name, vec.MaxBytes)
		}
		if len(pieces) == 0 {
			pieces = append(pieces, vec.NewBuilder(column.Type, 0).Finish())
		}
		out.Cols = append(out.Cols, labelled(vec.Concat(column.Type, pieces), column))
	}
	return out, nil
}

// labelled returns v with the type of its column where that has labels and v was read from a tablet, where they are
// text.
func labelled(v *vec.Vector, column tablet.Column) *vec.Vector {
	if column.Type.Enum == nil || v.Type.Enum != nil {
		return v
	}
	typed := *v
	typed.Type = column.Type
	return &typed
}

// Projection maps the columns of a table to those of one tablet, which may have been written before some were added.
type Projection struct {
	Read    []int       // places in the file of what is read
	from    []int       // for each column of the table: its place in Read, or -1
	initial []vec.Value // of the columns that the file has not
	columns []tablet.Column
}

// NewProjection returns how to read columns, found by field id, from a file.
func NewProjection(file *parquetstore.File, columns []tablet.Column) (*Projection, error) {
	p := &Projection{columns: columns, from: make([]int, len(columns)), initial: make([]vec.Value, len(columns))}
	for i, c := range columns {
		place := file.ColumnByFieldID(c.FieldID)
		if place < 0 {
			p.from[i] = -1
			var err error
			if p.initial[i], err = Initial(c); err != nil {
				return nil, err
			}
			continue
		}
		p.from[i] = len(p.Read)
		p.Read = append(p.Read, place)
	}
	return p, nil
}

// Apply turns a batch of what was read, which may have further vectors behind it, into one of the table's columns.
func (p *Projection) Apply(b *vec.Batch) *vec.Batch {
	out := &vec.Batch{N: b.N, Sel: b.Sel, Cols: make([]*vec.Vector, 0, len(p.from)+len(b.Cols)-len(p.Read))}
	for i, from := range p.from {
		if from < 0 {
			out.Cols = append(out.Cols, vec.ConstantOf(p.columns[i].Type, p.initial[i], b.N))
			continue
		}
		out.Cols = append(out.Cols, b.Cols[from])
	}
	out.Cols = append(out.Cols, b.Cols[len(p.Read):]...)
	return out
}

// AddHidden returns a batch of the user's columns with the hidden ones that the table's tablets have: inserts without
// a sequence number. For a table without hidden columns it is the batch itself.
func AddHidden(t *catalog.Table, batch *vec.Batch) *vec.Batch {
	if t.Kind != catalog.CDC {
		return batch
	}
	out := &vec.Batch{N: batch.N, Sel: batch.Sel, Cols: append([]*vec.Vector(nil), batch.Cols...)}
	out.Cols = append(out.Cols, vec.ConstantOf(vec.Int16Type, vec.IntValue(vec.Int16Type, int64(tablet.OpInsert)), batch.N),
		vec.ConstantOf(vec.Int64Type, vec.IntValue(vec.Int64Type, 0), batch.N))
	return out
}
