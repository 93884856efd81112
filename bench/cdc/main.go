// Command cdc measures CDC tables: what appends cost on bases of different sizes, and what masks cost queries.
//
//	go run ./bench/cdc -rows 1000000,10000000 -root DIR
//
// bench/README.md says what each measurement does, bench/results what came out.
package main

import (
	"context"
	"flag"
	"fmt"
	"log"
	"os"
	"path/filepath"
	"runtime/pprof"
	"strconv"
	"strings"
	"time"

	"github.com/tidemarkdb/tidemark/engine"
)

func main() {
	rows := flag.String("rows", "1000000,10000000", "base sizes")
	root := flag.String("root", "", "folder for data roots; a temporary one when empty")
	batch := flag.Int("batch", 20000, "changes an append")
	appends := flag.Int("appends", 50, "appends to measure")
	masked := flag.String("masked", "1,10", "percent of rows to mask; empty for none")
	profile := flag.String("cpuprofile", "", "write a CPU profile of the last measurement")
	upsert := flag.Bool("upsert", false, "measure keeping one live row per key: the work of peers.py, and nothing else")
	reader := flag.Bool("reader", false, "with -upsert: run q1 in a second session meanwhile")
	latency := flag.Bool("latency", false, "measure how old changes are when they are committed, without cascades and with them, and nothing else")
	sustained := flag.Bool("sustained", false, "measure random-key changes with cascades and a reader, in each of -modes, and nothing else")
	modes := flag.String("modes", "read,write", "with -sustained: merge modes")
	rate := flag.Int("rate", 20000, "with -latency: changes a second")
	flag.Parse()
	if *root == "" {
		dir, err := os.MkdirTemp("", "tidemark-bench-")
		check(err)
		defer os.RemoveAll(dir)
		*root = dir
	}
	if *latency {
		n, err := strconv.Atoi(strings.Split(*rows, ",")[0])
		check(err)
		measureLatency(filepath.Join(*root, "latency"), n, *rate, 3, 20*time.Second)
		return
	}
	if *sustained {
		n, err := strconv.Atoi(strings.Split(*rows, ",")[0])
		check(err)
		measureSustained(filepath.Join(*root, "sustained"), n, time.Minute, strings.Split(*modes, ","))
		return
	}
	if *upsert {
		sizes := strings.Split(*rows, ",")
		n, err := strconv.Atoi(sizes[len(sizes)-1])
		check(err)
		measureUpserts(filepath.Join(*root, "upsert"), n, *batch, *appends, *reader, *profile)
		return
	}
	for _, field := range strings.Split(*rows, ",") {
		n, err := strconv.Atoi(field)
		check(err)
		measureAppends(filepath.Join(*root, "append-"+field), n, *batch, *appends, *profile)
	}
	if *masked == "" {
		return
	}
	sizes := strings.Split(*rows, ",")
	n, err := strconv.Atoi(sizes[len(sizes)-1])
	check(err)
	for _, field := range strings.Split(*masked, ",") {
		percent, err := strconv.Atoi(field)
		check(err)
		measureMasks(filepath.Join(*root, "masks-"+field), n, percent, *profile)
	}
}

func check(err error) {
	if err != nil {
		log.Fatal(err)
	}
}

// house is an engine with a session.
type house struct {
	engine  *engine.Engine
	session *engine.Session
}

func open(root string, settings map[string]string) *house {
	e, err := engine.Open(context.Background(), engine.Options{Root: root, Settings: settings})
	check(err)
	s, err := e.NewSession(engine.SessionOptions{})
	check(err)
	return &house{e, s}
}

func (h *house) close() {
	h.session.Close()
	check(h.engine.Close())
}

// value runs a query and returns the first value as text.
func (h *house) value(query string) string {
	r, err := h.session.Query(context.Background(), query)
	check(err)
	defer r.Close()
	out := ""
	for {
		b, err := r.Next(context.Background())
		check(err)
		if b == nil {
			return out
		}
		if len(b.Cols) > 0 && b.N > 0 {
			v := b.Cols[0].Value(0)
			out = fmt.Sprint(v.I)
			if v.S != "" {
				out = v.S
			}
		}
	}
}

const table = `
CREATE CDC TABLE %[1]s (id BIGINT, quantity INTEGER, price NUMERIC(12, 2), discount NUMERIC(4, 2), status TEXT, shipped DATE,
  created_at TIMESTAMPTZ, PRIMARY KEY (id) NOT ENFORCED) WITH (cascade_interval = '%[2]s');
ALTER CDC TABLE %[1]s ATTACH STREAM %[1]s_changes`

// create makes the CDC table name over a stream name_changes.
func (h *house) create(name, generator, cascade string) {
	h.value("CREATE STREAM " + name + "_changes FROM GENERATOR WITH (" + generator + ")")
	h.value(fmt.Sprintf(table, name, cascade))
}

func (h *house) waitFor(done func() bool) {
	for !done() {
		time.Sleep(2 * time.Millisecond)
	}
}

func (h *house) position() int {
	n, _ := strconv.Atoi(h.value("SELECT coalesce(position, '-1') FROM information_schema.streams WHERE table_name = 'public.t'"))
	return n
}

// profiled starts a CPU profile into a file, if there is a name, and returns what ends it.
func profiled(name string) func() {
	if name == "" {
		return func() {}
	}
	f, err := os.Create(name)
	check(err)
	check(pprof.StartCPUProfile(f))
	return pprof.StopCPUProfile
}

// measureAppends loads n rows, then times appends of batch random-key changes each.
func measureAppends(root string, n, batch, appends int, profile string) {
	h := open(root, map[string]string{
		"execution.cdc.append_max_rows": strconv.Itoa(batch), "execution.cdc.append_max_read_ms": "60000",
	})
	defer h.close()
	limit := batch * appends
	h.create("t", fmt.Sprintf(`keys = %d, rate = 0, seed = 1, "limit" = %d, transaction_rows = 1000`, n, limit), "1 hour")
	started := time.Now()
	h.value("ALTER CDC TABLE t RESUME")
	h.waitFor(func() bool { return h.position() >= 0 })
	loaded := time.Now()
	fmt.Printf("rows %10d | load %6.2f s, %.2f M rows/s", n, loaded.Sub(started).Seconds(), float64(n)/loaded.Sub(started).Seconds()/1e6)
	defer profiled(profile)()
	from := h.position()
	began, before := time.Now(), usage()
	h.waitFor(func() bool { return h.position() >= limit-batch })
	took := time.Since(began)
	used := usage().since(before)
	changes := h.position() - from
	fmt.Printf(" | %d changes in %.2f s: %.0f changes/s, %.2f ms an append of %d, CPU %.2f | %s\n", changes, took.Seconds(),
		float64(changes)/took.Seconds(), took.Seconds()*1e3/float64(changes)*float64(batch), batch, used.cpu.Seconds()*1e3/float64(changes)*float64(batch), used)
}

var queries = []struct{ name, text string }{
	{"count", "SELECT count(*) FROM t"},
	{"q6", "SELECT sum(price * discount) FROM t WHERE shipped >= DATE '2000-01-01' AND discount BETWEEN 0.02 AND 40 AND quantity < 1000000000"},
	{"sum", "SELECT sum(price) FROM t"},
	{"group", "SELECT status, count(*), sum(price) FROM t GROUP BY status"},
}

// measureMasks times queries on a table of n rows, percent of which are masked by committed masks, against the same
// table without masks.
func measureMasks(root string, n, percent int, profile string) {
	h := open(root, map[string]string{"execution.cdc.append_max_rows": "1000000", "execution.cdc.vacuum_budget_ms": "0"})
	defer h.close()
	deletes := n / 100 * percent
	h.create("t", fmt.Sprintf(`keys = %d, rate = 0, seed = 1, "limit" = %d, inserts = 0, updates = 0, deletes = 100`, n, deletes), "1 second")
	h.value("SET execution.cdc.append_max_read_ms = 1")
	h.value("ALTER CDC TABLE t RESUME")
	h.waitFor(func() bool { return h.position() >= 0 })
	h.waitFor(func() bool { return h.position() >= deletes })
	h.waitFor(func() bool {
		return h.value("SELECT count(*) FROM information_schema.tablets WHERE stage = 'staging'") == "0"
	})
	h.value("ALTER CDC TABLE t SUSPEND")
	h.create("u", fmt.Sprintf(`keys = %d, rate = 0, seed = 1, "limit" = 0`, n), "1 hour")
	h.value("ALTER CDC TABLE u RESUME")
	h.waitFor(func() bool { return h.value("SELECT count(*) FROM u") == strconv.Itoa(n) })
	fmt.Printf("%d rows, %d %% masked (%s masked rows):\n", n, percent, h.value("SELECT sum(masked_rows)::bigint FROM information_schema.tablets"))
	defer profiled(profile)()
	for _, q := range queries {
		masked, plain := h.race(q.text, strings.ReplaceAll(q.text, "FROM t", "FROM u"))
		fmt.Printf("  %-6s masked %8.2f ms, without masks %8.2f ms, ratio %.3f | CPU %8.2f and %8.2f ms, ratio %.3f\n", q.name,
			ms(masked.wall), ms(plain.wall), masked.wall.Seconds()/plain.wall.Seconds(),
			ms(masked.cpu), ms(plain.cpu), masked.cpu.Seconds()/plain.cpu.Seconds())
	}
}

// race times two queries in turn and returns the median of each.
func (h *house) race(a, b string) (cost, cost) {
	var ca, cb []cost
	for i := range 33 {
		x, y := h.timed(a), h.timed(b)
		if i >= 2 { // warm by now
			ca, cb = append(ca, x), append(cb, y)
		}
	}
	return median(ca), median(cb)
}
