package flightsql

import (
	"context"
	"database/sql"
	"errors"
	"io"
	"strings"
	"testing"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/flight"
	fsql "github.com/apache/arrow-go/v18/arrow/flight/flightsql"
	_ "github.com/apache/arrow-go/v18/arrow/flight/flightsql/driver"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/credentials/insecure"
	"google.golang.org/grpc/status"

	server "github.com/tidemarkdb/tidemark/flightsql"
)

func dial(t *testing.T, addr string) *fsql.Client {
	t.Helper()
	c, err := fsql.NewClient(addr, nil, nil, grpc.WithTransportCredentials(insecure.NewCredentials()))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { c.Close() })
	return c
}

// read fetches everything behind a FlightInfo and checks that its schema is the stream's.
func read(t *testing.T, c *fsql.Client, info *flight.FlightInfo, err error) []arrow.RecordBatch {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
	promised, err := flight.DeserializeSchema(info.Schema, nil)
	if err != nil {
		t.Fatal(err)
	}
	var out []arrow.RecordBatch
	for _, endpoint := range info.Endpoint {
		r, err := c.DoGet(context.Background(), endpoint.Ticket)
		if err != nil {
			t.Fatal(err)
		}
		if !r.Schema().Equal(promised) {
			t.Errorf("FlightInfo promises %s, the stream has %s", promised, r.Schema())
		}
		for r.Next() {
			batch := r.RecordBatch()
			batch.Retain()
			out = append(out, batch)
		}
		if err := r.Err(); err != nil && !errors.Is(err, io.EOF) {
			t.Fatal(err)
		}
		r.Release()
	}
	return out
}

func update(t *testing.T, c *fsql.Client, query string) int64 {
	t.Helper()
	n, err := c.ExecuteUpdate(context.Background(), query)
	if err != nil {
		t.Fatalf("%s: %v", query, err)
	}
	return n
}

func TestClient(t *testing.T) {
	ctx := context.Background()
	c := dial(t, start(t, server.Options{}))
	if n := update(t, c, "CREATE TABLE t (a BIGINT, b TEXT)"); n != 0 {
		t.Errorf("CREATE TABLE affects %d rows", n)
	}
	if n := update(t, c, "INSERT INTO t VALUES (1, 'x'), (2, NULL)"); n != 2 {
		t.Errorf("INSERT affects %d rows", n)
	}
	info, err := c.Execute(ctx, "SELECT a, b FROM t ORDER BY a")
	batches := read(t, c, info, err)
	if len(batches) != 1 || batches[0].NumRows() != 2 || batches[0].Column(1).ValueStr(0) != "x" || batches[0].Column(1).IsValid(1) {
		t.Errorf("got %v", batches)
	}
	if _, err := read1(c, info); status.Code(err) != codes.NotFound {
		t.Errorf("a ticket read twice: %v", err)
	}
	schema, err := c.GetExecuteSchema(ctx, "SELECT a FROM t")
	if err != nil {
		t.Fatal(err)
	}
	if s, err := flight.DeserializeSchema(schema.Schema, nil); err != nil || s.NumFields() != 1 || s.Field(0).Type.ID() != arrow.INT64 {
		t.Errorf("schema %v, %v", s, err)
	}
	poll, err := c.ExecutePoll(ctx, "SELECT 1", nil)
	if err != nil || poll.FlightDescriptor != nil {
		t.Fatalf("poll %v, %v", poll, err)
	}
	read(t, c, poll.Info, nil)

	info, err = c.Execute(ctx, "INSERT INTO t VALUES (3, 'once')") // a change through GetFlightInfo, never fetched
	if err != nil {
		t.Fatal(err)
	}
	count, err := c.Execute(ctx, "SELECT count(*) FROM t WHERE a = 3")
	if got := read(t, c, count, err); got[0].Column(0).(*array.Int64).Value(0) != 1 {
		t.Errorf("the change ran %v times", got)
	}
	read(t, c, info, nil)
	count, err = c.Execute(ctx, "SELECT count(*) FROM t WHERE a = 3")
	if got := read(t, c, count, err); got[0].Column(0).(*array.Int64).Value(0) != 1 {
		t.Errorf("fetching ran the change again: %v", got)
	}
}

func read1(c *fsql.Client, info *flight.FlightInfo) (int, error) {
	r, err := c.DoGet(context.Background(), info.Endpoint[0].Ticket)
	if err != nil {
		return 0, err
	}
	defer r.Release()
	n := 0
	for r.Next() {
		n++
	}
	return n, r.Err()
}

func TestCancelFlightInfo(t *testing.T) {
	ctx := context.Background()
	c := dial(t, start(t, server.Options{}))
	info, err := c.Execute(ctx, "SELECT i FROM generate_series(1, 100000000) AS g(i)")
	if err != nil {
		t.Fatal(err)
	}
	r, err := c.DoGet(ctx, info.Endpoint[0].Ticket)
	if err != nil {
		t.Fatal(err)
	}
	defer r.Release()
	if !r.Next() {
		t.Fatal("no first batch")
	}
	result, err := c.CancelFlightInfo(ctx, &flight.CancelFlightInfoRequest{Info: info})
	if err != nil || result.Status != flight.CancelStatusCancelled {
		t.Fatalf("cancel: %v, %v", result, err)
	}
	for r.Next() {
	}
	if status.Code(r.Err()) != codes.Canceled {
		t.Errorf("a cancelled stream ends with %v", r.Err())
	}
}

// TestTransactions checks that several transactions live on one connection, and that each sees its own changes.
func TestTransactions(t *testing.T) {
	ctx := context.Background()
	c := dial(t, start(t, server.Options{}))
	update(t, c, "CREATE TABLE t (a BIGINT)")
	one, err := c.BeginTransaction(ctx)
	if err != nil {
		t.Fatal(err)
	}
	two, err := c.BeginTransaction(ctx)
	if err != nil {
		t.Fatal(err)
	}
	if n, err := one.ExecuteUpdate(ctx, "INSERT INTO t VALUES (1)"); n != 1 || err != nil {
		t.Fatal(n, err)
	}
	for _, want := range []struct {
		tx   *fsql.Txn
		rows int64
	}{{one, 1}, {two, 0}} {
		info, err := want.tx.Execute(ctx, "SELECT count(*) FROM t")
		if got := read(t, c, info, err)[0].Column(0).(*array.Int64).Value(0); got != want.rows {
			t.Errorf("a transaction sees %d rows, want %d", got, want.rows)
		}
	}
	if err := one.Commit(ctx); err != nil {
		t.Fatal(err)
	}
	if err := two.Rollback(ctx); err != nil {
		t.Fatal(err)
	}
	if _, err := two.ExecuteUpdate(ctx, "INSERT INTO t VALUES (2)"); err == nil {
		t.Error("an ended transaction takes statements")
	}
	info, err := c.Execute(ctx, "SELECT count(*) FROM t")
	if got := read(t, c, info, err)[0].Column(0).(*array.Int64).Value(0); got != 1 {
		t.Errorf("%d rows after commit, want 1", got)
	}
}

func TestDatabaseSQL(t *testing.T) {
	addr := start(t, server.Options{Users: map[string]string{"ada": "s3cret"}})
	db, err := sql.Open("flightsql", "flightsql://ada:s3cret@"+addr+"?timeout=20s")
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	if _, err := db.Exec("CREATE TABLE t (a BIGINT, b TEXT)"); err != nil {
		t.Fatal(err)
	}
	result, err := db.Exec("INSERT INTO t VALUES ($1, $2)", int64(7), "seven")
	if err != nil {
		t.Fatal(err)
	}
	if n, _ := result.RowsAffected(); n != 1 {
		t.Errorf("%d rows affected", n)
	}
	var a int64
	var b string
	if err := db.QueryRow("SELECT a, b FROM t WHERE a = $1", int64(7)).Scan(&a, &b); err != nil || a != 7 || b != "seven" {
		t.Errorf("got %d %q, %v", a, b, err)
	}
	tx, err := db.Begin()
	if err != nil {
		t.Fatal(err)
	}
	if _, err := tx.Exec("DELETE FROM t"); err != nil {
		t.Fatal(err)
	}
	if err := tx.Rollback(); err != nil {
		t.Fatal(err)
	}
	if err := db.QueryRow("SELECT count(*) FROM t").Scan(&a); err != nil || a != 1 {
		t.Errorf("%d rows after a rollback, %v", a, err)
	}
	wrong, err := sql.Open("flightsql", "flightsql://ada:no@"+addr+"?timeout=20s")
	if err != nil {
		t.Fatal(err)
	}
	defer wrong.Close()
	if err := wrong.QueryRow("SELECT 1").Scan(&a); err == nil || !strings.Contains(err.Error(), "wrong user or password") {
		t.Errorf("a wrong password gives %v", err)
	}
}
