package engine

import (
	"context"

	"github.com/tidemarkdb/tidemark/sql"
	"github.com/tidemarkdb/tidemark/sqlerr"
	"github.com/tidemarkdb/tidemark/vec"
)

// cursor is a query whose rows a session takes bit by bit. The query runs as far as it was fetched from.
type cursor struct {
	name   string
	hold   bool
	result *Result
	cancel context.CancelFunc

	batch *vec.Batch // the rest of the batch read last
	place int64      // rows taken
	ended bool
}

func (c *cursor) close() {
	c.result.Close()
	c.cancel()
}

// declareCursor runs DECLARE: it starts the query on what the session sees now.
func (s *Session) declareCursor(t *sql.DeclareCursor) (*Result, error) {
	switch {
	case s.tx == nil && !t.Hold:
		return nil, sqlerr.New(sqlerr.NoActiveTransaction, "DECLARE CURSOR can only be used in transaction blocks").
			Hintf("BEGIN first, or declare it WITH HOLD").At(t.Pos)
	case s.cursors[t.Name.Name] != nil:
		return nil, sqlerr.New(sqlerr.DuplicateCursor, "cursor %q already exists", t.Name.Name).Hintf("CLOSE it first").At(t.Name.Pos)
	case t.Scroll:
		return nil, sqlerr.New(sqlerr.FeatureNotSupported, "cursors that scroll back are not supported").
			Hintf("leave SCROLL out and read forward").At(t.Pos)
	}
	ctx, cancel := context.WithCancel(s.engine.ctx) // the query outlives the statement
	result, err := s.query(ctx, t.Query, nil)
	if err != nil {
		cancel()
		return nil, err
	}
	if s.cursors == nil {
		s.cursors = map[string]*cursor{}
	}
	s.cursors[t.Name.Name] = &cursor{name: t.Name.Name, hold: t.Hold, result: result, cancel: cancel}
	return done("DECLARE CURSOR"), nil
}

func (s *Session) cursor(name sql.Ident) (*cursor, error) {
	if c := s.cursors[name.Name]; c != nil {
		return c, nil
	}
	return nil, sqlerr.New(sqlerr.InvalidCursorName, "cursor %q does not exist", name.Name).
		Hintf("DECLARE %s CURSOR FOR ... makes it; it ends with its transaction", name.Name).At(name.Pos)
}

// fetch runs FETCH and MOVE.
func (s *Session) fetch(ctx context.Context, t *sql.Fetch) (*Result, error) {
	c, err := s.cursor(t.Cursor)
	if err != nil {
		return nil, err
	}
	skip, take, err := c.span(t)
	if err != nil {
		return nil, err
	}
	if _, err := c.take(ctx, skip, nil); err != nil {
		return nil, err
	}
	if t.Move {
		n, err := c.take(ctx, take, nil)
		return &Result{Tag: "MOVE " + itoa(int(n)), RowsAffected: -1}, err
	}
	if take < 0 { // all that are left: they need not be kept
		return c.handOver(), nil
	}
	var batches []*vec.Batch
	if _, err := c.take(ctx, take, func(b *vec.Batch) { batches = append(batches, b) }); err != nil {
		return nil, err
	}
	return rowsOf("FETCH", c.result.Schema, batches...), nil
}

// handOver returns the rows that are left as a result of its own, which the end of the transaction does not cut short.
func (c *cursor) handOver() *Result {
	rest, rows, cancel := c.batch, c.result, c.cancel
	c.batch, c.ended, c.result, c.cancel = nil, true, &Result{Schema: rows.Schema}, func() {}
	return &Result{Schema: rows.Schema, Tag: "FETCH", RowsAffected: -1, next: func(ctx context.Context) (*vec.Batch, error) {
		if b := rest; b != nil && b.Rows() > 0 {
			rest = nil
			return b, nil
		}
		return rows.Next(ctx)
	}, close: func() {
		rows.Close()
		cancel()
	}}
}

// span says how many rows to pass over and how many to take then, -1 for all.
func (c *cursor) span(t *sql.Fetch) (skip, take int64, err error) {
	backward := sqlerr.New(sqlerr.ObjectNotInPrerequisite, "cursor can only scan forward").
		Hintf("declare it anew to begin from the first row").At(t.Pos)
	switch {
	case t.Direction == sql.FetchForward && t.All:
		return 0, -1, nil
	case t.Direction == sql.FetchForward && t.Count > 0:
		return 0, t.Count, nil
	case t.Direction == sql.FetchAbsolute && t.Count > c.place && !t.All:
		return t.Count - c.place - 1, 1, nil
	case t.Direction == sql.FetchRelative && t.Count > 0:
		return t.Count - 1, 1, nil
	}
	return 0, 0, backward
}

// take reads n rows, all for -1, and gives them to keep, which may be nil, in batches of its own.
func (c *cursor) take(ctx context.Context, n int64, keep func(*vec.Batch)) (taken int64, err error) {
	for n < 0 || taken < n {
		if c.batch == nil || c.batch.Rows() == 0 {
			if c.ended {
				return taken, nil
			}
			if err := ctx.Err(); err != nil {
				return taken, canceled(ctx, err)
			}
			b, err := c.result.Next(ctx)
			if err != nil {
				return taken, err
			}
			if b == nil {
				c.ended = true
				return taken, nil
			}
			c.batch = b.Compact()
			continue
		}
		k := c.batch.Rows()
		if n >= 0 {
			k = int(min(int64(k), n-taken))
		}
		if keep != nil {
			keep(ownBatch(c.batch.Slice(0, k)))
		}
		c.batch = c.batch.Slice(k, c.batch.Rows()-k)
		taken += int64(k)
		c.place += int64(k)
	}
	return taken, nil
}

// ownBatch copies a batch, which is valid until the next is read only.
func ownBatch(b *vec.Batch) *vec.Batch {
	out := vec.NewBatch(b.Rows())
	for _, col := range b.Cols {
		builder := vec.NewBuilder(col.Type, b.Rows())
		builder.AppendVector(col, nil)
		out.Cols = append(out.Cols, builder.Finish())
	}
	return out
}

// closeCursor runs CLOSE.
func (s *Session) closeCursor(t *sql.CloseCursor) (*Result, error) {
	if t.Name.Name == "" {
		s.closeCursors(true)
		return done("CLOSE CURSOR ALL"), nil
	}
	c, err := s.cursor(t.Name)
	if err != nil {
		return nil, err
	}
	c.close()
	delete(s.cursors, c.name)
	return done("CLOSE CURSOR"), nil
}

// closeCursors ends the cursors of a transaction, or those that outlive it too.
func (s *Session) closeCursors(held bool) {
	for name, c := range s.cursors {
		if held || !c.hold {
			c.close()
			delete(s.cursors, name)
		}
	}
}
