package main

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"time"

	"github.com/tidemarkdb/tidemark/engine"
)

const upsertTable = `
CREATE STREAM t_changes FROM GENERATOR WITH (keys = %d, rate = 0, seed = 1, "limit" = %d, transaction_rows = %d, updates = 80, inserts = 15, deletes = 5);
CREATE CDC TABLE t (id BIGINT, quantity INTEGER, price NUMERIC(12, 2), status TEXT, day DATE, PRIMARY KEY (id) NOT ENFORCED)
  WITH (cascade_interval = '5 seconds');
ALTER CDC TABLE t ATTACH STREAM t_changes`

// The two queries of the comparison: the whole table, and a filtered part.
const (
	q1 = "SELECT count(*), sum(price) FROM t"
	q2 = "SELECT sum(price) FROM t WHERE day BETWEEN DATE '2021-01-01' AND DATE '2022-01-01' AND quantity < 500"
)

// measureUpserts applies batches of random-key changes to a base of n rows, one commit a batch, and times q1 and q2 on
// the untouched table and right after the last batch.
func measureUpserts(root string, n, batch, batches int, reader bool, profile string) {
	h := open(root, map[string]string{"execution.cdc.append_max_rows": strconv.Itoa(batch), "execution.cdc.append_max_read_ms": "60000"})
	defer h.close()
	limit := batch * batches
	h.value(fmt.Sprintf(upsertTable, n, limit, batch))
	h.value("SET execution.cdc.append_max_rows = 1")
	h.value("ALTER CDC TABLE t RESUME")
	h.waitFor(func() bool { return h.position() >= 0 })
	h.value("ALTER CDC TABLE t SUSPEND")
	from := h.position()
	h.value(fmt.Sprintf("SET execution.cdc.append_max_rows = %d", batch))
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
	after1, after2 := h.best(q1), h.best(q2)
	fmt.Printf("tidemark: %.0f changes/s in batches of %d on %d rows | q1 %.1f -> %.1f ms, q2 %.1f -> %.1f ms", float64(limit-from)/took.Seconds(),
		batch, n, ms(before1), ms(after1), ms(before2), ms(after2))
	if reader {
		all := <-reads
		slices.Sort(all)
		fmt.Printf(" | reader q1 median %.1f ms of %d", ms(all[len(all)/2]), len(all))
	}
	fmt.Println()
}

func ms(d time.Duration) float64 { return d.Seconds() * 1e3 }

// best returns the least of seven times of a query.
func (h *house) best(query string) time.Duration {
	least := time.Hour
	for range 7 {
		started := time.Now()
		h.value(query)
		least = min(least, time.Since(started))
	}
	return least
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
