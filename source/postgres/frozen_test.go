package postgres

import (
	"io"
	"net"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/tidemarkdb/tidemark/integration/pgtest"
)

// proxy passes bytes on until it is frozen; connections then stay open in silence.
type proxy struct {
	listener net.Listener
	target   string
	frozen   chan struct{}
	wg       sync.WaitGroup
	mu       sync.Mutex
	conns    []net.Conn
}

func startProxy(t *testing.T, target string) *proxy {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	p := &proxy{listener: l, target: target, frozen: make(chan struct{})}
	p.wg.Go(p.accept)
	t.Cleanup(func() {
		_ = l.Close()
		p.mu.Lock()
		for _, c := range p.conns {
			_ = c.Close()
		}
		p.mu.Unlock()
		p.wg.Wait()
	})
	return p
}

func (p *proxy) accept() {
	for {
		client, err := p.listener.Accept()
		if err != nil {
			return
		}
		server, err := net.Dial("tcp", p.target)
		if err != nil {
			_ = client.Close()
			continue
		}
		p.mu.Lock()
		p.conns = append(p.conns, client, server)
		p.mu.Unlock()
		p.wg.Go(func() { p.pass(client, server) })
		p.wg.Go(func() { p.pass(server, client) })
	}
}

// pass copies from one side to the other; what arrives after the freeze is thrown away.
func (p *proxy) pass(from, to net.Conn) {
	buffer := make([]byte, 32<<10)
	for {
		n, err := from.Read(buffer)
		select {
		case <-p.frozen:
			_, _ = io.Copy(io.Discard, from)
			return
		default:
		}
		if err != nil {
			_ = to.Close()
			return
		}
		if _, err := to.Write(buffer[:n]); err != nil {
			return
		}
	}
}

func TestFrozenPeerIsNoticed(t *testing.T) {
	server := pgtest.Database(t)
	port := strings.Fields(strings.SplitAfter(server.DSN, "port=")[1])[0]
	p := startProxy(t, "127.0.0.1:"+port)
	_, own, _ := net.SplitHostPort(p.listener.Addr().String())
	m := simpleTable(t, server, "connection", strings.Replace(server.DSN, "port="+port, "port="+own, 1)+" options='-c wal_sender_timeout=2s'")
	m.stream.status.silence = 1500 * time.Millisecond // more than two of the server's answers apart
	asked := server.Exec("SELECT clock_timestamp()")[0][0]
	for end := time.Now().Add(patience); ; { // an idle server that answers is not taken for a frozen one
		if _, err := m.next(50*time.Millisecond, 10); err != nil {
			t.Fatal(err)
		}
		if server.Exec("SELECT clock_timestamp() > '" + asked + "'::timestamptz + interval '3 seconds'")[0][0] == "t" {
			break
		}
		if time.Now().After(end) {
			t.Fatal("the clock stands still")
		}
	}
	close(p.frozen)
	wantError(t, m.fail(), false, "has not said anything")
}
