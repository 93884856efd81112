// Package postgres streams a PostgreSQL table by logical replication (pgoutput): first a consistent copy, then every
// change in commit order.
//
// # Concepts
//
// A replication slot at the source holds the write-ahead log back until we have it. Making the slot exports a snapshot;
// several sessions import it and COPY ranges of the table's pages side by side, and the slot delivers exactly what
// committed after it. A position is the LSN up to which transactions have been received, with the identifier of the
// database cluster.
//
// The same decoder of a type serves the copy and the stream, so they cannot disagree ([binaryDecoder]). A type without
// one of ours is read as text, into TEXT; since the server sends either text or binary, the whole stream of such a
// table is text ([textDecoder]).
//
// Small transactions arrive after their commit. Large ones arrive while they run (protocol version 2) and lie in a
// spool until their commit or abort, in memory and then in a file.
//
// # Invariants
//
//   - Nothing at the source is changed but the slot, which is ours. Publications and tables are the user's.
//   - Rows of a transaction that has not committed are never returned; a rolled back savepoint leaves nothing.
//   - The server is told as flushed what Ack was given, never more; it never goes back.
//   - Before streaming, the slot is compared with the position: a slot ahead of it, lost, replaced or in another cluster
//     means missing changes and is a permanent error. A slot behind it sends again what is then skipped.
//   - A value is stored exactly or the stream stops with an error that names its column: nothing is rounded, cut or
//     replaced by NULL.
//   - After an error the stream yields what came whole before it, and then the error for ever.
//
// # Adding a type
//
// Name its binary output function in kindOfSend, give the kind its natural target type and what it fits (kind.go) and a
// decoder (decode.go), and add values to the round trip test, which compares copy, stream and the server's text.
package postgres
