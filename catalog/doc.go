// Package catalog keeps what a data root is: its schemas, tables, views, sequences, types, streams and settings, the
// tablets of every table, and the state of every ingest, in one log of commits that several processes share.
//
// # Concepts
//
// A [Snapshot] is an immutable view of everything at one version. A commit is a list of [Edit] values that becomes one
// log file, created by put-if-absent; its number is the version of the snapshot it leads to. Every process applies the
// same files in the same order, so all agree. An edit checks its own preconditions against the snapshot it lands on:
// when another process took the number, the edits are checked again against what won, and land behind it or fail.
//
//	log/00000000000000000042             one commit
//	log/checkpoint-00000000000000000256  the whole state after commit 256
//
// A [Pin] keeps the files of a snapshot from being swept by this process. Files that a commit removed become garbage,
// which [Catalog.Sweep] deletes after the retention; until then older snapshots can be opened by version or time.
//
// # Invariants
//
//   - Versions are dense: commit n follows commit n-1 and carries its checksum.
//   - A file is durable before the commit that names it, and deleted only after the commit that forgot it.
//   - Applying an edit depends on the snapshot and the edit alone, never on a clock or on chance.
//   - A damaged, cut off or missing log file is an error that names it; nothing after it is applied.
//   - Masks in the catalog are references; the bitmaps are in Puffin files.
//   - A file that no version names is deleted only when it is too old to be committed ([Catalog.SweepOrphans]).
//
// # Adding an edit
//
// Write the struct with JSON names, its kind and apply methods beside the edits of its subject, and register it in
// editKinds. Never change what a stored edit means: add a new kind.
package catalog
