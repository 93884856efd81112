package pgtest

import (
	"context"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"syscall"
	"testing"
	"time"

	"github.com/jackc/pgx/v5/pgconn"
)

// Server is one running PostgreSQL server.
type Server struct {
	// DSN is a connection string of the superuser to the database postgres over TCP; SocketDSN the same over the
	// server's socket.
	DSN, SocketDSN string

	t        testing.TB
	folder   string
	port     int
	settings []string
}

// limit bounds every step of starting and stopping.
const limit = time.Minute

// Start runs a server with settings such as "wal_level=replica" until the test ends.
func Start(t testing.TB, settings ...string) *Server {
	t.Helper()
	folder, err := os.MkdirTemp("", "pgtest-")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(folder) })
	s := &Server{t: t, folder: folder, settings: append([]string{
		"wal_level=logical", "max_wal_senders=16", "max_replication_slots=16", "max_connections=60", "fsync=off",
		"listen_addresses=127.0.0.1", "shared_buffers=64MB",
		"jit=off", // which takes seconds for a query of milliseconds
	}, settings...)}
	if os.Geteuid() == 0 {
		s.run("chown", "postgres:postgres", folder)
	}
	s.asPostgres("initdb", "-D", s.data(), "-U", "postgres", "--auth=trust", "-E", "UTF8", "--locale=C.UTF-8", "--no-sync")
	s.port = freePort(t)
	s.DSN = fmt.Sprintf("host=127.0.0.1 port=%d user=postgres dbname=postgres sslmode=disable", s.port)
	s.SocketDSN = fmt.Sprintf("host=%s port=%d user=postgres dbname=postgres", folder, s.port)
	t.Cleanup(s.guard())
	s.launch()
	t.Cleanup(func() { s.stop("immediate") })
	return s
}

// guardian waits for its standard input to end and then for the server of a data folder, which it tells to stop, and
// removes the server's folder.
const guardian = `read -r _
pid=$(head -n 1 "$1/postmaster.pid" 2>/dev/null) && kill -QUIT "$pid" && while kill -0 "$pid"; do sleep 0.1; done
rm -rf "$2"`

// guard starts a process that ends the server when this process is gone, however it went: its end of their pipe
// closes then. It returns what ends the guard.
func (s *Server) guard() func() {
	s.t.Helper()
	cmd := exec.Command("sh", "-c", guardian, "sh", s.data(), s.folder)
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true} // so that an interrupt of the terminal is not its own
	hold, err := cmd.StdinPipe()
	if err != nil {
		s.t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		s.t.Fatal(err)
	}
	return func() {
		_ = hold.Close()
		_ = cmd.Wait()
	}
}

func (s *Server) data() string { return filepath.Join(s.folder, "data") }

func freePort(t testing.TB) int {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	return l.Addr().(*net.TCPAddr).Port
}

func binary(name string) string {
	found, _ := filepath.Glob("/usr/lib/postgresql/*/bin/" + name)
	if len(found) > 0 {
		return found[len(found)-1]
	}
	return name
}

// asPostgres runs a program of PostgreSQL, as the user postgres when we are root.
func (s *Server) asPostgres(program string, args ...string) {
	s.t.Helper()
	args = append([]string{binary(program)}, args...)
	if os.Geteuid() == 0 {
		args = append([]string{"runuser", "-u", "postgres", "--"}, args...)
	}
	s.run(args...)
}

func (s *Server) run(args ...string) {
	s.t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), limit)
	defer cancel()
	cmd := exec.CommandContext(ctx, args[0], args[1:]...)
	cmd.Dir = s.folder
	// The server inherits the output: a pipe would stay open as long as it runs.
	log, err := os.CreateTemp("", "pgtest-log-")
	if err != nil {
		s.t.Fatal(err)
	}
	defer func() { _ = log.Close(); _ = os.Remove(log.Name()) }()
	cmd.Stdout, cmd.Stderr = log, log
	if err := cmd.Run(); err != nil {
		said, _ := os.ReadFile(log.Name())
		server, _ := os.ReadFile(filepath.Join(s.folder, "log"))
		s.t.Fatalf("%v: %v\n%s%s", args, err, said, server)
	}
}

func (s *Server) launch() {
	s.t.Helper()
	options := "-p " + strconv.Itoa(s.port) + " -k " + s.folder
	for _, setting := range s.settings {
		options += " -c " + setting
	}
	s.asPostgres("pg_ctl", "-D", s.data(), "-w", "-l", filepath.Join(s.folder, "log"), "-o", options, "start")
}

func (s *Server) stop(mode string) {
	if _, err := os.Stat(filepath.Join(s.data(), "postmaster.pid")); err == nil {
		s.asPostgres("pg_ctl", "-D", s.data(), "-m", mode, "-w", "stop")
	}
}

// Write replaces a file of the server's data folder, such as pg_hba.conf, for the next [Server.Restart] to read.
func (s *Server) Write(name string, content []byte) {
	s.t.Helper()
	path := filepath.Join(s.data(), name)
	if err := os.WriteFile(path, content, 0o600); err != nil {
		s.t.Fatal(err)
	}
	if os.Geteuid() == 0 {
		s.run("chown", "postgres:postgres", path)
	}
}

// Stop shuts the server down; sessions are cut.
func (s *Server) Stop() { s.t.Helper(); s.stop("fast") }

// Kill ends the server as a crash does.
func (s *Server) Kill() { s.t.Helper(); s.stop("immediate") }

// Restart starts the server again, after stopping it when it runs, on the same port. Settings given replace earlier
// ones of the same name.
func (s *Server) Restart(settings ...string) {
	s.t.Helper()
	s.stop("fast")
	s.settings = append(s.settings, settings...)
	s.launch()
}

// Connect opens a session that ends with the test.
func (s *Server) Connect() *pgconn.PgConn {
	s.t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), limit)
	defer cancel()
	conn, err := pgconn.Connect(ctx, s.DSN)
	if err != nil {
		s.t.Fatal(err)
	}
	s.t.Cleanup(func() {
		ctx, cancel := context.WithTimeout(context.Background(), time.Second)
		defer cancel()
		_ = conn.Close(ctx)
	})
	return conn
}

// Exec runs statements and returns the rows of them all as text, NULL as "NULL".
func (s *Server) Exec(sql string) [][]string {
	s.t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), limit)
	defer cancel()
	conn, err := pgconn.Connect(ctx, s.DSN)
	if err != nil {
		s.t.Fatal(err)
	}
	defer func() { _ = conn.Close(ctx) }()
	out, err := Query(ctx, conn, sql)
	if err != nil {
		s.t.Fatalf("%v\n%s", err, sql)
	}
	return out
}

// Query runs statements in a session and returns the rows of them all as text, NULL as "NULL".
func Query(ctx context.Context, conn *pgconn.PgConn, sql string) (out [][]string, err error) {
	results, err := conn.Exec(ctx, sql).ReadAll()
	for _, result := range results {
		for _, row := range result.Rows {
			var values []string
			for _, v := range row {
				if v == nil {
					values = append(values, "NULL")
				} else {
					values = append(values, string(v))
				}
			}
			out = append(out, values)
		}
	}
	return out, err
}

// Await runs a query until its first value is want.
func (s *Server) Await(want, sql string) {
	s.t.Helper()
	got := ""
	for end := time.Now().Add(limit); time.Now().Before(end); time.Sleep(10 * time.Millisecond) {
		if rows := s.Exec(sql); len(rows) > 0 {
			if got = rows[0][0]; got == want {
				return
			}
		}
	}
	s.t.Fatalf("%s: still %q, not %q", sql, got, want)
}
