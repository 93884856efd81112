package catalog

import (
	"context"
	"errors"
	"sync"
	"sync/atomic"
	"time"

	"github.com/tidemarkdb/tidemark/objstore"
	"github.com/tidemarkdb/tidemark/sqlerr"
)

// Defaults of [OpenOptions].
const (
	DefaultCheckpointEvery = 256
	DefaultRetention       = time.Hour
)

// OpenOptions tune a catalog. The zero OpenOptions are good for a server.
type OpenOptions struct {
	CheckpointEvery int           // commits between checkpoints; 0: DefaultCheckpointEvery, negative: none
	Retention       time.Duration // how long older versions stay readable; 0: DefaultRetention
	ReadOnly        bool          // refuse commits, write nothing
	Engine          string        // name of this process in the log; "" is anonymous

	// Now is the clock of commits, time.Now when nil.
	Now func() time.Time

	// Report receives faults of work in the background, such as a checkpoint that could not be written; nil drops
	// them. They never endanger a commit.
	Report func(error)
}

func (o *OpenOptions) fillDefaults() {
	if o.CheckpointEvery == 0 {
		o.CheckpointEvery = DefaultCheckpointEvery
	}
	if o.Retention == 0 {
		o.Retention = DefaultRetention
	}
	if o.Now == nil {
		o.Now = time.Now
	}
	if o.Report == nil {
		o.Report = func(error) {}
	}
}

// Catalog is an open data root. All methods may be called from any goroutine.
type Catalog struct {
	store   objstore.Store
	options OpenOptions

	current atomic.Pointer[Snapshot]

	// writing is held by whoever moves current; a channel, so that waiting for it can be cancelled.
	writing chan struct{}
	// seenAlive is when the log entry of current was last known to be in the store, in Unix nanoseconds: by the clock on
	// the wall, which goes on while a machine sleeps. Whoever holds writing sets it.
	seenAlive atomic.Int64

	changedMu sync.Mutex
	changed   chan struct{}

	pins pins

	sweepMu      sync.Mutex
	sweptThrough uint64 // garbage up to this version was deleted by this process

	background     sync.WaitGroup
	checkpointing  atomic.Bool
	stopBackground context.CancelFunc
	backgroundCtx  context.Context
	closed         atomic.Bool
}

// Open reads the newest checkpoint of a root and the commits after it; an empty store is the root at version 0, with
// the schema public. Close the catalog when done.
func Open(ctx context.Context, store objstore.Store, options OpenOptions) (*Catalog, error) {
	options.fillDefaults()
	s, err := loadNewest(ctx, store)
	if err != nil {
		return nil, err
	}
	c := &Catalog{
		store: store, options: options, writing: make(chan struct{}, 1), changed: make(chan struct{}),
	}
	c.seenAlive.Store(time.Now().UnixNano())
	c.backgroundCtx, c.stopBackground = context.WithCancel(context.WithoutCancel(ctx))
	c.current.Store(s)
	return c, nil
}

// Close ends work in the background and waits for it. Snapshots stay usable. It is idempotent.
func (c *Catalog) Close() error {
	c.closed.Store(true)
	c.stopBackground()
	c.background.Wait()
	return nil
}

// Snapshot returns the newest version this process knows, in constant time. Use [Catalog.Pin] to read its files.
func (c *Catalog) Snapshot() *Snapshot { return c.current.Load() }

// Changed returns a channel that is closed when the newest snapshot is no longer the one at the time of the call. Take
// the channel first and the snapshot then, to miss nothing.
func (c *Catalog) Changed() <-chan struct{} {
	c.changedMu.Lock()
	defer c.changedMu.Unlock()
	return c.changed
}

// publish makes s the newest snapshot. The caller holds writing.
func (c *Catalog) publish(s *Snapshot) {
	c.current.Store(s)
	c.seenAlive.Store(time.Now().UnixNano())
	c.changedMu.Lock()
	defer c.changedMu.Unlock()
	close(c.changed)
	c.changed = make(chan struct{})
}

func (c *Catalog) lock(ctx context.Context) error {
	select {
	case c.writing <- struct{}{}:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

func (c *Catalog) unlock() { <-c.writing }

// Refresh applies the commits of other processes and returns the newest snapshot. On an error the snapshot before
// stays the newest.
func (c *Catalog) Refresh(ctx context.Context) (*Snapshot, error) {
	if err := c.lock(ctx); err != nil {
		return nil, err
	}
	defer c.unlock()
	if _, err := c.catchUp(ctx, 0); err != nil {
		return nil, err
	}
	return c.current.Load(), nil
}

// catchUp applies the entries behind current and reports whether one of them carries nonce, when that is not 0. The
// caller holds writing.
func (c *Catalog) catchUp(ctx context.Context, nonce uint64) (mine bool, err error) {
	if err := c.checkAlive(ctx); err != nil {
		return false, err
	}
	for {
		next, h, err := readEntry(ctx, c.store, c.current.Load())
		if errors.Is(err, objstore.ErrNotFound) {
			return mine, nil
		}
		if err != nil {
			return mine, err
		}
		mine = mine || nonce != 0 && h.nonce == nonce
		c.publish(next)
	}
}

// checkAlive finds out whether the log was cut beyond current while this process slept, and loads the newest state if
// so. Sweeps leave the entry of every version from the oldest checkpoint on, so current is in the log unless it was
// passed. The caller holds writing.
func (c *Catalog) checkAlive(ctx context.Context) error {
	if !c.sleptLong() {
		return nil
	}
	asked := time.Now()
	if version := c.current.Load().version; version > 0 {
		_, err := c.store.Stat(ctx, entryPath(version))
		if errors.Is(err, objstore.ErrNotFound) {
			return c.reload(ctx)
		}
		if err != nil {
			return err
		}
	} else if checkpoints, err := listVersions(ctx, c.store, checkpointPrefix, 0); err != nil {
		return err
	} else if len(checkpoints) > 0 {
		return c.reload(ctx) // only then can the first entries have been cut off
	}
	c.seenAlive.Store(asked.UnixNano())
	return nil
}

func (c *Catalog) reload(ctx context.Context) error {
	newest, err := loadNewest(ctx, c.store)
	if err != nil {
		return err
	}
	if have := c.current.Load().version; newest.version <= have {
		return sqlerr.New(sqlerr.DataCorrupted, "%s: %w", entryPath(have), errors.New("the newest log entry has gone")).
			Hintf("restore the folder log/ of the data root from a copy, and run flightsrv check")
	}
	c.publish(newest)
	return nil
}

// Watch refreshes at an interval until ctx ends, so that commits of other processes are seen. report is called with
// each error, and the watch goes on.
func (c *Catalog) Watch(ctx context.Context, interval time.Duration, report func(error)) {
	ticker := time.NewTicker(interval)
	defer ticker.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-ticker.C:
		}
		if _, err := c.Refresh(ctx); err != nil && ctx.Err() == nil {
			report(err)
		}
	}
}
