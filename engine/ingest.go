package engine

import (
	"context"

	"github.com/tidemarkdb/tidemark/extension"
	"github.com/tidemarkdb/tidemark/plan"
	"github.com/tidemarkdb/tidemark/sql"
	"github.com/tidemarkdb/tidemark/sqlerr"
	"github.com/tidemarkdb/tidemark/vec"
)

// IngestTarget names the existing table that takes the rows of [Session.Ingest]; Schema "" is the search path's.
type IngestTarget struct {
	Schema string
	Name   string
}

// incoming is the name under which an ingest's rows can be read. The NUL keeps it out of reach of SQL text.
const incoming = "incoming\x00rows"

// Ingest inserts the batches that next yields, up to nil, into a table: columns go by name, are cast as INSERT casts
// them, and absent ones take their default. It is one statement: all rows or none. next is called from one goroutine
// at a time and its batches, without a selection, must not change any more. It returns the rows inserted.
func (s *Session) Ingest(ctx context.Context, target IngestTarget, columns vec.Schema, next func(context.Context) (*vec.Batch, error)) (int64, error) {
	insert := &sql.Insert{Table: sql.Name{{Name: target.Name}}}
	if target.Schema != "" {
		insert.Table = sql.Name{{Name: target.Schema}, {Name: target.Name}}
	}
	if len(columns) == 0 {
		return 0, sqlerr.New(sqlerr.InvalidParameterValue, "there are no columns to ingest into %q", target.Name).
			Hintf("send at least one column")
	}
	list := &sql.Select{From: []sql.TableExpr{&sql.Table{Name: sql.Name{{Name: incoming}}}}}
	for _, c := range columns {
		insert.Columns = append(insert.Columns, sql.Ident{Name: c.Name})
		list.Items = append(list.Items, sql.SelectItem{Expr: &sql.Column{Name: sql.Name{{Name: c.Name}}}})
	}
	insert.Source = list
	s.ingesting.Lock()
	defer s.ingesting.Unlock()
	s.mu.Lock()
	s.incoming = &plan.Virtual{Name: incoming, Source: &incomingSource{columns, next}}
	s.mu.Unlock()
	defer func() {
		s.mu.Lock()
		s.incoming = nil
		s.mu.Unlock()
	}()
	result, err := s.run(ctx, insert, "INGEST INTO "+target.Name, nil)
	if err != nil {
		return 0, err
	}
	defer result.Close()
	return result.RowsAffected, nil
}

// incomingSource reads an ingest's rows once; it implements extension.TableSource.
type incomingSource struct {
	columns vec.Schema
	next    func(context.Context) (*vec.Batch, error)
}

func (i *incomingSource) Schema() vec.Schema { return i.columns }

func (i *incomingSource) Rows() int64 { return -1 }

func (i *incomingSource) Open(_ context.Context, _ *extension.Eval, projection []int) (extension.TableReader, error) {
	return &incomingReader{i, projection}, nil
}

type incomingReader struct {
	source     *incomingSource
	projection []int
}

func (r *incomingReader) Next(ctx context.Context) (*vec.Batch, error) {
	for {
		batch, err := r.source.next(ctx)
		if batch == nil || err != nil {
			return nil, err
		}
		if batch.N == 0 {
			continue
		}
		out := &vec.Batch{N: batch.N}
		for _, p := range r.projection {
			out.Cols = append(out.Cols, batch.Cols[p])
		}
		return out, nil
	}
}

func (r *incomingReader) Close() error { return nil }
