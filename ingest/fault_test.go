package ingest_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/tidemarkdb/tidemark/catalog"
	"github.com/tidemarkdb/tidemark/extension"
	"github.com/tidemarkdb/tidemark/source/generator"
	"github.com/tidemarkdb/tidemark/sqlerr"
	"github.com/tidemarkdb/tidemark/vec"
)

// interrupted wraps the generator with a stream that ends badly: after a number of transactions, the last of them
// without its end, it returns failure, or without one changes with a key that is NULL.
func interrupted(transactions int, failure error) *extension.SourceDef {
	def := *generator.Source()
	open := def.Open
	def.Open = func(ctx context.Context, req extension.OpenRequest) (extension.Source, error) {
		s, err := open(ctx, req)
		return &interruptedSource{s, transactions, failure}, err
	}
	return &def
}

type interruptedSource struct {
	extension.Source
	left    int
	failure error
}

func (s *interruptedSource) Stream(ctx context.Context, from extension.Position) (extension.Stream, error) {
	changes, err := s.Source.Stream(ctx, from)
	return &interruptedStream{changes, s.left, s.failure}, err
}

type interruptedStream struct {
	extension.Stream
	left    int
	failure error
}

func (s *interruptedStream) Next(ctx context.Context, wait time.Duration, maxRows int) (*extension.Changes, error) {
	if s.left == 0 && s.failure != nil {
		return nil, s.failure
	}
	c, err := s.Stream.Next(ctx, wait, 20)
	if err != nil || c == nil || c.Rows() == 0 {
		return c, err
	}
	if s.left == 0 {
		c.Cols[0] = vec.NullOf(c.Cols[0].Type, c.Rows())
	}
	if c.Boundary && s.left > 0 {
		if s.left--; s.left == 0 {
			c.Boundary = false
		}
	}
	return c, nil
}

// TestWhatCommittedBeforeAPermanentFailureIsApplied lets the source fail, or send a key that cannot be indexed, within a
// transaction that others precede in the same append: those are applied, and nothing of it is. With little memory the
// append is written in parts before the failure comes.
func TestWhatCommittedBeforeAPermanentFailureIsApplied(t *testing.T) {
	refusal := extension.Permanent(errors.New("the next change does not fit"))
	for name, failure := range map[string]error{"source": refusal, "key": nil} {
		for _, mode := range []catalog.MergeMode{catalog.MergeRead, catalog.MergeWrite} {
			for _, memory := range []int64{64 << 20, 4 << 10} {
				t.Run(fmt.Sprintf("%s %v %d", name, mode, memory), func(t *testing.T) {
					h := newHouseIn(t, options("transaction_rows", "400", "keys", "500"), mode)
					loader, _ := h.worker(generator.Source(), 500)
					h.runUntil(loader, 2000)
					before := h.position()
					h.memoryBytes = memory
					w, _ := h.worker(interrupted(4, failure), 1_000_000)
					h.patience = time.Minute // one append is to hold it all
					err := w.Run(t.Context())
					if failure != nil && !errors.Is(err, failure) || failure == nil && sqlerr.Code(err) != sqlerr.NotNullViolation {
						t.Fatalf("Run = %v", err)
					}
					if got := h.position() - before; got != 3*400 {
						t.Errorf("%d changes were applied before the failure, want three transactions of 400", got)
					}
					if table := h.current(); table.Ingest.State != catalog.Failed || failure == nil && !strings.Contains(table.Ingest.Reason, `merge key column "id" is NULL`) {
						t.Errorf("state %s, reason %q", table.Ingest.State, table.Ingest.Reason)
					}
					if s := w.Status(); s.ApplyCount != 1 {
						t.Errorf("%d appends, want one", s.ApplyCount)
					}
					h.verify()
					h.tidy()
				})
			}
		}
	}
}

// tidy looks for files that no version names.
func (h *house) tidy() {
	h.t.Helper()
	report, err := catalog.Check(h.t.Context(), h.store.Objects, catalog.CheckOptions{})
	if err != nil || len(report.Problems) > 0 || len(report.Orphans) > 0 {
		h.t.Errorf("problems %v, files left behind %v, %v", report.Problems, report.Orphans, err)
	}
}
