package peer

import (
	"context"
	"errors"
	"fmt"
	"testing"

	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgtype"

	"github.com/tidemarkdb/tidemark/integration/pgtest"
)

type postgres struct {
	t    testing.TB
	conn *pgconn.PgConn
}

// Postgres opens a session on an empty database of a PostgreSQL server.
func Postgres(t testing.TB) Peer {
	s := postgres{t, pgtest.Database(t).Connect()}
	if _, err := s.Run(fmt.Sprintf("SET statement_timeout = %d", patience.Milliseconds())); err != nil {
		t.Fatal(err)
	}
	return s
}

func (postgres) Name() string { return "postgresql" }

func (s postgres) Run(statement string) (*Answer, error) {
	ctx, cancel := context.WithTimeout(context.Background(), limit)
	defer cancel()
	answer := &Answer{}
	results := s.conn.Exec(ctx, statement)
	for results.NextResult() {
		answer = read(results.ResultReader())
	}
	err := results.Close()
	if s.conn.IsClosed() {
		s.t.Fatalf("PostgreSQL is gone: %v\n%s", err, statement)
	}
	var failure *pgconn.PgError
	if errors.As(err, &failure) && failure.Code == "57014" { // query_canceled
		err = ErrTooSlow
	}
	return answer, err
}

func read(result *pgconn.ResultReader) *Answer {
	answer := &Answer{}
	for _, f := range result.FieldDescriptions() {
		kind := Text
		switch f.DataTypeOID {
		case pgtype.Int2OID, pgtype.Int4OID, pgtype.Int8OID, pgtype.NumericOID:
			kind = Exact
		case pgtype.Float4OID, pgtype.Float8OID:
			kind = Float
		}
		answer.Kinds = append(answer.Kinds, kind)
	}
	for result.NextRow() {
		cells := make([]*string, len(answer.Kinds))
		for i, v := range result.Values() {
			if v != nil {
				text := string(v)
				cells[i] = &text
			}
		}
		answer.Rows = append(answer.Rows, cells)
	}
	return answer
}
