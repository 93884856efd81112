// Package soak lets a CDC table take random updates of a fixed set of keys for a while, and shows that it stays the size
// it was: files, masked rows and staging do not pile up however long it ingests.
//
// # Concepts
//
// [TestATableStaysTheSizeItIs] runs for TIDEMARK_SOAK_SECONDS (20) with the seed TIDEMARK_SEED (1). It measures every
// second, prints the series, and compares the last third with the one before it.
//
// # Invariants
//
// Counts and shares are asserted, times are printed.
//
// # Adding a measure
//
// Add a field to measure, fill it in take, and bound it at the end.
package soak
