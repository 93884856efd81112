package flightsql

import (
	"context"
	"fmt"
	"strings"

	"github.com/apache/arrow-go/v18/arrow/flight"
	pb "github.com/apache/arrow-go/v18/arrow/flight/gen/flight"

	"github.com/tidemarkdb/tidemark/engine"
	"github.com/tidemarkdb/tidemark/sqlerr"
)

// The session options that are not settings by that name.
const (
	optionCatalog = "catalog" // always the one database
	optionSchema  = "schema"  // first of search_path
	searchPath    = "search_path"
)

// SetSessionOptions sets the catalog, the schema and settings. Each option fails or succeeds by itself.
func (h *handler) SetSessionOptions(ctx context.Context, request *flight.SetSessionOptionsRequest) (*flight.SetSessionOptionsResult, error) {
	s, release, err := h.sessions.of(ctx, true)
	if err != nil {
		return nil, err
	}
	defer release()
	out := &flight.SetSessionOptionsResult{Errors: map[string]*flight.SetSessionOptionsResultError{}}
	for name, value := range request.GetSessionOptions() {
		if problem := setOption(ctx, s, name, value); problem != flight.SetSessionOptionsResultErrorUnspecified {
			out.Errors[name] = &flight.SetSessionOptionsResultError{Value: problem}
		}
	}
	return out, nil
}

func setOption(ctx context.Context, s *session, name string, value *flight.SessionOptionValue) pb.SetSessionOptionsResult_ErrorValue {
	text, present, ok := optionText(value)
	if !ok {
		return flight.SetSessionOptionsResultErrorInvalidValue
	}
	statement := ""
	switch strings.ToLower(name) {
	case optionCatalog:
		if present && text != engine.Database {
			return flight.SetSessionOptionsResultErrorInvalidValue
		}
		return flight.SetSessionOptionsResultErrorUnspecified
	case optionSchema:
		name, text = searchPath, quoted(text)
	}
	if present {
		statement = fmt.Sprintf("SET %s TO %s", settingName(name), literal(text))
	} else {
		statement = "RESET " + settingName(name)
	}
	result, err := s.engine.Query(ctx, statement) // as a statement, so that roles hold
	if err == nil {
		result.Close()
		return flight.SetSessionOptionsResultErrorUnspecified
	}
	switch sqlerr.Code(err) {
	case sqlerr.UndefinedObject, sqlerr.SyntaxError:
		return flight.SetSessionOptionsResultErrorInvalidName
	case sqlerr.InvalidParameterValue:
		return flight.SetSessionOptionsResultErrorInvalidValue
	}
	return flight.SetSessionOptionsResultErrorError
}

// settingName quotes each part of a dotted setting name.
func settingName(name string) string {
	parts := strings.Split(strings.ToLower(name), ".")
	for i := range parts {
		parts[i] = quoted(parts[i])
	}
	return strings.Join(parts, ".")
}

// optionText returns an option's value as text; present is false for the empty value, which resets it.
func optionText(value *flight.SessionOptionValue) (text string, present, ok bool) {
	switch v := value.GetOptionValue().(type) {
	case nil:
		return "", false, true
	case *pb.SessionOptionValue_StringValue:
		return v.StringValue, true, true
	case *pb.SessionOptionValue_BoolValue:
		return fmt.Sprint(v.BoolValue), true, true
	case *pb.SessionOptionValue_Int64Value:
		return fmt.Sprint(v.Int64Value), true, true
	case *pb.SessionOptionValue_DoubleValue:
		return fmt.Sprint(v.DoubleValue), true, true
	case *pb.SessionOptionValue_StringListValue_:
		return strings.Join(v.StringListValue.GetValues(), ", "), true, true
	}
	return "", false, false
}

// GetSessionOptions returns catalog, schema and every setting. Asking makes no session.
func (h *handler) GetSessionOptions(ctx context.Context, _ *flight.GetSessionOptionsRequest) (*flight.GetSessionOptionsResult, error) {
	on, release, err := h.reading(ctx)
	if err != nil {
		return nil, err
	}
	defer release()
	rows, err := texts(ctx, on, "SELECT name, setting FROM information_schema.settings", 2)
	if err != nil {
		return nil, err
	}
	values := map[string]any{optionCatalog: engine.Database}
	for _, row := range rows {
		values[row[0]] = row[1]
		if row[0] == searchPath {
			first, _, _ := strings.Cut(row[1], ",")
			values[optionSchema] = strings.Trim(strings.TrimSpace(first), `"`)
		}
	}
	options, err := flight.NewSessionOptionValues(values)
	return &flight.GetSessionOptionsResult{SessionOptions: options}, err
}

// CloseSession ends the caller's session, rolling its transactions back; a token stays good for another.
func (h *handler) CloseSession(ctx context.Context, _ *flight.CloseSessionRequest) (*flight.CloseSessionResult, error) {
	h.sessions.end(callerOf(ctx).key)
	return &flight.CloseSessionResult{Status: flight.CloseSessionResultClosed}, nil
}
