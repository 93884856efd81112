package flightsql

import (
	"context"

	fsql "github.com/apache/arrow-go/v18/arrow/flight/flightsql"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"github.com/tidemarkdb/tidemark/engine"
)

// transaction runs on a fork of its session.
type transaction struct{ engine *engine.Session }

func noTransaction() error {
	return status.Error(codes.NotFound, "the transaction has ended; begin another")
}

// sessionFor returns the caller's session and what a statement runs on: the session's engine side, or the fork of the
// transaction that id names.
func (h *handler) sessionFor(ctx context.Context, id []byte) (s *session, on *engine.Session, release func(), err error) {
	if len(id) == 0 {
		s, release, err = h.sessions.of(ctx, true)
		if err != nil {
			return nil, nil, nil, err
		}
		return s, s.engine, release, nil
	}
	s, t, ok := find(h.sessions, ctx, transactionsOf, id)
	if !ok {
		return nil, nil, nil, noTransaction()
	}
	return s, t.engine, h.sessions.hold(s), nil
}

// BeginTransaction opens a transaction; nothing is pinned until its first statement.
func (h *handler) BeginTransaction(ctx context.Context, _ fsql.ActionBeginTransactionRequest) ([]byte, error) {
	s, release, err := h.sessions.of(ctx, true)
	if err != nil {
		return nil, err
	}
	defer release()
	fork := s.engine.Fork()
	if err := fork.Begin(); err != nil {
		fork.Close()
		return nil, err
	}
	id, err := put(h.sessions, s, transactionsOf, &transaction{fork})
	if err != nil {
		fork.Close()
		return nil, err
	}
	return id, nil
}

// EndTransaction commits or rolls back.
func (h *handler) EndTransaction(ctx context.Context, request fsql.ActionEndTransactionRequest) error {
	action := request.GetAction()
	if action != fsql.EndTransactionCommit && action != fsql.EndTransactionRollback {
		return status.Error(codes.InvalidArgument, "EndTransaction takes the action commit or rollback")
	}
	s, t, ok := find(h.sessions, ctx, transactionsOf, request.GetTransactionId())
	if !ok || !take(h.sessions, s, transactionsOf, request.GetTransactionId()) {
		return noTransaction()
	}
	defer t.engine.Close()
	return t.engine.End(ctx, action == fsql.EndTransactionCommit)
}
