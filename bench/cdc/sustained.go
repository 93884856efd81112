package main

import (
	"fmt"
	"io/fs"
	"path/filepath"
	"slices"
	"strings"
	"time"
)

// measureSustained feeds a table of n rows with random-key changes as fast as they are taken, for so long, with q1
// running in a second session, in read mode and in write mode. Cascades, vacuums and merges run as they do by default,
// only every ten seconds.
func measureSustained(root string, n int, every time.Duration, modes []string) {
	for _, mode := range modes {
		dir := filepath.Join(root, mode)
		h := open(dir, map[string]string{"execution.cdc.append_max_rows": "200000", "execution.cdc.append_max_read_ms": "1000"})
		h.value(fmt.Sprintf(`CREATE STREAM t_changes FROM GENERATOR WITH (keys = %d, rate = 0, seed = 1, transaction_rows = 1000, updates = 80, inserts = 15, deletes = 5);
			CREATE CDC TABLE t (id BIGINT, quantity INTEGER, price NUMERIC(12, 2), status TEXT, day DATE, PRIMARY KEY (id) NOT ENFORCED)
			  WITH (cascade_interval = '10 seconds', merge_mode = '%s');
			ALTER CDC TABLE t ATTACH STREAM t_changes; ALTER CDC TABLE t RESUME`, n, mode))
		h.waitFor(func() bool { return h.position() >= 0 })
		keys := filesOf(dir, func(path string) bool { return strings.HasSuffix(path, ".keys") || strings.Contains(path, "run") })
		stop, reads := make(chan struct{}), make(chan []time.Duration, 1)
		go h.readUntil(stop, reads)
		from, began, used := h.position(), time.Now(), cpuTime()
		for second := every / 4; second <= every; second += every / 4 {
			h.waitFor(func() bool { return time.Since(began) >= second })
			took := time.Since(began).Seconds()
			fmt.Printf("%s mode, %d rows: %.0f changes/s after %.0f s, %.1f CPU us a change with the reader\n", mode, n, float64(h.position()-from)/took, took,
				(cpuTime()-used).Seconds()*1e6/float64(max(1, h.position()-from)))
		}
		close(stop)
		all := <-reads
		slices.Sort(all)
		h.value("ALTER CDC TABLE t SUSPEND")
		fmt.Printf("%s mode: reader q1 median %.1f ms, p90 %.1f ms of %d; key index %.2f bytes a row after the load; %s\n", mode, ms(all[len(all)/2]),
			ms(all[len(all)*9/10]), len(all), float64(keys)/float64(n),
			h.value("SELECT tablets::text || ' tablets, ' || staging_tablets::text || ' staged, ' || masked_rows::text || ' rows masked' FROM information_schema.tables WHERE table_name = 't'"))
		h.value("DROP TABLE t")
		h.close()
	}
}

// filesOf sums the sizes of files.
func filesOf(root string, match func(path string) bool) (bytes int64) {
	check(filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || !match(path) {
			return err
		}
		info, err := d.Info()
		if err == nil {
			bytes += info.Size()
		}
		return err
	}))
	return bytes
}
