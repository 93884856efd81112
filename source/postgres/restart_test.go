package postgres

import (
	"context"
	"fmt"
	"testing"
	"time"

	"github.com/jackc/pglogrepl"

	"github.com/tidemarkdb/tidemark/integration/pgtest"
	"github.com/tidemarkdb/tidemark/vec"
)

// simpleTable makes a table t(id, n) of ten rows with its publication, loads a mirror of it and follows it.
func simpleTable(t *testing.T, server *pgtest.Server, options ...string) *mirror {
	t.Helper()
	server.Exec(`CREATE TABLE t (id int PRIMARY KEY, n int); INSERT INTO t SELECT i, i FROM generate_series(1, 10) i`)
	publish(server)
	m := newMirror(t, server, target("*id", vec.Int32Type, "n", vec.Int32Type), options...)
	m.load()
	m.follow()
	return m
}

func TestRestartContinuesAtThePosition(t *testing.T) {
	server := pgtest.Database(t)
	m := simpleTable(t, server)
	inserted := 0
	for round := range 5 {
		for range 10 {
			server.Exec(fmt.Sprintf("INSERT INTO t VALUES (%d, 0); UPDATE t SET n = n + 1 WHERE id = 1", 100+inserted))
			inserted++
		}
		if round%2 == 0 {
			m.catchUp()
		} else if _, err := m.next(time.Second, 3); err != nil { // somewhere in between
			t.Fatal(err)
		}
		if round == 2 {
			m.stream.Ack(m.position)
		}
		m.close()
		m.follow()
	}
	m.catchUp()
	m.equal()
	if m.counts != (counts{inserts: 50, updates: 50}) {
		t.Errorf("counted %+v: changes were lost or came twice", m.counts)
	}
}

func TestSourceCrash(t *testing.T) {
	server := pgtest.Start(t, "wal_sender_timeout=5s")
	m := simpleTable(t, server)
	for i := range 20 {
		server.Exec(fmt.Sprintf("INSERT INTO t VALUES (%d, 0)", 100+i))
	}
	m.catchUp()
	m.stream.Ack(m.position)
	confirmed := fmt.Sprintf("SELECT confirmed_flush_lsn >= '%s' FROM pg_replication_slots", m.stream.reported)
	server.Await("t", confirmed)
	server.Kill()
	wantError(t, m.fail(), false)
	m.close()
	if err := m.tryFollow(); err == nil {
		t.Fatal("a stream of a dead server")
	} else {
		wantError(t, err, false, "cannot connect", "hint")
	}
	server.Restart()
	if server.Exec(confirmed)[0][0] == "t" {
		t.Log("the slot kept its place over the crash")
	}
	m.follow()
	server.Exec("INSERT INTO t VALUES (200, 0)")
	m.catchUp()
	m.equal()
	if m.counts != (counts{inserts: 21}) {
		t.Errorf("counted %+v", m.counts)
	}
	// A shutdown waits for us to confirm all that was sent, which takes a position without rows.
	server.Exec("SELECT pg_logical_emit_message(false, 'fill', 'x')")
	stopped := make(chan struct{})
	go func() { server.Stop(); close(stopped) }()
	for err := error(nil); err == nil; {
		_, err = m.next(50*time.Millisecond, 10)
		m.stream.Ack(m.position)
		if err != nil {
			wantError(t, err, false)
		}
	}
	<-stopped
}

func TestCutConnectionIsTransient(t *testing.T) {
	server := pgtest.Database(t)
	m := simpleTable(t, server)
	server.Exec(fmt.Sprintf("INSERT INTO t VALUES (100, 0); SELECT pg_terminate_backend(active_pid) FROM pg_replication_slots WHERE slot_name = '%s'", m.source.slot))
	wantError(t, m.fail(), false)
	m.close()
	m.follow()
	m.catchUp()
	m.equal()
}

func TestSlowConsumerIsNotCutOff(t *testing.T) {
	server := pgtest.Database(t)
	m := simpleTable(t, server, "connection", server.DSN+" options='-c wal_sender_timeout=1s'")
	server.Exec("INSERT INTO t SELECT i, 0 FROM generate_series(1000, 200000) i") // more than socket buffers hold
	pid := server.Exec(fmt.Sprintf("SELECT active_pid FROM pg_replication_slots WHERE slot_name = '%s'", m.source.slot))[0][0]
	now := server.Exec("SELECT clock_timestamp()")[0][0]
	// The status of more than three timeouts later arrives although nobody reads.
	server.Await("t", fmt.Sprintf("SELECT reply_time > '%s'::timestamptz + interval '3.5 seconds' FROM pg_stat_replication WHERE pid = %s", now, pid))
	m.catchUp()
	m.equal()
}

func TestSlotAheadIsRefused(t *testing.T) {
	server := pgtest.Database(t)
	m := simpleTable(t, server)
	m.close()
	server.Exec("INSERT INTO t VALUES (100, 0)")
	server.Await("f", fmt.Sprintf("SELECT active FROM pg_replication_slots WHERE slot_name = '%s'", m.source.slot))
	server.Exec(fmt.Sprintf("SELECT pg_replication_slot_advance('%s', pg_current_wal_lsn())", m.source.slot))
	wantError(t, m.tryFollow(), true, "ahead of the table", "DETACH STREAM")
}

func TestMissingSlotIsRefused(t *testing.T) {
	server := pgtest.Database(t)
	m := simpleTable(t, server)
	m.close()
	if err := m.source.Drop(context.Background()); err != nil {
		t.Fatal(err)
	}
	if err := m.source.Drop(context.Background()); err != nil {
		t.Errorf("dropping what is gone: %v", err)
	}
	wantError(t, m.tryFollow(), true, "is gone", "DETACH STREAM")
	server.Exec(fmt.Sprintf("SELECT pg_create_logical_replication_slot('%s', 'test_decoding')", m.source.slot))
	wantError(t, m.tryFollow(), true, "was replaced")
	_, err := m.source.Snapshot(context.Background())
	wantError(t, err, true, "another replication slot", "option slot")
	wantError(t, m.source.Drop(context.Background()), true, "another replication slot")
}

func TestLostSlotIsRefused(t *testing.T) {
	server := pgtest.Start(t, "max_slot_wal_keep_size=1MB", "min_wal_size=32MB", "max_wal_size=32MB")
	m := simpleTable(t, server)
	m.close()
	server.Await("f", "SELECT active FROM pg_replication_slots")
	for range 4 {
		server.Exec("CREATE TABLE x (); DROP TABLE x; SELECT pg_switch_wal()")
	}
	server.Exec("CHECKPOINT")
	server.Await("lost", "SELECT wal_status FROM pg_replication_slots")
	wantError(t, m.tryFollow(), true, "is lost", "max_slot_wal_keep_size", "DETACH STREAM")
}

func TestOtherClusterIsRefused(t *testing.T) {
	server := pgtest.Database(t)
	m := simpleTable(t, server)
	m.close()
	at, err := decodePosition(m.position)
	if err != nil {
		t.Fatal(err)
	}
	at.system++
	m.position = at.encode()
	wantError(t, m.tryFollow(), true, "another database cluster", fmt.Sprint(at.system))
	m.position = []byte("abc")
	wantError(t, m.tryFollow(), true, "20 bytes")
}

func TestSlotInUse(t *testing.T) {
	server := pgtest.Database(t)
	m := simpleTable(t, server)
	wantError(t, m.tryFollow(), false, "in use by process", "pg_terminate_backend")
	_, err := m.source.Snapshot(context.Background())
	wantError(t, err, false, "in use by process")
}

func TestSnapshotBlockedByAnOpenTransaction(t *testing.T) {
	server := pgtest.Database(t)
	server.Exec(`CREATE TABLE t (id int PRIMARY KEY)`)
	publish(server)
	conn := server.Connect()
	if _, err := pgtest.Query(context.Background(), conn, "BEGIN; INSERT INTO t VALUES (1)"); err != nil {
		t.Fatal(err)
	}
	m := newMirror(t, server, target("*id", vec.Int32Type), "slot_timeout", "300ms")
	_, err := m.source.Snapshot(context.Background())
	wantError(t, err, false, "not ready after 300ms", fmt.Sprintf("process %d", conn.PID()), "slot_timeout")
	if _, err := pgtest.Query(context.Background(), conn, "COMMIT"); err != nil {
		t.Fatal(err)
	}
	m.load()
	m.equal()
}

func TestSnapshotStartsAnewAfterOneThatDidNotEnd(t *testing.T) {
	server := pgtest.Database(t)
	m := simpleTable(t, server)
	m.close()
	server.Exec("INSERT INTO t VALUES (100, 0)")
	m.load()
	m.follow()
	server.Exec("INSERT INTO t VALUES (101, 0)")
	m.catchUp()
	m.equal()
	if m.counts.inserts != 1 {
		t.Errorf("counted %+v", m.counts)
	}
}

func TestCancelledSnapshotAndStreamEnd(t *testing.T) {
	server := pgtest.Database(t)
	m := simpleTable(t, server)
	ctx, cancel := context.WithCancel(context.Background())
	returned := make(chan error)
	go func() {
		c, err := m.stream.Next(ctx, time.Hour, 10)
		if c != nil {
			err = fmt.Errorf("%d rows", c.Rows())
		}
		returned <- err
	}()
	cancel()
	select {
	case err := <-returned:
		if err != nil {
			t.Errorf("Next after its context ended: %v", err)
		}
	case <-time.After(patience):
		t.Fatal("Next does not end with its context")
	}
	server.Exec("INSERT INTO t VALUES (100, 0)")
	m.catchUp() // the stream is still of use
	m.equal()
	m.close()
	snap, err := m.source.Snapshot(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	defer snap.Close()
	if err := snap.Read(ctx, 0, func(*vec.Batch) error { return nil }); err == nil {
		t.Error("a cancelled read succeeds")
	}
}

func TestPositionText(t *testing.T) {
	def := Source()
	p := position{pglogrepl.LSN(0x16B3748), 7300000000000000001, 16390}.encode()
	if got := def.FormatPosition(p); got != "0/16B3748@7300000000000000001.16390" {
		t.Error(got)
	}
	back, err := def.ParsePosition(def.FormatPosition(p))
	if err != nil || string(back) != string(p) {
		t.Errorf("%x, %v", back, err)
	}
	if _, err := def.ParsePosition("12"); err == nil {
		t.Error("12 is a position")
	}
	later := position{pglogrepl.LSN(0x116B3748), 7300000000000000001, 16390}.encode()
	if def.ComparePosition(p, later) != -1 || def.ComparePosition(later, p) != 1 || def.ComparePosition(nil, p) != -1 {
		t.Error("positions are out of order")
	}
}
