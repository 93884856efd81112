// Package maskindex finds the row positions of merge keys and computes which rows of a table are dead.
//
// # Concepts
//
//   - A fingerprint ([Keys], [Layout]) stands for one merge key: an order-preserving bijection into 64 bits when the
//     key columns take at most 8 bytes together, else the 128-bit xxh3 of a canonical encoding.
//   - A key file ([File], [Writer]) maps fingerprints to positions. A sidecar ([WriteSidecar]) covers one tablet,
//     a run ([Merge], [PlanMerge]) covers many; the format is one (format.go has the picture).
//   - Resolution ([Cache], [Set]) turns a tablet set into [Masks]: for every tablet the rows that are dead, which are
//     the committed ones, every older position of a staged key, and the delete markers themselves.
//   - [Mask] is the dead rows of one tablet as scans use it; [Rank] moves positions through a rewrite in row order.
//   - [WritePuffin] and [ReadPuffin] store masks as Iceberg v3 deletion vectors.
//
// # Invariants
//
//   - A key occurs at most once in a key file.
//   - Every byte of a key file is covered by a checksum that is verified before the byte is used. Damage is an error
//     with SQLSTATE XX001 that names file and offset.
//   - Bitmaps are never changed once published: not those a caller hands in, not those a Mask hands out.
//   - A cache miss recomputes. Failures are returned and never cached, and nothing is ever taken for "no mask".
//   - A run holds only tablets whose committed masks already settle which of two equal keys is live.
//
// # Adding a key type
//
// Add its width to keyBytes in layout.go and its branch to the encoders in fingerprint.go. A type of at most 8 bytes
// must encode so that unsigned order is the order of the values: files grow small and probes stay local because
// neighbouring keys are stored together.
package maskindex
