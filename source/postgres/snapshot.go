package postgres

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"strconv"
	"strings"

	"github.com/jackc/pgx/v5/pgconn"

	"github.com/tidemarkdb/tidemark/extension"
	"github.com/tidemarkdb/tidemark/sqlerr"
	"github.com/tidemarkdb/tidemark/vec"
)

const (
	// leastPartPages is how many pages of the table one part covers at least: 64 MiB.
	leastPartPages = 8192
	// partsPerThread keeps the threads busy to the end when some parts are slower than others.
	partsPerThread = 4
	// batchBytes is how much a batch of the snapshot holds at most, beside its last row.
	batchBytes = 32 << 20
)

// snapshot reads the table as of the slot's consistent point. Every reader has imported the exported snapshot.
type snapshot struct {
	config
	table   *table
	columns []column
	at      position
	bounds  []uint64            // part i is pages bounds[i] up to bounds[i+1]; the last has no end
	free    chan *pgconn.PgConn // readers not in use; closed by nobody
	readers []*pgconn.PgConn
}

// newSnapshot makes the slot anew and opens the readers.
func (s *source) newSnapshot(ctx context.Context) (_ *snapshot, err error) {
	if err := s.Check(ctx); err != nil {
		return nil, err
	}
	creator, err := s.connect(ctx, true)
	if err != nil {
		return nil, err
	}
	defer closeConn(creator)
	id, err := system(ctx, creator)
	if err != nil {
		return nil, err
	}
	if err := s.dropSlot(ctx, creator, s.database); err != nil {
		return nil, err
	}
	lsn, name, err := s.createSlot(ctx, creator)
	if err != nil {
		return nil, err
	}
	snap := &snapshot{config: s.config, at: position{lsn: lsn, system: id}, free: make(chan *pgconn.PgConn, s.snapshotThreads)}
	defer func() {
		if err != nil {
			_ = snap.Close()
		}
	}()
	if err := snap.open(ctx, name); err != nil {
		return nil, err
	}
	// The catalog is read again inside the snapshot: what was altered meanwhile is seen.
	if snap.table, err = s.describe(ctx, snap.readers[0]); err != nil {
		return nil, err
	}
	if snap.columns, err = s.plan(snap.table, s.spec); err != nil {
		return nil, err
	}
	snap.at.oid = snap.table.oid
	return snap, snap.divide(ctx)
}

// open starts the readers' transactions. The creating session must not run another command before that is done.
func (s *snapshot) open(ctx context.Context, name string) error {
	for range s.snapshotThreads {
		conn, err := s.connect(ctx, false)
		if err != nil {
			return err
		}
		s.readers = append(s.readers, conn)
		begin := "BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY; SET TRANSACTION SNAPSHOT " + quoteLiteral(name) + "; SET LOCAL row_security = off"
		if _, err := simple(ctx, conn, begin); err != nil {
			return sourceError("importing the snapshot", err)
		}
		s.free <- conn
	}
	return nil
}

// divide cuts the table's pages into parts.
func (s *snapshot) divide(ctx context.Context) error {
	got, err := rows(ctx, s.readers[0], `SELECT pg_relation_size($1::oid) / current_setting('block_size')::int8`, s.table.oidText())
	if err != nil {
		return sourceError("measuring the table", err)
	}
	pages, _ := strconv.ParseUint(str(got[0][0]), 10, 64)
	size := max(s.partPages, pages/uint64(s.snapshotThreads*partsPerThread))
	s.bounds = []uint64{0}
	for at := size; at < pages; at += size {
		s.bounds = append(s.bounds, at)
	}
	return nil
}

func (s *snapshot) Position() extension.Position { return s.at.encode() }

func (s *snapshot) Parts() int { return len(s.bounds) }

func (s *snapshot) Read(ctx context.Context, part int, fn func(*vec.Batch) error) error {
	if part < 0 || part >= len(s.bounds) {
		return sqlerr.New(sqlerr.Internal, "part %d of a snapshot of %d parts", part, len(s.bounds))
	}
	var conn *pgconn.PgConn
	select {
	case conn = <-s.free:
	case <-ctx.Done():
		return ctx.Err()
	}
	defer func() { s.free <- conn }()
	rows := &copyReader{columns: s.columns, where: "in the snapshot", fn: fn}
	for i := range s.columns {
		rows.builders = append(rows.builders, vec.NewBuilder(s.columns[i].Type, 0))
	}
	_, err := conn.CopyTo(ctx, rows, s.statement(part))
	switch {
	case rows.err != nil:
		return rows.err
	case ctx.Err() != nil:
		return ctx.Err()
	case err != nil:
		return s.copyError(err)
	}
	return rows.end()
}

func (s *snapshot) copyError(err error) error {
	if state(err) == stateNotEnough {
		return extension.Permanent(sourceError("reading the snapshot (row-level security must not hide rows from the role of the option connection)", err))
	}
	return sourceError("reading the snapshot", err)
}

// statement is the COPY of a part. ONLY keeps the rows of inheriting tables out, which the stream does not have either.
func (s *snapshot) statement(part int) string {
	list := make([]string, len(s.columns))
	for i, c := range s.columns {
		list[i] = quoteIdent(c.Name)
		if c.byText {
			// concat prints as the stream does, with the type's output function, where a cast of inet, "char" or char(n)
			// does not; num_nulls looks at the value as a whole, where a composite of NULLs IS NULL.
			list[i] = fmt.Sprintf("CASE pg_catalog.num_nulls(%[1]s) WHEN 0 THEN pg_catalog.concat(%[1]s) END", list[i])
		}
	}
	where := fmt.Sprintf("ctid >= '(%d,0)'::tid", s.bounds[part])
	if part+1 < len(s.bounds) {
		where += fmt.Sprintf(" AND ctid < '(%d,0)'::tid", s.bounds[part+1])
	}
	if s.table.publication.filter != "" {
		where += " AND (" + s.table.publication.filter + ")"
	}
	return fmt.Sprintf("COPY (SELECT %s FROM ONLY %s.%s WHERE %s) TO STDOUT (FORMAT binary)",
		strings.Join(list, ", "), quoteIdent(s.table.schema), quoteIdent(s.table.name), where)
}

func (s *snapshot) Close() error {
	for _, conn := range s.readers {
		closeConn(conn)
	}
	s.readers = nil
	return nil
}

// copySignature begins the binary format of COPY; flags and the length of an extension follow, 32 bits each.
var copySignature = []byte("PGCOPY\n\xff\r\n\x00")

// copyReader is the writer that COPY's output goes to. It decodes rows and passes them on in batches.
//
//	signature | flags int32 | length int32, extension | rows: columns int16, (length int32, -1: NULL; bytes) per column | -1 int16
type copyReader struct {
	columns  []column
	builders []*vec.Builder
	where    string
	fn       func(*vec.Batch) error
	rest     []byte // of a row that continues in the next Write
	begun    bool
	ended    bool
	err      error
}

var errCopy = errors.New("the source's COPY output is damaged")

// Write takes some of the output. The server sends a row a message, but nothing promises that.
func (r *copyReader) Write(p []byte) (int, error) {
	if r.err != nil {
		return 0, r.err
	}
	data := p
	if len(r.rest) > 0 {
		r.rest = append(r.rest, p...)
		data = r.rest
	}
	used, err := r.consume(data)
	if err != nil {
		r.err = err
		return 0, err
	}
	r.rest = append(r.rest[:0], data[used:]...)
	return len(p), nil
}

func (r *copyReader) consume(data []byte) (used int, err error) {
	if !r.begun {
		const fixed = 8
		head := len(copySignature) + fixed
		if len(data) < head {
			return 0, nil
		}
		if !bytes.HasPrefix(data, copySignature) {
			return 0, sqlerr.New(sqlerr.ForeignDataError, "%w: no signature", errCopy)
		}
		head += int(binary.BigEndian.Uint32(data[head-4:]))
		if len(data) < head {
			return 0, nil
		}
		used, r.begun = head, true
	}
	for !r.ended {
		n, err := r.row(data[used:])
		if err != nil {
			return used, err
		}
		if n == 0 {
			break
		}
		used += n
	}
	return used, nil
}

// row decodes one row and returns its length, 0 when it is not complete.
func (r *copyReader) row(data []byte) (int, error) {
	if len(data) < 2 {
		return 0, nil
	}
	count := int16(binary.BigEndian.Uint16(data))
	if count == -1 {
		r.ended = true
		return 2, nil
	}
	if int(count) != len(r.columns) {
		return 0, sqlerr.New(sqlerr.ForeignDataError, "%w: a row of %d columns, not %d", errCopy, count, len(r.columns))
	}
	end := 2
	for range r.columns {
		if len(data) < end+4 {
			return 0, nil
		}
		n := int(int32(binary.BigEndian.Uint32(data[end:])))
		if end += 4; n > 0 {
			end += n
		}
		if len(data) < end {
			return 0, nil
		}
	}
	at, size := 2, int64(0)
	for i := range r.columns {
		n := int(int32(binary.BigEndian.Uint32(data[at:])))
		at += 4
		if err := r.value(i, data[at:at+max(n, 0)], n < 0); err != nil {
			return 0, err
		}
		at += max(n, 0)
		size += int64(r.builders[i].BytesLen())
	}
	if r.builders[0].Len() >= vec.MaxBatchRows || size >= batchBytes {
		return end, r.flush()
	}
	return end, nil
}

func (r *copyReader) value(i int, raw []byte, null bool) error {
	c := &r.columns[i]
	if null {
		if c.key || !c.Nullable {
			return nullError(c, r.where)
		}
		r.builders[i].AppendNull()
		return nil
	}
	decode := c.binary
	if c.byText {
		decode = c.text
	}
	if err := decode(r.builders[i], raw); err != nil {
		return valueError(c, r.where, raw, err)
	}
	return nil
}

func (r *copyReader) flush() error {
	n := r.builders[0].Len()
	cols := make([]*vec.Vector, len(r.builders))
	for i, b := range r.builders {
		cols[i] = b.Finish()
	}
	return r.fn(vec.NewBatch(n, cols...))
}

// end checks that the output was whole and passes on the last rows.
func (r *copyReader) end() error {
	if !r.ended || len(r.rest) > 0 {
		return sqlerr.New(sqlerr.ForeignDataError, "%w: it ends too early", errCopy)
	}
	if r.builders[0].Len() == 0 {
		return nil
	}
	return r.flush()
}
