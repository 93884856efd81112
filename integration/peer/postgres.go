package peer

import (
	"context"
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
	return postgres{t, pgtest.Database(t).Connect()}
}

func (postgres) Name() string { return "postgresql" }

func (s postgres) Run(statement string) (*Answer, error) {
	ctx, cancel := context.WithTimeout(context.Background(), limit)
	defer cancel()
	results, err := s.conn.Exec(ctx, statement).ReadAll()
	if s.conn.IsClosed() {
		s.t.Fatalf("PostgreSQL is gone: %v\n%s", err, statement)
	}
	answer := &Answer{}
	if err != nil || len(results) == 0 {
		return answer, err
	}
	last := results[len(results)-1]
	for _, f := range last.FieldDescriptions {
		kind := Text
		switch f.DataTypeOID {
		case pgtype.Int2OID, pgtype.Int4OID, pgtype.Int8OID, pgtype.NumericOID:
			kind = Exact
		case pgtype.Float4OID, pgtype.Float8OID:
			kind = Float
		}
		answer.Kinds = append(answer.Kinds, kind)
	}
	for _, row := range last.Rows {
		cells := make([]*string, len(row))
		for i, v := range row {
			if v != nil {
				text := string(v)
				cells[i] = &text
			}
		}
		answer.Rows = append(answer.Rows, cells)
	}
	return answer, nil
}
