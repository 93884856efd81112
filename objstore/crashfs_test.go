package objstore

import (
	"errors"
	"io"
	"io/fs"
	"math/rand/v2"
	"path/filepath"
	"sort"
	"strings"
	"sync"
	"syscall"
	"time"
)

var errPower = errors.New("the machine lost power")

// crashFS is a file system in memory that forgets what was not synced: the bytes of a file without Sync, and the
// names in a folder without SyncDir.
type crashFS struct {
	mu      sync.Mutex
	live    map[string]*inode // by absolute path
	durable map[string]*inode // names as the disk has them
	random  *rand.Rand
	ops     int
	crashAt int
	crashed bool
}

type inode struct {
	dir    bool
	data   []byte
	synced []byte
}

func newCrashFS(seed uint64) *crashFS {
	top := &inode{dir: true}
	return &crashFS{
		live: map[string]*inode{"/": top}, durable: map[string]*inode{"/": top}, random: rand.New(rand.NewPCG(seed, 2)),
	}
}

// step counts one change and loses power at the chosen one, before it takes effect.
func (c *crashFS) step() error {
	c.ops++
	if c.ops == c.crashAt {
		c.crashed = true
	}
	if c.crashed {
		return errPower
	}
	return nil
}

// reboot returns the file system as the disk has it: of the changes of names since the last sync of their folder some
// happened and some did not, and of bytes since the last sync of their file a part.
func (c *crashFS) reboot() *crashFS {
	next := newCrashFS(c.random.Uint64())
	names := map[string]bool{}
	for n := range c.live {
		names[n] = true
	}
	for n := range c.durable {
		names[n] = true
	}
	sorted := make([]string, 0, len(names))
	for n := range names {
		sorted = append(sorted, n)
	}
	sort.Strings(sorted) // folders before what is in them, and the same order for the same seed
	seen := map[*inode]*inode{}
	for _, name := range sorted {
		node := c.durable[name]
		if c.live[name] != node && c.random.IntN(2) == 0 {
			node = c.live[name]
		}
		if node == nil || name == "/" || next.live[filepath.Dir(name)] == nil {
			continue
		}
		if seen[node] == nil {
			data := append([]byte{}, node.synced...)
			if len(node.data) > len(data) {
				data = append(data, node.data[len(data):len(data)+c.random.IntN(len(node.data)-len(data)+1)]...)
			}
			seen[node] = &inode{dir: node.dir, data: data, synced: data}
		}
		next.live[name], next.durable[name] = seen[node], seen[node]
	}
	return next
}

func (c *crashFS) find(name string) (*inode, error) {
	if c.crashed {
		return nil, errPower
	}
	for dir := filepath.Dir(name); dir != "/"; dir = filepath.Dir(dir) {
		if n := c.live[dir]; n != nil && !n.dir {
			return nil, &fs.PathError{Op: "open", Path: name, Err: syscall.ENOTDIR}
		}
	}
	n := c.live[name]
	if n == nil {
		return nil, &fs.PathError{Op: "open", Path: name, Err: fs.ErrNotExist}
	}
	return n, nil
}

func (c *crashFS) Open(name string) (file, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	n, err := c.find(name)
	if err != nil {
		return nil, err
	}
	return &crashFile{fs: c, name: name, node: n}, nil
}

func (c *crashFS) add(name string, n *inode) error {
	if err := c.step(); err != nil {
		return err
	}
	if c.live[filepath.Dir(name)] == nil {
		return &fs.PathError{Op: "create", Path: name, Err: fs.ErrNotExist}
	}
	if c.live[name] != nil {
		return &fs.PathError{Op: "create", Path: name, Err: fs.ErrExist}
	}
	c.live[name] = n
	return nil
}

func (c *crashFS) CreateNew(name string) (file, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	n := &inode{}
	if err := c.add(name, n); err != nil {
		return nil, err
	}
	return &crashFile{fs: c, name: name, node: n}, nil
}

func (c *crashFS) Mkdir(name string) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.add(name, &inode{dir: true})
}

func (c *crashFS) Link(from, to string) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	n, err := c.find(from)
	if err != nil {
		return err
	}
	return c.add(to, n)
}

func (c *crashFS) Rename(from, to string) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	n, err := c.find(from)
	if err == nil {
		err = c.step()
	}
	if err != nil {
		return err
	}
	if c.live[filepath.Dir(to)] == nil {
		return &fs.PathError{Op: "rename", Path: to, Err: fs.ErrNotExist}
	}
	delete(c.live, from)
	c.live[to] = n
	return nil
}

func (c *crashFS) Remove(name string) error { return c.remove(name, false) }

func (c *crashFS) RemoveDir(name string) error { return c.remove(name, true) }

func (c *crashFS) remove(name string, dir bool) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	n, err := c.find(name)
	if err != nil {
		return err
	}
	if n.dir != dir {
		return &fs.PathError{Op: "remove", Path: name, Err: syscall.ENOTDIR}
	}
	for other := range c.live {
		if n.dir && filepath.Dir(other) == name && other != name {
			return &fs.PathError{Op: "remove", Path: name, Err: syscall.ENOTEMPTY}
		}
	}
	if err := c.step(); err != nil {
		return err
	}
	delete(c.live, name)
	return nil
}

func (c *crashFS) SyncDir(dir string) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	if _, err := c.find(dir); err != nil {
		return err
	}
	if err := c.step(); err != nil {
		return err
	}
	for name := range c.durable {
		if filepath.Dir(name) == dir && name != "/" && c.live[name] == nil {
			delete(c.durable, name)
		}
	}
	for name, n := range c.live {
		if filepath.Dir(name) == dir {
			c.durable[name] = n
		}
	}
	return nil
}

func (c *crashFS) Stat(name string) (fs.FileInfo, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	n, err := c.find(name)
	if err != nil {
		return nil, err
	}
	return crashInfo{name, n.dir, len(n.data)}, nil
}

func (c *crashFS) ReadDir(dir string) ([]fs.DirEntry, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if _, err := c.find(dir); err != nil {
		return nil, err
	}
	var entries []fs.DirEntry
	for name, n := range c.live {
		if filepath.Dir(name) == dir && name != "/" {
			entries = append(entries, fs.FileInfoToDirEntry(crashInfo{name, n.dir, len(n.data)}))
		}
	}
	return entries, nil
}

type crashFile struct {
	fs   *crashFS
	name string
	node *inode
	at   int64
}

func (f *crashFile) Write(p []byte) (int, error) {
	f.fs.mu.Lock()
	defer f.fs.mu.Unlock()
	if err := f.fs.step(); err != nil {
		return 0, err
	}
	f.node.data = append(f.node.data, p...)
	return len(p), nil
}

func (f *crashFile) Sync() error {
	f.fs.mu.Lock()
	defer f.fs.mu.Unlock()
	if err := f.fs.step(); err != nil {
		return err
	}
	f.node.synced = append([]byte{}, f.node.data...)
	return nil
}

func (f *crashFile) Read(p []byte) (int, error) {
	n, err := f.ReadAt(p, f.at)
	f.at += int64(n)
	return n, err
}

func (f *crashFile) ReadAt(p []byte, off int64) (int, error) {
	f.fs.mu.Lock()
	defer f.fs.mu.Unlock()
	if f.fs.crashed {
		return 0, errPower
	}
	if off < 0 || off >= int64(len(f.node.data)) {
		return 0, io.EOF
	}
	n := copy(p, f.node.data[off:])
	if n < len(p) {
		return n, io.EOF
	}
	return n, nil
}

func (f *crashFile) Stat() (fs.FileInfo, error) { return f.fs.Stat(f.name) }
func (f *crashFile) Close() error               { return nil }

type crashInfo struct {
	name string
	dir  bool
	size int
}

func (i crashInfo) Name() string       { return i.name[strings.LastIndexByte(i.name, '/')+1:] }
func (i crashInfo) Size() int64        { return int64(i.size) }
func (i crashInfo) ModTime() time.Time { return time.Unix(0, 0) }
func (i crashInfo) IsDir() bool        { return i.dir }
func (i crashInfo) Sys() any           { return nil }
func (i crashInfo) Mode() fs.FileMode {
	if i.dir {
		return fs.ModeDir
	}
	return 0
}
