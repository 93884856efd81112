package parquetstore

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"sync/atomic"

	"golang.org/x/sys/unix"

	"github.com/tidemarkdb/tidemark/objstore"
)

// source gives the bytes of one immutable object. It counts its users: memory that is mapped goes away with the last.
type source struct {
	store  objstore.Store
	path   string
	size   int64
	mapped []byte // the whole object, nil when it is read in ranges
	users  atomic.Int64
}

var errClosed = errors.New("the file is closed")

// openSource finds the object and maps it where the store has it as a local file.
func openSource(ctx context.Context, store objstore.Store, path string) (*source, error) {
	s := &source{store: store, path: path}
	s.users.Store(1)
	if local, ok := store.LocalPath(path); ok {
		return s, s.mapLocal(local)
	}
	info, err := store.Stat(ctx, path)
	if err != nil {
		return nil, err
	}
	s.size = info.Size
	return s, nil
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
	buf := newBuffer(n)
	if read, err := s.store.ReadAt(ctx, s.path, buf, off); read < n {
		if err == nil || errors.Is(err, io.EOF) {
			err = io.ErrUnexpectedEOF
		}
		return nil, fmt.Errorf("reading %d bytes at %d of %s: %w", n, off, s.path, err)
	}
	return buf, nil
}
