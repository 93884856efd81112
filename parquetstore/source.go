package parquetstore

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"sync"
	"sync/atomic"

	"golang.org/x/sys/unix"

	"github.com/tidemarkdb/tidemark/objstore"
)

// source gives the bytes of one immutable object. It counts its users: memory that is mapped goes away with the last.
type source struct {
	store  objstore.Store
	path   string
	size   int64
	local  bool   // the store has the object as a file
	mapped []byte // all of a local object, until the last user goes
	users  atomic.Int64

	mu      sync.Mutex
	windows []window // what was read ahead, oldest first
}

// window is a range of the object that was read.
type window struct {
	off int64
	buf []byte
}

// Reading ahead makes one request of what scans of a bucket would ask for in many.
const (
	readAhead  = 2 << 20
	maxWindows = 16
)

var errClosed = errors.New("the file is closed")

// openSource finds the object and maps it where the store has it as a local file.
func openSource(ctx context.Context, store objstore.Store, path string) (*source, error) {
	s := &source{store: store, path: path}
	s.users.Store(1)
	if local, ok := store.LocalPath(path); ok {
		s.local = true
		return s, s.mapLocal(local)
	}
	info, err := store.Stat(ctx, path)
	if err != nil {
		return nil, err
	}
	s.size = info.Size
	return s, nil
}

// openLocal maps a file of the local file system.
func openLocal(path string) (*source, error) {
	s := &source{path: path, local: true}
	s.users.Store(1)
	return s, s.mapLocal(path)
}

func (s *source) mapLocal(name string) error {
	f, err := os.Open(name)
	if err != nil {
		if errors.Is(err, os.ErrNotExist) {
			return fmt.Errorf("%s: %w", s.path, objstore.ErrNotFound)
		}
		return fmt.Errorf("opening %s: %w", s.path, err)
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return fmt.Errorf("opening %s: %w", s.path, err)
	}
	s.size = info.Size()
	if s.size == 0 {
		return nil
	}
	s.mapped, err = unix.Mmap(int(f.Fd()), 0, int(s.size), unix.PROT_READ, unix.MAP_SHARED)
	if err != nil {
		return fmt.Errorf("mapping %s into memory: %w", s.path, err)
	}
	return nil
}

// acquire counts a user in; it fails once the last has gone.
func (s *source) acquire() error {
	for {
		n := s.users.Load()
		if n <= 0 {
			return fmt.Errorf("%s: %w", s.path, errClosed)
		}
		if s.users.CompareAndSwap(n, n+1) {
			return nil
		}
	}
}

// release counts a user out and unmaps after the last.
func (s *source) release() {
	if s.users.Add(-1) == 0 && s.mapped != nil {
		m := s.mapped
		s.mapped = nil
		_ = unix.Munmap(m) // fails only for memory that is not mapped
	}
}

// view returns n bytes from off on, to be read before the caller's release: they may be mapped.
func (s *source) view(ctx context.Context, off int64, n int) ([]byte, error) {
	if off < 0 || n < 0 || off > s.size-int64(n) {
		return nil, fmt.Errorf("bytes %d to %d lie outside the file of %d bytes", off, off+int64(n), s.size)
	}
	if s.mapped != nil {
		return s.mapped[off : off+int64(n) : off+int64(n)], nil
	}
	if b := s.windowed(off, n); b != nil {
		return b, nil
	}
	return s.read(ctx, off, n)
}

// viewAhead is view for one of several pieces that follow each other up to end: the next ones are read with it.
func (s *source) viewAhead(ctx context.Context, off int64, n int, end int64) ([]byte, error) {
	if s.mapped != nil || off < 0 || n < 0 || off > s.size-int64(n) || end <= off+int64(n) {
		return s.view(ctx, off, n)
	}
	if b := s.windowed(off, n); b != nil {
		return b, nil
	}
	buf, err := s.read(ctx, off, int(min(max(int64(n), readAhead), end-off)))
	if err != nil {
		return nil, err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.windows) == maxWindows {
		s.windows = append(s.windows[:0], s.windows[1:]...)
	}
	s.windows = append(s.windows, window{off, buf})
	return buf[:n:n], nil
}

// windowed returns a range that was read ahead, nil when it was not. A window read to its end is forgotten.
func (s *source) windowed(off int64, n int) []byte {
	s.mu.Lock()
	defer s.mu.Unlock()
	for i, w := range s.windows {
		at := off - w.off
		if at < 0 || at+int64(n) > int64(len(w.buf)) {
			continue
		}
		if at+int64(n) == int64(len(w.buf)) {
			s.windows = append(s.windows[:i], s.windows[i+1:]...)
		}
		return w.buf[at : at+int64(n) : at+int64(n)]
	}
	return nil
}

func (s *source) read(ctx context.Context, off int64, n int) ([]byte, error) {
	buf := newBuffer(n)
	if read, err := s.store.ReadAt(ctx, s.path, buf, off); read < n {
		if err == nil || errors.Is(err, io.EOF) {
			err = io.ErrUnexpectedEOF
		}
		return nil, fmt.Errorf("reading %d bytes at %d of %s: %w", n, off, s.path, err)
	}
	return buf, nil
}
