package postgres

import (
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"strconv"
	"testing"
	"time"

	"github.com/tidemarkdb/tidemark/integration/pgtest"
	"github.com/tidemarkdb/tidemark/vec"
)

// session is one of several writers. Each has key numbers of its own, so that none waits for another's locks.
type session struct {
	conn       *pgconnConn
	open       bool
	savepoints int
}

// workload is a random sequence of statements in interleaved transactions.
type workload struct {
	t        *testing.T
	rng      *rand.Rand
	sessions []*session
}

func (w *workload) run(s *session, sql string, args ...any) {
	w.t.Helper()
	statement := fmt.Sprintf(sql, args...)
	if _, err := pgtest.Query(context.Background(), s.conn, statement); err != nil {
		w.t.Fatalf("%v\n%s", err, statement)
	}
}

// step does one thing in one session.
func (w *workload) step() {
	place := w.rng.IntN(len(w.sessions))
	s := w.sessions[place]
	if !s.open && w.rng.IntN(3) > 0 {
		w.run(s, "BEGIN")
		s.open, s.savepoints = true, 0
	}
	if s.open {
		switch d := w.rng.IntN(20); {
		case d == 0:
			w.run(s, "COMMIT")
			s.open = false
			return
		case d == 1:
			w.run(s, "ROLLBACK")
			s.open = false
			return
		case d < 5:
			s.savepoints++
			w.run(s, "SAVEPOINT s%d", s.savepoints)
		case d < 7 && s.savepoints > 0:
			s.savepoints = 1 + w.rng.IntN(s.savepoints)
			w.run(s, "ROLLBACK TO s%d", s.savepoints)
			return
		case d < 8 && s.savepoints > 0:
			w.run(s, "RELEASE s%d", s.savepoints)
			s.savepoints--
			return
		}
	}
	w.change(s, place)
}

// change runs a statement on the session's keys: those that are place modulo 3.
func (w *workload) change(s *session, place int) {
	id := func() int { return w.rng.IntN(12)*3 + place }
	large := func() string {
		return fmt.Sprintf("(SELECT string_agg(md5((%d + i)::text), '') FROM generate_series(1, %d) i)", w.rng.IntN(1e6), 80+w.rng.IntN(100))
	}
	switch w.rng.IntN(12) {
	case 0, 1, 2:
		w.run(s, "INSERT INTO t VALUES (%d, 'k%d', %d, %s, 'small') ON CONFLICT (id, k) DO UPDATE SET n = excluded.n", id(), w.rng.IntN(2), w.rng.IntN(100), large())
	case 3:
		w.run(s, "INSERT INTO t SELECT i * 3 + %d, 'many', i, %s, NULL FROM generate_series(100, 300) i ON CONFLICT (id, k) DO UPDATE SET n = t.n + 1", place, large())
	case 4, 5:
		w.run(s, "UPDATE t SET n = %d WHERE id = %d", w.rng.IntN(100), id())
	case 6:
		w.run(s, "UPDATE t SET big = %s, other = NULL WHERE id = %d", large(), id())
	case 7: // moves the key where the new one is free
		w.run(s, `UPDATE t SET id = %[2]d, n = n + 1 WHERE id = %[1]d AND NOT EXISTS (SELECT FROM t u WHERE u.id = %[2]d)`, id(), id())
	case 8:
		w.run(s, `UPDATE t SET k = k || '!' WHERE id = %d`, id())
	case 9:
		w.run(s, "DELETE FROM t WHERE (id = %d OR id > 300 AND n %% 5 = %d) AND id %% 3 = %d", id(), w.rng.IntN(5), place)
	case 10:
		w.run(s, "UPDATE t SET other = %s WHERE id %% 3 = %d AND n > %d", large(), place, 60+w.rng.IntN(60))
	case 11:
		if w.rng.IntN(8) > 0 {
			return
		}
		for _, s := range w.sessions { // truncating waits for everyone
			if s.open {
				w.run(s, "COMMIT")
				s.open = false
			}
		}
		w.run(s, "BEGIN; TRUNCATE t; INSERT INTO t VALUES (%d, 'first', 0, %s); COMMIT", id(), large())
	}
}

func (w *workload) end() {
	for _, s := range w.sessions {
		if s.open {
			w.run(s, "COMMIT")
		}
	}
}

// TestRandomWorkloads compares the mirror with the source after random transactions, through restarts at any moment.
// TIDEMARK_SEED runs one seed.
func TestRandomWorkloads(t *testing.T) {
	seeds := []uint64{1, 2, 3, 4}
	if text := os.Getenv("TIDEMARK_SEED"); text != "" {
		seed, err := strconv.ParseUint(text, 10, 64)
		if err != nil {
			t.Fatal(err)
		}
		seeds = []uint64{seed}
	}
	for _, seed := range seeds {
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			t.Parallel()
			rng := rand.New(rand.NewPCG(seed, 0))
			server := pgtest.Database(t)
			server.Exec(`CREATE TABLE t (id int, k text, n int, big text, other text, PRIMARY KEY (id, k));
				ALTER TABLE t ALTER big SET STORAGE EXTERNAL, ALTER other SET STORAGE EXTERNAL`)
			if seed%2 == 0 {
				server.Exec("ALTER TABLE t REPLICA IDENTITY FULL")
			}
			publish(server)
			spec := target("*id", vec.Int32Type, "*k", vec.TextType, "n", vec.Int32Type, "big", vec.TextType, "other", vec.TextType)
			m := newMirror(t, server, spec, "connection", server.DSN+" options='-c logical_decoding_work_mem=64kB'", "streaming", []string{"on", "on", "off"}[seed%3])
			m.memory = 1
			m.open()
			w := &workload{t: t, rng: rng}
			for range 3 {
				w.sessions = append(w.sessions, &session{conn: server.Connect()})
			}
			for range 40 {
				w.step()
			}
			w.end()
			for _, s := range w.sessions {
				s.open = false
			}
			m.load()
			m.follow()
			for range 400 {
				w.step()
				switch rng.IntN(12) {
				case 0:
					m.close()
					m.follow()
				case 1:
					m.stream.Ack(m.position)
				case 2, 3, 4:
					if _, err := m.next(time.Duration(rng.IntN(20))*time.Millisecond, 1+rng.IntN(300)); err != nil {
						t.Fatal(err)
					}
				}
			}
			w.end()
			if err := m.tryCatchUp(1 + rng.IntN(500)); err != nil {
				t.Fatal(err)
			}
			m.equal()
			if m.counts.updates == 0 || m.counts.deletes == 0 {
				t.Errorf("counted %+v", m.counts)
			}
		})
	}
}
