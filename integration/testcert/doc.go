// Package testcert makes certificates for tests of encrypted connections.
//
// # Concepts
//
// An [Authority] is a certificate authority of one test. It signs certificates of servers, and its own certificate is
// what clients are told to trust.
//
// # Invariants
//
//   - Every authority has a key of its own: a certificate of one is refused by who trusts another.
//
// # Adding a kind of certificate
//
// Add a method of Authority beside [Authority.Server] with the fields that differ.
package testcert
