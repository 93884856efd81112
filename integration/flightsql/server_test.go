package flightsql

import (
	"context"
	"log/slog"
	"net"
	"os"
	"os/exec"
	"testing"
	"time"

	"github.com/tidemarkdb/tidemark/engine"
	server "github.com/tidemarkdb/tidemark/flightsql"
	"github.com/tidemarkdb/tidemark/integration/pyvenv"
)

// start serves a fresh engine until the test ends and returns the address.
func start(t *testing.T, options server.Options) string {
	t.Helper()
	e, err := engine.Open(context.Background(), engine.Options{Root: t.TempDir()})
	if err != nil {
		t.Fatal(err)
	}
	options.Log = slog.New(slog.NewTextHandler(os.Stderr, &slog.HandlerOptions{Level: slog.LevelWarn}))
	s, err := server.New(e, options)
	if err != nil {
		t.Fatal(err)
	}
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	served := make(chan error, 1)
	go func() { served <- s.Serve(listener) }()
	t.Cleanup(func() {
		ctx, cancel := context.WithTimeout(context.Background(), 5*time.Second)
		defer cancel()
		if err := s.Shutdown(ctx); err != nil {
			t.Errorf("shutting down: %v", err)
		}
		if err := <-served; err != nil {
			t.Errorf("serving: %v", err)
		}
		if err := e.Close(); err != nil {
			t.Errorf("closing the engine: %v", err)
		}
	})
	return listener.Addr().String()
}

// python runs a script of this folder to its end.
func python(t *testing.T, script string, args ...string) {
	t.Helper()
	cmd := exec.Command(pyvenv.Python(t), append([]string{script}, args...)...)
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%s: %v\n%s", script, err, out)
	}
}

func TestADBC(t *testing.T) { python(t, "adbc.py", start(t, server.Options{})) }

func TestADBCAuthentication(t *testing.T) {
	python(t, "authentication.py", start(t, server.Options{
		Users: map[string]string{"ada": "s3cret", "rhea": "r3ad"}, Roles: map[string]server.Role{"rhea": server.Reader},
	}))
}
