// Package crashstore is a store for tests whose machine can lose power at any write.
//
// # Concepts
//
// A [Store] counts its writes. [Store.CrashAt] chooses one of them as the last: it takes effect or does not, by the
// seed, its caller gets [ErrCrashed], and so does every call after it. [Store.Reboot] returns what the disk held:
// every object whose write had returned, nothing of writers that were not closed, and of the deletions only some,
// since a deletion is not durable.
//
// # Invariants
//
// The same seed, calls and crash give the same survivors, as long as one goroutine calls.
//
// # Adding a fault
//
// A fault that leaves the machine running belongs to errstore.
package crashstore

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"math/rand/v2"
	"sync"

	"github.com/tidemarkdb/tidemark/objstore"
)

// ErrCrashed is returned by every call from the crash on.
var ErrCrashed = errors.New("the machine lost power")

// Store is an objstore.Mem on a machine that can lose power.
type Store struct {
	mu      sync.Mutex
	mem     *objstore.Mem
	random  *rand.Rand
	writes  int
	crashAt int // write that crashes, 0 for none
	crashed bool
	deleted map[string][]byte // objects whose deletion may be undone by a crash
}

// New returns an empty store.
func New(seed uint64) *Store {
	return &Store{mem: objstore.NewMem(nil), random: rand.New(rand.NewPCG(seed, 1)), deleted: map[string][]byte{}}
}

// CrashAt makes the n-th write from now on the last, n from 1; 0 takes the crash back.
func (s *Store) CrashAt(n int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.crashAt = 0
	if n > 0 {
		s.crashAt = s.writes + n
	}
}

// Crash loses power now.
func (s *Store) Crash() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.crashed = true
}

// Crashed reports whether the machine has lost power.
func (s *Store) Crashed() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.crashed
}

// Writes returns the number of writes so far: puts, closes and deletions.
func (s *Store) Writes() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.writes
}

// Reboot returns a running store with what survived. The old one stays crashed.
func (s *Store) Reboot() (*Store, error) {
	s.Crash()
	s.mu.Lock()
	defer s.mu.Unlock()
	next := New(s.random.Uint64())
	ctx := context.Background()
	for info, err := range s.mem.List(ctx, "", "") {
		if err != nil {
			return nil, err
		}
		data, err := s.mem.Get(ctx, info.Path)
		if err != nil {
			return nil, err
		}
		if err := next.mem.Put(ctx, info.Path, data); err != nil {
			return nil, err
		}
	}
	for path, data := range s.deleted {
		if s.random.IntN(2) == 0 {
			continue
		}
		if err := next.mem.PutIfAbsent(ctx, path, data); err != nil && !errors.Is(err, objstore.ErrExists) {
			return nil, err
		}
	}
	return next, nil
}

// write runs one write, unless the power is gone; the write that crashes takes effect or not.
func (s *Store) write(path string, do func() error) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.crashed {
		return fmt.Errorf("%s: %w", path, ErrCrashed)
	}
	s.writes++
	if s.writes == s.crashAt {
		s.crashed = true
		if s.random.IntN(2) == 0 {
			_ = do() // nobody learns of the outcome
		}
		return fmt.Errorf("%s: %w", path, ErrCrashed)
	}
	return do()
}

func (s *Store) read(path string) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.crashed {
		return fmt.Errorf("%s: %w", path, ErrCrashed)
	}
	return nil
}

// Get implements objstore.Store.
func (s *Store) Get(ctx context.Context, path string) ([]byte, error) {
	if err := s.read(path); err != nil {
		return nil, err
	}
	return s.mem.Get(ctx, path)
}

// ReadAt implements objstore.Store.
func (s *Store) ReadAt(ctx context.Context, path string, p []byte, off int64) (int, error) {
	if err := s.read(path); err != nil {
		return 0, err
	}
	return s.mem.ReadAt(ctx, path, p, off)
}

// Stat implements objstore.Store.
func (s *Store) Stat(ctx context.Context, path string) (objstore.Info, error) {
	if err := s.read(path); err != nil {
		return objstore.Info{}, err
	}
	return s.mem.Stat(ctx, path)
}

// List implements objstore.Store.
func (s *Store) List(ctx context.Context, prefix, after string) iter.Seq2[objstore.Info, error] {
	if err := s.read(prefix); err != nil {
		return func(yield func(objstore.Info, error) bool) { yield(objstore.Info{}, err) }
	}
	return s.mem.List(ctx, prefix, after)
}

// LocalPath implements objstore.Store: there is none.
func (s *Store) LocalPath(string) (string, bool) { return "", false }

// Put implements objstore.Store.
func (s *Store) Put(ctx context.Context, path string, data []byte) error {
	return s.write(path, func() error {
		err := s.mem.Put(ctx, path, data)
		if err == nil {
			delete(s.deleted, path)
		}
		return err
	})
}

// PutIfAbsent implements objstore.Store.
func (s *Store) PutIfAbsent(ctx context.Context, path string, data []byte) error {
	return s.write(path, func() error {
		err := s.mem.PutIfAbsent(ctx, path, data)
		if err == nil {
			delete(s.deleted, path)
		}
		return err
	})
}

// Delete implements objstore.Store.
func (s *Store) Delete(ctx context.Context, path string) error {
	return s.write(path, func() error {
		data, err := s.mem.Get(ctx, path)
		if errors.Is(err, objstore.ErrNotFound) {
			return nil
		}
		if err != nil {
			return err
		}
		s.deleted[path] = data
		return s.mem.Delete(ctx, path)
	})
}

// Create implements objstore.Store.
func (s *Store) Create(ctx context.Context, path string) (objstore.Writer, error) {
	if err := s.read(path); err != nil {
		return nil, err
	}
	w, err := s.mem.Create(ctx, path)
	if err != nil {
		return nil, err
	}
	return &writer{store: s, inner: w, path: path}, nil
}

type writer struct {
	store *Store
	inner objstore.Writer
	path  string
}

func (w *writer) Write(p []byte) (int, error) {
	if err := w.store.read(w.path); err != nil {
		return 0, err
	}
	return w.inner.Write(p)
}

func (w *writer) Close() error {
	return w.store.write(w.path, func() error {
		err := w.inner.Close()
		if err == nil {
			delete(w.store.deleted, w.path)
		}
		return err
	})
}

func (w *writer) Abort() { w.inner.Abort() }
