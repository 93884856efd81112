package scripted

import (
	"context"
	"slices"
	"sync"
	"time"

	"github.com/tidemarkdb/tidemark/extension"
	"github.com/tidemarkdb/tidemark/sqlerr"
	"github.com/tidemarkdb/tidemark/vec"
)

type source struct {
	database *Database
	table    *Table
	spec     extension.TableSpec
}

// Check compares the columns, as every source must.
func (s *source) Check(context.Context) error {
	if err := s.database.fault(Checking); err != nil {
		return err
	}
	for i, c := range s.spec.Columns {
		if i >= len(s.table.columns) || s.table.columns[i].Name != c.Name || !s.table.columns[i].Type.Equal(c.Type) {
			return extension.Permanent(sqlerr.New(sqlerr.DatatypeMismatch, "column %q of the table does not match the source", c.Name).
				Hintf("create a CDC table with the source's columns"))
		}
	}
	return nil
}

// partRows is small, so that snapshots have several parts.
const partRows = 500

func (s *source) Snapshot(context.Context) (extension.Snapshot, error) {
	if err := s.database.fault(Snapping); err != nil {
		return nil, err
	}
	t := s.table
	t.mu.Lock()
	defer t.mu.Unlock()
	rows := make([]Row, 0, len(t.rows))
	for _, row := range t.rows {
		rows = append(rows, row)
	}
	t.open++
	return &snapshot{source: s, rows: rows, position: uint64(len(t.log))}, nil
}

type snapshot struct {
	*source
	rows     []Row
	position uint64
	once     sync.Once
}

func (s *snapshot) Position() extension.Position { return encode(s.position) }

func (s *snapshot) Parts() int { return (len(s.rows) + partRows - 1) / partRows }

func (s *snapshot) Read(ctx context.Context, part int, fn func(*vec.Batch) error) error {
	if err := s.database.fault(Copying); err != nil {
		return err
	}
	if err := ctx.Err(); err != nil {
		return err
	}
	rows := s.rows[part*partRows : min((part+1)*partRows, len(s.rows))]
	return fn(vec.NewBatch(len(rows), s.columns(rows)...))
}

func (s *snapshot) Close() error {
	s.once.Do(func() { s.table.opened(-1) })
	return nil
}

func (s *source) columns(rows []Row) []*vec.Vector {
	cols := make([]*vec.Vector, len(s.spec.Columns))
	for c, column := range s.spec.Columns {
		b := vec.NewBuilder(column.Type, len(rows))
		for _, row := range rows {
			if c < len(row) && row[c].Type.Equal(column.Type) && !row[c].Null {
				b.Append(row[c])
			} else {
				b.AppendNull()
			}
		}
		cols[c] = b.Finish()
	}
	return cols
}

func (s *source) Stream(_ context.Context, after extension.Position) (extension.Stream, error) {
	if err := s.database.fault(Connecting); err != nil {
		return nil, err
	}
	s.table.opened(1)
	return &stream{source: s, next: decode(after)}, nil
}

func (s *source) Drop(context.Context) error { return nil }

func (s *source) Close() error { return nil }

type stream struct {
	*source
	next      uint64 // transactions delivered
	delivered int    // changes of transaction next that were delivered
	once      sync.Once
}

// Next returns changes of one transaction: whole, or cut at maxRows.
func (s *stream) Next(ctx context.Context, wait time.Duration, maxRows int) (*extension.Changes, error) {
	if err := s.database.fault(Reading); err != nil {
		return nil, err
	}
	timer := time.NewTimer(wait)
	defer timer.Stop()
	for {
		s.table.mu.Lock()
		log, changed := s.table.log, s.table.changed
		s.table.mu.Unlock()
		if s.next < uint64(len(log)) {
			return s.changes(log[s.next], maxRows), nil
		}
		select {
		case <-ctx.Done():
			return nil, nil
		case <-timer.C:
			return nil, nil
		case <-changed:
		}
	}
}

func (s *stream) changes(tx transaction, maxRows int) *extension.Changes {
	out := &extension.Changes{}
	var rows []Row
	var fill []func()
	add := func(op extension.Op, row Row) int {
		out.Ops = append(out.Ops, op)
		rows = append(rows, row)
		return len(rows) - 1
	}
	for s.delivered < len(tx.changes) && len(rows) < max(1, maxRows) {
		c := tx.changes[s.delivered]
		s.delivered++
		switch c.Op {
		case extension.Insert:
			out.Inserts++
		case extension.Update:
			out.Updates++
		case extension.Delete:
			out.Deletes++
		}
		keyRow := -1
		if c.Moved != nil {
			keyRow = add(extension.Delete, s.keyOnly(c.Moved))
		}
		row := c.Row
		switch {
		case c.Op == extension.Truncate:
			row = nil
		case c.Op == extension.Delete:
			row = s.keyOnly(row)
		case len(c.Unchanged) > 0:
			row = slices.Clone(row)
			for _, u := range c.Unchanged {
				row[u] = vec.NullValue(row[u].Type)
			}
		}
		at := add(c.Op, row)
		if keyRow < 0 {
			keyRow = at
		}
		for _, u := range c.Unchanged {
			fill = append(fill, func() {
				out.KeyRow[at] = int32(keyRow)
				if out.Unchanged[u] == nil {
					out.Unchanged[u] = vec.NewBitmap(len(rows))
				}
				out.Unchanged[u].Set(at)
			})
		}
	}
	if fill != nil {
		out.Unchanged, out.KeyRow = make([]vec.Bitmap, len(s.spec.Columns)), make([]int32, len(rows))
		for i := range out.KeyRow {
			out.KeyRow[i] = int32(i)
		}
		for _, f := range fill {
			f()
		}
	}
	out.Cols = s.columns(rows)
	if s.delivered == len(tx.changes) {
		s.next, s.delivered = s.next+1, 0
		out.Boundary, out.Position, out.CommitTime = true, encode(s.next), tx.at
	}
	return out
}

// keyOnly returns a row with the key's values alone.
func (s *source) keyOnly(row Row) Row {
	out := make(Row, len(row))
	for i, v := range row {
		out[i] = vec.NullValue(v.Type)
	}
	for _, k := range s.table.key {
		out[k] = row[k]
	}
	return out
}

// Ack implements extension.Stream. A position that was not delivered is a fault of the caller and panics.
func (s *stream) Ack(p extension.Position) {
	s.table.mu.Lock()
	defer s.table.mu.Unlock()
	if n := decode(p); n > uint64(len(s.table.log)) {
		panic("a position was acknowledged that the source does not have")
	}
	s.table.acked = max(s.table.acked, decode(p))
}

func (s *stream) Close() error {
	s.once.Do(func() { s.table.opened(-1) })
	return nil
}
