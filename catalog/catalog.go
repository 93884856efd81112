package catalog

import (
	"context"
	"time"

	"github.com/tidemarkdb/tidemark/objstore"
)

// Catalog is an open data root. All methods may be called from any goroutine.
type Catalog struct{ store objstore.Store }

// Open reads the newest checkpoint of a root and the commits after it; an empty store becomes a root with the schema
// public at its first commit. Close the catalog when done.
func Open(ctx context.Context, store objstore.Store, options OpenOptions) (*Catalog, error) {
	return nil, nil
}

// Close waits for work in the background. It is idempotent.
func (c *Catalog) Close() error { return nil }

// Snapshot returns the newest version this process knows, in constant time.
func (c *Catalog) Snapshot() *Snapshot { return nil }

// Pin returns the newest snapshot and keeps its files from being swept by this process until Release.
func (c *Catalog) Pin() *Pin { return nil }

// PinAt pins the snapshot of a version; 22023 when it is newer than the newest or older than the retention.
func (c *Catalog) PinAt(ctx context.Context, version uint64) (*Pin, error) { return nil, nil }

// PinAsOf pins the snapshot that was the newest at a time; 22023 when that is older than the retention.
func (c *Catalog) PinAsOf(ctx context.Context, t time.Time) (*Pin, error) { return nil, nil }

// Pin is a snapshot whose files stay.
type Pin struct{ *Snapshot }

// Release gives the files up. It is idempotent.
func (p *Pin) Release() {}

// Refresh applies the commits of other processes and returns the newest snapshot.
func (c *Catalog) Refresh(ctx context.Context) (*Snapshot, error) { return nil, nil }

// Changed returns a channel that is closed when the newest snapshot is no longer the one at the time of the call.
func (c *Catalog) Changed() <-chan struct{} { return nil }

// Watch refreshes at an interval until ctx ends, so that commits of other processes are seen; report is called with
// each error, and the watch goes on.
func (c *Catalog) Watch(ctx context.Context, interval time.Duration, report func(error)) {}

// Commit makes the edits in one commit and returns the snapshot it led to.
func (c *Catalog) Commit(ctx context.Context, edits ...Edit) (*Snapshot, error) { return nil, nil }

// CommitFrom commits the edits of a transaction that read at base: snapshot isolation, the first committer wins. It
// fails with 40001 when a table the edits touch was dropped or had its columns changed since base, or when an edit no
// longer fits. With rebase not nil, edits that no longer fit are given to it with the newest snapshot, to be made anew
// (such as two masks of one tablet united); an error of rebase is returned.
func (c *Catalog) CommitFrom(ctx context.Context, base *Snapshot, edits []Edit, rebase Rebase) (*Snapshot, error) {
	return nil, nil
}

// Rebase makes the edits of a transaction again, to fit newest. fault is why the edits before did not.
type Rebase func(ctx context.Context, newest *Snapshot, edits []Edit, fault error) ([]Edit, error)

// Preview returns the snapshot the edits would lead to, without committing: what a transaction sees of its own work.
// The tables changed have set versions no commit uses.
func (s *Snapshot) Preview(edits ...Edit) (*Snapshot, error) { return nil, nil }

// Sweep deletes files forgotten longer than the retention ago and cuts the log behind an old checkpoint.
func (c *Catalog) Sweep(ctx context.Context) (Swept, error) { return Swept{}, nil }

// Swept is what a sweep did.
type Swept struct {
	Files      int // data files deleted
	LogEntries int // log files and checkpoints deleted
}

// Check verifies a root: see CheckOptions.
func Check(ctx context.Context, store objstore.Store, options CheckOptions) (*Report, error) {
	return nil, nil
}

// CheckOptions say what Check does beyond verifying the log and that every named file exists with its size.
type CheckOptions struct {
	Repair    bool          // delete orphans
	OrphanAge time.Duration // only orphans this old are deleted, since younger ones may be about to be committed; 0: 24 hours

	// Verify, when not nil, checks the contents of a file; its error becomes a problem of the report.
	Verify func(ctx context.Context, file FileRef) error
}

// Report is what Check found.
type Report struct {
	Version  uint64    // newest version
	Tables   int       // tables at that version
	Files    int       // files they name
	Problems []Problem // empty: all is well
	Orphans  []Orphan  // files nothing names
}

// Problem is one fault.
type Problem struct {
	Path string
	Err  error
}

// Orphan is a file no readable version names.
type Orphan struct {
	Path    string
	Bytes   int64
	Age     time.Duration
	Removed bool
}
