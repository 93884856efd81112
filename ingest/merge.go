package ingest

import (
	"context"
	"errors"
	"slices"

	"github.com/RoaringBitmap/roaring/v2"

	"github.com/tidemarkdb/tidemark/catalog"
	"github.com/tidemarkdb/tidemark/maskindex"
	"github.com/tidemarkdb/tidemark/sqlerr"
	"github.com/tidemarkdb/tidemark/tablestore"
	"github.com/tidemarkdb/tidemark/tablet"
	"github.com/tidemarkdb/tidemark/vec"
)

// merging is an append to a table in write mode: the keys it changes, and what that leaves of its own parts. Rows of
// the table are looked for when it commits, in the table as it is then.
type merging struct {
	keys maskindex.Keys                // of every change since the last truncation
	dead map[tablet.ID]*roaring.Bitmap // rows of parts that later parts supersede
}

// clone returns a copy that more parts merged do not change.
func (m *merging) clone() *merging {
	out := &merging{keys: maskindex.Keys{Hi: slices.Clip(m.keys.Hi), Lo: slices.Clip(m.keys.Lo)}}
	if m.dead != nil {
		out.dead = make(map[tablet.ID]*roaring.Bitmap, len(m.dead))
		for id, rows := range m.dead {
			out.dead[id] = rows.Clone()
		}
	}
	return out
}

// mergeRows writes the live rows of one piece as a part, after the rows of earlier parts with the same keys died.
func (a *appender) mergeRows(ctx context.Context, table *catalog.Table, rows *sealed) error {
	w, m := a.worker, a.merge
	if rows.truncated {
		*m = merging{}
	}
	if rows.batch.N == 0 {
		return nil
	}
	if len(a.parts) > 0 {
		if m.dead == nil {
			m.dead = map[tablet.ID]*roaring.Bitmap{}
		}
		err := w.Store.LocateIn(ctx, table.ID, a.parts, &rows.keys, func(id tablet.ID, row uint32) { add(m.dead, id, row) })
		if err != nil {
			return &applyError{err}
		}
	}
	m.keys.Hi = append(m.keys.Hi, rows.keys.Hi...)
	m.keys.Lo = append(m.keys.Lo, rows.keys.Lo...)
	live := liveRows(rows)
	if len(live) == 0 {
		return nil
	}
	batch := (&vec.Batch{N: rows.batch.N, Cols: rows.batch.Cols, Sel: live}).Compact()
	keys := takeKeys(&rows.keys, live, 0)
	desc, err := w.Store.Write(ctx, table, tablestore.Rows{Batch: batch, Keys: &keys}, w.Pacing().Threads)
	if err != nil {
		return &applyError{err}
	}
	a.parts = append(a.parts, desc)
	return nil
}

// liveRows selects the rows that are no delete markers.
func liveRows(rows *sealed) vec.Selection {
	out := make(vec.Selection, 0, rows.batch.N)
	for i := range rows.batch.N {
		if !rows.deletes.Get(i) {
			out = append(out, int32(i))
		}
	}
	return out
}

func add(dead map[tablet.ID]*roaring.Bitmap, id tablet.ID, row uint32) {
	b := dead[id]
	if b == nil {
		b = roaring.New()
		dead[id] = b
	}
	b.Add(row)
}

// commitMerge makes the append's changes in one commit with its progress. A statement of a user that came in between
// makes it look again.
func (a *appender) commitMerge(ctx context.Context, progress catalog.Progress) (*catalog.Table, error) {
	defer a.worker.overtaken.Store(false)
	for {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		table, err := a.worker.current()
		if err != nil {
			return nil, err
		}
		edit, err := a.mergeEdit(ctx, table, progress)
		if err != nil {
			return nil, err
		}
		committed, err := a.worker.commit(ctx, edit)
		if err == nil || sqlerr.Code(err) != sqlerr.SerializationFailure || errors.Is(err, errColumns) {
			return committed, err
		}
		a.worker.overtaken.Store(true)
	}
}

// mergeEdit returns what the append changes in the table as it is.
func (a *appender) mergeEdit(ctx context.Context, table *catalog.Table, progress catalog.Progress) (*catalog.Modify, error) {
	w, m := a.worker, a.merge
	edit := &catalog.Modify{Table: w.Table, SchemaVersion: table.SchemaVersion, Ingest: &progress, Epoch: w.Epoch}
	if !a.changed() {
		return edit, nil
	}
	edit.KeysAsOf = table.Tablets.Version()
	var masks []tablestore.DeadMask
	if a.truncated {
		for b := range table.Tablets.Base() {
			edit.Remove = append(edit.Remove, catalog.MaskedTablet{Tablet: b.ID, Mask: b.Mask})
		}
	} else if m.keys.Len() > 0 {
		dead := map[tablet.ID]*roaring.Bitmap{}
		if err := w.Store.Locate(ctx, table, &m.keys, func(id tablet.ID, row uint32) { add(dead, id, row) }); err != nil {
			return nil, err
		}
		for b := range table.Tablets.Base() {
			if dead[b.ID] == nil {
				continue
			}
			before, err := w.Store.DeadRows(ctx, table.ID, b)
			if err != nil {
				return nil, err
			}
			masks = append(masks, tablestore.DeadMask{Member: b, Dead: roaring.Or(before, dead[b.ID])})
		}
	}
	if err := w.Store.ChangeMasks(ctx, edit, masks); err != nil {
		return nil, err
	}
	return edit, a.addParts(ctx, edit)
}

// addParts adds the parts with what is left of them.
func (a *appender) addParts(ctx context.Context, edit *catalog.Modify) error {
	var write []tablestore.TabletMask
	var add []*tablet.Desc
	for _, d := range a.parts {
		mask, err := maskindex.NewMask(a.merge.dead[d.ID], uint32(d.Rows))
		if err != nil {
			return err
		}
		if mask.All() {
			continue
		}
		if !mask.None() {
			write = append(write, tablestore.TabletMask{Tablet: d.ID, Mask: mask})
		}
		add = append(add, d)
	}
	refs, err := a.worker.Store.WriteMasks(ctx, edit.Table, write)
	if err != nil {
		return err
	}
	for _, d := range add {
		edit.Add = append(edit.Add, tablet.Base{Desc: d, Mask: refs[d.ID]})
	}
	return nil
}
