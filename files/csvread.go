package files

import (
	"context"
	"io"

	"github.com/tidemarkdb/tidemark/extension"
	"github.com/tidemarkdb/tidemark/sqlerr"
	"github.com/tidemarkdb/tidemark/vec"
)

// csvReader reads the files of a source one after the other.
type csvReader struct {
	source     *csvSource
	ev         *extension.Eval
	projection []int

	next     int // the next file
	path     string
	in       io.ReadCloser
	records  *records
	builders []*vec.Builder
	n        int // rows in the builders
}

// Next implements extension.TableReader.
func (r *csvReader) Next(ctx context.Context) (*vec.Batch, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	if r.builders == nil {
		r.builders = make([]*vec.Builder, len(r.projection))
		for i, c := range r.projection {
			r.builders[i] = vec.NewBuilder(r.source.schema[c].Type, vec.BatchRows)
		}
	}
	for r.n < vec.BatchRows {
		if r.records == nil {
			if r.next == len(r.source.paths) {
				break
			}
			if err := r.open(); err != nil {
				return nil, err
			}
		}
		fields, line, err := r.records.next()
		if err != nil {
			return nil, recordError(r.path, err)
		}
		if fields == nil {
			if err := r.Close(); err != nil {
				return nil, err
			}
			continue
		}
		if err := r.append(fields, line); err != nil {
			return nil, err
		}
	}
	if r.n == 0 {
		return nil, nil
	}
	out := &vec.Batch{N: r.n}
	for _, b := range r.builders {
		out.Cols = append(out.Cols, b.Finish())
	}
	r.n = 0
	return out, nil
}

func (r *csvReader) open() error {
	r.path = r.source.paths[r.next]
	in, err := openInput(r.path)
	if err != nil {
		return err
	}
	r.next++
	r.in, r.records = in, newRecords(in, r.source.options.dialect)
	leave := r.source.options.skip
	if r.source.header {
		leave++
	}
	for range leave {
		if _, _, err := r.records.next(); err != nil {
			return recordError(r.path, err)
		}
	}
	return nil
}

// append adds a record to the builders. Fields missing at its end are NULL.
func (r *csvReader) append(fields []field, line int) error {
	if len(fields) > len(r.source.schema) {
		return sqlerr.New(sqlerr.DataCorrupted, "file %q, line %d: %d fields where there are %d columns", r.path, line, len(fields), len(r.source.schema)).
			Hintf("check delim and quote, or list the columns with columns => {...}")
	}
	for i, c := range r.projection {
		b := r.builders[i]
		if c >= len(fields) || r.source.options.isNull(vec.String(fields[c].text), fields[c].quoted) {
			b.AppendNull()
			continue
		}
		if err := appendText(b, fields[c].text, r.ev.Zone); err != nil {
			return sqlerr.New(sqlerr.From(err).Code, "file %q, line %d, column %q: %w", r.path, line, r.source.schema[c].Name, err).
				Hintf("types were taken from the first rows: pass a larger sample_size, columns => {'%s': 'TEXT'} or all_varchar => true", r.source.schema[c].Name)
		}
	}
	r.n++
	return nil
}

// Close implements extension.TableReader.
func (r *csvReader) Close() error {
	if r.in == nil {
		return nil
	}
	in := r.in
	r.in, r.records = nil, nil
	return in.Close()
}
