// Package tablet describes tablets and the sets of them that make up a table; it never opens a file.
//
// # Concepts
//
// A [Desc] describes one tablet: an immutable Parquet file with statistics for pruning, and a key sidecar. A [Set] is
// the tablets of one table at one version: the base, the staging tablets in the order they were appended, the
// committed masks and the runs of the key index. [Set.View] lays a set out in slices for scans and mask resolution.
// Sets share structure: a [Builder] changes a copy at the cost of the change.
//
//	base     one row version per key, less the committed masks
//	staging  appended by ingest, each with its append number; later appends win
//	mask     a range of a Puffin file that holds the dead row ordinals of one base tablet
//	run      a key index file over many tablets
//
// # Invariants
//
//   - A Desc, a Set and a View are never changed once others can see them.
//   - [Set.Version] changes exactly when tablets or masks change, so it identifies a set within its table. Runs only
//     speed up lookups and have [Set.RunsVersion].
//   - Encodings begin with a version byte; a decoder never panics, whatever the bytes.
//
// # Adding a property of a tablet
//
// Add the field to Desc, write it at the end of Desc.AppendBinary under a new encoding version, and read it back only
// from that version on.
package tablet
