// Package served runs the released program as a process of its own, for tests that kill it.
//
// # Concepts
//
// A [Server] is flightsrv over one root. It is started and killed as often as a test likes, and asked through the command
// line client.
//
// # Invariants
//
//   - The process and what it leaves behind end with the test.
//
// # Adding an option
//
// Add a field of Server that Start passes on as a flag.
package served
