package catalog

import (
	"context"
	"fmt"
	"iter"
	"time"

	"github.com/tidemarkdb/tidemark/sqlerr"
	"github.com/tidemarkdb/tidemark/tablet"
)

// Files are written before the commit that names them; when that commit never comes they are orphans. Nobody knows of
// another process what it may still commit, so an orphan is known by its age, which its name tells, and commits of files
// that are nearly as old are refused. An initial load may take longer: its files are safe while it is under way.

// orphanAge returns from which age on a file that nothing names is deleted.
func (c *Catalog) orphanAge() time.Duration { return max(DefaultOrphanAge, c.options.Retention) }

// refuseStale refuses edits that name files so old that a sweep may soon take them for orphans.
func (c *Catalog) refuseStale(edits []Edit) error {
	oldest := c.options.Now().Add(-c.orphanAge() / 2)
	for _, e := range edits {
		if _, load := e.(*Load); load {
			continue // it may take long; see above
		}
		for id := range FilesWritten(e) {
			if id.Time().Before(oldest) {
				return sqlerr.New(sqlerr.SerializationFailure, "the changes were made at %s, longer than %v ago",
					id.Time().UTC().Format(time.RFC3339), c.orphanAge()/2).Hintf("run the transaction again and commit it sooner")
			}
		}
	}
	return nil
}

// FilesWritten yields the files that were written for edits, each by the id in its name.
func FilesWritten(edits ...Edit) iter.Seq[tablet.ID] {
	return func(yield func(tablet.ID) bool) {
		for _, e := range edits {
			for _, id := range writtenFor(e) {
				if !yield(id) {
					return
				}
			}
		}
	}
}

func writtenFor(e Edit) (ids []tablet.ID) {
	descs := func(of ...*tablet.Desc) {
		for _, d := range of {
			if d != nil { // else the edit is refused for that
				ids = append(ids, d.ID)
			}
		}
	}
	bases := func(of []tablet.Base) {
		for _, b := range of {
			descs(b.Desc)
			if !b.Mask.IsZero() {
				ids = append(ids, b.Mask.File)
			}
		}
	}
	masks := func(of []MaskChange) {
		for _, m := range of {
			if !m.To.IsZero() {
				ids = append(ids, m.To.File)
			}
		}
	}
	runs := func(of []tablet.Run) {
		for _, r := range of {
			ids = append(ids, r.ID)
		}
	}
	switch e := e.(type) {
	case *Append:
		descs(e.Tablets...)
	case *Load:
		descs(e.Tablets...)
		runs(e.Runs)
	case *Modify:
		bases(e.Add)
		masks(e.Masks)
	case *Adopt:
		bases(e.Written)
		masks(e.Masks)
		for _, a := range e.Adopted {
			if !a.Mask.IsZero() {
				ids = append(ids, a.Mask.File)
			}
		}
	case *ReplaceTablets:
		bases(e.Add)
		masks(e.Masks)
	case *ReplaceRuns:
		runs(e.Add)
	}
	return ids
}

// SweepOrphans deletes files that no readable version names and no commit can name any more, and returns how many. It
// may be stopped anywhere and run again; several processes may sweep.
func (c *Catalog) SweepOrphans(ctx context.Context) (deleted int, err error) {
	if err := c.refuseCommits(); err != nil {
		return 0, err
	}
	before := c.options.Now().Add(-c.orphanAge())
	old := map[string]tablet.File{}
	for _, dir := range []string{tablet.TablesDir, tablet.MasksDir} {
		for info, err := range c.store.List(ctx, dir, "") {
			if err != nil {
				return 0, fmt.Errorf("looking for orphans: %w", err)
			}
			if f := tablet.ParsePath(info.Path); f.Kind != tablet.UnknownFile && f.ID.Time().Before(before) && info.ModTime.Before(before) {
				old[info.Path] = f
			}
		}
	}
	if len(old) == 0 {
		return 0, nil
	}
	s, err := c.Refresh(ctx) // after the list: what was committed meanwhile is named
	if err != nil {
		return 0, err
	}
	for f := range s.Files() {
		delete(old, f.Path())
	}
	for _, g := range s.garbage.All() {
		for _, path := range g.Files {
			delete(old, path)
		}
	}
	for path, f := range old {
		if t, ok := s.TableByID(f.Table); ok && t.Ingest.Attached() && !t.Ingest.LoadDone() {
			continue // a load may be under way
		}
		if err := c.store.Delete(ctx, path); err != nil {
			return deleted, fmt.Errorf("deleting an orphan: %w", err)
		}
		deleted++
	}
	return deleted, nil
}
