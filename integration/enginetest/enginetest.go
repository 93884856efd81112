package enginetest

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/tidemarkdb/tidemark/engine"
	"github.com/tidemarkdb/tidemark/sqlerr"
	"github.com/tidemarkdb/tidemark/vec"
)

// Open opens an engine, over a new root when options name none, and closes it at the test's end.
func Open(t testing.TB, options engine.Options) *engine.Engine {
	t.Helper()
	if options.Root == "" && options.Store == nil {
		options.Root = t.TempDir()
	}
	e, err := engine.Open(context.Background(), options)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { e.Close() })
	return e
}

// Session opens a session and closes it at the test's end.
func Session(t testing.TB, e *engine.Engine) *engine.Session {
	t.Helper()
	s, err := e.NewSession(engine.SessionOptions{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(s.Close)
	return s
}

// Try runs SQL and returns the rows of the last statement as lines.
func Try(s *engine.Session, query string) ([]string, error) {
	ctx := context.Background()
	r, err := s.Query(ctx, query)
	if err != nil {
		return nil, err
	}
	defer r.Close()
	var out []string
	for {
		b, err := r.Next(ctx)
		if err != nil || b == nil {
			return out, err
		}
		for row := range b.N {
			out = append(out, line(b, row))
		}
	}
}

func line(b *vec.Batch, row int) string {
	cells := make([]string, len(b.Cols))
	for i, c := range b.Cols {
		cells[i] = "NULL"
		if !c.IsNull(row) {
			cells[i] = string(vec.AppendText(nil, c, row))
		}
	}
	return strings.Join(cells, "|")
}

// Rows is Try for SQL that must succeed.
func Rows(t testing.TB, s *engine.Session, query string) []string {
	t.Helper()
	out, err := Try(s, query)
	if err != nil {
		t.Fatalf("%s: %v", query, err)
	}
	return out
}

// One returns the only line of a result.
func One(t testing.TB, s *engine.Session, query string) string {
	t.Helper()
	out := Rows(t, s, query)
	if len(out) != 1 {
		t.Fatalf("%s: %d rows, want one", query, len(out))
	}
	return out[0]
}

// Expect runs SQL and compares its lines.
func Expect(t testing.TB, s *engine.Session, query string, want ...string) {
	t.Helper()
	if got := Rows(t, s, query); strings.Join(got, "\n") != strings.Join(want, "\n") {
		t.Errorf("%s:\ngot  %q\nwant %q", query, got, want)
	}
}

// Refuses runs SQL that must fail with an SQLSTATE and a text in the error, hint included.
func Refuses(t testing.TB, s *engine.Session, query, code, contains string) {
	t.Helper()
	_, err := Try(s, query)
	if sqlerr.Code(err) != code || !strings.Contains(fmt.Sprint(err), contains) {
		t.Errorf("%s: got %v, want SQLSTATE %s and %q", query, err, code, contains)
	}
}

// Until polls a condition that another part of the process brings about.
func Until(t testing.TB, what string, condition func() bool) {
	t.Helper()
	deadline := time.Now().Add(time.Minute)
	for !condition() {
		if time.Now().After(deadline) {
			t.Fatalf("waited in vain for %s", what)
		}
		time.Sleep(2 * time.Millisecond)
	}
}

// UntilRow polls until SQL returns one line.
func UntilRow(t testing.TB, s *engine.Session, query, want string) {
	t.Helper()
	deadline := time.Now().Add(time.Minute)
	for {
		got := Rows(t, s, query)
		if len(got) == 1 && got[0] == want {
			return
		}
		if time.Now().After(deadline) {
			t.Fatalf("%s: waited in vain for %q, still %q", query, want, got)
		}
		time.Sleep(2 * time.Millisecond)
	}
}
