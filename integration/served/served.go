package served

import (
	"bytes"
	"context"
	"fmt"
	"net"
	"os/exec"
	"path/filepath"
	"syscall"
	"testing"
	"time"
)

// Server is flightsrv over one root.
type Server struct {
	Binary, Root string
	Addr, HTTP   string

	t       testing.TB
	spill   string // what a killed server leaves there goes with the test
	process *exec.Cmd
	log     bytes.Buffer
}

// Build compiles the program and returns its path.
func Build(t testing.TB) string {
	t.Helper()
	binary := filepath.Join(t.TempDir(), "flightsrv")
	out, err := exec.Command("go", "build", "-o", binary, "github.com/tidemarkdb/tidemark/cmd/flightsrv").CombinedOutput()
	if err != nil {
		t.Fatalf("building the server: %v\n%s", err, out)
	}
	return binary
}

// New returns a server over a root, which is not started yet and ends with the test.
func New(t testing.TB, binary, root string) *Server {
	t.Helper()
	s := &Server{Binary: binary, Root: root, Addr: freeAddr(t), HTTP: freeAddr(t), t: t, spill: t.TempDir()}
	t.Cleanup(s.Kill)
	return s
}

func freeAddr(t testing.TB) string {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	return l.Addr().String()
}

// Start runs the server and waits until it answers.
func (s *Server) Start() {
	s.t.Helper()
	s.process = exec.Command(s.Binary, "serve", "--root", s.Root, "--listen", s.Addr, "--http", s.HTTP, "--spill-dir", s.spill)
	s.process.Stderr = &s.log
	if err := s.process.Start(); err != nil {
		s.t.Fatal(err)
	}
	s.Await("the server's answer", func() bool {
		_, err := s.Try("SELECT 1")
		return err == nil
	})
}

// Kill ends the server as a crash does; idempotent.
func (s *Server) Kill() {
	if s.process == nil {
		return
	}
	_ = s.process.Process.Signal(syscall.SIGKILL)
	_ = s.process.Wait()
	s.process = nil
}

// Try runs SQL with the command line client and returns what it prints, as CSV.
func (s *Server) Try(sql string) (string, error) {
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	var stdout, stderr bytes.Buffer
	client := exec.CommandContext(ctx, s.Binary, "sql", "--addr", s.Addr, "--format", "csv", "-c", sql)
	client.Stdout, client.Stderr = &stdout, &stderr
	if err := client.Run(); err != nil {
		return "", fmt.Errorf("%w: %s", err, &stderr)
	}
	return stdout.String(), nil
}

// SQL is Try for statements that must succeed.
func (s *Server) SQL(sql string) string {
	s.t.Helper()
	out, err := s.Try(sql)
	if err != nil {
		s.t.Fatalf("%s: %v\nserver log:\n%s", sql, err, s.lastLog())
	}
	return out
}

// Await polls a condition that the server brings about.
func (s *Server) Await(what string, done func() bool) {
	s.t.Helper()
	deadline := time.Now().Add(2 * time.Minute)
	for !done() {
		if time.Now().After(deadline) {
			state, _ := s.Try("SELECT * FROM information_schema.cdc_ingests")
			s.t.Fatalf("waited in vain for %s\n%s\nserver log:\n%s", what, state, s.lastLog())
		}
		time.Sleep(50 * time.Millisecond)
	}
}

func (s *Server) lastLog() string {
	text := s.log.String()
	return text[max(0, len(text)-4000):]
}
