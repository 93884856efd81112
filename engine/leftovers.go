package engine

import (
	"context"
	"sync"

	"github.com/tidemarkdb/tidemark/catalog"
	"github.com/tidemarkdb/tidemark/tablestore"
)

// work lists the files that a transaction writes, or a statement outside of one. When it has ended and the last result
// that may read them is closed, those that no commit came to name are removed. The methods of a nil work do nothing.
type work struct {
	ledger *tablestore.Ledger

	mu    sync.Mutex
	users int // the transaction or statement itself, and results of its statements
}

func (e *Engine) newWork() *work { return &work{ledger: e.store.NewLedger(), users: 1} }

// statementWork returns the work that the next statement belongs to, held: the open transaction's, or one of its own.
func (s *Session) statementWork() *work {
	if s.tx == nil {
		return s.engine.newWork()
	}
	s.tx.work.hold()
	return s.tx.work
}

// context returns ctx for writing files of the work.
func (w *work) context(ctx context.Context) context.Context {
	if w == nil {
		return ctx
	}
	return w.ledger.Context(ctx)
}

// hold keeps the files until release is called.
func (w *work) hold() {
	if w != nil {
		w.mu.Lock()
		w.users++
		w.mu.Unlock()
	}
}

func (w *work) release() {
	if w == nil {
		return
	}
	w.mu.Lock()
	w.users--
	last := w.users == 0
	w.mu.Unlock()
	if last {
		w.ledger.Discard()
	}
}

// commitFiles commits edits made for what was read in base, nil for none, and takes the files that the commit came to
// name off the list of what is removed.
func (s *Session) commitFiles(ctx context.Context, base *catalog.Snapshot, edits []catalog.Edit) error {
	made := edits
	var err error
	if base == nil {
		_, err = s.engine.catalog.Commit(ctx, edits...)
	} else {
		rebase := s.rebase(base)
		_, err = s.engine.catalog.CommitFrom(ctx, base, guardKeys(base, edits), func(ctx context.Context, newest *catalog.Snapshot, edits []catalog.Edit, fault error) ([]catalog.Edit, error) {
			anew, err := rebase(ctx, newest, edits, fault)
			made = anew
			return anew, err
		})
	}
	tablestore.LedgerOf(ctx).Committed(err, made...)
	return err
}
