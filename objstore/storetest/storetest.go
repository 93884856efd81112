// Package storetest checks that a store keeps the contract of objstore.Store.
//
// # Concepts
//
// [Run] is the whole contract as subtests; call it from the test of each store.
//
// # Invariants
//
// It touches only the store it is given.
//
// # Adding a clause
//
// Write one function and add it to the list in Run.
package storetest

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/tidemarkdb/tidemark/objstore"
)

// Run checks the contract; open returns an empty store.
func Run(t *testing.T, open func(t *testing.T) objstore.Store) {
	clauses := []struct {
		name  string
		check func(*testing.T, objstore.Store)
	}{
		{"reads give what was written", reads},
		{"absent objects are not found", absent},
		{"put if absent never replaces", putIfAbsent},
		{"one of many writers wins", race},
		{"writers appear on close", writers},
		{"lists are in byte order", lists},
		{"paths stay in the root", paths},
		{"a cancelled context stops calls", cancelled},
	}
	for _, c := range clauses {
		t.Run(c.name, func(t *testing.T) { c.check(t, open(t)) })
	}
}

var ctx = context.Background()

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func wantErr(t *testing.T, err, want error) {
	t.Helper()
	if !errors.Is(err, want) {
		t.Errorf("error %v, want %v", err, want)
	}
}

func wantObject(t *testing.T, s objstore.Store, path, want string) {
	t.Helper()
	if got, err := s.Get(ctx, path); err != nil || string(got) != want {
		t.Errorf("Get(%s) = %q, %v, want %q", path, got, err, want)
	}
}

func reads(t *testing.T, s objstore.Store) {
	must(t, s.Put(ctx, "a/b", []byte("0123456789")))
	must(t, s.Put(ctx, "a/empty", nil))
	wantObject(t, s, "a/b", "0123456789")
	wantObject(t, s, "a/empty", "")
	must(t, s.Put(ctx, "a/b", []byte("again")))
	wantObject(t, s, "a/b", "again")
	info, err := s.Stat(ctx, "a/b")
	if err != nil || info.Path != "a/b" || info.Size != 5 || info.ModTime.IsZero() {
		t.Errorf("Stat = %+v, %v", info, err)
	}
	p := make([]byte, 3)
	if n, err := s.ReadAt(ctx, "a/b", p, 1); n != 3 || err != nil && err != io.EOF || string(p) != "gai" {
		t.Errorf("ReadAt = %d, %v, %q", n, err, p)
	}
	if n, err := s.ReadAt(ctx, "a/b", p, 3); n != 2 || err != io.EOF || string(p[:n]) != "in" {
		t.Errorf("ReadAt over the end = %d, %v, %q", n, err, p)
	}
	if n, err := s.ReadAt(ctx, "a/b", p, 99); n != 0 || err != io.EOF {
		t.Errorf("ReadAt behind the end = %d, %v", n, err)
	}
	if n, err := s.ReadAt(ctx, "a/b", p, -1); n != 0 || err == nil {
		t.Errorf("ReadAt before the beginning = %d, %v", n, err)
	}
	data := []byte("mine")
	must(t, s.Put(ctx, "c", data))
	data[0] = 'X'
	got, err := s.Get(ctx, "c")
	must(t, err)
	got[1] = 'X'
	wantObject(t, s, "c", "mine")
}

func absent(t *testing.T, s objstore.Store) {
	must(t, s.Put(ctx, "dir/file", []byte("x")))
	for _, path := range []string{"nothing", "dir", "dir/other", "dir/file/below"} {
		_, err := s.Get(ctx, path)
		wantErr(t, err, objstore.ErrNotFound)
		_, err = s.Stat(ctx, path)
		wantErr(t, err, objstore.ErrNotFound)
		_, err = s.ReadAt(ctx, path, make([]byte, 1), 0)
		wantErr(t, err, objstore.ErrNotFound)
		must(t, s.Delete(ctx, path))
	}
	wantObject(t, s, "dir/file", "x")
	must(t, s.Delete(ctx, "dir/file"))
	_, err := s.Get(ctx, "dir/file")
	wantErr(t, err, objstore.ErrNotFound)
}

func putIfAbsent(t *testing.T, s objstore.Store) {
	must(t, s.PutIfAbsent(ctx, "log/1", []byte("first")))
	wantErr(t, s.PutIfAbsent(ctx, "log/1", []byte("second")), objstore.ErrExists)
	wantObject(t, s, "log/1", "first")
	must(t, s.Delete(ctx, "log/1"))
	must(t, s.PutIfAbsent(ctx, "log/1", []byte("third")))
	wantObject(t, s, "log/1", "third")
}

func race(t *testing.T, s objstore.Store) {
	for round := range 20 {
		path := fmt.Sprintf("log/%d", round)
		var won atomic.Int64
		winner := make([]byte, 1)
		var wg sync.WaitGroup
		for i := range 8 {
			wg.Go(func() {
				err := s.PutIfAbsent(ctx, path, []byte{byte(i)})
				switch {
				case err == nil:
					won.Add(1)
					winner[0] = byte(i)
				case !errors.Is(err, objstore.ErrExists):
					t.Errorf("PutIfAbsent: %v", err)
				}
			})
		}
		wg.Wait()
		if won.Load() != 1 {
			t.Fatalf("%d writers of %s won", won.Load(), path)
		}
		wantObject(t, s, path, string(winner))
	}
}

func writers(t *testing.T, s objstore.Store) {
	w, err := s.Create(ctx, "big")
	must(t, err)
	part := bytes.Repeat([]byte("abcdefgh"), 100_000)
	for range 3 {
		if n, err := w.Write(part); n != len(part) || err != nil {
			t.Fatalf("Write = %d, %v", n, err)
		}
	}
	_, err = s.Stat(ctx, "big")
	wantErr(t, err, objstore.ErrNotFound)
	for _, err := range s.List(ctx, "", "") {
		t.Errorf("an unfinished object is listed (%v)", err)
	}
	must(t, w.Close())
	wantErr(t, w.Close(), objstore.ErrClosed)
	w.Abort()
	_, err = w.Write(part)
	wantErr(t, err, objstore.ErrClosed)
	wantObject(t, s, "big", string(bytes.Repeat(part, 3)))

	w, err = s.Create(ctx, "given/up")
	must(t, err)
	if _, err := w.Write(part); err != nil {
		t.Fatal(err)
	}
	w.Abort()
	wantErr(t, w.Close(), objstore.ErrClosed)
	_, err = s.Stat(ctx, "given/up")
	wantErr(t, err, objstore.ErrNotFound)
}

func lists(t *testing.T, s objstore.Store) {
	all := []string{"a", "a-b/x", "a/b", "a/b-c", "a/b/c", "a/b0", "b/1", "log/01", "log/02", "log/checkpoint-01", "log0"}
	for i := range all {
		must(t, s.Put(ctx, all[len(all)-1-i]+pathFix(all, all[len(all)-1-i]), []byte{1}))
	}
	paths := make([]string, len(all))
	for i, p := range all {
		paths[i] = p + pathFix(all, p)
	}
	slices.Sort(paths)
	prefixes := []string{"", "a", "a/", "a/b", "a/b/", "log/", "log/checkpoint-", "zzz", "a/b/c/d/"}
	for _, prefix := range prefixes {
		for _, after := range append([]string{"", "a/", "log/00", "zz"}, paths...) {
			var want, got []string
			for _, p := range paths {
				if len(p) >= len(prefix) && p[:len(prefix)] == prefix && p > after {
					want = append(want, p)
				}
			}
			for info, err := range s.List(ctx, prefix, after) {
				must(t, err)
				if info.Size != 1 {
					t.Errorf("%s has size %d", info.Path, info.Size)
				}
				got = append(got, info.Path)
			}
			if !slices.Equal(got, want) {
				t.Errorf("List(%q, %q) = %q, want %q", prefix, after, got, want)
			}
		}
	}
	for range s.List(ctx, "", "") {
		break // stopping early is allowed
	}
}

// pathFix keeps a path that others lie below from being an object too, which a directory cannot hold.
func pathFix(all []string, path string) string {
	for _, other := range all {
		if len(other) > len(path) && other[:len(path)] == path && other[len(path)] == '/' {
			return "~"
		}
	}
	return ""
}

func paths(t *testing.T, s objstore.Store) {
	bad := []string{"", "/", "/etc/passwd", "..", "../x", "a/../../x", "a/./b", "a//b", "a/", ".tmp/x", "a/.b", `a\b`, "a\x00b", "a\nb", string(bytes.Repeat([]byte("x"), 2000))}
	for _, path := range bad {
		_, err := s.Get(ctx, path)
		wantErr(t, err, objstore.ErrBadPath)
		_, err = s.ReadAt(ctx, path, make([]byte, 1), 0)
		wantErr(t, err, objstore.ErrBadPath)
		_, err = s.Stat(ctx, path)
		wantErr(t, err, objstore.ErrBadPath)
		_, err = s.Create(ctx, path)
		wantErr(t, err, objstore.ErrBadPath)
		wantErr(t, s.Put(ctx, path, nil), objstore.ErrBadPath)
		wantErr(t, s.PutIfAbsent(ctx, path, nil), objstore.ErrBadPath)
		wantErr(t, s.Delete(ctx, path), objstore.ErrBadPath)
		if p, ok := s.LocalPath(path); ok {
			t.Errorf("LocalPath(%q) = %q", path, p)
		}
	}
	for _, prefix := range []string{"/", "../", "a/../", "a/..", ".", "a//"} {
		var last error
		for _, err := range s.List(ctx, prefix, "") {
			last = err
		}
		wantErr(t, last, objstore.ErrBadPath)
	}
}

func cancelled(t *testing.T, s objstore.Store) {
	must(t, s.Put(ctx, "a", []byte("x")))
	w, err := s.Create(ctx, "b")
	must(t, err)
	w.Abort()
	stopped, cancel := context.WithCancel(ctx)
	w, err = s.Create(stopped, "b")
	must(t, err)
	cancel()
	_, err = s.Get(stopped, "a")
	wantErr(t, err, context.Canceled)
	wantErr(t, s.Put(stopped, "c", nil), context.Canceled)
	wantErr(t, s.PutIfAbsent(stopped, "c", nil), context.Canceled)
	var last error
	for _, err := range s.List(stopped, "", "") {
		last = err
	}
	wantErr(t, last, context.Canceled)
	wantErr(t, w.Close(), context.Canceled)
	_, err = s.Stat(ctx, "b")
	wantErr(t, err, objstore.ErrNotFound)
}
