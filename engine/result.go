package engine

import (
	"context"

	"github.com/tidemarkdb/tidemark/vec"
)

// Result is the outcome of one statement. One goroutine uses it.
type Result struct {
	// Schema describes the columns of a query; it is empty for a statement that returns no rows.
	Schema vec.Schema
	// Tag is PostgreSQL's command tag: "SELECT", "CREATE TABLE", "INSERT 0 3", ...
	Tag string
	// RowsAffected is the number of rows a statement changed, -1 for statements that change none and for queries.
	RowsAffected int64

	next  func(context.Context) (*vec.Batch, error)
	close func()
}

// Next returns the next batch, without a selection and valid until the following call, or nil at the end. After an
// error or the end it stays there.
func (r *Result) Next(ctx context.Context) (*vec.Batch, error) {
	if r.next == nil {
		return nil, nil
	}
	batch, err := r.next(ctx)
	if batch == nil || err != nil {
		r.Close()
	}
	return batch, err
}

// Close stops the work and releases the snapshot; idempotent.
func (r *Result) Close() {
	r.next = nil
	if r.close != nil {
		r.close()
		r.close = nil
	}
}

// IsQuery reports whether the statement returns rows.
func (r *Result) IsQuery() bool { return len(r.Schema) > 0 }

// done returns the result of a statement without rows.
func done(tag string) *Result { return &Result{Tag: tag, RowsAffected: -1} }

// rowsOf returns a result over batches in memory.
func rowsOf(tag string, schema vec.Schema, batches ...*vec.Batch) *Result {
	return &Result{Schema: schema, Tag: tag, RowsAffected: -1, next: func(context.Context) (*vec.Batch, error) {
		for len(batches) > 0 {
			b := batches[0]
			batches = batches[1:]
			if b.Rows() > 0 {
				return b.Compact(), nil
			}
		}
		return nil, nil
	}}
}
