package parquetstore

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"sync"

	"github.com/tidemarkdb/tidemark/tablet"
)

// fileCache keeps tablets open with their footers parsed.
type fileCache struct {
	mu    sync.Mutex
	byID  map[tablet.ID]*cachedFile
	limit int
	clock uint64
}

// cachedFile is one open tablet. The cache is one user of its source.
type cachedFile struct {
	file  *File
	err   error
	ready chan struct{} // closed when file or err is there
	used  uint64        // clock of the last use
}

func (c *fileCache) len() int {
	c.mu.Lock()
	defer c.mu.Unlock()
	return len(c.byID)
}

// open returns the tablet's file, which open makes when the cache does not have it, with one more user.
func (c *fileCache) open(ctx context.Context, id tablet.ID, open func() (*File, error)) (*File, error) {
	for {
		c.mu.Lock()
		c.clock++
		e := c.byID[id]
		if e == nil {
			e = &cachedFile{ready: make(chan struct{}), used: c.clock}
			c.byID[id] = e
			c.mu.Unlock()
			return c.fill(id, e, open)
		}
		e.used = c.clock
		c.mu.Unlock()
		select {
		case <-e.ready:
		case <-ctx.Done():
			return nil, ctx.Err()
		}
		switch {
		case e.err == nil:
			if e.file.src.acquire() == nil {
				return e.file, nil
			}
			// Evicted meanwhile: open it again.
		case errors.Is(e.err, context.Canceled), errors.Is(e.err, context.DeadlineExceeded):
			// The scan that opened it was cancelled: that is not this scan's error.
		default:
			return nil, e.err
		}
	}
}

// opened returns the tablet's file with one more user where the cache has it ready, nil otherwise.
func (c *fileCache) opened(id tablet.ID) *File {
	c.mu.Lock()
	defer c.mu.Unlock()
	e := c.byID[id]
	if e == nil || e.file == nil || e.file.src.acquire() != nil {
		return nil
	}
	c.clock++
	e.used = c.clock
	return e.file
}

func (c *fileCache) fill(id tablet.ID, e *cachedFile, open func() (*File, error)) (*File, error) {
	file, err := open()
	if err == nil {
		err = file.src.acquire()
	}
	c.mu.Lock()
	e.file, e.err = file, err
	owned := c.byID[id] == e
	if owned && err != nil {
		delete(c.byID, id)
	}
	var old []*File
	if err == nil && !owned { // dropped meanwhile: the cache is no user of it
		old = append(old, file)
	}
	if owned && err == nil {
		old = append(old, c.evict(e)...)
	}
	c.mu.Unlock()
	close(e.ready)
	for _, f := range old {
		f.src.release()
	}
	return file, err
}

// evict takes the files used longest ago out of the map, a sixteenth at a time so that finding them stays cheap.
func (c *fileCache) evict(keep *cachedFile) []*File {
	if len(c.byID) <= c.limit {
		return nil
	}
	type candidate struct {
		id   tablet.ID
		used uint64
	}
	var all []candidate
	for id, e := range c.byID {
		if e != keep && e.file != nil { // the others are still being opened
			all = append(all, candidate{id, e.used})
		}
	}
	slices.SortFunc(all, func(a, b candidate) int { return cmp.Compare(a.used, b.used) })
	all = all[:min(len(all), len(c.byID)-c.limit+c.limit/16)]
	var old []*File
	for _, x := range all {
		old = append(old, c.byID[x.id].file)
		delete(c.byID, x.id)
	}
	return old
}

func (c *fileCache) retain(keep func(tablet.ID) bool) {
	var old []*File
	c.mu.Lock()
	for id, e := range c.byID {
		if keep(id) {
			continue
		}
		delete(c.byID, id)
		if e.file != nil { // the others are still being opened
			old = append(old, e.file)
		}
	}
	c.mu.Unlock()
	for _, f := range old {
		f.src.release()
	}
}
