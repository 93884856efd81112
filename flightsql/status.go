package flightsql

import (
	"context"
	"errors"
	"strconv"
	"strings"

	"google.golang.org/genproto/googleapis/rpc/errdetails"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"github.com/tidemarkdb/tidemark/sqlerr"
)

// codeOf maps SQLSTATE classes and codes, the longest prefix first, to the gRPC codes by which ADBC and JDBC choose
// their exceptions.
func codeOf(sqlstate string) codes.Code {
	switch sqlstate {
	case sqlerr.DuplicateTable, sqlerr.DuplicateSchema, sqlerr.DuplicateObject:
		return codes.AlreadyExists
	case sqlerr.InsufficientPrivilege:
		return codes.PermissionDenied
	case sqlerr.InvalidStatementName, sqlerr.InvalidCatalog, sqlerr.InvalidSchema, sqlerr.UndefinedFile:
		return codes.NotFound
	case sqlerr.AdminShutdown:
		return codes.Unavailable
	case sqlerr.QueryCanceled:
		return codes.Canceled
	case sqlerr.SerializationFailure:
		return codes.Aborted
	}
	switch sqlstate[:2] {
	case "0A":
		return codes.Unimplemented
	case "28":
		return codes.Unauthenticated
	case "21", "22", "23", "26", "34", "42", "HV":
		return codes.InvalidArgument
	case "25", "2B", "3B", "55":
		return codes.FailedPrecondition
	case "53", "54":
		return codes.ResourceExhausted
	case "08":
		return codes.Unavailable
	}
	return codes.Internal
}

// toStatus gives an error its gRPC status: one readable text with everything in it, and the parts as ErrorInfo.
func toStatus(ctx context.Context, err error) error {
	if err == nil {
		return nil
	}
	if _, ok := status.FromError(err); ok {
		return err
	}
	if errors.Is(ctx.Err(), context.DeadlineExceeded) {
		return status.Error(codes.DeadlineExceeded, "the client's timeout ended the statement")
	}
	if errors.Is(err, context.Canceled) || ctx.Err() != nil {
		return status.Error(codes.Canceled, "the statement was canceled")
	}
	own := sqlerr.From(err)
	code := codeOf(own.Code)
	if code == codes.Canceled && strings.Contains(own.Message, "timeout") {
		code = codes.DeadlineExceeded
	}
	shown := *own
	if own.Code == sqlerr.Internal {
		shown.Detail = "" // a stack, which is the log's
	}
	parts := map[string]string{"sqlstate": own.Code, "message": own.Message}
	for name, value := range map[string]string{"detail": shown.Detail, "hint": own.Hint} {
		if value != "" {
			parts[name] = value
		}
	}
	if own.Pos > 0 {
		parts["position"] = strconv.Itoa(own.Pos)
	}
	s := status.New(code, shown.Error())
	if detailed, err := s.WithDetails(&errdetails.ErrorInfo{Reason: own.Code, Domain: "tidemark", Metadata: parts}); err == nil {
		s = detailed
	}
	return s.Err()
}
