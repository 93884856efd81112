// Package differential asks Tidemark, PostgreSQL and DuckDB the same random questions and compares the answers.
//
// # Concepts
//
// A [generator] writes queries from a seed over the small tables of tables.sql, which have NULLs, duplicates, edge
// values and no rows at all. Every query runs on an embedded engine and on a real PostgreSQL; a part of them, written
// in the dialect's part that DuckDB shares, on DuckDB too. A query whose answers differ is shrunk before it is
// printed, with the seed that makes it again.
//
// A query runs three times on ours: on one thread, and twice on two threads over tables with a tablet for each row, so
// that rows come in another order; all answers must be the same. A query that the other system does not answer within
// seconds decides nothing; the test fails when more than one in a hundred is such.
//
// TIDEMARK_SEED and TIDEMARK_QUERIES choose other queries and how many; make differential runs many.
//
// # Invariants
//
//   - A query with ORDER BY orders by everything it returns, so its rows are compared in order; others as multisets.
//   - Nothing fails at run time: divisors are never zero and numbers stay small. An error of one system is a fault.
//   - NUMERIC quotients are rounded, since their scale is each system's own.
//
// # Adding a construct
//
// Add its case to the function of its type in expr.go or of its clause in query.go. What DuckDB reads differently is
// left out where generator.portable is set.
package differential
