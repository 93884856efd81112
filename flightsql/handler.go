package flightsql

import (
	"context"
	"time"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/flight"
	fsql "github.com/apache/arrow-go/v18/arrow/flight/flightsql"
	pb "github.com/apache/arrow-go/v18/arrow/flight/gen/flight"
	"github.com/apache/arrow-go/v18/arrow/memory"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/metadata"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/known/anypb"

	"github.com/tidemarkdb/tidemark/engine"
)

// handler answers the commands of Flight SQL.
type handler struct {
	fsql.BaseServer
	engine      *engine.Engine
	options     Options
	credentials *credentialStore
	sessions    *sessions
	metrics     *serverMetrics
	info        map[uint32]any // by SqlInfo code

	ctx    context.Context // ends with the server
	cancel context.CancelFunc
}

// expiryInterval is how often idle sessions, results and tokens are looked for.
const expiryInterval = 5 * time.Second

func newHandler(e *engine.Engine, o Options) *handler {
	h := &handler{engine: e, options: o, credentials: newCredentials(o), sessions: newSessions(e, o), info: sqlInfo(e, o)}
	for id, value := range h.info {
		if err := h.RegisterSqlInfo(fsql.SqlInfo(id), value); err != nil {
			panic(err) // a type in our own table that arrow-go does not take
		}
	}
	h.ctx, h.cancel = context.WithCancel(context.Background())
	go h.expire()
	return h
}

// expire ends idle things until the server ends.
func (h *handler) expire() {
	ticker := time.NewTicker(min(expiryInterval, h.options.SessionIdle/4+time.Millisecond, h.options.ResultIdle/4+time.Millisecond))
	defer ticker.Stop()
	for {
		select {
		case <-h.ctx.Done():
			return
		case now := <-ticker.C:
			h.sessions.expire(now)
			h.credentials.expire()
		}
	}
}

// service puts our own streams and handshake before arrow-go's routing.
type service struct {
	flight.FlightServer
	handler *handler
}

// Handshake gives a token for Basic credentials, or the token back that is still good. Some clients look for it in
// the header, others in the trailer.
func (s *service) Handshake(stream flight.FlightService_HandshakeServer) error {
	ctx := stream.Context()
	scheme, value := authorization(ctx)
	if scheme != "bearer" {
		value = s.handler.credentials.issue(callerOf(ctx).user)
	}
	answer := metadata.Pairs("authorization", "Bearer "+value)
	if err := stream.SetHeader(answer); err != nil {
		return err
	}
	stream.SetTrailer(answer)
	return nil
}

// DoGet streams statements itself and leaves metadata to arrow-go.
func (s *service) DoGet(request *flight.Ticket, stream flight.FlightService_DoGetServer) error {
	var command anypb.Any
	if err := proto.Unmarshal(request.Ticket, &command); err != nil {
		return status.Errorf(codes.InvalidArgument, "the ticket is not one of this server: %v", err)
	}
	switch {
	case command.MessageIs((*pb.TicketStatementQuery)(nil)):
		var t pb.TicketStatementQuery
		if err := command.UnmarshalTo(&t); err != nil {
			return status.Errorf(codes.InvalidArgument, "the ticket cannot be read: %v", err)
		}
		return s.handler.sendTicket(stream, t.StatementHandle)
	case command.MessageIs((*pb.CommandPreparedStatementQuery)(nil)):
		var c pb.CommandPreparedStatementQuery
		if err := command.UnmarshalTo(&c); err != nil {
			return status.Errorf(codes.InvalidArgument, "the ticket cannot be read: %v", err)
		}
		return s.handler.sendPrepared(stream, c.PreparedStatementHandle)
	}
	return s.FlightServer.DoGet(request, stream)
}

// ListActions lists the actions there are.
func (s *service) ListActions(_ *flight.Empty, stream flight.FlightService_ListActionsServer) error {
	for _, action := range []string{
		fsql.CreatePreparedStatementActionType, fsql.ClosePreparedStatementActionType, fsql.BeginTransactionActionType,
		fsql.EndTransactionActionType, fsql.BeginSavepointActionType, fsql.EndSavepointActionType,
		fsql.CancelQueryActionType, flight.CancelFlightInfoActionType, flight.RenewFlightEndpointActionType,
		flight.SetSessionOptionsActionType, flight.GetSessionOptionsActionType, flight.CloseSessionActionType,
	} {
		if err := stream.Send(&flight.ActionType{Type: action}); err != nil {
			return err
		}
	}
	return nil
}

// flightInfo answers with one endpoint on this connection.
func flightInfo(desc *flight.FlightDescriptor, schema *arrow.Schema, ticket []byte) *flight.FlightInfo {
	return &flight.FlightInfo{
		Schema: flight.SerializeSchema(schema, memory.DefaultAllocator), FlightDescriptor: desc,
		Endpoint:     []*flight.FlightEndpoint{{Ticket: &flight.Ticket{Ticket: ticket}}},
		TotalRecords: -1, TotalBytes: -1, Ordered: true,
	}
}

var _ grpc.ServerStream = (*authenticatedStream)(nil)
