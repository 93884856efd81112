package catalog

import (
	"context"
	"errors"
	"fmt"
	"io"
	"iter"
	"math"
	"time"

	"github.com/tidemarkdb/tidemark/objstore"
	"github.com/tidemarkdb/tidemark/sqlerr"
)

// PinAt pins the snapshot of a version; 22023 when it is newer than the newest or older than the retention. It reads
// the nearest checkpoint before the version and the commits between.
func (c *Catalog) PinAt(ctx context.Context, version uint64) (*Pin, error) {
	newest := c.Snapshot()
	if version > newest.version {
		var err error
		if newest, err = c.Refresh(ctx); err != nil {
			return nil, err
		}
	}
	if version > newest.version {
		return nil, sqlerr.New(sqlerr.InvalidParameterValue, "version %d does not exist yet: the newest is %d", version, newest.version).
			Hintf("name an older version")
	}
	s, err := c.load(ctx, newest, func(h header) bool { return h.version <= version })
	if err != nil {
		return nil, err
	}
	return c.pinOld(s, fmt.Sprintf("version %d", version))
}

// PinAsOf pins the snapshot that was the newest at a time; 22023 when that is older than the retention.
func (c *Catalog) PinAsOf(ctx context.Context, t time.Time) (*Pin, error) {
	newest, err := c.Refresh(ctx)
	if err != nil {
		return nil, err
	}
	micros := t.UnixMicro()
	s, err := c.load(ctx, newest, func(h header) bool { return h.micros <= micros })
	if err != nil {
		return nil, err
	}
	what := "the state at " + t.UTC().Format(time.RFC3339Nano)
	if s.version == 0 && newest.version > 0 {
		return nil, tooOld(what) // before the first commit
	}
	return c.pinOld(s, what)
}

func (c *Catalog) pinOld(s *Snapshot, what string) (*Pin, error) {
	if s.version < c.Snapshot().horizon || !c.pins.take(s.version) {
		return nil, tooOld(what)
	}
	return &Pin{Snapshot: s, pins: &c.pins}, nil
}

func tooOld(what string) error {
	return sqlerr.New(sqlerr.InvalidParameterValue, "%s is older than the data root keeps", what).
		Hintf("name a later one; versions stay readable for the retention of the servers on the root, an hour unless they say otherwise")
}

// load returns the last version for which within holds; it must hold up to some version and for none after it.
func (c *Catalog) load(ctx context.Context, newest *Snapshot, within func(header) bool) (*Snapshot, error) {
	if within(header{version: newest.version, micros: newest.micros}) {
		return newest, nil
	}
	s, err := c.checkpointWithin(ctx, within)
	if err != nil {
		return nil, err
	}
	for {
		path := entryPath(s.version + 1)
		h, err := readHeader(ctx, c.store, path)
		if errors.Is(err, objstore.ErrNotFound) {
			return nil, tooOld(fmt.Sprintf("version %d", s.version+1)) // the log was cut here
		}
		if err != nil {
			return nil, err
		}
		if !within(h) {
			return s, nil
		}
		if s, _, err = readEntry(ctx, c.store, s); err != nil {
			return nil, err
		}
	}
}

// checkpointWithin reads the newest checkpoint for which within holds, or makes the empty root.
func (c *Catalog) checkpointWithin(ctx context.Context, within func(header) bool) (*Snapshot, error) {
	versions, err := listVersions(ctx, c.store, checkpointPrefix, 0)
	if err != nil {
		return nil, err
	}
	for i := len(versions) - 1; i >= 0; i-- {
		h, err := readHeader(ctx, c.store, checkpointPath(versions[i]))
		if err != nil {
			return nil, err
		}
		if within(h) {
			return readCheckpoint(ctx, c.store, versions[i])
		}
	}
	if !within(header{micros: math.MinInt64}) {
		return nil, tooOld("the state asked for")
	}
	return emptyRoot(), nil
}

// readHeader reads the header of a log file alone, whose checksum it cannot verify: good for choosing a file.
func readHeader(ctx context.Context, store objstore.Store, path string) (header, error) {
	b := make([]byte, headerSize)
	n, err := store.ReadAt(ctx, path, b, 0)
	if err != nil && !errors.Is(err, io.EOF) {
		return header{}, fmt.Errorf("reading the log: %w", err)
	}
	return decodeHeader(path, b[:n])
}

// Forgotten yields the paths of files that commits after a version removed from the snapshot, as far back as they are
// still on disk.
func (s *Snapshot) Forgotten(after uint64) iter.Seq[string] {
	return func(yield func(string) bool) {
		for _, g := range s.garbage.From(after + 1) {
			for _, path := range g.Files {
				if !yield(path) {
					return
				}
			}
		}
	}
}
