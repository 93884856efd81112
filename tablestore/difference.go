package tablestore

import (
	"context"
	"maps"
	"slices"

	"github.com/RoaringBitmap/roaring/v2"

	"github.com/tidemarkdb/tidemark/catalog"
	"github.com/tidemarkdb/tidemark/maskindex"
	"github.com/tidemarkdb/tidemark/tablet"
)

// RowSet is some rows of one tablet.
type RowSet struct {
	Tablet tablet.ID
	Rows   *roaring.Bitmap // not to be changed
}

// Difference returns the rows that live in one state of a table and not in the other, by tablet: gone lived before,
// come live after. nil stands for a table that is not there. It reads no tablet, and its callers need to read those
// alone that it names: a tablet with the same mask in both states is left out.
func (s *Store) Difference(ctx context.Context, before, after *catalog.Table) (gone, come []RowSet, err error) {
	was, err := s.liveness(ctx, before)
	if err != nil {
		return nil, nil, err
	}
	is, err := s.liveness(ctx, after)
	if err != nil {
		return nil, nil, err
	}
	left, entered := was.tablets(), map[tablet.ID]int64{}
	for id, rows := range is.tablets() {
		if _, stayed := left[id]; !stayed {
			entered[id] = rows
			continue
		}
		delete(left, id)
		old, err := was.masks.Of(uint64(id))
		if err != nil {
			return nil, nil, err
		}
		now, err := is.masks.Of(uint64(id))
		if err != nil {
			return nil, nil, err
		}
		if old != now {
			gone = appendRows(gone, id, roaring.AndNot(now.Bitmap(), old.Bitmap()))
			come = appendRows(come, id, roaring.AndNot(old.Bitmap(), now.Bitmap()))
		}
	}
	if gone, err = was.appendLive(gone, left); err != nil {
		return nil, nil, err
	}
	come, err = is.appendLive(come, entered)
	return gone, come, err
}

func appendRows(to []RowSet, id tablet.ID, rows *roaring.Bitmap) []RowSet {
	if rows.IsEmpty() {
		return to
	}
	return append(to, RowSet{id, rows})
}

// liveness is the tablets of one state and which of their rows live.
type liveness struct {
	view  *tablet.View
	masks *maskindex.Masks
}

func (s *Store) liveness(ctx context.Context, t *catalog.Table) (*liveness, error) {
	if t == nil {
		return &liveness{view: new(tablet.View)}, nil
	}
	masks, err := s.Masks(ctx, t)
	return &liveness{t.Tablets.View(), masks}, err
}

// tablets returns every tablet with its number of rows.
func (l *liveness) tablets() map[tablet.ID]int64 {
	out := make(map[tablet.ID]int64, len(l.view.Base)+len(l.view.Staging))
	for _, b := range l.view.Base {
		out[b.ID] = b.Rows
	}
	for _, staged := range l.view.Staging {
		out[staged.ID] = staged.Rows
	}
	return out
}

// appendLive appends the live rows of tablets, in order of their ids.
func (l *liveness) appendLive(to []RowSet, tablets map[tablet.ID]int64) ([]RowSet, error) {
	for _, id := range slices.Sorted(maps.Keys(tablets)) {
		mask, err := l.masks.Of(uint64(id))
		if err != nil {
			return nil, err
		}
		rows := roaring.New()
		rows.AddRange(0, uint64(tablets[id]))
		rows.AndNot(mask.Bitmap())
		to = appendRows(to, id, rows)
	}
	return to, nil
}
