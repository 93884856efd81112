package files

import (
	"context"

	"github.com/tidemarkdb/tidemark/extension"
	"github.com/tidemarkdb/tidemark/parquetstore"
	"github.com/tidemarkdb/tidemark/vec"
)

// Open implements extension.TableSource: the files one after the other.
func (p *Parquet) Open(_ context.Context, _ *extension.Eval, projection []int) (extension.TableReader, error) {
	return &parquetReader{p: p, projection: projection}, nil
}

type parquetReader struct {
	p          *Parquet
	projection []int
	next       int // the next file
	file       *parquetstore.File
	scan       *parquetstore.Scan
	from       []int // for each column asked for its place among those read, or -1
	morsels    []parquetstore.Morsel
	reader     *parquetstore.Reader
}

// Next implements extension.TableReader.
func (r *parquetReader) Next(ctx context.Context) (*vec.Batch, error) {
	for {
		if r.reader != nil {
			b, err := r.reader.Next(ctx)
			if err != nil {
				return nil, err
			}
			if b != nil {
				return r.layOut(b), nil
			}
			r.reader = nil
		}
		if len(r.morsels) > 0 {
			m := r.morsels[0]
			r.morsels = r.morsels[1:]
			var err error
			if r.reader, err = r.file.NewReader(r.scan, m); err != nil {
				return nil, err
			}
			continue
		}
		if err := r.Close(); err != nil || r.next == r.p.Files() {
			return nil, err
		}
		if err := r.open(ctx); err != nil {
			return nil, err
		}
	}
}

func (r *parquetReader) open(ctx context.Context) error {
	f, places, err := r.p.OpenFile(ctx, r.next)
	if err != nil {
		return err
	}
	r.next++
	r.file, r.scan, r.from, r.morsels = f, new(parquetstore.Scan), make([]int, len(r.projection)), f.Morsels()
	for i, c := range r.projection {
		if r.from[i] = -1; places[c] >= 0 {
			r.from[i] = len(r.scan.Columns)
			r.scan.Columns = append(r.scan.Columns, places[c])
		}
	}
	return nil
}

func (r *parquetReader) layOut(b *vec.Batch) *vec.Batch {
	out := &vec.Batch{N: b.N, Sel: b.Sel, Cols: make([]*vec.Vector, len(r.from))}
	for i, from := range r.from {
		if from < 0 {
			out.Cols[i] = vec.NullOf(r.p.schema[r.projection[i]].Type, b.N)
		} else {
			out.Cols[i] = b.Cols[from]
		}
	}
	return out
}

// Close implements extension.TableReader.
func (r *parquetReader) Close() error {
	if r.file == nil {
		return nil
	}
	f := r.file
	r.file, r.reader, r.morsels = nil, nil, nil
	return f.Close()
}
