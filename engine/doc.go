// Package engine is the embeddable database: open a data root, make a session, run SQL.
//
//	e, err := engine.Open(ctx, engine.Options{Root: "./data"})
//	s := e.NewSession(engine.SessionOptions{})
//	r, err := s.Query(ctx, "SELECT count(*) FROM orders")
//	for batch, err := r.Next(ctx); batch != nil && err == nil; batch, err = r.Next(ctx) { ... }
//
// # Concepts
//
// An [Engine] is one process over a data root; several may share a root. It owns the catalog, the ingest workers that
// RESUME started here, their cascades, and the caches. A [Session] has settings and at most one transaction. A
// [Prepared] statement knows its parameters and result columns before it runs. A [Result] streams batches.
//
// # Invariants
//
//   - A query reads one pinned snapshot; what commits meanwhile it never sees.
//   - A result ends with a nil batch or an error, never silently short. Close is idempotent and stops the work.
//   - A statement that changes something has done so when Query or Execute returns, whether or not the result is read.
//   - Rows that a statement changes are masked where they lie and added anew, in one edit of the table. Edits of
//     different rows of a tablet unite when they commit; of two of one row, or that add one key, the first wins.
//   - A table's ingestion has one owner. Every commit of its worker carries the epoch of its acquisition.
//   - A panic in a statement becomes an error of that statement with SQLSTATE XX000.
//
// # Adding a statement
//
// Add its case to dispatch in statement.go and its function in the file of its subject.
package engine
