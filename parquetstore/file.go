package parquetstore

import (
	"context"
	"errors"
	"fmt"
	"math"
	"runtime/debug"
	"sync"
	"weak"

	"github.com/parquet-go/parquet-go/format"

	"github.com/tidemarkdb/tidemark/objstore"
	"github.com/tidemarkdb/tidemark/sqlerr"
	"github.com/tidemarkdb/tidemark/tablet"
	"github.com/tidemarkdb/tidemark/vec"
)

// OpenOptions says how a file is read. The zero value opens a file of any writer, uncached.
type OpenOptions struct {
	// Tablet is set for one of our own tablets: the file must carry our seal, and with Cache its footer and decoded
	// pages are cached under this name.
	Tablet tablet.ID

	// Foreign says that the file is no tablet of ours: no seal is asked for, and Tablet, when set, is but the name
	// that the cache keeps it under. A file that changes needs another name.
	Foreign bool

	// Cache keeps decoded pages between scans. nil keeps none; it is not used without Tablet.
	Cache *Cache
}

// File is an open Parquet file. Its methods may be called from any goroutine.
type File struct {
	path    string
	src     *source
	schema  *schema
	groups  []rowGroup
	rows    int64
	own     bool
	headers []uint32 // CRC of every page header in file order; own files only
	tablet  tablet.ID
	foreign bool
	cache   *Cache
}

// rowGroup is one row group.
type rowGroup struct {
	first  int64 // ordinal of its first row in the file
	rows   int
	chunks []chunk // by leaf
}

// chunk is one leaf's part of a row group.
type chunk struct {
	leaf    *leaf
	codec   format.CompressionCodec
	meta    *format.ColumnChunk
	bounds  bounds
	start   int64 // first byte, that of the dictionary where there is one
	end     int64
	headers int // place of the first page's header CRC in File.headers

	mu   sync.Mutex
	dir  *directory               // made at first use
	dict weak.Pointer[vec.Vector] // alive while a page uses it; its memory counts with those pages
}

// Open opens the file at path. The caller must close it.
func Open(ctx context.Context, store objstore.Store, path string, o OpenOptions) (*File, error) {
	return openAny(ctx, path, o, func() (*source, error) { return openSource(ctx, store, path) })
}

// OpenPath opens a file of the local file system. The caller must close it.
func OpenPath(ctx context.Context, path string, o OpenOptions) (*File, error) {
	return openAny(ctx, path, o, func() (*source, error) { return openLocal(path) })
}

func openAny(ctx context.Context, path string, o OpenOptions, open func() (*source, error)) (*File, error) {
	if o.Cache != nil && o.Tablet != 0 {
		return o.Cache.files.open(ctx, o.Tablet, func() (*File, error) { return openFile(ctx, path, o, open) })
	}
	return openFile(ctx, path, o, open)
}

func openFile(ctx context.Context, path string, o OpenOptions, open func() (*source, error)) (file *File, err error) {
	src, err := open()
	if err != nil {
		return nil, openError(path, err)
	}
	f := &File{path: path, src: src, tablet: o.Tablet, foreign: o.Foreign || o.Tablet == 0, cache: o.Cache}
	if o.Tablet == 0 {
		f.cache = nil
	}
	defer func() {
		if err != nil {
			src.release()
		}
	}()
	err = f.guard(func() error { return f.init(ctx, !f.foreign) })
	if err != nil {
		return nil, f.damaged(err)
	}
	return f, nil
}

func openError(path string, err error) error {
	if errors.Is(err, objstore.ErrNotFound) {
		return sqlerr.New(sqlerr.UndefinedFile, "Parquet file %s: %w", path, err).Hintf("check the path")
	}
	return sqlerr.New(sqlerr.IOError, "Parquet file %s: %w", path, err).Hintf("check the path, its permissions and the storage")
}

func (f *File) init(ctx context.Context, ours bool) error {
	foot, err := readFooter(ctx, f.src, ours)
	if err != nil {
		return err
	}
	f.own, f.headers = foot.own, foot.headers
	var types map[string]vec.Type
	if f.own {
		if types, err = foot.types(); err != nil {
			return err
		}
	}
	if f.schema, err = parseSchema(foot.meta.Schema, types); err != nil {
		return err
	}
	return f.initGroups(foot)
}

// initGroups checks everything the readers rely on: ranges inside the file, leaves that match, row counts that add up.
func (f *File) initGroups(foot *footer) error {
	f.groups = make([]rowGroup, len(foot.meta.RowGroups))
	headers := 0
	for g := range foot.meta.RowGroups {
		m := &foot.meta.RowGroups[g]
		if m.NumRows < 0 || m.NumRows > math.MaxInt32 || len(m.Columns) != len(f.schema.leaves) {
			return fmt.Errorf("row group %d has %d rows and %d columns where the schema has %d", g, m.NumRows, len(m.Columns), len(f.schema.leaves))
		}
		group := rowGroup{first: f.rows, rows: int(m.NumRows), chunks: make([]chunk, len(m.Columns))}
		for i := range m.Columns {
			c := &group.chunks[i]
			if err := f.initChunk(c, &m.Columns[i], &f.schema.leaves[i], m.NumRows, foot.start); err != nil {
				return fmt.Errorf("row group %d, column %q: %w", g, f.schema.leaves[i].path, err)
			}
			c.headers = headers
			for _, s := range c.meta.MetaData.EncodingStats {
				headers += int(s.Count)
			}
		}
		f.groups[g] = group
		f.rows += m.NumRows
	}
	if f.rows != foot.meta.NumRows {
		return fmt.Errorf("row groups hold %d rows where the footer says %d", f.rows, foot.meta.NumRows)
	}
	if f.own && headers != len(f.headers) {
		return fmt.Errorf("checksums of %d page headers for %d pages", len(f.headers), headers)
	}
	return nil
}

func (f *File) initChunk(c *chunk, m *format.ColumnChunk, l *leaf, rows, limit int64) error {
	d := &m.MetaData
	c.leaf, c.meta, c.codec = l, m, d.Codec
	if m.FilePath != "" {
		return errors.New("its data lies in another file, which is not supported")
	}
	if m.CryptoMetadata.Value != nil {
		return errors.New("it is encrypted, which is not supported: decrypt the file first")
	}
	if d.Type != l.phys {
		return fmt.Errorf("its chunk holds %s where the schema has %s", d.Type, l.phys)
	}
	c.start = d.DataPageOffset
	// Some writers leave 0 or a nonsensical offset when there is no dictionary.
	if o := d.DictionaryPageOffset; o >= int64(len(magic)) && o < c.start {
		c.start = o
	}
	c.end = c.start + d.TotalCompressedSize
	if rows == 0 { // some writers leave out where its data would be
		c.start, c.end = limit, limit
		c.bounds = unknownBounds
		return nil
	}
	if c.start < int64(len(magic)) || d.TotalCompressedSize < 0 || c.end > limit || c.end < c.start {
		return fmt.Errorf("its bytes %d to %d lie outside the data", c.start, c.end)
	}
	if l.maxRep == 0 && d.NumValues != rows {
		return fmt.Errorf("it has %d values for %d rows", d.NumValues, rows)
	}
	c.bounds = l.chunkBounds(&d.Statistics, rows, f.own)
	return nil
}

// Close gives the file up. Scans that still run keep what they need.
func (f *File) Close() error {
	f.src.release()
	return nil
}

// Path returns the file's path in its store.
func (f *File) Path() string { return f.path }

// Rows returns the number of rows.
func (f *File) Rows() int64 { return f.rows }

// SizeBytes returns the size of the file.
func (f *File) SizeBytes() int64 { return f.src.size }

// Own reports whether our writer made the file, so that every byte of it is checked when read.
func (f *File) Own() bool { return f.own }

// Columns returns the file's columns in order. The caller must not change them.
func (f *File) Columns() []Column { return f.schema.columns }

// SchemaOf returns the SQL names and types of the file's columns.
func SchemaOf(f *File) vec.Schema {
	out := make(vec.Schema, len(f.schema.columns))
	for i, c := range f.schema.columns {
		out[i] = vec.Column{Name: c.Name, Type: c.Type, Nullable: c.Nullable}
	}
	return out
}

// ColumnByFieldID returns the place of the column with an Iceberg field id, or -1: rows written before a column was
// added do not have it.
func (f *File) ColumnByFieldID(id int32) int {
	for i, c := range f.schema.columns {
		if c.FieldID == id {
			return i
		}
	}
	return -1
}

// RowGroups returns the number of rows of every row group.
func (f *File) RowGroups() []int {
	out := make([]int, len(f.groups))
	for i := range f.groups {
		out[i] = f.groups[i].rows
	}
	return out
}

// damaged turns a fault found in the file's bytes into an error that names the file; errors of the context and those
// that have an SQLSTATE already pass.
func (f *File) damaged(err error) error {
	var known *sqlerr.Error
	switch {
	case err == nil, errors.As(err, &known), errors.Is(err, context.Canceled), errors.Is(err, context.DeadlineExceeded):
		return err
	case errors.Is(err, errClosed):
		return sqlerr.New(sqlerr.Internal, "Parquet file %s: %w", f.path, err)
	case !f.foreign:
		return sqlerr.New(sqlerr.DataCorrupted, "tablet file %s: %w", f.path, err).
			Hintf("run flightsrv check on the data root and restore the file from a backup")
	}
	return sqlerr.New(sqlerr.DataCorrupted, "Parquet file %s: %w", f.path, err).Hintf("write the file again")
}

// guard runs f, which reads the file's bytes, and turns a panic into an error: a decoder that trusts a byte too much
// and mapped memory that the file system cannot deliver must not end the process.
func (f *File) guard(read func() error) (err error) {
	before := debug.SetPanicOnFault(true)
	defer func() {
		debug.SetPanicOnFault(before)
		if p := recover(); p != nil {
			err = fmt.Errorf("its bytes could not be decoded: %v", p)
		}
	}()
	return read()
}
