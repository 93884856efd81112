package soak

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime/metrics"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/tidemarkdb/tidemark/engine"
	"github.com/tidemarkdb/tidemark/extension"
	. "github.com/tidemarkdb/tidemark/integration/enginetest"
	"github.com/tidemarkdb/tidemark/source/generator"
	"github.com/tidemarkdb/tidemark/vec"
)

// retention is the shortest an engine takes, so that a run of minutes shows that the disk fills no further.
const retention = time.Minute

func environment(t *testing.T, name string, otherwise int) int {
	text := os.Getenv(name)
	if text == "" {
		return otherwise
	}
	n, err := strconv.Atoi(text)
	if err != nil || n < 1 {
		t.Fatalf("%s=%q is not a number of 1 or more", name, text)
	}
	return n
}

func TestATableStaysTheSizeItIs(t *testing.T) {
	seconds, seed := environment(t, "TIDEMARK_SOAK_SECONDS", 20), environment(t, "TIDEMARK_SEED", 1)
	keys, rate := environment(t, "TIDEMARK_SOAK_KEYS", 30_000), environment(t, "TIDEMARK_SOAK_RATE", 20_000)
	cascade := environment(t, "TIDEMARK_SOAK_CASCADE_MS", 300)
	options := map[string]string{
		"keys": strconv.Itoa(keys), "rate": strconv.Itoa(rate), "seed": strconv.Itoa(seed), "inserts": "0", "updates": "100", "deletes": "0", "transaction_rows": "40",
	}
	root := t.TempDir()
	e := Open(t, engine.Options{Root: root, Retention: retention, Settings: map[string]string{
		"execution.cdc.append_max_read_ms": strconv.Itoa(max(50, cascade/5)),
	}})
	s := Session(t, e)
	Rows(t, s, fmt.Sprintf(`CREATE STREAM changes FROM GENERATOR WITH (%s);
		CREATE CDC TABLE orders (id BIGINT, amount NUMERIC(12, 2), status TEXT, version BIGINT, PRIMARY KEY (id) NOT ENFORCED)
		WITH (cascade_interval = '%d milliseconds');
		ALTER CDC TABLE orders ATTACH STREAM changes; ALTER CDC TABLE orders RESUME`, with(options), cascade))
	UntilRow(t, s, "SELECT count(*) FROM orders", strconv.Itoa(keys))
	var taken []measure
	interval := time.Duration(max(1, seconds/400)) * time.Second
	started := time.Now()
	ticker := time.NewTicker(interval)
	defer ticker.Stop()
	for range seconds / int(interval/time.Second) {
		<-ticker.C
		m := take(t, s, root, keys)
		m.at = time.Since(started)
		taken = append(taken, m)
		t.Logf("%v: %d changes, files %d (%d on disk, %d MB), base tablets %d, staging tablets %d, masked %.1f %%, query %v, heap %d MB", m.at.Round(time.Second),
			m.changes, m.files, m.onDisk, m.bytes>>20, m.base, m.staging, 100*m.maskedShare, m.query, m.heap>>20)
	}
	if prefix := os.Getenv("TIDEMARK_SOAK_OUT"); prefix != "" {
		if err := write(prefix, taken); err != nil {
			t.Error(err)
		}
	}
	flat(t, taken)
	Rows(t, s, "ALTER CDC TABLE orders SUSPEND")
	verify(t, s, options)
}

func with(options map[string]string) string {
	var out []string
	for name, value := range options {
		out = append(out, fmt.Sprintf("%s = '%s'", name, value))
	}
	return strings.Join(out, ", ")
}

func take(t *testing.T, s *engine.Session, root string, keys int) measure {
	t.Helper()
	var m measure
	var rows, masked int64
	line := One(t, s, `SELECT tablets, staging_tablets, masked_rows, (SELECT sum(rows) FROM information_schema.tablets WHERE stage = 'base'), (SELECT position FROM information_schema.streams)
		FROM information_schema.tables WHERE table_name = 'orders'`)
	if _, err := fmt.Sscan(strings.ReplaceAll(line, "|", " "), &m.base, &m.staging, &masked, &rows, &m.changes); err != nil {
		t.Fatalf("%q: %v", line, err)
	}
	m.maskedShare = float64(masked) / float64(max(1, rows))
	report, err := engine.Check(context.Background(), engine.CheckOptions{Root: root, Quick: true})
	if err != nil {
		t.Fatal(err)
	}
	m.files = int64(report.Files)
	err = filepath.WalkDir(root, func(_ string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return ignoreGone(err)
		}
		info, err := entry.Info()
		if err == nil {
			m.onDisk++
			m.bytes += info.Size()
		}
		return ignoreGone(err)
	})
	if err != nil {
		t.Fatal(err)
	}
	for range 3 {
		started := time.Now()
		if got := One(t, s, "SELECT count(*), count(DISTINCT id), count(DISTINCT status) > 0, sum(amount) IS NOT NULL FROM orders"); got != fmt.Sprintf("%d|%d|t|t", keys, keys) {
			t.Fatalf("the table holds %s, want %d keys", got, keys)
		}
		if took := time.Since(started); m.query == 0 || took < m.query {
			m.query = took
		}
	}
	live := []metrics.Sample{{Name: "/gc/heap/live:bytes"}}
	metrics.Read(live)
	m.heap = int64(live[0].Value.Uint64())
	return m
}

// ignoreGone drops the error of a file that was deleted while the folder was walked.
func ignoreGone(err error) error {
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	return err
}

// flat compares the last third with the middle one.
func flat(t *testing.T, taken []measure) {
	third := len(taken) / 3
	if third == 0 {
		return
	}
	middle, last := taken[third:2*third], taken[2*third:]
	most := func(of []measure, what func(measure) float64) float64 {
		out := 0.0
		for _, m := range of {
			out = max(out, what(m))
		}
		return out
	}
	type check struct {
		name         string
		what         func(measure) float64
		slack, limit float64
	}
	checks := []check{
		{"files", func(m measure) float64 { return float64(m.files) }, 24, 120},
		{"base tablets", func(m measure) float64 { return float64(m.base) }, 6, 24},
		{"masked share", func(m measure) float64 { return m.maskedShare }, 0.25, 0.75},
	}
	if middle[0].at > 3*retention { // before that, what the retention keeps still piles up
		checks = append(checks,
			check{"files on disk", func(m measure) float64 { return float64(m.onDisk) }, 0.3 * float64(middle[0].onDisk), 1e6},
			check{"bytes on disk", func(m measure) float64 { return float64(m.bytes) }, 0.3 * float64(middle[0].bytes), 1e12})
	}
	for _, c := range checks {
		before, after := most(middle, c.what), most(last, c.what)
		if after > before+c.slack || after > c.limit {
			t.Errorf("%s grew from at most %.2f in the middle third to %.2f in the last (limit %.2f)", c.name, before, after, c.limit)
		}
	}
	times := func(of []measure) time.Duration {
		var all []time.Duration
		for _, m := range of {
			all = append(all, m.query)
		}
		slices.Sort(all)
		return all[len(all)/2]
	}
	t.Logf("median query time: middle third %v, last third %v", times(middle), times(last))
}

// verify compares every row with the generator's model at the table's own position.
func verify(t *testing.T, s *engine.Session, options map[string]string) {
	t.Helper()
	Rows(t, s, "BEGIN")
	position, err := strconv.ParseUint(One(t, s, "SELECT position FROM information_schema.streams"), 10, 64)
	if err != nil {
		t.Fatal(err)
	}
	r, err := s.Query(t.Context(), "SELECT id, amount, status, version FROM orders")
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	model, err := generator.NewModel(extension.TableSpec{Columns: r.Schema, Key: []int{0}}, options)
	if err != nil {
		t.Fatal(err)
	}
	if err := model.Apply(position); err != nil {
		t.Fatal(err)
	}
	var got generator.Checksum
	for {
		var b *vec.Batch
		if b, err = r.Next(t.Context()); err != nil {
			t.Fatal(err)
		}
		if b == nil {
			break
		}
		got.Add(b)
	}
	if want := model.Checksum(); got != want {
		t.Errorf("after %d changes the table's %d rows differ from the model's %d", position, got.Rows, want.Rows)
	}
	t.Logf("%d changes applied", position)
}
