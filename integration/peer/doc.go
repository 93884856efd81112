// Package peer runs SQL on Tidemark and on the systems its answers are compared with.
//
// # Concepts
//
// A [Peer] is one session of one system: an embedded engine ([Tidemark]), a real PostgreSQL ([Postgres]) or DuckDB in
// a Python process ([Duck]). An [Answer] has the rows as text, and for each column the [Kind] that says how its values
// are compared; [Answer.Compare] compares two.
//
// # Invariants
//
//   - A peer is used by one goroutine and ends with the test.
//   - Numbers agree by value, floating point to nine digits, everything else to the letter.
//
// # Adding a system
//
// Write its function Run and say in it how its values become PostgreSQL's text.
package peer
