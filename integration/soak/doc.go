// Package soak lets a CDC table take random updates of a fixed set of keys for a while, and shows that it stays the size
// it was: files, masked rows and staging do not pile up however long it ingests.
//
// # Concepts
//
// [TestATableStaysTheSizeItIs] runs for TIDEMARK_SOAK_SECONDS (20) with the seed TIDEMARK_SEED (1): updates of
// TIDEMARK_SOAK_KEYS (30,000) keys, TIDEMARK_SOAK_RATE (20,000) a second, cascades every TIDEMARK_SOAK_CASCADE_MS (300).
// It measures every second, or 400 times in a long run, prints the series, and compares the last third with the one before
// it. With TIDEMARK_SOAK_OUT the series go into that file with .csv and a picture of them into that with .svg.
//
// # Invariants
//
// Counts and shares are asserted, times are printed.
//
// # Adding a measure
//
// Add a field to measure, fill it in take, draw it in panels, and bound it in flat.
package soak
