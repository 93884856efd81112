package cascade

import (
	"context"
	"log/slog"
	"testing"
	"testing/synctest"
	"time"

	"github.com/RoaringBitmap/roaring/v2"

	"github.com/tidemarkdb/tidemark/catalog"
	"github.com/tidemarkdb/tidemark/objstore"
	"github.com/tidemarkdb/tidemark/tablestore"
	"github.com/tidemarkdb/tidemark/tablet"
	"github.com/tidemarkdb/tidemark/vec"
)

// slowly is a store whose bytes take time to write, and where it is the only thing that does.
type slowly struct {
	objstore.Store
	perByte time.Duration
}

type slowWriter struct {
	objstore.Writer
	perByte time.Duration
}

func (s *slowly) Create(ctx context.Context, path string) (objstore.Writer, error) {
	w, err := s.Store.Create(ctx, path)
	return &slowWriter{w, s.perByte}, err
}

func (w *slowWriter) Write(p []byte) (int, error) {
	time.Sleep(time.Duration(len(p)) * w.perByte)
	return w.Writer.Write(p)
}

// yard is a table of one column, id, in a store of which writing can be made slow.
type yard struct {
	*Cascade
	t    *testing.T
	slow *slowly
}

func newYard(t *testing.T) *yard {
	slow := &slowly{Store: objstore.NewMem(nil)}
	c, err := catalog.Open(t.Context(), slow, catalog.OpenOptions{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { c.Close() })
	store := tablestore.New(slow, tablestore.Options{})
	t.Cleanup(func() { store.Close() })
	y := &yard{t: t, slow: slow, Cascade: &Cascade{Catalog: c, Store: store, Table: tablet.NewTableID(),
		Log: slog.New(slog.DiscardHandler), Threads: func() int { return 1 }}}
	_, err = c.Commit(t.Context(), &catalog.CreateTable{ID: y.Table, MergeKeyNames: []string{"id"}, Definition: catalog.Definition{
		Schema: "public", Name: "t", Kind: catalog.Managed, Columns: []tablet.Column{{Name: "id", Type: vec.Int64Type}}}})
	if err != nil {
		t.Fatal(err)
	}
	return y
}

func (y *yard) current() *catalog.Table {
	table, ok := y.Catalog.Snapshot().TableByID(y.Table)
	if !ok {
		y.t.Fatal("the table is gone")
	}
	return table
}

// add gives the table a tablet of the ids [from, from+rows), of which one in every is dead.
func (y *yard) add(from, rows, every int) {
	y.t.Helper()
	table := y.current()
	ids, dead := make([]int64, rows), roaring.New()
	for i := range ids {
		ids[i] = int64(from + i)
		if i%every == 0 {
			dead.Add(uint32(i))
		}
	}
	batch := tablestore.AddHidden(table, vec.NewBatch(rows, vec.FlatOf(vec.Int64Type, ids, nil)))
	desc, err := y.Store.Write(y.t.Context(), table, tablestore.Rows{Batch: batch}, 1)
	if err != nil {
		y.t.Fatal(err)
	}
	edit := &catalog.Modify{Table: y.Table, SchemaVersion: table.SchemaVersion, Add: []tablet.Base{{Desc: desc}}}
	if _, err := y.Catalog.Commit(y.t.Context(), edit); err != nil {
		y.t.Fatal(err)
	}
	member, _ := y.current().Tablets.BaseTablet(desc.ID)
	edit = &catalog.Modify{Table: y.Table, SchemaVersion: table.SchemaVersion}
	if err := y.Store.ChangeMasks(y.t.Context(), edit, []tablestore.DeadMask{{Member: member, Dead: dead}}); err != nil {
		y.t.Fatal(err)
	}
	if _, err := y.Catalog.Commit(y.t.Context(), edit); err != nil {
		y.t.Fatal(err)
	}
}

// live returns how many rows live and the sum of their ids.
func (y *yard) live() (n int, sum int64) {
	y.t.Helper()
	table := y.current()
	masks, err := y.Store.Masks(y.t.Context(), table)
	if err != nil {
		y.t.Fatal(err)
	}
	var descs []*tablet.Desc
	for _, b := range table.Tablets.View().Base {
		descs = append(descs, b.Desc)
	}
	batch, err := y.Store.ReadLive(y.t.Context(), table, descs, masks)
	if err != nil {
		y.t.Fatal(err)
	}
	for _, id := range vec.Values[int64](batch.Cols[0]) {
		sum += id
	}
	return batch.N, sum
}

// worst returns the largest share of dead rows of a tablet.
func (y *yard) worst() (share float64) {
	for _, b := range y.current().Tablets.View().Base {
		share = max(share, member{desc: b.Desc, dead: b.Mask.Cardinality}.share())
	}
	return share
}

// TestMaintenanceKeepsItsBudget vacuums tablets whose rewriting takes many budgets, with a clock of its own: every call
// ends in time, and in the end no tablet has many dead rows and every live row is still there.
func TestMaintenanceKeepsItsBudget(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		y := newYard(t)
		y.add(0, 5*leastStep, 2)
		y.add(5*leastStep, 3*leastStep/2, 3)
		n, sum := y.live()
		y.slow.perByte = 2 * time.Microsecond

		// What the least step takes, which the budget may be overrun by.
		alone := newYard(t)
		alone.add(0, leastStep, 3)
		alone.slow.perByte = y.slow.perByte
		started := time.Now()
		if err := alone.Maintain(t.Context(), time.Nanosecond); err != nil {
			t.Fatal(err)
		}
		least := time.Since(started)
		if least < 100*time.Millisecond || alone.worst() != 0 {
			t.Fatalf("the least step took %v and left a share of %v dead", least, alone.worst())
		}

		calls := 0
		for budget := 3 * least / 2; y.worst() >= vacuumShare; calls++ {
			if calls == 40 {
				t.Fatal("no end to the vacuum")
			}
			started := time.Now()
			if err := y.Maintain(t.Context(), budget); err != nil {
				t.Fatal(err)
			}
			if took := time.Since(started); took > budget+least {
				t.Errorf("call %d: %v with a budget of %v", calls, took, budget)
			}
			if gotN, gotSum := y.live(); gotN != n || gotSum != sum {
				t.Fatalf("call %d: %d rows with sum %d, want %d and %d", calls, gotN, gotSum, n, sum)
			}
		}
		if calls < 3 {
			t.Errorf("the work of many budgets was done in %d", calls)
		}
	})
}

// TestALateStepIsAbandoned: the first steps are too large for a store that is slower than thought; they are given up
// in time and leave no files, and smaller ones follow.
func TestALateStepIsAbandoned(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		y := newYard(t)
		y.add(0, 6*leastStep, 2)
		y.pace.perSecond = 1e9
		y.slow.perByte = 2 * time.Microsecond
		const budget = 500 * time.Millisecond
		before := y.files()
		if err := y.Maintain(t.Context(), budget); err != nil {
			t.Fatal(err)
		}
		if y.worst() == 0 || y.pace.perSecond >= 1e9 || y.files() != before {
			t.Fatalf("the step was not abandoned: share %v, pace %v, %d files where there were %d", y.worst(), y.pace.perSecond, y.files(), before)
		}
		for y.worst() >= vacuumShare {
			if err := y.Maintain(t.Context(), budget); err != nil {
				t.Fatal(err)
			}
		}
		if n, _ := y.live(); n != 3*leastStep {
			t.Errorf("%d live rows, want %d", n, 3*leastStep)
		}
	})
}

// TestMergingRunsKeepsItsBudget merges key files whose merging takes several budgets: every call ends in time, a merge
// that is too slow is abandoned and leaves no file, and in the end there are few key files, which know the live rows.
func TestMergingRunsKeepsItsBudget(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		y := newYard(t)
		const tablets = 10
		for i := range tablets {
			y.add(i*leastStep, leastStep, leastStep)
		}
		n, sum := y.live()
		y.slow.perByte = 200 * time.Nanosecond
		y.keyPace.perSecond = 1e9
		const budget, write = 250 * time.Millisecond, 110 * time.Millisecond // half a megabyte at once
		due := func() bool {
			_, due := tablestore.ChooseRuns(y.current(), 1<<60)
			return due
		}
		if !due() {
			t.Fatal("there is nothing to merge")
		}
		before := y.files()
		if err := y.Maintain(t.Context(), budget); err != nil {
			t.Fatal(err)
		}
		if !due() || y.keyPace.perSecond >= 1e9 || y.files() != before {
			t.Fatalf("the merge was not abandoned: pace %v, %d files where there were %d", y.keyPace.perSecond, y.files(), before)
		}
		for calls := 0; due(); calls++ {
			if calls == 100 {
				t.Fatal("no end to the merges")
			}
			started := time.Now()
			if err := y.Maintain(t.Context(), budget); err != nil {
				t.Fatal(err)
			}
			if took := time.Since(started); took > budget+write {
				t.Errorf("call %d: %v with a budget of %v", calls, took, budget)
			}
		}
		if gotN, gotSum := y.live(); gotN != n || gotSum != sum {
			t.Errorf("%d rows with sum %d, want %d and %d", gotN, gotSum, n, sum)
		}
	})
}

func (y *yard) files() (n int) {
	for _, err := range y.slow.List(y.t.Context(), tablet.TablesDir, "") {
		if err != nil {
			y.t.Fatal(err)
		}
		n++
	}
	return n
}

// TestWorkMakesWay: a piece of work waits while an append is under way, but not for ever.
func TestWorkMakesWay(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		until := time.Now().Add(10 * time.Millisecond)
		c := &Cascade{Busy: func() bool { return time.Now().Before(until) }}
		started := time.Now()
		c.makeWay(t.Context())
		if took := time.Since(started); took != 10*time.Millisecond {
			t.Errorf("went on after %v, the append ended after 10ms", took)
		}
		c.Busy = func() bool { return true }
		started = time.Now()
		c.makeWay(t.Context())
		if took := time.Since(started); took != longestWay {
			t.Errorf("waited %v, want %v", took, longestWay)
		}
	})
}
