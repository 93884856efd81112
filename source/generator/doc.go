// Package generator is a stream source that makes up its table and its changes from a seed, so that anything which
// consumes a stream can be tried, measured and verified row for row without a database.
//
// # Concepts
//
// The source table holds one row per live key number. Its snapshot is key numbers 0 to keys-1. Then follows an endless
// (or limited) sequence of changes, numbered from 0: change i is an insert, an update or a delete of one key number,
// a pure function of the options and i ([Sequence]). A [extension.Position] is the number of changes that lie before
// it, so a stream restarted anywhere repeats itself exactly.
//
// The version of a row is one more than the number of the change that wrote it, 0 for the snapshot. The values of a
// row are a pure function of the seed, the column, the key number and the version. Merge key columns encode the key
// number one to one. Some column names mean something:
//
//	version                the version (integers, NUMERIC and floats)
//	bucket                 the key number modulo 100
//	status, country,       texts of low cardinality
//	region, category
//	created_at, ...        any name that begins with created: grows with the key number and never changes
//	updated_at, ...        any name that begins with updated: grows with the version
//
// Every other column gets pseudo-random values of its type. [Model] replays the sequence with four bytes a key and
// knows the exact table at any position.
//
// # Invariants
//
//   - An insert never hits a live key, an update or a delete never a dead one. Some inserts re-create deleted keys.
//   - Changes come in blocks of 100 with exactly the asked-for percentages of each kind, in a shuffled order.
//   - Transactions are transaction_rows changes long and begin at multiples of it; the last before limit is shorter.
//   - Commit times are wall-clock times of delivery and the only thing that a restart changes.
//
// # Adding a column role
//
// Add it to roleOf and draw in fill.go and to the table above.
package generator
