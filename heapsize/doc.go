// Package heapsize keeps the heap of a process within the memory that it may use.
//
// # Concepts
//
// The limit is a soft one of Go's runtime: the nearer the heap comes to it, the more often garbage is collected. Without
// one, a process is ended by the kernel once half of its memory would have been enough: as much garbage gathers as there
// is live memory.
//
// # Invariants
//
//   - What the environment variable GOMEMLIMIT says holds.
//   - The limit is a setting of the whole process: a program makes it, not a library. [Limit] is called by main.
package heapsize
