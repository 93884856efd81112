// Package files reads files that lie outside the data root: the table functions read_parquet, read_csv and read_json.
//
// # Concepts
//
// A path may be a pattern (*, ?, [...] and ** for any folders); a list of paths is read as one table. The first file
// gives the columns, the others are matched by name. Every file found must be allowed by extension.TableBind.
//
// A [Parquet] source is an extension.StoredSource: the engine scans it as it scans tables, with pruning, pushed-down
// filters and the cache of decoded pages. A [Library] names each file for that cache by path, size and time of change.
// CSV and JSON are read front to back; their types are found by looking at the first rows.
//
// # Invariants
//
//   - A file that changed since it was last read is read anew: its name in the cache is another.
//   - A value that does not fit its column is an error that names file, line and column, never a silent NULL.
//   - Files are read in the order of their paths, so equal calls give equal rows.
//
// # Adding a format
//
// Write its TableFunc with a Bind that expands the paths by expand and returns a TableSource, add it to Register, and
// its suffix to the list of file readers in package plan.
package files
