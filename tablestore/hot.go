package tablestore

import (
	"context"
	"sync"
	"time"

	"github.com/tidemarkdb/tidemark/catalog"
	"github.com/tidemarkdb/tidemark/parquetstore"
	"github.com/tidemarkdb/tidemark/tablet"
)

const (
	// hotFor is how long a column counts as read after a scan of it.
	hotFor = time.Minute
	// warmShare is the part of the page cache, one in so many, that one call of Warm may fill.
	warmShare = 16
)

// hotColumns remembers which columns scans read lately, so that the pages of new tablets can be made ready for the next
// scan where there is one to be expected. The zero value is ready.
type hotColumns struct {
	mu   sync.Mutex
	read map[tablet.TableID]map[int32]time.Time // by field id
}

// note remembers that columns were read now.
func (h *hotColumns) note(table tablet.TableID, columns []tablet.Column) {
	now := time.Now()
	h.mu.Lock()
	defer h.mu.Unlock()
	of := h.read[table]
	if of == nil {
		if h.read == nil {
			h.read = map[tablet.TableID]map[int32]time.Time{}
		}
		of = map[int32]time.Time{}
		h.read[table] = of
	}
	for _, c := range columns {
		of[c.FieldID] = now
	}
}

// of returns the places in t.Columns of the columns that were read lately.
func (h *hotColumns) of(t *catalog.Table) (places []int) {
	since := time.Now().Add(-hotFor)
	h.mu.Lock()
	defer h.mu.Unlock()
	for i, c := range t.Columns {
		if at, ok := h.read[t.ID][c.FieldID]; ok && at.After(since) {
			places = append(places, i)
		}
	}
	return places
}

func (h *hotColumns) forget(table tablet.TableID) {
	h.mu.Lock()
	defer h.mu.Unlock()
	delete(h.read, table)
}

// NoteScan tells the store which columns of a table a query reads.
func (s *Store) NoteScan(t *catalog.Table, columns []tablet.Column) { s.hot.note(t.ID, columns) }

// warmPages decodes the pages of new tablets in the columns that queries read lately, up to a part of the cache. What
// fails here is the query's to report.
func (s *Store) warmPages(ctx context.Context, t *catalog.Table, fresh []*tablet.Desc) {
	places := s.hot.of(t)
	if len(places) == 0 {
		return
	}
	left := s.pageBytes / warmShare
	for _, d := range fresh {
		// Decoded values take more than their share of the file, which is compressed.
		if left -= 4 * d.FileBytes * int64(len(places)) / int64(len(t.Columns)); left < 0 || ctx.Err() != nil {
			return
		}
		if err := s.warmTablet(ctx, t, d, places); err != nil {
			return
		}
	}
}

func (s *Store) warmTablet(ctx context.Context, t *catalog.Table, d *tablet.Desc, places []int) error {
	file, err := s.Open(ctx, t.ID, d.ID)
	if err != nil {
		return err
	}
	defer file.Close()
	scan := &parquetstore.Scan{}
	for _, p := range places {
		if at := file.ColumnByFieldID(t.Columns[p].FieldID); at >= 0 {
			scan.Columns = append(scan.Columns, at)
		}
	}
	for _, m := range file.Morsels() {
		r, err := file.NewReader(scan, m)
		if err != nil {
			return err
		}
		for {
			b, err := r.Next(ctx)
			if err != nil {
				return err
			}
			if b == nil {
				break
			}
		}
	}
	return nil
}

// newTablets returns the tablets that a state of a table has and an earlier one had not.
func newTablets(before, after *catalog.Table) (out []*tablet.Desc) {
	view := after.Tablets.View()
	add := func(d *tablet.Desc) {
		if _, had := before.Tablets.Desc(d.ID); !had {
			out = append(out, d)
		}
	}
	for _, b := range view.Base {
		add(b.Desc)
	}
	for _, staged := range view.Staging {
		add(staged.Desc)
	}
	return out
}
