// Package exec runs logical plans: vectorised, push-based pipelines over morsels on every core, under a memory budget.
//
// # Concepts
//
// [Run] turns a plan into a [stream] of batches: one or more branches, each a [source] that pushes batches through
// stages into a sink. A stage has one instance a worker, so that its scratch memory needs no lock. Blocking operators
// (aggregate, sort, the build side of a join, window) are a sink and a source: the sink collects, the source of the
// next pipeline replays. Stored tables come through [Storage], which the embedder provides.
//
// An expression is compiled into a tree of nodes, one tree a worker; a filter into predicates that narrow a
// selection. Rows that a selection leaves out are never computed on, so their errors never surface.
//
// Every blocking operator reserves what it holds from the query's budget and spills to files when it is refused.
//
// # Invariants
//
//   - A batch is borrowed: it is valid during consume and no longer. What outlives it is copied.
//   - A vector header is never used again for other content, though the buffers behind it may be: a pointer to a
//     dictionary identifies its entries for as long as someone holds it.
//   - Goroutines start in query.parallel or query.start alone, which turn panics into errors; whoever starts waits.
//   - The context is looked at once a batch, inside sorts, builds and spills too.
//   - A result ends in a nil batch only when it is complete.
//
// # Adding an operator
//
// Compile the node in compile.go to a stage (streaming) or to a sink and a source (blocking), in a file of its own
// beside its test; add it to the harness so that it runs over every batch size, form, thread count and failure.
package exec
