// Package enginetest runs SQL on embedded engines for tests.
//
// # Concepts
//
// [Open] starts an engine that the test's end closes, [Session] opens a session on it. Results are compared as lines of
// text, values with | between them ([Expect]); what another part of the process brings about is waited for ([Until]).
//
// # Invariants
//
// Nothing sleeps for a fixed time: [Until] polls a condition and gives up after a minute.
//
// # Adding a check
//
// Write it as a function that takes the test first and says in its failure what was asked, got and wanted.
package enginetest
