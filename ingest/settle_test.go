package ingest_test

import (
	"context"
	"fmt"
	"testing"
	"time"

	"github.com/tidemarkdb/tidemark/catalog"
	"github.com/tidemarkdb/tidemark/extension"
	"github.com/tidemarkdb/tidemark/source/generator"
	"github.com/tidemarkdb/tidemark/vec"
)

// unsettled wraps the generator with one whose snapshots have rows of several moments: the odd parts are read after n
// more changes. The first boundary of a stream from their position comes when those have passed.
func unsettled(t *testing.T, h *house, n uint64) *extension.SourceDef {
	def := *generator.Source()
	open := def.Open
	def.Open = func(ctx context.Context, req extension.OpenRequest) (extension.Source, error) {
		s, err := open(ctx, req)
		return &unsettledSource{s, h, n}, err
	}
	return &def
}

type unsettledSource struct {
	extension.Source
	house *house
	until uint64
}

func (s *unsettledSource) Snapshot(ctx context.Context) (extension.Snapshot, error) {
	snap, err := s.Source.Snapshot(ctx)
	return &unsettledSnapshot{snap, s}, err
}

type unsettledSnapshot struct {
	extension.Snapshot
	*unsettledSource
}

func (s *unsettledSnapshot) Settling() bool { return true }

func (s *unsettledSnapshot) Close() error { return s.Snapshot.Close() }

// Read brings every third row to what it is after the changes, leaving out those that are deleted by then.
func (s *unsettledSnapshot) Read(ctx context.Context, part int, fn func(*vec.Batch) error) error {
	later, err := generator.NewModel(s.house.spec, s.house.options)
	if err != nil {
		return err
	}
	if err := later.Apply(s.until); err != nil {
		return err
	}
	before, err := generator.NewModel(s.house.spec, s.house.options)
	if err != nil {
		return err
	}
	numbers := map[string]uint64{}
	for key := range uint64(2000) {
		if row, live := before.Row(key); live {
			numbers[vec.Format(row[0])] = key
		}
	}
	return s.Snapshot.Read(ctx, part, func(b *vec.Batch) error {
		out := make([]*vec.Builder, len(b.Cols))
		for c := range out {
			out[c] = vec.NewBuilder(b.Cols[c].Type, b.N)
		}
		rows := 0
		for i := range b.N {
			row := make([]vec.Value, len(b.Cols))
			for c, col := range b.Cols {
				row[c] = col.Value(i)
			}
			if key := numbers[vec.Format(row[0])]; key%3 == 0 {
				var live bool
				if row, live = later.Row(key); !live {
					continue
				}
			}
			for c, v := range row {
				out[c].Append(v)
			}
			rows++
		}
		cols := make([]*vec.Vector, len(out))
		for c := range out {
			cols[c] = out[c].Finish()
		}
		return fn(vec.NewBatch(rows, cols...))
	})
}

func (s *unsettledSource) Stream(ctx context.Context, from extension.Position) (extension.Stream, error) {
	changes, err := s.Source.Stream(ctx, from)
	return &unsettledStream{changes, s.until}, err
}

type unsettledStream struct {
	extension.Stream
	until uint64
}

func (s *unsettledStream) Next(ctx context.Context, wait time.Duration, maxRows int) (*extension.Changes, error) {
	c, err := s.Stream.Next(ctx, wait, min(maxRows, 100))
	if c != nil && c.Boundary {
		if n, err := generator.DecodePosition(c.Position); err == nil && n < s.until {
			c.Boundary = false
		}
	}
	return c, err
}

// TestALoadOfSeveralMomentsShowsOne looks at the table as the load leaves it, without an append.
func TestALoadOfSeveralMomentsShowsOne(t *testing.T) {
	for _, mode := range []catalog.MergeMode{catalog.MergeRead, catalog.MergeWrite} {
		for _, memory := range []int64{64 << 20, 4 << 10} { // the changes fit, or are written in parts
			t.Run(fmt.Sprint(mode, memory), func(t *testing.T) {
				h := newHouseIn(t, options("keys", "2000", "deletes", "20", "inserts", "20", "updates", "60", "limit", "20000"), mode)
				h.memoryBytes = memory
				w, _ := h.worker(unsettled(t, h, 1500), 500)
				w.Yield() // after the load
				if err := w.Run(t.Context()); err != nil {
					t.Fatal(err)
				}
				table := h.current()
				if !table.Ingest.LoadDone() || h.position() != 1500 || table.Tablets.Totals().StagingTablets != 0 {
					t.Fatalf("loaded %v, at change %d, %+v", table.Ingest.LoadDone(), h.position(), table.Tablets.Totals())
				}
				h.verify()
				h.tidy()
				next, c := h.worker(unsettled(t, h, 1500), 500)
				h.runUntil(next, 6000)
				h.verify()
				if _, err := c.Run(t.Context()); err != nil {
					t.Fatal(err)
				}
				if err := c.Maintain(t.Context(), time.Minute); err != nil {
					t.Fatal(err)
				}
				h.verify()
			})
		}
	}
}
