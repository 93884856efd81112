package postgres

import (
	"context"
	"fmt"
	"testing"
	"time"

	"github.com/tidemarkdb/tidemark/integration/pgtest"
	"github.com/tidemarkdb/tidemark/vec"
)

func TestSnapshotAndStreamBesideAWriterHaveNoGapAndNoOverlap(t *testing.T) {
	server := pgtest.Database(t)
	server.Exec(`CREATE TABLE t (id bigint PRIMARY KEY, n int, note text);
		INSERT INTO t SELECT i, i % 7, 'note ' || i FROM generate_series(1, 20000) i`)
	publish(server)
	m := newMirror(t, server, target("*id", vec.Int64Type, "n", vec.Int32Type, "note", vec.TextType))
	ctx, cancel := context.WithCancel(context.Background())
	writer, done := server.Connect(), make(chan int)
	started := make(chan struct{})
	go func() {
		i := 0
		for ; ctx.Err() == nil; i++ {
			_, err := pgtest.Query(context.Background(), writer, fmt.Sprintf(`BEGIN;
				INSERT INTO t VALUES (%[1]d, 1, 'new'); UPDATE t SET n = n + 1 WHERE id %% 1000 = %[2]d; DELETE FROM t WHERE id = %[3]d; COMMIT`,
				100000+i, i%1000, i*3+1))
			if err != nil {
				t.Error(err)
				break
			}
			if i == 20 {
				close(started)
			}
		}
		done <- i
	}()
	<-started
	m.load()
	loaded := len(m.rows)
	m.follow()
	for m.counts.updates < 2000 {
		if _, err := m.next(time.Second, 500); err != nil {
			t.Fatal(err)
		}
	}
	cancel()
	rounds := <-done
	m.catchUp()
	m.equal()
	if loaded < 20000 || m.counts.inserts == 0 || m.counts.inserts >= int64(rounds) {
		t.Errorf("%d rows loaded, %d inserts streamed of %d made", loaded, m.counts.inserts, rounds)
	}
	if time.Since(m.commit) > time.Minute || m.commit.After(time.Now()) {
		t.Errorf("the last commit was at %v", m.commit)
	}
}

func TestPartsOfTheSnapshotCoverTheTable(t *testing.T) {
	server := pgtest.Database(t)
	server.Exec(`CREATE TABLE t (id int PRIMARY KEY, note text); INSERT INTO t SELECT i, repeat('x', 100) FROM generate_series(1, 30000) i;
		CREATE TABLE child () INHERITS (t); INSERT INTO child VALUES (-1, 'not in the parent')`)
	publish(server)
	m := newMirror(t, server, target("*id", vec.Int32Type, "note", vec.TextType), "snapshot_threads", "3")
	m.source.partPages = 7
	snap, err := m.source.Snapshot(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	if snap.Parts() < 10 {
		t.Fatalf("%d parts", snap.Parts())
	}
	server.Exec("DELETE FROM ONLY t WHERE id > 10; INSERT INTO t VALUES (0, 'late')")
	m.read(snap)
	if len(m.rows) != 30000 {
		t.Errorf("%d rows", len(m.rows))
	}
	m.follow()
	m.catchUp()
	m.equalTo(server.Exec("SELECT id, note FROM ONLY t"))
}

func TestRolledBackSavepointsLeaveNothing(t *testing.T) {
	server := pgtest.Database(t)
	server.Exec(`CREATE TABLE t (id int PRIMARY KEY, note text)`)
	publish(server)
	m := newMirror(t, server, target("*id", vec.Int32Type, "note", vec.TextType))
	m.load()
	m.follow()
	server.Exec(`BEGIN; INSERT INTO t VALUES (1, 'a'); SAVEPOINT x; INSERT INTO t VALUES (2, 'b'); UPDATE t SET note = 'c' WHERE id = 1;
		ROLLBACK TO x; INSERT INTO t VALUES (3, 'd'); SAVEPOINT y; INSERT INTO t VALUES (4, 'e'); RELEASE y; COMMIT`)
	server.Exec(`BEGIN; INSERT INTO t VALUES (5, 'f'); ROLLBACK`)
	m.catchUp()
	m.equal()
	if m.counts != (counts{inserts: 3}) {
		t.Errorf("counted %+v", m.counts)
	}
}

// TestLargeTransactionsAreStreamedAndSpilled interleaves three large transactions, of which one rolls back, with nested
// savepoints that roll back, and small ones between.
func TestLargeTransactionsAreStreamedAndSpilled(t *testing.T) {
	for _, streaming := range []string{"on", "off"} {
		t.Run(streaming, func(t *testing.T) {
			server := pgtest.Database(t)
			server.Exec(`CREATE TABLE t (id int PRIMARY KEY, note text); CREATE TABLE other (id int)`)
			server.Exec("CREATE PUBLICATION tidemark FOR ALL TABLES")
			m := newMirror(t, server, target("*id", vec.Int32Type, "note", vec.TextType), "streaming", streaming,
				"connection", server.DSN+" options='-c logical_decoding_work_mem=64kB'")
			m.memory = 1
			m.open()
			m.load()
			m.follow()
			a, b, c := server.Connect(), server.Connect(), server.Connect()
			run := func(conn *pgconnConn, sql string) {
				t.Helper()
				if _, err := pgtest.Query(context.Background(), conn, sql); err != nil {
					t.Fatal(err)
				}
			}
			fill := func(from, to int) string {
				return fmt.Sprintf("INSERT INTO t SELECT i, repeat(md5(i::text), 5) FROM generate_series(%d, %d) i; ", from, to)
			}
			for _, conn := range []*pgconnConn{a, b, c} {
				run(conn, "BEGIN")
			}
			run(a, fill(1, 5000)+"SAVEPOINT one; "+fill(5001, 9000)+"SAVEPOINT two; "+fill(9001, 12000)+"ROLLBACK TO one; "+fill(9001, 9500))
			run(b, fill(20001, 26000)+"INSERT INTO other SELECT generate_series(1, 10000)")
			run(c, fill(40001, 46000))
			server.Exec("INSERT INTO t VALUES (0, 'small')")
			if streaming == "on" {
				for m.spilled() == 0 {
					if got, err := m.next(50*time.Millisecond, 1000); err != nil || got != nil && got.Rows() > 1 {
						t.Fatalf("%v, %v before any commit", got, err)
					}
				}
			}
			run(a, "SAVEPOINT three; "+fill(9501, 12000)+"RELEASE three; UPDATE t SET note = 'changed' WHERE id % 10 = 0; DELETE FROM t WHERE id < 100")
			run(c, "ROLLBACK")
			run(b, "COMMIT")
			run(a, "COMMIT")
			m.catchUp()
			m.equal()
			if m.spilled() != 0 {
				t.Errorf("%d spill files are left", m.spilled())
			}
			if m.counts.inserts != 1+5000+500+2500+6000 {
				t.Errorf("counted %+v", m.counts)
			}
		})
	}
}

func TestSpillFilesGoWithTheStream(t *testing.T) {
	server := pgtest.Database(t)
	server.Exec(`CREATE TABLE t (id int PRIMARY KEY, note text)`)
	publish(server)
	m := newMirror(t, server, target("*id", vec.Int32Type, "note", vec.TextType), "connection", server.DSN+" options='-c logical_decoding_work_mem=64kB'")
	m.memory = 1
	m.open()
	m.load()
	m.follow()
	conn := server.Connect()
	if _, err := pgtest.Query(context.Background(), conn, "BEGIN; INSERT INTO t SELECT i, repeat('x', 200) FROM generate_series(1, 20000) i"); err != nil {
		t.Fatal(err)
	}
	for m.spilled() == 0 {
		if _, err := m.next(50*time.Millisecond, 1000); err != nil {
			t.Fatal(err)
		}
	}
	m.close()
	if m.spilled() != 0 {
		t.Error("a spill file is left")
	}
	if _, err := pgtest.Query(context.Background(), conn, "COMMIT"); err != nil {
		t.Fatal(err)
	}
	m.follow() // the whole transaction comes again
	m.catchUp()
	m.equal()
}

func TestMovedKeysAndUnsentLargeValues(t *testing.T) {
	const large = "(SELECT string_agg(md5(i::text || %s), '') FROM generate_series(1, 400) i)"
	for _, identity := range []string{"DEFAULT", "FULL", "USING INDEX t_code_key"} {
		t.Run(identity, func(t *testing.T) {
			server := pgtest.Database(t)
			server.Exec(`CREATE TABLE t (id int PRIMARY KEY, code text NOT NULL UNIQUE, n int, big text, big2 text);
				ALTER TABLE t ALTER big SET STORAGE EXTERNAL, ALTER big2 SET STORAGE EXTERNAL`)
			server.Exec("ALTER TABLE t REPLICA IDENTITY " + identity)
			publish(server)
			key, other := "*id", "code"
			if identity[0] == 'U' {
				key, other = "id", "*code"
			}
			m := newMirror(t, server, target(key, vec.Int32Type, other, vec.TextType, "n", vec.Int32Type, "big", vec.TextType, "big2", vec.TextType))
			fill := func(ids string) {
				server.Exec("INSERT INTO t SELECT i, 'code ' || i, 0, " + fmt.Sprintf(large, "'a'") + " || i, " + fmt.Sprintf(large, "'b'") + " || i FROM generate_series(" + ids + ") i")
			}
			fill("1, 5")
			m.load()
			m.follow()
			fill("11, 15")
			server.Exec("UPDATE t SET n = 1") // every large value stays
			server.Exec("UPDATE t SET n = 2, big = 'short' WHERE id = 1; UPDATE t SET big2 = NULL WHERE id = 2")
			m.catchUp()
			m.equal()
			before := m.counts
			server.Exec(`UPDATE t SET id = id + 100, code = code || '!' WHERE id IN (3, 13)`)
			server.Exec(`BEGIN; UPDATE t SET id = 200, code = 'x' WHERE id = 4; UPDATE t SET id = 201, code = 'y' WHERE id = 200; UPDATE t SET n = 9 WHERE id = 201;
				UPDATE t SET id = 4, code = 'z' WHERE id = 5; COMMIT`)
			server.Exec(`UPDATE t SET id = 300 WHERE id = 11; UPDATE t SET code = 'fresh' WHERE id = 12`)
			server.Exec(`DELETE FROM t WHERE id = 14`)
			m.catchUp()
			m.equal()
			if got := m.counts; got.updates-before.updates != 8 || got.deletes-before.deletes != 1 || got.inserts != before.inserts {
				t.Errorf("counted %+v after %+v", got, before)
			}
		})
	}
}

func TestLargeKeyStoredOutOfLine(t *testing.T) {
	server := pgtest.Database(t)
	server.Exec(`CREATE TABLE t (id text PRIMARY KEY, n int); ALTER TABLE t ALTER id SET STORAGE EXTERNAL;
		INSERT INTO t SELECT string_agg(md5(i::text), ''), 0 FROM generate_series(1, 75) i`)
	publish(server)
	m := newMirror(t, server, target("*id", vec.TextType, "n", vec.Int32Type))
	m.load()
	m.follow()
	server.Exec("UPDATE t SET n = 1; UPDATE t SET n = 2")
	m.catchUp()
	m.equal()
}

func TestTruncate(t *testing.T) {
	server := pgtest.Database(t)
	server.Exec(`CREATE TABLE t (id int PRIMARY KEY, n int); INSERT INTO t SELECT i, i FROM generate_series(1, 100) i; CREATE TABLE other (id int PRIMARY KEY);
		CREATE PUBLICATION tidemark FOR TABLE t, other`)
	m := newMirror(t, server, target("*id", vec.Int32Type, "n", vec.Int32Type))
	m.load()
	m.follow()
	server.Exec("BEGIN; INSERT INTO t VALUES (101, 1); TRUNCATE other, t; INSERT INTO t VALUES (1, 7), (2, 8); COMMIT; TRUNCATE other; UPDATE t SET n = 0 WHERE id = 1")
	m.catchUp()
	m.equal()
	if m.truncs != 1 || len(m.rows) != 2 {
		t.Errorf("%d truncates, %d rows", m.truncs, len(m.rows))
	}
}

func TestLargeRunIsCutInsideATransaction(t *testing.T) {
	server := pgtest.Database(t)
	server.Exec(`CREATE TABLE t (id int PRIMARY KEY)`)
	publish(server)
	m := newMirror(t, server, target("*id", vec.Int32Type))
	m.load()
	m.follow()
	for rows, want := range map[int]string{2500: "[1000 1000 500]", 2000: "[1000 1000 0]"} {
		server.Exec("TRUNCATE t")
		m.catchUp()
		server.Exec(fmt.Sprintf("INSERT INTO t SELECT generate_series(1, %d)", rows))
		var sizes []int
		for at := m.position; string(at) == string(m.position); {
			c, err := m.next(time.Second, 1000)
			if err != nil {
				t.Fatal(err)
			}
			if c != nil {
				sizes = append(sizes, c.Rows())
				if c.Boundary != (len(sizes) == 3) || c.Boundary != (len(m.rows) == rows) || !c.Boundary && c.Position != nil {
					t.Fatalf("boundary %v after %d rows", c.Boundary, len(m.rows))
				}
			}
		}
		if fmt.Sprint(sizes) != want {
			t.Errorf("runs of %v, want %s", sizes, want)
		}
	}
}

func TestIdleStreamAdvancesTheSlot(t *testing.T) {
	server := pgtest.Database(t)
	server.Exec(`CREATE TABLE t (id int PRIMARY KEY)`)
	publish(server)
	m := newMirror(t, server, target("*id", vec.Int32Type))
	m.load()
	m.follow()
	before := m.position
	server.Exec("SELECT pg_logical_emit_message(false, 'fill', repeat('x', 17000000))")
	until := server.Exec("SELECT pg_current_wal_flush_lsn()")[0][0]
	m.catchUp()
	if comparePosition(m.position, before) <= 0 || len(m.rows) != 0 {
		t.Fatalf("the position stayed at %s", formatPosition(m.position))
	}
	confirmed := fmt.Sprintf("SELECT confirmed_flush_lsn >= '%s' FROM pg_replication_slots WHERE slot_name = '%s'", until, m.source.slot)
	if err := m.stream.status.send(false); err != nil {
		t.Fatal(err)
	}
	server.Await("t", fmt.Sprintf("SELECT write_lsn >= '%s' FROM pg_stat_replication JOIN pg_replication_slots ON pid = active_pid WHERE slot_name = '%s'", until, m.source.slot))
	if got := server.Exec(confirmed)[0][0]; got != "f" {
		t.Fatal("the slot advanced without Ack")
	}
	m.stream.Ack(m.position)
	server.Await("t", confirmed)
	m.stream.Ack(before) // going back is ignored
	server.Exec("INSERT INTO t VALUES (1)")
	m.catchUp()
	m.equal()
}

func TestPreparedTransactionArrivesWhenItCommits(t *testing.T) {
	server := pgtest.Start(t, "max_prepared_transactions=5")
	server.Exec(`CREATE TABLE t (id int PRIMARY KEY)`)
	publish(server)
	m := newMirror(t, server, target("*id", vec.Int32Type))
	m.load()
	m.follow()
	server.Exec("BEGIN; INSERT INTO t VALUES (1); PREPARE TRANSACTION 'kept'")
	server.Exec("BEGIN; INSERT INTO t VALUES (2); PREPARE TRANSACTION 'dropped'")
	m.catchUp()
	if len(m.rows) != 0 {
		t.Errorf("%v before a commit", m.rows)
	}
	server.Exec("ROLLBACK PREPARED 'dropped'")
	server.Exec("COMMIT PREPARED 'kept'")
	m.catchUp()
	m.equal()
}
