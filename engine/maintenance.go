package engine

import (
	"context"
	"maps"
	"slices"
	"sync"
	"time"

	"github.com/tidemarkdb/tidemark/cascade"
	"github.com/tidemarkdb/tidemark/catalog"
	"github.com/tidemarkdb/tidemark/sql"
	"github.com/tidemarkdb/tidemark/sqlerr"
	"github.com/tidemarkdb/tidemark/tablet"
)

// vacuumLimit bounds what VACUUM spends on one table.
const vacuumLimit = 10 * time.Minute

// maintenance knows the tables that statements changed here and whose tablets may be worth rewriting. The zero value
// is ready.
type maintenance struct {
	mu   sync.Mutex
	due  map[tablet.TableID]time.Time // when it was changed last
	held map[tablet.TableID]int       // open transactions that changed it: rewriting its tablets would fail them
	wake chan struct{}                // made at first use
}

func (m *maintenance) signal() chan struct{} {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.wake == nil {
		m.wake = make(chan struct{}, 1)
	}
	return m.wake
}

// changed notes that a table was changed.
func (m *maintenance) changed(id tablet.TableID) {
	m.mu.Lock()
	if m.due == nil {
		m.due = map[tablet.TableID]time.Time{}
	}
	m.due[id] = time.Now()
	m.mu.Unlock()
	select {
	case m.signal() <- struct{}{}:
	default:
	}
}

// hold keeps maintenance from a table until the function returned is called.
func (m *maintenance) hold(id tablet.TableID) func() {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.held == nil {
		m.held = map[tablet.TableID]int{}
	}
	m.held[id]++
	return func() {
		m.mu.Lock()
		if m.held[id]--; m.held[id] == 0 {
			delete(m.held, id)
		}
		m.mu.Unlock()
		m.changed(id)
	}
}

// take returns the tables unchanged since before, and when the next will be; zero when none is due.
func (m *maintenance) take(before time.Time) (ready []tablet.TableID, next time.Time) {
	m.mu.Lock()
	defer m.mu.Unlock()
	for id, at := range m.due {
		switch {
		case m.held[id] > 0: // its end will note it
			delete(m.due, id)
		case !at.After(before):
			delete(m.due, id)
			ready = append(ready, id)
		case next.IsZero() || at.Before(next):
			next = at
		}
	}
	slices.Sort(ready)
	return ready, next
}

// maintain rewrites what is worth it of tables that were changed here, once they have been left alone for a while.
func (e *Engine) maintain(ctx context.Context) {
	for {
		delay, _ := time.ParseDuration(e.settings.get(settingUpkeepDelay)) // kept normal, so it parses
		ready, next := e.maintenance.take(time.Now().Add(-delay))
		for _, id := range ready {
			if err := e.maintainTable(ctx, id, time.Duration(e.settings.integer(settingVacuumBudget))*time.Millisecond); err != nil && ctx.Err() == nil {
				e.log.Warn("maintaining a table", "table_id", id.String(), "error", err)
			}
		}
		var timer <-chan time.Time
		if !next.IsZero() {
			timer = time.After(time.Until(next.Add(delay)))
		}
		select {
		case <-ctx.Done():
			return
		case <-e.maintenance.signal():
			if !sleepFor(ctx, min(delay, 100*time.Millisecond)) { // statements come in bursts
				return
			}
		case <-timer:
		}
	}
}

func sleepFor(ctx context.Context, d time.Duration) bool {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-ctx.Done():
		return false
	case <-timer.C:
		return true
	}
}

// maintainTable vacuums and merges tablets of a table now. A worker here does that for its own.
func (e *Engine) maintainTable(ctx context.Context, id tablet.TableID, budget time.Duration) error {
	table, ok := e.catalog.Snapshot().TableByID(id)
	if !ok {
		return nil
	}
	c := &cascade.Cascade{
		Catalog: e.catalog, Store: e.store, Table: id, Log: e.log.With("table", table.QualifiedName()),
		Threads: func() int { return queryThreads(e.settings.integer(settingThreads)) },
	}
	return guard(func() error { return c.Maintain(ctx, budget) })
}

// vacuum makes the maintenance of the named tables, or of all, run now.
func (s *Session) vacuum(ctx context.Context, names []sql.Name) error {
	if s.tx != nil && !s.tx.implicit {
		return sqlerr.New(sqlerr.ActiveTransaction, "VACUUM cannot run inside a transaction block").Hintf("COMMIT or ROLLBACK first")
	}
	if s.engine.options.ReadOnly {
		return readOnlyEngine()
	}
	snapshot, release := s.snapshot()
	defer release()
	tables := map[tablet.TableID]*catalog.Table{}
	for _, name := range names {
		table, err := s.table(snapshot, name)
		if err != nil {
			return err
		}
		tables[table.ID] = table
	}
	if len(names) == 0 {
		for table := range snapshot.Tables("") {
			tables[table.ID] = table
		}
	}
	for _, id := range slices.Sorted(maps.Keys(tables)) {
		if err := s.engine.maintainTable(ctx, id, vacuumLimit); err != nil {
			return err
		}
	}
	return nil
}
