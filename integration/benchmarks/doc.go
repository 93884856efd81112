// Package benchmarks checks the answers to the queries of TPC-H, TPC-DS and ClickBench's shapes against DuckDB's, those
// of TPC-H also in a memory too small for them.
//
// # Concepts
//
// data.py makes the tables of a benchmark as Parquet files, its queries, and the answers DuckDB gives over the same
// rows. The tests run every query twice in an embedded engine: over views of those files (read_parquet) and over tables
// made from them, whose tablets are Tidemark's own.
//
// The texts of TPC-H and TPC-DS come from DuckDB's extensions when a test runs; hits.sql has ClickBench's shapes.
//
// # Invariants
//
//   - Whole numbers, decimals and text agree to the letter, floating point to nine digits. Where DuckDB has DOUBLE for
//     what is NUMERIC here (averages and quotients of decimals) the numbers are compared as floating point.
//   - Rows agree in number and as a set; the leading sort keys agree row by row, ties may lie in any order.
//
// # Adding a benchmark
//
// Add its case to queries_of in data.py and its test to benchmarks_test.go.
package benchmarks
