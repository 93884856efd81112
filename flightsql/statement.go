package flightsql

import (
	"context"

	"github.com/apache/arrow-go/v18/arrow/flight"
	fsql "github.com/apache/arrow-go/v18/arrow/flight/flightsql"
	"github.com/apache/arrow-go/v18/arrow/memory"

	"github.com/tidemarkdb/tidemark/engine"
)

// GetFlightInfoStatement runs a statement: a change is done when it returns, a query has started.
func (h *handler) GetFlightInfoStatement(ctx context.Context, c fsql.StatementQuery, desc *flight.FlightDescriptor) (*flight.FlightInfo, error) {
	s, on, release, err := h.sessionFor(ctx, c.GetTransactionId())
	if err != nil {
		return nil, err
	}
	defer release()
	t, err := h.start(ctx, func(ctx context.Context) (*engine.Result, error) { return on.Query(ctx, c.GetQuery()) })
	if err != nil {
		return nil, err
	}
	return h.answer(s, t, desc)
}

// GetSchemaStatement describes a statement without running it.
func (h *handler) GetSchemaStatement(ctx context.Context, c fsql.StatementQuery, _ *flight.FlightDescriptor) (*flight.SchemaResult, error) {
	_, on, release, err := h.sessionFor(ctx, c.GetTransactionId())
	if err != nil {
		return nil, err
	}
	defer release()
	p, err := on.Prepare(ctx, c.GetQuery())
	if err != nil {
		return nil, err
	}
	return &flight.SchemaResult{Schema: flight.SerializeSchema(arrowSchema(p.Schema), memory.DefaultAllocator)}, nil
}

// PollFlightInfoStatement starts a statement; starting is all that a client has to wait for.
func (h *handler) PollFlightInfoStatement(ctx context.Context, c fsql.StatementQuery, desc *flight.FlightDescriptor) (*flight.PollInfo, error) {
	return started(h.GetFlightInfoStatement(ctx, c, desc))
}

func started(info *flight.FlightInfo, err error) (*flight.PollInfo, error) {
	if err != nil {
		return nil, err
	}
	complete := 1.0
	return &flight.PollInfo{Info: info, Progress: &complete}, nil
}

// DoPutCommandStatementUpdate runs a statement and returns the rows it changed.
func (h *handler) DoPutCommandStatementUpdate(ctx context.Context, c fsql.StatementUpdate) (int64, error) {
	_, on, release, err := h.sessionFor(ctx, c.GetTransactionId())
	if err != nil {
		return 0, err
	}
	defer release()
	result, err := on.Query(ctx, c.GetQuery())
	if err != nil {
		return 0, err
	}
	return finish(ctx, result)
}

// finish reads a result to its end, for the statement's effects, and returns the rows affected: 0 where that means
// nothing, since the JDBC driver takes -1 as "this was a query" and runs the statement again.
func finish(ctx context.Context, result *engine.Result) (int64, error) {
	defer result.Close()
	for {
		batch, err := result.Next(ctx)
		if err != nil {
			return 0, err
		}
		if batch == nil {
			return max(result.RowsAffected, 0), nil
		}
	}
}
