package tablestore

import (
	"context"
	"fmt"
	"io"
	"iter"
	"runtime"
	"sync"

	"github.com/tidemarkdb/tidemark/maskindex"
	"github.com/tidemarkdb/tidemark/objstore"
	"github.com/tidemarkdb/tidemark/parquetstore"
	"github.com/tidemarkdb/tidemark/tablet"
)

// Options sizes a store's caches. Zero values stand for the defaults.
type Options struct {
	PageBytes int64 // of decoded pages kept for warm scans; 0: 1 GiB
	MaskBytes int64 // of resolved masks; 0: 512 MiB
	Threads   int   // of work that is not asked for with a number of its own; 0: all cores
}

const (
	defaultPageBytes = 1 << 30
	defaultMaskBytes = 512 << 20
)

// Store reads and writes the tablets of one data root. Any goroutine may use it.
type Store struct {
	Objects objstore.Store
	Pages   *parquetstore.Cache

	threads   int
	pageBytes int64
	hot       hotColumns
	keyFiles  *maskindex.Files
	masks     *maskindex.Cache

	mu    sync.Mutex
	bases map[tablet.TableID][]*base // newest first, at most keptBases
}

// New returns a store over objects.
func New(objects objstore.Store, options Options) *Store {
	pick := func(n, or int64) int64 {
		if n > 0 {
			return n
		}
		return or
	}
	s := &Store{
		Objects:   objects,
		Pages:     parquetstore.NewCache(parquetstore.CacheOptions{Bytes: pick(options.PageBytes, defaultPageBytes)}),
		pageBytes: pick(options.PageBytes, defaultPageBytes),
		threads:   int(pick(int64(options.Threads), int64(runtime.GOMAXPROCS(0)))),
		bases:     map[tablet.TableID][]*base{},
	}
	s.keyFiles = maskindex.NewFiles(s.openKeyFile)
	s.masks = maskindex.NewCache(s.keyFiles, pick(options.MaskBytes, defaultMaskBytes))
	return s
}

// Close releases open files. No other call may run or follow.
func (s *Store) Close() error { return s.keyFiles.Close() }

// openKeyFile opens a sidecar or run, mapped into memory where the objects are local files.
func (s *Store) openKeyFile(ctx context.Context, name string) (*maskindex.File, error) {
	if path, ok := s.Objects.LocalPath(name); ok {
		return maskindex.OpenPath(path)
	}
	info, err := s.Objects.Stat(ctx, name)
	if err != nil {
		return nil, fmt.Errorf("opening key file: %w", err)
	}
	return maskindex.OpenReader(name, object{s.Objects, name}, info.Size)
}

// object is one object as an io.ReaderAt.
type object struct {
	store objstore.Store
	path  string
}

// ReadAt implements io.ReaderAt. The interface has no place for a context; reads of one object are short.
func (o object) ReadAt(p []byte, off int64) (int, error) {
	n, err := o.store.ReadAt(context.Background(), o.path, p, off)
	if n == len(p) && err == io.EOF {
		err = nil
	}
	return n, err
}

// Forget drops what the caches hold of a table.
func (s *Store) Forget(table tablet.TableID) {
	s.mu.Lock()
	delete(s.bases, table)
	s.mu.Unlock()
	s.masks.DropTable(uint64(table))
	s.hot.forget(table)
}

// ForgetFiles drops what the caches hold of files that left the newest snapshot. Whoever still reads one goes on, and may
// fill the caches again.
func (s *Store) ForgetFiles(paths iter.Seq[string]) error {
	gone := map[tablet.ID]bool{}
	var keys []string
	for path := range paths {
		switch f := tablet.ParsePath(path); f.Kind {
		case tablet.ParquetFile:
			gone[f.ID] = true
		case tablet.SidecarFile, tablet.RunFile:
			keys = append(keys, path)
		}
	}
	if len(gone) > 0 {
		s.Pages.Retain(func(id tablet.ID) bool { return !gone[id] })
	}
	if len(keys) == 0 {
		return nil
	}
	return s.keyFiles.Drop(keys...)
}
