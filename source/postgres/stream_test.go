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
