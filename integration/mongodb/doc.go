// Package mongodb drives CDC tables fed by MongoDB end to end: through SQL on embedded engines, and with two processes of
// the real server binary over one root that are killed at random moments.
//
// # Concepts
//
// The kill test's workload moves money between accounts in transactions, so the sum of balances never changes at a
// boundary: every query must see that sum, and one row for each key, from the first append after the load on. An engine
// in the test's own process reads the root all the while. At the end every row is compared with its document.
//
// The server is the stand-in of package mongotest, not MongoDB itself.
//
// # Invariants
//
// Everything listens on loopback, on free ports, and ends with the test. Random moments come from TIDEMARK_SEED.
//
// # Adding a test
//
// Make a house with newHouse, which has a collection, and run SQL on its session.
package mongodb
