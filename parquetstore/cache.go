package parquetstore

import (
	"context"
	"errors"
	"math"
	"sync"
	"sync/atomic"

	"github.com/tidemarkdb/tidemark/tablet"
	"github.com/tidemarkdb/tidemark/vec"
)

// Cache keeps decoded pages and footers of our own tablets, shared by all scans. Pages that are asked for by several
// scans at once are decoded by one of them. All methods may be called from any goroutine.
type Cache struct {
	shards []cacheShard
	hits   atomic.Int64
	misses atomic.Int64
	files  fileCache

	settling settling
}

// CacheOptions sizes a cache.
type CacheOptions struct {
	Bytes int64 // of decoded pages; 0 keeps footers only
	Files int   // open files at most; 0: 16,384. More stay open while scans use them
}

const (
	defaultFiles = 16 << 10
	shardBytes   = 32 << 20 // a shard gets about this, up to maxShards
	maxShards    = 64
)

// NewCache returns an empty cache.
func NewCache(o CacheOptions) *Cache {
	if o.Files <= 0 {
		o.Files = defaultFiles
	}
	shards := int(min(max(o.Bytes/shardBytes, 1), maxShards))
	c := &Cache{shards: make([]cacheShard, shards)}
	for i := range c.shards {
		s := &c.shards[i]
		s.limit, s.pages = o.Bytes/int64(shards), map[pageKey]*cachedPage{}
		s.lru.next, s.lru.prev = &s.lru, &s.lru
	}
	c.files.limit, c.files.byID = o.Files, map[tablet.ID]*cachedFile{}
	return c
}

// pageKey names a decoded page.
type pageKey struct {
	tablet          tablet.ID
	group, leaf, at int32
	version         uint32 // 0: as it is stored; else what some mask leaves of it
}

func (k pageKey) hash() uint64 {
	return mix64(uint64(k.tablet) ^ uint64(k.group)<<40 ^ uint64(k.leaf)<<20 ^ uint64(k.at) ^ uint64(k.version)<<32)
}

// cachedPage is one page, in the list of its shard from most to least recently used.
type cachedPage struct {
	key        pageKey
	v          *vec.Vector
	bytes      int64
	err        error
	ready      chan struct{} // closed when v or err is there
	loaded     bool
	prev, next *cachedPage
}

type cacheShard struct {
	mu    sync.Mutex
	pages map[pageKey]*cachedPage
	lru   cachedPage // the list's head: next is the most recently used
	bytes int64
	limit int64
	_     [64]byte // shards do not share cache lines
}

func (p *cachedPage) unlink() { p.prev.next, p.next.prev = p.next, p.prev }

func (s *cacheShard) pushFront(p *cachedPage) {
	p.prev, p.next = &s.lru, s.lru.next
	p.prev.next, p.next.prev = p, p
}

// page returns the page of a key, which load makes when the cache does not have it, with its size in bytes.
func (c *Cache) page(ctx context.Context, key pageKey, load func() (*vec.Vector, int64, error)) (v *vec.Vector, hit bool, err error) {
	s := c.shardOf(key)
	for {
		s.mu.Lock()
		p := s.pages[key]
		if p == nil {
			p = &cachedPage{key: key, ready: make(chan struct{})}
			s.pages[key] = p
			s.mu.Unlock()
			c.misses.Add(1)
			v, err := s.load(p, load)
			return v, false, err
		}
		if p.loaded {
			p.unlink()
			s.pushFront(p)
			s.mu.Unlock()
			c.hits.Add(1)
			return p.v, true, nil
		}
		s.mu.Unlock()
		select {
		case <-p.ready:
		case <-ctx.Done():
			return nil, false, ctx.Err()
		}
		if p.err == nil {
			c.hits.Add(1)
			return p.v, true, nil
		}
		// The scan that loaded it may have been cancelled: that is not this scan's error.
		if !errors.Is(p.err, context.Canceled) && !errors.Is(p.err, context.DeadlineExceeded) {
			return nil, false, p.err
		}
	}
}

var errLoadFailed = errors.New("loading a page ended without a result")

func (s *cacheShard) load(p *cachedPage, load func() (*vec.Vector, int64, error)) (*vec.Vector, error) {
	p.err = errLoadFailed
	defer func() { // also when load panics: others wait
		s.mu.Lock()
		if s.pages[p.key] == p {
			if p.err == nil && p.bytes <= s.limit {
				p.loaded = true
				s.bytes += p.bytes
				s.pushFront(p)
				s.evict()
			} else {
				delete(s.pages, p.key)
			}
		}
		s.mu.Unlock()
		close(p.ready)
	}()
	p.v, p.bytes, p.err = load()
	return p.v, p.err
}

// unkept is the size of a page that the cache should not keep.
const unkept = math.MaxInt64

func (c *Cache) shardOf(key pageKey) *cacheShard { return &c.shards[key.hash()%uint64(len(c.shards))] }

// hasRoom reports whether a page of a size can be kept without another leaving.
func (c *Cache) hasRoom(key pageKey, size int64) bool {
	s := c.shardOf(key)
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.bytes+size <= s.limit
}

// drop forgets a page, if it is there.
func (c *Cache) drop(key pageKey) {
	s := c.shardOf(key)
	s.mu.Lock()
	defer s.mu.Unlock()
	if p := s.pages[key]; p != nil && p.loaded {
		s.remove(p)
	}
}

// smallestCache is the size of the smallest shard that keeps pages: less would hold hardly one.
const smallestCache = 64 << 10

// keepsPages reports whether there is a cache and it has room for pages.
func (c *Cache) keepsPages() bool { return c != nil && c.shards[0].limit >= smallestCache }

func (s *cacheShard) evict() {
	for s.bytes > s.limit {
		s.remove(s.lru.prev)
	}
}

func (s *cacheShard) remove(p *cachedPage) {
	p.unlink()
	delete(s.pages, p.key)
	s.bytes -= p.bytes
}

// File returns the open file of a tablet, which the caller must close, when the cache has it; nil otherwise.
func (c *Cache) File(id tablet.ID) *File { return c.files.opened(id) }

// Retain forgets the pages and footers of the tablets that keep does not report. Scans that still read them go on.
func (c *Cache) Retain(keep func(tablet.ID) bool) {
	for i := range c.shards {
		s := &c.shards[i]
		s.mu.Lock()
		for key, p := range s.pages {
			if keep(key.tablet) {
				continue
			}
			if p.loaded {
				s.remove(p)
			} else {
				delete(s.pages, key)
			}
		}
		s.mu.Unlock()
	}
	c.settling.retain(keep)
	c.files.retain(keep)
}

// Drop forgets a tablet: its pages and its footer.
func (c *Cache) Drop(id tablet.ID) { c.Retain(func(other tablet.ID) bool { return other != id }) }

// CacheStats describes a cache at one moment.
type CacheStats struct {
	Bytes        int64 // of decoded pages
	Pages        int
	Files        int
	Hits, Misses int64 // of pages, since the start
}

// Stats returns what the cache holds and did.
func (c *Cache) Stats() CacheStats {
	st := CacheStats{Hits: c.hits.Load(), Misses: c.misses.Load(), Files: c.files.len()}
	for i := range c.shards {
		s := &c.shards[i]
		s.mu.Lock()
		st.Bytes += s.bytes
		st.Pages += len(s.pages)
		s.mu.Unlock()
	}
	return st
}
