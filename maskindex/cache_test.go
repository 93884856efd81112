package maskindex

import (
	"context"
	"errors"
	"runtime"
	"slices"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/RoaringBitmap/roaring/v2"
)

// staged returns a table with some appends, to be resolved through the given open.
func staged(t *testing.T, appends int, open func(d *disk, name string) (*File, error)) (*table, *Cache) {
	t.Helper()
	tb := newTable(t, 2, Width64)
	for range appends {
		tb.appendChanges()
	}
	files := NewFiles(func(_ context.Context, name string) (*File, error) { return open(tb.disk, name) })
	return tb, NewCache(files, 1<<30)
}

func plainOpen(d *disk, name string) (*File, error) { return d.open(context.Background(), name) }

func TestOneResolutionForManyCallers(t *testing.T) {
	gate := make(chan struct{})
	var opens atomic.Int64
	tb, cache := staged(t, 1, func(d *disk, name string) (*File, error) {
		opens.Add(1)
		<-gate
		return plainOpen(d, name)
	})
	var wg sync.WaitGroup
	results := make([]*Masks, 16)
	for i := range results {
		wg.Go(func() {
			m, err := cache.Masks(context.Background(), tb.set())
			if err != nil {
				t.Error(err)
			}
			results[i] = m
		})
	}
	for { // until all of them wait
		cache.mu.Lock()
		waiting := 0
		for _, f := range cache.flights {
			waiting = f.waiters
		}
		cache.mu.Unlock()
		if waiting == len(results) {
			break
		}
		runtime.Gosched()
	}
	close(gate)
	wg.Wait()
	for _, m := range results {
		if m != results[0] {
			t.Fatal("callers got different resolutions")
		}
	}
	if n := int(opens.Load()); n != len(tb.staging) {
		t.Fatalf("%d sidecars were opened for %d tablets", n, len(tb.staging))
	}
	if s := cache.Stats(); s.Misses != 1 {
		t.Fatalf("%+v", s)
	}
}

func TestFailuresAreNotCached(t *testing.T) {
	fail := true
	tb, cache := staged(t, 2, func(d *disk, name string) (*File, error) {
		if fail {
			return nil, errors.New("unplugged")
		}
		return plainOpen(d, name)
	})
	if _, err := cache.Masks(context.Background(), tb.set()); err == nil || cache.Stats().Sets != 0 {
		t.Fatalf("err=%v, stats %+v", err, cache.Stats())
	}
	fail = false
	if _, err := cache.Masks(context.Background(), tb.set()); err != nil {
		t.Fatal(err)
	}
}

func TestAPanicWhileOpeningIsAnError(t *testing.T) {
	tb, cache := staged(t, 2, func(*disk, string) (*File, error) { panic("boom") })
	if _, err := cache.Masks(context.Background(), tb.set()); err == nil {
		t.Fatal("no error")
	}
}

func TestACallerThatLeavesDoesNotFailTheOthers(t *testing.T) {
	gate, entered := make(chan struct{}), make(chan struct{})
	tb, cache := staged(t, 1, func(d *disk, name string) (*File, error) {
		select {
		case entered <- struct{}{}:
		case <-gate:
		}
		<-gate
		return plainOpen(d, name)
	})
	ctx, cancel := context.WithCancel(context.Background())
	first, second := make(chan error), make(chan error)
	go func() {
		_, err := cache.Masks(ctx, tb.set())
		first <- err
	}()
	<-entered
	go func() {
		_, err := cache.Masks(context.Background(), tb.set())
		second <- err
	}()
	for waiting := 0; waiting != 2; runtime.Gosched() {
		cache.mu.Lock()
		for _, f := range cache.flights {
			waiting = f.waiters
		}
		cache.mu.Unlock()
	}
	cancel()
	if err := <-first; !errors.Is(err, context.Canceled) {
		t.Fatal(err)
	}
	close(gate)
	if err := <-second; err != nil {
		t.Fatal(err)
	}
}

func TestWorkNobodyWaitsForIsCancelled(t *testing.T) {
	entered := make(chan struct{}, 64)
	block := make(chan struct{})
	tb, cache := staged(t, 1, func(*disk, string) (*File, error) {
		entered <- struct{}{}
		<-block
		return nil, errors.New("too late")
	})
	defer close(block)
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan error)
	go func() {
		_, err := cache.Masks(ctx, tb.set())
		done <- err
	}()
	<-entered
	cache.mu.Lock()
	var f *flight
	for _, f = range cache.flights {
	}
	cache.mu.Unlock()
	cancel()
	if err := <-done; !errors.Is(err, context.Canceled) {
		t.Fatal(err)
	}
	<-f.done // ends although the file never opens
	if !errors.Is(f.err, context.Canceled) {
		t.Fatal(f.err)
	}
}

func TestTheBudgetEvictsTheOldest(t *testing.T) {
	tb, cache := staged(t, 0, plainOpen)
	cache.budgetBytes = 1
	for range 5 {
		tb.appendChanges()
		if _, err := cache.Masks(context.Background(), tb.set()); err != nil {
			t.Fatal(err)
		}
		if s := cache.Stats(); s.Sets != 1 {
			t.Fatalf("%+v", s)
		}
	}
	if s := cache.Stats(); s.Evicted != 4 || s.Derived != 4 {
		t.Fatalf("%+v", s)
	}
	cache.DropTable(9)
	if s := cache.Stats(); s.Sets != 0 || s.Bytes != 0 {
		t.Fatalf("%+v", s)
	}
}

func TestOfATableTheLatestSetsAreKept(t *testing.T) {
	tb, cache := staged(t, 0, plainOpen)
	first := tb.set()
	for i := range 2 * setsPerTable {
		tb.appendChanges()
		if _, err := cache.Masks(context.Background(), tb.set()); err != nil {
			t.Fatal(err)
		}
		if i == 0 {
			first = tb.set()
		} else if _, err := cache.Masks(context.Background(), first); err != nil { // who still reads it keeps it
			t.Fatal(err)
		}
	}
	if s := cache.Stats(); s.Sets != setsPerTable || s.Evicted != setsPerTable || s.Misses != 2*setsPerTable {
		t.Fatalf("%+v", s)
	}
	cache.DropTable(9)
	if s := cache.Stats(); s.Sets != 0 || s.Bytes != 0 || len(cache.tables) != 0 {
		t.Fatalf("%+v", s)
	}
}

func TestAnUncoveredBaseTabletIsAnError(t *testing.T) {
	tb, cache := staged(t, 1, plainOpen)
	base, err := NewBase("gap", []Tablet{{ID: 77, Rows: 10}}, nil)
	if err != nil {
		t.Fatal(err)
	}
	set := tb.set()
	set.Base = base
	if _, err := cache.Masks(context.Background(), set); err == nil {
		t.Fatal("a base tablet without keys was taken for one without old versions")
	}
}

func TestMasksOfTablesWithoutChangesAreTheCommitted(t *testing.T) {
	base, err := NewBase(1, []Tablet{{ID: 1, Rows: 10, Committed: roaring.BitmapOf(3)}, {ID: 2, Rows: 5}}, nil)
	if err != nil {
		t.Fatal(err)
	}
	m, err := NewCache(nil, 0).Masks(context.Background(), Set{Table: 1, Base: base})
	if err != nil {
		t.Fatal(err)
	}
	one, _ := m.Of(1)
	two, _ := m.Of(2)
	if one.Dead() != 1 || !one.Contains(3) || !two.None() || two.Rows() != 5 || m.LiveRows() != 14 {
		t.Fatal(one, two)
	}
	if _, err := m.Of(3); err == nil {
		t.Fatal("a tablet outside of the set has a mask")
	}
	if _, err := NewBase(1, []Tablet{{ID: 1, Rows: 10, Committed: roaring.BitmapOf(10)}}, nil); err == nil {
		t.Fatal("a mask beyond its tablet was accepted")
	}
	if _, err := NewBase([]int{1}, nil, nil); err == nil {
		t.Fatal("an identity that cannot be compared was accepted")
	}
}

// Readers of many snapshots, a writer that appends, and files that are dropped all the while.
func TestConcurrentReaders(t *testing.T) {
	tb, _ := staged(t, 0, plainOpen)
	var sets []Set
	for range 12 {
		tb.appendChanges()
		sets = append(sets, tb.set())
	}
	want := make([]uint64, len(sets))
	for i, s := range sets {
		r, err := extend(context.Background(), tb.files, defaultLimits, bare(s), s)
		if err != nil {
			t.Fatal(err)
		}
		want[i] = r.masks.LiveRows()
	}
	cache := NewCache(tb.files, 30<<10)
	var wg sync.WaitGroup
	for w := range 8 {
		wg.Go(func() {
			for i := range 60 {
				at := (i*7 + w*5) % len(sets)
				m, err := cache.Masks(context.Background(), sets[at])
				if err != nil {
					t.Error(err)
					return
				}
				if n := m.LiveRows(); n != want[at] {
					t.Errorf("set %d has %d live rows, not %d", at, n, want[at])
				}
				for id := range m.over {
					k, _ := m.Of(id)
					k.LiveWords(nil, 0, k.Rows())
				}
			}
		})
	}
	wg.Go(func() {
		for i := range 200 {
			name := sets[len(sets)-1].Staging[i%len(sets)].Keys
			if err := tb.files.Drop(name); err != nil {
				t.Error(err)
			}
			runtime.Gosched()
		}
	})
	wg.Wait()
}

func TestFilesCloseWhenTheirLastUserLeaves(t *testing.T) {
	keys := makeKeys("random", Width64, 10, 1)
	b := sidecarBytes(t, 1, keys, nil)
	closed := map[string]int{}
	files := NewFiles(func(_ context.Context, name string) (*File, error) {
		f, err := OpenReader(name, byteReader(b), int64(len(b)))
		f.unmap = func() error { closed[name]++; return nil }
		return f, err
	})
	ctx := context.Background()
	a, release, err := files.Acquire(ctx, "a")
	if err != nil {
		t.Fatal(err)
	}
	again, releaseAgain, err := files.Acquire(ctx, "a")
	if err != nil || again != a {
		t.Fatal("not shared", err)
	}
	_, releaseB, _ := files.Acquire(ctx, "b")
	releaseB()
	if err := files.Retain(func(string) bool { return false }); err != nil || closed["b"] != 1 || closed["a"] != 0 || files.Len() != 0 {
		t.Fatal(closed, err)
	}
	release()
	release() // once counts
	if closed["a"] != 0 {
		t.Fatal("closed under a user")
	}
	releaseAgain()
	if closed["a"] != 1 {
		t.Fatal("not closed after the last user")
	}
	if err := files.Close(); err != nil {
		t.Fatal(err)
	}
	if _, _, err := files.Acquire(ctx, "a"); err == nil {
		t.Fatal("acquired after Close")
	}
}

func TestAdoptOfUnknownTabletsIsRefused(t *testing.T) {
	tb, _ := staged(t, 3, plainOpen)
	from := tb.set()
	if _, err := tb.cache.Masks(context.Background(), from); err != nil {
		t.Fatal(err)
	}
	base, err := NewBase("other", []Tablet{{ID: 999, Rows: 3}}, nil)
	if err != nil {
		t.Fatal(err)
	}
	last := from.Staging[len(from.Staging)-1].Append
	rest := slices.DeleteFunc(slices.Clone(from.Staging), func(x Tablet) bool { return x.Append < last })
	if tb.cache.Adopt(from, Set{Table: 9, Base: base, Staging: rest}, nil) {
		t.Fatal("derived the masks of a tablet never seen")
	}
	wrong := slices.Clone(rest)
	wrong[0].ID = 12345
	if tb.cache.Adopt(from, Set{Table: 9, Base: tb.view, Staging: wrong}, nil) {
		t.Fatal("derived from other staging tablets")
	}
}

func TestSetsThatContradictThemselvesAreRefused(t *testing.T) {
	tb, cache := staged(t, 2, plainOpen)
	first := tb.staging[0]
	for what, change := range map[string]func(s *Set){
		"committed mask in staging": func(s *Set) { s.Staging[0].Committed = roaring.BitmapOf(0) },
		"descending appends":        func(s *Set) { s.Staging[0].Append = 1 << 40 },
		"tablet in base and staging": func(s *Set) {
			s.Base, _ = NewBase("b", []Tablet{{ID: first.ID, Rows: first.Rows}}, nil)
		},
		"half an append truncates": func(s *Set) {
			s.Staging = append(s.Staging, Tablet{ID: 500, Append: s.Staging[len(s.Staging)-1].Append, TruncateBefore: true},
				Tablet{ID: 501, Append: s.Staging[len(s.Staging)-1].Append})
		},
		"rows that the sidecar has not": func(s *Set) { s.Staging[0].Rows++ },
	} {
		set := tb.set()
		change(&set)
		if _, err := cache.Masks(context.Background(), set); err == nil {
			t.Errorf("%s was accepted", what)
		}
	}
}
