// Package pgtest starts real PostgreSQL servers for tests.
//
// # Concepts
//
// [Start] makes a cluster in a temporary folder, starts it on a free port of 127.0.0.1 with the Debian binaries or those
// on PATH, and removes everything when the test ends. PostgreSQL refuses to run as root, so root becomes postgres.
//
// # Invariants
//
//   - A server listens on 127.0.0.1 and a socket in its own folder only.
//   - wal_level is logical unless a setting says otherwise; fsync is off, since no test pulls the plug.
//   - The user starts nothing by hand and finds nothing left: server, folder and databases go with the test, and with
//     its process if that is killed.
//
// # Adding a setting
//
// Pass it to [Start]; what every server needs stands in its list of settings.
package pgtest
