package tablestore

import (
	"context"
	"errors"
	"slices"

	"github.com/tidemarkdb/tidemark/catalog"
	"github.com/tidemarkdb/tidemark/maskindex"
	"github.com/tidemarkdb/tidemark/parquetstore"
	"github.com/tidemarkdb/tidemark/sqlerr"
	"github.com/tidemarkdb/tidemark/tablet"
	"github.com/tidemarkdb/tidemark/vec"
)

// place is where a key's live row lies; the zero place is none.
type place struct {
	tablet tablet.ID
	row    uint32
}

// ErrNoRow is wrapped by the error of a look-up for a key that has no live row.
var ErrNoRow = errors.New("no row for a key")

// Lookup returns columns, by their places in t.Columns, of the live rows with the given keys: row i is that of key i.
// pending are tablets, oldest first, that will be appended to t and already count. A key without a live row is an
// error with SQLSTATE XX001 that wraps ErrNoRow.
func (s *Store) Lookup(ctx context.Context, t *catalog.Table, pending []*tablet.Desc, keys *maskindex.Keys, columns []int) (*vec.Batch, error) {
	places, err := s.find(ctx, t, pending, keys)
	if err != nil {
		return nil, err
	}
	for i, p := range places {
		if p.tablet == 0 {
			return nil, sqlerr.New(sqlerr.DataCorrupted, "table %s: %w: key %d of %d that its source changed",
				t.QualifiedName(), ErrNoRow, i+1, len(places)).
				Hintf("the table no longer matches its source: detach the stream and load the table anew with a new stream")
		}
	}
	return s.fetch(ctx, t, places, columns)
}

// Find returns for each key the tablet and row ordinal of its live row in t; tablet 0 when it has none.
func (s *Store) Find(ctx context.Context, t *catalog.Table, keys *maskindex.Keys) (tablets []tablet.ID, rows []uint32, err error) {
	places, err := s.find(ctx, t, nil, keys)
	if err != nil {
		return nil, nil, err
	}
	for _, p := range places {
		tablets, rows = append(tablets, p.tablet), append(rows, p.row)
	}
	return tablets, rows, nil
}

// Fetch returns columns, by their places in t.Columns, of rows of base tablets of t: row i is row rows[i] of
// tablets[i].
func (s *Store) Fetch(ctx context.Context, t *catalog.Table, tablets []tablet.ID, rows []uint32, columns []int) (*vec.Batch, error) {
	places := make([]place, len(tablets))
	for i := range places {
		places[i] = place{tablets[i], rows[i]}
	}
	return s.fetch(ctx, t, places, columns)
}

// Locate calls fn for every live row of t that has one of the keys.
func (s *Store) Locate(ctx context.Context, t *catalog.Table, keys *maskindex.Keys, fn func(id tablet.ID, row uint32)) error {
	set, err := s.set(ctx, t)
	if err != nil {
		return err
	}
	return s.masks.Locate(ctx, set, keys, func(_ int, p maskindex.Position) { fn(tablet.ID(p.Tablet), p.Row) })
}

// LocateIn calls fn for every row, live or not, of written tablets that has one of the keys.
func (s *Store) LocateIn(ctx context.Context, table tablet.TableID, descs []*tablet.Desc, keys *maskindex.Keys, fn func(id tablet.ID, row uint32)) error {
	batch, err := maskindex.NewBatch(keys)
	if err != nil {
		return err
	}
	for _, d := range descs {
		err := s.probe(ctx, d.SidecarPath(table), batch, func(_ int, p place, _ bool) { fn(p.tablet, p.row) })
		if err != nil {
			return err
		}
	}
	return nil
}

func (s *Store) find(ctx context.Context, t *catalog.Table, pending []*tablet.Desc, keys *maskindex.Keys) ([]place, error) {
	places := make([]place, keys.Len())
	settled := make([]bool, keys.Len()) // by a pending tablet, even when that deleted the row
	batch, err := maskindex.NewBatch(keys)
	if err != nil {
		return nil, err
	}
	for _, d := range slices.Backward(pending) {
		err := s.probe(ctx, d.SidecarPath(t.ID), batch, func(i int, p place, deleted bool) {
			if settled[i] {
				return
			}
			settled[i] = true
			if !deleted {
				places[i] = p
			}
		})
		if err != nil {
			return nil, err
		}
	}
	set, err := s.set(ctx, t)
	if err != nil {
		return nil, err
	}
	err = s.masks.Locate(ctx, set, keys, func(i int, p maskindex.Position) {
		if !settled[i] {
			places[i] = place{tablet.ID(p.Tablet), p.Row}
		}
	})
	if err != nil {
		return nil, err
	}
	return places, nil
}

func (s *Store) probe(ctx context.Context, path string, batch *maskindex.Batch, found func(i int, p place, deleted bool)) error {
	f, release, err := s.keyFiles.Acquire(ctx, path)
	if err != nil {
		return err
	}
	defer release()
	deletes := f.Deletes()
	return f.Probe(ctx, batch, func(i int, p maskindex.Position) {
		found(i, place{tablet.ID(p.Tablet), p.Row}, deletes != nil && deletes.Contains(p.Row))
	})
}

// fetch reads columns of rows in the order of places.
func (s *Store) fetch(ctx context.Context, t *catalog.Table, places []place, columns []int) (*vec.Batch, error) {
	wanted := make([]tablet.Column, len(columns))
	for i, c := range columns {
		wanted[i] = t.Columns[c]
	}
	order := vec.Sequence(len(places))
	slices.SortStableFunc(order, func(a, b int32) int { return comparePlaces(places[a], places[b]) })
	var batches []*vec.Batch
	for from := 0; from < len(order); {
		to := from + 1
		for to < len(order) && places[order[to]].tablet == places[order[from]].tablet {
			to++
		}
		rows := make([]uint32, 0, to-from)
		for _, o := range order[from:to] {
			rows = append(rows, places[o].row)
		}
		batch, err := s.fetchFrom(ctx, t, places[order[from]].tablet, rows, wanted)
		if err != nil {
			return nil, err
		}
		batches = append(batches, batch)
		from = to
	}
	sorted, err := Concat(wanted, batches)
	if err != nil {
		return nil, err
	}
	back := make([]int32, len(order))
	for at, o := range order {
		back[o] = int32(at)
	}
	out := vec.NewBatch(len(places))
	for _, c := range sorted.Cols {
		out.Cols = append(out.Cols, vec.Gather(c, back, nil))
	}
	return out, nil
}

func comparePlaces(a, b place) int {
	if a.tablet != b.tablet {
		if a.tablet < b.tablet {
			return -1
		}
		return 1
	}
	return int(int64(a.row) - int64(b.row))
}

// fetchFrom reads ascending rows, which may repeat, of one tablet.
func (s *Store) fetchFrom(ctx context.Context, t *catalog.Table, id tablet.ID, rows []uint32, columns []tablet.Column) (*vec.Batch, error) {
	file, err := s.Open(ctx, t.ID, id)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	project, err := NewProjection(file, columns)
	if err != nil {
		return nil, err
	}
	batch, err := parquetstore.ReadRows(ctx, file, rows, project.Read)
	if err != nil {
		return nil, err
	}
	return project.Apply(batch), nil
}
