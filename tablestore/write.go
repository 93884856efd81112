package tablestore

import (
	"context"
	"fmt"
	"io"

	"github.com/RoaringBitmap/roaring/v2"
	"github.com/zeebo/xxh3"
	"golang.org/x/sync/errgroup"

	"github.com/tidemarkdb/tidemark/catalog"
	"github.com/tidemarkdb/tidemark/maskindex"
	"github.com/tidemarkdb/tidemark/parquetstore"
	"github.com/tidemarkdb/tidemark/tablet"
	"github.com/tidemarkdb/tidemark/vec"
)

// Rows are the rows of one new tablet, in the table's sort order.
type Rows struct {
	Batch *vec.Batch // columns as Columns returns them
	// Keys are the merge keys of the rows; nil when they are to be computed, or when the table has no merge key.
	Keys *maskindex.Keys
	// Deletes has bit i set when row i is a delete marker; nil when none is.
	Deletes vec.Bitmap
}

// Write makes a tablet of rows: the Parquet file and, for a table with a merge key, the sidecar. Both are durable
// when it returns, and listed in the ledger of ctx in any case. Two rows of one key are an error with SQLSTATE 23505.
// threads bounds the cores it uses; 0: all.
func (s *Store) Write(ctx context.Context, t *catalog.Table, rows Rows, threads int) (*tablet.Desc, error) {
	id := tablet.NewID()
	keys := rows.Keys
	if keys == nil && len(t.MergeKey) > 0 {
		var err error
		if keys, err = Fingerprint(t, rows.Batch.Compact()); err != nil {
			return nil, err
		}
	}
	var (
		desc    *tablet.Desc
		sidecar sidecar
	)
	if threads <= 0 {
		threads = s.threads
	}
	g, ctx := errgroup.WithContext(ctx)
	g.SetLimit(max(threads, 1))
	g.Go(func() (err error) {
		desc, err = s.writeParquet(ctx, t, id, rows.Batch, threads)
		return err
	})
	if keys != nil {
		g.Go(func() (err error) {
			sidecar, err = s.writeSidecar(ctx, t, id, keys, rows)
			return err
		})
	}
	if err := g.Wait(); err != nil {
		return nil, err
	}
	desc.ID, desc.SchemaVersion = id, t.SchemaVersion
	desc.SidecarBytes, desc.SidecarSum = sidecar.bytes, sidecar.sum
	return desc, nil
}

func (s *Store) writeParquet(ctx context.Context, t *catalog.Table, id tablet.ID, batch *vec.Batch, threads int) (*tablet.Desc, error) {
	path := tablet.ParquetPath(t.ID, id)
	LedgerOf(ctx).note(id, path)
	w, err := parquetstore.NewWriter(ctx, s.Objects, path, Columns(t),
		parquetstore.Options{Threads: threads, Sorted: t.SortColumns()})
	if err != nil {
		return nil, err
	}
	defer w.Abort()
	batch = batch.Compact()
	for from := 0; from < batch.N; from += parquetstore.DefaultRowGroupRows {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		if err := w.Write(batch.Slice(from, min(parquetstore.DefaultRowGroupRows, batch.N-from))); err != nil {
			return nil, err
		}
	}
	return w.Close()
}

// sidecar is what a description says of a written key file.
type sidecar struct {
	bytes int64
	sum   uint64
}

func (s *Store) writeSidecar(ctx context.Context, t *catalog.Table, id tablet.ID, keys *maskindex.Keys, rows Rows) (sidecar, error) {
	var deletes *roaring.Bitmap
	if rows.Deletes != nil {
		deletes = roaring.New()
		for _, r := range rows.Deletes.AppendSelection(nil, rows.Batch.Rows()) {
			deletes.Add(uint32(r))
		}
	}
	path := tablet.SidecarPath(t.ID, id)
	return s.writeKeyFile(ctx, id, path, func(w io.Writer) error {
		_, err := maskindex.WriteSidecar(w, maskindex.Sidecar{Name: path, Tablet: uint64(id), Keys: keys, Deletes: deletes})
		return err
	})
}

// writeKeyFile stores what write produces as one durable object.
func (s *Store) writeKeyFile(ctx context.Context, id tablet.ID, path string, write func(io.Writer) error) (sidecar, error) {
	LedgerOf(ctx).note(id, path)
	out, err := s.Objects.Create(ctx, path)
	if err != nil {
		return sidecar{}, fmt.Errorf("creating %s: %w", path, err)
	}
	defer out.Abort()
	sum := &summed{w: out, hash: xxh3.New()}
	if err := write(sum); err != nil {
		return sidecar{}, err
	}
	if err := out.Close(); err != nil {
		return sidecar{}, fmt.Errorf("closing %s: %w", path, err)
	}
	return sidecar{bytes: sum.bytes, sum: sum.hash.Sum64()}, nil
}

// summed counts and hashes what passes through.
type summed struct {
	w     io.Writer
	hash  *xxh3.Hasher
	bytes int64
}

func (s *summed) Write(p []byte) (int, error) {
	n, err := s.w.Write(p)
	s.hash.Write(p[:n])
	s.bytes += int64(n)
	return n, err
}
