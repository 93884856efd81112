package objstore

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"syscall"
)

// writeBuffer is the bytes a Writer gathers for one system call.
const writeBuffer = 256 << 10

// Create implements [Store].
func (l *Local) Create(ctx context.Context, path string) (Writer, error) {
	if err := check(ctx, path); err != nil {
		return nil, err
	}
	temp, f, err := l.newTemp()
	if err != nil {
		return nil, fmt.Errorf("creating %s: %w", path, err)
	}
	return &localWriter{store: l, ctx: ctx, path: path, temp: temp, file: f, buffered: bufio.NewWriterSize(f, writeBuffer)}, nil
}

// Put implements [Store].
func (l *Local) Put(ctx context.Context, path string, data []byte) error {
	if err := check(ctx, path); err != nil {
		return err
	}
	temp, err := l.writeTemp(data)
	if err != nil {
		return fmt.Errorf("writing %s: %w", path, err)
	}
	return l.rename(temp, path)
}

// PutIfAbsent implements [Store].
func (l *Local) PutIfAbsent(ctx context.Context, path string, data []byte) error {
	if err := check(ctx, path); err != nil {
		return err
	}
	if _, err := l.fs.Stat(l.file(path)); err == nil {
		return fmt.Errorf("%s: %w", path, ErrExists) // spares the loser of a race a synced write
	}
	temp, err := l.writeTemp(data)
	if err != nil {
		return fmt.Errorf("writing %s: %w", path, err)
	}
	defer l.fs.Remove(temp)
	err = l.place(path, func() error { return l.fs.Link(temp, l.file(path)) })
	switch {
	case errors.Is(err, fs.ErrExist):
		return fmt.Errorf("%s: %w", path, ErrExists)
	case errors.Is(err, syscall.EPERM) || errors.Is(err, errors.ErrUnsupported):
		return fmt.Errorf("writing %s: %w: the data directory needs a file system with hard links", path, err)
	case err != nil:
		return fmt.Errorf("writing %s: %w", path, err)
	}
	return l.syncFolder(path)
}

// placeTries is how often a file is put into a folder that others keep removing because it is empty.
const placeTries = 5

// place runs move, which puts a file at path, with the folder of path made.
func (l *Local) place(path string, move func() error) error {
	dir, _ := splitPath(path)
	for try := 1; ; try++ {
		err := l.ensureDir(dir)
		if err == nil {
			err = move()
		}
		if !errors.Is(err, fs.ErrNotExist) || try == placeTries {
			return err
		}
		l.durable.Clear()
	}
}

// writeTemp leaves data synced in a temporary file.
func (l *Local) writeTemp(data []byte) (string, error) {
	temp, f, err := l.newTemp()
	if err != nil {
		return "", err
	}
	_, err = f.Write(data)
	if err == nil {
		err = f.Sync()
	}
	if closeErr := f.Close(); err == nil {
		err = closeErr
	}
	if err != nil {
		l.fs.Remove(temp)
		return "", err
	}
	return temp, nil
}

func (l *Local) rename(temp, path string) error {
	if err := l.place(path, func() error { return l.fs.Rename(temp, l.file(path)) }); err != nil {
		l.fs.Remove(temp)
		return fmt.Errorf("writing %s: %w", path, err)
	}
	return l.syncFolder(path)
}

func (l *Local) syncFolder(path string) error {
	dir, _ := splitPath(path)
	err := l.fs.SyncDir(l.file(dir))
	if errors.Is(err, fs.ErrNotExist) {
		return nil // the object was deleted at once, and its folder with it
	}
	if err != nil {
		return fmt.Errorf("syncing the folder of %s: %w: %w", path, ErrNotDurable, err)
	}
	return nil
}

// localWriter streams into a temporary file.
type localWriter struct {
	store    *Local
	ctx      context.Context
	path     string
	temp     string
	file     file
	buffered *bufio.Writer
	done     bool
}

func (w *localWriter) Write(p []byte) (int, error) {
	if w.done {
		return 0, fmt.Errorf("%s: %w", w.path, ErrClosed)
	}
	if err := w.ctx.Err(); err != nil {
		return 0, err
	}
	n, err := w.buffered.Write(p)
	if err != nil {
		err = fmt.Errorf("writing %s: %w", w.path, err)
	}
	return n, err
}

func (w *localWriter) Close() error {
	if w.done {
		return fmt.Errorf("%s: %w", w.path, ErrClosed)
	}
	w.done = true
	err := w.ctx.Err()
	if err == nil {
		err = w.buffered.Flush()
	}
	if err == nil {
		err = w.file.Sync()
	}
	if closeErr := w.file.Close(); err == nil {
		err = closeErr
	}
	if err != nil {
		w.store.fs.Remove(w.temp)
		return fmt.Errorf("writing %s: %w", w.path, err)
	}
	return w.store.rename(w.temp, w.path)
}

func (w *localWriter) Abort() {
	if w.done {
		return
	}
	w.done = true
	w.file.Close()
	w.store.fs.Remove(w.temp)
}

// isNotDir reports that an element above the path is a file, so the path names nothing.
func isNotDir(err error) bool {
	var pathErr *fs.PathError
	return errors.As(err, &pathErr) && errors.Is(pathErr.Err, syscall.ENOTDIR)
}
