// Package scripted is a source of changes for tests: tables in memory whose transactions a test writes, and which can
// be made to fail.
//
// # Concepts
//
// A [Database] holds tables by name and registers as one kind of source, SCRIPTED, with the option table. Each
// [Table.Commit] is one source transaction; a position is the number of transactions before it. The table remembers
// what it held after each, so a test can compare a CDC table with any of them ([Table.At]).
//
// # Invariants
//
//   - A snapshot is of the transactions committed when it was opened; the stream after it has the rest.
//   - Transactions are delivered whole and in order; every one ends with a boundary.
//   - Nothing is acknowledged that was not delivered.
//
// # Adding a fault
//
// Add a stage, call Database.fault there, and describe it at Database.SetFault.
package scripted
