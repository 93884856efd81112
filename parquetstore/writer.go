package parquetstore

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"runtime"

	"github.com/parquet-go/parquet-go/format"
	"github.com/zeebo/xxh3"
	"golang.org/x/sync/errgroup"

	"github.com/tidemarkdb/tidemark/objstore"
	"github.com/tidemarkdb/tidemark/sqlerr"
	"github.com/tidemarkdb/tidemark/tablet"
	"github.com/tidemarkdb/tidemark/vec"
)

// Codec names a compression.
type Codec uint8

// The codecs files are written with. Snappy is the default: zstd makes smaller files that take longer to read.
const (
	Snappy Codec = iota
	Zstd
	Uncompressed
)

func (c Codec) format() format.CompressionCodec {
	switch c {
	case Zstd:
		return format.Zstd
	case Uncompressed:
		return format.Uncompressed
	}
	return format.Snappy
}

// The defaults of [Options]. Row groups and pages hold whole batches of vec.BatchRows.
const (
	DefaultRowGroupRows = 15 * vec.BatchRows // 122,880
	DefaultPageRows     = 3 * vec.BatchRows
	DefaultPageBytes    = 1 << 20
	DefaultBufferBytes  = 256 << 20
)

// Options says how a file is written. The zero value is a good choice.
type Options struct {
	Codec        Codec
	RowGroupRows int     // rows a row group; 0: DefaultRowGroupRows
	PageRows     int     // rows a page at most; 0: DefaultPageRows
	PageBytes    int     // encoded bytes a page, about; 0: DefaultPageBytes
	BufferBytes  int     // a row group ends early when it holds more than this; 0: DefaultBufferBytes
	Threads      int     // columns encoded at once; 0: one a processor
	Sorted       []int32 // field ids of the columns the caller says the rows are sorted by, NULLs last
}

func (o Options) withDefaults() Options {
	pick := func(n *int, or int) {
		if *n <= 0 {
			*n = or
		}
	}
	pick(&o.RowGroupRows, DefaultRowGroupRows)
	pick(&o.PageRows, DefaultPageRows)
	pick(&o.PageBytes, DefaultPageBytes)
	pick(&o.BufferBytes, DefaultBufferBytes)
	pick(&o.Threads, runtime.GOMAXPROCS(0))
	return o
}

// Writer writes one Parquet file from batches. It belongs to one goroutine. Nothing is visible before Close.
type Writer struct {
	o        Options
	path     string
	columns  []tablet.Column
	schema   *schemaWriter
	out      objstore.Writer
	hash     *xxh3.Hasher
	written  int64
	err      error // the first failure; all later calls return it
	buffers  []rowBuffer
	buffered int
	rows     int64
	deletes  int64
	encoders []*chunkEncoder // by leaf
	chunks   []encodedChunk  // by leaf, reused from row group to row group
	groups   []format.RowGroup
	headers  []byte
	indexes  []encodedChunk // the offset and column indexes of every chunk, in file order
}

// rowBuffer gathers one column of a row group.
type rowBuffer interface {
	append(v *vec.Vector, sel vec.Selection)
	memoryBytes() int
	reset()
	// encode encodes the gathered rows into the column's chunks.
	encode(encoders []*chunkEncoder, out []encodedChunk) error
	// leaves returns how many chunks that makes.
	leaves() int
}

// NewWriter starts a file of columns at path. The caller must call Close or Abort.
func NewWriter(ctx context.Context, store objstore.Store, path string, columns []tablet.Column, o Options) (*Writer, error) {
	schema, err := buildSchema(columns)
	if err != nil {
		return nil, sqlerr.New(sqlerr.InvalidTableDefinition, "Parquet file %s: %w", path, err)
	}
	if len(columns) == 0 {
		return nil, sqlerr.New(sqlerr.InvalidTableDefinition, "Parquet file %s has no columns", path).Hintf("give it one")
	}
	out, err := store.Create(ctx, path)
	if err != nil {
		return nil, fmt.Errorf("creating %s: %w", path, err)
	}
	w := &Writer{o: o.withDefaults(), path: path, columns: columns, schema: schema, out: out, hash: xxh3.New()}
	for _, l := range schema.leaves {
		w.encoders = append(w.encoders, &chunkEncoder{o: &w.o, codec: o.Codec.format(), leaf: l})
	}
	w.chunks = make([]encodedChunk, len(schema.leaves))
	for _, c := range columns {
		w.buffers = append(w.buffers, newRowBuffer(c))
	}
	w.write([]byte(magic))
	return w, nil
}

// Path returns the path of the file.
func (w *Writer) Path() string { return w.path }

// Rows returns how many rows were written.
func (w *Writer) Rows() int64 { return w.rows + int64(w.buffered) }

// Bytes returns how many bytes of the file exist: whole row groups.
func (w *Writer) Bytes() int64 { return w.written }

// Write adds the rows of b, which it borrows. The vectors must be of the columns' types, in their order; a NULL in a
// column that is not nullable is an error.
func (w *Writer) Write(b *vec.Batch) error {
	if w.err != nil {
		return w.err
	}
	if err := w.check(b); err != nil {
		w.err = err
		return err
	}
	for from, n := 0, b.Rows(); from < n; {
		take := min(n-from, w.o.RowGroupRows-w.buffered)
		part := b
		switch {
		case b.Sel != nil:
			part = &vec.Batch{Cols: b.Cols, N: b.N, Sel: b.Sel[from : from+take]}
		case take < n:
			part = b.Slice(from, take)
		}
		memory := 0
		for i, buffer := range w.buffers {
			buffer.append(part.Cols[i], part.Sel)
			memory += buffer.memoryBytes()
		}
		w.countDeletes(part)
		w.buffered += take
		from += take
		if w.buffered >= w.o.RowGroupRows || memory > w.o.BufferBytes {
			if err := w.flush(); err != nil {
				return err
			}
		}
	}
	return nil
}

// check refuses batches the file cannot hold.
func (w *Writer) check(b *vec.Batch) error {
	if len(b.Cols) != len(w.columns) {
		return sqlerr.New(sqlerr.Internal, "Parquet file %s: a batch of %d columns for %d", w.path, len(b.Cols), len(w.columns))
	}
	for i, v := range b.Cols {
		c := &w.columns[i]
		if v.Type.ID != vec.Null && !v.Type.Equal(c.Type) {
			return sqlerr.New(sqlerr.DatatypeMismatch, "column %q is of type %s but its values are %s", c.Name, c.Type, v.Type).
				Hintf("cast the values")
		}
		if c.Nullable || !v.MayHaveNulls() {
			continue
		}
		if hasNull(v, b.Sel) {
			return sqlerr.New(sqlerr.NotNullViolation, "null value in column %q violates not-null constraint", c.Name).
				Hintf("give the column a value or make it nullable")
		}
	}
	return nil
}

func hasNull(v *vec.Vector, sel vec.Selection) bool {
	valid := v.RowValid()
	if valid == nil {
		return false
	}
	if sel == nil {
		return valid.Count(v.N) < v.N
	}
	for _, i := range sel {
		if !valid.Get(int(i)) {
			return true
		}
	}
	return false
}

// countDeletes counts delete markers for the tablet's description.
func (w *Writer) countDeletes(b *vec.Batch) {
	for i := range w.columns {
		if w.columns[i].FieldID != tablet.OpFieldID {
			continue
		}
		op := b.Cols[i].Flatten()
		values := vec.Cast[int16](op.Data)
		if b.Sel == nil {
			for _, x := range values[:b.N] {
				if x == tablet.OpDelete {
					w.deletes++
				}
			}
			continue
		}
		for _, r := range b.Sel {
			if values[r] == tablet.OpDelete {
				w.deletes++
			}
		}
	}
}

// flush encodes the buffered rows, columns in parallel, and writes them as a row group.
func (w *Writer) flush() error {
	if w.buffered == 0 || w.err != nil {
		return w.err
	}
	var g errgroup.Group
	g.SetLimit(w.o.Threads)
	leaf := 0
	for _, buffer := range w.buffers {
		from, to := leaf, leaf+buffer.leaves()
		leaf = to
		g.Go(func() (err error) {
			defer func() {
				if p := recover(); p != nil {
					err = sqlerr.New(sqlerr.Internal, "Parquet file %s: encoding column %v: %v", w.path, w.schema.leaves[from].path, p)
				}
			}()
			return buffer.encode(w.encoders[from:to], w.chunks[from:to])
		})
	}
	if err := g.Wait(); err != nil {
		w.err = err
		return err
	}
	w.writeGroup()
	for _, buffer := range w.buffers {
		buffer.reset()
	}
	w.rows += int64(w.buffered)
	w.buffered = 0
	return w.err
}

// writeGroup writes the encoded chunks and keeps what the footer needs of them.
func (w *Writer) writeGroup() {
	group := format.RowGroup{NumRows: int64(w.buffered), Ordinal: int16(len(w.groups)), FileOffset: w.written}
	for i := range w.chunks {
		c := &w.chunks[i]
		base := w.written
		c.meta.DataPageOffset += base
		if c.meta.EncodingStats[0].PageType == format.DictionaryPage {
			c.meta.DictionaryPageOffset = base
		}
		for k := range c.offsets.PageLocations {
			c.offsets.PageLocations[k].Offset += base
		}
		w.write(c.data)
		for _, crc := range c.headers {
			w.headers = binary.LittleEndian.AppendUint32(w.headers, crc)
		}
		group.Columns = append(group.Columns, format.ColumnChunk{MetaData: c.meta})
		group.TotalByteSize += c.meta.TotalUncompressedSize
		group.TotalCompressedSize += c.meta.TotalCompressedSize
		w.indexes = append(w.indexes, encodedChunk{offsets: c.offsets, index: c.index})
	}
	group.SortingColumns = w.sorting()
	w.groups = append(w.groups, group)
}

// sorting returns the declared order in the form of the footer, as far as it names flat columns.
func (w *Writer) sorting() []format.SortingColumn {
	var out []format.SortingColumn
	for _, id := range w.o.Sorted {
		leaf := 0
		for i, c := range w.columns {
			if c.FieldID == id && isFlat(c.Type) {
				out = append(out, format.SortingColumn{ColumnIdx: int32(leaf)})
			}
			leaf += w.buffers[i].leaves()
		}
	}
	return out
}

// write appends b to the file.
func (w *Writer) write(b []byte) {
	if w.err != nil {
		return
	}
	if _, err := w.out.Write(b); err != nil {
		w.err = fmt.Errorf("writing %s: %w", w.path, err)
		return
	}
	w.hash.Write(b)
	w.written += int64(len(b))
}

// Abort gives the file up. After Close or Abort it does nothing.
func (w *Writer) Abort() {
	w.out.Abort()
	if w.err == nil {
		w.err = errors.New("the file was given up")
	}
}

// Close writes what is buffered and the footer, makes the file durable and visible, and returns its description. ID,
// sidecar and schema version are the caller's to set. After an error nothing is visible.
func (w *Writer) Close() (*tablet.Desc, error) {
	if err := w.finish(); err != nil {
		w.out.Abort()
		w.err = err
		return nil, err
	}
	if err := w.out.Close(); err != nil {
		w.err = fmt.Errorf("closing %s: %w", w.path, err)
		return nil, w.err
	}
	w.err = fmt.Errorf("%s: %w", w.path, objstore.ErrClosed)
	return w.describe(), nil
}
