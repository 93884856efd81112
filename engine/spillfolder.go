package engine

import (
	"errors"
	"log/slog"
	"os"
	"path/filepath"
	"syscall"
	"time"

	"github.com/tidemarkdb/tidemark/sqlerr"
)

const (
	spillPrefix = "tidemark-spill-"
	spillLock   = "lock"
	// spillGrace is how old a folder without a lock must be before it counts as left behind by a process that ended
	// right after making it.
	spillGrace = time.Hour
)

// spillFolder is the engine's own folder for temporary files. A lock on a file in it, which the kernel drops when the
// process ends however it ends, tells other engines that its owner lives.
type spillFolder struct {
	path string
	lock *os.File
}

// newSpillFolder makes a folder in parent ("": the system's folder for temporary files), after removing those of
// engines that were killed.
func newSpillFolder(parent string, log *slog.Logger) (*spillFolder, error) {
	if parent == "" {
		parent = os.TempDir()
	}
	removeDeadSpillFolders(parent, log)
	for {
		f, err := claimSpillFolder(parent)
		if err != nil {
			return nil, sqlerr.New(sqlerr.IOError, "making a folder for temporary files: %w", err).
				Hintf("check that the folder for temporary files exists and can be written to")
		}
		if f != nil {
			return f, nil
		}
	}
}

// claimSpillFolder makes and locks a folder; nil when another engine, starting too, took it for a dead one's in between.
func claimSpillFolder(parent string) (*spillFolder, error) {
	path, err := os.MkdirTemp(parent, spillPrefix)
	if err != nil {
		return nil, err
	}
	lock, err := os.OpenFile(filepath.Join(path, spillLock), os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		if errors.Is(err, os.ErrNotExist) {
			return nil, nil
		}
		return nil, err
	}
	if err := syscall.Flock(int(lock.Fd()), syscall.LOCK_EX); err != nil {
		// A file system without locks: the folder serves, and nobody else can tell that it is dead.
		return &spillFolder{path: path, lock: lock}, nil
	}
	if held, err := lock.Stat(); err == nil {
		if there, err := os.Stat(lock.Name()); err != nil || !os.SameFile(held, there) {
			lock.Close()
			return nil, nil
		}
	}
	return &spillFolder{path: path, lock: lock}, nil
}

// remove deletes the folder; idempotent.
func (f *spillFolder) remove() error {
	err := os.RemoveAll(f.path)
	f.lock.Close()
	return err
}

// removeDeadSpillFolders removes the folders whose owners ended without removing them.
func removeDeadSpillFolders(parent string, log *slog.Logger) {
	paths, _ := filepath.Glob(filepath.Join(parent, spillPrefix+"*"))
	for _, path := range paths {
		lock, err := os.OpenFile(filepath.Join(path, spillLock), os.O_RDWR, 0)
		if err != nil {
			if info, serr := os.Stat(path); errors.Is(err, os.ErrNotExist) && serr == nil && time.Since(info.ModTime()) > spillGrace {
				os.Remove(path) // only an empty one goes
			}
			continue
		}
		if syscall.Flock(int(lock.Fd()), syscall.LOCK_EX|syscall.LOCK_NB) == nil {
			if err := os.RemoveAll(path); err != nil {
				log.Warn("removing the temporary files of a killed engine", "folder", path, "error", err)
			} else {
				log.Info("removed the temporary files of a killed engine", "folder", path)
			}
		}
		lock.Close()
	}
}
