// Package model drives CDC tables through random lives and compares them with maps in memory after every step.
//
// # Concepts
//
// One seed makes one life: what kind of key and table it is, and a sequence of steps. Steps change the sources
// (inserts, updates, deletes, truncations, moved keys, values left out), operate the table (RESUME on either of two
// engines, SUSPEND, DETACH, ATTACH of one of two streams, renames, settings) and disturb it (engines that close and
// open, stores that fail, machines that lose power). After every step the table is read, with its stream position, in
// one transaction: it must hold exactly what the source held after so many of its transactions. What table_changes says
// since the look before must lead from what was seen then to what is seen now. Transactions that were opened earlier must
// still read what they read then.
//
// # Invariants
//
//   - A life needs nothing but its seed to happen again, as far as goroutines allow; a failure prints the seed and the
//     steps.
//   - Under faults a statement may fail. It may never answer wrongly.
//   - A position that was seen or acknowledged is never lost.
//
// # Adding a step
//
// Write a method of life and give it a weight in steps.
package model
