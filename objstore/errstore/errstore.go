// Package errstore wraps a store so that chosen calls fail, for tests of what a caller does about it.
//
// # Concepts
//
// A [Rule] looks at each [Call] and says how it ends: not at all ([Verdict].Before), or after it took effect
// ([Verdict].After), which is how an answer gets lost on the way. [OnNth] and [Matching] make rules.
//
// # Invariants
//
// A call no rule objects to behaves as the wrapped store does.
//
// # Adding a rule
//
// A rule is a function; it may be called from any goroutine.
package errstore

import (
	"context"
	"iter"
	"strings"
	"sync/atomic"

	"github.com/tidemarkdb/tidemark/objstore"
)

// Op is a method of a store.
type Op string

// The calls rules see. Writing to a Writer is OpWrite, its Close is OpClose.
const (
	OpGet         Op = "get"
	OpReadAt      Op = "read at"
	OpCreate      Op = "create"
	OpWrite       Op = "write"
	OpClose       Op = "close"
	OpPut         Op = "put"
	OpPutIfAbsent Op = "put if absent"
	OpList        Op = "list"
	OpStat        Op = "stat"
	OpDelete      Op = "delete"
)

// Call is one call of the store.
type Call struct {
	Op   Op
	Path string // the prefix, for OpList
}

// Verdict says how a call ends. The zero Verdict lets it pass.
type Verdict struct {
	Before error // returned in place of the call
	After  error // returned after the call succeeded
}

// Rule judges one call.
type Rule func(Call) Verdict

// OnNth fails the n-th call with verdict, n from 1, among those that match.
func OnNth(n int64, match func(Call) bool, verdict Verdict) Rule {
	var seen atomic.Int64
	return func(c Call) Verdict {
		if match(c) && seen.Add(1) == n {
			return verdict
		}
		return Verdict{}
	}
}

// Matching matches calls of one of the ops, any when there are none, with a path that begins with prefix.
func Matching(prefix string, ops ...Op) func(Call) bool {
	return func(c Call) bool {
		hit := len(ops) == 0
		for _, op := range ops {
			hit = hit || op == c.Op
		}
		return hit && strings.HasPrefix(c.Path, prefix)
	}
}

// Store is a store whose calls a rule judges.
type Store struct {
	inner objstore.Store
	rule  atomic.Pointer[Rule]
}

// Wrap returns inner with a rule in front, which may be nil.
func Wrap(inner objstore.Store, rule Rule) *Store {
	s := &Store{inner: inner}
	s.SetRule(rule)
	return s
}

// SetRule changes the rule; nil lets everything pass.
func (s *Store) SetRule(rule Rule) { s.rule.Store(&rule) }

func (s *Store) judge(op Op, path string) Verdict {
	if rule := *s.rule.Load(); rule != nil {
		return rule(Call{op, path})
	}
	return Verdict{}
}

func (s *Store) run(op Op, path string, do func() error) error {
	v := s.judge(op, path)
	if v.Before != nil {
		return v.Before
	}
	if err := do(); err != nil {
		return err
	}
	return v.After
}

// Get implements objstore.Store.
func (s *Store) Get(ctx context.Context, path string) (data []byte, err error) {
	err = s.run(OpGet, path, func() (err error) { data, err = s.inner.Get(ctx, path); return err })
	return data, err
}

// ReadAt implements objstore.Store.
func (s *Store) ReadAt(ctx context.Context, path string, p []byte, off int64) (n int, err error) {
	err = s.run(OpReadAt, path, func() (err error) { n, err = s.inner.ReadAt(ctx, path, p, off); return err })
	return n, err
}

// Create implements objstore.Store.
func (s *Store) Create(ctx context.Context, path string) (objstore.Writer, error) {
	var w objstore.Writer
	err := s.run(OpCreate, path, func() (err error) { w, err = s.inner.Create(ctx, path); return err })
	if err != nil {
		if w != nil {
			w.Abort()
		}
		return nil, err
	}
	return &writer{s, w, path}, nil
}

// Put implements objstore.Store.
func (s *Store) Put(ctx context.Context, path string, data []byte) error {
	return s.run(OpPut, path, func() error { return s.inner.Put(ctx, path, data) })
}

// PutIfAbsent implements objstore.Store.
func (s *Store) PutIfAbsent(ctx context.Context, path string, data []byte) error {
	return s.run(OpPutIfAbsent, path, func() error { return s.inner.PutIfAbsent(ctx, path, data) })
}

// List implements objstore.Store. After means an error behind the last object.
func (s *Store) List(ctx context.Context, prefix, after string) iter.Seq2[objstore.Info, error] {
	return func(yield func(objstore.Info, error) bool) {
		v := s.judge(OpList, prefix)
		if v.Before != nil {
			yield(objstore.Info{}, v.Before)
			return
		}
		for info, err := range s.inner.List(ctx, prefix, after) {
			if !yield(info, err) {
				return
			}
		}
		if v.After != nil {
			yield(objstore.Info{}, v.After)
		}
	}
}

// Stat implements objstore.Store.
func (s *Store) Stat(ctx context.Context, path string) (info objstore.Info, err error) {
	err = s.run(OpStat, path, func() (err error) { info, err = s.inner.Stat(ctx, path); return err })
	return info, err
}

// Delete implements objstore.Store.
func (s *Store) Delete(ctx context.Context, path string) error {
	return s.run(OpDelete, path, func() error { return s.inner.Delete(ctx, path) })
}

// LocalPath implements objstore.Store.
func (s *Store) LocalPath(path string) (string, bool) { return s.inner.LocalPath(path) }

type writer struct {
	store *Store
	inner objstore.Writer
	path  string
}

func (w *writer) Write(p []byte) (n int, err error) {
	err = w.store.run(OpWrite, w.path, func() (err error) { n, err = w.inner.Write(p); return err })
	return n, err
}

func (w *writer) Close() error {
	v := w.store.judge(OpClose, w.path)
	if v.Before != nil {
		w.inner.Abort()
		return v.Before
	}
	if err := w.inner.Close(); err != nil {
		return err
	}
	return v.After
}

func (w *writer) Abort() { w.inner.Abort() }
