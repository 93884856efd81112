package tablestore

import (
	"context"
	"slices"
	"sync"
	"time"

	"github.com/tidemarkdb/tidemark/catalog"
	"github.com/tidemarkdb/tidemark/tablet"
)

// Ledger lists the files that one piece of work writes, so that those which no commit came to name go when it ends: the
// work failed, was rolled back, or was made anew on its way. What a crash leaves is for [catalog.Catalog.SweepOrphans].
// Any goroutine may use it.
type Ledger struct {
	store *Store

	mu    sync.Mutex
	files map[tablet.ID][]string
}

// NewLedger returns an empty ledger. Work writes into it when it runs in a context of its.
func (s *Store) NewLedger() *Ledger { return &Ledger{store: s, files: map[tablet.ID][]string{}} }

type ledgerKey struct{}

// Context returns ctx for work whose files the ledger is to list.
func (l *Ledger) Context(ctx context.Context) context.Context {
	return context.WithValue(ctx, ledgerKey{}, l)
}

// LedgerOf returns the ledger of a context, nil when it has none; the methods of a nil Ledger do nothing.
func LedgerOf(ctx context.Context) *Ledger {
	l, _ := ctx.Value(ledgerKey{}).(*Ledger)
	return l
}

// note lists a file about to be written.
func (l *Ledger) note(id tablet.ID, path string) {
	if l == nil {
		return
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	l.files[id] = append(l.files[id], path)
}

// Committed takes off the list what a commit of edits names, and after a commit that failed what it may name all the
// same: everything, when nobody can tell whether it was made.
func (l *Ledger) Committed(err error, edits ...catalog.Edit) {
	if l == nil || err != nil && !catalog.MayBeMade(err) {
		return
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if err != nil {
		clear(l.files)
		return
	}
	for id := range catalog.FilesWritten(edits...) {
		delete(l.files, id)
	}
}

// discardTimeout bounds how long a failure is held up by cleaning up behind it.
const discardTimeout = 10 * time.Second

// Discard removes the files on the list, and empties it. It does what it can; what stays is an orphan. It runs after
// failures, a cancelled context among them, so it has a context of its own.
func (l *Ledger) Discard() {
	if l == nil {
		return
	}
	l.mu.Lock()
	files := l.files
	l.files = map[tablet.ID][]string{}
	l.mu.Unlock()
	if len(files) == 0 {
		return
	}
	ctx, cancel := context.WithTimeout(context.Background(), discardTimeout)
	defer cancel()
	for _, paths := range files {
		_ = l.store.ForgetFiles(slices.Values(paths))
		for _, path := range paths {
			_ = l.store.Objects.Delete(ctx, path)
		}
	}
}
