package objstore

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"path/filepath"
	"strings"
	"sync"
	"time"
)

// tempDir holds files that are being written. Its name begins with a dot, so no object can have it.
const tempDir = ".tmp"

// Local is a store in a directory. Use [OpenLocal].
//
// An object is written to a file in .tmp, synced, then linked (PutIfAbsent) or renamed into place, and its folder is
// synced. Several processes may share the directory when its file system orders link and rename between them, as
// local ones do.
type Local struct {
	root    string
	fs      fileSystem
	durable sync.Map // folders whose own names were made durable; they may have been removed since
}

// OpenLocal returns the store in a directory, which it creates when it is missing.
func OpenLocal(root string) (*Local, error) {
	absolute, err := filepath.Abs(root)
	if err != nil {
		return nil, fmt.Errorf("opening data directory %q: %w", root, err)
	}
	return openLocal(absolute, osFileSystem{})
}

func openLocal(root string, fsys fileSystem) (*Local, error) {
	l := &Local{root: root, fs: fsys}
	if err := l.makeRoot(root); err != nil {
		return nil, fmt.Errorf("opening data directory %q: %w", root, err)
	}
	if err := l.ensureDir(tempDir); err != nil {
		return nil, fmt.Errorf("opening data directory %q: %w", root, err)
	}
	return l, nil
}

// makeRoot creates root and the folders above it, syncing the parent of each it creates.
func (l *Local) makeRoot(dir string) error {
	info, err := l.fs.Stat(dir)
	if err == nil {
		if !info.IsDir() {
			return errors.New("it is not a directory")
		}
		return nil
	}
	if !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	parent := filepath.Dir(dir)
	if parent == dir {
		return err
	}
	if err := l.makeRoot(parent); err != nil {
		return err
	}
	if err := l.fs.Mkdir(dir); err != nil && !errors.Is(err, fs.ErrExist) {
		return err
	}
	return l.fs.SyncDir(parent)
}

// Root returns the absolute directory of the store.
func (l *Local) Root() string { return l.root }

// LocalPath implements [Store].
func (l *Local) LocalPath(path string) (string, bool) {
	if CheckPath(path) != nil {
		return "", false
	}
	return l.file(path), true
}

func (l *Local) file(path string) string { return filepath.Join(l.root, filepath.FromSlash(path)) }

// Get implements [Store].
func (l *Local) Get(ctx context.Context, path string) ([]byte, error) {
	f, err := l.open(ctx, path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return nil, fault(path, err)
	}
	data := make([]byte, info.Size())
	if _, err := io.ReadFull(f, data); err != nil {
		return nil, fmt.Errorf("reading %s: %w", path, err)
	}
	return data, nil
}

// ReadAt implements [Store].
func (l *Local) ReadAt(ctx context.Context, path string, p []byte, off int64) (int, error) {
	f, err := l.open(ctx, path)
	if err != nil {
		return 0, err
	}
	defer f.Close()
	n, err := f.ReadAt(p, off)
	if err != nil && err != io.EOF {
		err = fmt.Errorf("reading %s at %d: %w", path, off, err)
	}
	return n, err
}

func (l *Local) open(ctx context.Context, path string) (file, error) {
	if err := check(ctx, path); err != nil {
		return nil, err
	}
	info, err := l.fs.Stat(l.file(path))
	if err == nil && info.IsDir() {
		err = fs.ErrNotExist // a folder is no object
	}
	if err != nil {
		return nil, fault(path, err)
	}
	f, err := l.fs.Open(l.file(path))
	if err != nil {
		return nil, fault(path, err)
	}
	return f, nil
}

// Stat implements [Store].
func (l *Local) Stat(ctx context.Context, path string) (Info, error) {
	if err := check(ctx, path); err != nil {
		return Info{}, err
	}
	info, err := l.fs.Stat(l.file(path))
	if err == nil && info.IsDir() {
		err = fs.ErrNotExist
	}
	if err != nil {
		return Info{}, fault(path, err)
	}
	return Info{path, info.Size(), info.ModTime()}, nil
}

// Delete implements [Store].
func (l *Local) Delete(ctx context.Context, path string) error {
	if err := check(ctx, path); err != nil {
		return err
	}
	info, err := l.fs.Stat(l.file(path))
	if err == nil && info.IsDir() {
		return nil // there is no object of this path
	}
	if err == nil {
		err = l.fs.Remove(l.file(path))
	}
	if isAbsent(err) {
		return nil
	}
	if err != nil {
		return fault(path, err)
	}
	dir, _ := splitPath(path)
	l.removeEmpty(dir)
	return nil
}

// removeEmpty removes a folder nothing is left in, and those above it that this leaves empty, but none at the top.
func (l *Local) removeEmpty(dir string) {
	for strings.Contains(dir, "/") {
		l.durable.Delete(dir) // first: whoever makes it again must sync its name again
		if l.fs.RemoveDir(l.file(dir)) != nil {
			return // most likely it is not empty, and a folder too many does no harm
		}
		dir, _ = splitPath(dir)
	}
}

// CleanTemp deletes what crashed writers left behind longer than age ago and returns the number of files.
func (l *Local) CleanTemp(ctx context.Context, age time.Duration) (int, error) {
	entries, err := l.fs.ReadDir(filepath.Join(l.root, tempDir))
	if err != nil {
		return 0, fault(tempDir, err)
	}
	removed := 0
	for _, e := range entries {
		if err := ctx.Err(); err != nil {
			return removed, err
		}
		info, err := e.Info()
		if err != nil || time.Since(info.ModTime()) < age {
			continue // just finished by its writer, or young
		}
		if err := l.fs.Remove(filepath.Join(l.root, tempDir, e.Name())); err == nil {
			removed++
		} else if !isAbsent(err) {
			return removed, fault(tempDir+"/"+e.Name(), err)
		}
	}
	return removed, nil
}

// ensureDir creates a folder below the root and makes its name, and those of the folders above it, durable.
func (l *Local) ensureDir(dir string) error {
	if dir == "" {
		return nil
	}
	if _, ok := l.durable.Load(dir); ok {
		return nil
	}
	parent, _ := splitPath(dir)
	if err := l.ensureDir(parent); err != nil {
		return err
	}
	if err := l.fs.Mkdir(l.file(dir)); err != nil && !errors.Is(err, fs.ErrExist) {
		return err
	}
	if err := l.fs.SyncDir(l.file(parent)); err != nil {
		return err
	}
	l.durable.Store(dir, true)
	return nil
}

func (l *Local) newTemp() (string, file, error) {
	var b [12]byte
	rand.Read(b[:])
	name := filepath.Join(l.root, tempDir, hex.EncodeToString(b[:]))
	f, err := l.fs.CreateNew(name)
	return name, f, err
}

func isAbsent(err error) bool {
	return errors.Is(err, fs.ErrNotExist) || isNotDir(err)
}

// fault names the path and turns the system's errors into those of the contract.
func fault(path string, err error) error {
	switch {
	case isAbsent(err):
		return fmt.Errorf("%s: %w", path, ErrNotFound)
	case errors.Is(err, fs.ErrExist):
		return fmt.Errorf("%s: %w", path, ErrExists)
	}
	return fmt.Errorf("%s: %w", path, err)
}
