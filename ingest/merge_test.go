package ingest_test

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/RoaringBitmap/roaring/v2"

	"github.com/tidemarkdb/tidemark/catalog"
	"github.com/tidemarkdb/tidemark/source/generator"
	"github.com/tidemarkdb/tidemark/sqlerr"
	"github.com/tidemarkdb/tidemark/tablestore"
	"github.com/tidemarkdb/tidemark/tablet"
)

// TestWriteModeFollowsTheModel stops and restarts the worker with maintenance in between, with windows that fit into
// memory and with transactions that are written in many parts.
func TestWriteModeFollowsTheModel(t *testing.T) {
	for _, memory := range []int64{64 << 20, 4 << 10} {
		t.Run(fmt.Sprint(memory), func(t *testing.T) {
			h := newHouseIn(t, options("keys", "300", "deletes", "20", "inserts", "20", "updates", "60", "transaction_rows", "400"), catalog.MergeWrite)
			h.memoryBytes = memory
			for round := range 6 {
				w, c := h.worker(generator.Source(), 700)
				h.runUntil(w, h.position0()+3000)
				h.verify()
				totals := h.current().Tablets.Totals()
				if totals.StagingTablets != 0 {
					t.Fatalf("round %d: %d staging tablets in write mode", round, totals.StagingTablets)
				}
				for b := range h.current().Tablets.Base() {
					if b.Deletes != 0 {
						t.Fatalf("round %d: tablet %s holds delete markers", round, b.ID)
					}
				}
				if drained, err := c.Run(t.Context()); err != nil || drained {
					t.Fatalf("round %d: cascade drained = %v, %v", round, drained, err)
				}
				if err := c.Maintain(t.Context(), time.Minute); err != nil {
					t.Fatal(err)
				}
				h.verify()
			}
			if totals := h.current().Tablets.Totals(); totals.BaseTablets > 8 || totals.BaseRows > 4*300 {
				t.Errorf("%d base tablets with %d rows for about 300 live ones: nothing is vacuumed", totals.BaseTablets, totals.BaseRows)
			}
		})
	}
}

// TestWriteModeBesideOtherWriters lets maintenance rewrite tablets while batches are merged: a batch that another
// commit overtook is merged again, and nothing is lost.
func TestWriteModeBesideOtherWriters(t *testing.T) {
	h := newHouseIn(t, options("keys", "2000", "limit", "60000"), catalog.MergeWrite)
	w, c := h.worker(generator.Source(), 500)
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan error, 1)
	go func() {
		for ctx.Err() == nil {
			if err := c.Maintain(ctx, time.Second); err != nil && ctx.Err() == nil {
				done <- err
				return
			}
		}
		done <- nil
	}()
	h.runUntil(w, 60000)
	cancel()
	if err := <-done; err != nil {
		t.Fatal(err)
	}
	h.verify()
}

// TestWriteModeAfterUsersDeletes deletes random rows between batches, as DML does. What the stream changes later comes
// back, and every key has at most one row.
func TestWriteModeAfterUsersDeletes(t *testing.T) {
	h := newHouseIn(t, options("keys", "500", "limit", "20000", "deletes", "0", "inserts", "0", "updates", "100"), catalog.MergeWrite)
	w, _ := h.worker(generator.Source(), 300)
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	done := make(chan error, 1)
	go func() { done <- w.Run(ctx) }()
	rng := rand.New(rand.NewPCG(1, 2))
	deleted := 0
	for {
		table := h.current()
		if len(table.Ingest.Position) > 0 && h.position() >= 20000 {
			break
		}
		if err := h.deleteOne(table, rng); err == nil {
			deleted++
		} else if sqlerr.Code(err) != sqlerr.SerializationFailure {
			t.Fatal(err)
		}
	}
	cancel()
	if err := <-done; err != nil {
		t.Fatal(err)
	}
	if deleted == 0 {
		t.Fatal("no delete came between batches")
	}
	totals := h.current().Tablets.Totals()
	if live := totals.BaseRows - totals.MaskedRows; live > 500 || live < 100 {
		t.Errorf("%d live rows of 500 keys", live)
	}
}

// deleteOne masks one live row of a random tablet.
func (h *house) deleteOne(table *catalog.Table, rng *rand.Rand) error {
	var base []tablet.Base
	for b := range table.Tablets.Base() {
		base = append(base, b)
	}
	if len(base) == 0 {
		return sqlerr.New(sqlerr.SerializationFailure, "nothing to delete")
	}
	b := base[rng.IntN(len(base))]
	before, err := h.store.DeadRows(h.t.Context(), table.ID, b)
	if err != nil {
		return err
	}
	dead := roaring.Or(before, roaring.BitmapOf(uint32(rng.IntN(int(b.Rows)))))
	if dead.Equals(before) {
		return nil
	}
	edit := &catalog.Modify{Table: table.ID, SchemaVersion: table.SchemaVersion}
	if err := h.store.ChangeMasks(h.t.Context(), edit, []tablestore.DeadMask{{Member: b, Dead: dead}}); err != nil {
		return err
	}
	_, err = h.catalog.Commit(h.t.Context(), edit)
	return err
}

// TestWriteModeFollowsChangedColumns drops and adds a column while the worker runs.
func TestWriteModeFollowsChangedColumns(t *testing.T) {
	h := newHouseIn(t, options("limit", "30000"), catalog.MergeWrite)
	w, _ := h.worker(generator.Source(), 200)
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	done := make(chan error, 1)
	go func() { done <- w.Run(ctx) }()
	wait := func(what string, until func() bool) {
		for {
			changed := h.catalog.Changed()
			if until() {
				return
			}
			select {
			case <-changed:
			case err := <-done:
				t.Fatalf("waiting for %s: the worker ended: %v (last error: %s)", what, err, w.Status().LastError)
			}
		}
	}
	wait("the load", func() bool { return h.current().Ingest.LoadDone() && h.position() > 1000 })
	for {
		table := h.current()
		_, err := h.catalog.Commit(t.Context(), &catalog.AlterColumns{Table: h.table, FromVersion: table.SchemaVersion,
			Columns: append(append([]tablet.Column(nil), table.Columns[:2]...), table.Columns[3])})
		if err == nil {
			break
		}
	}
	wait("the end", func() bool { return h.position() == 30000 })
	cancel()
	if err := <-done; err != nil && !errors.Is(err, context.Canceled) {
		t.Fatal(err)
	}
	if s := w.Status(); s.ErrorCount != 0 {
		t.Errorf("%d errors, the last %q", s.ErrorCount, s.LastError)
	}
}

// TestMaintenanceStepsAside leaves the table as it is while a merge waits, before a step and before its commit.
func TestMaintenanceStepsAside(t *testing.T) {
	h := newHouseIn(t, options("keys", "300", "deletes", "20", "inserts", "20", "updates", "60"), catalog.MergeWrite)
	w, c := h.worker(generator.Source(), 100)
	h.runUntil(w, 3000)
	version := h.current().Tablets.Version()
	files := h.parquetFiles()
	for _, at := range []int{1, 2} {
		asked := 0
		c.Aside = func() bool { asked++; return asked >= at }
		if err := c.Maintain(t.Context(), time.Minute); err != nil {
			t.Fatal(err)
		}
		if now := h.current().Tablets.Version(); now != version || asked < at {
			t.Errorf("asked %d times, tablets of version %d, want %d", asked, now, version)
		}
		if now := h.parquetFiles(); len(now) != len(files) {
			t.Errorf("%d tablets are there, %d were", len(now), len(files))
		}
	}
	c.Aside = nil
	if err := c.Maintain(t.Context(), time.Minute); err != nil {
		t.Fatal(err)
	}
	if h.current().Tablets.Version() == version {
		t.Error("there was nothing to maintain")
	}
	h.verify()
}
