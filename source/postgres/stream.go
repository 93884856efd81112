package postgres

import (
	"context"
	"errors"
	"fmt"
	"net"
	"time"

	"github.com/jackc/pglogrepl"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgproto3"

	"github.com/tidemarkdb/tidemark/extension"
	"github.com/tidemarkdb/tidemark/sqlerr"
)

const (
	// linger is how long a run that ends with a transaction waits for the next one when nothing has arrived: it joins
	// the small transactions of a busy source into one run.
	linger = 2 * time.Millisecond
	// runBytes ends a run of large values before its rows reach the number asked for.
	runBytes = 64 << 20
	// An idle stream reports the position of the write-ahead log after idleTime or idleBytes, so that the source can
	// remove what it keeps for the slot.
	idleTime  = 10 * time.Second
	idleBytes = 16 << 20
)

// stream reads one slot. One goroutine runs Next; status and watch run beside it.
type stream struct {
	*source
	conn      *pgconn.PgConn
	table     *table
	columns   []column
	start     position
	status    *status
	watch     *watch
	run       *run
	spools    *spools
	relation  *relation // the current layout of our table's rows
	relations int64     // Relation messages seen

	after    pglogrepl.LSN // transactions that committed before are skipped
	reported pglogrepl.LSN // the last position returned by Next
	at       time.Time     // when that was
	seen     pglogrepl.LSN // everything that committed before has been received
	owed     bool          // rows were returned whose transaction's end was not
	asked    bool          // the server wants to hear that we are as far: it is shutting down

	inside   bool   // between Begin and Commit
	skip     bool   // ... of a transaction before after
	chunk    uint32 // the transaction whose streamed chunk is being received, 0 outside
	replay   *replay
	old, now tuple         // of the message at hand
	silent   time.Duration // waited for the server since it last said something
	err      error         // ended the stream
}

// newStream connects to the slot after comparing it with the position.
func (s *source) newStream(ctx context.Context, after extension.Position) (_ *stream, err error) {
	at, err := decodePosition(after)
	if err != nil {
		return nil, extension.Permanent(err)
	}
	t, columns, err := s.inspect(ctx)
	if err != nil {
		return nil, err
	}
	conn, err := s.connect(ctx, true)
	if err != nil {
		return nil, err
	}
	defer func() {
		if err != nil {
			closeConn(conn)
		}
	}()
	id, err := system(ctx, conn)
	if err != nil {
		return nil, err
	}
	slot, err := s.freeSlot(ctx, conn)
	if err != nil {
		return nil, err
	}
	if err := s.checkSlot(slot, at, id, t.server.database); err != nil {
		return nil, extension.Permanent(err)
	}
	if t.oid != at.oid {
		return nil, tableChanged("%s was dropped and made anew at the source (oid %d, then %d)", t.qualified(), at.oid, t.oid)
	}
	timeout, err := senderTimeout(ctx, conn)
	if err != nil {
		return nil, err
	}
	if err := s.startReplication(ctx, conn, at.lsn, anyByText(columns)); err != nil {
		return nil, err
	}
	out := &stream{
		source: s, conn: conn, table: t, columns: columns, start: at, run: newRun(columns),
		spools: newSpools(s.spillDir, s.memoryBytes), after: at.lsn, reported: at.lsn, seen: at.lsn, at: time.Now(),
	}
	out.status = startStatus(conn, at.lsn, timeout)
	out.watch = startWatch(s, t)
	s.log("streaming", "slot", s.slot, "table", t.qualified(), "after", at.lsn.String())
	return out, nil
}

// senderTimeout returns how long the server waits for a sign of life.
func senderTimeout(ctx context.Context, conn *pgconn.PgConn) (time.Duration, error) {
	got, err := simple(ctx, conn, `SELECT setting FROM pg_catalog.pg_settings WHERE name = 'wal_sender_timeout'`)
	if err != nil || len(got) != 1 {
		return 0, sourceError("reading wal_sender_timeout", err)
	}
	timeout, _ := time.ParseDuration(str(got[0][0]) + "ms")
	return timeout, nil
}

func (s *source) startReplication(ctx context.Context, conn *pgconn.PgConn, at pglogrepl.LSN, text bool) error {
	args := []string{"proto_version '2'", "publication_names " + quoteLiteral(quoteIdent(s.publication)), "messages 'false'"}
	if s.streaming {
		args = append(args, "streaming 'on'")
	}
	if !text {
		args = append(args, "binary 'true'")
	}
	err := pglogrepl.StartReplication(ctx, conn, s.slot, at, pglogrepl.StartReplicationOptions{Mode: pglogrepl.LogicalReplication, PluginArgs: args})
	if err != nil {
		return s.replicationError(err)
	}
	return nil
}

// Next implements extension.Stream.
func (s *stream) Next(ctx context.Context, wait time.Duration, maxRows int) (*extension.Changes, error) {
	if s.err != nil {
		return nil, s.err
	}
	s.status.used()
	out, err := s.collect(ctx, time.Now().Add(max(wait, time.Millisecond)), max(maxRows, 1))
	if err != nil {
		// What came whole before the fault is delivered first.
		s.err = err
		if out = s.run.take(true, s.start); out == nil {
			return nil, err
		}
	}
	if out != nil {
		s.owed = !out.Boundary
	}
	if out != nil && out.Boundary {
		if at, err := decodePosition(out.Position); err == nil {
			s.reported, s.at = at.lsn, time.Now()
		}
	}
	return out, nil
}

// collect receives messages until the run is full, or time is up, or a pause follows a whole transaction.
func (s *stream) collect(ctx context.Context, deadline time.Time, maxRows int) (*extension.Changes, error) {
	stop := context.AfterFunc(ctx, func() { _ = s.conn.Conn().SetReadDeadline(time.Unix(1, 0)) })
	defer stop()
	for {
		if len(s.run.ops) >= maxRows || s.run.bytes >= runBytes {
			return s.run.take(false, s.start), nil
		}
		if s.replay != nil {
			if err := s.replayNext(); err != nil {
				return nil, err
			}
			continue
		}
		if !s.inside {
			if err := s.watch.lost(s.seen); err != nil {
				return nil, err
			}
			if len(s.run.ops) == 0 && (s.owed && s.run.ended || s.idle()) {
				return s.run.take(false, s.start), nil
			}
		}
		message, err := s.receive(ctx, deadline)
		if err != nil {
			return nil, err
		}
		if message == nil {
			if len(s.run.ops) == 0 {
				return nil, nil
			}
			return s.run.take(false, s.start), nil
		}
		if err := s.handle(message); err != nil {
			return nil, err
		}
	}
}

// idle reports whether the position alone is due, and makes it the end of the empty run.
func (s *stream) idle() bool {
	if s.chunk != 0 || s.seen <= s.reported || !s.asked && s.seen-s.reported < idleBytes && time.Since(s.at) < idleTime {
		return false
	}
	s.asked = false
	s.run.commit(s.seen, s.run.endTime)
	return true
}

// receive returns the next message of the copy stream, nil when the deadline has passed, ctx has ended or, after a
// whole transaction, nothing more has arrived.
func (s *stream) receive(ctx context.Context, deadline time.Time) ([]byte, error) {
	for {
		var began time.Time
		lingering := false
		if s.conn.Frontend().ReadBufferLen() == 0 {
			began = time.Now()
			until := deadline
			if lingering = len(s.run.ops) > 0 && !s.inside && s.chunk == 0; lingering && began.Add(linger).Before(deadline) {
				until = began.Add(linger)
			}
			_ = s.conn.Conn().SetReadDeadline(until)
			if ctx.Err() != nil {
				return nil, nil
			}
		}
		message, err := s.conn.ReceiveMessage(context.Background())
		if err != nil {
			var timeout net.Error
			if !errors.As(err, &timeout) || !timeout.Timeout() {
				return nil, s.replicationError(err)
			}
			if began.IsZero() { // half a message was buffered, under the deadline of an earlier read
				_ = s.conn.Conn().SetReadDeadline(deadline)
				began = time.Now()
			}
			s.silent += time.Since(began)
			if s.silent > s.status.silence {
				return nil, sqlerr.New(sqlerr.ConnectionFailure, "the source has not said anything for %s", s.silent.Round(time.Second)).
					Hintf("it is connected to again; check the source and the network if it persists")
			}
			if lingering || ctx.Err() != nil || !time.Now().Before(deadline) {
				return nil, nil
			}
			continue
		}
		s.silent = 0
		switch m := message.(type) {
		case *pgproto3.CopyData:
			return m.Data, nil
		case *pgproto3.ErrorResponse:
			return nil, s.replicationError(pgconn.ErrorResponseToPgError(m))
		case *pgproto3.CopyDone, *pgproto3.CommandComplete, *pgproto3.ReadyForQuery:
			return nil, sqlerr.New(sqlerr.AdminShutdown, "the source ended the stream of changes").Hintf("it is connected to again; check whether the source is shutting down")
		}
	}
}

// handle acts on a message of the copy stream: a keepalive or a piece of the write-ahead log.
func (s *stream) handle(message []byte) error {
	const walHeader = 25 // 'w', start, end, time
	switch {
	case len(message) >= walHeader && message[0] == pglogrepl.XLogDataByteID:
		err := s.change(message[walHeader:])
		if errors.Is(err, errMessage) {
			err = extension.Permanent(sqlerr.New(sqlerr.ForeignDataError, "a message of the source cannot be read: %w (%s after %s)", err, describeMessage(message[walHeader:]), s.seen).
				Hintf("report this with the version of the source; it runs %d", s.table.server.version))
		}
		return err
	case len(message) >= 18 && message[0] == pglogrepl.PrimaryKeepaliveMessageByteID:
		keepalive, err := pglogrepl.ParsePrimaryKeepaliveMessage(message[1:])
		if err != nil {
			return sourceError("reading a keepalive", err)
		}
		if !s.inside && s.chunk == 0 {
			s.received(keepalive.ServerWALEnd)
		}
		if keepalive.ReplyRequested {
			s.asked = true
			s.status.wake()
		}
	}
	return nil
}

// received notes that everything that committed before lsn has arrived.
func (s *stream) received(lsn pglogrepl.LSN) {
	if lsn > s.seen {
		s.seen = lsn
		s.status.written(lsn)
	}
}

func describeMessage(data []byte) string {
	const most = 32
	return fmt.Sprintf("%d bytes, beginning %x", len(data), data[:min(len(data), most)])
}

// Ack implements extension.Stream.
func (s *stream) Ack(p extension.Position) {
	if at, err := decodePosition(p); err == nil {
		s.status.ack(at.lsn)
	}
}

// Close implements extension.Stream.
func (s *stream) Close() error {
	s.watch.stop()
	s.status.stop()
	closeConn(s.conn)
	s.spools.close()
	if s.replay != nil {
		s.replay.spool.close()
		s.replay = nil
	}
	if s.err == nil {
		s.err = sqlerr.New(sqlerr.ConnectionFailure, "the stream is closed").Hintf("open another one")
	}
	return nil
}
