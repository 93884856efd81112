package catalog

import (
	"testing"
	"time"

	"github.com/tidemarkdb/tidemark/objstore"
	"github.com/tidemarkdb/tidemark/sqlerr"
	"github.com/tidemarkdb/tidemark/tablet"
)

func (a *aging) sweepOrphans(want int) {
	a.t.Helper()
	if n, err := a.SweepOrphans(a.t.Context()); err != nil || n != want {
		a.t.Fatalf("%d orphans swept, %v, want %d", n, err, want)
	}
}

// stray writes a tablet that no commit names.
func (a *aging) stray(table tablet.TableID) *tablet.Desc {
	a.t.Helper()
	d := desc(10)
	if err := writeFiles(a.t.Context(), a.store, table, d); err != nil {
		a.t.Fatal(err)
	}
	return d
}

func TestOrphansAreSweptOnceNoCommitCanNameThem(t *testing.T) {
	a := newAging(t, objstore.NewMem(nil))
	m := managed("m")
	a.must(m)
	kept := a.add(m.ID, 10)
	forgotten := a.add(m.ID, 20)
	lost := a.stray(m.ID)
	a.must(&ReplaceTablets{Table: m.ID, Remove: []MaskedTablet{{Tablet: forgotten.ID}}})
	a.sweepOrphans(0)

	a.now = a.now.Add(DefaultOrphanAge / 2)
	a.sweepOrphans(0)
	// A transaction that was open for so long may not commit any more: half the time is left until its files go.
	a.now = a.now.Add(time.Second)
	if _, err := a.Commit(t.Context(), insert(m.ID, lost)); sqlerr.Code(err) != sqlerr.SerializationFailure {
		t.Errorf("a commit of files of %v ago: %v", DefaultOrphanAge/2, err)
	}
	a.now = a.now.Add(DefaultOrphanAge / 2)
	a.sweepOrphans(2)
	for d, want := range map[*tablet.Desc]bool{kept: true, forgotten: true, lost: false} {
		if got := a.exists(d.ParquetPath(m.ID)); got != want {
			t.Errorf("tablet %s is there: %v, want %v", d.ID, got, want)
		}
	}
	a.sweepOrphans(0)
}

// TestOrphansOfALoadUnderWayStay leaves alone what a load that takes days has written so far.
func TestOrphansOfALoadUnderWayStay(t *testing.T) {
	a := newAging(t, objstore.NewMem(nil))
	table, s := cdc("k"), stream("s")
	a.must(table, s, &AttachStream{Table: table.ID, Stream: s.Stream.ID})
	a.must(&AcquireWorker{Table: table.ID, Engine: "e", FromEpoch: a.tableByID(table.ID).Ingest.Epoch})
	written := a.stray(table.ID)
	a.now = a.now.Add(3 * DefaultOrphanAge)
	a.sweepOrphans(0)
	a.must(&Load{Table: table.ID, Epoch: a.tableByID(table.ID).Ingest.Epoch, Tablets: []*tablet.Desc{written}})
	a.sweepOrphans(0)
	if !a.exists(written.ParquetPath(table.ID)) {
		t.Error("a tablet of the load is gone")
	}
}

func (a *aging) tableByID(id tablet.TableID) *Table {
	a.t.Helper()
	t, ok := a.Snapshot().TableByID(id)
	if !ok {
		a.t.Fatal("the table is gone")
	}
	return t
}
