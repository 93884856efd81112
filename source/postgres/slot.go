package postgres

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"time"

	"github.com/jackc/pglogrepl"
	"github.com/jackc/pgx/v5/pgconn"

	"github.com/tidemarkdb/tidemark/extension"
	"github.com/tidemarkdb/tidemark/sqlerr"
)

const (
	outputPlugin = "pgoutput"
	// slotFree is how long a slot may stay in use before that is an error: the server notices a closed connection
	// only after a while.
	slotFree = 5 * time.Second
	slotPoll = 50 * time.Millisecond
)

// slot is the state of a replication slot.
type slot struct {
	plugin, database string
	activePID        string // "" when nobody reads it
	confirmed        pglogrepl.LSN
	walStatus        string // reserved, extended, unreserved or lost
}

// readSlot returns the slot's state, nil when there is none.
func (c config) readSlot(ctx context.Context, conn *pgconn.PgConn) (*slot, error) {
	got, err := simple(ctx, conn, `SELECT plugin, database, active_pid, confirmed_flush_lsn, wal_status FROM pg_catalog.pg_replication_slots WHERE slot_name = `+quoteLiteral(c.slot))
	if err != nil || len(got) == 0 {
		return nil, err
	}
	s := &slot{plugin: str(got[0][0]), database: str(got[0][1]), activePID: str(got[0][2]), walStatus: str(got[0][4])}
	s.confirmed, _ = pglogrepl.ParseLSN(str(got[0][3])) // NULL before the slot is ready: zero
	return s, nil
}

// freeSlot is readSlot after waiting for a slot that is in use to become free.
func (c config) freeSlot(ctx context.Context, conn *pgconn.PgConn) (*slot, error) {
	for end := time.Now().Add(slotFree); ; {
		s, err := c.readSlot(ctx, conn)
		if err != nil {
			return nil, sourceError("reading the replication slot", err)
		}
		if s == nil || s.activePID == "" {
			return s, nil
		}
		if time.Now().After(end) {
			return nil, c.slotInUse(s.activePID)
		}
		select {
		case <-ctx.Done():
			return nil, ctx.Err()
		case <-time.After(slotPoll):
		}
	}
}

func (c config) slotInUse(pid string) error {
	return sqlerr.New(sqlerr.ObjectInUse, "the replication slot %s is in use by process %s of the source", c.slot, pid).
		Hintf("stop its other reader; if that is gone, run at the source: SELECT pg_terminate_backend(%s)", pid)
}

// checkOwn refuses a slot of this name that no stream of ours can have made.
func (c config) checkOwn(s *slot, database string) error {
	if s.plugin == outputPlugin && s.database == database {
		return nil
	}
	return extension.Permanent(sqlerr.New(sqlerr.DuplicateObject, "the source has another replication slot named %s (plugin %q, database %q)", c.slot, s.plugin, s.database).
		Hintf("choose another name with the option slot"))
}

// dropSlot drops the slot if there is one.
func (c config) dropSlot(ctx context.Context, conn *pgconn.PgConn, database string) error {
	s, err := c.freeSlot(ctx, conn)
	if err != nil || s == nil {
		return err
	}
	if err := c.checkOwn(s, database); err != nil {
		return err
	}
	_, err = simple(ctx, conn, `SELECT pg_catalog.pg_drop_replication_slot(`+quoteLiteral(c.slot)+`)`)
	if state(err) == stateUndefined {
		return nil
	}
	return sourceError("dropping the replication slot "+c.slot, err)
}

// system returns the cluster's identifier, over a replication session.
func system(ctx context.Context, conn *pgconn.PgConn) (uint64, error) {
	got, err := pglogrepl.IdentifySystem(ctx, conn)
	if err != nil {
		return 0, sourceError("identifying the source", err)
	}
	id, err := strconv.ParseUint(got.SystemID, 10, 64)
	if err != nil {
		return 0, sqlerr.New(sqlerr.ForeignDataError, "the source has the system identifier %q, which is no number", got.SystemID).
			Hintf("check that the option connection names a PostgreSQL server")
	}
	return id, nil
}

// createSlot makes the slot and returns its consistent point and the snapshot exported with it, which lives until the
// next command on conn.
func (c config) createSlot(ctx context.Context, conn *pgconn.PgConn) (pglogrepl.LSN, string, error) {
	limited, cancel := context.WithTimeout(ctx, c.slotTimeout)
	defer cancel()
	got, err := pglogrepl.CreateReplicationSlot(limited, conn, c.slot, outputPlugin, pglogrepl.CreateReplicationSlotOptions{
		Mode: pglogrepl.LogicalReplication, SnapshotAction: "EXPORT_SNAPSHOT",
	})
	switch {
	case err != nil && limited.Err() != nil && ctx.Err() == nil:
		return 0, "", c.slotBlocked(ctx)
	case state(err) == sqlerr.ConfigurationLimit:
		return 0, "", sqlerr.New(sqlerr.ConfigurationLimit, "the source has no replication slot left").
			Hintf("raise max_replication_slots at the source, or drop a slot that nobody needs (SELECT * FROM pg_replication_slots)")
	case err != nil:
		return 0, "", sourceError("making the replication slot "+c.slot, err)
	}
	lsn, err := pglogrepl.ParseLSN(got.ConsistentPoint)
	if err != nil {
		return 0, "", sqlerr.New(sqlerr.ForeignDataError, "the source made a slot at %q, which is no LSN", got.ConsistentPoint).
			Hintf("check that the option connection names a PostgreSQL server")
	}
	return lsn, got.SnapshotName, nil
}

// slotBlocked names the transaction that a new slot waits for: the slot has a consistent point only once every
// transaction that was writing at its start has ended.
func (c config) slotBlocked(ctx context.Context) error {
	who := "some transaction"
	if conn, err := c.connect(ctx, false); err == nil {
		defer closeConn(conn)
		got, err := rows(ctx, conn, `SELECT pid, usename, date_trunc('second', clock_timestamp() - xact_start), state FROM pg_stat_activity
			WHERE backend_xid IS NOT NULL AND pid <> pg_backend_pid() ORDER BY xact_start LIMIT 1`)
		if err == nil && len(got) == 1 {
			who = fmt.Sprintf("the transaction of process %s (user %s, open for %s, %s)", str(got[0][0]), str(got[0][1]), str(got[0][2]), str(got[0][3]))
		}
	}
	return sqlerr.New(sqlerr.ObjectInUse, "the replication slot %s was not ready after %s: it waits for %s to end", c.slot, c.slotTimeout, who).
		Hintf("end that transaction at the source, or raise the option slot_timeout; it is tried again")
}

// checkSlot compares the slot with the position that is durable here, before changes are read after it.
func (c config) checkSlot(s *slot, at position, system uint64, database string) error {
	const reload = "load the table anew from a new stream: DETACH STREAM, then create and attach another stream"
	switch {
	case system != at.system:
		return lostError("the source is another database cluster (system identifier %d) than the one the table was loaded from (%d)", system, at.system).
			Hintf("let the option connection name the original cluster or its promoted standby, or %s", reload)
	case s == nil:
		return lostError("the replication slot %s is gone, and with it the changes after %s", c.slot, at.lsn).Hintf("%s", reload)
	case s.plugin != outputPlugin || s.database != database:
		return lostError("the replication slot %s was replaced by another one (plugin %q, database %q)", c.slot, s.plugin, s.database).Hintf("%s", reload)
	case s.walStatus == "lost":
		return lostError("the replication slot %s is lost: the source removed write-ahead log that was not read yet (max_slot_wal_keep_size)", c.slot).
			Hintf("raise max_slot_wal_keep_size at the source, then %s", reload)
	case s.confirmed > at.lsn:
		return lostError("the replication slot %s is at %s, ahead of the table at %s: the changes between were given to another reader", c.slot, s.confirmed, at.lsn).
			Hintf("let no other reader use the slot, and %s", reload)
	}
	return nil
}

func lostError(format string, args ...any) *sqlerr.Error {
	return sqlerr.New(sqlerr.ObjectNotInPrerequisite, format, args...)
}

// replicationError makes the server's refusal to start or go on with replication a permanent error where it is one.
func (c config) replicationError(err error) error {
	var pg *pgconn.PgError
	if !errors.As(err, &pg) {
		return sourceError("streaming changes", err)
	}
	switch pg.Code {
	case stateInUse:
		return sqlerr.New(sqlerr.ObjectInUse, "the replication slot %s is in use: %s", c.slot, pg.Message).Hintf("stop its other reader; it is tried again")
	case statePrerequisite:
		return extension.Permanent(lostError("the replication slot %s can no longer be read: %s", c.slot, pg.Message).
			Hintf("load the table anew from a new stream: DETACH STREAM, then create and attach another stream"))
	case stateUndefined:
		return extension.Permanent(sqlerr.New(sqlerr.UndefinedObject, "changes can no longer be decoded: %s", pg.Message).
			Hintf("the publication was dropped, or made after the slot; create it, and load the table anew from a new stream"))
	}
	return sourceError("streaming changes", err)
}
