// Package parquet checks that other programs read our Parquet files and that we read theirs.
//
// # Concepts
//
// canonical.py turns an Arrow table into plain text values that both sides can compare: integers, bits of floats,
// unscaled decimals, microseconds, hexadecimal bytes. read.py reads a file of ours with several programs; write.py
// writes one table with many writers and settings.
//
// # Invariants
//
// Every value of every row is compared, never a sum.
//
// # Adding a reader or writer
//
// Add a case to READERS in read.py, or a file to VARIANTS in write.py.
package parquet
