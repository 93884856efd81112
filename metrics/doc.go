// Package metrics exports what ingest workers do as Prometheus series.
//
// # Concepts
//
// [CDC] is a collector of the per-table series of ingest; [Table] receives one worker's measurements. The names are
// those of the behaviour specification behind a namespace ("tidemark" unless told otherwise).
//
// # Invariants
//
//   - A table's series exist from [CDC.Start] until [Table.Stop], so counters start from 0 with each worker.
//   - A worker reports a statement after it committed; a statement that failed counts once, as failed, and nothing else.
//   - A gauge without a value reads NaN.
//
// # Adding a series
//
// Add a description to descriptions, a field to Table with the method that sets it, and its line to Table.collect.
package metrics
