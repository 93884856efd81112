// Package slt runs sqllogictest files.
//
// # Concepts
//
// A file is a list of records, which [Parse] reads: a statement that must succeed or fail, or a query with its expected
// values. [Runner] runs records on a peer in order and reports where its answer is another. Values are written one a
// line or a row a line; above a threshold stands their MD5 sum. The files in testdata run on Tidemark with every test,
// and with TIDEMARK_SLT_PEERS set on PostgreSQL and DuckDB too, which is how their expected values were made sure of.
//
// # Invariants
//
//   - A record that expects an error fails when the statement succeeds.
//   - skipif and onlyif go by the name of the peer: tidemark, postgresql or duckdb. A file that one system cannot run at
//     all names it in a halt record below skipif or onlyif.
//
// # Adding a file
//
// Write it into testdata with queries that have no values below the ---- line, run the tests with -update to have
// PostgreSQL's (or DuckDB's, where PostgreSQL fails) values filled in, and read what was filled in.
package slt
