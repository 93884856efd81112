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
// A [life] writes changes instead: definitions of tables with constraints between them, statements that change their
// rows or the tables, and transactions. They run here and on PostgreSQL; what each returns or fails with, and all rows
// after it, must be the same.
//
// TIDEMARK_SEED, TIDEMARK_QUERIES and TIDEMARK_LIVES choose others and how many; make differential runs many.
//
// # Invariants
//
//   - A query with ORDER BY orders by everything it returns, so its rows are compared in order; others as multisets.
//   - No query fails at run time: divisors are never zero and numbers stay small. An error of one system is a fault.
//   - Lives do fail, at constraints. Which of several a statement breaks is found first, and how many values it took
//     from a sequence before, is each system's own; no statement gives a row the key that another row just left.
//   - NUMERIC quotients are rounded, since their scale is each system's own.
//
// # Adding a construct
//
// Add its case to the function of its type in expr.go or of its clause in query.go. What DuckDB reads differently is
// left out where generator.portable is set. A new kind of change goes to life.statement.
package differential
