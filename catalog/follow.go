package catalog

import (
	"context"
	"errors"
	"fmt"

	"github.com/tidemarkdb/tidemark/objstore"
	"github.com/tidemarkdb/tidemark/tablet"
)

// Step is one version of the log after another: the snapshot it led to, and what its commit could have done to rows.
type Step struct {
	*Snapshot
	before *Snapshot
	moves  bool // its commit only moved rows between tablets
}

// ChangesRows reports whether the step may have changed the rows of a table: cascades, vacuums and merges, which move
// rows between tablets, do not, nor does what leaves the table's tablets alone.
func (s *Step) ChangesRows(id tablet.TableID) bool {
	was, had := s.before.tables.Get(id)
	is, has := s.tables.Get(id)
	switch {
	case had != has:
		return true
	case !had || was == is || s.moves:
		return false
	}
	return was.Tablets.Version() != is.Tablets.Version()
}

// After returns the version behind s, whose files the caller keeps pinned. There must be one; 22023 when the log was cut
// beyond it meanwhile.
func (c *Catalog) After(ctx context.Context, s *Snapshot) (*Step, error) {
	path := entryPath(s.version + 1)
	b, err := c.store.Get(ctx, path)
	switch {
	case errors.Is(err, objstore.ErrNotFound):
		return nil, tooOld(fmt.Sprintf("version %d", s.version+1))
	case err != nil:
		return nil, fmt.Errorf("reading the log: %w", err)
	}
	h, payload, err := decodeLogFile(path, b, entryFile, s.version+1)
	if err != nil {
		return nil, err
	}
	next, err := s.follow(path, h, payload)
	if err != nil {
		return nil, err
	}
	edits, err := decodeEntry(payload)
	if err != nil {
		return nil, damaged(path, headerSize, "%w", err)
	}
	step := &Step{Snapshot: next, before: s, moves: true}
	for _, e := range edits {
		step.moves = step.moves && movesRows(e)
	}
	return step, nil
}

// movesRows reports whether an edit leaves every table with the rows it had.
func movesRows(e Edit) bool {
	switch e.(type) {
	case *Adopt, *ReplaceTablets, *ReplaceRuns:
		return true
	}
	return false
}
