package postgres

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"math/rand/v2"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/tidemarkdb/tidemark/integration/pgtest"
	"github.com/tidemarkdb/tidemark/integration/pyvenv"
)

// environment returns a number from the environment.
func environment(name string, initial int) int {
	if n, err := strconv.Atoi(os.Getenv(name)); err == nil {
		return n
	}
	return initial
}

// server is the flightsrv binary over one root.
type server struct {
	t            *testing.T
	binary, root string
	spill        string // what a killed server leaves there goes with the test
	addr, http   string
	process      *exec.Cmd
	log          bytes.Buffer
}

func build(t *testing.T) string {
	binary := filepath.Join(t.TempDir(), "flightsrv")
	out, err := exec.Command("go", "build", "-o", binary, "github.com/tidemarkdb/tidemark/cmd/flightsrv").CombinedOutput()
	if err != nil {
		t.Fatalf("building the server: %v\n%s", err, out)
	}
	return binary
}

func newServer(t *testing.T) *server {
	s := &server{t: t, binary: build(t), root: t.TempDir(), spill: t.TempDir(), addr: freeAddr(t), http: freeAddr(t)}
	t.Cleanup(s.kill)
	return s
}

func freeAddr(t *testing.T) string {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	return l.Addr().String()
}

// start runs the server and waits until it answers.
func (s *server) start() {
	s.t.Helper()
	s.process = exec.Command(s.binary, "serve", "--root", s.root, "--listen", s.addr, "--http", s.http, "--spill-dir", s.spill)
	s.process.Stderr = &s.log
	if err := s.process.Start(); err != nil {
		s.t.Fatal(err)
	}
	s.await("the server's answer", func() bool {
		_, err := s.try("SELECT 1")
		return err == nil
	})
}

// kill ends the server as a crash does.
func (s *server) kill() {
	if s.process == nil {
		return
	}
	s.process.Process.Signal(syscall.SIGKILL)
	s.process.Wait()
	s.process = nil
}

// try runs SQL with the command line client.
func (s *server) try(sql string) (string, error) {
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	var stdout, stderr bytes.Buffer
	client := exec.CommandContext(ctx, s.binary, "sql", "--addr", s.addr, "--format", "csv", "-c", sql)
	client.Stdout, client.Stderr = &stdout, &stderr
	if err := client.Run(); err != nil {
		return "", fmt.Errorf("%w: %s", err, &stderr)
	}
	return stdout.String(), nil
}

func (s *server) sql(sql string) string {
	s.t.Helper()
	out, err := s.try(sql)
	if err != nil {
		s.t.Fatalf("%s: %v\nserver log:\n%s", sql, err, tail(s.log.String()))
	}
	return out
}

func tail(text string) string { return text[max(0, len(text)-4000):] }

func (s *server) await(what string, done func() bool) {
	s.t.Helper()
	deadline := time.Now().Add(2 * time.Minute)
	for !done() {
		if time.Now().After(deadline) {
			state, _ := s.try("SELECT * FROM information_schema.cdc_ingests")
			s.t.Fatalf("waited in vain for %s\n%s\nserver log:\n%s", what, state, tail(s.log.String()))
		}
		time.Sleep(50 * time.Millisecond)
	}
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

	s := newServer(t)
	s.start()
	s.sql(fmt.Sprintf("CREATE STREAM accounts_changes FROM POSTGRES WITH (connection = '%s', table = 'public.accounts')", source.DSN))
	s.sql("SET execution.cdc.append_max_read_ms = 200;" + target)
	reader := startReader(t, python, s.addr)

	ctx, cancel := context.WithTimeout(t.Context(), time.Duration(seconds)*time.Second)
	defer cancel()
	work := &workload{dsn: source.DSN, seed: seed}
	ended := make(chan error, 1)
	go func() { ended <- work.run(ctx, 4) }()
	kills := s.killAtRandom(ctx, rand.New(rand.NewPCG(seed, 99)), time.Duration(seconds)*time.Second)
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
func (s *server) killAtRandom(ctx context.Context, rng *rand.Rand, length time.Duration) int {
	s.t.Helper()
	kills := 0
	for {
		select {
		case <-ctx.Done():
			return kills
		case <-time.After(time.Duration(rng.Int64N(int64(length)/9)) / 2):
		}
		s.kill()
		kills++
		s.start()
		s.sql("SET execution.cdc.append_max_read_ms = 200; ALTER CDC TABLE accounts RESUME")
	}
}

// compare waits until the table has the source's last change, then prints both in key order and compares the bytes.
func compare(t *testing.T, source *pgtest.Server, s *server) {
	t.Helper()
	source.Exec("INSERT INTO accounts (id, balance, version) VALUES (-1, 0, 0)")
	s.await("the last change", func() bool {
		out, err := s.try("SELECT count(*) FROM accounts WHERE id = -1")
		return err == nil && strings.HasSuffix(out, "\n1\n")
	})
	const query = "SELECT * FROM accounts ORDER BY id"
	psql := exec.Command("psql", "--csv", "-X", "-d", source.DSN, "-c", "SET timezone = 'UTC'", "-c", query)
	want, err := psql.Output()
	if err != nil {
		t.Fatalf("psql: %v", err)
	}
	want = bytes.TrimPrefix(want, []byte("SET\n"))
	got := []byte(s.sql(query))
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
