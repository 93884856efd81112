package objstore

import (
	"context"
	"errors"
	"io"
	"iter"
	"time"
)

// Errors of every store, to be tested with errors.Is; the returned error names the path.
var (
	ErrNotFound   = errors.New("no such object")
	ErrExists     = errors.New("object exists already")
	ErrBadPath    = errors.New("path not allowed in a store")
	ErrNotDurable = errors.New("object is visible but may not survive a power failure")
	ErrClosed     = errors.New("writer is closed")
)

// Info describes one object.
type Info struct {
	Path    string    // slash-separated, relative to the store's root
	Size    int64     // bytes
	ModTime time.Time // when it became visible, by the store's clock
}

// Store holds immutable objects. All methods may be called from any goroutine; ctx cancels waiting, and a write that
// was cancelled may still have happened. Errors wrap the sentinels above where they apply and name the path.
type Store interface {
	// Get returns the whole object. The slice is the caller's.
	Get(ctx context.Context, path string) ([]byte, error)

	// ReadAt fills p from offset off, as io.ReaderAt does: fewer than len(p) bytes come with an error, io.EOF at the
	// end of the object.
	ReadAt(ctx context.Context, path string, p []byte, off int64) (int, error)

	// Create starts an object that appears, replacing one of the same path, when the writer is closed. The caller
	// must call Close or Abort; ctx applies until then.
	Create(ctx context.Context, path string) (Writer, error)

	// Put stores data as one object, replacing one of the same path. It does not keep data.
	Put(ctx context.Context, path string, data []byte) error

	// PutIfAbsent stores data as one object unless the path is taken, which gives ErrExists. After any other error
	// the object may be there or not: read it to learn which. ErrNotDurable means that it is there and readers may
	// have seen it.
	PutIfAbsent(ctx context.Context, path string, data []byte) error

	// List yields the objects whose path begins with prefix and sorts after the path after ("" for all), in byte
	// order of the path. Objects that come or go meanwhile may be missed. After an error the sequence ends.
	List(ctx context.Context, prefix, after string) iter.Seq2[Info, error]

	// Stat describes one object.
	Stat(ctx context.Context, path string) (Info, error)

	// Delete removes the object; an absent one is no error. A deleted object may come back after a crash.
	Delete(ctx context.Context, path string) error

	// LocalPath returns the file that holds the object in the local file system, for readers that map it into
	// memory, and whether this store has one. It does not check that the object exists.
	LocalPath(path string) (string, bool)
}

// Writer receives the bytes of one object. It belongs to one goroutine.
type Writer interface {
	io.Writer

	// Close makes the object durable, then visible. A second Close, or a Close after Abort, returns ErrClosed and
	// does nothing.
	Close() error

	// Abort gives the object up; nothing becomes visible. After Close or Abort it does nothing, so it may be deferred.
	Abort()
}
