package files

import (
	"context"
	"os"
	"path/filepath"
	"sync"
	"time"

	"github.com/tidemarkdb/tidemark/extension"
	"github.com/tidemarkdb/tidemark/parquetstore"
	"github.com/tidemarkdb/tidemark/sqlerr"
	"github.com/tidemarkdb/tidemark/tablet"
)

// Library names files for the cache of decoded pages and remembers what their footers told. Any goroutine may use it.
type Library struct {
	pages *parquetstore.Cache

	mu    sync.Mutex
	known map[string]*entry // by absolute path
}

// entry is one file as it was when it was last looked at.
type entry struct {
	path    string
	id      tablet.ID
	size    int64
	changed time.Time

	mu        sync.Mutex
	summaries map[int]parquetstore.Summary // by place of the column
}

// maxKnown bounds what a library remembers.
const maxKnown = 1 << 16

// NewLibrary returns a library over a cache of pages.
func NewLibrary(pages *parquetstore.Cache) *Library {
	return &Library{pages: pages, known: map[string]*entry{}}
}

// Register adds the table functions that read files.
func Register(r *extension.Registry, pages *parquetstore.Cache) {
	l := NewLibrary(pages)
	for _, f := range []*extension.TableFunc{l.readParquet(), readCSV(), readJSON()} {
		f.Category = "files"
		r.RegisterTable(f)
	}
}

// lookup returns the entry of a file, a new one when the file changed.
func (l *Library) lookup(path string) (*entry, error) {
	absolute, err := filepath.Abs(path)
	if err != nil {
		return nil, sqlerr.New(sqlerr.IOError, "file %q: %w", path, err)
	}
	info, err := os.Stat(absolute)
	if err != nil {
		return nil, sqlerr.New(sqlerr.UndefinedFile, "file %q: %w", path, err).Hintf("check the path and its permissions")
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	old := l.known[absolute]
	if old != nil && old.size == info.Size() && old.changed.Equal(info.ModTime()) {
		return old, nil
	}
	if old != nil {
		l.pages.Drop(old.id)
	} else if len(l.known) >= maxKnown {
		clear(l.known)
	}
	e := &entry{path: absolute, id: tablet.NewID(), size: info.Size(), changed: info.ModTime(), summaries: map[int]parquetstore.Summary{}}
	l.known[absolute] = e
	return e, nil
}

func (l *Library) open(ctx context.Context, e *entry) (*parquetstore.File, error) {
	return parquetstore.OpenPath(ctx, e.path, parquetstore.OpenOptions{Tablet: e.id, Foreign: true, Cache: l.pages})
}

// summary returns what is known of a column of the file at that place.
func (l *Library) summary(ctx context.Context, e *entry, column int) (parquetstore.Summary, error) {
	e.mu.Lock()
	defer e.mu.Unlock()
	if s, ok := e.summaries[column]; ok {
		return s, nil
	}
	f, err := l.open(ctx, e)
	if err != nil {
		return parquetstore.Summary{}, err
	}
	defer f.Close()
	s, err := f.Summarize(ctx, column)
	if err == nil {
		e.summaries[column] = s
	}
	return s, err
}
