// Package parquetstore writes batches to Parquet files and reads them back, as little of them as a query needs.
//
// # Concepts
//
// A [Writer] gathers a row group, picks an encoding for each column from its data and encodes columns in parallel.
// What it writes is standard Parquet with page indexes, Iceberg field ids and checksums; its description is a
// [tablet.Desc].
//
// A [File] is an open file of any writer: footer, schema, row groups. A [Scan] says what to read from it: columns,
// [Predicate]s, a [Mask] of dead rows, [RuntimeFilter]s. A [Morsel] is a stretch of rows that one [Reader] reads; the
// workers of a scan share out the morsels.
//
// A Reader prunes by row group and page bounds first, then decodes the columns of the predicates, then those of the
// result, and each only for pages that still have a row to give. It works page by page: a decoded page is a vec
// vector, and batches are slices of it. The codes of a chunk's dictionary stay codes.
//
// Where no cache keeps pages and the scan borrows its batches, a page is decompressed into memory that the next page
// takes over, and of its values only the rows of batches that need them are decoded.
//
// A [Cache] keeps decoded pages and footers of our own tablets. A scan that finds its pages there copies nothing. Where
// scans under one mask come back, [File.Settle] lets them read pages that were copied without the mask's dead rows;
// those keep their places, with fewer rows, so that all but the cursor counts rows of the file.
//
//	row group = chunk a leaf = [dictionary page] data pages
//	leaf      = primitive column of the schema tree; a flat column is one leaf, a nested one has several
//	directory = places, rows and bounds of a chunk's pages
//
// # Invariants
//
//   - Vectors handed out own their memory: they outlive the file, its mapping and the cache. Those of a scan with
//     Borrow live until the reader's next batch, their dictionaries as long as anyone holds them.
//   - Every byte of our own files is under a checksum that is verified when it is read: the seal covers footer and
//     page indexes, the footer has the checksums of page headers, and those have the checksums of the pages. Damage is
//     an error that names file and offset.
//   - Sizes and counts from a file are checked before anything is allocated or indexed by them.
//   - Pages of our own files end on whole batches, unless strings are so large that a page holds fewer rows.
//   - Pruning never loses a row: bounds that may not hold (NaN, cut strings, unsigned orders) count as unknown.
//
// # Adding an encoding
//
// Add the case to leaf.decodeStored, say in leaf.borrows whether decoded values live on in the page, and add it to the
// round trip against the oracle. For writing, add it to chunkEncoder.chooseEncoding and values.encode.
package parquetstore
