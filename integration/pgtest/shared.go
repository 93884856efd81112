package pgtest

import (
	"fmt"
	"os"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
)

// shared is the server that the tests of one package share.
var shared struct {
	once   sync.Once
	server *Server
	owner  *mainTB
}

var databases atomic.Int64

// Main runs the tests of a package, which may use [Database], and stops their server; TestMain calls it.
func Main(m *testing.M) int {
	defer func() {
		if shared.owner != nil {
			shared.owner.cleanup()
		}
	}()
	return m.Run()
}

// Database returns an empty database of its own on the server that the package's tests share. Replication slots made
// in it are dropped with it when the test ends.
func Database(t testing.TB) *Server {
	t.Helper()
	shared.once.Do(func() {
		shared.owner = &mainTB{}
		shared.server = Start(shared.owner, "max_replication_slots=60", "max_wal_senders=60", "max_connections=200")
	})
	if shared.server == nil {
		t.Fatal("the shared server did not start")
	}
	name := fmt.Sprintf("test%d", databases.Add(1))
	shared.server.on(t).Exec("CREATE DATABASE " + name)
	t.Cleanup(func() {
		admin := shared.server.on(t)
		admin.Exec(fmt.Sprintf("SELECT pg_terminate_backend(active_pid) FROM pg_replication_slots WHERE database = '%s' AND active", name))
		admin.Await("0", fmt.Sprintf("SELECT count(*) FROM pg_replication_slots WHERE database = '%s' AND active", name))
		admin.Exec(fmt.Sprintf("SELECT pg_drop_replication_slot(slot_name) FROM pg_replication_slots WHERE database = '%s'", name))
		admin.Exec("DROP DATABASE " + name + " WITH (FORCE)")
	})
	s := shared.server.on(t)
	s.DSN = strings.Replace(s.DSN, "dbname=postgres", "dbname="+name, 1)
	s.SocketDSN = strings.Replace(s.SocketDSN, "dbname=postgres", "dbname="+name, 1)
	return s
}

// on returns the server with another test to report to.
func (s *Server) on(t testing.TB) *Server {
	out := *s
	out.t = t
	return &out
}

// mainTB stands in for a test where none runs yet: what fails there ends the process.
type mainTB struct {
	testing.TB
	cleanups []func()
}

func (m *mainTB) Helper()                      {}
func (m *mainTB) Fatal(args ...any)            { m.end(fmt.Sprint(args...)) }
func (m *mainTB) Fatalf(f string, args ...any) { m.end(fmt.Sprintf(f, args...)) }
func (m *mainTB) Cleanup(f func())             { m.cleanups = append(m.cleanups, f) }

func (m *mainTB) end(message string) {
	fmt.Fprintln(os.Stderr, "pgtest:", message)
	m.cleanup()
	os.Exit(1)
}

func (m *mainTB) cleanup() {
	for len(m.cleanups) > 0 {
		last := len(m.cleanups) - 1
		f := m.cleanups[last]
		m.cleanups = m.cleanups[:last]
		f()
	}
}
