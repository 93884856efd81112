package flightsql

import (
	"context"
	"sync"
	"time"

	"github.com/apache/arrow-go/v18/arrow/flight"
	fsql "github.com/apache/arrow-go/v18/arrow/flight/flightsql"
	"github.com/apache/arrow-go/v18/arrow/memory"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"github.com/tidemarkdb/tidemark/engine"
	"github.com/tidemarkdb/tidemark/sql"
	"github.com/tidemarkdb/tidemark/vec"
)

// maxPrepared is how many statements a session keeps; beyond it the one unused for longest goes.
const maxPrepared = 10_000

// prepared is a statement behind a handle.
type prepared struct {
	text string
	used time.Time // guarded by the registry

	mu          sync.Mutex
	transaction []byte           // it was made in, nil for none
	on          *engine.Session  // it runs on
	statement   *engine.Prepared // nil for several statements at once
	args        [][]vec.Value    // rows bound by the client
}

// CreatePreparedStatement parses and describes a statement. Several statements in one text are taken too: they are
// checked and run when they are executed.
func (h *handler) CreatePreparedStatement(ctx context.Context, request fsql.ActionCreatePreparedStatementRequest) (out fsql.ActionCreatePreparedStatementResult, err error) {
	s, on, release, err := h.sessionFor(ctx, request.GetTransactionId())
	if err != nil {
		return out, err
	}
	defer release()
	p := &prepared{text: request.GetQuery(), used: time.Now(), transaction: request.GetTransactionId(), on: on}
	if statements, err := sql.Parse(p.text); err != nil || len(statements) < 2 {
		if p.statement, err = on.Prepare(ctx, p.text); err != nil {
			return out, err
		}
		update := !p.statement.IsQuery()
		out.IsUpdate = &update
		if !update {
			out.DatasetSchema = arrowSchema(p.statement.Schema)
		}
		out.ParameterSchema = arrowSchema(p.statement.Params)
	}
	h.sessions.makeRoom(s)
	out.Handle, err = put(h.sessions, s, preparedOf, p)
	return out, err
}

// makeRoom drops the statement unused for longest when a session has too many: some clients never close theirs.
func (r *sessions) makeRoom(s *session) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if len(s.prepared) < maxPrepared {
		return
	}
	oldest := ""
	for id, p := range s.prepared {
		if oldest == "" || p.used.Before(s.prepared[oldest].used) {
			oldest = id
		}
	}
	delete(s.prepared, oldest)
}

// ClosePreparedStatement forgets a handle; an unknown one has been forgotten already.
func (h *handler) ClosePreparedStatement(ctx context.Context, request fsql.ActionClosePreparedStatementRequest) error {
	if s, _, ok := find(h.sessions, ctx, preparedOf, request.GetPreparedStatementHandle()); ok {
		take(h.sessions, s, preparedOf, request.GetPreparedStatementHandle())
	}
	return nil
}

// lookup finds the statement of a handle, moved into the transaction that is open now. p.mu is held on return.
func (h *handler) lookup(ctx context.Context, handle []byte) (*session, *prepared, func(), error) {
	s, p, ok := find(h.sessions, ctx, preparedOf, handle)
	if !ok {
		return nil, nil, nil, status.Error(codes.NotFound, "the prepared statement was closed or has expired; prepare it again")
	}
	release := h.sessions.hold(s)
	h.sessions.mu.Lock()
	p.used = time.Now()
	h.sessions.mu.Unlock()
	p.mu.Lock()
	if err := h.follow(ctx, s, p); err != nil {
		p.mu.Unlock()
		release()
		return nil, nil, nil, err
	}
	return s, p, func() {
		p.mu.Unlock()
		release()
	}, nil
}

// follow moves a statement whose transaction has ended to the one its client has open now: clients keep the handle
// across commits. The command has no transaction id, so there must be exactly one.
func (h *handler) follow(ctx context.Context, s *session, p *prepared) error {
	if len(p.transaction) == 0 {
		return nil
	}
	h.sessions.mu.Lock()
	_, open := s.transactions[string(p.transaction)]
	var now []byte
	var next *transaction
	for id, t := range s.transactions {
		now, next = []byte(id), t
	}
	count := len(s.transactions)
	h.sessions.mu.Unlock()
	if open {
		return nil
	}
	if count != 1 {
		return status.Error(codes.FailedPrecondition, "the transaction of this prepared statement has ended; prepare it again in another")
	}
	if p.statement != nil {
		statement, err := next.engine.Prepare(ctx, p.text)
		if err != nil {
			return err
		}
		p.statement = statement
	}
	p.transaction, p.on = now, next.engine
	return nil
}

// run executes the statement with one row of arguments.
func (p *prepared) run(ctx context.Context, args []vec.Value) (*engine.Result, error) {
	if p.statement == nil {
		return p.on.Query(ctx, p.text)
	}
	return p.statement.Execute(ctx, args...)
}

// execute runs the statement for every bound row. Rows of one query come one after the other; a change of many rows
// is one transaction.
func (p *prepared) execute(ctx context.Context) (*engine.Result, error) {
	if len(p.args) > 1 {
		if p.statement != nil && p.statement.IsQuery() {
			return nil, status.Error(codes.InvalidArgument, "a query takes one row of parameters at a time; execute it once for each")
		}
		affected, err := p.executeMany(ctx, p.args)
		return &engine.Result{RowsAffected: affected}, err
	}
	var args []vec.Value
	if len(p.args) == 1 {
		args = p.args[0]
	}
	return p.run(ctx, args)
}

// GetFlightInfoPreparedStatement executes: a change is done when it returns, a query has started.
func (h *handler) GetFlightInfoPreparedStatement(ctx context.Context, c fsql.PreparedStatementQuery, desc *flight.FlightDescriptor) (*flight.FlightInfo, error) {
	s, p, release, err := h.lookup(ctx, c.GetPreparedStatementHandle())
	if err != nil {
		return nil, err
	}
	defer release()
	t, err := h.start(ctx, p.execute)
	if err != nil {
		return nil, err
	}
	return h.answer(s, t, desc)
}

// PollFlightInfoPreparedStatement is [handler.PollFlightInfoStatement] of a prepared statement.
func (h *handler) PollFlightInfoPreparedStatement(ctx context.Context, c fsql.PreparedStatementQuery, desc *flight.FlightDescriptor) (*flight.PollInfo, error) {
	return started(h.GetFlightInfoPreparedStatement(ctx, c, desc))
}

// GetSchemaPreparedStatement describes the result.
func (h *handler) GetSchemaPreparedStatement(ctx context.Context, c fsql.PreparedStatementQuery, _ *flight.FlightDescriptor) (*flight.SchemaResult, error) {
	_, p, release, err := h.lookup(ctx, c.GetPreparedStatementHandle())
	if err != nil {
		return nil, err
	}
	defer release()
	var columns vec.Schema
	if p.statement != nil {
		columns = p.statement.Schema
	}
	return &flight.SchemaResult{Schema: flight.SerializeSchema(arrowSchema(columns), memory.DefaultAllocator)}, nil
}

// sendPrepared executes and streams, for clients that use the command itself as the ticket.
func (h *handler) sendPrepared(stream flight.FlightService_DoGetServer, handle []byte) error {
	_, p, release, err := h.lookup(stream.Context(), handle)
	if err != nil {
		return err
	}
	t, err := h.start(stream.Context(), p.execute)
	release()
	if err != nil {
		return err
	}
	return h.sendResult(stream, t, t.take())
}

// DoPutPreparedStatementQuery binds parameters for the next executions.
func (h *handler) DoPutPreparedStatementQuery(ctx context.Context, c fsql.PreparedStatementQuery, reader flight.MessageReader, _ flight.MetadataWriter) ([]byte, error) {
	_, p, release, err := h.lookup(ctx, c.GetPreparedStatementHandle())
	if err != nil {
		return nil, err
	}
	defer release()
	if p.args, err = p.bind(reader); err != nil {
		return nil, err
	}
	return c.GetPreparedStatementHandle(), nil
}

// DoPutPreparedStatementUpdate executes a change for the rows that come with it, or for those bound before.
func (h *handler) DoPutPreparedStatementUpdate(ctx context.Context, c fsql.PreparedStatementUpdate, reader flight.MessageReader) (int64, error) {
	_, p, release, err := h.lookup(ctx, c.GetPreparedStatementHandle())
	if err != nil {
		return 0, err
	}
	defer release()
	rows, err := p.bind(reader)
	if err != nil {
		return 0, err
	}
	if len(rows) == 0 {
		rows = p.args
	}
	p.args = nil
	if len(rows) > 1 {
		return p.executeMany(ctx, rows)
	}
	var args []vec.Value
	if len(rows) == 1 {
		args = rows[0]
	}
	result, err := p.run(ctx, args)
	if err != nil {
		return 0, err
	}
	return finish(ctx, result)
}
