package objstore

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"iter"
	"strings"
	"sync"
	"time"

	"github.com/tidwall/btree"
)

// Mem is a store in memory, for tests and throw-away databases. Use [NewMem].
type Mem struct {
	mu      sync.RWMutex
	objects btree.Map[string, memObject]
	now     func() time.Time
}

type memObject struct {
	data    []byte
	modTime time.Time
}

// NewMem returns an empty store; now is the clock of ModTime, time.Now when nil.
func NewMem(now func() time.Time) *Mem {
	if now == nil {
		now = time.Now
	}
	return &Mem{now: now}
}

func (m *Mem) find(ctx context.Context, path string) (memObject, error) {
	if err := check(ctx, path); err != nil {
		return memObject{}, err
	}
	m.mu.RLock()
	defer m.mu.RUnlock()
	o, ok := m.objects.Get(path)
	if !ok {
		return memObject{}, fmt.Errorf("%s: %w", path, ErrNotFound)
	}
	return o, nil
}

// Get implements [Store].
func (m *Mem) Get(ctx context.Context, path string) ([]byte, error) {
	o, err := m.find(ctx, path)
	return bytes.Clone(o.data), err
}

// ReadAt implements [Store].
func (m *Mem) ReadAt(ctx context.Context, path string, p []byte, off int64) (int, error) {
	o, err := m.find(ctx, path)
	if err != nil {
		return 0, err
	}
	if off < 0 {
		return 0, fmt.Errorf("%s: offset %d is negative", path, off)
	}
	if off >= int64(len(o.data)) {
		return 0, io.EOF
	}
	n := copy(p, o.data[off:])
	if n < len(p) {
		return n, io.EOF
	}
	return n, nil
}

// Create implements [Store].
func (m *Mem) Create(ctx context.Context, path string) (Writer, error) {
	if err := check(ctx, path); err != nil {
		return nil, err
	}
	return &memWriter{store: m, ctx: ctx, path: path}, nil
}

// Put implements [Store].
func (m *Mem) Put(ctx context.Context, path string, data []byte) error {
	if err := check(ctx, path); err != nil {
		return err
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	m.objects.Set(path, memObject{bytes.Clone(data), m.now()})
	return nil
}

// PutIfAbsent implements [Store].
func (m *Mem) PutIfAbsent(ctx context.Context, path string, data []byte) error {
	if err := check(ctx, path); err != nil {
		return err
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	if _, taken := m.objects.Get(path); taken {
		return fmt.Errorf("%s: %w", path, ErrExists)
	}
	m.objects.Set(path, memObject{bytes.Clone(data), m.now()})
	return nil
}

// List implements [Store]. It sees the objects of the moment it begins.
func (m *Mem) List(ctx context.Context, prefix, after string) iter.Seq2[Info, error] {
	return func(yield func(Info, error) bool) {
		if err := checkPrefix(prefix); err != nil {
			yield(Info{}, err)
			return
		}
		m.mu.RLock()
		var found []Info
		m.objects.Ascend(max(prefix, after), func(path string, o memObject) bool {
			if !strings.HasPrefix(path, prefix) {
				return path < prefix
			}
			if path > after {
				found = append(found, Info{path, int64(len(o.data)), o.modTime})
			}
			return true
		})
		m.mu.RUnlock()
		for _, info := range found {
			if err := ctx.Err(); err != nil {
				yield(Info{}, err)
				return
			}
			if !yield(info, nil) {
				return
			}
		}
	}
}

// Stat implements [Store].
func (m *Mem) Stat(ctx context.Context, path string) (Info, error) {
	o, err := m.find(ctx, path)
	if err != nil {
		return Info{}, err
	}
	return Info{path, int64(len(o.data)), o.modTime}, nil
}

// Delete implements [Store].
func (m *Mem) Delete(ctx context.Context, path string) error {
	if err := check(ctx, path); err != nil {
		return err
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	m.objects.Delete(path)
	return nil
}

// LocalPath implements [Store]: there is none.
func (m *Mem) LocalPath(string) (string, bool) { return "", false }

type memWriter struct {
	store *Mem
	ctx   context.Context
	path  string
	data  bytes.Buffer
	done  bool
}

func (w *memWriter) Write(p []byte) (int, error) {
	if w.done {
		return 0, fmt.Errorf("%s: %w", w.path, ErrClosed)
	}
	if err := w.ctx.Err(); err != nil {
		return 0, err
	}
	return w.data.Write(p)
}

func (w *memWriter) Close() error {
	if w.done {
		return fmt.Errorf("%s: %w", w.path, ErrClosed)
	}
	w.done = true
	return w.store.Put(w.ctx, w.path, w.data.Bytes())
}

func (w *memWriter) Abort() { w.done = true }

func check(ctx context.Context, path string) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	return CheckPath(path)
}
