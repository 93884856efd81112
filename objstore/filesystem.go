package objstore

import (
	"io"
	"io/fs"
	"os"
	"syscall"
)

// fileSystem is what Local needs of a file system, so that tests can put one that forgets under it.
type fileSystem interface {
	Open(name string) (file, error)
	CreateNew(name string) (file, error) // for writing; fails when it exists
	Link(from, to string) error          // fails when to exists
	Rename(from, to string) error        // replaces to
	Remove(name string) error
	RemoveDir(name string) error // fails when it is a file or not empty
	Mkdir(name string) error
	SyncDir(name string) error // makes the names in a folder durable
	Stat(name string) (fs.FileInfo, error)
	ReadDir(name string) ([]fs.DirEntry, error)
}

type file interface {
	io.Reader
	io.ReaderAt
	io.Writer
	io.Closer
	Stat() (fs.FileInfo, error)
	Sync() error
}

type osFileSystem struct{}

func (osFileSystem) Open(name string) (file, error) { return os.Open(name) }

func (osFileSystem) CreateNew(name string) (file, error) {
	return os.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o640)
}

func (osFileSystem) Link(from, to string) error                 { return os.Link(from, to) }
func (osFileSystem) Rename(from, to string) error               { return os.Rename(from, to) }
func (osFileSystem) Remove(name string) error                   { return os.Remove(name) }
func (osFileSystem) RemoveDir(name string) error                { return syscall.Rmdir(name) }
func (osFileSystem) Mkdir(name string) error                    { return os.Mkdir(name, 0o750) }
func (osFileSystem) Stat(name string) (fs.FileInfo, error)      { return os.Stat(name) }
func (osFileSystem) ReadDir(name string) ([]fs.DirEntry, error) { return os.ReadDir(name) }

func (osFileSystem) SyncDir(name string) error {
	d, err := os.Open(name)
	if err != nil {
		return err
	}
	defer d.Close()
	return d.Sync()
}
