package flightsql

import (
	"context"
	"sync"
	"time"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/flight"
	fsql "github.com/apache/arrow-go/v18/arrow/flight/flightsql"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"github.com/tidemarkdb/tidemark/engine"
	"github.com/tidemarkdb/tidemark/vec"
)

// ticket is a started statement whose rows are read once.
type ticket struct {
	schema *arrow.Schema
	cancel context.CancelFunc
	ctx    context.Context // of the statement; detached from the RPC that started it
	made   time.Time

	mu     sync.Mutex
	result *engine.Result // nil once it is taken
	taken  bool
}

// close stops the statement; who reads it sees an error.
func (t *ticket) close() {
	t.cancel()
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.result != nil {
		t.result.Close()
		t.result = nil
	}
}

// take hands the result to its one reader, nil when another has it or had it.
func (t *ticket) take() *engine.Result {
	t.mu.Lock()
	defer t.mu.Unlock()
	r := t.result
	t.result, t.taken = nil, true
	return r
}

func (t *ticket) unread() bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	return !t.taken
}

// start runs a statement so that its rows outlive the RPC; the RPC's end while it starts stops it.
func (h *handler) start(ctx context.Context, run func(context.Context) (*engine.Result, error)) (*ticket, error) {
	detached, cancel := context.WithCancel(h.ctx)
	stop := context.AfterFunc(ctx, cancel)
	result, err := run(detached)
	if err != nil {
		stop()
		cancel()
		return nil, err
	}
	t := &ticket{schema: arrowSchema(result.Schema), cancel: cancel, ctx: detached, made: time.Now(), result: result}
	if !stop() {
		t.close()
		return nil, context.Cause(ctx)
	}
	return t, nil
}

// answer files a started statement under a ticket and describes it.
func (h *handler) answer(s *session, t *ticket, desc *flight.FlightDescriptor) (*flight.FlightInfo, error) {
	id, err := put(h.sessions, s, ticketsOf, t)
	if err != nil {
		t.close()
		return nil, err
	}
	encoded, err := fsql.CreateStatementQueryTicket(id)
	if err != nil {
		return nil, err
	}
	return flightInfo(desc, t.schema, encoded), nil
}

// sendTicket streams a started statement.
func (h *handler) sendTicket(stream flight.FlightService_DoGetServer, id []byte) error {
	s, t, ok := find(h.sessions, stream.Context(), ticketsOf, id)
	if !ok {
		return status.Error(codes.NotFound, "the ticket was read already or has expired; run the statement again")
	}
	result := t.take()
	if result == nil {
		return status.Error(codes.NotFound, "the ticket was read already; run the statement again")
	}
	defer take(h.sessions, s, ticketsOf, id)
	return h.sendResult(stream, t, result)
}

// sendResult streams rows as they are produced; the end of either context stops the query.
func (h *handler) sendResult(stream flight.FlightService_DoGetServer, t *ticket, result *engine.Result) error {
	defer t.cancel()
	defer result.Close()
	stop := context.AfterFunc(stream.Context(), t.cancel)
	defer stop()
	return h.send(stream, t.schema, func() (*vec.Batch, error) { return result.Next(t.ctx) })
}

// CancelFlightInfo stops the statement behind a FlightInfo, whether it is being read or not.
func (h *handler) CancelFlightInfo(ctx context.Context, request *flight.CancelFlightInfoRequest) (flight.CancelFlightInfoResult, error) {
	for _, endpoint := range request.GetInfo().GetEndpoint() {
		command, err := fsql.GetStatementQueryTicket(endpoint.GetTicket())
		if err != nil {
			return flight.CancelFlightInfoResult{Status: flight.CancelStatusNotCancellable}, nil
		}
		s, t, ok := find(h.sessions, ctx, ticketsOf, command.GetStatementHandle())
		if !ok {
			return flight.CancelFlightInfoResult{}, status.Error(codes.NotFound, "the statement has ended already")
		}
		take(h.sessions, s, ticketsOf, command.GetStatementHandle())
		t.close()
	}
	return flight.CancelFlightInfoResult{Status: flight.CancelStatusCancelled}, nil
}

// RenewFlightEndpoint gives a result that nobody fetched yet its full time again.
func (h *handler) RenewFlightEndpoint(ctx context.Context, request *flight.RenewFlightEndpointRequest) (*flight.FlightEndpoint, error) {
	command, err := fsql.GetStatementQueryTicket(request.GetEndpoint().GetTicket())
	if err != nil {
		return nil, status.Error(codes.InvalidArgument, "the endpoint's ticket is not of a statement")
	}
	_, t, ok := find(h.sessions, ctx, ticketsOf, command.GetStatementHandle())
	if !ok || !t.unread() {
		return nil, status.Error(codes.NotFound, "the ticket was read already or has expired; run the statement again")
	}
	h.sessions.mu.Lock()
	t.made = time.Now()
	h.sessions.mu.Unlock()
	return request.GetEndpoint(), nil
}
