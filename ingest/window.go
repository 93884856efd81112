package ingest

import (
	"context"
	"errors"
	"slices"
	"time"

	"github.com/tidemarkdb/tidemark/extension"
	"github.com/tidemarkdb/tidemark/maskindex"
	"github.com/tidemarkdb/tidemark/sqlerr"
	"github.com/tidemarkdb/tidemark/tablestore"
	"github.com/tidemarkdb/tidemark/tablet"
	"github.com/tidemarkdb/tidemark/vec"
)

// window collects the changes of one append, in the source's order, until it is sealed into rows to store.
type window struct {
	columns []tablet.Column // of the user
	key     []int           // places of the merge key's columns
	parts   []*extension.Changes
	rows    int
	bytes   int64

	inserts, updates, deletes int64
	before                    int64 // events of the parts of the same append that were sent on already

	position   extension.Position // of the newest boundary
	commitTime time.Time          // of the newest boundary that has one
	open       bool               // changes after the newest boundary are held, or were sent on
	torn       bool               // ... were sent on
	moved      bool               // there was a boundary
	whole      tally              // at the newest boundary
}

// tally is how much a window held at a boundary.
type tally struct {
	parts, rows               int
	bytes                     int64
	inserts, updates, deletes int64
}

// add takes over c. A row without a full key is an error, and c is left out then.
func (w *window) add(c *extension.Changes) error {
	if err := w.checkKeys(c); err != nil {
		return err
	}
	if n := c.Rows(); n > 0 {
		w.parts = append(w.parts, c)
		w.rows += n
		for _, col := range c.Cols {
			w.bytes += col.MemoryBytes()
		}
		w.inserts += c.Inserts
		w.updates += c.Updates
		w.deletes += c.Deletes
	}
	w.open = !c.Boundary && (w.open || c.Rows() > 0)
	if c.Boundary {
		w.position, w.moved, w.torn = c.Position, true, false
		w.whole = tally{len(w.parts), w.rows, w.bytes, w.inserts, w.updates, w.deletes}
		if !c.CommitTime.IsZero() {
			w.commitTime = c.CommitTime
		}
	}
	return nil
}

// checkKeys returns a permanent error when a row of c cannot be indexed: the source would send the same key again.
func (w *window) checkKeys(c *extension.Changes) error {
	for _, k := range w.key {
		v := c.Cols[k]
		if !v.MayHaveNulls() {
			continue
		}
		for i, op := range c.Ops {
			if op != extension.Truncate && v.IsNull(i) {
				return extension.Permanent(sqlerr.New(sqlerr.NotNullViolation, "merge key column %q is NULL in a change of the source", w.columns[k].Name).
					Hintf("every row needs a full key: correct the source, or choose key columns that are never NULL"))
			}
		}
	}
	return nil
}

// cut takes off what is held after the newest boundary. What of it was sent on is for the receiver to forget, as torn
// tells.
func (w *window) cut() {
	t := w.whole
	w.parts, w.rows, w.bytes, w.open = w.parts[:t.parts], t.rows, t.bytes, false
	w.inserts, w.updates, w.deletes = t.inserts, t.updates, t.deletes
}

// events returns how many change events the append holds so far.
func (w *window) events() int64 { return w.before + w.inserts + w.updates + w.deletes }

// split takes out of the window what is to be sent on: everything up to the newest boundary, or everything when there
// was none since the last split. The window goes on with the rest.
func (w *window) split() *window {
	out := *w
	if w.open && w.whole.parts > 0 {
		out.cut()
	}
	*w = window{
		columns: w.columns, key: w.key, before: out.events(), position: w.position, commitTime: w.commitTime,
		open: w.open, torn: w.open && out.open, moved: w.moved,
		parts: slices.Clone(w.parts[len(out.parts):]), rows: w.rows - out.rows, bytes: w.bytes - out.bytes,
		inserts: w.inserts - out.inserts, updates: w.updates - out.updates, deletes: w.deletes - out.deletes,
	}
	return &out
}

// sealed is what an append stores: for each key the newest change, sorted, hidden columns last.
type sealed struct {
	batch     *vec.Batch // user columns, __op, last_seq
	keys      maskindex.Keys
	deletes   vec.Bitmap // rows of batch whose op is delete
	truncated bool       // the source truncated the table before every row of batch
	lastSeq   int64
}

// storedRows fetches columns of the live stored rows with the given keys, one row for each key in order. A key
// without a live row is an error.
type storedRows func(ctx context.Context, keys *maskindex.Keys, columns []int) (*vec.Batch, error)

// seal lays the window out. keyCols are the places of the merge key's columns, sortCols those the rows are sorted by;
// the changes are numbered from firstSeq on. stored is asked for values that the source left out.
func (w *window) seal(ctx context.Context, layout *maskindex.Layout, keyCols, sortCols []int, firstSeq int64, stored storedRows) (*sealed, error) {
	cols, ops := w.concat()
	out := &sealed{lastSeq: firstSeq + int64(w.rows) - 1}
	start := 0
	for i, op := range ops {
		if op == extension.Truncate {
			start, out.truncated = i+1, true
		}
	}
	var keys maskindex.Keys
	if err := fingerprint(layout, &keys, cols, keyCols, start); err != nil {
		return nil, err
	}
	if err := w.fillUnchanged(ctx, cols, ops, &keys, start, stored); err != nil {
		return nil, err
	}
	rows := newestOfEachKey(&keys, start)
	picked := make([]*vec.Vector, len(sortCols))
	for i, c := range sortCols {
		picked[i] = vec.Gather(cols[c], rows, nil)
	}
	order := vec.SortedIndex(picked, len(rows))
	sorted := make([]int32, len(rows))
	for i, o := range order {
		sorted[i] = rows[o]
	}
	out.batch = w.layOut(cols, ops, sorted, firstSeq)
	out.deletes = vec.NewBitmap(len(sorted))
	out.keys = takeKeys(&keys, sorted, start)
	for i, r := range sorted {
		if ops[r] == extension.Delete {
			out.deletes.Set(i)
		}
	}
	return out, nil
}

func (w *window) concat() ([]*vec.Vector, []extension.Op) {
	cols := make([]*vec.Vector, len(w.columns))
	for c, column := range w.columns {
		pieces := make([]*vec.Vector, len(w.parts))
		for i, p := range w.parts {
			pieces[i] = p.Cols[c]
		}
		cols[c] = vec.Concat(column.Type, pieces)
	}
	ops := make([]extension.Op, 0, w.rows)
	for _, p := range w.parts {
		ops = append(ops, p.Ops...)
	}
	return cols, ops
}

// layOut gathers the rows to store and adds the hidden columns.
func (w *window) layOut(cols []*vec.Vector, ops []extension.Op, rows []int32, firstSeq int64) *vec.Batch {
	batch := vec.NewBatch(len(rows))
	for _, c := range cols {
		batch.Cols = append(batch.Cols, vec.Gather(c, rows, nil))
	}
	codes, seqs := make([]int16, len(rows)), make([]int64, len(rows))
	for i, r := range rows {
		switch ops[r] {
		case extension.Insert:
			codes[i] = tablet.OpInsert
		case extension.Update:
			codes[i] = tablet.OpUpdate
		case extension.Delete:
			codes[i] = tablet.OpDelete
		}
		seqs[i] = firstSeq + int64(r)
	}
	batch.Cols = append(batch.Cols, vec.FlatOf(vec.Int16Type, codes, nil), vec.FlatOf(vec.Int64Type, seqs, nil))
	return batch
}

func fingerprint(layout *maskindex.Layout, keys *maskindex.Keys, cols []*vec.Vector, keyCols []int, start int) error {
	picked := make([]*vec.Vector, len(keyCols))
	n := cols[keyCols[0]].N - start
	for i, c := range keyCols {
		picked[i] = cols[c].Slice(start, n)
	}
	return layout.Fingerprint(picked, n, keys)
}

// newestOfEachKey returns the rows, ascending, that no later row of the same key follows. keys are those of the rows
// from start on.
func newestOfEachKey(keys *maskindex.Keys, start int) []int32 {
	seen := newKeyTable(keys)
	rows := make([]int32, 0, keys.Len())
	for i := keys.Len() - 1; i >= 0; i-- {
		if seen.put(int32(i)) < 0 {
			rows = append(rows, int32(start+i))
		}
	}
	for i, j := 0, len(rows)-1; i < j; i, j = i+1, j-1 {
		rows[i], rows[j] = rows[j], rows[i]
	}
	return rows
}

// takeKeys returns the keys of rows, which count from the start of the window.
func takeKeys(keys *maskindex.Keys, rows []int32, start int) maskindex.Keys {
	out := maskindex.Keys{Hi: make([]uint64, len(rows))}
	for i, r := range rows {
		out.Hi[i] = keys.Hi[int(r)-start]
	}
	if keys.Lo != nil {
		out.Lo = make([]uint64, len(rows))
		for i, r := range rows {
			out.Lo[i] = keys.Lo[int(r)-start]
		}
	}
	return out
}

// fillUnchanged replaces, in cols, the values that the source left out because a change did not touch them: from
// the change before it to the same key in this window, else from the stored row.
func (w *window) fillUnchanged(ctx context.Context, cols []*vec.Vector, ops []extension.Op, keys *maskindex.Keys, start int, stored storedRows) error {
	missing := w.missing(start)
	if missing == nil {
		return nil
	}
	before := newKeyTable(keys)
	previous := make([]int32, keys.Len()) // the latest earlier row of the same key, from start on, or -1
	for i := range previous {
		previous[i] = before.replace(int32(i))
	}
	for c, rows := range missing {
		if len(rows) == 0 {
			continue
		}
		index := vec.Sequence(cols[c].N)
		var fetch []int32 // rows whose key's stored row is needed
		for _, m := range rows {
			p := previous[m.key-start]
			switch {
			case p >= 0 && ops[start+int(p)] == extension.Delete:
				return inconsistent(m.row)
			case p >= 0:
				index[m.row] = index[start+int(p)]
			default:
				index[m.row] = int32(cols[c].N + len(fetch))
				fetch = append(fetch, int32(m.key))
			}
		}
		values := vec.NewBuilder(w.columns[c].Type, 0).Finish()
		if len(fetch) > 0 {
			wanted := takeKeys(keys, fetch, start)
			batch, err := stored(ctx, &wanted, []int{c})
			if errors.Is(err, tablestore.ErrNoRow) {
				return extension.Permanent(err)
			}
			if err != nil {
				return err
			}
			values = batch.Cols[0]
		}
		cols[c] = vec.Gather(vec.Concat(w.columns[c].Type, []*vec.Vector{cols[c], values}), index, nil)
	}
	return nil
}

// missingValue is a value the source left out: row of the window, and the row that has the stored row's key.
type missingValue struct{ row, key int }

// missing lists, for each column, what the source left out from row start on, in order; nil when nothing.
func (w *window) missing(start int) [][]missingValue {
	var out [][]missingValue
	offset := 0
	for _, p := range w.parts {
		for c, bits := range p.Unchanged {
			if bits == nil {
				continue
			}
			if out == nil {
				out = make([][]missingValue, len(w.columns))
			}
			for _, i := range bits.AppendSelection(nil, p.Rows()) {
				if row := offset + int(i); row >= start {
					out[c] = append(out[c], missingValue{row, offset + int(p.KeyRow[i])})
				}
			}
		}
		offset += p.Rows()
	}
	return out
}

func inconsistent(row int) error {
	return extension.Permanent(sqlerr.New(sqlerr.DataCorrupted,
		"change %d of the batch leaves a value unchanged in a row that does not exist", row).
		Hintf("the table no longer matches its source: detach the stream and load the table anew with a new stream"))
}

// keyTable is an open-addressing table from key to a row of the same Keys.
type keyTable struct {
	keys *maskindex.Keys
	rows []int32 // row + 1, 0 is empty
	mask uint64
}

func newKeyTable(keys *maskindex.Keys) *keyTable {
	size := 16
	for size < keys.Len()*2 {
		size *= 2
	}
	return &keyTable{keys: keys, rows: make([]int32, size), mask: uint64(size - 1)}
}

// slot returns the slot of row's key: taken by an equal key, or empty.
func (t *keyTable) slot(row int32) uint64 {
	hi, lo := t.keys.Hi[row], uint64(0)
	if t.keys.Lo != nil {
		lo = t.keys.Lo[row]
	}
	const mix = 0x9E3779B97F4A7C15
	s := (hi ^ lo) * mix
	s ^= s >> 32
	for ; ; s++ {
		other := t.rows[s&t.mask]
		if other == 0 {
			return s & t.mask
		}
		if t.keys.Hi[other-1] == hi && (t.keys.Lo == nil || t.keys.Lo[other-1] == lo) {
			return s & t.mask
		}
	}
}

// put enters row unless its key is there, and returns the row that was there, or -1.
func (t *keyTable) put(row int32) int32 {
	s := t.slot(row)
	if was := t.rows[s]; was != 0 {
		return was - 1
	}
	t.rows[s] = row + 1
	return -1
}

// replace enters row in place of an earlier one of its key, and returns the row that was there, or -1.
func (t *keyTable) replace(row int32) int32 {
	s := t.slot(row)
	was := t.rows[s]
	t.rows[s] = row + 1
	return was - 1
}
