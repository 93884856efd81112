package main

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/tidemarkdb/tidemark/engine"
)

const upsertTable = `
CREATE STREAM %[1]s_changes FROM GENERATOR WITH (keys = %[2]d, rate = 0, seed = 1, "limit" = %[3]d, transaction_rows = %[4]d, updates = 80, inserts = 15, deletes = 5);
CREATE CDC TABLE %[1]s (id BIGINT, quantity INTEGER, price NUMERIC(12, 2), status TEXT, day DATE, PRIMARY KEY (id) NOT ENFORCED)
  WITH (cascade_interval = '5 seconds');
ALTER CDC TABLE %[1]s ATTACH STREAM %[1]s_changes`

// q1 is the query of the comparison that reads the whole table.
const q1 = "SELECT count(*), sum(price) FROM t"

// partOf returns the query that reads a part: 18 % of the span of days and the lower half of the quantities, an
// eleventh of the rows. peers.py has the same shares of its own values.
func (h *house) partOf() string {
	from := h.value("SELECT (min(day) + (max(day) - min(day)) * 2 / 5)::text FROM t")
	to := h.value("SELECT (min(day) + (max(day) - min(day)) * 58 / 100)::text FROM t")
	half := h.value("SELECT (max(quantity) / 2)::bigint FROM t")
	return fmt.Sprintf("SELECT sum(price) FROM t WHERE day BETWEEN DATE '%s' AND DATE '%s' AND quantity < %s", from, to, half)
}

// measureUpserts applies batches of random-key changes to a base of n rows, one commit a batch, and times q1 and q2 on
// the untouched table and right after the last batch, then both in turn with the same on a twin without changes: on a
// busy machine only what runs side by side can be compared.
func measureUpserts(root string, n, batch, batches int, reader bool, profile string) {
	h := open(root, map[string]string{"execution.cdc.append_max_rows": strconv.Itoa(batch), "execution.cdc.append_max_read_ms": "60000"})
	defer h.close()
	limit := batch * batches
	h.value(fmt.Sprintf(upsertTable, "u", n, 0, batch))
	h.value("ALTER CDC TABLE u RESUME")
	h.waitFor(func() bool { return h.value("SELECT count(*) FROM u") == strconv.Itoa(n) })
	h.value("ALTER CDC TABLE u SUSPEND")
	h.value(fmt.Sprintf(upsertTable, "t", n, limit, batch))
	h.value("SET execution.cdc.append_max_rows = 1")
	h.value("ALTER CDC TABLE t RESUME")
	h.waitFor(func() bool { return h.position() >= 0 })
	h.value("ALTER CDC TABLE t SUSPEND")
	from := h.position()
	h.value(fmt.Sprintf("SET execution.cdc.append_max_rows = %d", batch))
	q2 := h.partOf()
	before1, before2 := h.best(q1), h.best(q2)
	stop, reads := make(chan struct{}), make(chan []time.Duration, 1)
	if reader {
		go h.readUntil(stop, reads)
	}
	end := profiled(profile)
	h.value("ALTER CDC TABLE t RESUME")
	began := time.Now()
	h.waitFor(func() bool { return h.position() >= limit })
	took := time.Since(began)
	end()
	close(stop)
	first := h.timed(q1)
	if profile != "" {
		end = profiled(profile + ".queries")
	}
	after1, after2 := h.best(q1), h.best(q2)
	end()
	fmt.Printf("tidemark: %.0f changes/s in batches of %d on %d rows | q1 %.1f -> %.1f ms (CPU %.1f -> %.1f; the first after %.1f, CPU %.1f), q2 %.1f -> %.1f ms (CPU %.1f -> %.1f)",
		float64(limit-from)/took.Seconds(), batch, n, ms(before1.wall), ms(after1.wall), ms(before1.cpu), ms(after1.cpu), ms(first.wall), ms(first.cpu),
		ms(before2.wall), ms(after2.wall), ms(before2.cpu), ms(after2.cpu))
	if reader {
		all := <-reads
		slices.Sort(all)
		fmt.Printf(" | reader q1 median %.1f ms of %d", ms(all[len(all)/2]), len(all))
	}
	fmt.Println()
	h.value("ALTER CDC TABLE t SUSPEND") // no cascade from here on
	fmt.Printf("  in turn with a twin without changes, %s tablets against %s:", h.tablets("t"), h.tablets("u"))
	for i, q := range []string{q1, q2} {
		after, untouched := h.race(q, strings.ReplaceAll(q, "FROM t", "FROM u"))
		fmt.Printf(" q%d %.2f and %.2f ms, ratio %.3f (CPU %.2f and %.2f, ratio %.3f)", i+1, ms(after.wall), ms(untouched.wall),
			after.wall.Seconds()/untouched.wall.Seconds(), ms(after.cpu), ms(untouched.cpu), after.cpu.Seconds()/untouched.cpu.Seconds())
	}
	fmt.Println()
}

func (h *house) tablets(table string) string {
	return h.value("SELECT count(*) FROM information_schema.tablets WHERE table_name = '" + table + "'")
}

// readUntil runs q1 in a session of its own until stop is closed.
func (h *house) readUntil(stop chan struct{}, reads chan<- []time.Duration) {
	s, err := h.engine.NewSession(engine.SessionOptions{})
	check(err)
	defer s.Close()
	var all []time.Duration
	for {
		select {
		case <-stop:
			reads <- all
			return
		default:
		}
		started := time.Now()
		r, err := s.Query(context.Background(), q1)
		check(err)
		for {
			b, err := r.Next(context.Background())
			check(err)
			if b == nil {
				break
			}
		}
		all = append(all, time.Since(started))
	}
}
