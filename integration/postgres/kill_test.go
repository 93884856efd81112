package postgres

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/tidemarkdb/tidemark/integration/pgtest"
	"github.com/tidemarkdb/tidemark/integration/pyvenv"
	"github.com/tidemarkdb/tidemark/integration/served"
)

// environment returns a number from the environment.
func environment(name string, initial int) int {
	if n, err := strconv.Atoi(os.Getenv(name)); err == nil {
		return n
	}
	return initial
}

const target = `
CREATE CDC TABLE accounts (
  id BIGINT, balance BIGINT, version INTEGER, amount NUMERIC(14, 3), note TEXT, big TEXT, flag BOOLEAN, at TIMESTAMPTZ, day DATE, ref UUID,
  doc JSON, raw BYTEA, ratio DOUBLE PRECISION, PRIMARY KEY (id) NOT ENFORCED) WITH (cascade_interval = '2 seconds');
ALTER CDC TABLE accounts ATTACH STREAM accounts_changes;
ALTER CDC TABLE accounts RESUME`

// TestKills runs the workload while the server is killed at random moments and restarted with RESUME, then compares
// every row.
func TestKills(t *testing.T) {
	seconds := environment("TIDEMARK_CHAOS_SECONDS", 35)
	seed := uint64(environment("TIDEMARK_SEED", int(time.Now().UnixNano()&0xffff)))
	t.Logf("seed %d, %d seconds", seed, seconds)
	python := pyvenv.Python(t)
	source := pgtest.Start(t)
	source.Exec(schema)

	s := served.New(t, served.Build(t), t.TempDir())
	s.Start()
	s.SQL(fmt.Sprintf("CREATE STREAM accounts_changes FROM POSTGRES WITH (connection = '%s', table = 'public.accounts')", source.DSN))
	s.SQL("SET execution.cdc.append_max_read_ms = 200;" + target)
	reader := startReader(t, python, s.Addr)

	ctx, cancel := context.WithTimeout(t.Context(), time.Duration(seconds)*time.Second)
	defer cancel()
	work := &workload{dsn: source.DSN, seed: seed}
	ended := make(chan error, 1)
	go func() { ended <- work.run(ctx, 4) }()
	kills := killAtRandom(ctx, s, rand.New(rand.NewPCG(seed, 99)), time.Duration(seconds)*time.Second)
	if err := <-ended; err != nil {
		t.Fatal(err)
	}
	if kills < 10 {
		t.Errorf("%d kills, want 10 or more", kills)
	}
	if sum := source.Exec("SELECT sum(balance) FROM accounts")[0][0]; sum != strconv.Itoa(accounts*initialBalance) {
		t.Fatalf("the workload broke its own invariant: the source's sum is %s", sum)
	}
	compare(t, source, s)
	seen := reader()
	t.Logf("%d commits, %d rollbacks, %d kills; %d consistent answers over %d connections", work.commits.Load(), work.aborts.Load(), kills,
		seen.Answers, seen.Connects)
	if len(seen.Bad) > 0 || seen.Answers < 20 {
		t.Errorf("the reader saw %+v", seen)
	}
}

// killAtRandom kills and restarts the server until ctx ends and returns how often it did.
func killAtRandom(ctx context.Context, s *served.Server, rng *rand.Rand, length time.Duration) int {
	kills := 0
	for {
		select {
		case <-ctx.Done():
			return kills
		case <-time.After(time.Duration(rng.Int64N(int64(length)/9)) / 2):
		}
		s.Kill()
		kills++
		s.Start()
		s.SQL("SET execution.cdc.append_max_read_ms = 200; ALTER CDC TABLE accounts RESUME")
	}
}

// compare waits until the table has the source's last change, then prints both in key order and compares the bytes.
func compare(t *testing.T, source *pgtest.Server, s *served.Server) {
	t.Helper()
	source.Exec("INSERT INTO accounts (id, balance, version) VALUES (-1, 0, 0)")
	s.Await("the last change", func() bool {
		out, err := s.Try("SELECT count(*) FROM accounts WHERE id = -1")
		return err == nil && strings.HasSuffix(out, "\n1\n")
	})
	const query = "SELECT * FROM accounts ORDER BY id"
	psql := exec.Command("psql", "--csv", "-X", "-d", source.DSN, "-c", "SET timezone = 'UTC'", "-c", query)
	want, err := psql.Output()
	if err != nil {
		t.Fatalf("psql: %v", err)
	}
	want = bytes.TrimPrefix(want, []byte("SET\n"))
	got := []byte(s.SQL(query))
	if bytes.Equal(got, want) {
		return
	}
	gotLines, wantLines := bytes.Split(got, []byte("\n")), bytes.Split(want, []byte("\n"))
	for i := range min(len(gotLines), len(wantLines)) {
		if !bytes.Equal(gotLines[i], wantLines[i]) {
			t.Fatalf("line %d of %d (source %d) differs:\ngot  %.300s\nwant %.300s", i+1, len(gotLines), len(wantLines), gotLines[i], wantLines[i])
		}
	}
	t.Fatalf("the table has %d lines, the source %d", len(gotLines), len(wantLines))
}

// seen is what the reader reports.
type seen struct {
	Answers, Connects, Failures int
	Bad                         [][]any
}

// startReader runs reader.py; the returned function ends it and returns its report.
func startReader(t *testing.T, python, addr string) func() seen {
	t.Helper()
	cmd := exec.Command(python, "reader.py", "grpc://"+addr, strconv.Itoa(accounts*initialBalance))
	var out, failure bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &failure
	in, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { cmd.Process.Kill() })
	return func() seen {
		t.Helper()
		in.Close()
		var report seen
		if err := cmd.Wait(); err != nil {
			t.Fatalf("reader: %v\n%s", err, &failure)
		}
		if err := json.NewDecoder(io.Reader(&out)).Decode(&report); err != nil {
			t.Fatal(err)
		}
		return report
	}
}
