// Package objstore keeps the immutable files of a data root: whole objects under slash-separated paths, in a local
// directory, in memory, or in a bucket.
//
// # Concepts
//
// A [Store] holds objects. An object appears whole and durable or not at all; it is never changed in place.
// [Store.PutIfAbsent] is the one primitive that orders writers: the commit log is built on it alone.
// [Local] keeps a directory, [Mem] a map. The packages crashstore and errstore wrap any store for tests: one loses
// what was not durable, the other makes chosen calls fail.
//
// # Invariants
//
//   - A path that could leave the root (empty, absolute, "..", ".", a hidden element) is refused with [ErrBadPath].
//   - What a successful Put, PutIfAbsent or Writer.Close stored survives a crash of the machine.
//   - [Store.List] yields paths in byte order, and never a file that is still being written.
//   - Of several PutIfAbsent of one path exactly one succeeds, across processes too.
//
// # Adding a store
//
// Implement [Store], then run storetest.Run on it from a test: it checks the contract above.
package objstore
