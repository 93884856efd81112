// Package flightsql serves engine sessions over Arrow Flight SQL.
//
// # Concepts
//
// A caller is who an RPC comes from: a bearer token, or a connection when there is none. Each caller that needs one
// has a session with an [engine.Session] of its own. A Flight transaction runs on a fork of it, so that several can be
// open at once. A prepared statement is a handle that may be executed many times; a ticket is a started query that is
// read once. Handles are random, belong to a session, and are found by any connection of the same user.
//
// # Invariants
//
//   - A statement that changes something runs once, when its FlightInfo is asked for or it is put, whether or not its
//     empty stream is read. A query starts there too and is read by DoGet, so both have the same schema.
//   - A stream ends with every row or with an error. Its messages stay below 4 MiB unless a single row is larger.
//   - The end of a client's context ends its query. Sessions and what belongs to them end when idle, with CloseSession,
//     with the connection that is their key, or with the server; open transactions are rolled back.
//   - Every RPC authenticates but the health check. Without users the server listens on loopback only.
//   - A panic of a handler fails its RPC alone.
//
// # Adding a command
//
// Override its methods of arrow-go's BaseServer on handler, in the file of its subject, and add a client test to
// integration/flightsql.
package flightsql
