// Package postgres drives the main job end to end: a real PostgreSQL under a transactional workload, the real server
// binary killed at random moments, and ADBC Python querying all the while.
//
// # Concepts
//
// The workload moves money between accounts, so the sum of balances never changes: every query must see that sum, and
// one row for each key. At the end the rows of both systems are printed in key order by their own command line
// clients and compared byte for byte.
//
// # Invariants
//
// Everything listens on loopback, on free ports, and ends with the test. Random moments come from TIDEMARK_SEED.
package postgres
