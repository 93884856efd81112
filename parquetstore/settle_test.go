package parquetstore

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/RoaringBitmap/roaring/v2"

	"github.com/tidemarkdb/tidemark/tablet"
	"github.com/tidemarkdb/tidemark/vec"
)

// settlingMask is a mask that scans may settle.
type settlingMask struct {
	roaringMask
	dead *roaring.Bitmap
}

func (m settlingMask) Dead() uint32 { return uint32(m.dead.GetCardinality()) }
func (m settlingMask) Version() any { return m.dead }
func (m settlingMask) Count(from, n uint32) uint32 {
	return uint32(m.dead.CardinalityInRange(uint64(from), uint64(from)+uint64(n)))
}

// cachedScanTable is scanTable in a file whose pages a cache keeps.
func cachedScanTable(t *testing.T, r *rand.Rand, rows int, o Options, cache *Cache) (*File, []tablet.Column, [][]vec.Value) {
	t.Helper()
	f, columns, values := scanTable(t, r, rows, o)
	f.tablet, f.cache, f.foreign = tablet.ID(1), cache, false
	return f, columns, values
}

// TestSettledPagesAgainstTheBook scans under masks that come back and masks that change, with caches that hold every
// page, a few and none.
func TestSettledPagesAgainstTheBook(t *testing.T) {
	for seed := range uint64(6) {
		const rows = 20000
		r := rand.New(rand.NewPCG(seed, 77))
		o := Options{PageRows: []int{700, 0, 1000}[seed%3], RowGroupRows: []int{9000, 0, 5000}[seed%3], PageBytes: []int{1000, 0, 0}[seed%3]}
		cache := NewCache(CacheOptions{Bytes: []int64{64 << 20, 1 << 20}[seed/3]})
		f, columns, values := cachedScanTable(t, r, rows, o, cache)
		last := len(columns) - 1
		settled := 0
		for range 12 {
			dead := roaring.New()
			for range r.IntN(3) {
				from := uint64(r.IntN(rows))
				dead.AddRange(from, min(from+uint64(r.IntN(9000)), rows))
			}
			for range 100 + r.IntN(4000) {
				dead.Add(r.Uint32N(rows))
			}
			mask := settlingMask{newMask(dead, rows), dead}
			for range settleAfter + 5 {
				s := &Scan{Position: r.IntN(2) == 0, Except: r.IntN(2) == 0, Counters: new(Counters), Mask: mask, Columns: []int{last}}
				for range r.IntN(3) {
					s.Columns = append(s.Columns, r.IntN(len(columns)))
				}
				for range r.IntN(2) {
					s.Predicates = append(s.Predicates, randomPredicate(r, columns, values))
				}
				if r.IntN(3) == 0 {
					s.Filters = []RowFilter{everyOther([]int{1, 2, 20}[r.IntN(3)], last, r.IntN(2) == 0, dead)}
				}
				f.Settle(s)
				if s.settled != nil {
					settled++
				}
				plain := *s
				plain.settled, plain.Counters = nil, new(Counters)
				what := fmt.Sprintf("seed %d, settled %v, predicates %+v", seed, s.settled != nil, s.Predicates)
				compareColumns(t, what, readAll(t, f, s), readAll(t, f, &plain))
				if a, b := s.Counters, plain.Counters; a.RowsMasked.Load() != b.RowsMasked.Load() || a.RowsScanned.Load() != b.RowsScanned.Load() {
					t.Fatalf("%s: %d of %d rows masked, want %d of %d", what, a.RowsMasked.Load(), a.RowsScanned.Load(), b.RowsMasked.Load(), b.RowsScanned.Load())
				}
			}
		}
		if settled == 0 {
			t.Errorf("seed %d: no scan read settled pages", seed)
		}
	}
}

// TestSettlingGivesWay: pages of a mask that another one replaced leave the cache, and a cache without room for them
// keeps the pages as they are stored.
func TestSettlingGivesWay(t *testing.T) {
	cache := NewCache(CacheOptions{Bytes: 8 << 20})
	f := countingFile(t, OpenOptions{Tablet: 7, Cache: cache})
	scan := func(mask Mask) *Scan {
		s := &Scan{Columns: []int{0, 1}, Mask: mask, Counters: new(Counters)}
		f.Settle(s)
		readAll(t, f, s)
		return s
	}
	maskOf := func(row uint32) settlingMask {
		dead := roaring.New()
		dead.AddRange(uint64(row), uint64(row)+50)
		dead.Add(9950)
		return settlingMask{newMask(dead, 10000), dead}
	}
	first := maskOf(120)
	for range settleAfter {
		if s := scan(first); s.settled != nil {
			t.Fatal("settled before the mask came back")
		}
	}
	stored := cache.Stats().Pages
	if s := scan(first); s.settled == nil {
		t.Fatal("not settled when the mask came back")
	}
	if got := cache.Stats().Pages - stored; got != 4 { // one page in each of two row groups, of two columns
		t.Errorf("%d settled pages are kept, want 4: pages without dead rows need none", got)
	}
	if s := scan(first); s.Counters.PagesDecoded.Load() != 0 || s.settled == nil {
		t.Errorf("%d pages decoded by a scan of settled pages", s.Counters.PagesDecoded.Load())
	}
	scan(maskOf(3120))
	if got := cache.Stats().Pages; got != stored {
		t.Errorf("%d pages after another mask came, want the %d as they are stored", got, stored)
	}
	for i := range cache.shards {
		cache.shards[i].limit = cache.shards[i].bytes
	}
	for range settleAfter {
		scan(first)
	}
	scan(first) // finds no room
	if s := scan(first); s.settled != nil || s.Counters.PagesDecoded.Load() != 0 {
		t.Errorf("in a full cache: settled %v, %d pages decoded", s.settled != nil, s.Counters.PagesDecoded.Load())
	}
	cache.Drop(7)
	if len(cache.settling.byTablet) != 0 {
		t.Error("a tablet that was dropped is still known")
	}
}
