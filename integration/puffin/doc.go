// Package puffin tests that other implementations of Iceberg read our deletion vectors, and that we read theirs.
//
// # Concepts
//
// The foreign reader is pyiceberg, the foreign writer is built from pyroaring and the Python standard library.
//
// # Invariants
//
// Both directions compare every row, not only counts.
//
// # Adding a case
//
// Add a vector to the vectors function in puffin_test.go: both directions use it.
package puffin
