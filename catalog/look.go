package catalog

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/tidemarkdb/tidemark/objstore"
)

// Look returns the newest snapshot like [Catalog.Refresh], every commit that other processes made before the call
// included, and is made to be called at the start of every query: when there is nothing new it costs one look for the
// name that the next commit has, and waits for no one.
func (c *Catalog) Look(ctx context.Context) (*Snapshot, error) {
	s := c.Snapshot()
	if c.sleptLong() {
		return c.Refresh(ctx) // the next commit may have been cut off already
	}
	_, err := c.store.Stat(ctx, entryPath(s.version+1))
	switch {
	case errors.Is(err, objstore.ErrNotFound):
		return s, nil
	case err != nil:
		return nil, fmt.Errorf("looking for newer commits: %w", err)
	}
	return c.Refresh(ctx)
}

// sleptLong reports whether the log entry of current went unseen for so long that it could have been cut off by a sweep.
func (c *Catalog) sleptLong() bool {
	return time.Since(time.Unix(0, c.seenAlive.Load())) >= c.options.Retention/4
}
