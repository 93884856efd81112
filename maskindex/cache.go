package maskindex

import (
	"container/list"
	"context"
	"encoding/binary"
	"slices"
	"sync"

	"github.com/zeebo/xxh3"
)

// Cache resolves masks and keeps them by tablet set. It is safe for concurrent use.
//
// A set is resolved once, however many callers ask, and from the resolution of the longest run of its first staging
// tablets over the same base that is cached. Resolutions are dropped, least recently used first, when they exceed the
// budget; the newest always stays. Of one table at most [setsPerTable] are kept: sets are superseded with every append, and
// whoever reads a set once mostly never asks for it again.
type Cache struct {
	files       *Files
	budgetBytes int64
	limits      limits

	mu      sync.Mutex
	entries map[setKey]*list.Element // of *cached
	recent  *list.List               // most recently used first
	tables  map[uint64]int           // how many entries are of a table
	bases   map[*Base]int            // bases that entries keep, with how many
	flights map[setKey]*flight
	stats   CacheStats
}

// CacheStats counts what a cache did since it was made.
type CacheStats struct {
	Hits, Misses, Derived, Evicted uint64
	Sets                           int   // resolutions held
	Bytes                          int64 // memory they take: bases once, parts that resolutions share in each
}

// setKey identifies a set: table, base, and number and hash of the staging tablets.
type setKey struct {
	table   uint64
	base    any
	staging int
	hash    xxh3.Uint128
}

type cached struct {
	key setKey
	res *resolution
}

// flight is a resolution under way.
type flight struct {
	done    chan struct{} // closed when res or err is set
	res     *resolution
	err     error
	waiters int // guarded by Cache.mu
	cancel  context.CancelFunc
}

// NewCache returns a cache that reads key files through files and holds about budgetBytes of masks.
func NewCache(files *Files, budgetBytes int64) *Cache {
	return &Cache{
		files: files, budgetBytes: budgetBytes, limits: defaultLimits, entries: map[setKey]*list.Element{}, recent: list.New(),
		tables: map[uint64]int{}, bases: map[*Base]int{}, flights: map[setKey]*flight{},
	}
}

// prefixKeys returns the identities of the sets of the first 0, 1, ... staging tablets.
func prefixKeys(set *Set) []setKey {
	keys := make([]setKey, len(set.Staging)+1)
	keys[0] = setKey{table: set.Table, base: set.Base.identity}
	var buf [48]byte
	for i, t := range set.Staging {
		h := keys[i].hash
		binary.LittleEndian.PutUint64(buf[0:], h.Lo)
		binary.LittleEndian.PutUint64(buf[8:], h.Hi)
		binary.LittleEndian.PutUint64(buf[16:], t.ID)
		binary.LittleEndian.PutUint64(buf[24:], uint64(t.Append))
		binary.LittleEndian.PutUint32(buf[32:], t.Rows)
		buf[36], buf[37] = flag(t.TruncateBefore), flag(t.Disjoint)
		keys[i+1] = setKey{set.Table, set.Base.identity, i + 1, xxh3.Hash128(buf[:])}
	}
	return keys
}

func flag(b bool) byte {
	if b {
		return 1
	}
	return 0
}

// Masks returns the masks of a set. A caller whose ctx ends stops waiting; the work stops when nobody waits.
func (c *Cache) Masks(ctx context.Context, set Set) (*Masks, error) {
	r, err := c.resolution(ctx, set)
	if err != nil {
		return nil, err
	}
	return r.masks, nil
}

// resolution returns the cached resolution of a set or waits for one.
func (c *Cache) resolution(ctx context.Context, set Set) (*resolution, error) {
	if err := set.check(); err != nil {
		return nil, err
	}
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	if len(set.Staging) == 0 {
		return bare(set), nil
	}
	keys := prefixKeys(&set)
	key := keys[len(keys)-1]
	c.mu.Lock()
	if e := c.lookup(key); e != nil {
		c.stats.Hits++
		c.mu.Unlock()
		return e, nil
	}
	f := c.flights[key]
	if f == nil {
		c.stats.Misses++
		f = c.start(ctx, set, keys)
	}
	f.waiters++
	c.mu.Unlock()

	select {
	case <-f.done:
		c.leave(key, f)
		if f.err != nil {
			return nil, f.err
		}
		return f.res, nil
	case <-ctx.Done():
		c.leave(key, f)
		return nil, ctx.Err()
	}
}

// lookup returns a cached resolution and marks it used.
func (c *Cache) lookup(key setKey) *resolution {
	e := c.entries[key]
	if e == nil {
		return nil
	}
	c.recent.MoveToFront(e)
	return e.Value.(*cached).res
}

// start begins to resolve a set, detached from the caller's ctx but for its values.
func (c *Cache) start(ctx context.Context, set Set, keys []setKey) *flight {
	key := keys[len(keys)-1]
	prev := bare(set)
	for i := len(keys) - 2; i > 0; i-- {
		if r := c.lookup(keys[i]); r != nil {
			prev = r
			c.stats.Derived++
			break
		}
	}
	ctx, cancel := context.WithCancel(context.WithoutCancel(ctx))
	f := &flight{done: make(chan struct{}), cancel: cancel}
	c.flights[key] = f
	set.Staging = slices.Clone(set.Staging)
	go func() {
		defer cancel()
		f.err = guard("resolution", func() (err error) {
			f.res, err = extend(ctx, c.files, c.limits, prev, set)
			return err
		})
		c.mu.Lock()
		defer c.mu.Unlock()
		if c.flights[key] == f {
			delete(c.flights, key)
			if f.err == nil {
				c.insert(key, f.res)
			}
		}
		close(f.done)
	}()
	return f
}

// leave takes a waiter off a flight and cancels it when it was the last.
func (c *Cache) leave(key setKey, f *flight) {
	c.mu.Lock()
	defer c.mu.Unlock()
	f.waiters--
	if f.waiters > 0 {
		return
	}
	f.cancel()
	if c.flights[key] == f { // still running: the next caller starts afresh
		delete(c.flights, key)
	}
}

// setsPerTable is how many resolutions of a table are kept.
const setsPerTable = 8

// insert adds a resolution and evicts down to the budget and to setsPerTable.
func (c *Cache) insert(key setKey, r *resolution) {
	if old := c.entries[key]; old != nil {
		c.remove(old)
	}
	c.entries[key] = c.recent.PushFront(&cached{key, r})
	c.stats.Bytes += r.bytes
	if c.bases[r.set.Base]++; c.bases[r.set.Base] == 1 {
		c.stats.Bytes += r.set.Base.bytes
	}
	if c.tables[key.table]++; c.tables[key.table] > setsPerTable {
		oldest := c.recent.Back()
		for oldest.Value.(*cached).key.table != key.table {
			oldest = oldest.Prev()
		}
		c.remove(oldest)
		c.stats.Evicted++
	}
	for c.stats.Bytes > c.budgetBytes && c.recent.Len() > 1 {
		c.remove(c.recent.Back())
		c.stats.Evicted++
	}
}

func (c *Cache) remove(e *list.Element) {
	v := c.recent.Remove(e).(*cached)
	delete(c.entries, v.key)
	if c.tables[v.key.table]--; c.tables[v.key.table] == 0 {
		delete(c.tables, v.key.table)
	}
	c.stats.Bytes -= v.res.bytes
	base := v.res.set.Base
	if c.bases[base]--; c.bases[base] == 0 {
		delete(c.bases, base)
		c.stats.Bytes -= base.bytes
	}
}

// DropTable forgets the resolutions of a table.
func (c *Cache) DropTable(table uint64) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for e := c.recent.Front(); e != nil; {
		next := e.Next()
		if e.Value.(*cached).key.table == table {
			c.remove(e)
		}
		e = next
	}
	for k := range c.flights { // they finish for who waits, and are not kept
		if k.table == table {
			delete(c.flights, k)
		}
	}
}

// Stats returns counters and sizes.
func (c *Cache) Stats() CacheStats {
	c.mu.Lock()
	defer c.mu.Unlock()
	s := c.stats
	s.Sets = c.recent.Len()
	return s
}
