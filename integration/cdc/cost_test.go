package cdc

import (
	"sync/atomic"
	"testing"
	"time"

	"github.com/tidemarkdb/tidemark/engine"
	. "github.com/tidemarkdb/tidemark/integration/enginetest"
	"github.com/tidemarkdb/tidemark/integration/scripted"
	"github.com/tidemarkdb/tidemark/objstore"
	"github.com/tidemarkdb/tidemark/objstore/errstore"
)

// TestTheDefaultCascadeInterval waits for the first cascade of a table that says nothing of its interval.
func TestTheDefaultCascadeInterval(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	h.table("")
	began := time.Now()
	h.resume()
	UntilRow(t, h.s, ingests, "enabled|streaming|t")
	h.source.Commit(insert(1, 1, "x"))
	h.caughtUp(h.s)
	const staged = "SELECT staging_tablets FROM information_schema.tables WHERE table_name = 'orders'"
	for One(t, h.s, staged) != "0" {
		if time.Since(began) > 10*time.Minute {
			t.Fatal("no cascade came")
		}
		time.Sleep(50 * time.Millisecond)
	}
	if waited := time.Since(began); waited < 55*time.Second {
		t.Errorf("the first cascade came after %v, not 60 seconds", waited)
	}
	h.same(h.s, "orders")
}

// TestAnAppendWritesWhatTheBatchIs counts what appends write and read: the same files of about the same size for a small
// table and for one fifty times as large, and nothing is read of the rows of the base.
func TestAnAppendWritesWhatTheBatchIs(t *testing.T) {
	type cost struct{ created, commits, reads, bytes int64 }
	const appends = 20
	measure := func(rows int64) cost {
		local, err := objstore.OpenLocal(t.TempDir())
		if err != nil {
			t.Fatal(err)
		}
		base := map[string]bool{}
		var counting atomic.Bool
		var created, commits, reads atomic.Int64
		store := errstore.Wrap(local, func(c errstore.Call) errstore.Verdict {
			switch {
			case !counting.Load():
			case c.Op == errstore.OpCreate:
				created.Add(1)
			case c.Op == errstore.OpPutIfAbsent:
				commits.Add(1)
			case (c.Op == errstore.OpReadAt || c.Op == errstore.OpGet) && base[c.Path]:
				reads.Add(1)
			}
			return errstore.Verdict{}
		})
		tablets := func(visit func(objstore.Info)) {
			for info, err := range store.List(t.Context(), "tables/", "") {
				if err != nil {
					t.Fatal(err)
				}
				visit(info)
			}
		}
		h := &house{t: t, database: scripted.NewDatabase()}
		h.source = h.database.Create("orders", orderColumns, 0)
		var changes []scripted.Change
		for id := range rows {
			changes = append(changes, insert(id, id, "loaded"))
		}
		h.source.Commit(changes...)
		h.engine = Open(t, engine.Options{Store: store, Settings: fast(), Register: h.database.Register})
		h.s = Session(t, h.engine)
		h.table("cascade_interval = '1 hour'")
		h.resume()
		h.caughtUp(h.s)
		tablets(func(info objstore.Info) { base[info.Path] = true })
		counting.Store(true)
		for i := range int64(appends) {
			h.source.Commit(update(i*7%rows, i, "changed"), insert(rows+i, i, "new"), remove(i*11%rows))
			h.caughtUp(h.s)
		}
		counting.Store(false)
		out := cost{created: created.Load(), commits: commits.Load(), reads: reads.Load()}
		tablets(func(info objstore.Info) {
			if !base[info.Path] {
				out.bytes += info.Size
			}
		})
		h.same(h.s, "orders")
		return out
	}
	small, large := measure(1000), measure(50_000)
	if small.created != 2*appends || small.commits != appends || small.reads != 0 {
		t.Errorf("%d appends made %d files and %d commits and read %d times of the base", appends, small.created, small.commits, small.reads)
	}
	if large.created != small.created || large.commits != small.commits || large.reads != 0 || large.bytes > small.bytes*11/10 {
		t.Errorf("a small table costs %+v, a large one %+v", small, large)
	}
}
