package maskindex

import (
	"context"
	"errors"
	"sync"

	"github.com/tidemarkdb/tidemark/sqlerr"
)

// Files keeps key files open between uses. It is safe for concurrent use.
type Files struct {
	open func(ctx context.Context, name string) (*File, error)

	mu     sync.Mutex
	held   map[string]*handle
	closed bool
}

// handle is one open file, or one being opened.
type handle struct {
	ready   chan struct{} // closed when file or err is set
	file    *File
	err     error
	users   int  // guarded by Files.mu
	dropped bool // guarded by Files.mu: close when the last user leaves
}

// NewFiles returns a cache of files that open opens. Names are whatever open takes, such as object paths.
func NewFiles(open func(ctx context.Context, name string) (*File, error)) *Files {
	return &Files{open: open, held: map[string]*handle{}}
}

// Acquire returns the open file of the name. The caller calls release once when it is done. Many callers share one
// opening; a failure to open is returned to all of them and not remembered.
func (fs *Files) Acquire(ctx context.Context, name string) (f *File, release func(), err error) {
	fs.mu.Lock()
	if fs.closed {
		fs.mu.Unlock()
		return nil, nil, sqlerr.New(sqlerr.Internal, "key file %s asked for after shutdown", name)
	}
	h := fs.held[name]
	if h == nil {
		h = &handle{ready: make(chan struct{})}
		fs.held[name] = h
		go fs.fill(context.WithoutCancel(ctx), name, h)
	}
	h.users++
	fs.mu.Unlock()

	select {
	case <-h.ready:
	case <-ctx.Done():
		fs.release(h)
		return nil, nil, ctx.Err()
	}
	if h.err != nil {
		fs.release(h)
		return nil, nil, h.err
	}
	return h.file, sync.OnceFunc(func() { fs.release(h) }), nil
}

// fill opens the file of h. It counts as a user itself only through those that wait.
func (fs *Files) fill(ctx context.Context, name string, h *handle) {
	err := guard(name, func() (err error) {
		h.file, err = fs.open(ctx, name)
		return err
	})
	fs.mu.Lock()
	h.err = err
	if err != nil && fs.held[name] == h {
		delete(fs.held, name)
	}
	close(h.ready)
	orphan := h.dropped && h.users == 0
	fs.mu.Unlock()
	if orphan {
		h.close()
	}
}

func (fs *Files) release(h *handle) {
	fs.mu.Lock()
	h.users--
	last := h.dropped && h.users == 0 && h.opened()
	fs.mu.Unlock()
	if last {
		h.close()
	}
}

func (h *handle) opened() bool {
	select {
	case <-h.ready:
		return true
	default:
		return false
	}
}

func (h *handle) close() error {
	if h.file == nil {
		return nil
	}
	return h.file.Close()
}

// Drop forgets the files of the names: each closes when its last user is done.
func (fs *Files) Drop(names ...string) error {
	set := make(map[string]bool, len(names))
	for _, n := range names {
		set[n] = true
	}
	return fs.Retain(func(name string) bool { return !set[name] })
}

// Retain drops every file whose name keep does not report.
func (fs *Files) Retain(keep func(name string) bool) error {
	var idle []*handle
	fs.mu.Lock()
	for name, h := range fs.held {
		if keep(name) {
			continue
		}
		delete(fs.held, name)
		h.dropped = true
		if h.users == 0 && h.opened() {
			idle = append(idle, h)
		}
	}
	fs.mu.Unlock()
	var errs []error
	for _, h := range idle {
		errs = append(errs, h.close())
	}
	return errors.Join(errs...)
}

// Len returns the number of files held open.
func (fs *Files) Len() int {
	fs.mu.Lock()
	defer fs.mu.Unlock()
	return len(fs.held)
}

// Close drops every file. Files in use close when their users are done.
func (fs *Files) Close() error {
	fs.mu.Lock()
	fs.closed = true
	fs.mu.Unlock()
	return fs.Retain(func(string) bool { return false })
}
