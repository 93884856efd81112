package engine

import (
	"bufio"
	"bytes"
	"context"
	"os"
	"path/filepath"
	"slices"

	"github.com/tidemarkdb/tidemark/extension"
	"github.com/tidemarkdb/tidemark/function"
	"github.com/tidemarkdb/tidemark/objstore"
	"github.com/tidemarkdb/tidemark/parquetstore"
	"github.com/tidemarkdb/tidemark/sqlerr"
	"github.com/tidemarkdb/tidemark/tablet"
	"github.com/tidemarkdb/tidemark/vec"
)

// writeFile writes everything that next yields to a file and returns the number of rows.
func writeFile(ctx context.Context, path string, o copyOptions, schema vec.Schema, next func(context.Context) (*vec.Batch, error)) (int64, error) {
	out, err := createFile(path)
	if err != nil {
		return 0, err
	}
	defer out.Abort()
	var n int64
	write, finish, err := formatWriter(ctx, out, path, o, schema)
	if err != nil {
		return 0, err
	}
	for {
		b, err := next(ctx)
		if err != nil {
			return n, err
		}
		if b == nil {
			return n, finish()
		}
		if b.Rows() == 0 {
			continue
		}
		b = b.Compact()
		n += int64(b.N)
		if err := write(b); err != nil {
			return n, sqlerr.New(sqlerr.IOError, "writing %s: %w", path, err).Hintf("check the space and permissions of its folder")
		}
	}
}

// formatWriter returns what writes batches in a format, and what ends the file.
func formatWriter(ctx context.Context, out *fileWriter, path string, o copyOptions, schema vec.Schema) (write func(*vec.Batch) error, finish func() error, err error) {
	if o.format == parquetFormat {
		return parquetWriter(ctx, out, path, o, schema)
	}
	buffered := bufio.NewWriterSize(out, 1<<20)
	finish = func() error {
		if err := buffered.Flush(); err != nil {
			return sqlerr.New(sqlerr.IOError, "writing %s: %w", path, err).Hintf("check the space and permissions of its folder")
		}
		return out.Close()
	}
	if o.format == jsonFormat {
		return func(b *vec.Batch) error { return writeLines(buffered, b) }, finish, nil
	}
	c := &csvWriter{out: buffered, options: o}
	if o.header == nil || *o.header {
		c.header(schema)
	}
	return c.write, finish, nil
}

// writeLines writes the one column of a batch, a line a row.
func writeLines(out *bufio.Writer, b *vec.Batch) error {
	var line []byte
	for row := range b.N {
		line = append(vec.AppendText(line[:0], b.Cols[0], row), '\n')
		if _, err := out.Write(line); err != nil {
			return err
		}
	}
	return nil
}

// csvWriter writes CSV as PostgreSQL does: NULL is the null text unquoted, and text that reads like it is quoted.
type csvWriter struct {
	out     *bufio.Writer
	options copyOptions
	line    []byte
	cell    []byte
}

func (c *csvWriter) header(schema vec.Schema) {
	c.line = c.line[:0]
	for i, column := range schema {
		c.separate(i)
		c.field([]byte(column.Name))
	}
	c.out.Write(append(c.line, '\n')) // a failure stays with the buffer until Flush
}

func (c *csvWriter) separate(i int) {
	if i > 0 {
		c.line = append(c.line, c.options.delimiter...)
	}
}

func (c *csvWriter) write(b *vec.Batch) error {
	for row := range b.N {
		c.line = c.line[:0]
		for i, column := range b.Cols {
			c.separate(i)
			if column.IsNull(row) {
				c.line = append(c.line, c.options.null...)
				continue
			}
			c.cell = vec.AppendText(c.cell[:0], column, row)
			c.field(c.cell)
		}
		if _, err := c.out.Write(append(c.line, '\n')); err != nil {
			return err
		}
	}
	return nil
}

func (c *csvWriter) field(text []byte) {
	o := &c.options
	quote, escape := o.quote[0], o.escape[0]
	plain := string(text) != o.null && bytes.IndexByte(text, o.delimiter[0]) < 0 && bytes.IndexByte(text, quote) < 0 &&
		bytes.IndexByte(text, escape) < 0 && !bytes.ContainsAny(text, "\r\n")
	if plain {
		c.line = append(c.line, text...)
		return
	}
	c.line = append(c.line, quote)
	for _, b := range text {
		if b == quote || b == escape {
			c.line = append(c.line, escape)
		}
		c.line = append(c.line, b)
	}
	c.line = append(c.line, quote)
}

func parquetWriter(ctx context.Context, out *fileWriter, path string, o copyOptions, schema vec.Schema) (func(*vec.Batch) error, func() error, error) {
	codecs := map[string]parquetstore.Codec{
		"snappy": parquetstore.Snappy, "zstd": parquetstore.Zstd, "none": parquetstore.Uncompressed, "uncompressed": parquetstore.Uncompressed,
	}
	codec, ok := codecs[o.compression]
	if !ok {
		return nil, nil, sqlerr.New(sqlerr.InvalidParameterValue, "compression %q is not known", o.compression).Hintf("it is snappy, zstd or uncompressed")
	}
	columns := make([]tablet.Column, len(schema))
	for i, c := range schema {
		columns[i] = tablet.Column{FieldID: int32(i + 1), Name: c.Name, Type: portable(c.Type), Nullable: true}
	}
	w, err := parquetstore.NewWriter(ctx, oneFile{out: out}, path, columns, parquetstore.Options{Codec: codec})
	if err != nil {
		return nil, nil, err
	}
	write := func(b *vec.Batch) error {
		b, err := portableBatch(b)
		if err != nil {
			return err
		}
		return w.Write(b)
	}
	return write, func() error {
		_, err := w.Close()
		return err
	}, nil
}

// portable returns the type that values of t have in a file for others: text where Parquet knows nothing like it.
func portable(t vec.Type) vec.Type {
	switch t.ID {
	case vec.Null, vec.TimeTZ:
		return vec.TextType
	case vec.Array:
		return vec.ArrayType(portable(*t.Elem))
	case vec.Struct:
		fields := slices.Clone(t.Fields)
		for i := range fields {
			fields[i].Type = portable(fields[i].Type)
		}
		return vec.StructType(fields...)
	}
	return t
}

func portableBatch(b *vec.Batch) (*vec.Batch, error) {
	out := *b
	out.Cols = slices.Clone(b.Cols)
	for i, v := range b.Cols {
		cast, err := function.Cast(v.Type, portable(v.Type))
		if err != nil {
			return nil, err
		}
		if out.Cols[i], err = cast(&extension.Eval{}, []*vec.Vector{v}, b.N); err != nil {
			return nil, err
		}
	}
	return &out, nil
}

// oneFile is the store of a writer that makes one object: a file outside any data root.
type oneFile struct {
	objstore.Store
	out *fileWriter
}

// Create implements objstore.Store.
func (o oneFile) Create(context.Context, string) (objstore.Writer, error) { return o.out, nil }

// fileWriter writes a file that appears under its name when it is closed. It implements objstore.Writer.
type fileWriter struct {
	file *os.File
	path string
	done bool
}

func createFile(path string) (*fileWriter, error) {
	file, err := os.CreateTemp(filepath.Dir(path), "."+filepath.Base(path)+".*")
	if err != nil {
		return nil, sqlerr.New(sqlerr.IOError, "creating %s: %w", path, err).Hintf("check that its folder is there and may be written to")
	}
	return &fileWriter{file: file, path: path}, nil
}

func (f *fileWriter) Write(p []byte) (int, error) { return f.file.Write(p) }

// Close implements objstore.Writer.
func (f *fileWriter) Close() error {
	if f.done {
		return objstore.ErrClosed
	}
	f.done = true
	err := f.file.Chmod(0o644)
	if err == nil {
		err = f.file.Sync()
	}
	if closing := f.file.Close(); err == nil {
		err = closing
	}
	if err == nil {
		err = os.Rename(f.file.Name(), f.path)
	}
	if err != nil {
		os.Remove(f.file.Name())
		return sqlerr.New(sqlerr.IOError, "writing %s: %w", f.path, err).Hintf("check the space and permissions of its folder")
	}
	return nil
}

// Abort implements objstore.Writer.
func (f *fileWriter) Abort() {
	if !f.done {
		f.done = true
		f.file.Close()
		os.Remove(f.file.Name())
	}
}
