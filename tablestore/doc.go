// Package tablestore reads and writes the rows of stored tables: tablets with their key sidecars, masks, lookups.
//
// # Concepts
//
// A [Store] is the one place that knows which files make up a table: it writes a batch of rows as a tablet with its
// sidecar ([Store.Write]), resolves which rows are dead ([Store.Masks]), finds stored rows by merge key
// ([Store.Lookup]) and reads live rows back ([Store.Read]). Ingest, cascades, DML and scans all go through it.
//
// # Invariants
//
//   - A file is durable when the call that wrote it returns; nothing reads it before a commit names it.
//   - The columns of a tablet are the table's, then for a CDC table the hidden __op and last_seq.
//   - Rows of a tablet are sorted by the table's sort columns, NULLs last.
//
// # Adding a file to a tablet
//
// Write it in Store.Write before the description is returned, and describe it in tablet.Desc.
package tablestore
