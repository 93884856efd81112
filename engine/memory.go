package engine

import (
	"context"

	"github.com/tidemarkdb/tidemark/extension"
	"github.com/tidemarkdb/tidemark/vec"
)

// memoryRows are batches without a selection as a source of queries. It implements extension.TableSource.
type memoryRows struct {
	schema  vec.Schema
	batches []*vec.Batch
}

// Schema implements extension.TableSource.
func (m *memoryRows) Schema() vec.Schema { return m.schema }

// Rows implements extension.TableSource.
func (m *memoryRows) Rows() int64 {
	n := int64(0)
	for _, b := range m.batches {
		n += int64(b.N)
	}
	return n
}

// Open implements extension.TableSource.
func (m *memoryRows) Open(_ context.Context, _ *extension.Eval, projection []int) (extension.TableReader, error) {
	return &memoryReader{rest: m.batches, projection: projection}, nil
}

type memoryReader struct {
	rest       []*vec.Batch
	at         int // row of rest[0]
	projection []int
}

// Next implements extension.TableReader.
func (r *memoryReader) Next(context.Context) (*vec.Batch, error) {
	for len(r.rest) > 0 && r.at == r.rest[0].N {
		r.rest, r.at = r.rest[1:], 0
	}
	if len(r.rest) == 0 {
		return nil, nil
	}
	from := r.rest[0]
	n := min(vec.BatchRows, from.N-r.at)
	out := vec.NewBatch(n)
	for _, p := range r.projection {
		out.Cols = append(out.Cols, from.Cols[p].Slice(r.at, n))
	}
	r.at += n
	return out, nil
}

// Close implements extension.TableReader.
func (r *memoryReader) Close() error { return nil }
