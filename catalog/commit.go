package catalog

import (
	"context"
	"crypto/rand"
	"encoding/binary"
	"errors"
	"fmt"
	"time"

	"github.com/tidemarkdb/tidemark/objstore"
	"github.com/tidemarkdb/tidemark/sqlerr"
	"github.com/tidemarkdb/tidemark/tablet"
)

// maxRebases bounds how often a transaction is made again before it gives way.
const maxRebases = 20

// Rebase makes the edits of a transaction again, to fit newest. fault is why the edits before did not. It must not
// call the catalog's Commit.
type Rebase func(ctx context.Context, newest *Snapshot, edits []Edit, fault error) ([]Edit, error)

// Commit makes the edits in one commit and returns the snapshot it led to. Files the edits name must be durable. When
// other commits come first, the edits are checked against the state these leave. Without edits it returns the newest
// snapshot.
//
// An error that wraps objstore.ErrNotDurable means that the commit was made and is visible, but may be lost if the
// machine loses power; after a different error of the store its outcome can be unknown, which the message says.
func (c *Catalog) Commit(ctx context.Context, edits ...Edit) (*Snapshot, error) {
	return c.commit(ctx, nil, edits, nil)
}

// CommitFrom commits the edits of a transaction that read at base: snapshot isolation, the first committer wins. It
// fails with 40001 when a table the edits touch was dropped or had its columns changed since base, or when an edit no
// longer fits. With rebase not nil, edits that no longer fit are given to it with the newest snapshot, to be made anew
// (such as two masks of one tablet united); an error of rebase is returned.
func (c *Catalog) CommitFrom(ctx context.Context, base *Snapshot, edits []Edit, rebase Rebase) (*Snapshot, error) {
	return c.commit(ctx, base, edits, rebase)
}

func (c *Catalog) commit(ctx context.Context, base *Snapshot, edits []Edit, rebase Rebase) (*Snapshot, error) {
	if len(edits) == 0 {
		return c.Snapshot(), nil
	}
	if err := c.refuseCommits(); err != nil {
		return nil, err
	}
	edits, err := prepare(edits)
	if err != nil {
		return nil, err
	}
	if err := c.refuseStale(edits); err != nil {
		return nil, err
	}
	for attempt := 0; ; attempt++ {
		s, fault, err := c.tryCommit(ctx, base, edits)
		if err != nil || fault == nil {
			return s, err
		}
		if rebase == nil || sqlerr.Code(fault) != sqlerr.SerializationFailure || attempt == maxRebases {
			return nil, fault
		}
		if edits, err = rebase(ctx, s, edits, fault); err != nil {
			return nil, err
		}
		if edits, err = prepare(edits); err != nil {
			return nil, err
		}
	}
}

func (c *Catalog) refuseCommits() error {
	if c.options.ReadOnly {
		return sqlerr.New(sqlerr.ReadOnlyTransaction, "this engine opened the data root read-only").
			Hintf("run the statement on an engine started without --read-only")
	}
	if c.closed.Load() {
		return sqlerr.New(sqlerr.AdminShutdown, "the catalog is closed").Hintf("the engine is shutting down: connect again later")
	}
	return nil
}

// tryCommit commits edits on top of whatever is newest. fault says that they do not fit s, the newest snapshot; err
// that the store failed.
func (c *Catalog) tryCommit(ctx context.Context, base *Snapshot, edits []Edit) (s *Snapshot, fault, err error) {
	if err := c.lock(ctx); err != nil {
		return nil, nil, err
	}
	defer c.unlock()
	for {
		if err := ctx.Err(); err != nil {
			return nil, nil, err // nothing is written yet
		}
		newest := c.current.Load()
		next, h, file, fault := c.propose(base, newest, edits)
		if fault != nil {
			// What this process knows may be old: only the newest state may refuse.
			if _, err := c.catchUp(ctx, 0); err != nil {
				return nil, nil, err
			}
			if c.current.Load() != newest {
				continue
			}
			return newest, fault, nil
		}
		won, err := c.write(ctx, newest, next, h, file)
		if err != nil {
			return nil, nil, &mayBeMade{err}
		}
		if won {
			return c.current.Load(), nil, nil
		}
	}
}

// propose makes the snapshot behind newest and the log file that leads there.
func (c *Catalog) propose(base, newest *Snapshot, edits []Edit) (*Snapshot, header, []byte, error) {
	if base != nil {
		if err := unchangedSince(base, newest, edits); err != nil {
			return nil, header{}, nil, err
		}
	}
	version := newest.version + 1
	next, err := newest.with(edits, version, version, c.options.Now().UnixMicro())
	if err != nil {
		return nil, header{}, nil, err
	}
	payload, err := encodeEntry(c.options.Engine, edits)
	if err != nil {
		return nil, header{}, nil, err
	}
	h := header{kind: entryFile, version: version, previous: newest.checksum, micros: next.micros, nonce: newNonce()}
	file := encodeLogFile(&h, payload)
	next.checksum = h.checksum
	return next, h, file, nil
}

// write puts the entry into the log. It returns false when another commit took the version, which is then applied.
func (c *Catalog) write(ctx context.Context, newest, next *Snapshot, h header, file []byte) (won bool, err error) {
	path := entryPath(h.version)
	putErr := c.store.PutIfAbsent(ctx, path, file)
	if putErr == nil {
		if follows, err := c.confirm(ctx, newest, path); err != nil || !follows {
			return false, err
		}
		c.publish(next)
		c.maybeCheckpoint(next)
		return true, nil
	}
	// Whatever the error says, the log tells who has the version: a store may report a write of ours, made by an
	// attempt whose answer was lost, as somebody else's.
	readCtx, cancel := context.WithTimeout(context.WithoutCancel(ctx), 30*time.Second)
	defer cancel()
	mine, readErr := c.catchUp(readCtx, h.nonce)
	switch {
	case mine && errors.Is(putErr, objstore.ErrNotDurable):
		return false, sqlerr.New(sqlerr.IOError, "commit %d was made but may not survive a power failure: %w", h.version, putErr).
			Hintf("check the disk of the data root")
	case mine:
		c.maybeCheckpoint(c.current.Load())
		return true, nil
	case readErr != nil:
		return false, unknownOutcome(h.version, errors.Join(putErr, readErr))
	case c.current.Load() != newest:
		return false, ctx.Err()
	case errors.Is(putErr, objstore.ErrExists):
		return false, damaged(path, 0, "the store says that the file exists, and does not find it")
	case ctx.Err() == nil && errors.Is(putErr, objstore.ErrBadPath):
		return false, putErr
	}
	return false, unknownOutcome(h.version, putErr)
}

// MayBeMade reports whether the commit that failed with err could have been made all the same, or could still appear.
func MayBeMade(err error) bool {
	var m *mayBeMade
	return errors.As(err, &m)
}

// mayBeMade is an error met while the log was written.
type mayBeMade struct{ error }

func (m *mayBeMade) Unwrap() error { return m.error }

// unknownOutcome is the error of a write that failed and left nothing to be seen; a bucket may still let it appear.
func unknownOutcome(version uint64, err error) error {
	return sqlerr.New(sqlerr.IOError, "writing commit %d: %w", version, err).
		Hintf("the commit is most likely not made: look whether the change is there before trying again")
}

// confirm makes sure that a version just written follows newest in the log. A process that slept longer than the
// retention could otherwise write a version behind the cut, where nobody will ever read it: that file is taken back.
func (c *Catalog) confirm(ctx context.Context, newest *Snapshot, path string) (follows bool, err error) {
	if err := c.checkAlive(ctx); err != nil {
		return false, unknownOutcome(newest.version+1, err)
	}
	if c.current.Load() == newest {
		return true, nil
	}
	if newest.version == 0 {
		// Others have gone on to a checkpoint: with this commit as their first, or long before it.
		return false, unknownOutcome(1, errors.New("the root was filled by another engine meanwhile"))
	}
	if err := c.store.Delete(ctx, path); err != nil {
		return false, fmt.Errorf("deleting a log file written too late: %w", err)
	}
	return false, nil
}

// unchangedSince fails when a table the edits touch is not what the transaction saw.
func unchangedSince(base, newest *Snapshot, edits []Edit) error {
	for _, e := range edits {
		id, ok := touches(e)
		if !ok {
			continue
		}
		before, existed := base.TableByID(id)
		if !existed {
			continue // created in this transaction
		}
		now, exists := newest.TableByID(id)
		if !exists {
			return outdated("table %q was dropped", before.Name)
		}
		if now.SchemaVersion != before.SchemaVersion {
			return outdated("the columns of table %q were changed", before.Name)
		}
		if _, truncates := e.(*Truncate); truncates && now.Tablets.Version() != before.Tablets.Version() {
			return outdated("rows of table %q that this transaction did not see would be truncated", before.Name)
		}
	}
	return nil
}

// touches returns the table an edit of a transaction works on.
func touches(e Edit) (tablet.TableID, bool) {
	switch e := e.(type) {
	case *Modify:
		return e.Table, true
	case *Truncate:
		return e.Table, true
	case *DropTable:
		return e.Table, true
	case *RenameTable:
		return e.Table, true
	case *AlterColumns:
		return e.Table, true
	case *ReplaceTablets:
		return e.Table, true
	}
	return 0, false
}

var previews atomicCounter

// previewBit marks set versions no commit uses.
const previewBit = 1 << 63

// Preview returns the snapshot the edits would lead to, without committing: what a transaction sees of its own work.
// The tables changed have set versions no commit uses.
func (s *Snapshot) Preview(edits ...Edit) (*Snapshot, error) {
	edits, err := prepare(edits)
	if err != nil {
		return nil, err
	}
	next, err := s.with(edits, s.version+1, previewBit|previews.next(), s.micros)
	if err != nil {
		return nil, err
	}
	next.version = s.version
	return next, nil
}

func newNonce() uint64 {
	var b [8]byte
	rand.Read(b[:])
	return binary.LittleEndian.Uint64(b[:]) | 1 // never 0
}
