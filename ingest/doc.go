// Package ingest keeps CDC tables in step with their streams: the initial load, then appends, exactly once.
//
// # Concepts
//
// A [Worker] drives one attachment on one engine: it loads the source's snapshot, then reads changes in windows and
// commits each as one append, which adds staging tablets and advances the stream position in the same commit. While
// one window is written the next is read. A window ends at the first transaction boundary after its time or row
// limit ([Pacing]); one that outgrows its memory budget is written in parts that commit together.
//
// A failure marked permanent, or one that exhausts its [Budget], ends the attachment in state error with a durable
// reason, followed by the final drain of what was staged. Other failures are retried from the committed position.
//
// A table in write mode has no staging: a window's keys are looked for in the table as it is when the window commits,
// the rows found are masked and the new ones added, in the commit that advances the position. A statement of a user
// that commits in between makes the worker look again.
//
//	source -> window -> seal (newest of each key, missing values filled, sorted) -> tablets -> commit -> ack
//
// # Invariants
//
//   - Nothing is acknowledged to the source before the commit that made it durable.
//   - A worker whose epoch is no longer the table's can not commit anything; it stops when it notices.
//   - Every number counted in metrics and status is of committed work.
//   - Memory is bounded by the window budget twice over: one window being read, one being written.
//
// # Adding a setting
//
// Add a field to Pacing, read it where it applies on each window, and register its name in the engine's settings.
package ingest
