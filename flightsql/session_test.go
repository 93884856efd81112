package flightsql

import (
	"context"
	"log/slog"
	"testing"
	"time"

	fsql "github.com/apache/arrow-go/v18/arrow/flight/flightsql"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"github.com/tidemarkdb/tidemark/engine"
)

// command stands for the requests that carry a statement or a handle.
type command struct {
	query           string
	transaction     []byte
	handle          []byte
	transactionEnds fsql.EndTransactionRequestType
}

func (c command) GetQuery() string                          { return c.query }
func (c command) GetTransactionId() []byte                  { return c.transaction }
func (c command) GetPreparedStatementHandle() []byte        { return c.handle }
func (c command) GetAction() fsql.EndTransactionRequestType { return c.transactionEnds }

func as(user, key string) context.Context {
	return context.WithValue(context.Background(), callerKey{}, caller{user, Admin, key})
}

func newTestHandler(t *testing.T) *handler {
	t.Helper()
	e, err := engine.Open(context.Background(), engine.Options{Root: t.TempDir()})
	if err != nil {
		t.Fatal(err)
	}
	h := newHandler(e, Options{}.withDefaults())
	h.metrics = newServerMetrics("test", h.sessions)
	t.Cleanup(func() {
		h.cancel()
		h.sessions.close()
		if err := e.Close(); err != nil {
			t.Error(err)
		}
	})
	return h
}

func run(t *testing.T, h *handler, ctx context.Context, c command) int64 {
	t.Helper()
	n, err := h.DoPutCommandStatementUpdate(ctx, c)
	if err != nil {
		t.Fatalf("%s: %v", c.query, err)
	}
	return n
}

// TestIdleSessionRollsBack also covers the end of a connection and CloseSession, which end sessions the same way.
func TestIdleSessionRollsBack(t *testing.T) {
	h := newTestHandler(t)
	for name, end := range map[string]func(ctx context.Context){
		"idle":       func(context.Context) { h.sessions.expire(time.Now().Add(h.options.SessionIdle + time.Second)) },
		"connection": func(context.Context) { h.sessions.endConnection("7") },
		"close": func(ctx context.Context) {
			if _, err := h.CloseSession(ctx, nil); err != nil {
				t.Error(err)
			}
		},
	} {
		ctx := as("ada", "connection 7 ada")
		run(t, h, ctx, command{query: "CREATE TABLE " + name + " (a BIGINT)"})
		id, err := h.BeginTransaction(ctx, nil)
		if err != nil {
			t.Fatal(err)
		}
		if n := run(t, h, ctx, command{query: "INSERT INTO " + name + " VALUES (1)", transaction: id}); n != 1 {
			t.Fatalf("%d rows inserted", n)
		}
		end(ctx)
		h.sessions.ended.Wait()
		if n := h.sessions.count(); n != 0 {
			t.Errorf("%s: %d sessions are left", name, n)
		}
		err = h.EndTransaction(ctx, command{transaction: id, transactionEnds: fsql.EndTransactionCommit})
		if status.Code(err) != codes.NotFound {
			t.Errorf("%s: committing afterwards gives %v", name, err)
		}
		on, release, err := h.reading(ctx)
		if err != nil {
			t.Fatal(err)
		}
		rows, err := texts(ctx, on, "SELECT count(*)::text FROM "+name, 1)
		if err != nil || rows[0][0] != "0" {
			t.Errorf("%s: %v rows, %v after the rollback", name, rows, err)
		}
		release()
	}
}

// TestHandlesBelongToUsers checks that a user reaches a handle from another connection, and a stranger does not.
func TestHandlesBelongToUsers(t *testing.T) {
	h := newTestHandler(t)
	made, err := h.CreatePreparedStatement(as("ada", "token 1"), command{query: "SELECT 1"})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := h.GetFlightInfoPreparedStatement(as("ada", "token 2"), command{handle: made.Handle}, nil); err != nil {
		t.Errorf("the same user on another connection: %v", err)
	}
	if _, err := h.GetFlightInfoPreparedStatement(as("eve", "token 3"), command{handle: made.Handle}, nil); status.Code(err) != codes.NotFound {
		t.Errorf("a stranger gets %v", err)
	}
}

// TestUnreadResultsExpire checks that a ticket nobody fetched is dropped and its session stays.
func TestUnreadResultsExpire(t *testing.T) {
	h := newTestHandler(t)
	ctx := as("ada", "token 1")
	if _, err := h.GetFlightInfoStatement(ctx, command{query: "SELECT 1"}, nil); err != nil {
		t.Fatal(err)
	}
	h.sessions.expire(time.Now().Add(h.options.ResultIdle + time.Second))
	s, release, err := h.sessions.of(ctx, false)
	if err != nil || s == nil {
		t.Fatal("the session is gone", err)
	}
	defer release()
	if len(s.tickets) != 0 {
		t.Errorf("%d tickets are left", len(s.tickets))
	}
}

func TestPanicFailsItsRPCAlone(t *testing.T) {
	g := &gate{log: slog.New(slog.DiscardHandler)}
	if err := g.guard("Method", func() error { panic("boom") }); status.Code(err) != codes.Internal {
		t.Errorf("a panic gives %v", err)
	}
}
