package parquetstore

import (
	"context"
	"sync"

	"github.com/tidemarkdb/tidemark/tablet"
	"github.com/tidemarkdb/tidemark/vec"
)

// SettlingMask is a Mask that scans may apply to pages once for all: what is left of a page goes to the cache, and
// later scans under the same mask read it as if no row had ever been dead. It is optional.
type SettlingMask interface {
	Mask
	// Dead returns the number of dead rows.
	Dead() uint32
	// Count returns the number of dead rows in [from, from+n).
	Count(from, n uint32) uint32
	// Version is a comparable value that two masks of one tablet share only if the same rows are dead.
	Version() any
}

const (
	// settleAfter is how many scans under one mask leave its dead rows out by themselves before pages are settled. To
	// copy the rows that live costs about what the dead ones cost so many scans.
	settleAfter = 3
	// settleShare is how many rows there are to one dead row, at most, for settling to pay.
	settleShare = 256
)

// settled is what is known of a tablet under one mask.
type settled struct {
	mask    SettlingMask
	of      any    // the mask's version
	version uint32 // of its pages in the cache, unique
	rows    int64  // of the tablet
	scans   int    // guarded by settling.mu
	ranks   func() []uint32

	mu   sync.Mutex
	keys []pageKey // of its pages in the cache, perhaps evicted since
	over bool      // its pages are not kept: the cache is full, or another mask has come
}

// settling is the masks that scans of cached tablets meet, the latest of each tablet.
type settling struct {
	mu       sync.Mutex
	byTablet map[tablet.ID]*settled
	versions uint32
}

// Settle notes a scan of the file, which is about to begin, and lets it read pages without the mask's dead rows where
// the same mask has been met by scans before. Nested columns have no pages to keep: such scans go on as they are.
func (f *File) Settle(s *Scan) {
	mask, ok := s.Mask.(SettlingMask)
	if !ok || !f.cache.keepsPages() || uint64(mask.Dead())*settleShare < uint64(f.rows) || !f.readsFlat(s) {
		return
	}
	st, old := f.cache.settling.note(f.tablet, mask, f.rows)
	if old != nil {
		f.cache.giveUp(old)
	}
	s.settled = st
}

func (f *File) readsFlat(s *Scan) bool {
	flat := func(c int) bool {
		return c >= 0 && c < len(f.schema.columns) && f.schema.columns[c].flat(f.schema)
	}
	for _, c := range s.Columns {
		if !flat(c) {
			return false
		}
	}
	for i := range s.Predicates {
		if !flat(s.Predicates[i].Column) {
			return false
		}
	}
	for _, r := range s.Runtime {
		if !flat(r.Column) {
			return false
		}
	}
	for i := range s.Filters {
		for _, c := range s.Filters[i].Columns {
			if !flat(c) {
				return false
			}
		}
	}
	return true
}

// note counts a scan of a tablet under a mask. It returns what the scan may read settled pages of, nil when it is too
// early for them, and what the mask takes the place of.
func (s *settling) note(id tablet.ID, mask SettlingMask, rows int64) (st, old *settled) {
	of := mask.Version()
	s.mu.Lock()
	defer s.mu.Unlock()
	st = s.byTablet[id]
	if st == nil || st.of != of {
		old = st
		s.versions++
		if s.versions == 0 { // that of pages as they are stored
			s.versions++
		}
		st = &settled{mask: mask, of: of, version: s.versions, rows: rows}
		st.ranks = sync.OnceValue(func() []uint32 { return ranksOf(mask, rows) })
		if s.byTablet == nil {
			s.byTablet = map[tablet.ID]*settled{}
		}
		s.byTablet[id] = st
	}
	if st.scans++; st.scans <= settleAfter || st.full() {
		return nil, old
	}
	return st, old
}

func (s *settling) retain(keep func(tablet.ID) bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for id := range s.byTablet {
		if !keep(id) {
			delete(s.byTablet, id)
		}
	}
}

// ranksOf returns the number of live rows before every vec.BatchRows-th row of a file.
func ranksOf(mask SettlingMask, rows int64) []uint32 {
	out := make([]uint32, 1, rows/vec.BatchRows+2)
	for from := int64(0); from < rows; from += vec.BatchRows {
		n := min(vec.BatchRows, rows-from)
		out = append(out, out[len(out)-1]+uint32(n)-mask.Count(uint32(from), uint32(n)))
	}
	return out
}

// rank returns the number of live rows before a row of the file.
func (st *settled) rank(row int64) int {
	ranks, block := st.ranks(), row/vec.BatchRows
	if row == st.rows {
		return int(ranks[len(ranks)-1])
	}
	at := int(ranks[block])
	if rest := row % vec.BatchRows; rest > 0 {
		at += int(rest) - int(st.mask.Count(uint32(block*vec.BatchRows), uint32(rest)))
	}
	return at
}

func (st *settled) full() bool {
	st.mu.Lock()
	defer st.mu.Unlock()
	return st.over
}

// keeps notes a page that goes to the cache, and reports whether it may.
func (st *settled) keeps(key pageKey) bool {
	st.mu.Lock()
	defer st.mu.Unlock()
	if !st.over {
		st.keys = append(st.keys, key)
	}
	return !st.over
}

// giveUp ends the settling of a mask. Scans under way go on with it.
func (c *Cache) giveUp(st *settled) {
	st.mu.Lock()
	keys := st.keys
	st.keys, st.over = nil, true
	st.mu.Unlock()
	for _, key := range keys {
		c.drop(key)
	}
}

// settledVector returns the rows of a page that the mask leaves.
func (f *File) settledVector(ctx context.Context, st *settled, g, leaf, at int, p *pageSpan, counters *Counters) (*vec.Vector, error) {
	first := f.groups[g].first + int64(p.first)
	n := st.rank(first+int64(p.rows)) - st.rank(first)
	if n == p.rows {
		return f.vector(ctx, g, leaf, at, counters)
	}
	key := pageKey{tablet: f.tablet, group: int32(g), leaf: int32(leaf), at: int32(at), version: st.version}
	kept := true
	v, hit, err := f.cache.page(ctx, key, func() (*vec.Vector, int64, error) {
		whole, err := f.vector(ctx, g, leaf, at, counters)
		if err != nil {
			return nil, 0, err
		}
		v := liveRows(whole, st.mask, uint32(first), n)
		size := v.MemoryBytes()
		if v.Dict != nil { // counts with the pages as they are stored
			size -= v.Dict.MemoryBytes()
		}
		if kept = st.keeps(key) && f.cache.hasRoom(key, size); !kept {
			size = unkept
		}
		return v, size, nil
	})
	if !kept {
		f.cache.giveUp(st)
	}
	if hit && counters != nil {
		counters.PagesCached.Add(1)
	}
	return v, err
}

// liveRows copies those of v's rows that live, n of them; the first is row first of the file.
func liveRows(v *vec.Vector, mask Mask, first uint32, n int) *vec.Vector {
	if v.Form == vec.Constant {
		c := *v
		c.N = n
		return &c
	}
	rows := liveList(mask, first, v.N, n)
	out := v
	if v.Form == vec.Dictionary {
		out = vec.DictionaryOf(v, rows, nil)
	} else {
		out = vec.Gather(v, rows, nil)
	}
	// Rows that say that a key was deleted hold NULLs: pages without them have mostly none.
	if out.Valid != nil && out.Valid.Count(out.N) == out.N {
		out.Valid = nil
	}
	return out
}

// liveList returns the n of some rows that live, counted from the first.
func liveList(mask Mask, first uint32, rows, n int) vec.Selection {
	out := make(vec.Selection, 0, n)
	var words []uint64
	var some vec.Selection
	for from := 0; from < rows; from += vec.BatchRows {
		count := min(vec.BatchRows, rows-from)
		words = mask.LiveWords(words, first+uint32(from), uint32(count))
		some = appendLive(some[:0], words, count)
		for _, row := range some {
			out = append(out, row+int32(from))
		}
	}
	return out
}
