package catalog

import (
	"context"
	"errors"
	"fmt"

	"github.com/tidemarkdb/tidemark/objstore"
	"golang.org/x/sync/errgroup"
)

// readAhead is how many log entries are fetched at once when a root is opened.
const readAhead = 16

// readEntry applies the entry behind s; ErrNotFound when there is none.
func readEntry(ctx context.Context, store objstore.Store, s *Snapshot) (*Snapshot, header, error) {
	path := entryPath(s.version + 1)
	b, err := store.Get(ctx, path)
	if err != nil {
		return nil, header{}, fmt.Errorf("reading the log: %w", err)
	}
	return applyEntry(path, b, s)
}

func applyEntry(path string, b []byte, s *Snapshot) (*Snapshot, header, error) {
	h, payload, err := decodeLogFile(path, b, entryFile, s.version+1)
	if err != nil {
		return nil, h, err
	}
	next, err := s.follow(path, h, payload)
	return next, h, err
}

// loadNewest reads a root from its newest checkpoint on. A sweep may delete that checkpoint meanwhile, once a newer one
// is old enough: then it begins again.
func loadNewest(ctx context.Context, store objstore.Store) (*Snapshot, error) {
	for attempt := 0; ; attempt++ {
		s, err := tryLoad(ctx, store)
		if err == nil || attempt == 3 || !errors.Is(err, objstore.ErrNotFound) {
			return s, err
		}
	}
}

func tryLoad(ctx context.Context, store objstore.Store) (*Snapshot, error) {
	versions, err := listVersions(ctx, store, checkpointPrefix, 0)
	if err != nil {
		return nil, err
	}
	s := emptyRoot()
	if len(versions) > 0 {
		if s, err = readCheckpoint(ctx, store, versions[len(versions)-1]); err != nil {
			return nil, err
		}
	}
	entries, err := listVersions(ctx, store, logDir, s.version)
	if err != nil {
		return nil, err
	}
	return replay(ctx, store, s, entries)
}

// listVersions returns the versions of the files with a prefix that are above after, ascending.
func listVersions(ctx context.Context, store objstore.Store, prefix string, after uint64) ([]uint64, error) {
	from := ""
	if after > 0 {
		from = fmt.Sprintf("%s%0*d", prefix, versionDigits, after)
	}
	var versions []uint64
	for info, err := range store.List(ctx, prefix, from) {
		if err != nil {
			return nil, fmt.Errorf("listing the log: %w", err)
		}
		if info.Path >= checkpointPrefix && prefix == logDir {
			break // entries sort before checkpoints
		}
		if v, ok := parseVersion(info.Path, prefix); ok {
			versions = append(versions, v)
		}
	}
	return versions, nil
}

func readCheckpoint(ctx context.Context, store objstore.Store, version uint64) (*Snapshot, error) {
	path := checkpointPath(version)
	b, err := store.Get(ctx, path)
	if err != nil {
		return nil, fmt.Errorf("reading the log: %w", err)
	}
	h, payload, err := decodeLogFile(path, b, checkpointFile, version)
	if err != nil {
		return nil, err
	}
	return decodeCheckpoint(path, h, payload)
}

// replay applies the entries of the given versions, which must follow s without a gap.
func replay(ctx context.Context, store objstore.Store, s *Snapshot, versions []uint64) (*Snapshot, error) {
	for len(versions) > 0 {
		window := versions[:min(readAhead, len(versions))]
		versions = versions[len(window):]
		bodies := make([][]byte, len(window))
		group, groupCtx := errgroup.WithContext(ctx)
		for i, v := range window {
			if v != s.version+1+uint64(i) {
				return nil, missing(s.version+1+uint64(i), v)
			}
			group.Go(func() (err error) {
				bodies[i], err = store.Get(groupCtx, entryPath(v))
				return err
			})
		}
		if err := group.Wait(); err != nil {
			return nil, fmt.Errorf("reading the log: %w", err)
		}
		for i, b := range bodies {
			next, _, err := applyEntry(entryPath(window[i]), b, s)
			if err != nil {
				return nil, err
			}
			s = next
		}
	}
	return s, nil
}

func missing(version, behind uint64) error {
	return damaged(entryPath(version), 0, "the file is missing, while version %d is there", behind)
}
