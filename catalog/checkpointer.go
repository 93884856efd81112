package catalog

import (
	"context"
	"errors"
	"fmt"

	"github.com/tidemarkdb/tidemark/objstore"
)

// maybeCheckpoint starts a checkpoint of s in the background when its turn has come. A checkpoint that is not written
// costs the next Open some time and nothing else.
func (c *Catalog) maybeCheckpoint(s *Snapshot) {
	every := c.options.CheckpointEvery
	if every < 0 || s.version%uint64(every) != 0 || c.closed.Load() || c.checkpointing.Swap(true) {
		return
	}
	c.background.Go(func() {
		defer c.checkpointing.Store(false)
		if err := c.writeCheckpoint(c.backgroundCtx, s); err != nil && c.backgroundCtx.Err() == nil {
			c.options.Report(err)
		}
	})
}

// Checkpoint writes a checkpoint of the newest snapshot now, so that the root opens fastest.
func (c *Catalog) Checkpoint(ctx context.Context) error {
	if err := c.refuseCommits(); err != nil {
		return err
	}
	return c.writeCheckpoint(ctx, c.Snapshot())
}

func (c *Catalog) writeCheckpoint(ctx context.Context, s *Snapshot) (err error) {
	defer func() {
		if p := recover(); p != nil {
			err = broken("checkpoint %d: %v", s.version, p)
		}
	}()
	if s.version == 0 {
		return nil
	}
	payload, err := encodeCheckpoint(s)
	if err != nil {
		return fmt.Errorf("checkpoint %d: %w", s.version, err)
	}
	h := header{kind: checkpointFile, version: s.version, previous: s.checksum, micros: s.micros, nonce: newNonce()}
	err = c.store.PutIfAbsent(ctx, checkpointPath(s.version), encodeLogFile(&h, payload))
	if err != nil && !errors.Is(err, objstore.ErrExists) {
		return fmt.Errorf("checkpoint %d: %w", s.version, err)
	}
	return nil
}
