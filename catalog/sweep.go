package catalog

import (
	"context"
	"errors"
	"fmt"

	"github.com/tidemarkdb/tidemark/objstore"
)

// Swept is what a sweep did.
type Swept struct {
	Files      int // data files deleted
	LogEntries int // log files and checkpoints deleted
}

// Sweep deletes the files that were forgotten longer than the retention ago and that no pin of this process needs, and
// cuts the log behind a checkpoint that old. It may be stopped anywhere and run again; several processes may sweep.
func (c *Catalog) Sweep(ctx context.Context) (Swept, error) {
	if err := c.refuseCommits(); err != nil {
		return Swept{}, err
	}
	c.sweepMu.Lock()
	defer c.sweepMu.Unlock()
	var swept Swept
	s, err := c.Refresh(ctx)
	if err != nil {
		return swept, err
	}
	cutoff := c.options.Now().Add(-c.options.Retention).UnixMicro()
	due := uint64(0)
	for version, g := range s.garbage.All() {
		if g.Micros > cutoff {
			break
		}
		due = version
	}
	horizon := c.pins.advance(due)
	// The horizon is committed before a file is deleted, so that no process opens a version that lost files. What the
	// sweep before deleted leaves the list in the same commit.
	if horizon > s.horizon || c.sweptThrough > 0 && hasGarbage(s, c.sweptThrough) {
		if s, err = c.commit(ctx, nil, []Edit{&expire{Horizon: horizon, Deleted: c.sweptThrough}}, nil); err != nil {
			return swept, err
		}
	}
	if swept.Files, err = c.deleteGarbage(ctx, s, horizon); err != nil {
		return swept, err
	}
	c.sweptThrough = max(c.sweptThrough, horizon)
	swept.LogEntries, err = c.cutLog(ctx, cutoff)
	return swept, err
}

// hasGarbage reports whether the list still has garbage up to a version.
func hasGarbage(s *Snapshot, through uint64) bool {
	for version := range s.garbage.All() {
		return version <= through
	}
	return false
}

// deleteGarbage deletes the files forgotten by commits up to horizon.
func (c *Catalog) deleteGarbage(ctx context.Context, s *Snapshot, horizon uint64) (int, error) {
	deleted := 0
	for version, g := range s.garbage.All() {
		if version > horizon {
			break
		}
		for _, path := range g.Files {
			if err := c.store.Delete(ctx, path); err != nil {
				return deleted, fmt.Errorf("sweeping: %w", err)
			}
			deleted++
		}
	}
	return deleted, nil
}

// cutLog deletes what is before the newest checkpoint that is at least as old as cutoff. The entry of that version
// stays: processes recognise by their newest entry whether the log was cut beyond them.
func (c *Catalog) cutLog(ctx context.Context, cutoff int64) (int, error) {
	checkpoints, err := listVersions(ctx, c.store, checkpointPrefix, 0)
	if err != nil {
		return 0, err
	}
	keep := uint64(0)
	for i := len(checkpoints) - 1; i >= 0 && keep == 0; i-- {
		h, err := readHeader(ctx, c.store, checkpointPath(checkpoints[i]))
		if errors.Is(err, objstore.ErrNotFound) {
			continue // another sweep
		}
		if err != nil {
			return 0, err
		}
		if h.micros <= cutoff {
			keep = checkpoints[i]
		}
	}
	if keep == 0 {
		return 0, nil
	}
	// The checkpoint is about to become the only way into the root: it must be good.
	if _, err := readCheckpoint(ctx, c.store, keep); err != nil {
		return 0, err
	}
	entries, err := listVersions(ctx, c.store, logDir, 0)
	if err != nil {
		return 0, err
	}
	var paths []string
	for _, v := range entries {
		if v < keep {
			paths = append(paths, entryPath(v))
		}
	}
	for _, v := range checkpoints {
		if v < keep {
			paths = append(paths, checkpointPath(v))
		}
	}
	for i, path := range paths {
		if err := c.store.Delete(ctx, path); err != nil {
			return i, fmt.Errorf("cutting the log: %w", err)
		}
	}
	return len(paths), nil
}
